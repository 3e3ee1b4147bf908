"""A program as a game: played in turn or at once, told in words, found by its file name."""

from fractions import Fraction
from itertools import product

import pytest
from games_for_logic import KUHN

from bestresponse.core.ask import Lottery
from bestresponse.core.conformance import check_game
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE
from bestresponse.formal.formalize.plan import library, nearest, read_examples
from bestresponse.games.capabilities import HasTree
from bestresponse.games.describing import describe_table
from bestresponse.games.logic.game import LogicGame, program_game, read_program_text
from bestresponse.games.lookup import find_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.programs.table import GameTable, Row
from bestresponse.logic.programs.validate import validate
from bestresponse.players.lookup import choose_default
from bestresponse.telling.render import write_history
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.sequence_form_lp import solve_tree

PROGRAMS = {example.name: example.program for example in library()}


def table(name):
    return validate(PROGRAMS[name], EmbeddedEngine()).table


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_example_is_checked_without_a_warning_and_keeps_the_promises_of_a_game(name):
    report = validate(PROGRAMS[name], EmbeddedEngine())
    assert report.ok
    assert report.diagnostics == ()
    for seed in range(5):
        check_game(LogicGame(report.table), seed)


@pytest.mark.parametrize(
    "name", ["hidden_card", "used_car", "private_auction", "two_offers", "trust"]
)
def test_every_view_names_its_information_set_in_the_tree(name):
    game = LogicGame(table(name))
    assert isinstance(game, HasTree)
    waiting, named = [game.start()], set()
    while waiting:
        state = waiting.pop()
        asks = game.asks(state)
        for role in asks:
            if role != NATURE:
                label = game.view(state, role).facts["infoset"]
                assert (
                    game.tree.infosets[game.tree.infoset_index[role, label]].moves
                    == asks[role].options
                )
                named.add((role, label))
        options = [[(role, move) for move in _list_moves(ask)] for role, ask in asks.items()]
        waiting += [game.apply(state, dict(made)) for made in product(*options) if made]
    assert len(named) == len(game.tree.infosets)


def _list_moves(ask):
    return [move for move, _ in ask.chances] if isinstance(ask, Lottery) else ask.options


def test_whoever_is_not_named_plays_the_equilibrium_of_a_game_with_chance():
    assert choose_default(LogicGame(table("hidden_card"))) == "equilibrium"


def test_simultaneous_players_are_asked_together_and_others_in_turn():
    assert list(LogicGame(table("public_goods")).asks(())) == ["iris", "jan", "kim"]
    trust = LogicGame(table("trust"))
    assert list(trust.asks(())) == ["greta"]
    assert trust.asks(("keep",)) == {}
    assert list(trust.asks(("lend",))) == ["hugo"]
    assert write_history(trust.view((), "greta")) == "It is your turn. Nothing has happened yet."
    assert (
        write_history(trust.view(("lend",), "hugo")) == "It is your turn. So far: greta chose lend."
    )
    assert (
        write_history(trust.view(("lend", "run"), "greta"))
        == "The game is over: you chose lend, hugo chose run."
    )
    assert trust.payoffs(("lend", "run")) == {"greta": 0.0, "hugo": 6.0}


def test_a_simultaneous_move_stays_hidden_where_only_some_of_them_end_the_game():
    row = [
        ((("a", "quit"),), (1, 0)),
        ((("a", "stay"), ("b", "x")), (2, 2)),
        ((("a", "stay"), ("b", "y")), (0, 3)),
    ]
    ends = tuple(Row(moves, tuple(map(Fraction, earned)), (len(moves),)) for moves, earned in row)
    game = LogicGame(GameTable(("a", "b"), (("quit", "stay"), ("x", "y")), ends))
    assert list(game.asks(())) == ["a"]
    assert list(game.asks(("stay",))) == ["b"]
    assert write_history(game.view(("stay",), "b")) == "It is your turn. Nothing has happened yet."
    check_game(game)


def test_a_program_file_is_found_and_solved_like_any_other_game(tmp_path):
    file = tmp_path / "fair.pl"
    file.write_text(PROGRAMS["meeting_place"])
    found = find_game(file)
    assert isinstance(found.game, NormalForm)
    assert found.name == "fair"
    assert found.game.payoffs[0].tolist() == [[4, 0], [0, 2]]
    file.write_text(PROGRAMS["trust"])
    assert find_game(str(file)).solvable().is_perfect_information


def test_a_file_that_is_no_game_says_why(tmp_path):
    file = tmp_path / "bad.pl"
    file.write_text("initial(s0).")
    with pytest.raises(InvalidGame, match="bad is not a game: error: initially/2 is missing"):
        program_game(validate(read_program_text(file), EmbeddedEngine()), file.stem)
    file.write_bytes(b"initial(\xff).")
    with pytest.raises(InvalidGame, match="byte 8"):
        program_game(validate(read_program_text(file), EmbeddedEngine()), file.stem)


def test_the_words_say_who_moves_when_and_who_gets_what():
    text = describe_table(table("trust"))
    assert "First, greta chooses keep or lend." in text
    assert "After greta chose lend, hugo chooses repay or run." in text
    assert "- If greta chooses lend and then hugo chooses run, greta gets 0, hugo gets 6." in text
    assert "at the same time" in describe_table(table("auction"))


def test_the_nearest_example_is_built_like_the_story():
    def best(story):
        return nearest(story, library())[0].name

    assert best("Two companies submit sealed bids in an auction for a licence.") == "auction"
    assert (
        best("The entrant decides first; the incumbent sees it and then accepts or fights.")
        == "trust"
    )
    assert (
        best("Three farmers may contribute to a fund that is doubled and split evenly.")
        == "public_goods"
    )
    assert best("Two drivers choose their speed.") == "prisoners_dilemma"
    assert len(nearest("Anything at all", library(), 3)) == 3


def test_examples_of_ones_own_come_from_a_folder(tmp_path):
    (tmp_path / "mine.txt").write_text("Two friends flip coins.")
    (tmp_path / "mine.pl").write_text(PROGRAMS["trust"])
    (tmp_path / "lonely.txt").write_text("A story without a game.")
    assert [example.name for example in read_examples(tmp_path)] == ["mine"]


def test_poker_with_three_cards_is_played_with_secret_cards_and_solved_to_its_known_value():
    report = validate(KUHN, EmbeddedEngine())
    game = LogicGame(report.table, "kuhn")
    for seed in range(5):
        check_game(game, seed)
    lottery = game.asks(())[NATURE]
    assert len(lottery.chances) == 6
    deal = "deal(jack,queen)"
    assert (
        write_history(game.view((deal,), "ann"))
        == "It is your turn. So far: you saw card(jack). You are at one of the positions marked"
        " [a]."
    )
    assert write_history(game.view((deal, "bet"), "bob")).startswith(
        "It is your turn. So far: you saw card(queen), you saw heard(ann,bet)."
    )
    assert game.tree.infosets[0].label == "you saw card(jack)"
    assert game.view((deal, "bet"), "bob").key == game.view(("deal(king,queen)", "bet"), "bob").key
    assert solve_tree(compile_game(game)).value["ann"] == pytest.approx(-1 / 18, abs=1e-9)
    assert 'First, chance draws "deal(jack,queen)" (probability 1/6), ' in describe_table(
        report.table
    )
