"""Equilibria of games with more than two players: how many are found, whether all are claimed, and
how long it takes.

Run: `python benchmarks/many_players.py [GAMES]`. Payoffs are uniform random numbers. For
comparison, what the enumpoly of Gambit 16.7 found on eight other such games of each shape: 4x4x4
60, 3x3x3x3 66, 2^6 93, 5x3x2 35, 4x4x3 56; on sixty of 3x3x3 259 of 326, on a thousand of 2x2x2
1,881 of 1,980.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from bestresponse.theory import nash

SHAPES = ((2, 2, 2), (3, 3, 3), (5, 3, 2), (2,) * 6, (4, 4, 3), (4, 4, 4), (3,) * 4)


def main(games: int) -> None:
    nash(np.random.default_rng(0).random((3, 3, 3, 3)))  # loads what is imported late
    print(f"{'shape':14} {'equilibria':>10} {'complete':>9} {'cpu s a game':>13} {'regret':>9}")
    for shape in SHAPES:
        start = process_time()
        results = [
            nash(np.random.default_rng([*shape, k]).random((len(shape), *shape)), seconds=300)
            for k in range(games)
        ]
        each = (process_time() - start) / games
        found, complete = sum(len(r.equilibria) for r in results), sum(r.complete for r in results)
        worst = max(r.regret for r in results)
        name = "x".join(map(str, shape))
        print(
            f"{name:14} {found:10} {complete:6} of {games} {each:10.2f} {worst:12.1e}", flush=True
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
