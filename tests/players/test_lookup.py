"""A name means the same player wherever players are named."""

import pytest
from daily import share_out
from plugins import lay_package

from bestresponse.core.ask import NO_WORDS, Amount, Choice, Form, Mixture, Words
from bestresponse.core.conformance import check_player
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, View
from bestresponse.core.registry import games
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.lookup import (
    check_strategy,
    choose_default,
    describe_seat,
    find_strategy,
    list_strategies,
    seat_model,
)
from bestresponse.players.strategies import RandomPlayer
from bestresponse.theory import NormalForm

PLUG_IN = '''
from dataclasses import dataclass
from typing import Any
from bestresponse.core.player import Decision


@dataclass(frozen=True)
class First:
    """Take the first option."""

    game: Any
    role: str
    seed: int
    name: str = "first"

    def decide(self, view, ask):
        return Decision(ask.options[0])

    @staticmethod
    def plays(game):
        return game.name != "centipede"


def broken(game, role, seed):
    return "no player"
'''


def playable(name):
    return find_game(name).playable()


@pytest.mark.parametrize(
    ("name", "default", "offered"),
    [
        (
            "stag-hunt",
            "equilibrium",
            {"random", "equilibrium", "uniform", "greedy", "maximin", "level-1", "level-2"},
        ),
        ("kuhn-poker", "equilibrium", {"random", "equilibrium"}),
        ("water", "need", {"need", "random", "share", "myopic", "solver"}),
        ("public-goods-punishment", "equilibrium", {"random", "equilibrium"}),
        ("guessing", "equilibrium", {"random", "equilibrium"}),
        ("trust", "equilibrium", {"random", "equilibrium"}),
        ("first-price-auction", "equilibrium", {"random", "equilibrium"}),
    ],
)
def test_every_game_offers_what_can_play_it_and_no_more(name, default, offered):
    game = playable(name)
    assert set(list_strategies(game)) == offered
    assert choose_default(game) == default
    for strategy in offered - {"solver"}:
        check_player(find_strategy(strategy, game, game.roles[0], 1), game)


@pytest.mark.parametrize(
    "name", share_out((*games.names(), "chicken", "centipede", "matching-pennies"))
)
def test_no_game_calls_its_equilibrium_by_another_name(name):
    assert "optimal" not in list_strategies(playable(name))


def test_all_seats_of_a_tree_play_one_and_the_same_equilibrium():
    from bestresponse.analysis.theory import describe_theory

    game = playable("kuhn-poker")
    (predicted,) = describe_theory(game).predicted
    for role in game.roles:
        assert find_strategy("equilibrium", game, role, 3).predicted is predicted


@pytest.mark.parametrize(
    ("name", "role", "state", "action"),
    [
        ("public-goods-punishment", "player 1", (), 0.0),
        ("guessing", "player 2", (), 0.0),
        ("trust", "receiver", (4.0,), 0.0),
        ("ultimatum", "responder", (4.0,), "accept"),
    ],
)
def test_the_equilibrium_of_closed_form_is_played_from_the_view(name, role, state, action):
    game = playable(name)
    player = find_strategy("equilibrium", game, role, 0)
    assert player.decide(game.view(state, role), game.asks(state)[role]).action == action


def test_an_equilibrium_states_its_mixture_where_one_is_asked_for():
    game = MatrixGame(NormalForm.zero_sum([[1, -1], [-1, 1]]), ("mixture", "mixture"))
    decision = find_strategy("equilibrium", game, game.roles[0], 0).decide(
        game.view((), game.roles[0]), game.asks(())[game.roles[0]]
    )
    assert decision.action == pytest.approx((0.5, 0.5))


def test_in_a_repeated_game_the_equilibrium_of_one_round_is_played():
    game = RepeatedGame(find_game("prisoners-dilemma").game, 3)
    state = game.apply(game.start(), {"row": "cooperate", "col": "cooperate"})
    player = find_strategy("equilibrium", game, "row", 0)
    assert player.decide(game.view(state, "row"), game.asks(state)["row"]).action == "defect"


