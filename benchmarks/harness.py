"""How fast and how lean the harness is, without a language model: plan -> play -> record ->
measure.

    python benchmarks/harness.py [--games 20000] [--large]

The contestant is a bare loop that asks the same scripted model with the same prompts and keeps
nothing: the ratio says what planning, recording and measuring cost. `--large` plays 100,000 games
and prints the peak of memory.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.run import Invocation, run_study
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import make_bench_game, seat_player
from bestresponse.studies.bench.study import bench


class Forgetful(ScriptedModel):
    """A scripted model that does not keep the requests, so that only the harness's memory is
    measured."""

    def complete(self, request: Request):  # type: ignore[no-untyped-def]
        reply = super().complete(request)
        self._asked.clear()
        return reply


def scripted() -> ScriptedModel:
    return Forgetful(lambda request: '{"A": 0.5, "B": 0.25, "C": 0.25}', name="scripted")


def whole(games: int, folder: Path) -> float:
    """Seconds for a whole run of the study, report's figures included."""
    config = BenchConfig("scripted", num_games=games, seed=1)
    models = {"scripted": scripted()}
    began = time.perf_counter()
    run = run_study(bench, config, models, folder, invocation=Invocation(("harness",), ""))
    results, outcome = run.results, run.outcome
    (gap,) = [metric for metric in METRICS if metric.name == "gap_normalised"]
    assert outcome.played == games == len(results.rows)
    assert gap.compute(results.groups["scripted", "mixed"]) is not None
    return time.perf_counter() - began


def bare(games: int) -> float:
    """Seconds to build the same prompts and read the same answers, keeping nothing."""
    config = BenchConfig("scripted", num_games=games, seed=1)
    model = scripted()
    began = time.perf_counter()
    for spec in bench.list_specs(config):
        one(spec, model)
    return time.perf_counter() - began


def one(spec: Spec, model: ScriptedModel) -> None:
    game = make_bench_game(spec.data)
    role = game.roles[spec.data["seat"]]
    seat_player(spec.data, model).decide(game.view((), role), game.asks(())[role])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    if options.large:
        with tempfile.TemporaryDirectory() as folder:
            seconds = whole(100_000, Path(folder) / "run")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"100,000 games: {100_000 / seconds:,.0f} games/s, peak memory {peak:,.0f} MB")
        return
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            all_of_it = whole(options.games, Path(folder) / "run")
        loop = bare(options.games)
        print(
            f"{options.games / all_of_it:,.0f} games/s; {all_of_it / loop:.2f} times the bare loop"
        )


if __name__ == "__main__":
    main()
