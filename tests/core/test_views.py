"""What a view is known by: the key of what its owner knows, and the question that it is asked."""

import ast
from pathlib import Path

import bestresponse
from bestresponse.core.game import View
from bestresponse.core.told import Chose, prose

ROOT = Path(bestresponse.__file__).parent


def make_view(*moves, **changes):
    history = tuple(Chose("Ann", (move,)) for move in moves)
    return View("Ann", prose("Play."), history, **{"position": prose("Here."), **changes})


def test_views_are_told_apart_by_their_past_and_questions_by_the_position():
    one, other = make_view("a", "b"), make_view("b", "a")
    assert one.question == other.question
    assert one.key != other.key
    assert make_view(position=prose("There.")).question != one.question
    assert make_view(position=()).question == make_view(position=()).key


def test_the_number_of_moves_changes_draws_and_nothing_else():
    one, other = make_view("a"), make_view("a", moves=1)
    assert one.key == other.key
    assert one.question == other.question
    assert one.draw(7).random() != other.draw(7).random()
    assert one.draw(7).random() == make_view("a").draw(7).random()
    assert one.draw(7).random() != one.draw(8).random()


def test_no_code_draws_by_a_key_or_question_and_none_asks_by_a_key():
    """Draws go through `View.draw`; policies and information sets alone go by `View.key`."""
    drawing, asking = [], []
    for path in sorted(ROOT.rglob("*.py")):
        if path.name == "game.py" and path.parent.name == "core":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                named = {n.attr for arg in node.args for n in ast.walk(arg)
                         if isinstance(n, ast.Attribute) and "view" in ast.unparse(n.value)}  # fmt: skip
                place = f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
                if node.func.id in ("generator", "split") and named & {"key", "question"}:
                    drawing.append(place)
                if node.func.id in ("find_infoset", "Turn") and "question" in named:
                    asking.append(place)
    assert (drawing, asking) == ([], [])
