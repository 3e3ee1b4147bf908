#!/usr/bin/env python3
"""Look up known weaknesses of the packages in a lock file; without a network say so and go on."""

import subprocess
import sys

UNREACHABLE = ("ConnectionError", "ConnectTimeout", "ReadTimeout", "Max retries exceeded", "ProxyError", "SSLError")

UNKNOWN = "could not be audited"


def main(lock: str) -> int:
    """Return the exit code: 0 where nothing is known or nothing can be looked up."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    done = subprocess.run([*command, "-r", lock], capture_output=True, text=True, check=False)
    if done.returncode and any(sign in done.stderr for sign in UNREACHABLE):
        print("the database of known weaknesses cannot be reached; the packages were not audited")
        return 0
    lines = done.stdout.splitlines()
    unknown = [line for line in lines if UNKNOWN in line]
    print("\n".join(line for line in lines if line not in unknown) + "\n" + done.stderr, end="")
    if unknown:
        print(f"{len(unknown)} packages are not in the database here and were not audited")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
