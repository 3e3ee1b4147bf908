"""Players without a model, trials, parameters of families and buckets: what a run needs no key and
no download for."""

import json

import numpy as np
import pytest
import running

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import PLAYERS, BenchConfig
from bestresponse.studies.bench.games import draw_games
from bestresponse.studies.bench.plan import BUCKETS, Plan
from bestresponse.studies.bench.study import bench
from bestresponse.theory.generators import has_saddle_point


def play(tmp_path, *args, **settings):
    return br.bench(*args, output_dir=tmp_path, **{"num_games": 4, "seed": 3, **settings})


@pytest.mark.parametrize("player", PLAYERS)
def test_a_player_without_a_model_answers_every_game_and_calls_nobody(tmp_path, player):
    run = play(tmp_path, player)
    assert (run.answered, run.complete) == (4, True)
    assert run.manifest.models == {}
    assert run.costs == ()
    assert [row["status"] for row in run.rows()] == ["valid"] * 4


def test_a_player_that_was_asked_for_is_not_listed_again_as_a_baseline(tmp_path):
    run = br.bench(["random", "maximin"], num_games=2, output_dir=tmp_path)
    players = [heads[0] for heads, _ in run.metrics.groups]
    assert len(players) == len(set(players))
    assert {"random", "maximin", "uniform", "equilibrium"} <= set(players)


def test_players_play_what_their_names_say(tmp_path):
    run = play(tmp_path, ["uniform", "maximin", "equilibrium", "random"], num_rows=2)
    rows = {
        name: sorted(run.frame("plays").select(model=name), key=lambda r: r["game"])
        for name in run.config.model
    }
    assert [row["strategy"] for row in rows["uniform"]] == [[0.5, 0.5]] * 4
    drawn = draw_games(run.config.source)
    for row in rows["maximin"]:
        assert row["strategy"][int(drawn.payoffs[row["game"]][0].min(axis=1).argmax())] == 1
    for row in rows["equilibrium"]:
        assert row["exploitability"] == 0
    assert all(sorted(row["strategy"]) == [0, 1] for row in rows["random"])


def test_the_equilibrium_player_follows_the_game_however_it_is_told(tmp_path):
    run = play(tmp_path, "equilibrium", suite="invariance", num_games=3)
    assert max(row["exploitability"] for row in run.rows()) < 1e-6


def test_random_play_depends_on_the_seeds_and_on_nothing_else(tmp_path):
    def answers(folder, **settings):
        run = br.bench("random", num_games=12, num_rows=5, output_dir=tmp_path / folder, **settings)
        return [row["strategy"] for row in sorted(run.rows(), key=lambda row: row["game"])]

    first = answers("a", seed=1, llm_seed=7)
    assert answers("b", seed=1, llm_seed=7) == first
    assert answers("c", seed=1, llm_seed=8) != first


def test_one_action_is_drawn_where_one_is_asked_for_and_many_where_they_are_sampled(tmp_path):
    run = play(tmp_path, "uniform", elicit=["pure", "sampled"], samples=6, num_games=6)
    pure = run.frame("plays").select(elicit="pure")
    assert all(sorted(row["strategy"]) == [0, 0, 1] for row in pure)
    sampled = [row["strategy"] for row in run.frame("plays").select(elicit="sampled")]
    assert all(abs(6 * p - round(6 * p)) < 1e-9 for mix in sampled for p in mix)
    assert any(max(mix) < 1 for mix in sampled)


@pytest.mark.parametrize("player", ["random", "uniform", "equilibrium"])
def test_a_game_played_in_turn_has_players_without_a_model_too(tmp_path, player):
    run = br.bench(player, "kuhn-poker", output_dir=tmp_path)
    figures = run.summary()["metrics"][0]
    assert (figures["player"], figures["known"]) == (player, 1.0)
    if player == "uniform":
        assert figures["nash_conv"]["estimate"] == pytest.approx(11 / 12)
    if player == "equilibrium":
        assert figures["nash_conv"]["estimate"] == pytest.approx(0.0, abs=1e-6)


def test_what_is_computed_has_no_interval_and_what_is_drawn_has_one(tmp_path):
    games = [br.NormalForm.zero_sum([[1, -1], [-1, n]]) for n in range(1, 9)]

    def list_known(players, **settings):
        run = br.bench(players, games, output_dir=tmp_path, **settings)
        found = {}
        for row in run.summary()["metrics"]:
            figures = [row[name] for name in ("gap_normalised", "nash_gap", "success_1")]
            if row["asked_for"] != "baseline":
                found[row["player"]] = [figure["method"] == "exact" for figure in figures]
        return found

    players = ["equilibrium", "uniform", "maximin", "random"]
    found = list_known(players)
    assert found == {
        "equilibrium": [True] * 3,
        "uniform": [True] * 3,
        "maximin": [True] * 3,
        "random": [False] * 3,
    }
    # Who is asked for one action draws it from the mixture.
    assert list_known(["equilibrium"], elicit="pure")["equilibrium"] == [False] * 3


