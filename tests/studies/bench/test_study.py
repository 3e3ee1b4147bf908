"""The benchmark as a study: what it counts beforehand, when it stops, and the files of its first description."""

import json

import pytest
import running

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.prompting import prompt
from bestresponse.runs.shard import Shard
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import BenchStudy

SMALL = {"num_rows": 2, "num_cols": 2, "seed": 1}


MIXED = '{"A": 0.5, "B": 0.5}'


def run(path, answer=MIXED, models=("m",), shard=None, **settings):
    """A run of a model that always gives the same answer (to a question for one move: A), and the progress told."""

    def reply(request):
        return "A" if answer == MIXED and "probabilit" not in request.messages[-1].content else answer

    told = []
    config = BenchConfig(models=models, **SMALL, **settings)
    scripted = {name: ScriptedModel(reply, name=name) for name in models}
    return running.run(BenchStudy(), config, path, scripted, shard=shard, on_progress=told.append), told


def test_an_estimate_counts_calls_and_tokens_of_every_model():
    study, config = BenchStudy(), BenchConfig(models=("m", "verified:n"), num_games=3, **SMALL)
    estimate = study.estimate(config)
    assert (estimate.plays, estimate.what) == (6, "3 games, seed 1")
    assert estimate.calls == {"m": 3, "verified:n": 15}
    assert estimate.reply_tokens == {"m": 3 * config.reply_tokens, "verified:n": 15 * config.reply_tokens}
    game = study.game(config, next(study.specs(config)).data)
    first = game.roles[0]
    characters = len(prompt(game.view((), first), game.asks(())[first], "line"))
    assert estimate.prompt_tokens == {"m": 3 * characters // 4, "verified:n": 15 * characters // 4}


def test_an_estimate_counts_samples_and_attempts():
    config = BenchConfig(models=("m",), num_games=1, elicit=("sampled",), samples=7, attempts=2, **SMALL)
    estimate = BenchStudy().estimate(config)
    assert (estimate.what, estimate.calls) == ("1 game, seed 1", {"m": 14})


def test_how_many_plays_there_are_is_known_unless_precision_decides():
    study = BenchStudy()
    assert study.count(BenchConfig(models=("m", "n"), num_games=3)) == 6
    assert study.count(BenchConfig(models=("m",), num_games=3, precision=0.1)) is None


def test_progress_tells_the_plays_of_the_whole_or_of_the_part(tmp_path):
    _, whole = run(tmp_path / "whole", num_games=8)
    parts = [run(tmp_path / str(number), num_games=8, shard=Shard(number, 2))[1] for number in (1, 2)]
    assert whole[-1].total == 8
    totals = [part[-1].total for part in parts]
    assert (sum(totals), [part[-1].played for part in parts]) == (8, totals)
    assert min(totals) > 0


def test_a_run_that_is_precise_enough_finds_all_its_plays_and_makes_no_more(tmp_path):
    settings = {"num_games": 80, "precision": 0.5}
    first, _ = run(tmp_path, **settings)
    again, told = run(tmp_path, **settings)
    assert (first.outcome.played, first.outcome.complete) == (50, True)
    assert (again.outcome.found, again.outcome.played, told) == (50, 0, [])


def test_a_model_that_nobody_can_read_is_never_known_precisely(tmp_path):
    ran, _ = run(tmp_path, answer="no idea", num_games=60, precision=0.5)
    assert ran.outcome.played == 60


def test_every_player_has_to_be_known_precisely(tmp_path):
    ran, _ = run(tmp_path, models=("m", "n"), num_games=60, precision=0.5)
    assert ran.outcome.played == 100
    both, _ = run(tmp_path / "both", elicit=("mixed", "pure"), num_games=60, precision=0.9)
    assert (both.outcome.played, {row["status"] for row in both.rows()}) == (100, {"valid"})


@pytest.mark.parametrize(("name", "head"), [("results", '[\n {\n  "spec"'), ("summary", '{\n  "')])
def test_the_files_of_the_first_description_are_named_by_the_time_of_the_run(tmp_path, name, head):
    ran, _ = run(tmp_path, models=("Zoë",), num_games=1)
    files = dict(BenchStudy().extra_files(ran.results, ran))
    text = files[tmp_path / f"benchmark_{name}_20260101_000000.json"]
    assert len(files) == 2
    assert text.startswith(head)
    assert "Zoë" in text
    assert json.loads(text)
