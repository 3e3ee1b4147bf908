"""Round robins of strategies from the `axelrod` library: our `tournament` beside the library's own.

Both play the first strategies of `axelrod.short_run_time_strategies` (all but those that take very
long) against each other and themselves, each pair once, in one process. Ours stores every match
with its moves and writes the report; the library writes its interactions to a file and summarises
them (`axelrod.Tournament.play`). Every contestant runs in a process of its own, contestants take
turns, and ratios are taken within a round. Processor time does not include importing; memory is the
peak of the process, with what the imports take.

    python benchmarks/axelrod_library.py [--strategies 200] [--turns 20] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

CONTESTANTS = ("ours", "library")


@dataclass(frozen=True)
class Cost:
    """Processor time in seconds and the peak of memory in MB."""

    seconds: float
    megabytes: float


def list_names(count: int) -> list[str]:
    import axelrod

    return [strategy.__name__ for strategy in axelrod.short_run_time_strategies[:count]]


def play_ours(count: int, turns: int, folder: Path) -> None:
    import bestresponse as br

    br.tournament(
        "prisoners-dilemma",
        [f"axelrod:{name}" for name in list_names(count)],
        rounds=turns,
        output_dir=folder,
    )


def play_library(count: int, turns: int, folder: Path) -> None:
    import axelrod

    players = [getattr(axelrod, name)() for name in list_names(count)]
    tournament = axelrod.Tournament(players, turns=turns, repetitions=1, seed=0)
    tournament.play(filename=str(folder / "interactions.csv"), progress_bar=False)


def play_alone(contestant: str, count: int, turns: int) -> None:
    """Play one tournament in this process and print what it cost."""
    import axelrod  # noqa: F401 - both need it, and it takes longer to import than to play

    import bestresponse.studies.tournament.study  # noqa: F401

    began = process_time()
    with tempfile.TemporaryDirectory() as folder:
        match contestant:
            case "ours":
                play_ours(count, turns, Path(folder))
            case "library":
                play_library(count, turns, Path(folder))
    seconds = process_time() - began
    usage = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1024**2 if sys.platform == "darwin" else 1024
    print(json.dumps({"seconds": seconds, "megabytes": usage.ru_maxrss / unit}))


def measure(contestant: str, options: argparse.Namespace) -> Cost:
    command = [sys.executable, __file__, "--alone", contestant]
    command += ["--strategies", str(options.strategies), "--turns", str(options.turns)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Cost(**json.loads(printed.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategies", type=int, default=200)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        play_alone(options.alone, options.strategies, options.turns)
        return
    rounds = []
    for _ in range(options.rounds):
        costs = {contestant: measure(contestant, options) for contestant in CONTESTANTS}
        rounds.append(costs)
        for contestant, cost in costs.items():
            print(f"{contestant}: {cost.seconds:.1f} s, {cost.megabytes:.0f} MB", flush=True)
    time = median(costs["ours"].seconds / costs["library"].seconds for costs in rounds)
    memory = median(costs["ours"].megabytes / costs["library"].megabytes for costs in rounds)
    print(f"ours / library: processor time {time:.2f}, memory {memory:.2f}")


if __name__ == "__main__":
    main()
