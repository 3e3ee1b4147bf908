"""The benchmark on one game that the user names: every order of its actions is the same game."""

import json

import numpy as np
import pytest
import running

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games.drawn import draw
from bestresponse.studies.bench.games.given import UserGame
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.playing import game_of
from bestresponse.studies.bench.study import BenchStudy
from bestresponse.theory.games.normal_form import NormalForm

SEXES = NormalForm(
    np.array([[[3, 0], [0, 2]], [[2, 0], [0, 3]]]), ("Olga", "Frank"), (("opera", "match"), ("opera", "match"))
)
GIVEN = UserGame.from_form("sexes", SEXES)


def config(**changes):
    return BenchConfig(**{"given": GIVEN, "num_games": 4, "themes": ("own",), "elicit": ("pure",), **changes})


def test_the_first_order_is_the_games_own_and_the_orders_differ():
    orders = GIVEN.orders(4, seed=5)
    assert orders[0] == ((0, 1), (0, 1))
    assert len(set(orders)) == 4
    large = UserGame.from_form("large", NormalForm(np.zeros((2, 5, 5))))
    assert len(set(large.orders(50, seed=1))) == 50
    assert large.orders(50, seed=1) != large.orders(50, seed=2)


def test_more_orders_than_there_are_is_an_error_that_names_the_number():
    with pytest.raises(InvalidGame, match="in 4 orders, not in 5"):
        GIVEN.orders(5, seed=0)


def test_every_order_shows_the_same_payoffs_under_the_same_names():
    for spec in Plan(config()).specs():
        form = game_of(spec.data).form
        (rows, cols) = form.actions
        assert form.players == ("Olga", "Frank")
        assert form.payoffs[:, rows.index("opera"), cols.index("opera")].tolist() == [3, 2]
        assert form.payoffs[:, rows.index("match"), cols.index("match")].tolist() == [2, 3]


def test_the_opponent_plays_the_same_equilibrium_in_every_order():
    drawn = draw(config())
    named = [
        {GIVEN.actions[1][place]: p for place, p in zip(cols, drawn.get_opponent(k, 0), strict=True)}
        for k, (_, cols) in enumerate(drawn.orders)
    ]
    assert all(one == named[0] for one in named)


def test_settings_with_a_game_survive_being_written_down_and_those_without_are_as_before():
    assert BenchConfig.from_json(json.loads(json.dumps(config().to_json()))) == config()
    assert "given" not in BenchConfig().to_json()


def test_suites_that_change_the_game_or_its_names_say_so():
    with pytest.raises(UsageError, match="takes no game of yours"):
        config(suite="sensitivity")
    with pytest.raises(UsageError, match="another --theme than own"):
        config(suite="invariance")
    with pytest.raises(UsageError, match="no theme named 'own'"):
        BenchConfig(themes=("own",))
    with pytest.raises(InvalidGame, match="has 3 players"):
        UserGame.from_form("three", NormalForm(np.zeros((3, 2, 2, 2))))


def test_a_model_that_always_goes_to_the_opera_is_measured_by_that_name_in_every_order(tmp_path):
    settings = config(models=("scripted",), seats=("row",))
    model = ScriptedModel(lambda request: "ANSWER: opera")
    ran = running.run(BenchStudy(), settings, tmp_path, {"scripted": model})
    rows = ran.results.original
    assert len(rows) == 4
    assert len({row["nash_gap"] for row in rows}) == 1
    assert [row["status"] for row in rows] == ["valid"] * 4
    assert ran.replay().same == 4
