"""All equilibria of bimatrix games against QuantEcon.py and Nashpy.

Run: `python benchmarks/bimatrix.py`. Contestants take turns on the same games in every round;
printed are medians over rounds of CPU microseconds per game and of the ratios within a round. Peers
that are not installed are skipped. The last part counts, on small integer games, which components
and which sets of equilibria the peers miss.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import bestresponse as br
from bestresponse.theory import (
    NashResult,
    NormalForm,
    extreme_equilibria,
    nash,
)

SIZES = (3, 4, 5, 6, 7, 8)
ROUNDS = 9
WANTED_ALL = 4
WANTED_FRONT_DOOR = {3: 2, 4: 2}  # larger ones: WANTED_ALL


def random_games(size: int, count: int, seed: int = 0) -> list[NormalForm]:
    generator = np.random.default_rng([seed, size])
    return [NormalForm(generator.random((2, size, size))) for _ in range(count)]


def quantecon_game(peer: Any, game: NormalForm) -> Any:
    row, col = game.payoffs
    return peer.NormalFormGame((peer.Player(row.copy()), peer.Player(col.T.copy())))


def race(contestants: dict[str, tuple[Callable[[], object], int]]) -> dict[str, list[float]]:
    """CPU microseconds per game of each contestant in each round; everybody runs once unmeasured
    first."""
    for run, _ in contestants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (run, games) in contestants.items():
            start = process_time()
            run()
            times[name].append((process_time() - start) / games * 1e6)
    return times


def ratio(times: dict[str, list[float]], ours: str, theirs: Sequence[str]) -> float:
    return median(min(times[t][k] for t in theirs) / times[ours][k] for k in range(ROUNDS))


def read_report(result: NashResult) -> list[object]:
    """Ask for everything that `nash` computes only on request."""
    return [
        result.components,
        *((e.payoffs, e.regret, e.stability, e.exact) for e in result.equilibria),
    ]


def all_equilibria(peer: Any) -> None:
    print(
        f"all equilibria, microseconds per call (wanted: {WANTED_ALL}x the better peer at every"
        " size)"
    )
    for size in SIZES:
        games = random_games(size, 200)
        few = games[: 60 if size < 7 else 15]
        theirs = [quantecon_game(peer, game) for game in few]
        times = race(
            {
                "enumeration": (
                    lambda g=games: [extreme_equilibria(x, engine="numba") for x in g],
                    len(games),
                ),
                "nash": (lambda g=games: [nash(x).equilibria for x in g], len(games)),
                "bestresponse.nash": (
                    lambda g=games: [br.nash(x).equilibria for x in g],
                    len(games),
                ),
                "nash, strategies read": (
                    lambda g=games: [[e.strategies for e in nash(x).equilibria] for x in g],
                    len(games),
                ),
                "nash, all of its report": (
                    lambda g=few: [read_report(nash(x)) for x in g],
                    len(few),
                ),
                "quantecon support": (
                    lambda g=theirs: [peer.support_enumeration(x) for x in g],
                    len(few),
                ),
                "quantecon vertex": (
                    lambda g=theirs: [peer.vertex_enumeration(x) for x in g],
                    len(few),
                ),
            }
        )
        peers = ("quantecon support", "quantecon vertex")
        line = "  ".join(f"{name} {median(values):.1f}" for name, values in times.items())
        print(
            f"  {size}x{size}: {line}  ratio {ratio(times, 'enumeration', peers):.1f}x;"
            f" bestresponse.nash {ratio(times, 'bestresponse.nash', peers):.1f}x (wanted"
            f" {WANTED_FRONT_DOOR.get(size, WANTED_ALL)}x),"
            f" {1 / ratio(times, 'bestresponse.nash', ('enumeration',)):.1f} times the enumeration"
            " (wanted: at most 3), strategies read"
            f" {ratio(times, 'nash, strategies read', peers):.1f}x"
        )


def missed(found: list[tuple[Any, Any]], game: NormalForm) -> tuple[int, int]:
    """(components no equilibrium of which is in `found`, maximal Nash subsets some corner of which
    is not)."""
    corners = {_key(x, y) for x, y in found}
    untouched, incomplete = 0, 0
    for component in nash(game).components:
        untouched += not any(
            _inside(x, s.x) and _inside(y, s.y) for x, y in found for s in component.subsets
        )
        incomplete += sum(
            any(_key(x, y) not in corners for x in s.x for y in s.y) for s in component.subsets
        )
    return untouched, incomplete


def _key(x: Any, y: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in np.round(np.concatenate([x, y]).astype(float), 6) + 0.0)


def _inside(point: Any, corners: Any) -> bool:
    from scipy.optimize import nnls

    stacked = np.vstack([corners.T, np.ones(len(corners))])
    _, distance = nnls(stacked, np.append(np.asarray(point, dtype=float), 1.0))
    return bool(distance < 1e-7)


def completeness() -> None:
    for size, high in ((3, 3), (4, 2)):
        generator = np.random.default_rng(size)
        games = [
            NormalForm(generator.integers(0, high, (2, size, size)).astype(float))
            for _ in range(60)
        ]
        results = [nash(game) for game in games]
        components = sum(len(result.components) for result in results)
        subsets = sum(len(c.subsets) for result in results for c in result.components)
        degenerate = sum(result.degenerate for result in results)
        print(f"60 random {size}x{size} games with payoffs below {high}, {degenerate} degenerate:")
        print(f"  here: {components} components, {subsets} maximal Nash subsets")
        for name, solve in peers().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                counts = [missed(solve(game), game) for game in games]
            untouched, incomplete = (sum(column) for column in zip(*counts, strict=True))
            print(
                f"  {name}: misses {untouched} components altogether"
                f" ({untouched / components:.0%}), a corner of {incomplete} subsets"
                f" ({incomplete / subsets:.0%})"
            )


def peers() -> dict[str, Callable[[NormalForm], list[tuple[Any, Any]]]]:
    found: dict[str, Callable[[NormalForm], list[tuple[Any, Any]]]] = {}
    if find_spec("quantecon"):
        q = import_module("quantecon.game_theory")
        found["quantecon support enumeration"] = lambda g: q.support_enumeration(
            quantecon_game(q, g)
        )
        found["quantecon vertex enumeration"] = lambda g: _tolerant(
            q.vertex_enumeration, quantecon_game(q, g)
        )
    if find_spec("nashpy"):
        n = import_module("nashpy")
        found["nashpy support enumeration"] = lambda g: list(
            n.Game(*g.payoffs).support_enumeration()
        )
        found["nashpy vertex enumeration"] = lambda g: list(n.Game(*g.payoffs).vertex_enumeration())
    return found


def _tolerant(solve: Callable[[Any], Any], game: Any) -> list[tuple[Any, Any]]:
    """A peer that fails on a game has found nothing."""
    try:
        return list(solve(game))
    except (ValueError, RuntimeError):
        return []


def main() -> None:
    if find_spec("numba") is None:
        print("numba is not installed: the compiled enumeration is skipped and ratios mean little")
    if find_spec("quantecon"):
        peer = import_module("quantecon.game_theory")
        all_equilibria(peer)
    else:
        print("quantecon is not installed: timings skipped")
    completeness()


if __name__ == "__main__":
    main()
