"""Nothing outside `games` asks which class a game is of, so that a game of a plug-in is a full
citizen."""

import ast
from pathlib import Path

import bestresponse
from bestresponse.core.registry import games

ROOT = Path(bestresponse.__file__).parent
CLASSES = {"MatrixGame", "RepeatedGame", "TreeGame", "LogicGame", "DialogueGame", "Water"} | {
    type(games.make(name)).__name__ for name in games.names()
}


def class_tests(source):
    """The names of game classes that `source` tests for, by isinstance or by a class pattern."""
    found = set()
    if not any(name in source for name in CLASSES):
        return found
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "isinstance"
        ):
            found |= {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
            found.add(node.cls.id)
    return found & CLASSES


def test_no_module_outside_games_tests_for_a_class_of_games():
    modules = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}
    asked = {
        name: class_tests(text) for name, text in modules.items() if not name.startswith("games/")
    }
    assert {name: classes for name, classes in asked.items() if classes} == {}


def test_the_rule_finds_both_ways_to_ask():
    assert class_tests("isinstance(game, MatrixGame | Tree)") == {"MatrixGame"}
    assert class_tests("match game:\n    case Water():\n        pass") == {"Water"}
