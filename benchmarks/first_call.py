"""Seconds of processor time from the start of a fresh process to N solved random games, cold beside
warm.

    python benchmarks/first_call.py [MOST]      N = 1, 100, 10,000, ... up to MOST (default 100)

Cold is a process of its own for every figure, imports included; warm is the same work a second time
in that process. Measured beside it, where they are installed: QuantEcon, Nashpy and Gambit (all
equilibria of bimatrix games), QuantEcon's path of Lemke and Howson (one equilibrium of games that
have no pure one; after 5,000 pivots it stops, arrived or not), scipy's HiGHS (zero-sum games)
and OpenSpiel's C++ (CFR).
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

DRAW = (
    "import numpy as np\nrng = np.random.default_rng(0)\ngames = rng.random(({count}, 2, {size},"
    " {size}))\n"
)
DRAW_MIXED = """
import numpy as np
def has_pure(row, col): return ((row == row.max(0)) & (col == col.max(1)[:, None])).any()
rng = np.random.default_rng(0)
games = []
while len(games) < {count}:
    row, col = rng.random((2, {size}, {size}))
    if not has_pure(row, col): games.append((row, col))
"""
LARGE = (30, 100, 200, 500, 1000)
BIMATRIX = {
    "bestresponse": (
        "bestresponse",
        "import bestresponse as br\ndef solve(g): return list(br.nash(g[0], g[1]))",
    ),
    "QuantEcon": (
        "quantecon",
        (
            "import quantecon.game_theory as qe\ndef solve(g): return"
            " qe.support_enumeration(qe.NormalFormGame((qe.Player(g[0]),"
            " qe.Player(g[1].T.copy()))))"
        ),
    ),
    "Nashpy": (
        "nashpy",
        "import nashpy\ndef solve(g): return list(nashpy.Game(g[0], g[1]).support_enumeration())",
    ),
    "Gambit": (
        "pygambit",
        (
            "import pygambit\ndef solve(g): return pygambit.nash.enummixed_solve("
            "pygambit.Game.from_arrays(g[0], g[1]), rational=False).equilibria"
        ),
    ),
}
ONE = {
    "bestresponse": (
        "bestresponse",
        "from bestresponse.theory import nash_one\ndef solve(g): return nash_one(g[0], g[1])",
    ),
    "QuantEcon": (
        "quantecon",
        (
            "import quantecon.game_theory as qe\ndef solve(g): return"
            " qe.lemke_howson(qe.NormalFormGame((qe.Player(g[0]), qe.Player(g[1].T.copy()))),"
            " max_iter=5_000)"
        ),
    ),
}
ZERO_SUM = {
    "bestresponse": (
        "bestresponse",
        (
            "from bestresponse.theory import solve_zero_sum_game\ndef solve(g): return"
            " solve_zero_sum_game(g[0]).value"
        ),
    ),
    "HiGHS": (
        "scipy",
        (
            "from scipy.optimize import linprog\ndef solve(g):\n    m, n = g[0].shape\n    above ="
            " np.hstack([-g[0].T, np.ones((n, 1))])\n    equal = np.append(np.ones(m), 0.0)[None]\n"
            "    return linprog(-np.eye(m + 1)[m], above, np.zeros(n), equal, [1.0], [(0, None)] *"
            " m + [(None, None)]).fun"
        ),
    ),
}
CFR = {
    "bestresponse": (
        "bestresponse",
        (
            "from bestresponse.theory import cfr, load_tree\n"
            "def solve(steps): return cfr(load_tree('{ours}'), steps, 'cfr').nash_conv"
        ),
    ),
    "OpenSpiel": (
        "pyspiel",
        (
            "import pyspiel\n"
            "def solve(steps):\n"
            "    solver = pyspiel.CFRSolver(pyspiel.load_game('{theirs}'))\n"
            "    for _ in range(steps): solver.evaluate_and_update_policy()"
        ),
    ),
}
CLOCK = """
from time import process_time
for game in games: solve(game)
cold = process_time()
for game in games: solve(game)
print(cold, process_time() - cold)
"""


def measure(program: str) -> tuple[float, float]:
    """Run a program in a process of its own; the processor seconds it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    cold, warm = map(float, done.stdout.split())
    return cold, warm


def compare(
    title: str,
    peers: dict[str, tuple[str, str]],
    sizes: tuple[int, ...],
    counts: list[int],
    draw: str = DRAW,
) -> None:
    """Print one line for every size, number of games and package."""
    print(f"\n{title}\n{'size':>9} {'games':>9} {'package':>14} {'cold s':>9} {'warm s':>9}")
    for size in sizes:
        for count in counts:
            for name, (module, setup) in peers.items():
                if find_spec(module) is not None:
                    cold, warm = measure(draw.format(count=count, size=size) + setup + CLOCK)
                    print(f"{f'{size}x{size}':>9} {count:>9,} {name:>14} {cold:9.3f} {warm:9.4f}")


def main() -> None:
    """Compare bimatrix games, zero-sum games and CFR."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    counts = [count for count in (1, 100, 10_000, 1_000_000) if count <= most]
    compare("All equilibria of bimatrix games", BIMATRIX, (2, 3, 5), counts)
    compare("One equilibrium of a bimatrix game without a pure one", ONE, LARGE, [3], DRAW_MIXED)
    compare("Zero-sum games", ZERO_SUM, (3, 10), counts)
    compare("Large zero-sum games", ZERO_SUM, LARGE[1:], [1])
    print(
        f"\nCFR, loading the tree included\n{'game':>9} {'steps':>9} {'package':>14} {'cold s':>9}"
        f" {'warm s':>9}"
    )
    for ours, theirs in (("kuhn-poker", "kuhn_poker"), ("leduc-poker", "leduc_poker")):
        for steps in (200, *((10_000,) if most >= 10_000 else ())):
            for name, (module, setup) in CFR.items():
                if find_spec(module) is not None:
                    cold, warm = measure(
                        setup.format(ours=ours, theirs=theirs) + f"\ngames = [{steps}]" + CLOCK
                    )
                    print(f"{theirs[:5]:>9} {steps:>9,} {name:>14} {cold:9.3f} {warm:9.4f}")


if __name__ == "__main__":
    main()
