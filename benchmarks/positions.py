"""Sizes and times of games that are solved by their positions, and how many questions tell players.

    python benchmarks/positions.py            sizes up to Connect Four 4x4
    python benchmarks/positions.py --large    also Pig to 100 and Connect Four 5x4

A player with errors plays best, and with that probability any legal move. Questions are counted
until 80 % of 200 such players lose more than best play by the paired test of the benchmark (5 %).
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from bestresponse.games.lookup import find_game
from bestresponse.report.stats.differences import paired_difference
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import plan_questions
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import list_best, solve_positions

GAMES = (
    "tic-tac-toe",
    "nim(piles=1-3-5-7,last_wins=false)",
    "connect-four(columns=4,rows=4)",
    "breakthrough(rows=5,columns=3)",
    "pig(goal=20)",
)
LARGE = ("pig(goal=100)", "connect-four(columns=5,rows=4)")
COUNTS = (20, 30, 40, 50, 75, 100, 125, 150)
PLAYERS = 200


def measure_size(name: str) -> None:
    """Print how many positions a game has, and the processor time to find and solve them."""
    game = find_game(name).playable()
    began = time.process_time()
    graph = explore(game)
    found = time.process_time()
    solution = solve_positions(graph)
    solved = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"| {name} | {graph.num_decisions:,} | {found - began:.2f} | {solved - found:.2f}"
        f" | {solution.values[0, 0]:.7g} | {solution.bound:.1g} | {peak:.2f} |",
        flush=True,
    )


def count_questions(name: str, error: float) -> int | None:
    """Count the questions that tell a player with errors from best play."""
    rng = np.random.default_rng(0)
    plan = plan_questions(BenchConfig(model="random", game=name, num_games=max(COUNTS)))
    shares = []
    for number in plan.decisions:
        values = plan.find_values(number)
        lost = values.worths.max() - values.worths[0]
        assert list_best(values.by_answer)
        shares.append(lost / lost.max())
    for count in filter(lambda count: count <= len(shares), COUNTS):
        told = 0
        for _ in range(PLAYERS):
            asked = rng.choice(len(shares), count, replace=False)
            lost = [float(rng.choice(shares[k])) if rng.random() < error else 0.0 for k in asked]
            best = np.zeros(count)
            told += paired_difference(lost, best, rng=0, bounds=(-1.0, 1.0)).p_value < 0.05
        if told >= 0.8 * PLAYERS:
            return count
    return None


def main() -> None:
    """Print both tables."""
    print("| game | decisions | explore, s | solve, s | value | bound | peak, GB |")
    for name in (*GAMES, *(LARGE if "--large" in sys.argv else ())):
        measure_size(name)
    print("| game | 30 % errors | 10 % errors |")
    for name in GAMES:
        print(
            f"| {name} | {count_questions(name, 0.3)} | {count_questions(name, 0.1)} |", flush=True
        )


if __name__ == "__main__":
    main()
