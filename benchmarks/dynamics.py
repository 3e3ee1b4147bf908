"""Fictitious play against Nashpy, the replicator dynamics and alpha-Rank against OpenSpiel, and
generators per second.

Fictitious play: the same number of rounds on the same random 10x10 game. Nashpy yields the play
counts after every round and breaks ties at random; here ties go to the first action and a thousand
points of the path are kept, with the regret at each. Replicator: the same number of Euler steps x +
dt * x'(x) of the same two populations from uniform play, OpenSpiel's `MultiPopulationDynamics`
giving x'(x); the script checks that both end at the same point. alpha-Rank: the same random
symmetric game of one population, the same distribution. Contestants take turns in every round; a
ratio is taken within a round and the median over the rounds is printed, with the median time of
each. Times are processor times of this process, so that other work on the machine counts little;
compiling and importing are not counted.

    python benchmarks/dynamics.py [--rounds 5] [--steps 100000] [--size 10] [--generations 1000000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from time import process_time

import numpy as np

from bestresponse.theory import alpha_rank, fictitious_play, generate, replicator
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.generators import families, symmetric, uniform

Contestants = dict[str, Callable[[], object]]


def seconds(run: Callable[[], object]) -> float:
    began = process_time()
    run()
    return process_time() - began


def contest(title: str, contestants: Contestants, rounds: int) -> None:
    """Time all contestants in turns; the last one is the peer the others are compared with."""
    for run in contestants.values():
        run()
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(seconds(run))
    *ours, peer = contestants
    print(f"{title}: {peer} {median(times[peer]) * 1e3:,.1f} ms")
    for name in ours:
        ratio = median(theirs / mine for mine, theirs in zip(times[name], times[peer], strict=True))
        print(f"  {name}: {median(times[name]) * 1e3:,.3f} ms, {ratio:,.0f} times as fast")


def play(game: NormalForm, steps: int) -> Contestants:
    import nashpy

    row, col = game.payoffs

    def theirs() -> None:
        for _ in nashpy.Game(row, col).fictitious_play(iterations=steps):
            pass

    runs: Contestants = {
        kept: lambda stride=stride: fictitious_play(game, steps=steps, stride=stride)
        for kept, stride in (("1000 points", None), ("last point", steps))
    }
    return {**runs, "nashpy": theirs}


def evolve(game: NormalForm, steps: int, length: float = 0.01) -> Contestants:
    from open_spiel.python.egt import dynamics

    change = dynamics.MultiPopulationDynamics(np.asarray(game.payoffs), dynamics.replicator)

    def theirs() -> np.typing.NDArray[np.float64]:
        state = np.concatenate([np.full(m, 1 / m) for m in game.shape])
        for _ in range(steps):
            state = state + length * change(state)
        return state

    runs: Contestants = {
        kept: lambda stride=stride: replicator(
            game, steps=steps, size=length, form="euler", stride=stride
        )
        for kept, stride in (("1000 points", None), ("last point", steps))
    }
    mine = np.concatenate(replicator(game, steps=steps, size=length, form="euler").final)
    print(f"replicator: end points differ by {np.abs(mine - theirs()).max():.1e}")
    return {**runs, "open_spiel": theirs}


def rank(game: NormalForm) -> Contestants:
    from open_spiel.python.egt import alpharank

    def theirs() -> np.typing.NDArray[np.float64]:
        return np.asarray(
            alpharank.compute([game.payoffs[0]], m=20, alpha=0.1, use_local_selection_model=False)[
                2
            ]
        )

    def ours() -> np.typing.NDArray[np.float64]:
        return alpha_rank(game, alpha=0.1, population=20, one_population=True).probabilities

    print(f"alpha-Rank: distributions differ by {np.abs(ours() - theirs()).max():.1e}")
    return {"numpy": ours, "open_spiel": theirs}


def drift(generations: int) -> None:
    """Print how far the shares of one population ever are from summing to 1, in every form."""
    payoffs = np.array(
        [[1.0, 1.0, 1.0, 1.0], [1.0, -5.0, 3.0, 1.0], [1.0, 4.0, -9.0, 0.0], [0.0, 0.0, 0.0, -7.0]]
    )
    game = NormalForm.bimatrix(payoffs, payoffs.T)
    for form in ("discrete", "euler", "rk4"):
        found = replicator(game, steps=generations, form=form, one_population=True)
        off = np.abs(found.strategies[0].sum(axis=1) - 1).max()
        print(f"  {form}: shares sum to 1 up to {off:.1e} over {generations:,} generations")


def draw(count: int) -> None:
    for family in families():
        shape = None if family == "blotto" else (3, 3)
        generate(family, 10, shape)
        speed = count / seconds(lambda family=family, shape=shape: generate(family, count, shape))
        print(f"  {family}: {speed:,.0f} games/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--generations", type=int, default=1_000_000)
    options = parser.parse_args()
    game = uniform(1, (options.size, options.size))
    what = f"{options.steps:,} steps at {options.size}x{options.size}"
    if find_spec("nashpy"):
        contest(f"fictitious play, {what}", play(game, options.steps), options.rounds)
    else:
        print("nashpy is not installed: fictitious play is skipped")
    if find_spec("open_spiel"):
        contest(f"replicator, {what}", evolve(game, options.steps), options.rounds)
        contest("alpha-Rank, 10 actions", rank(symmetric(1, (10, 10))), options.rounds)
    else:
        print("open_spiel is not installed: replicator and alpha-Rank are skipped")
    print("replicator, one population of 4 actions:")
    drift(options.generations)
    print("generators, 3x3:")
    draw(2000)


if __name__ == "__main__":
    main()
