"""What users of Gambit, OpenSpiel and QuantEcon.py would compare, in one run, with the peers that
are installed beside.

    python benchmarks/theory.py [players] [zero-sum] [all] [loading] [trees FOLDER]

Times are seconds of processor time; contestants take turns on the same games. `players` counts the
equilibria found of games with several players against Newton's method from many random starts on
every profile of supports. `trees` solves every .efg file below FOLDER and prints the largest regret
by method. `players` takes about ten minutes, the rest a few.
"""

from __future__ import annotations

import sys
from collections import Counter
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from scipy.optimize import linprog

from bestresponse.analysis.solve.solve import solve_loaded_game
from bestresponse.core.errors import BestResponseError
from bestresponse.games.lookup import find_game
from bestresponse.theory import (
    NormalForm,
    extreme_equilibria,
    load_openspiel,
    load_tree,
    nash,
    regret,
    solve_zero_sum_game,
)
from bestresponse.theory.files.efg import format_efg, parse_efg

SHAPES = ((3, 3, 3), (4, 4, 4), (3,) * 4, (2,) * 6)
STARTS, STEPS = 12, 25


def measure(run: object) -> tuple[object, float]:
    start = process_time()
    answer = run()  # type: ignore[operator]
    return answer, process_time() - start


# ---------------------------------------------------------------- several players


def deviations(payoffs: np.ndarray, mixes: list[np.ndarray], free: tuple[int, ...]) -> np.ndarray:
    """Payoffs (starts, actions of `free`) when all others mix; mixes[j] has shape (starts,
    actions)."""
    letters = "abcdefgh"[: payoffs.ndim]
    terms = ["s" + letters[j] for j in range(payoffs.ndim) if j not in free]
    out = "s" + "".join(letters[j] for j in free)
    return np.einsum(
        f"{letters},{','.join(terms)}->{out}",
        payoffs,
        *[m for j, m in enumerate(mixes) if j not in free],
        optimize=True,
    )


def solve_support(
    payoffs: np.ndarray, supports: tuple[tuple[int, ...], ...], generator: np.random.Generator
) -> list:
    """Newton's method from random starts: within the supports every action earns the same and the
    mixes sum to 1."""
    n = len(supports)
    own = [payoffs[i][np.ix_(*supports)] for i in range(n)]
    sizes = [len(s) for s in supports]
    at = np.cumsum([0, *sizes])
    unknown = int(at[-1]) + n
    mixes = [generator.dirichlet(np.ones(k), STARTS) for k in sizes]
    levels = np.stack([deviations(own[i], mixes, (i,)).mean(axis=1) for i in range(n)], axis=1)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            system, wrong = np.zeros((STARTS, unknown, unknown)), np.zeros((STARTS, unknown))
            for i in range(n):
                rows = slice(at[i], at[i + 1])
                wrong[:, rows] = deviations(own[i], mixes, (i,)) - levels[:, i, None]
                system[:, rows, at[-1] + i] = -1.0
                wrong[:, at[-1] + i] = mixes[i].sum(axis=1) - 1.0
                system[:, at[-1] + i, rows] = 1.0
                for j in range(n):
                    if j != i:
                        both = deviations(own[i], mixes, (min(i, j), max(i, j)))
                        system[:, rows, at[j] : at[j + 1]] = (
                            both if i < j else both.transpose(0, 2, 1)
                        )
            step = np.linalg.solve(system + 1e-14 * np.eye(unknown), wrong[:, :, None])[:, :, 0]
            step = np.clip(np.nan_to_num(step), -0.5, 0.5)
            mixes = [mix - step[:, at[i] : at[i + 1]] for i, mix in enumerate(mixes)]
            levels = levels - step[:, at[-1] :]
    good = [
        k
        for k in range(STARTS)
        if np.abs(step[k]).max() < 1e-10 and min(m[k].min() for m in mixes) > 1e-9
    ]
    return [[m[k] for m in mixes] for k in good]


def count_reference(payoffs: np.ndarray, seed: int) -> set[tuple[float, ...]]:
    generator = np.random.default_rng(seed)
    shape = payoffs.shape[1:]
    every = [
        [tuple(np.flatnonzero([b >> k & 1 for k in range(m)])) for b in range(1, 2**m)]
        for m in shape
    ]
    found: set[tuple[float, ...]] = set()
    for supports in product(*every):
        spare = [len(s) - 1 for s in supports]
        if 2 * max(spare) > sum(spare):
            continue
        for inner in solve_support(payoffs, supports, generator):
            mixes = [np.zeros(m) for m in shape]
            for mix, support, part in zip(mixes, supports, inner, strict=True):
                mix[list(support)] = part / part.sum()
            if regret(NormalForm(payoffs), mixes).max() < 1e-9:
                found.add(tuple(np.round(np.concatenate(mixes), 5) + 0.0))
    return found


def compare_players(games: int = 2) -> None:
    print(
        f"equilibria of {games} uniform games: found here / by Newton from {STARTS} starts a"
        " profile; missed here"
    )
    nash(np.random.default_rng(0).random((3, 3, 3, 3)))
    for shape in SHAPES:
        ours = theirs = missed = odd = complete = 0
        seconds = [0.0, 0.0]
        for k in range(games):
            payoffs = np.random.default_rng([*shape, k]).random((len(shape), *shape))
            result, cpu = measure(lambda p=payoffs: nash(p, seconds=60))
            reference, longer = measure(lambda p=payoffs, k=k: count_reference(p, k))
            mine = {
                tuple(np.round(np.concatenate(e.strategies), 5) + 0.0) for e in result.equilibria
            }
            ours, theirs, missed = (
                ours + len(mine),
                theirs + len(reference),
                missed + count_missed(reference, mine),
            )
            odd, complete = odd + len(mine) % 2, complete + result.complete
            seconds = [seconds[0] + cpu, seconds[1] + longer]
        print(
            f"  {'x'.join(map(str, shape)):12} {ours} / {theirs}; missed {missed}; odd in {odd},"
            f" complete {complete}; {seconds[0] / games:.2f} / {seconds[1] / games:.2f} s a game",
            flush=True,
        )


