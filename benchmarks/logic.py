"""The embedded logic engine: programs checked, games tabulated, claims proved, per second.

    python benchmarks/logic.py [--rounds 7]

All kinds of work take turns in every round; medians are printed, by the clock and of the processor
(which is what the clock would show on an idle machine), beside what is wanted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

from game_programs import DILEMMA, GOODS

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.language.reader import read
from bestresponse.logic.programs.table import extract

CLAIMS = (
    "finally(goal(p1, 5), do(move(p2, 'C'), do(move(p1, 'D'), s0)))",
    "finally(goal(p1, 4), do(move(p2, 'C'), do(move(p1, 'D'), s0)))",
    "payoff('C', 'C', 3, 3)",
    "\\+ ( payoff('C', M, U, _), payoff('D', M, V, _), U >= V )",
)


def works() -> list[tuple[str, str, int, Callable[[], object]]]:
    """Name, what is wanted, how many units one call makes, the call."""
    engine = EmbeddedEngine()
    dilemma, goods = engine.load(DILEMMA), engine.load(GOODS)
    return [
        ("read a 2x2 program", "", 20, lambda: [read(DILEMMA) for _ in range(20)]),
        ("read and gate it", "", 20, lambda: [check_source(DILEMMA) for _ in range(20)]),
        (
            "check, load, table",
            ">= 70 /s",
            10,
            lambda: [extract(engine, engine.load(DILEMMA)) for _ in range(10)],
        ),
        (
            "select/4",
            "",
            200,
            lambda: [engine.solutions(dilemma, "select(p1, p2, s0, M)", 1) for _ in range(200)],
        ),
        (
            "claims proved",
            ">= 1,000 /s",
            200,
            lambda: [engine.prove(dilemma, claim) for claim in CLAIMS * 50],
        ),
        ("3 players x 5 moves", "<= 0.3 s", 1, lambda: extract(engine, goods)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    contestants = works()
    clock: dict[str, list[float]] = {name: [] for name, *_ in contestants}
    processor: dict[str, list[float]] = {name: [] for name, *_ in contestants}
    for _ in range(rounds):
        for name, _, units, call in contestants:
            began, used = perf_counter(), process_time()
            call()
            clock[name].append((perf_counter() - began) / units)
            processor[name].append((process_time() - used) / units)
    print(f"{'work':24}{'clock /s':>12}{'processor /s':>14}{'processor s':>14}   wanted")
    for name, wanted, _, _ in contestants:
        each, cpu = median(clock[name]), median(processor[name])
        print(f"{name:24}{1 / each:12,.1f}{1 / cpu:14,.1f}{cpu:14.4f}   {wanted}")


if __name__ == "__main__":
    main()
