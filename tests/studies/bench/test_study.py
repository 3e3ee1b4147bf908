"""The benchmark as a study: what it counts beforehand, when it stops, and which study plays a
game."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import running

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.player import prompt
from bestresponse.runs.store.folder import Shard
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench, warn_unfinished

SMALL = {"num_rows": 2, "num_cols": 2, "seed": 1}


MIXED = '{"A": 0.5, "B": 0.5}'


def run(path, answer=MIXED, models=("m",), shard=None, **settings):
    """A run of a model that always gives the same answer (to a question for one move: A), and the
    progress told."""

    def reply(request):
        return (
            "A" if answer == MIXED and "probabilit" not in request.messages[-1].content else answer
        )

    told = []
    config = BenchConfig(models, **SMALL, **settings)
    scripted = {name: ScriptedModel(reply, name=name) for name in models}
    return running.run(bench, config, path, scripted, shard=shard, on_progress=told.append), told


def test_an_estimate_counts_calls_and_tokens_of_every_model():
    config = BenchConfig(("m", "verified:n"), num_games=3, **SMALL)
    estimate = bench.estimate(config)
    assert (estimate.plays, estimate.what) == (6, "3 games, seed 1")
    assert estimate.calls == {"m": 3, "verified:n": 15}
    assert estimate.reply_tokens == {
        "m": 3 * config.reply_tokens,
        "verified:n": 15 * config.reply_tokens,
    }
    game = bench.game(config, next(bench.list_specs(config)).data)
    first = game.roles[0]
    characters = len(prompt(game.view((), first), game.asks(())[first], "line"))
    assert estimate.prompt_tokens == {"m": 3 * characters // 4, "verified:n": 15 * characters // 4}


def test_an_estimate_of_a_game_played_in_turn_counts_its_information_sets():
    # Each player of Kuhn poker holds one of three cards, and decides after nothing or a check and a
    # bet (first), after a check or a bet (second): twelve information sets, one question each.
    config = BenchConfig("m", game="kuhn-poker")
    estimate = bench.estimate(config)
    assert (estimate.plays, estimate.calls) == (12, {"m": 12})
    assert estimate.what == "12 of 12 information sets of kuhn-poker"
    assert bench.count(config) == 12
    halves = [bench.count_part(config, Shard(k, 2)) for k in (1, 2)]
    assert sum(halves) == 12


def test_an_estimate_counts_samples_and_attempts():
    config = BenchConfig("m", num_games=1, elicit="sampled", samples=7, attempts=2, **SMALL)
    estimate = bench.estimate(config)
    assert (estimate.what, estimate.calls) == ("1 game, seed 1", {"m": 14})
    # The prompt is read at every attempt.
    once = bench.estimate(replace(config, samples=1, attempts=1))
    assert estimate.prompt_tokens["m"] == pytest.approx(14 * once.prompt_tokens["m"], abs=14)


@pytest.mark.parametrize(
    ("settings", "reasoning"),
    [
        ({"effort": "low"}, 2048),
        ({"effort": "low", "reasoning_tokens": 300}, 300),
        ({"effort": "minimal"}, 0),
    ],
)
def test_an_estimate_counts_the_reasoning_of_models_that_reason_by_themselves(settings, reasoning):
    config = BenchConfig("m", num_games=3, max_tokens=100, **settings, **SMALL)
    assert bench.estimate(config).reply_tokens == {"m": 3 * (100 + reasoning)}


@pytest.mark.parametrize(
    ("games", "time"), [(8, "1 minute"), (9, "2 minutes"), (103, "13 minutes")]
)
def test_an_estimate_says_how_long_the_embedded_model_takes_at_seven_seconds_a_call(games, time):
    # 56, 63 and 721 seconds, a begun minute counting whole
    estimate = bench.estimate(BenchConfig(num_games=games, **SMALL))
    assert estimate.what == f"{games} games, seed 1; smollm2 takes about {time}"
    assert "smollm2" not in bench.estimate(BenchConfig("m", num_games=8, **SMALL)).what


def test_plays_that_are_missing_are_counted():
    def warn(plays, **settings):
        config = BenchConfig("m", num_games=3, **SMALL, **settings)
        frame = SimpleNamespace(list_values=lambda column: plays)
        shown = warn_unfinished(
            SimpleNamespace(total=bench.count(config), frame=lambda name: frame)
        )
        return shown and [note.text for note in shown.blocks]

    assert warn(["play", "play"]) == [
        "2 planned plays are not finished; run the same command to play them."
    ]
    assert warn(["first", "second", "third"]) is None


def test_how_many_plays_there_are_is_known():
    assert bench.count(BenchConfig(("m", "n"), num_games=3)) == 6


def test_progress_tells_the_plays_of_the_whole_or_of_the_part(tmp_path):
    _, whole = run(tmp_path / "whole", num_games=8)
    parts = [
        run(tmp_path / str(number), num_games=8, shard=Shard(number, 2))[1] for number in (1, 2)
    ]
    assert whole[-1].total == 8
    totals = [part[-1].total for part in parts]
    assert (sum(totals), [part[-1].played for part in parts]) == (8, totals)
    assert min(totals) > 0


def test_a_question_about_a_policy_is_one_call_for_each_answer():
    # Kuhn poker has twelve information sets.
    config = BenchConfig("m", "kuhn-poker", attempts=2)
    assert bench.estimate(config).calls == {"m": 24}


@pytest.mark.parametrize(
    ("suite", "tables"),
    [("standard", 2), ("invariance", 4), ("sensitivity", 3)],
)
def test_the_first_tables_of_a_suite_are_those_that_a_command_prints(suite, tables):
    assert bench.count_tables(BenchConfig("m", suite=suite)) == tables


def test_a_game_played_in_turn_is_benched_at_its_information_sets(tmp_path):
    ran = br.bench(lambda prompt: "pass: 0.5, bet: 0.5", "kuhn-poker", output_dir=tmp_path, seed=7)
    assert (ran.study.name, ran.path.name.split("-")[0], len(ran.rows())) == ("bench", "bench", 12)
    assert ran.config.seed == 7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"family": "uniform"}, "family: this has no effect on a game played in turn"),
        ({"suite": "invariance"}, "suite: this has no effect on a game played in turn"),
        ({"format": "json"}, "format: this has no effect on a game played in turn"),
        ({"seat": "dealer"}, "seat: expected one of player 1, player 2, got 'dealer'"),
        (
            {"elicit": "guess"},
            "elicit: expected one of mixed, pure, sampled, logprobs, got 'guess'",
        ),
        (
            {"model": "verified:m"},
            "model: reasoning about a policy is not verified; leave out `verified:`",
        ),
    ],
)
def test_settings_that_a_game_played_in_turn_does_not_have_are_refused_by_name(settings, sentence):
    with pytest.raises(UsageError) as refused:
        br.bench(**{"model": "m", "game": "kuhn-poker", **settings})
    assert sentence in str(refused.value)


def test_what_takes_long_is_computed_only_when_it_is_asked_for(tmp_path, monkeypatch):
    ran, _ = run(tmp_path, num_games=3)
    monkeypatch.setattr("bestresponse.studies.bench.differences.paired_difference", None)
    assert (len(ran.rows()), ran.answered) == (3, 3)
    with pytest.raises(TypeError):
        ran.frame("differences")


def test_the_page_begins_with_what_was_found_and_its_picture(tmp_path):
    # In matching pennies a sure action is worth -1 to who knows it, of a range of 2: 50 %.
    sure = ScriptedModel(lambda request: '{"A": 1, "B": 0}')
    even = ScriptedModel(lambda request: '{"A": 0.5, "B": 0.5}')
    game = br.NormalForm.zero_sum([[1, -1], [-1, 1]])
    config = BenchConfig(("sure", "even"), game, theme="neutral")
    ran = running.run(bench, config, tmp_path, {"sure": sure, "even": even})
    sentence, picture = ran.report().opening[:2]
    assert re.sub(r" \[[^]]*\]", "", sentence.text) == (
        "Of 2 players, even / mixed loses 0.000 (exploitability / range), the least;"
        " sure / mixed 0.500."
    )
    assert picture.caption.startswith("Estimates")


def test_bounds_are_in_a_table_of_their_own_for_players_with_missing_answers(tmp_path):
    whole = ScriptedModel(lambda request: '{"A": 0.5, "B": 0.5}')
    partly = ScriptedModel(['{"A": 0.5, "B": 0.5}', "no", "no", "no"])
    config = BenchConfig(("whole", "partly"), num_games=4, num_rows=2, num_cols=2)
    ran = running.run(bench, config, tmp_path, {"whole": whole, "partly": partly})
    tables = [table for _, table in ran.report().tables]
    heads = [[column.name for column in table.columns] for table in tables]
    (number,) = [k for k, names in enumerate(heads) if "gap / range at most" in names]
    assert "exploitability / range" not in heads[number]
    assert [row[0] for row in tables[number].rows] == ["partly"]
