"""Runs that are killed inside their requests, against unbroken ones.

    python scripts/kills.py [--kills 100] [--only bench] [--seed 11]

A server on loopback holds its replies and kills the command (SIGKILL) while requests are on their
way: nothing of a reply, half of it or all of it has been sent then. The same command resumes. At
the end every play is recorded once, the figures equal those of the unbroken run, and every request
was asked as often as without kills, and once more for each kill that it was on its way at. A whole
reply that was sent at the moment of a kill may be asked for again or not: nobody can know that it
was read. All other replies had been delivered before, and must never be asked for again.

The kills are shared among `bench`, `simulate`, `tournament`, `verify` and
`steer`. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from held_calls import PORTIONS, HoldingServer, Killer

from bestresponse.models.base import Message, Request
from bestresponse.players.dialogue.simulated import SimulatedSpeaker

WORKERS = ("--workers", "4")


@dataclass(frozen=True)
class Case:
    """A command that asks a model, the answers, and how many of a hundred kills it gets."""

    name: str
    words: Sequence[str]
    answer: Callable[[dict[str, Any]], str]
    kills: int

    def command(self, model: str, folder: Path) -> list[str]:
        words = [word.replace("MODEL", model) for word in self.words]
        return [sys.executable, "-m", "bestresponse", *words, "--output-dir", str(folder)]


def state_mix(body: dict[str, Any]) -> str:
    return '{"A": 0.5, "B": 0.3, "C": 0.2}'


def bid(body: dict[str, Any]) -> str:
    """A third of the balance that the prompt names."""
    text = body["messages"][-1]["content"]
    most = float(re.findall(r"(?:between 0 and|from 0 to) (\d+(?:\.\d+)?)", text)[-1])
    return json.dumps({"answer": round(most / 3, 2)})


def defect(body: dict[str, Any]) -> str:
    return '{"answer": "defect"}'


def reason(body: dict[str, Any]) -> str:
    """A wrong claim, and a true one once it was refuted."""
    right = "take the following into account" in json.dumps(body["messages"])
    return f"If both defect, each gets {1 if right else 4}.\nANSWER: defect"


def speak(body: dict[str, Any]) -> str:
    messages = tuple(Message(one["role"], one["content"]) for one in body["messages"])
    return SimulatedSpeaker(0).complete(Request(messages)).text


BENCH = ("bench", "--model", "MODEL", "--num-games", "400", "--seed", "7")
WATER = ("simulate", "water", "--model", "MODEL", "--grid", "--repeats", "3", "--days", "4")
ROBIN = ("tournament", "prisoners-dilemma", "--entries", "tit-for-tat,defector", "--entries")
VERIFY = (
    "verify",
    "prisoners-dilemma",
    "--model",
    "MODEL",
    "--translator",
    "rules",
    "--settings",
    "disguised=false",
)
STEER = ("steer", "meeting", "--games", "2", "--iterations", "20", "--fresh", "1")

CASES = (
    Case("bench", (*BENCH, *WORKERS), state_mix, 45),
    Case("simulate", (*WATER, *WORKERS), bid, 15),
    Case("tournament", (*ROBIN, "MODEL", "--rounds", "20", *WORKERS), defect, 15),
    Case(
        "verify", (*VERIFY, "--settings", "inverted=false", "--repeats", "60", *WORKERS), reason, 15
    ),
    Case("steer", (*STEER, "--model", "MODEL", *WORKERS), speak, 10),
)


@dataclass(frozen=True)
class Found:
    """What came of a command that was killed again and again."""

    kills: int
    calls: int
    again: int
    """Calls that were on their way at a kill, and asked again."""
    too_often: int
    too_seldom: int
    records: int
    once: bool
    same: bool

    @property
    def right(self) -> bool:
        return self.once and self.same and self.too_often == self.too_seldom == 0


def try_case(case: Case, kills: int, rng: random.Random) -> Found:
    """Run a command unbroken, kill it again and again, and compare."""
    server = HoldingServer(case.answer)
    try:
        with tempfile.TemporaryDirectory() as top:
            whole, broken = Path(top) / "whole", Path(top) / "broken"
            run_to_the_end(case.command(server.model, whole))
            expected = Counter(server.asked)
            killer = Killer(server)
            done = kill_often(case.command(server.model, broken), killer, kills, rng)
            run_to_the_end(case.command(server.model, broken))
            asked = server.asked - expected
            too_often, too_seldom = killer.count_wrongly_asked(expected, expected)
            records = list_records(broken)
            return Found(
                kills=done,
                calls=expected.total(),
                again=asked.total() - expected.total(),
                too_often=too_often,
                too_seldom=too_seldom,
                records=len(records),
                once=len(set(records)) == len(records) == len(list_records(whole)),
                same=read_figures(broken) == read_figures(whole),
            )
    finally:
        server.close()


def kill_often(command: list[str], killer: Killer, kills: int, rng: random.Random) -> int:
    """Kill the command that often, and return how often it was killed: less often where it ends
    before."""
    apart = max(1, killer.server.asked.total() // (kills + 1))
    for number in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = rng.randint(0, apart)
        if not killer.kill(process, after, PORTIONS[number % len(PORTIONS)]):
            return number
    return kills


def run_to_the_end(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the command ended with {done.returncode}: {done.stderr[-2000:]}")


def list_records(folder: Path) -> list[tuple[object, ...]]:
    """Return which plays, and which messages of dialogues, are recorded below a folder."""
    found: list[tuple[object, ...]] = []
    for path in sorted(folder.glob("*/records.jsonl")):
        found += [(row["spec"],) for row in read_rows(path)]
    for path in sorted(folder.glob("dialogues-*/answers.jsonl")):
        found += [(row["key"], row["number"]) for row in read_rows(path)]
    return found


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read_figures(folder: Path) -> list[Any]:
    """Return the figures of all runs below a folder; what calls took differs from run to run."""
    return [
        json.loads(path.read_text("utf-8"))["metrics"]
        for path in sorted(folder.glob("*/summary.json"))
    ]


def main() -> None:
    """Share the kills among the commands, and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--only", choices=[case.name for case in CASES])
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    chosen = [case for case in CASES if options.only in (None, case.name)]
    shares = sum(case.kills for case in chosen)
    found = []
    for case in chosen:
        rng = random.Random(f"{options.seed} {case.name}")
        found.append(try_case(case, max(1, round(options.kills * case.kills / shares)), rng))
        print(f"{case.name}: {found[-1]}", flush=True)
    print(
        f"{sum(one.kills for one in found)} kills; calls asked again, on their way at a kill:"
        f" {sum(one.again for one in found)} of {sum(one.calls for one in found)};"
        f" asked too often: {sum(one.too_often for one in found)},"
        f" too seldom: {sum(one.too_seldom for one in found)};"
        f" every record once: {all(one.once for one in found)};"
        f" same figures as unbroken: {all(one.same for one in found)}"
    )
    if not all(one.right for one in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
