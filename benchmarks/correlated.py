"""Welfare-maximising correlated equilibria in batches against one scipy `linprog` (HiGHS) per game.

Run: `python benchmarks/correlated.py`. Contestants take turns on the same games in every round;
printed are medians of CPU microseconds per game and of the ratios within a round, the largest
certificate, and how many games had to be solved again. scipy gets its constraint matrices
ready-made: only `linprog` is timed.
"""

from __future__ import annotations

from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from scipy.optimize import linprog

from bestresponse.theory import NormalForm, correlated_batch
from bestresponse.theory.correlation.equilibria import incentives

ROUNDS = 7
WANTED = 1500


def programs(row: Any, col: Any, count: int) -> list[tuple[Any, Any]]:
    games = [NormalForm.bimatrix(a, b) for a, b in zip(row[:count], col[:count], strict=True)]
    return [(-(g.payoffs.sum(axis=0)).ravel(), incentives(g, False).toarray()) for g in games]


def solve(program: tuple[Any, Any]) -> float:
    cost, rows = program
    answer = linprog(
        cost, rows, np.zeros(len(rows)), np.ones((1, len(cost))), [1.0], method="highs"
    )
    return float(-answer.fun)


def race(row: Any, col: Any, few: list[tuple[Any, Any]]) -> tuple[float, float, float]:
    ours, theirs = [], []
    for _ in range(ROUNDS):
        start = process_time()
        correlated_batch(row, col)
        ours.append((process_time() - start) / len(row) * 1e6)
        start = process_time()
        for program in few:
            solve(program)
        theirs.append((process_time() - start) / len(few) * 1e6)
    return median(ours), median(theirs), median(t / o for o, t in zip(ours, theirs, strict=True))


def main() -> None:
    if find_spec("numba") is None:
        print("numba is not installed: numpy alone")
    for size in (2, 3, 4, 5):
        for kind in ("uniform", "integer"):
            generator = np.random.default_rng(size)
            shape = (2, 20_000, size, size)
            row, col = (
                generator.random(shape)
                if kind == "uniform"
                else generator.integers(-2, 3, shape).astype(float)
            )
            few = programs(row, col, 30)
            batch = correlated_batch(row, col)
            off = max(abs(solve(program) - batch.welfare[g]) for g, program in enumerate(few))
            ours, theirs, ratio = race(row, col, few)
            wanted = f" (wanted {WANTED})" if size == 3 else ""
            print(
                f"{size}x{size} {kind}: {ours:.2f} here, {theirs:.0f} linprog, ratio"
                f" {ratio:.0f}x{wanted}; violation {batch.violation.max():.1e}, gap"
                f" {np.nanmax(batch.gap):.1e}, solved again {batch.resolved.sum()}, welfare differs"
                f" by {off:.1e}"
            )


if __name__ == "__main__":
    main()
