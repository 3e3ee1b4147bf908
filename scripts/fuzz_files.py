"""Change files by chance and let everything read them that reads files of others: imports,
mappings, runs (summary, report, replay, merge, behave), packs, experiments, settings, games,
domains, published records and the rest of `tests/support/fuzzed_files.py`.

    python scripts/fuzz_files.py [--files 100000] [--seed 0] [--only "import"]

Readers of one kind share a process, one kind after the other, so that its memory is known. Wrong is
an exception that no command turns into a sentence, a reader that ends its process or takes more
than 20 seconds of processor time for a file, and more memory than `--megabytes`. Exit code 1 if
anything was wrong; a finding names the reader and the seed, which make the same file again.
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from fuzzed_files import Reader, attempt, list_readers

LONGEST = 20.0
"""Seconds of processor time for one file."""


class TakesTooLong(BaseException):
    """A file took too long; no reader may catch it."""


@dataclass(frozen=True)
class Share:
    """How many files a reader reads."""

    reader: Reader
    seeds: range


def share_out(readers: Sequence[Reader], options: argparse.Namespace) -> list[Share]:
    """Share the files among the readers, as often as each is drawn."""
    drawn = sum(reader.often for reader in readers)
    shares = []
    for reader in readers:
        count = max(1, round(options.files * reader.often / drawn))
        shares.append(Share(reader, range(options.seed, options.seed + count)))
    return shares


def find_kind(reader: Reader) -> str:
    """Return the first word of a reader's name, what it does; reports are one kind per study, as a
    command reads one: what the studies import together takes more memory than any of them."""
    first = reader.name.partition(" ")[0]
    return reader.name if first == "report" else first


def read_many(shares: Sequence[Share]) -> None:
    """Let readers read a changed file for every seed, and print what was wrong and how much memory
    it took."""

    def stop(*_: object) -> None:
        raise TakesTooLong

    signal.signal(signal.SIGPROF, stop)
    logging.disable(logging.CRITICAL)
    for share in shares:
        refused = 0
        for seed in share.seeds:
            at = {"at": f"{share.reader.name}, seed {seed}"}
            print(json.dumps(at), flush=True)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            try:
                found = attempt(share.reader, seed)
                refused += bool(found.said)
                wrong = found.wrong
            except TakesTooLong:
                wrong = f"it takes more than {LONGEST:g} seconds of processor time"
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if wrong:
                print(json.dumps({"wrong": wrong}), flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        done = {"read": len(share.seeds), "refused": refused, "megabytes": peak}
        print(json.dumps(done), flush=True)


def watch_kind(kind: str, options: argparse.Namespace, right: Path) -> Counter[str]:
    """Start a process for the readers of a kind, print its findings, and return what it counted."""
    command = [sys.executable, __file__, "--right", str(right), "--kind", kind]
    command += ["--seed", str(options.seed), "--files", str(options.files)]
    command += ["--only", options.only]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    counted: Counter[str] = Counter()
    at = ""
    for line in process.stdout:
        try:
            said = json.loads(line)
        except ValueError:
            said = {"wrong": f"it prints {line[:100]!r}"}
        at = said.get("at", at)
        if "wrong" in said:
            counted["wrong"] += 1
            last = said["wrong"].strip().splitlines()[-1]
            print(f"WRONG {at}: {last}", flush=True)
            if options.traces:
                print(said["wrong"], flush=True)
        if "read" in said:
            counted.update(read=said["read"], refused=said["refused"])
            counted["megabytes"] = said["megabytes"]
    if process.wait() != 0:
        counted["wrong"] += 1
        print(f"WRONG {at}: its process ended with {process.returncode}", flush=True)
    if counted["megabytes"] > options.megabytes:
        counted["wrong"] += 1
        print(f"WRONG {kind}: it took {counted['megabytes']} MB", flush=True)
    return counted


def main() -> int:
    """Share the files among the readers, and let one after the other read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000, help="files in all")
    parser.add_argument("--seed", type=int, default=0, help="the first seed of every reader")
    parser.add_argument("--only", default="", help="the readers whose names begin so")
    parser.add_argument("--megabytes", type=int, default=256, help="memory of a reader at most")
    parser.add_argument("--traces", action="store_true", help="show the trace of every finding")
    parser.add_argument("--right", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind:
        shares = share_out(choose_readers(options), options)
        read_many([share for share in shares if find_kind(share.reader) == options.kind])
        return 0
    with tempfile.TemporaryDirectory() as place:
        options.right = Path(place)
        # In another process, since what is made there takes memory that no reader needs.
        prepare = f"import sys; sys.path[:0] = {sys.path!r}; from pathlib import Path;"
        prepare += f"from fuzzed_files import write_right_files; write_right_files(Path({place!r}))"
        subprocess.run([sys.executable, "-c", prepare], check=True)
        return fuzz_all(options)


def choose_readers(options: argparse.Namespace) -> list[Reader]:
    """Return the readers that were asked for."""
    known = list_readers(options.right)
    return [reader for reader in known if reader.name.startswith(options.only)]


def fuzz_all(options: argparse.Namespace) -> int:
    """Let every reader read its share of the files, and print what came of it."""
    readers = choose_readers(options)
    total: Counter[str] = Counter()
    most = 0
    for kind in dict.fromkeys(find_kind(reader) for reader in readers):
        begun = time.monotonic()
        counted = watch_kind(kind, options, options.right)
        megabytes = counted.pop("megabytes", 0)
        most = max(most, megabytes)
        total += counted
        print(
            f"{kind}: {counted['read']:,} files, {counted['refused']:,} refused,"
            f" {counted['wrong']} wrong, {megabytes} MB, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    print(
        f"{total['read']:,} files over {len(readers)} readers, {total['refused']:,} refused in a"
        f" sentence, {total['wrong']} wrong, at most {most} MB"
    )
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
