"""What a table can be made of: limits, seats, referees and parameters of games."""

import json
from dataclasses import asdict

import pytest

from bestresponse.core import NATURE, REFEREE, Nature
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.formal.formalize.plan import library
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.logic.settings import Limits, settings
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.web.sessions.journal import Journal
from bestresponse.web.sessions.seat_worker import make_seat
from bestresponse.web.sessions.setup import (
    GameChoice,
    Setup,
    check_setup,
    list_named_models,
    list_offers,
    list_parameters,
    list_referees,
    make_game,
    read_checked,
)

DILEMMA = GameChoice("prisoners-dilemma")
TALK = GameChoice("dialogue:meeting")
WORDS = GameChoice("dialogue:meeting", parameters={"offers": False})


def pair(game=DILEMMA, seats=("person", "person"), **settings):
    return Setup(game, seats, **settings)


@pytest.mark.parametrize("rounds", [0, 201])
def test_a_game_has_one_to_two_hundred_rounds(rounds):
    assert [GameChoice("chicken", rounds=number).rounds for number in (1, 200)] == [1, 200]
    with pytest.raises(UsageError, match=rf"rounds is {rounds}; expected at (least 1|most 200)$"):
        read_checked(GameChoice, {"name": "chicken", "rounds": rounds})


@pytest.mark.parametrize("seconds", [-1, 86_401])
@pytest.mark.parametrize("name", ["seconds", "waiting", "hold"])
def test_a_limit_is_at_most_a_day_and_nothing_is_no_limit(name, seconds):
    assert [getattr(pair(**{name: limit}), name) for limit in (0, 86_400)] == [0, 86_400]
    with pytest.raises(
        UsageError, match=rf"{name} is {seconds}; expected at (least 0|most 86400)$"
    ):
        read_checked(Setup, {"game": DILEMMA, "seats": ("person", "person"), name: seconds})


@pytest.mark.parametrize(
    "seat", ["robot", "strategy", "strategy:", "model: ", "person:ann", "robot:x"]
)
def test_a_seat_is_taken_by_a_person_a_strategy_or_a_model(seat):
    with pytest.raises(
        ValueError, match="fills no seat; expected person, strategy:NAME or model:NAME"
    ):
        pair(seats=("person", seat))


def test_only_languages_that_have_texts_are_known():
    assert pair(language="de").language == "de"
    with pytest.raises(ValueError, match="there is no language 'xx'; there are en, de"):
        pair(language="xx")


def test_what_is_not_said_is_as_documented():
    setup = pair()
    assert (setup.seconds, setup.waiting, setup.hold, setup.quiz, setup.seed) == (
        300,
        1800,
        900,
        True,
        0,
    )
    assert (setup.game.rounds, setup.game.mixed, setup.persons) == (None, False, (0, 1))
    assert pair(seats=("strategy:random", "person")).persons == (1,)


def test_a_setup_comes_back_from_plain_data():
    setup = pair(
        GameChoice("x", parameters={"names": ("a", "b"), "size": 3}),
        ("person", "model:m"),
        seconds=5,
    )
    assert Setup(**json.loads(json.dumps(asdict(setup)))) == setup


@pytest.mark.parametrize(
    ("setup", "why"),
    [
        (pair(seats=("person",)), r"has 2 seats \(row, col\), not 1"),
        (pair(seats=("person", "strategy:greddy")), "there is no strategy named 'greddy'"),
        (pair(stand_in="greddy"), "there is no strategy named 'greddy'"),
        (pair(referee="model:m"), "has no referee; leave it out$"),
        (pair(TALK, referee="model:m"), "leave it out, or set the parameter offers to false"),
        (pair(WORDS), "a dialogue without offers needs a referee 'model:NAME', not ''"),
        (pair(WORDS, referee="rule"), "a dialogue without offers needs a referee"),
    ],
)
def test_a_setup_that_does_not_fit_its_game_is_refused(setup, why):
    with pytest.raises(UsageError, match=why):
        check_setup(setup)


@pytest.mark.parametrize("referee", ["model:m", "strategy:simulated"])
def test_a_dialogue_without_offers_is_ruled_by_a_model_or_a_simulation(referee):
    check_setup(pair(WORDS, referee=referee))
    assert referee in list_referees(make_game(WORDS), ["m"])


def test_nobody_rules_where_moves_decide():
    check_setup(pair(TALK))
    assert list_referees(make_game(DILEMMA), ["m"]) == []
    assert list_referees(make_game(TALK), ["m"]) == []
    assert list_referees(make_game(WORDS), ["m"]) == ["model:m", "strategy:simulated"]


def test_models_are_listed_once_in_the_order_of_the_seats():
    assert list_named_models(pair(TALK, ("model:b", "model:a"), referee="model:b")) == ["b", "a"]
    assert list_named_models(pair(seats=("person", "strategy:random"))) == []


