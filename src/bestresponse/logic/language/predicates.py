"""Which predicates a game program may call, define or never mention.

These are the tables behind the gate (`predicates.toml`).

Everything not listed is denied. Indicators are written `name/arity`.
"""

import tomllib
from pathlib import Path
from typing import Final

_TABLES: Final = tomllib.loads(Path(__file__).with_name("predicates.toml").read_text("utf-8"))


def _words(name: str) -> frozenset[str]:
    return frozenset(_TABLES[name].split())


CONTROL: Final = _words("control")
STANDARD: Final = _words("standard")
RANDOM: Final = _words("random")
LIBRARY: Final = RANDOM | _words("library")
OUTPUT: Final = _words("output")
FUNCTIONS: Final = _words("functions")
SOLVER: Final = _words("solver")
QUESTIONS: Final = _words("questions")
GAME: Final = _words("game")
HARMLESS_LIBRARIES: Final = _words("harmless_libraries")
FORBIDDEN: Final = _words("forbidden")
FORBIDDEN_EXACT: Final = _words("forbidden_exact")
EVERYDAY: Final = _words("everyday")
CORE: Final = _words("core")
DROPPED: Final[dict[str, str]] = {
    name: instead for instead, names in _TABLES["dropped"].items() for name in names.split()
}

GOAL_ARGUMENTS: Final[dict[str, dict[int, int]]] = {
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

PROTECTED: Final = CONTROL | STANDARD | SOLVER | frozenset(GOAL_ARGUMENTS)
CALLABLE: Final = CONTROL | STANDARD | LIBRARY | OUTPUT | SOLVER
