"""Zero-sum games: speed against scipy and QuantEcon, accuracy on a million games in 15 families,
and time to start.

    python benchmarks/zero_sum.py [--quick] [--processes] [speed] [accuracy] [start]

Contestants take turns on the same games within each round; a ratio is formed in each round and the
median is printed. Contestants that are not installed are left out, and that is said.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from bestresponse.runs.execution import Executor, Threads
from bestresponse.runs.executors.processes import Processes
from bestresponse.theory import solve_zero_sum

Array = NDArray[np.float64]
Strategies = tuple[Array, Array]
Solver = Callable[[Array], Strategies]


@dataclass(frozen=True, slots=True)
class Goal:
    """Games per round for each contestant at one size, and the ratios wanted."""

    size: int
    games: int
    quantecon_games: int
    scipy_games: int
    fast_to_scipy: float
    numpy_to_scipy: float | None = None
    fast_to_quantecon: float | None = None


SPEED = (
    Goal(2, 100_000, 20_000, 300, 80_000),
    Goal(3, 100_000, 20_000, 300, 18_000, numpy_to_scipy=3_000, fast_to_quantecon=8),
    Goal(10, 10_000, 1_000, 200, 600),
    Goal(30, 1_000, 200, 80, 90),
    Goal(100, 60, 30, 12, 10, fast_to_quantecon=1.8),
)
SHAPES = (
    ((2, 2), 15_000),
    ((3, 3), 30_000),
    ((3, 5), 10_000),
    ((5, 5), 9_000),
    ((10, 10), 2_500),
    ((20, 20), 167),
)
LIMIT = 1e-9
PARTS = 4
"""Parts in which the games of one size are solved, so that several workers have something to do."""


# ---------------------------------------------------------------- contestants


def solve_with_numpy(batch: Array) -> Strategies:
    solved = solve_zero_sum(batch, engine="numpy")
    return solved.row, solved.col


def solve_with_numba(batch: Array) -> Strategies:
    solved = solve_zero_sum(batch, engine="numba")
    return solved.row, solved.col


def solve_with_scipy(batch: Array) -> Strategies:
    """One linear program a game: maximise v subject to x A >= v, both strategies from its primal
    and dual solution."""
    count, rows, cols = batch.shape
    costs, total = np.append(np.zeros(rows), -1.0), np.append(np.ones(rows), 0.0)[None]
    bounds = [(0, None)] * rows + [(None, None)]
    x, y = np.full((count, rows), np.nan), np.full((count, cols), np.nan)
    for k, game in enumerate(batch):
        constraints = np.hstack([-game.T, np.ones((cols, 1))])
        answer = linprog(costs, constraints, np.zeros(cols), total, [1.0], bounds, method="highs")
        if answer.status == 0:
            x[k], y[k] = answer.x[:-1], -answer.ineqlin.marginals
    return x, y


def quantecon_solver() -> Solver | None:
    """QuantEcon's minmax in a loop that is itself compiled, which is the fastest way to call it."""
    try:
        from numba import njit
        from quantecon.optimize import minmax
    except ImportError:
        return None

    @njit
    def loop(batch: Array, x: Array, y: Array) -> None:
        for k in range(len(batch)):
            _, x[k], y[k] = minmax(batch[k], 100_000)

    def solve(batch: Array) -> Strategies:
        count, rows, cols = batch.shape
        x, y = np.empty((count, rows)), np.empty((count, cols))
        loop(batch, x, y)
        return x, y

    return solve


def have_numba() -> bool:
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed (left out)"


# ---------------------------------------------------------------- speed


Clock = tuple[
    list[float], list[float]
]  # seconds per game in each round: processor time of this process, wall-clock


def compare_speed(quick: bool) -> None:
    print(
        "Speed on uniform payoffs. First processor time, ours on one core like the others; then"
        " wall-clock, ours on all"
    )
    print(
        f"{'':>9}{'scipy/s':>8}{'numpy:scipy':>18}{'fast:scipy':>20}{'fast:quantecon':>16}", end=""
    )
    print(f" | all {os.cpu_count()} cores:{'fast:scipy':>12}{'fast:quantecon':>16}")
    for goal in SPEED:
        compare_speed_at(goal, rounds=3 if quick else 11)
    print()


def compare_speed_at(goal: Goal, rounds: int) -> None:
    clocks: dict[str, Clock] = {}
    contestants = contestants_at(goal)
    for solve, games in contestants.values():
        solve(games[:2])
    for _ in range(rounds):
        for name, (solve, games) in contestants.items():
            wall, cpu = time.perf_counter(), time.process_time()
            solve(games)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            cpus, walls = clocks.setdefault(name, ([], []))
            cpus.append(cpu / len(games))
            walls.append(wall / len(games))
    cpu_times, wall_times = ({name: clock[k] for name, clock in clocks.items()} for k in (0, 1))
    print(
        f"{goal.size:>4}x{goal.size:<4}{1 / statistics.median(cpu_times['scipy']):>8.0f}"
        f"{ratio(cpu_times, 'scipy', 'numpy', goal.numpy_to_scipy):>18}"
        f"{ratio(cpu_times, 'scipy', 'one core', goal.fast_to_scipy):>20}"
        f"{ratio(cpu_times, 'quantecon', 'one core', goal.fast_to_quantecon):>16} |{'':>13}"
        f"{ratio(wall_times, 'scipy', 'fast'):>12}{ratio(wall_times, 'quantecon', 'fast'):>16}"
    )