def test_a_table_is_played_once_or_repeated_and_may_ask_for_probabilities_once():
    assert isinstance(make_game(DILEMMA), MatrixGame)
    assert isinstance(make_game(GameChoice("prisoners-dilemma", rounds=2)), RepeatedGame)
    mixed = make_game(GameChoice("prisoners-dilemma", mixed=True))
    assert [type(ask).__name__ for ask in mixed.asks(mixed.start()).values()] == ["Mixture"] * 2
    plain = make_game(DILEMMA)
    assert [type(ask).__name__ for ask in plain.asks(plain.start()).values()] == ["Choice"] * 2
    for choice in (
        GameChoice("prisoners-dilemma", rounds=2, mixed=True),
        GameChoice("centipede", mixed=True),
    ):
        with pytest.raises(UsageError, match="games with a payoff table and one round only"):
            make_game(choice)


def test_rounds_are_set_where_the_game_has_them_and_refused_elsewhere():
    assert make_game(GameChoice("public-goods-punishment", rounds=3)).rounds == 3
    with pytest.raises(
        UsageError, match="centipede has its own rounds; leave the number of rounds at 1"
    ):
        make_game(GameChoice("centipede", rounds=2))


def test_parameters_are_those_of_the_rules_with_their_kind():
    def choose(**parameters):
        return GameChoice("public-goods-punishment", parameters=parameters)

    known = list_parameters(make_game(choose()))
    assert sorted(known) == [
        "endowment",
        "factor",
        "impact",
        "most_points",
        "punishment",
        "roles",
        "rounds",
    ]
    assert (known["endowment"], known["factor"]) == (20, 1.6)
    changed = make_game(choose(endowment=30, factor=2, roles=("a", "b")))
    assert (changed.endowment, changed.factor, changed.roles) == (30, 2, ("a", "b"))
    with pytest.raises(UsageError, match="has no parameter 'size'; it has roles, endowment"):
        make_game(choose(size=20))
    for wrong in ("much", 2.5, True):
        with pytest.raises(
            UsageError, match=f"the parameter endowment is {wrong!r}; expected something like 20"
        ):
            make_game(choose(endowment=wrong))


def test_a_program_is_called_as_it_is_named_or_a_game():
    program = next(one.program for one in library() if one.name == "prisoners_dilemma")
    assert [make_game(GameChoice(name, program)).name for name in ("", "duel")] == ["game", "duel"]


def test_a_program_for_a_session_is_checked_within_the_limits(monkeypatch):
    program = next(one.program for one in library() if one.name == "rock_paper_scissors")
    monkeypatch.setattr(settings, "limits", Limits(ends=4))
    with pytest.raises(InvalidGame, match="The game has more than 4 ends"):
        make_game(GameChoice("limited", program))


def test_no_other_game_than_those_on_the_list_is_made():
    with pytest.raises(
        UsageError, match=r"there is no game named 'chiken'\. Did you mean chicken\?"
    ):
        make_game(GameChoice("chiken"))


def test_the_list_has_tables_that_repeat_and_trees_that_do_not():
    offers = {offer.name: offer for offer in list_offers()}
    assert [
        (offers[name].kind, offers[name].repeats) for name in ("chicken", "centipede", "water")
    ] == [
        ("table", True),
        ("tree", False),
        ("rules", True),
    ]
    assert offers["dialogue:meeting"].kind == "dialogue"


def test_a_referee_is_a_model():
    game = make_game(WORDS)
    opened = []

    def open_model(name):
        opened.append(name)
        return ScriptedModel(["{}"], name=name)

    make_seat("model:m", game, REFEREE, 0, open_model)
    assert opened == ["m"]
    assert make_seat("", game, NATURE, 3, open_model) == Nature(3)


def test_nobody_is_seated_by_a_name_that_is_no_strategy():
    game = make_game(DILEMMA)
    with pytest.raises(UsageError, match="there is no strategy named 'greddy'"):
        make_seat("strategy:greddy", game, "row", 0, None)


def test_a_new_journal_tells_the_versions_of_everything(tmp_path):
    journal = Journal(tmp_path)
    journal.close()
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert manifest["study"] == "sessions"
    assert "numpy" in manifest["environment"]["packages"]


def test_an_amount_need_not_be_whole_because_the_usual_one_is():
    for given in (12.5, 12):
        game = make_game(GameChoice("public-goods-punishment", parameters={"factor": given / 5}))
        factor = list_parameters(game)["factor"]
        assert (factor, type(factor)) == (given / 5, float)


@pytest.mark.parametrize("name", ["chicken", "kuhn-poker"])
def test_a_table_or_a_tree_has_no_parameters(name):
    assert list_parameters(make_game(GameChoice(name))) == {}
    told = f"{name} has no parameter 'rules'; it has none"
    with pytest.raises(UsageError, match=told):
        make_game(GameChoice(name, parameters={"rules": "Whoever laughs wins."}))
