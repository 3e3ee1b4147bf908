"""Which predicates a game program may call, define or never mention.

These are the tables behind the gate (`predicates.toml`).

Everything not listed is denied. Indicators are written `name/arity`.
"""

import tomllib
from pathlib import Path

_TABLES = tomllib.loads(Path(__file__).with_name("predicates.toml").read_text("utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_TABLES[name].split())


CONTROL = _words("control")
STANDARD = _words("standard")
RANDOM = _words("random")
LIBRARY = RANDOM | _words("library")
OUTPUT = _words("output")
FUNCTIONS = _words("functions")
SOLVER = _words("solver")
QUESTIONS = _words("questions")
GAME = _words("game")
HARMLESS_LIBRARIES = _words("harmless_libraries")
FORBIDDEN = _words("forbidden")
FORBIDDEN_EXACT = _words("forbidden_exact")
EVERYDAY = _words("everyday")
CORE = _words("core")
DROPPED: dict[str, str] = {
    name: instead for instead, names in _TABLES["dropped"].items() for name in names.split()
}

GOAL_ARGUMENTS: dict[str, dict[int, int]] = {
    ",/2": {0: 0, 1: 0},
    ";/2": {0: 0, 1: 0},
    "->/2": {0: 0, 1: 0},
    "*->/2": {0: 0, 1: 0},
    "\\+/1": {0: 0},
    "not/1": {0: 0},
    "call/1": {0: 0},
    "once/1": {0: 0},
    "ignore/1": {0: 0},
    "forall/2": {0: 0, 1: 0},
    "findall/3": {1: 0},
    "aggregate_all/3": {1: 0},
    "bagof/3": {1: 0},
    "setof/3": {1: 0},
    "include/3": {0: 1},
    "exclude/3": {0: 1},
    "convlist/3": {0: 2},
    "partition/4": {0: 1},
    **{f"maplist/{n}": {0: n - 1} for n in range(2, 6)},
    **{f"foldl/{n}": {0: n - 1} for n in range(4, 6)},
    **{f"call/{n}": {0: n - 1} for n in range(2, 8)},
}
"""For each predicate that calls goals: which argument is a goal, and how many arguments are added
to it."""

PROTECTED = CONTROL | STANDARD | SOLVER | frozenset(GOAL_ARGUMENTS)
CALLABLE = CONTROL | STANDARD | LIBRARY | OUTPUT | SOLVER
