"""SWI-Prolog behind pipes against the embedded engine and against one `swipl` process a query.

Check, load and table of a 2x2 program; single `select/4` queries; all rows of a game of three
players with five moves each, and its table with the order of moves checked. The engines take turns
in every round; medians over the rounds and of the ratios within a round are printed. Two times are
given: by the clock, and of the processor (this process and the worker together), which is what the
clock would show on a machine with nothing else to do. The gate is part of the first kind of work;
its share is printed, because it is the same Python for both engines.

    python benchmarks/swi.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from game_programs import DILEMMA, GOODS

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.programs.solver_language import TRUSTED
from bestresponse.logic.programs.table import extract
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.logic.swi.worker import find_swipl

SELECT = "select(p1, p2, s0, M)"


def worker_seconds(engine: LogicEngine) -> float:
    """Processor time of the engine's worker, where the system tells it; 0 for the embedded
    engine."""
    if not isinstance(engine, SwiEngine):
        return 0.0
    path = Path(f"/proc/{engine._worker.pid}/schedstat")
    return int(path.read_text().split()[0]) / 1e9 if path.exists() else 0.0


def timed(engine: LogicEngine, work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    clock, own, other = perf_counter(), process_time(), worker_seconds(engine)
    work()
    return perf_counter() - clock, process_time() - own + worker_seconds(engine) - other


def contest(
    title: str, unit: int, works: dict[str, tuple[LogicEngine, Callable[[], object]]], rounds: int
) -> None:
    """Let the contestants take turns and print how long one unit of work takes, and how many a
    second that is."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for engine, work in works.values():
        timed(engine, work)
    for _ in range(rounds):
        for name, (engine, work) in works.items():
            found[name].append(timed(engine, work))
    print(title)
    for name, times in found.items():
        clock, processor = (median(time[i] for time in times) / unit for i in (0, 1))
        print(
            f"  {name:10} clock {clock * 1e3:9.3f} ms ({1 / clock:10,.0f}/s)"
            f"   processor {processor * 1e3:9.3f} ms ({1 / processor:10,.0f}/s)"
        )
    if len(found) == 2:
        first, second = found
        ratios = [
            theirs[1] / ours[1] for ours, theirs in zip(found[first], found[second], strict=True)
        ]
        print(f"  {first} takes 1/{median(ratios):.1f} of the processor time of {second}")


def tabled(engine: LogicEngine, source: str, times: int) -> Callable[[], object]:
    def work() -> None:
        for i in range(times):
            assert extract(engine, engine.load(f"{source}% {i}\n")).table is not None

    return work


def queries(engine: LogicEngine, times: int) -> Callable[[], object]:
    program = engine.load(DILEMMA)
    return lambda: [engine.solutions(program, SELECT) for _ in range(times)]


def rows(engine: LogicEngine) -> Callable[[], object]:
    program = engine.load(GOODS)
    return lambda: engine.solutions(program, "table_row(Steps, Goals)")


def again(engine: LogicEngine) -> Callable[[], object]:
    program = engine.load(GOODS)
    return lambda: extract(engine, program)


def one_process_a_query() -> float:
    """Seconds for one query when SWI-Prolog is started anew for it, without any confinement."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.pl"
        path.write_text(TRUSTED + DILEMMA)
        command = [
            "swipl",
            "-f",
            "none",
            "-q",
            "-g",
            f"({SELECT}, print(M), nl)",
            "-t",
            "halt",
            str(path),
        ]
        clock = perf_counter()
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return perf_counter() - clock


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    embedded: LogicEngine = EmbeddedEngine(Limits(steps=20_000_000.0))
    engines: dict[str, LogicEngine] = {"embedded": embedded}
    if shutil.which("swipl") is None:
        print("SWI-Prolog is not installed: only the embedded engine is measured")
    else:
        swi = SwiEngine()
        engines = {"swi": swi, **engines}
        print(f"SWI-Prolog {find_swipl().version}; {'; '.join(map(str, swi.layers))}")
    contest(
        "check + load + table, 2x2",
        10,
        {n: (e, tabled(e, DILEMMA, 10)) for n, e in engines.items()},
        rounds,
    )
    gate = {
        "gate alone": (embedded, lambda: [check_source(f"{DILEMMA}% {i}\n") for i in range(10)])
    }
    contest("  of which the gate", 10, gate, rounds)
    contest(
        "select/4, one by one", 300, {n: (e, queries(e, 300)) for n, e in engines.items()}, rounds
    )
    contest(
        "three players with five moves: all rows",
        1,
        {n: (e, rows(e)) for n, e in engines.items()},
        rounds,
    )
    contest(
        "the same, as a checked table", 1, {n: (e, again(e)) for n, e in engines.items()}, rounds
    )
    if "swi" in engines:
        seconds = median(one_process_a_query() for _ in range(rounds))
        print(
            f"select/4, one swipl process a query: clock {seconds * 1e3:.1f} ms"
            f" ({1 / seconds:.0f}/s)"
        )
    for engine in engines.values():
        engine.close()


if __name__ == "__main__":
    main()
