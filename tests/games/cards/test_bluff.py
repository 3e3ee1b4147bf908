"""Games of bluff: Kuhn poker among them, and payoffs worked out by hand."""

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.games.cards.rules import Bluff
from bestresponse.telling.render import write_history
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.sequence_form_lp import solve_tree


def play(game: Bluff, deal: str, *moves: str) -> tuple[float, ...]:
    position = game.advance(game.begin(), deal)
    for move in moves:
        assert move in game.find_turn(position).moves
        position = game.advance(position, move)
    assert not game.find_turn(position).role
    return game.find_result(position)


def test_three_cards_and_one_bet_are_kuhn_poker() -> None:
    tree = compile_game(Bluff(cards=3, bets=1, raises=0), remember=True)
    assert len(tree.leaves) == 30
    assert len(tree.infosets) == 12
    assert solve_tree(tree).value["player 1"] == pytest.approx(-1 / 18, abs=1e-9)


@pytest.mark.parametrize(
    ("moves", "paid"),
    [
        (("check", "check"), -1),
        (("bet 2", "fold"), 1),
        (("bet 2", "call"), -3),
        (("check", "bet 1", "fold"), -1),
        (("check", "bet 1", "call"), -2),
        (("bet 1", "raise 2", "fold"), -2),
        (("bet 1", "raise 2", "call"), -4),
        (("check", "bet 2", "raise 2", "call"), -5),
    ],
)
def test_the_loser_pays_what_it_has_put_in(moves: tuple[str, ...], paid: float) -> None:
    assert play(Bluff(), "1,4", *moves) == (paid, -paid)


def test_the_lower_card_can_win() -> None:
    assert play(Bluff(low_wins=True), "1,4", "check", "check") == (1, -1)


def test_raises_end() -> None:
    game = Bluff(raises=1)
    position = ((1, 2), ("bet 1", "raise 1"))
    assert game.find_turn(position).moves == ("fold", "call")


def test_nobody_is_told_the_other_card_before_a_showdown() -> None:
    game = Bluff()
    state = game.apply(game.start(), {"nature": "1,4"})
    assert "Your card is 1." in write_history(game.view(state, "player 1"))
    assert "4" not in write_history(game.view(state, "player 1"))
    state = game.apply(state, {"player 1": "check"})
    state = game.apply(state, {"player 2": "check"})
    assert "The other card is 4." in write_history(game.view(state, "player 1"))


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="cards: expected 2 to 13, got 14"):
        Bluff(cards=14)