def contestants_at(goal: Goal) -> dict[str, tuple[Solver, Array]]:
    """Each with as many of the same games as take it some tens of milliseconds or more."""
    batch = np.random.default_rng(goal.size).random((goal.games, goal.size, goal.size))
    found: dict[str, tuple[Solver, Array]] = {
        "scipy": (solve_with_scipy, batch[: goal.scipy_games]),
        "numpy": (solve_with_numpy, batch if goal.size < 30 else batch[: goal.quantecon_games]),
    }
    quantecon = quantecon_solver()
    if quantecon:
        found["quantecon"] = (quantecon, batch[: goal.quantecon_games])
    if have_numba():
        found |= {"one core": (solve_on_one_core, batch), "fast": (solve_with_numba, batch)}
    return found


def solve_on_one_core(batch: Array) -> Strategies:
    import numba

    cores = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        return solve_with_numba(batch)
    finally:
        numba.set_num_threads(cores)


def ratio(times: dict[str, list[float]], slow: str, fast: str, goal: float | None = None) -> str:
    if slow not in times or fast not in times:
        return "-"
    median = statistics.median(a / b for a, b in zip(times[slow], times[fast], strict=True))
    text = f"{median:,.0f}" if median >= 100 else f"{median:.1f}"
    return text if goal is None else f"{text} (>={goal:,g})"


# ---------------------------------------------------------------- accuracy


