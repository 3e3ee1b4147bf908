"""The benchmark on one game that the user names: every order of its actions is the same game."""

import json

import numpy as np
import pytest
import running

import bestresponse as br
from bestresponse.core.errors import SettingError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games import draw_games, list_orders
from bestresponse.studies.bench.plan import Plan, make_bench_game
from bestresponse.studies.bench.study import bench
from bestresponse.theory.games.normal_form import NormalForm

SEXES = NormalForm(
    np.array([[[3, 0], [0, 2]], [[2, 0], [0, 3]]]),
    ("Olga", "Frank"),
    (("opera", "match"), ("opera", "match")),
)


def config(**changes):
    return BenchConfig(**{"model": "scripted", "game": SEXES, "elicit": "pure", **changes})


def test_the_first_order_is_the_games_own_and_the_orders_differ():
    orders = list_orders((2, 2), 4, seed=5)
    assert orders[0] == ((0, 1), (0, 1))
    assert len(set(orders)) == 4
    assert len(set(list_orders((5, 5), 50, seed=1))) == 50
    assert list_orders((5, 5), 50, seed=1) != list_orders((5, 5), 50, seed=2)


def test_more_orders_than_there_are_is_an_error_that_names_the_number():
    with pytest.raises(
        SettingError, match="num_games: the actions can be put in 4 orders, not in 5"
    ):
        bench.count(config(num_games=5))


def test_what_is_not_said_is_chosen_for_one_game():
    chosen = config(elicit=())
    assert (chosen.num_games, chosen.theme, chosen.elicit, chosen.seat) == (
        4,
        ("own",),
        ("mixed",),
        ("row",),
    )
    assert config(elicit="logprobs").theme == ("neutral",)
    assert config(suite="invariance").theme == ("neutral",)
    assert BenchConfig("scripted", np.zeros((3, 3))).num_games == 24


def test_every_order_shows_the_same_payoffs_under_the_same_names():
    plays = list(Plan(config()).list_plays())
    assert len(plays) == 4
    for data in plays:
        form = make_bench_game(data).form
        rows, cols = form.actions
        assert form.players == ("Olga", "Frank")
        assert form.payoffs[:, rows.index("opera"), cols.index("opera")].tolist() == [3, 2]
        assert form.payoffs[:, rows.index("match"), cols.index("match")].tolist() == [2, 3]


def test_the_opponent_plays_the_same_equilibrium_in_every_order():
    drawn = draw_games(config().source)
    named = [
        {
            SEXES.actions[1][place]: p
            for place, p in zip(cols, drawn.get_equilibrium(k)[1], strict=True)
        }
        for k, (_, cols) in enumerate(drawn.orders)
    ]
    assert all(mix == named[0] for mix in named)


def test_settings_with_a_game_survive_being_written_down():
    again = BenchConfig.from_json(json.loads(json.dumps(config().to_json())))
    assert again == config()
    assert again.form.actions == SEXES.actions


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"suite": "sensitivity"},
            "suite: sensitivity draws games of other sizes; it takes no game of yours",
        ),
        ({"suite": "invariance", "theme": "own"}, "theme: this suite gives other names; not own"),
        ({"scale": 2.0}, "scale: this has no effect on one payoff table"),
        ({"num_rows": 2}, "num_rows: this has no effect on one payoff table"),
        ({"max_infosets": 3}, "max_infosets: this has no effect on one payoff table"),
        (
            {"game": np.zeros((13, 2))},
            "game: expected at most 12 actions each and 100,000 payoffs, got 2 players",
        ),
        ({"game": None, "theme": "own"}, "theme: expected one of neutral"),
    ],
)
def test_settings_that_do_not_go_with_one_game_are_refused(changes, sentence):
    with pytest.raises(SettingError) as refused:
        config(**changes)
    assert sentence in str(refused.value)


def test_a_model_that_always_goes_to_the_opera_is_measured_by_that_name_in_every_order(tmp_path):
    ran = running.run(
        bench, config(), tmp_path, {"scripted": ScriptedModel(lambda request: "ANSWER: opera")}
    )
    rows = ran.rows()
    assert len(rows) == 4
    assert len({row["nash_gap"] for row in rows}) == 1
    assert [row["status"] for row in rows] == ["valid"] * 4
    assert ran.replay().same == 4


def test_the_gap_to_the_nearest_of_several_equilibria_does_not_depend_on_the_order_of_actions(
    tmp_path,
):
    # Whoever plays the third action is at distance 1 from all three equilibria, which would pay 2,
    # 1 and 2/3 against the opponent's part; the third pays 1/2 against everything. The least is
    # lost against the mixed one.
    own = [[2, 0], [0, 1], [0.5, 0.5]]
    other = [[1, 0], [0, 2], [0, 0]]
    form = NormalForm(
        np.array([own, other]), ("me", "you"), (("opera", "match", "home"), ("opera", "match"))
    )
    ran = br.bench(
        lambda prompt: "ANSWER: home", form, elicit="pure", num_games=12, output_dir=tmp_path
    )
    assert [row["equilibrium_distance"] for row in ran.rows()] == pytest.approx([1.0] * 12)
    assert [row["gap_nearest"] for row in ran.rows()] == pytest.approx([2 / 3 - 1 / 2] * 12)


def test_success_in_a_general_sum_game_is_a_small_gap_to_the_nearest_equilibrium(tmp_path):
    ran = running.run(
        bench, config(), tmp_path, {"scripted": ScriptedModel(lambda request: "ANSWER: opera")}
    )
    assert ran.summary()["metrics"][0]["success_1"]["estimate"] == 1.0
