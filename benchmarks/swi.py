"""SWI-Prolog behind pipes against the embedded engine and against one `swipl` process a query.

Check, load and table of a 2x2 program; single `select/4` queries; the same in batches; all rows of a game of three
players with five moves each, and its table with the order of moves checked. The engines take turns in every round;
medians over the rounds and of the ratios within a round are printed. Two times are given: by the clock, and of the
processor (this process and the worker together), which is what the clock would show on a machine with nothing else to
do. The gate is part of the first kind of work; its share is printed, because it is the same Python for both engines.

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

from bestresponse.logic.embedded import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine
from bestresponse.logic.gate import check
from bestresponse.logic.solver_language import TRUSTED
from bestresponse.logic.swi import SwiEngine
from bestresponse.logic.table import extract

DILEMMA = """
initial(s0).
initially(player(p1), s0).
initially(player(p2), s0).
initially(role(p1, row), s0).
initially(role(p2, col), s0).
initially(control(p1), s0).
initially(control(p2), s0).
initially(default_move(_, 'C'), s0).
final(do(M2, do(M1, S))) :- ground(M2), ground(M1), initial(S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
possible(move(P, 'D'), S) :- holds(player(P), S).
possible(move(P, 'C'), S) :- holds(player(P), S).
opposite_move('C', 'D').
opposite_move('D', 'C').
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
payoff('D', 'D', 1, 1).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('C', 'C', 3, 3).
finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, row), S), holds(did(P1, M1), S),
    holds(role(P2, col), S), holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
select(P, O, S, M) :- \\+ holds(last_move(O, _), S), holds(default_move(P, M), S).
select(_, O, S, M) :- holds(last_move(O, M), S).
"""

GOODS = """
initial(s0).
initially(player(P), s0) :- member(P, [p1, p2, p3]).
initially(control(P), s0) :- member(P, [p1, p2, p3]).
possible(move(P, M), S) :- member(M, [0, 1, 2, 3, 4]), holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(do(_, do(_, do(_, S)))) :- initial(S).
finally(goal(P, U), S) :-
    final(S),
    holds(did(p1, A), S), holds(did(p2, B), S), holds(did(p3, C), S),
    holds(did(P, Own), S),
    U is 4 - Own + (A + B + C) * 3 / 5.
"""

SELECT = "select(p1, p2, s0, M)"


def worker_seconds(engine: LogicEngine) -> float:
    """Processor time of the engine's worker, where the system tells it; 0 for the embedded engine."""
    if not isinstance(engine, SwiEngine):
        return 0.0
    path = Path(f"/proc/{engine._worker.pid}/schedstat")
    return int(path.read_text().split()[0]) / 1e9 if path.exists() else 0.0


def timed(engine: LogicEngine, work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    clock, own, other = perf_counter(), process_time(), worker_seconds(engine)
    work()
    return perf_counter() - clock, process_time() - own + worker_seconds(engine) - other


def contest(title: str, unit: int, works: dict[str, tuple[LogicEngine, Callable[[], object]]], rounds: int) -> None:
    """Let the contestants take turns and print how long one unit of work takes, and how many a second that is."""
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
        ratios = [theirs[1] / ours[1] for ours, theirs in zip(found[first], found[second], strict=True)]
        print(f"  {first} takes 1/{median(ratios):.1f} of the processor time of {second}")


def tabled(engine: LogicEngine, source: str, times: int) -> Callable[[], object]:
    def work() -> None:
        for i in range(times):
            assert extract(engine, engine.load(f"{source}% {i}\n")).table is not None

    return work


def queries(engine: LogicEngine, times: int) -> Callable[[], object]:
    program = engine.load(DILEMMA)
    return lambda: [engine.solutions(program, SELECT) for _ in range(times)]


def batch(engine: LogicEngine, times: int) -> Callable[[], object]:
    program, goals = engine.load(DILEMMA), [SELECT] * times
    return lambda: engine.ask_many(program, goals)


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
        command = ["swipl", "-f", "none", "-q", "-g", f"({SELECT}, print(M), nl)", "-t", "halt", str(path)]
        clock = perf_counter()
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return perf_counter() - clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    embedded: LogicEngine = EmbeddedEngine(Limits(steps=20_000_000, seconds=60.0))
    engines: dict[str, LogicEngine] = {"embedded": embedded}
    if shutil.which("swipl") is None:
        print("SWI-Prolog is not installed: only the embedded engine is measured")
    else:
        swi = SwiEngine()
        engines = {"swi": swi, **engines}
        print(f"SWI-Prolog {swi.version}; {'; '.join(map(str, swi.layers))}")
    contest("check + load + table, 2x2", 10, {n: (e, tabled(e, DILEMMA, 10)) for n, e in engines.items()}, rounds)
    gate = {"gate alone": (embedded, lambda: [check(f"{DILEMMA}% {i}\n") for i in range(10)])}
    contest("  of which the gate", 10, gate, rounds)
    contest("select/4, one by one", 300, {n: (e, queries(e, 300)) for n, e in engines.items()}, rounds)
    contest("select/4, in batches", 2000, {n: (e, batch(e, 2000)) for n, e in engines.items()}, rounds)
    contest("three players with five moves: all rows", 1, {n: (e, rows(e)) for n, e in engines.items()}, rounds)
    contest("the same, as a checked table", 1, {n: (e, again(e)) for n, e in engines.items()}, rounds)
    if "swi" in engines:
        seconds = median(one_process_a_query() for _ in range(rounds))
        print(f"select/4, one swipl process a query: clock {seconds * 1e3:.1f} ms ({1 / seconds:.0f}/s)")
    for engine in engines.values():
        engine.close()


if __name__ == "__main__":
    main()
