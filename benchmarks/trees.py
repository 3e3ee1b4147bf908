"""CFR and CFR+ against OpenSpiel's C++ solver, and the time to solve Leduc poker exactly.

Both sides run the same tree (OpenSpiel's own, loaded as a tree here) and the same iterates:
alternating updates and the average policy. The script first checks that NashConv agrees.
Contestants take turns in every round; a contestant's time is that of its iterations alone, without
building the tree. Printed: medians over the rounds, ratios of each round. Run: `python
benchmarks/trees.py [rounds]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from time import perf_counter, process_time

from bestresponse.theory import cfr, load_openspiel, load_tree, solve_tree
from bestresponse.theory.trees.cfr import CfrState, schedule
from bestresponse.theory.trees.openspiel import openspiel_is_installed
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.tree import Tree

ITERATIONS = {"kuhn_poker": (2_000, 2_000, 400_000), "leduc_poker": (10, 400, 5_000)}
"""Per timing: of OpenSpiel, of numpy, of numba."""
SOLVERS = {"cfr": "CFRSolver", "cfr+": "CFRPlusSolver"}
WANTED = {("kuhn_poker", "numba"): 100, ("leduc_poker", "numba"): 300, ("leduc_poker", "numpy"): 50}


def seconds(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def theirs(name: str, variant: str, iterations: int) -> float:
    """Seconds per iteration of OpenSpiel's solver."""
    import pyspiel

    solver = getattr(pyspiel, SOLVERS[variant])(pyspiel.load_game(name))

    def run() -> None:
        for _ in range(iterations):
            solver.evaluate_and_update_policy()

    return seconds(run) / iterations


def ours(tree: Tree, variant: str, engine: str, iterations: int) -> float:
    """Seconds per iteration of this library."""
    solver = CfrState(to_sequence_form(tree), engine)
    solver.run(schedule(variant, 1, 1), False)
    plan = schedule(variant, 2, iterations + 1)
    return seconds(lambda: solver.run(plan, False)) / iterations


def check_same_iterates(name: str, tree: Tree, variant: str, engines: list[str]) -> None:
    import pyspiel

    game = pyspiel.load_game(name)
    solver = getattr(pyspiel, SOLVERS[variant])(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    expected = pyspiel.nash_conv(game, solver.average_policy())
    for engine in engines:
        found = cfr(tree, 20, variant, engine=engine).nash_conv
        assert abs(found - expected) < 1e-9, f"{name} {variant} {engine}: {found} is not {expected}"


def compare(name: str, variant: str, rounds: int, engines: list[str]) -> None:
    tree = load_openspiel(name)
    check_same_iterates(name, tree, variant, engines)
    their_count, *our_counts = ITERATIONS[name]
    counts = dict(zip(("numpy", "numba"), our_counts, strict=True))
    rows = []
    for _ in range(rounds):
        row = {"OpenSpiel": theirs(name, variant, their_count)}
        row |= {engine: ours(tree, variant, engine, counts[engine]) for engine in engines}
        rows.append(row)
    rate = median(1 / row["OpenSpiel"] for row in rows)
    print(f"{name:12} {variant:5} OpenSpiel C++ {rate:12,.0f} iterations/s")
    for engine in engines:
        ratio = median(row["OpenSpiel"] / row[engine] for row in rows)
        rate = median(1 / row[engine] for row in rows)
        wanted = f", wanted >= {WANTED[name, engine]}" if (name, engine) in WANTED else ""
        print(
            f"{name:12} {variant:5} {engine:13} {rate:12,.0f} iterations/s  ratio"
            f" {ratio:7.1f}{wanted}"
        )


def exact(tree: Tree, what: str, rounds: int) -> None:
    solution = solve_tree(tree)
    times = []
    for _ in range(rounds):
        start = process_time()
        solve_tree(tree)
        times.append(process_time() - start)
    print(
        f"{what}: value {solution.value['player 1']:.12f}, NashConv {solution.nash_conv:.1e}, "
        f"{median(times):.3f} s of processor time, wanted <= 0.2 s"
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    engines = ["numpy", "numba"] if find_spec("numba") else ["numpy"]
    if "numba" not in engines:
        print("numba is not installed: skipped")
    exact(load_tree("leduc-poker"), "Leduc by rank, sequence-form LP", rounds)
    if not openspiel_is_installed():
        print("OpenSpiel is not installed: comparisons skipped")
        return
    exact(load_openspiel("leduc_poker"), "Leduc with suits, sequence-form LP", rounds)
    for name in ITERATIONS:
        for variant in SOLVERS:
            compare(name, variant, rounds, engines)


if __name__ == "__main__":
    main()
