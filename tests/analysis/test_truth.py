"""What answers are worth: worked out by hand, and the same however a game is told."""

from itertools import permutations, product

import numpy as np
import pytest

from bestresponse.analysis.theory import describe_theory
from bestresponse.analysis.truth import find_truth, value_moves
from bestresponse.games.lookup import as_loaded_game, find_game
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory import NormalForm
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.trees.tree import Chance, Leaf, Policy, Turn, build_tree


def lose(game, answer, role=None, state=None):
    state = game.start() if state is None else state
    values = find_truth(game).values(state, role or game.roles[0])
    lost = values.lose(answer)
    return lost.least, lost.most


def test_where_equilibria_differ_a_choice_has_a_least_and_a_most_loss():
    """Stag hunt: at (hare, hare) stag gives up 3, at (stag, stag) hare gives up 4 - 3."""
    game = find_game("stag-hunt").playable()
    assert lose(game, "stag") == (0.0, 3.0)
    assert lose(game, "hare") == (0.0, 1.0)
    assert lose(game, (0.5, 0.5)) == (0.0, 1.5)
    (named,) = [
        k
        for k, one in enumerate(describe_theory(game).predicted)
        if one.shares["col"][""]["hare"] == 1.0
    ]
    values = find_truth(game).values(game.start(), "row")
    assert values.lose("stag", named).least == 3.0


def display(form, orders, names):
    """The same game with its actions in other orders and under other names."""
    payoffs = form.payoffs[np.ix_(range(form.num_players), *orders)]
    actions = tuple(tuple(own[k] for k in order) for own, order in zip(names, orders, strict=True))
    return NormalForm(payoffs, form.players, actions)


@pytest.mark.parametrize(
    "name", ["stag-hunt", "chicken", "matching-pennies", "rock-paper-scissors"]
)
def test_losses_are_the_same_in_every_order_under_every_name_and_in_every_seat(name):
    form = load(name)
    plain = tuple(tuple(str(k) for k in range(size)) for size in form.shape)
    letters = tuple(tuple("QXWZ"[: len(own)]) for own in form.actions)
    expected = {}
    for seat, role in enumerate(form.players):
        for k, action in enumerate(form.actions[seat]):
            expected[seat, k] = lose(MatrixGame(form), action, role)
    displays = 0
    for orders in product(*(permutations(range(size)) for size in form.shape)):
        for names in (plain, letters):
            shown = MatrixGame(display(form, orders, names))
            for (seat, k), figures in expected.items():
                found = lose(shown, names[seat][k], form.players[seat])
                assert found == pytest.approx(figures, abs=1e-12)
        displays += 1
    assert displays >= 4
    swapped = NormalForm(form.payoffs[::-1].transpose(0, 2, 1), actions=form.actions[::-1])
    for (seat, k), figures in expected.items():
        role = swapped.players[1 - seat]
        assert lose(MatrixGame(swapped), form.actions[seat][k], role) == pytest.approx(figures)


def test_single_moves_are_judged_only_where_nobody_has_to_mix():
    judged = {
        "prisoners-dilemma": True,
        "centipede": True,
        "tic-tac-toe": True,
        "second-price-auction": True,
        "matching-pennies": False,
        "stag-hunt": False,
        "kuhn-poker": False,
    }
    for name, expected in judged.items():
        assert find_truth(find_game(name).playable()).judges_moves is expected, name


def guess_a_coin(odds):
    """Alice ends the game or lets Bob guess a coin that chance has thrown; he does not see it."""

    def guess(side):
        pays = {
            "heads": Leaf([0, float(side == "heads")]),
            "tails": Leaf([0, 2.0 * (side == "tails")]),
        }
        return Turn("Alice", side, {"end": Leaf([1, 5]), "ask": Turn("Bob", "guess", pays)})

    return build_tree(
        ["Alice", "Bob"],
        Chance({"heads": (odds, guess("heads")), "tails": (1 - odds, guess("tails"))}),
    )


def test_where_the_equilibrium_never_comes_all_others_tremble_alike():
    """Alice always ends. If Bob is asked all the same, both her mistakes are equally likely, so that
    the coin is as chance threw it: heads is worth 0.75, tails 2 x 0.25."""
    tree = guess_a_coin(0.75)
    game = TreeGame(tree)
    place = tree.infoset_index["Bob", "guess"]
    values = find_truth(game).values_at(place)
    assert dict(zip(values.answers, values.worths[0], strict=True)) == pytest.approx(
        {"heads": 0.75, "tails": 0.5}
    )
    assert 0 < values.bound < 1e-4
    seen = tree.infoset_index["Alice", "heads"]
    assert find_truth(game).values_at(seen).bound == 0.0


def test_a_player_goes_on_as_well_as_possible_after_a_mistake_of_its_own():
    """Left loses 1 by itself; right, and then badly, would lose 9 in the policy that is given."""
    tree = build_tree(
        ["Alice"],
        Turn(
            "Alice",
            "first",
            {
                "left": Leaf([9]),
                "right": Turn("Alice", "then", {"bad": Leaf([0]), "good": Leaf([10])}),
            },
        ),
    )
    valued = value_moves(tree, Policy(tree, np.array([1.0, 0.0, 1.0, 0.0])))
    assert valued.worths[tree.infoset_index["Alice", "first"]].tolist() == [9.0, 10.0]
    assert valued.worths[tree.infoset_index["Alice", "then"]].tolist() == [0.0, 10.0]


def test_a_game_is_worth_what_is_left_of_it():
    """Three rounds of the dilemma, the second half as likely: 5 and 0, then (1 + 1/2) x 1 each."""
    game = RepeatedGame(load("prisoners-dilemma"), 3, continuation=0.5)
    truth = find_truth(game)
    assert truth.expect(truth.begin()).tolist() == [1.75, 1.75]
    place = truth.advance(truth.begin(), {"row": "defect", "col": "cooperate"})
    place = truth.advance(place, {"nature": "go on"})
    assert truth.expect(place).tolist() == [6.5, 1.5]
    assert truth.expect(truth.advance(place, {"row": "defect", "col": "defect"})) is not None


def test_moves_made_at_once_are_followed_in_the_compiled_tree():
    """Goofspiel is a tree by its rules; its first round is worth what both cards make of it."""
    game = find_game("goofspiel").playable()
    truth = find_truth(game)
    asks = game.asks(game.start())
    moves = {role: ask.options[0] for role, ask in asks.items()}
    place = truth.advance(truth.begin(), moves)
    assert truth.expect(place).sum() == pytest.approx(0.0, abs=1e-9)
    assert len(truth.tree.children[place]) >= 1


def test_closed_forms_value_the_answer_that_is_asked_about():
    game = find_game("second-price-auction").playable()
    state = game.start()
    assert find_truth(game).values(state, game.roles[0], 0) is None
    table = as_loaded_game("prisoners-dilemma").playable()
    assert find_truth(table).values(table.start(), "nobody") is None