def families(rng: np.random.Generator, shape: tuple[int, int, int]) -> Iterator[tuple[str, Array]]:
    count, rows, cols = shape
    small = rng.integers(-2, 3, shape).astype(float)
    square = rng.integers(-5, 6, (count, max(rows, cols), max(rows, cols))).astype(float)
    yield "uniform", rng.random(shape)
    yield "normal", rng.normal(size=shape)
    yield "integers -2..2", small
    yield "integers 0..9", rng.integers(0, 10, shape).astype(float)
    yield "zeros and ones", rng.integers(0, 2, shape).astype(float)
    yield "tenths", np.round(rng.random(shape), 1)
    yield "duplicate rows", rng.random(shape)[:, rng.integers(0, max(rows // 2, 1), rows)]
    yield "duplicate columns", small[:, :, rng.integers(0, max(cols // 2, 1), cols)]
    yield "skew", square - square.transpose(0, 2, 1)
    yield "constant", np.repeat(rng.normal(size=(count, 1, 1)), rows * cols, axis=1).reshape(shape)
    yield (
        "near ties",
        np.round(rng.random(shape), 1)
        + 10.0 ** rng.integers(-12, -5, (count, 1, 1)) * rng.random(shape),
    )
    yield "scale 1e-6", rng.normal(size=shape) * 1e-6
    yield "scale 1e6", rng.normal(size=shape) * 1e6
    yield "scales 1e-6..1e6", rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape)
    yield "offset 1e6", rng.normal(size=shape) + 1e6


def exploitability(batch: Array, strategies: Strategies) -> Array:
    """The duality gap relative to the payoff range, from the definition; infinite where there is no
    answer."""
    low, spread = batch.min(axis=(1, 2), keepdims=True), np.ptp(batch, axis=(1, 2))[:, None, None]
    unit = (batch - low) / np.where(spread > 0.0, spread, 1.0)
    x, y = (np.maximum(s, 0.0) / np.maximum(s, 0.0).sum(axis=1, keepdims=True) for s in strategies)
    gaps = np.einsum("kij,kj->ki", unit, y).max(axis=1) - np.einsum("kij,ki->kj", unit, x).min(
        axis=1
    )
    return np.where(np.isnan(gaps), np.inf, gaps)


@dataclass(slots=True)
class Tally:
    games: int = 0
    missed: int = 0
    worst: float = 0.0

    def add(self, gaps: Array) -> None:
        self.games += len(gaps)
        self.missed += int((gaps > LIMIT).sum())
        self.worst = max(self.worst, float(gaps.max()))

    def merge(self, other: Tally) -> None:
        self.games += other.games
        self.missed += other.missed
        self.worst = max(self.worst, other.worst)

    def __str__(self) -> str:
        return f"{self.missed:>6} of {self.games:>9,} {self.worst:>8.0e}"


def list_solvers() -> dict[str, Solver]:
    contestants: dict[str, Solver | None] = {
        "numpy": solve_with_numpy,
        "fast": None,
        "quantecon": quantecon_solver(),
    }
    contestants["fast"] = solve_with_numba if have_numba() else None
    contestants["scipy"] = solve_with_scipy
    return {name: solve for name, solve in contestants.items() if solve}


def tally_part(part: tuple[int, int, bool]) -> dict[str, dict[str, Tally]]:
    """Solve one part of the games of one size, by family and contestant; scipy gets the first games
    only."""
    size, number, quick = part
    shape, count = SHAPES[size]
    rng = np.random.default_rng([2028, size, number])
    present = list_solvers()
    tallies: dict[str, dict[str, Tally]] = {}
    for family, batch in families(rng, (max(1, count // (PARTS * (20 if quick else 1))), *shape)):
        by_name = tallies.setdefault(family, {name: Tally() for name in present})
        for name, solve in present.items():
            games = batch[: 3 if quick else 13] if name == "scipy" else batch
            with np.errstate(all="ignore"):
                by_name[name].add(exploitability(games, solve(games)))
    return tallies


def compare_accuracy(quick: bool, executor: Executor) -> None:
    """Every contestant's answers over the limit, by family."""
    names = list(list_solvers())
    tallies: dict[str, dict[str, Tally]] = {}
    parts = [
        (size, number, quick) for size in reversed(range(len(SHAPES))) for number in range(PARTS)
    ]
    for found in executor.map(tally_part, parts, None):
        for family, by_name in found.items():
            mine = tallies.setdefault(family, {name: Tally() for name in names})
            for name, tally in by_name.items():
                mine[name].merge(tally)
    print_accuracy(tallies, names)


def print_accuracy(tallies: dict[str, dict[str, Tally]], names: list[str]) -> None:
    print(f"Answers with a relative exploitability over {LIMIT:g}, of how many, and the worst")
    print(f"{'family':<18}" + "".join(f"{name:>30}" for name in names))
    for family, by_name in tallies.items():
        print(f"{family:<18}" + "".join(f"{by_name[name]!s:>30}" for name in names))
    totals = {name: [by_name[name] for by_name in tallies.values()] for name in names}
    merged = (
        Tally(sum(t.games for t in of), sum(t.missed for t in of), max(t.worst for t in of))
        for of in totals.values()
    )
    print(f"{'all':<18}" + "".join(f"{tally!s:>30}" for tally in merged) + "\n")


# ---------------------------------------------------------------- start

PROGRAMS = (
    ("python alone", "pass", None),
    ("import numpy", "import numpy", None),
    ("import bestresponse.theory", "import bestresponse.theory", 0.25),
    (
        "to 10^5 certified 3x3 games",
        (
            "import numpy; from bestresponse.theory import solve_zero_sum; assert"
            " solve_zero_sum(numpy.random.default_rng(0).random((100_000, 3,"
            " 3))).relative_gaps.max() < 1e-9"
        ),
        0.4,
    ),
    (
        "the same with numba (cached)",
        (
            "import numpy; from bestresponse.theory import solve_zero_sum; "
            "solve_zero_sum(numpy.random.default_rng(0).random((100_000, 3, 3)), engine='numba')"
        ),
        None,
    ),
)


def measure_start(quick: bool) -> None:
    print(
        "From the start of a process to its end: median seconds by the clock, and of processor time"
    )
    programs = [program for program in PROGRAMS if "numba" not in program[1] or have_numba()]
    clocks: dict[str, Clock] = {name: ([], []) for name, _, _ in programs}
    for _ in range(3 if quick else 11):
        for name, program, _ in programs:
            wall, cpu = time.perf_counter(), children_seconds()
            subprocess.run([sys.executable, "-c", program], check=True)
            cpus, walls = clocks[name]
            walls.append(time.perf_counter() - wall)
            cpus.append(children_seconds() - cpu)
    for name, _, goal in programs:
        cpus, walls = clocks[name]
        wanted = f" (<= {goal:g})" if goal else ""
        print(f"{name:<30} {statistics.median(walls):.3f} {statistics.median(cpus):.3f}{wanted}")
    print()


def children_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="part", help="speed, accuracy, start; all if none is named"
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds and games: a minute instead of several"
    )
    parser.add_argument(
        "--processes", action="store_true", help="measure the accuracy in a process per core"
    )
    arguments = parser.parse_args()
    accuracy = partial(compare_accuracy, executor=Processes() if arguments.processes else Threads())
    parts = {"speed": compare_speed, "accuracy": accuracy, "start": measure_start}
    if unknown := set(arguments.parts) - set(parts):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; choose from {', '.join(parts)}")
    packages = ("numpy", "scipy", "numba", "quantecon")
    print(
        f"Python {sys.version.split()[0]}, "
        + ", ".join(installed(package) for package in packages)
        + "\n"
    )
    for name, measure in parts.items():
        if not arguments.parts or name in arguments.parts:
            measure(arguments.quick)


if __name__ == "__main__":
    main()
