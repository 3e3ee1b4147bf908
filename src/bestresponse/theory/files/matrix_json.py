"""Normal-form games as JSON.

A bare matrix `[[1, -1], [-1, 1]]` is the row player's payoff in a zero-sum game; one whose cells are pairs,
`[[[3, 3], [0, 5]], [[5, 0], [1, 1]]]`, has the payoffs of both players. An object gives the payoffs in one of three
ways, and optionally `players`, `actions` and `name`:

- `"zero_sum"`: the row player's matrix
- `"row"` and `"col"`: both players' matrices
- `"payoffs"`: one tensor per player, for any number of players
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import NormalForm, as_payoffs
from bestresponse.theory.games.rationals import parse_rational

__all__ = ["parse_matrix_json"]

_WAYS = {"zero_sum": {"zero_sum"}, "bimatrix": {"row", "col"}, "payoffs": {"payoffs"}}
_NAMES = {"players", "actions", "name"}
_DEEPEST = 60


def parse_matrix_json(text: str, source: str = "JSON text") -> NormalForm:
    """Read the game that `text` describes; InvalidGame names the place and what was expected.

    >>> parse_matrix_json('{"row": [[3, 0], [5, 1]], "col": [[3, 5], [0, 1]], "players": ["Ann", "Bob"]}').players
    ('Ann', 'Bob')
    """
    try:
        data = json.loads(text, parse_int=_read_number, parse_float=_read_number)
    except json.JSONDecodeError as error:
        raise InvalidGame(f"{source}, line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise InvalidGame(f"{source}: expected a matrix or an object, got lists nested too deeply") from None
    try:
        return _game(data)
    except InvalidGame as error:
        raise InvalidGame(f"{source}: {error}") from None


def _read_number(text: str) -> Fraction | float:
    """Read a number as it is written; what no float can hold becomes infinite and is refused later."""
    try:
        number = parse_rational(text)
        return number if math.isfinite(float(number)) else math.inf
    except (OverflowError, ValueError):
        return math.inf


def _game(data: object) -> NormalForm:
    if isinstance(data, list):
        return _bare(_numbers(data, "matrix"))
    if not isinstance(data, dict):
        raise InvalidGame(f"expected a matrix or an object, got {_kind(data)}")
    names = _names(data)
    given = set(data) - _NAMES
    _check_counts(names, len(data["payoffs"]) if isinstance(data.get("payoffs"), list) else 2)
    if given == _WAYS["zero_sum"]:
        return NormalForm.zero_sum(_numbers(data["zero_sum"], "zero_sum"), **names)
    if given == _WAYS["bimatrix"]:
        return NormalForm.bimatrix(_numbers(data["row"], "row"), _numbers(data["col"], "col"), **names)
    if given == _WAYS["payoffs"]:
        return NormalForm(_numbers(data["payoffs"], "payoffs"), **names)
    found = ", ".join(map(repr, sorted(given))) or "nothing"
    raise InvalidGame(f"expected 'zero_sum', 'row' and 'col', or 'payoffs' (and {sorted(_NAMES)}), got {found}")


def _bare(matrix: list[Any]) -> NormalForm:
    payoffs = as_payoffs(matrix, "matrix")
    if payoffs.ndim == 2:
        return NormalForm.zero_sum(np.array(matrix, dtype=object))
    if payoffs.ndim == 3 and payoffs.shape[2] == 2:
        return NormalForm(np.moveaxis(np.array(matrix, dtype=object), 2, 0))
    if payoffs.ndim == 1:
        raise InvalidGame(f"matrix: expected a list of rows, got {payoffs.size} numbers; one row is written [[1, 2]]")
    raise InvalidGame(
        f"matrix: expected cells that are numbers (zero-sum) or pairs (both players), got lists of sizes "
        f"{' x '.join(map(str, payoffs.shape))}; games of more players are written as an object with 'payoffs'"
    )


def _check_counts(names: dict[str, Any], players: int) -> None:
    for what in ("players", "actions"):
        if what in names and len(names[what]) != players:
            raise InvalidGame(f"{what}: expected one entry for each of {players} players, got {len(names[what])}")


def _names(data: dict[str, Any]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    if "name" in data:
        names["name"] = _text(data["name"], "name")
    if "players" in data:
        names["players"] = _texts(data["players"], "players")
    if "actions" in data:
        lists = data["actions"]
        if not isinstance(lists, list):
            raise InvalidGame(f"actions: expected a list of lists of names, got {_kind(lists)}")
        names["actions"] = tuple(_texts(one, f"actions[{k}]") for k, one in enumerate(lists))
    return names


def _texts(given: object, what: str) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise InvalidGame(f"{what}: expected a list of names, got {_kind(given)}")
    return tuple(_text(one, f"{what}[{k}]") for k, one in enumerate(given))


def _text(given: object, what: str) -> str:
    if not isinstance(given, str):
        raise InvalidGame(f"{what}: expected a text, got {_kind(given)}")
    return given


def _numbers(given: object, what: str, depth: int = 0) -> Any:
    """`given` itself once everything in it is a number or a list."""
    if isinstance(given, list):
        if depth > _DEEPEST:
            raise InvalidGame(f"{what}: expected at most {_DEEPEST} nested lists")
        for k, one in enumerate(given):
            _numbers(one, f"{what}[{k}]", depth + 1)
    elif not isinstance(given, float | Fraction):
        raise InvalidGame(f"{what}: expected a number, got {_kind(given)}")
    elif depth == 0:
        raise InvalidGame(f"{what}: expected a matrix, got a number")
    return given


def _kind(given: object) -> str:
    match given:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case float() | Fraction():
            return "a number"
        case str():
            return f"the text {given[:30]!r}"
        case list():
            return "a list"
        case _:
            return "an object"
