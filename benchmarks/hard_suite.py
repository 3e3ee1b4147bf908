#!/usr/bin/env python3
"""How many games tell a player that slips from a perfect one: 3x3 tables against `--suite hard`.

The player misreads each payoff with the same small probability, as another payoff of the table, and
plays an equilibrium of the table that it read. The probability is set so that it loses something in
5 % of 3x3 games. Differences to a perfect player all have one sign, so the sign-flip test at 95 %
needs six games in which something is lost (2 / 2**6 = 0.031). Printed is the number of games after
which there are six with a probability of 80 %. An error that strikes 5 % of all games, however hard
they are, needs the same number in every suite.
"""

import sys
from math import comb

import numpy as np

from bestresponse.studies.bench.families import draw_family
from bestresponse.studies.bench.hard import draw_hard
from bestresponse.theory.zero_sum.solve import solve_zero_sum

GAMES = 350
NEEDED = 6
POWER = 0.8
LOST = 1e-6


def misread(table, slip, rng):
    """Return the table with some payoffs replaced by others of the same table."""
    wrong = rng.random(table.shape) < slip
    return np.where(wrong, rng.choice(table.ravel(), size=table.shape), table)


def find_rate(tables, slip, rng):
    """Return the share of games in which the player's strategy is exploitable."""
    lost = 0
    for table in tables:
        read = misread(table, slip, rng)
        if (read == table).all():
            continue
        mix = solve_zero_sum(read).row[0]
        value = solve_zero_sum(table).values[0]
        lost += value - (mix @ table).min() > LOST * np.ptp(table)
    return lost / len(tables)


def count_games(rate):
    """Count the games after which six show a loss with a probability of 80 %."""
    for games in range(NEEDED, 100_000):
        few = sum(comb(games, k) * rate**k * (1 - rate) ** (games - k) for k in range(NEEDED))
        if 1 - few >= POWER:
            return games
    return None


def main():
    rng = np.random.default_rng(1)
    draws = draw_family("zero-sum", 5 * GAMES, 1, shape=(3, 3), scale=100.0, decimals=0)
    small = list(draws[:, 0])
    low, high = 0.0, 0.1
    for _ in range(10):  # by halving, with the same draws each time
        middle = (low + high) / 2
        rate = find_rate(small, middle, np.random.default_rng(2))
        low, high = (middle, high) if rate < 0.05 else (low, middle)
    slip = (low + high) / 2
    hard = [draw_hard(number, 1, 100.0, 0)[0] for number in range(GAMES)]
    sys.stdout.write(f"misread payoffs: {slip:.2%}\n")
    for name, tables in (("3x3", small), ("hard", hard)):
        rate = find_rate(tables, slip, rng)
        sys.stdout.write(f"{name}: loses in {rate:.1%} of games; {count_games(rate)} games tell\n")
    sys.stdout.write(f"at 5 % of games in any suite: {count_games(0.05)} games tell\n")


if __name__ == "__main__":
    main()
