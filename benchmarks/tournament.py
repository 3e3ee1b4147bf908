"""Round robins of the thirty classic strategies: how long the exact result by Markov chains takes,
and whether matches of Axelrod's library have the same totals.

    python benchmarks/tournament.py [--rounds 5] [--turns 200] [--noise 0.01]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import combinations_with_replacement
from statistics import median
from time import perf_counter, process_time
from typing import Any

from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.repeated.automaton import classic_strategies, reduced
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin

GAME = load("prisoners-dilemma")
STRATEGIES = [reduced(strategy) for strategy in classic_strategies()]
LIBRARY = {
    "alternator": ("Alternator", {}),
    "anti-tit-for-tat": ("AntiTitForTat", {}),
    "bully": ("Bully", {}),
    "cooperator": ("Cooperator", {}),
    "cycler-ccd": ("CyclerCCD", {}),
    "cycler-ddc": ("Cycler", {"cycle": "DDC"}),
    "defector": ("Defector", {}),
    "firm-but-fair": ("FirmButFair", {}),
    "generous-tit-for-tat": ("GTFT", {}),
    "grim": ("Grudger", {}),
    "hard-majority-3": ("GoByMajority", {"memory_depth": 3, "soft": False}),
    "hard-tit-for-tat": ("HardTitForTat", {}),
    "hard-tit-for-two-tats": ("HardTitFor2Tats", {}),
    "joss": ("FirstByJoss", {}),
    "random": ("Random", {}),
    "soft-grudger": ("SoftGrudger", {}),
    "soft-majority-3": ("GoByMajority", {"memory_depth": 3, "soft": True}),
    "soft-majority-4": ("GoByMajority", {"memory_depth": 4, "soft": True}),
    "stochastic-cooperator": ("StochasticCooperator", {}),
    "stochastic-win-stay-lose-shift": ("StochasticWSLS", {}),
    "suspicious-tit-for-tat": ("SuspiciousTitForTat", {}),
    "tester": ("SecondByTester", {}),
    "tit-for-tat": ("TitForTat", {}),
    "tit-for-two-tats": ("TitFor2Tats", {}),
    "two-tits-for-tat": ("TwoTitsForTat", {}),
    "win-shift-lose-stay": ("WinShiftLoseStay", {}),
    "win-stay-lose-shift": ("WinStayLoseShift", {}),
    "zd-extort-2": ("ZDExtort2", {}),
    "zd-generous-2": ("ZDGTFT2", {}),
    "zd-set-2": ("ZDSet2", {}),
}
"""The class of each of our strategies in Axelrod's library, and how it is made."""


def players() -> list[Any]:
    import axelrod

    made = []
    for strategy in STRATEGIES:
        name, settings = LIBRARY[strategy.name]
        made.append(getattr(axelrod, name)(**settings))
    return made


def timed(run: Callable[[], object]) -> tuple[float, float]:
    wall, processor = perf_counter(), process_time()
    run()
    return perf_counter() - wall, process_time() - processor


def agreement(turns: int) -> None:
    """Without noise, matches of strategies that leave nothing to chance must give the same totals,
    to the point."""
    import axelrod

    ours = exact_round_robin(STRATEGIES, GAME, Repetition(turns)).totals
    theirs = players()
    places = [place for place, strategy in enumerate(STRATEGIES) if strategy.pure]
    same = met = 0
    for i, j in combinations_with_replacement(places, 2):
        match = axelrod.Match([theirs[i], theirs[j].clone()], turns=turns)
        match.play()
        met += 1
        same += tuple(match.final_score()) == tuple(ours[i, j])
    print(f"agreement: {same} of {met} matches without noise and chance have the same totals")


def exact_times(rules: Repetition, rounds: int) -> None:
    for noise in (0.0, rules.noise):
        settings = Repetition(rules.rounds, noise)
        for name, strategies in (
            ("as defined", list(classic_strategies())),
            ("reduced", STRATEGIES),
        ):
            work = partial(exact_round_robin, strategies, GAME, settings)
            work()
            times = [timed(work) for _ in range(5 * rounds)]
            wall, processor = median(t[0] for t in times) * 1e3, median(t[1] for t in times) * 1e3
            print(
                f"exact, {len(strategies)} strategies {name}, {settings.rounds} rounds, noise"
                f" {noise:g}: {wall:.1f} ms ({processor:.1f} ms of processor time, best"
                f" {min(times)[0] * 1e3:.1f} ms)"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--noise", type=float, default=0.01)
    options = parser.parse_args()
    rules = Repetition(options.turns, options.noise)
    exact_times(rules, options.rounds)
    if find_spec("axelrod"):
        agreement(rules.rounds)


if __name__ == "__main__":
    main()
