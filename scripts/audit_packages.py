#!/usr/bin/env python3
"""Look up known weaknesses of the packages in a lock file; where none can be looked up say so and
go on."""

import json
import subprocess
import sys

UNREACHABLE = (
    "ConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "Max retries exceeded",
    "ProxyError",
    "SSLError",
)
SECONDS = 600


def main(lock: str) -> int:
    """Audit the packages of a lock file, say what was found, and return the exit code."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--disable-pip",
        "--require-hashes",
        "--progress-spinner",
        "off",
    ]
    try:
        done = subprocess.run(
            [*command, "--format", "json", "-r", lock],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        code, said = judge(done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired:
        code, said = judge(1, "", "ReadTimeout")
    print(said)
    return code


def judge(returncode: int, output: str, errors: str) -> tuple[int, str]:
    """Return the exit code and what to say: 0 where no weakness is known or nothing can be looked
    up, else 1."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        if any(sign in errors for sign in UNREACHABLE):
            return 0, "the database of known weaknesses cannot be reached: no package was audited"
        return returncode or 1, f"pip-audit failed: {errors.strip() or 'it said nothing'}"
    known = [package for package in packages if "vulns" in package]
    if not known:
        return (
            0,
            (
                f"the database of known weaknesses cannot be reached: none of {len(packages)}"
                " packages was audited"
            ),
        )
    weak = [
        f"{one['name']} {one['version']}: {weakness['id']}"
        for one in known
        for weakness in one["vulns"]
    ]
    rest = len(packages) - len(known)
    not_audited = f"; {rest} are not in the database and were not audited" if rest else ""
    return int(bool(weak)), "\n".join(
        [*weak, f"{len(known)} packages audited, {len(weak)} weaknesses{not_audited}"]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
