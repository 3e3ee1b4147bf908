"""Games of OpenSpiel on its own states: refused, told and solved as OpenSpiel has them."""

from __future__ import annotations

import re
from random import Random

import pytest

from bestresponse.analysis.solve.solve import solve_loaded_game
from bestresponse.core.conformance import check_game
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.core.registry import games
from bestresponse.games.lookup import find_game
from bestresponse.games.openspiel.rules import HiddenSpielGame, OpenSpielGame
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import PositionSolution, solve_positions
from bestresponse.theory.trees.openspiel import openspiel_is_installed
from bestresponse.theory.trees.tree import Tree

pytestmark = pytest.mark.skipif(not openspiel_is_installed(), reason="needs OpenSpiel")


def load(name: str) -> OpenSpielGame:
    game = find_game(f"openspiel:{name}").game
    assert isinstance(game, OpenSpielGame)
    return game


def solve(name: str) -> PositionSolution:
    return solve_positions(explore(load(name)))


def tell(name: str) -> str:
    game = load(name)
    return write_rules(game.view(game.start(), game.roles[0]))


@pytest.mark.parametrize("name", ["banqi", "maedn"])
def test_a_game_whose_state_prints_less_than_it_knows_is_refused(name: str) -> None:
    with pytest.raises(InvalidGame, match="so it hides something that matters"):
        find_game(f"openspiel:{name}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tic_tac_toe", 0),
        ("nim(pile_sizes=1;2;3)", -1),
        ("nim(pile_sizes=1;2)", 1),
        ("connect_four(rows=3,columns=3)", 0),
        ("breakthrough(rows=4,columns=2)", -1),
        ("clobber(rows=2,columns=3)", -1),
        ("hex(board_size=3)", 1),
    ],
)
def test_values_are_those_of_its_own_search(name: str, value: float) -> None:
    from open_spiel.python.algorithms import minimax

    game = load(name)
    theirs, _ = minimax.alpha_beta_search(game.game)
    assert solve(name).values[0, 0] == theirs == value


def test_values_in_the_middle_of_plays_are_those_of_its_own_search() -> None:
    from open_spiel.python.algorithms import minimax

    game = load("connect_four(rows=3,columns=4)")
    solution = solve("connect_four(rows=3,columns=4)")
    rng = Random(0)
    for _ in range(20):
        position = game.begin()
        for _ in range(rng.randrange(3, 10)):
            moves = game.find_turn(position).moves
            position = game.advance(position, rng.choice(moves)) if moves else position
        number = solution.graph.known[game.find_key(position)]
        if not position.state.is_terminal():
            is_first = position.state.current_player() == 0
            theirs, _ = minimax.alpha_beta_search(
                game.game, position.state, maximizing_player_id=0 if is_first else 1
            )
            assert solution.values[number, 0 if is_first else 1] == theirs


def test_the_values_of_pig_are_those_of_our_own_pig() -> None:
    theirs = solve("pig(winscore=20)").values[0, 0]
    ours = games.make("pig")
    own = type(ours)(goal=20)
    # OpenSpiel's players have to stop to win; at the goal nobody rolls on.
    assert solve_positions(explore(own)).values[0, 0] == pytest.approx(theirs, abs=1e-7)


def test_rules_are_told_in_our_words_with_the_piles_in_sight() -> None:
    told = tell("nim(pile_sizes=1;3;5;7)")
    assert "piles of 1, 3, 5 and 7 objects" in told
    assert "takes the last object loses" in told
    assert "takes the last object wins" in tell("nim(pile_sizes=1;3,is_misere=False)")
    game = load("nim(pile_sizes=1;3;5;7)")
    assert write_history(game.view(game.start(), "player 1")) == "(0): 1 3 5 7"


def test_words_are_not_used_for_a_game_that_they_do_not_fit() -> None:
    assert "Whoever first has 4 discs" in tell("connect_four")
    assert "Two players collect points" in tell("pig(winscore=20)")
    told = tell("pig(winscore=20,players=3)")
    assert "This is Pig, played by 3." in told
    assert "Two players" not in told


def test_a_play_is_paid_as_openspiel_pays_it() -> None:
    game = load("tic_tac_toe")
    state = game.start()
    for cell in ("(0,0)", "(1,0)", "(0,1)", "(1,1)", "(0,2)"):
        ((role, ask),) = game.asks(state).items()
        (move,) = [option for option in ask.options if cell in option]
        state = game.apply(state, {role: move})
    assert not game.asks(state)
    assert game.payoffs(state) == {"player 1": 1, "player 2": -1}
    view = game.view(state, "player 2")
    assert re.match(r"xxx\noo\.\n\.\.\.", write_history(view))
    assert game.read_position(view).state.is_terminal()


def test_a_game_that_hides_something_is_a_tree() -> None:
    assert isinstance(find_game("openspiel:kuhn_poker").game, Tree)


def test_a_large_game_that_hides_something_is_told_by_what_a_player_knows() -> None:
    loaded = find_game("openspiel:leduc_poker")
    game = loaded.playable()
    check_game(game)
    state = game.apply(game.start(), {NATURE: "Chance outcome:2"})
    state = game.apply(state, {NATURE: "Chance outcome:5"})
    told = write_history(game.view(state, "player 1"))
    assert "[Private: 2]" in told
    assert "5" not in told
    assert "[Private: 5]" in write_history(game.view(state, "player 2"))
    labels = {infoset.label for infoset in loaded.solvable().infosets}
    assert game.view(state, "player 1").facts["infoset"] in labels


def test_a_large_game_that_hides_something_is_solved_as_a_tree() -> None:
    auction = find_game("openspiel:first_sealed_auction(max_value=6)")
    assert isinstance(auction.game, HiddenSpielGame)
    solved = solve_loaded_game(auction)
    assert max(solved.equilibria[0].regrets.values()) < 1e-9
    rules = write_rules(auction.game.view(auction.game.start(), "player 1"))
    assert "a whole number from 1 to 6" in rules