def named_as_a_player(prompt):
    return "A"


named_as_a_player.__name__ = "uniform"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"model": "verified:random"}, "model: random gives no reasons that could be verified"),
        (
            {"model": "random", "elicit": "logprobs"},
            "elicit: logprobs reads the tokens of a model, and random is none",
        ),
        (
            {"model": "random", "temperature": 0.5},
            "temperature: this has no effect on players without a model",
        ),
        (
            {"model": "random", "plain": True},
            "plain: this has no effect on players without a model",
        ),
        (
            {"model": named_as_a_player},
            "model: uniform is the name of a player without a model; give yours another name",
        ),
        (
            {"model": "maximin", "game": "kuhn-poker"},
            (
                "model: maximin plays payoff tables; a game played in turn has random, uniform,"
                " equilibrium"
            ),
        ),
        (
            {"model": "m", "elicit": "logprobs", "trials": 2},
            "trials: logprobs are the same each time",
        ),
        (
            {"model": "m", "game": "kuhn-poker", "trials": 2},
            "trials: this has no effect on a game played in turn",
        ),
        (
            {"model": "m", "set": {"supprt": 2}},
            "set: zero-sum has no parameter 'supprt'; it has low=-1.0, high=1.0",
        ),
        (
            {"model": "m", "family": "given-support", "set": {"suport": 2}},
            "set: given-support has no parameter 'suport'; it has support=2. Did you mean support?",
        ),
        (
            {"model": "m", "set": {"shape": 2}},
            "set: shape is not a parameter: num_rows and num_cols say how many",
        ),
        (
            {"model": "m", "family": "given-support", "set": {"support": "many"}},
            "set: support: expected a whole number",
        ),
        (
            {"model": "m", "set": {"equilibrium": "both"}},
            "set: equilibrium: expected one of any, pure, mixed",
        ),
        ({"model": "m", "set": {"low": 1}}, "set: give both low and high"),
        (
            {"model": "m", "set": {"low": 1, "high": "nan"}},
            "set: high: expected a number, got 'nan'",
        ),
        (
            {"model": "m", "set": {"low": 1, "high": 5}, "scale": 7},
            "scale: low and high say between which numbers",
        ),
        ({"model": "m", "set": 3}, "set: expected parameters by name"),
        (
            {"model": "m", "suite": "buckets", "family": "uniform"},
            "family: the suite buckets draws zero-sum games",
        ),
        (
            {"model": "m", "suite": "buckets", "set": {"whole": "yes"}},
            "set: the suite buckets sets the parameters",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(settings, sentence):
    with pytest.raises(SettingError) as error:
        BenchConfig(**settings)
    assert str(error.value).startswith(sentence)


def test_trials_ask_the_same_question_again_and_measure_every_answer(tmp_path):
    said = iter(["A", "B", "C"] * 2)
    model = ScriptedModel(lambda request: f"ANSWER: {next(said)}", name="m")
    config = BenchConfig("m", num_games=2, seed=3, trials=3, elicit="pure", plain=True)
    ran = running.run(bench, config, tmp_path, {"m": model}, workers=1)
    assert [request.replicate for request in model.asked] == [0, 1, 2] * 2
    assert {request.temperature for request in model.asked} == {1.0}
    assert len({request.messages for request in model.asked}) == 2
    assert sorted((row["game"], row["trial"]) for row in ran.rows()) == [
        (k, t) for k in (0, 1) for t in (0, 1, 2)
    ]
    figures = ran.summary()["metrics"][0]
    assert (figures["asked"], figures["answered"]) == (6, 6)
    assert figures["consistency"]["estimate"] == 0.0
    assert figures["gap_spread_within"] > 0
    games = ran.frame("games").select(player="m / pure")
    assert [row["answers"] for row in games] == [3, 3]
    gaps = [row["nash_gap"] for row in ran.rows() if row["game"] == 0]
    assert games[0]["nash_gap"] == pytest.approx(np.mean(gaps))
    assert games[0]["gap_spread"] == pytest.approx(np.std(gaps, ddof=1))


def test_trials_of_samples_never_share_a_call(tmp_path):
    model = ScriptedModel(lambda request: "ANSWER: A", name="m")
    config = BenchConfig(
        "m", num_games=1, seed=3, trials=2, elicit="sampled", samples=3, plain=True
    )
    running.run(bench, config, tmp_path, {"m": model}, workers=1)
    assert sorted(request.replicate for request in model.asked) == [0, 1, 2, 3, 4, 5]


def test_one_trial_is_asked_as_ever():
    once, twice = (
        list(Plan(BenchConfig("m", num_games=1, trials=n, temperature=0)).list_plays())
        for n in (1, 2)
    )
    assert "trial" not in once[0]
    assert twice[0] == once[0]
    assert (twice[1]["trial"], twice[1]["replicate"]) == (1, 1)


def test_a_temperature_that_is_given_goes_before_that_of_trials():
    assert BenchConfig("m", trials=2).temperature == 1.0
    assert BenchConfig("m", trials=2, temperature=0.2).temperature == 0.2
    assert BenchConfig("m").temperature == 0.0


def test_the_support_of_an_equilibrium_is_set_by_name(tmp_path):
    for support in (1, 3):
        run = play(
            tmp_path,
            "random",
            family="given-support",
            set={"support": support},
            num_games=3,
            decimals=3,
        )
        for row in run.frame("games").select(player="random / mixed"):
            assert sum(p > 0 for p in row["row_equilibrium"]) == support


def test_a_run_with_parameters_is_loaded_again_with_the_same_ones(tmp_path):
    run = play(tmp_path, "random", family="cyclic", set={"stakes": "0.5,2"})
    assert run.config.set == (("stakes", (0.5, 2.0)),)
    assert br.load_run(run.path).config == run.config
    assert br.load_run(run.path).replay().same == 4


def test_low_and_high_are_the_payoffs_as_they_are_shown():
    drawn = draw_games(
        BenchConfig("m", num_games=300, set={"low": "5", "high": "9"}).source
    ).payoffs
    assert sorted(np.unique(drawn[:, 0])) == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("scale", [2, 100])
@pytest.mark.parametrize("kind", ["pure", "mixed"])
def test_zero_sum_games_have_a_saddle_point_or_none_as_they_are_shown(size, scale, kind):
    config = BenchConfig(
        "m", num_games=60, num_rows=size, num_cols=size, scale=scale, set={"equilibrium": kind}
    )
    drawn = draw_games(config.source)
    found = [has_saddle_point(payoffs[0]) for payoffs in drawn.payoffs]
    assert found == [kind == "pure"] * 60
    assert np.abs(drawn.payoffs).max() <= scale
    for k in range(60):
        row, col = drawn.get_equilibrium(k)
        sure = max(row) > 1 - 1e-9 and max(col) > 1 - 1e-9
        assert (
            sure or kind == "mixed" or scale == 2
        )  # ties have further equilibria, in which a player mixes


def test_the_suite_of_buckets_has_a_line_for_every_bucket_tier_and_player(tmp_path):
    run = play(tmp_path, ["uniform", "equilibrium"], suite="buckets", num_games=2)
    frame = run.frame("buckets")
    assert len(BUCKETS) == 18
    assert len(frame) == 2 * (18 + 3 + 1)
    (bucket,) = frame.select(
        player="uniform / mixed", size="3 x 3", range="wide", equilibrium="mixed"
    )
    plays = [
        row
        for row in run.rows()
        if row["condition"] == "bucket 3x3 wide mixed" and row["model"] == "uniform"
    ]
    assert bucket["nash_gap"].estimate == pytest.approx(np.mean([row["nash_gap"] for row in plays]))
    (best,) = frame.select(player="equilibrium / mixed", tier="all")
    assert (best["asked"], best["nash_gap"].estimate) == (36, 0.0)
    tiers = {
        row["tier"]: row["asked"] for row in frame.select(player="uniform / mixed", size="all")
    }
    assert tiers == {
        "1: saddle point": 18,
        "2: mix, up to 3 x 3": 12,
        "3: mix, larger": 6,
        "all": 36,
    }
    assert (run.path / "buckets.csv").exists()
    assert [title for title, _ in run.report().tables[: bench.count_tables(run.config)]][
        -1
    ] == "Bucket by bucket"


def test_the_command_takes_players_trials_and_parameters(tmp_path):
    from typer.testing import CliRunner

    from bestresponse.cli.app import app

    words = (
        "bench --model random --family given-support --set support=2 --trials 2 --num-games 2"
        " --json"
    )
    done = CliRunner().invoke(app, [*words.split(), "--output-dir", str(tmp_path)])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)["metrics"][0]
    assert (figures["player"], figures["asked"]) == ("random", 4)