def count_missed(reference: set[tuple[float, ...]], mine: set[tuple[float, ...]]) -> int:
    known = np.array(sorted(mine))
    return sum(not (np.abs(known - point).max(axis=1) < 1e-4).any() for point in reference)


# ---------------------------------------------------------------- two players


def compare_zero_sum() -> None:
    print("zero-sum n x n, uniform payoffs: here / HiGHS, seconds")
    solve_zero_sum_game(np.random.default_rng(0).random((300, 300)))
    for n, rounds in ((500, 3), (1000, 1)):
        times = []
        for k in range(rounds):
            matrix = np.random.default_rng([n, k]).random((n, n))
            ours, cpu = measure(lambda m=matrix: solve_zero_sum_game(m))
            peer, longer = measure(
                lambda m=matrix: linprog(
                    -np.ones(len(m)), A_ub=m + 1.0, b_ub=np.ones(len(m)), method="highs"
                )
            )
            assert abs(ours.value - (-1.0 / peer.fun - 1.0)) < 1e-6  # type: ignore[attr-defined]
            times.append((cpu, longer))
        print(
            f"  n = {n}: {median(t for t, _ in times):.2f} / {median(t for _, t in times):.2f}, "
            f"ratio {median(a / b for a, b in times):.2f}",
            flush=True,
        )


def compare_all() -> None:
    if not find_spec("quantecon"):
        print("all equilibria: quantecon is not installed")
        return
    peer = import_module("quantecon.game_theory")
    print(
        "all equilibria of n x n, uniform payoffs: here / QuantEcon's vertex enumeration, seconds"
    )
    extreme_equilibria(NormalForm(np.random.default_rng(0).random((2, 5, 5))), engine="numba")
    for n, rounds in ((12, 5), (15, 3), (18, 1)):
        times = []
        for k in range(rounds):
            game = NormalForm(np.random.default_rng([n, k]).random((2, n, n)))
            row, col = game.payoffs
            built = peer.NormalFormGame((peer.Player(row.copy()), peer.Player(col.T.copy())))
            ours, cpu = measure(lambda g=game: extreme_equilibria(g, engine="numba"))
            theirs, longer = measure(lambda g=built: peer.vertex_enumeration(g))
            assert len(ours.edges) == len(theirs)  # type: ignore[attr-defined, arg-type]
            times.append((cpu, longer))
        print(
            f"  {n}x{n}: {median(t for t, _ in times):.3f} / {median(t for _, t in times):.2f}, "
            f"{median(b / a for a, b in times):.1f}x faster",
            flush=True,
        )


# ---------------------------------------------------------------- trees


def walk_bare(name: str) -> int:
    """Visit every position and ask what a tree needs, and keep nothing."""
    stack, count = [import_module("pyspiel").load_game(name).new_initial_state()], 0
    while stack:
        state = stack.pop()
        count += 1
        player = state.current_player()
        if player >= 0:
            state.information_state_string(player)
        elif state.is_terminal():
            state.returns()
            continue
        stack.extend([state.child(action) for action in state.legal_actions()])
    return count


def compare_loading() -> None:
    print("loading trees: nodes, seconds, nodes a second")
    text = format_efg(load_tree("leduc-poker"))
    tree, cpu = measure(lambda: parse_efg(text))
    print(f"  .efg text of leduc-poker: {tree.num_nodes:,}, {cpu:.2f}, {tree.num_nodes / cpu:,.0f}")  # type: ignore[attr-defined]
    if not find_spec("pyspiel"):
        print("  OpenSpiel is not installed")
        return
    for name in (
        "leduc_poker",
        "liars_dice",
        "liars_dice(dice_sides=7)",
        "liars_dice(dice_sides=8)",
    ):
        tree, cpu = measure(lambda n=name: load_openspiel(n, limit=10_000_000))
        nodes = tree.num_nodes  # type: ignore[attr-defined]
        bare = measure(lambda n=name: walk_bare(n))[1] if nodes < 1_000_000 else float("nan")
        print(
            f"  {name}: {nodes:,}, {cpu:.2f}, {nodes / cpu:,.0f}; OpenSpiel's functions alone"
            f" {bare:.2f}",
            flush=True,
        )
        del tree


def certify_trees(folder: Path) -> None:
    worst: dict[str, float] = {}
    count: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.efg")):
        try:
            solved = solve_loaded_game(find_game(str(path)))
        except BestResponseError as error:
            count[f"refused: {str(error)[:60]}"] += 1
            continue
        method = solved.method.split(",")[0]
        count[method] += 1
        worst[method] = max(worst.get(method, 0.0), solved.regret or 0.0)
    for method, number in count.most_common():
        print(f"  {number:3} {method}: largest regret {worst.get(method, float('nan')):.1e}")


def print_versions() -> None:
    found = [f"Python {sys.version.split()[0]}"]
    for package in ("numpy", "scipy", "numba", "quantecon", "open_spiel", "pygambit"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    print(", ".join(found))


def main(arguments: list[str]) -> None:
    parts = {
        "zero-sum": compare_zero_sum,
        "all": compare_all,
        "loading": compare_loading,
        "players": compare_players,
    }
    print_versions()
    if arguments[:1] == ["trees"]:
        certify_trees(Path(arguments[1]))
        return
    for name in arguments or parts:
        parts[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
