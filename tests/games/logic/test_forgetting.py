"""Players who forget: their games can be written, checked, told, compared, solved and played."""

import pytest

import bestresponse as br
from bestresponse.core.episode import play as play_episode
from bestresponse.games.comparison import compare_games
from bestresponse.games.logic.game import LogicGame, program_game
from bestresponse.games.logic.tables import format_game
from bestresponse.games.words import describe_game
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import validate
from bestresponse.players.strategies import FunctionPlayer
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree


def open_box(note, held):
    """Tuesday: she knows which note she wrote, no more which box holds the key."""
    cost = 1 if note == "fancy" else 0
    return Turn(
        "clerk", f"wrote {note}", {box: Leaf([5 * (box == held) - cost]) for box in ("red", "blue")}
    )


def monday(held):
    return Turn(
        "clerk", f"sees {held}", {note: open_box(note, held) for note in ("plain", "fancy")}
    )


CLERK = build_tree(["clerk"], Chance({box: (0.5, monday(box)) for box in ("red", "blue")}))


@pytest.fixture(scope="module")
def game():
    report = validate(format_game(CLERK, ".pl"), open_engine("embedded"))
    assert report.ok, report.errors
    return program_game(report, "clerk")


def test_a_tree_with_forgetting_becomes_a_program_and_the_same_tree_again(game):
    assert isinstance(game, LogicGame)
    assert compare_games(game.tree, CLERK).verdict == "same tree"


def test_the_notes_tell_her_the_box_so_that_she_expects_four_and_a_half(game):
    solution = br.solve(game.tree)
    assert max(equilibrium.payoffs[0] for equilibrium in solution.equilibria) == pytest.approx(4.5)
    assert "forget" in " ".join(solution.to_json()["remarks"])


def test_it_is_said_that_she_may_forget(game):
    assert (
        "clerk may forget: what is said below of clerk is all that it still knows."
        in describe_game(game)
    )


def test_a_play_shows_her_on_tuesday_the_note_and_not_the_box(game):
    seen = []

    def choose(view, ask):
        seen.append(view.situation)
        return ask.options[0]

    for held in ("red", "blue"):
        nature = FunctionPlayer(lambda view, ask, held=held: held, "nature")
        record = play_episode(game, {"nature": nature, "clerk": FunctionPlayer(choose, "first")})
        assert record.payoffs == {"clerk": 5.0 if held == "red" else 0.0}
    assert seen[0] != seen[2]  # on Monday she sees which box it is
    assert seen[1] == seen[3]  # on Tuesday both weeks look alike
