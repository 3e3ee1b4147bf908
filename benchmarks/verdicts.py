"""Do verdicts on game programs depend on how busy the machine is? Programs in both engines, at a
load that is made here.

An eighth of the programs stand within a tenth of a limit (rules tried, positions, rules in all);
the others are hostile ones, the packaged ones, and small generated games. All limits are a tenth of
the usual ones, seconds included, so that a run takes minutes and the ratio between counted work and
processor time stays what it is. Every run adds its verdicts to FILE and compares them with all
that stand there:

    python benchmarks/verdicts.py verdicts.jsonl --busy 0
    python benchmarks/verdicts.py verdicts.jsonl --busy 6
    python benchmarks/verdicts.py verdicts.jsonl --busy 12
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import complete_games

import bestresponse as br
from bestresponse.logic import Limits

ROOT = Path(__file__).parents[1]
FOLDERS = ("tests/logic/hostile", "examples/programs", "src/bestresponse/formal/formalize/library")
NEAR, ALL = 50, 400
USUAL = Limits()
TENTH = Limits(
    seconds=USUAL.seconds / 10,
    positions=USUAL.positions // 10,
    steps=USUAL.steps // 10,
    answers=USUAL.answers // 10,
    ends=USUAL.ends // 10,
)

COUNTING = """
initial(s0).
initially(player(ann), s0).
initially(control(ann), s0).
legal(move(P, M), S) :- holds(control(P), S), between(1, {moves}, M).
abnormal(control(P), move(P, _), _).
final(do(_, _)).
count(N, N) :- !.
count(K, N) :- L is K + 1, count(L, N).
finally(goal(ann, M), do(move(_, M), _)) :- count(0, {count}).
"""
TURNS = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob, cat]).
turn(s0, 0).
turn(do(_, S), N) :- turn(S, M), N is M + 1.
mover(0, ann, {first}).
mover(1, bob, {second}).
legal(move(P, M), S) :- turn(S, T), mover(T, P, Most), between(1, Most, M).
final(do(_, do(_, _))).
finally(goal(P, M), do(move(P, M), _)).
finally(goal(P, M), do(_, do(move(P, M), _))).
finally(goal(cat, 0), _).
"""


STEPS_PER_COUNT = (3.0, 1.5)
"""Steps that `count/2` takes for each number in the embedded engine and in SWI-Prolog."""
COUNTED = 6_250


def list_programs(count: int) -> Iterator[tuple[str, str]]:
    """Name and text of the programs, as many as wanted."""
    for place in range(NEAR):
        share = 0.9 + 0.2 * (place // 5) / (NEAR // 5)
        yield f"near {place}", write_near(place % 5, share)
    number = NEAR
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.pl")):
            number += 1
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8", errors="replace")
    for seed in range(count - number):
        rng = random.Random(seed)
        program = complete_games.write_program(complete_games.draw_stages(rng, 10, 60), rng)
        yield f"drawn-{seed}", program


def write_near(kind: int, share: float) -> str:
    """Write a program that needs about this share of what a limit allows."""
    if kind == 0:
        return TURNS.format(first=20, second=round(share * TENTH.positions / 20))
    per_count = STEPS_PER_COUNT[kind % 2]
    if kind < 3:
        return COUNTING.format(moves=2, count=round(share * TENTH.steps / per_count))
    moves = TENTH.steps_in_all / (per_count * COUNTED)
    return COUNTING.format(moves=round(share * moves), count=COUNTED)


@contextmanager
def keep_busy(processes: int) -> Iterator[None]:
    """Let so many processes compute meanwhile."""
    command = [sys.executable, "-c", "while True: sum(range(10_000))"]
    running = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def judge(program: str, engine: str) -> str:
    """The verdict, its messages and the game, as a hash with the verdict in front."""
    report = br.check(program, engine=engine, limits=TENTH)
    told = [(d.code, d.message) for d in report.diagnostics]
    found = repr((told, report.table, report.positions)).encode()
    code = "game" if report.ok else report.errors[0].code
    return f"{code} {hashlib.sha256(found).hexdigest()[:16]}"


def main() -> None:
    """Judge the programs, compare the verdicts with those in the file, and add them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--busy", type=int, default=0, help="processes that compute meanwhile")
    parser.add_argument("--programs", type=int, default=ALL)
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long")
    options = parser.parse_args()
    engines = ["embedded", *(["swi"] if shutil.which("swipl") else [])]
    lines = options.file.read_text().splitlines() if options.file.exists() else []
    known = [json.loads(line) for line in lines]
    done = {(row["program"], row["engine"], row["busy"]) for row in known}
    until = monotonic() + options.seconds
    with keep_busy(options.busy), options.file.open("a") as file:
        for name, program in list_programs(options.programs):
            for engine in engines:
                if (name, engine, options.busy) in done or monotonic() > until:
                    continue
                row = {"program": name, "engine": engine, "busy": options.busy}
                row |= {"verdict": judge(program, engine), "load": round(os.getloadavg()[0], 1)}
                known.append(row)
                file.write(json.dumps(row) + "\n")
                file.flush()
    tell(known)


def tell(rows: list[dict[str, str]]) -> None:
    """Print how many verdicts there are at each load, and which differ."""
    verdicts: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        verdicts.setdefault((row["program"], row["engine"]), set()).add(row["verdict"])
    loads = Counter((row["busy"], row["engine"]) for row in rows)
    for (busy, engine), number in sorted(loads.items()):
        here = [float(row["load"]) for row in rows if row["busy"] == busy]
        print(
            f"{number} programs, {engine}, {busy} busy processes, load {min(here)} to {max(here)}"
        )
    print(Counter(row["verdict"].split()[0] for row in rows))
    differ = [key for key, found in verdicts.items() if len(found) > 1]
    print(f"{len(differ)} of {len(verdicts)} verdicts differ between loads: {differ}")


if __name__ == "__main__":
    main()
