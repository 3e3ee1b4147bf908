"""Answers for every case: only the one to what really happened counts."""

import pytest

from bestresponse.core.conformance import check_game
from bestresponse.core.episode import Episode
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision
from bestresponse.games.lookup import find_game
from bestresponse.games.parameters import set_parameters
from bestresponse.games.strategy_method.rules import OUTRIGHT, StrategyMethod
from bestresponse.telling.render import write_history


def by_strategy(name, **parameters):
    return StrategyMethod(set_parameters(find_game(name).playable(), parameters))


def public_goods():
    return by_strategy("public-goods-punishment", rounds=1, punishment=False, endowment=4)


@pytest.mark.parametrize(("offer", "payoffs"), [(3, (0, 0)), (4, (6, 4))])
def test_the_answer_to_the_offer_that_was_made_counts(offer, payoffs):
    play = Episode(by_strategy("ultimatum"))
    least = {f"if {k}": "accept" if k >= 4 else "reject" for k in range(11)}
    play.submit("responder", Decision(least))
    assert not play.over
    play.submit("proposer", Decision(offer))
    assert tuple(play.game.payoffs(play.state).values()) == payoffs
    assert play.game.find_counted(play.state, "responder") == least[f"if {offer}"]


def test_a_move_that_leaves_no_choice_needs_no_answer():
    game = by_strategy("trust")
    asked = dict(game.asks(game.start())["receiver"].fields)
    assert list(asked) == [f"if {k}" for k in range(1, 11)]
    half = {name: 3 * k // 2 for k, name in enumerate(asked, 1)}
    for sent, payoffs in ((0, (10, 10)), (4, (12, 16))):  # 4 arrive as 12, of which 6 return
        state = game.apply(game.start(), {"sender": sent, "receiver": half})
        assert tuple(game.payoffs(state).values()) == payoffs


def test_of_those_who_give_at_once_one_is_drawn_who_answers_the_average():
    game = public_goods()
    table = {OUTRIGHT: 0, **{f"if {k}": k for k in range(5)}}
    play = Episode(game)
    for role, outright in zip(game.roles, (0, 4, 4, 2), strict=True):
        play.submit(role, Decision({**table, OUTRIGHT: outright}))
    play.submit(NATURE, Decision("player 1"))
    # the others gave 10, 3.33 on average: player 1 gives 3, and 1.6 x 13 / 4 = 5.2 comes to each
    counted = [game.find_counted(play.state, role) for role in game.roles]
    assert counted == [3, 4, 4, 2]
    earned = game.payoffs(play.state).values()
    assert tuple(earned) == pytest.approx((6.2, 5.2, 5.2, 7.2))
    told = write_history(game.view(play.state, "player 1"))
    assert "you were drawn to answer the average, you put in 3" in told


def test_amounts_are_whole_units_and_every_case_is_answered():
    game = by_strategy("ultimatum")
    with pytest.raises(InvalidMove):
        game.asks(game.start())["proposer"].check(2.5)
    form = game.asks(game.start())["responder"]
    with pytest.raises(InvalidMove):
        form.check(dict.fromkeys(["if 0", "if 1"], "accept"))


def test_the_equilibrium_of_the_game_answers_every_case():
    game = by_strategy("trust")
    state = game.start()
    (sent, returned) = (
        game.choose_equilibrium(game.view(state, role), game.asks(state)[role])
        for role in game.roles
    )
    assert sent == 0
    assert set(returned.values()) == {0.0}


@pytest.mark.parametrize("name", ["ultimatum", "trust"])
def test_random_play_keeps_the_promises_of_a_game(name):
    for seed in range(5):
        check_game(by_strategy(name), seed)
        check_game(public_goods(), seed)


@pytest.mark.parametrize(
    "name", ["prisoners-dilemma", "kuhn-poker", "centipede", "public-goods-punishment"]
)
def test_other_games_are_refused(name):
    with pytest.raises(UsageError, match="strategy method"):
        by_strategy(name)
