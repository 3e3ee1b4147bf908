"""How long the tables of large games take, and how much memory: each game in a process of its own.

    python benchmarks/sizes.py [--engine embedded] [NAME ...]

The games are those of `examples/programs` and larger ones of the same kind, up to 117,649 ends.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

PROGRAMS = Path(__file__).parents[1] / "examples" / "programs"
GAMES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "cournot 0..100": ("cournot", ()),
    "cournot 0..316": ("cournot", (("100", "316"),)),
    "public goods, 6 of 4": ("public_goods", ()),
    "public goods, 6 of 7": ("public_goods", (("0, 3", "0, 6"),)),
    "blotto, 10 troops": ("blotto", ()),
    "blotto, 24 troops": ("blotto", (("10", "24"),)),
    "bargaining, 100": ("bargaining", ()),
    "bargaining, 250": ("bargaining", (("100", "250"), ("80", "200"))),
}


def measure(name: str, kind: str) -> dict[str, object]:
    """Table one game in this process."""
    from bestresponse.logic.engine import open_engine
    from bestresponse.logic.programs.validate import validate

    file, changes = GAMES[name]
    text = (PROGRAMS / f"{file}.pl").read_text("utf-8")
    for old, new in changes:
        text = text.replace(old, new)
    engine = open_engine(kind, confined=False)  # type: ignore[arg-type]
    began, used = perf_counter(), process_time()
    report = validate(text, engine)
    return {
        "ends": len(report.table.rows) if report.table else 0,
        "clock": perf_counter() - began,
        "processor": process_time() - used,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "problem": "; ".join(str(one) for one in report.errors),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="games; all by default")
    parser.add_argument("--engine", default="embedded", choices=("embedded", "swi"))
    parser.add_argument("--one", action="store_true", help="measure one game and print JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.names[0], options.engine)))
        return
    print(f"{'game':24}{'ends':>10}{'clock s':>10}{'processor s':>13}{'MB':>6}")
    for name in options.names or GAMES:
        command = (sys.executable, __file__, "--one", "--engine", options.engine, name)
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        print(
            f"{name:24}{found['ends']:10,}{found['clock']:10.1f}{found['processor']:13.1f}{found['megabytes']:6}"
            f"  {found['problem']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