def test_automata_know_which_action_is_to_cooperate():
    own_order = NormalForm.bimatrix(
        [[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(("rat", "stay"), ("rat", "stay"))
    )
    game = RepeatedGame(own_order, 3)
    assert "tit-for-tat" in list_strategies(game)
    player = find_strategy("tit-for-tat", game, game.roles[1], 0)
    first = player.decide(
        game.view(game.start(), game.roles[1]), game.asks(game.start())[game.roles[1]]
    )
    assert first.action == "stay"
    after = game.apply(game.start(), dict(zip(game.roles, ("rat", "stay"), strict=True)))
    assert (
        player.decide(game.view(after, game.roles[1]), game.asks(after)[game.roles[1]]).action
        == "rat"
    )
    pennies = RepeatedGame(find_game("matching-pennies").game, 3)
    assert "tit-for-tat" not in list_strategies(pennies)


def test_a_name_that_is_no_strategy_is_that_of_a_model():
    game = playable("stag-hunt")
    assert find_strategy("gpt-x", game, "row", 1) is None
    player = seat_model("gpt-x", ScriptedModel(["ANSWER: stag"]), game, "row", 1)
    assert player.decide(game.view((), "row"), game.asks(())["row"]).action == "stag"


@pytest.mark.parametrize(
    ("name", "game", "why"),
    [
        ("greedy", "centipede", "baselines play tables of two players, and centipede is none"),
        ("equilibrium", "water", "no equilibrium of water is known here"),
        ("share:2", "water", "expected a share from 0 to 1"),
        ("always:12", "trust", "12 is not between 0 and 10"),
        ("me", "stag-hunt", "people play with `bestresponse play`"),
    ],
)
def test_a_strategy_that_cannot_play_the_game_is_refused_in_a_sentence(name, game, why):
    table = playable(game)
    with pytest.raises(UsageError, match=why):
        find_strategy(name, table, table.roles[0], 0)


def test_an_unknown_strategy_is_answered_with_the_nearest():
    with pytest.raises(
        UsageError,
        match=r"no strategy named 'equilibrum' for trust\. Did you mean equilibri",
    ):
        check_strategy("equilibrum", playable("trust"))


def test_players_of_packages_are_listed_and_seated_and_broken_ones_named(tmp_path, monkeypatch):
    entries = (
        ("bestresponse.players", "first", "First"),
        ("bestresponse.players", "none", "broken"),
    )
    gone = ("bestresponse.players", "gone", "missing")
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_players", PLUG_IN, *entries, gone))
    game = playable("stag-hunt")
    assert "first" in list_strategies(game)
    assert "gone" not in list_strategies(game)
    assert "first" not in list_strategies(playable("centipede"))
    assert (
        find_strategy("first", game, "row", 0)
        .decide(game.view((), "row"), game.asks(())["row"])
        .action
        == "stag"
    )
    with pytest.raises(
        UsageError,
        match="the player 'none' of the package plugged-players cannot be used: str has no",
    ):
        find_strategy("none", game, "row", 0)
    with pytest.raises(
        UsageError, match="the player 'gone' of the package plugged-players cannot be imported"
    ):
        find_strategy("gone", game, "row", 0)
    assert find_strategy("random", game, "row", 0).name == "random"


def test_a_random_player_answers_every_ask_and_says_nothing():
    form = Form((("x", Amount(1, 3, whole=True)), ("y", Mixture(("a", "b")))))
    form.check(RandomPlayer(1).decide(View("a"), form).action)
    assert RandomPlayer(1).decide(View("a"), Words()).action == NO_WORDS


def test_dialogues_are_filled_by_simulated_speakers_and_models():
    from bestresponse.games.dialogue.domain import load_domain, scenarios
    from bestresponse.games.dialogue.game import DialogueGame

    domain = load_domain("meeting")
    game = DialogueGame(domain, (scenarios(domain, 0, 1)[0],), domain.manners())
    assert list_strategies(game) == ("simulated",)
    assert choose_default(game) == "simulated"
    role = game.roles[0]
    style = find_strategy("simulated", game, role, 0).decide(
        game.view(game.start(), role), game.asks(game.start())[role]
    )
    assert isinstance(game.asks(game.start())[role], Choice)
    assert style.action in game.neutral(0)
    assert find_strategy("random", game, role, 0) is None
    assert NATURE not in game.asks(game.start())


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("tit-for-tat", "a program that plays the strategy tit-for-tat"),
        ("always:defect", "a program that always answers defect"),
        (
            "equilibrium",
            "a program that plays an equilibrium of one round, as if there were no other",
        ),
        ("some-model", "a language model"),
    ],
)
def test_whoever_sits_in_a_seat_can_be_described_to_the_others(name, described):
    game = RepeatedGame(find_game("prisoners-dilemma").game, 3)
    assert describe_seat(name, game, "col") == described
