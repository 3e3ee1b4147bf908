"""Games in files: Gambit's `.nfg`, and matrices in JSON.

The name of a file decides the format.

Games in normal form in Gambit's `.nfg` format, read and written.

Two versions exist: the payoffs of every contingency in a list, or a list of outcomes (payoffs with
a name) and the outcome of every contingency, 0 for none. In both the first player's action changes
fastest.

R. D. McKelvey, A. M. McLennan and T. L. Turocy, "Gambit: software tools for game theory", the .nfg
file format.

Normal-form games as JSON.

A bare matrix `[[1, -1], [-1, 1]]` is the row player's payoff in a zero-sum game. An object gives
the payoffs in one of four ways, and optionally `players`, `actions` and `name`:

- `"zero_sum"`: the row player's matrix
- `"row"` and `"col"`: both players' matrices
- `"cells"`: a table whose cells list the payoffs of all players, `[[[3, 3], [0, 5]], ...]`
- `"tables"`: one table per player, for any number of players

Lists without a key that are no matrix are refused: most of them could be read both ways.

One door for games in files: `.efg` trees, `.nfg` and `.json` normal forms.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from bestresponse.theory.catalogue.trees import kuhn_poker
>>> with TemporaryDirectory() as folder:
...     path = Path(folder) / "kuhn.efg"
...     write_game_file(kuhn_poker(), path)
...     load_game_file(path)
Tree('kuhn-poker', players=['player 1', 'player 2'], 55 nodes, 30 leaves, 12 information sets)
"""

import errno
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.files.game_text import GameText, number_repeats, quote_text, write_number
from bestresponse.theory.games.normal_form import (
    GameLike,
    NormalForm,
    Rationals,
    as_normal_form,
    as_payoffs,
    parse_rational,
    read_texts,
)
from bestresponse.theory.trees.tree import Tree
from bestresponse.theory.trees.types import TypeCase, build_cases

_AMBIGUOUS = (
    'may be cells or a table for every player; say which by a key: {"cells": ...}, where each cell'
    ' lists the payoffs of all players, or {"tables": ...}'
)
_EXAMPLE = 'such as {"row": [[3, 0], [5, 1]], "col": [[3, 5], [0, 1]]}'
_CELLS = 20_000_000
_MAX_PLAYERS = 60  # numpy's arrays have at most 64 axes


def parse_nfg(text: str, source: str = ".nfg text") -> NormalForm:
    """Read the game that `text` describes.

    InvalidGame names line, column and what was expected there.

    >>> parse_nfg('NFG 1 R "" { "a" "b" } { 2 1 } 1 2 3 4').payoffs[:, :, 0].tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    words = GameText(text, source)
    title, players = words.header("NFG", 1)
    actions = _actions(words, len(players))
    if words.kind == "text":
        words.quote("the comment")
    shape = tuple(map(len, actions))
    if words.at("{"):
        table = _by_outcome(words, len(players), math.prod(shape))
    else:
        wanted = len(players) * math.prod(shape)
        numbers = [words.rational(f"payoff {k + 1} of {wanted}") for k in range(wanted)]
        table = np.array(numbers, dtype=object)
    words.end("the end of the file, because every contingency has its payoffs")
    payoffs = table.reshape(*reversed(shape), len(players)).T
    return NormalForm(
        as_payoffs(payoffs, source),
        players,
        tuple(map(tuple, actions)),
        title,
        payoffs,
    )


def _actions(words: GameText, players: int) -> list[list[str]]:
    """The names of each player's actions; numbers where the file only says how many there are."""
    start = words.start
    words.brace("{", "before the actions")
    actions: list[list[str]] = []
    cells = players
    while not words.at("}"):
        if words.at("{"):
            actions.append(number_repeats(words.quotes("action's name")))
            count = len(actions[-1])
        else:
            count = words.whole("a number of actions, '{' or '}'", 1)
            actions.append([])
        cells *= count
        if cells == 0:
            raise words.error(f"expected at least one action for player {len(actions)}", start)
        if cells > _CELLS or players > _MAX_PLAYERS:
            raise TooLarge(
                f"{words.source}: {players} players with {cells} or more payoffs; the limit is"
                f" {_CELLS}"
            )
        actions[-1] = actions[-1] or [str(k + 1) for k in range(count)]
    words.brace("}", "after the actions")
    if len(actions) != players:
        raise words.error(
            f"expected the actions of {players} players, got those of {len(actions)}", start
        )
    return actions


def _by_outcome(words: GameText, players: int, contingencies: int) -> Rationals:
    words.brace("{", "before the outcomes")
    outcomes = [(Fraction(0),) * players]
    while not words.at("}"):
        opened = words.start
        words.brace("{", "before an outcome, or '}' after the last")
        if words.kind == "text":
            words.quote("the outcome's name")
        outcomes.append(words.payoffs(players, opened))
    words.brace("}", "after the outcomes")
    what = "the outcome of contingency {} of {}"
    chosen = []
    for k in range(1, contingencies + 1):
        chosen.append(words.whole(what.format(k, contingencies), 0, len(outcomes) - 1))
    return np.array(outcomes, dtype=object)[chosen]


def format_nfg(game: GameLike, *, openspiel: bool = False) -> str:
    """`game` as the text of an `.nfg` file; reading it gives the same game.

    For OpenSpiel, which reads only numbers of actions, there are no names, no comment and no
    fractions.
    """
    game = as_normal_form(game)
    players = " ".join(map(quote_text, game.players))
    rows = game.given.T.reshape(-1, game.num_players).tolist()
    write = (lambda number: repr(float(number))) if openspiel else write_number
    body = [" ".join(map(write, row)) for row in rows]
    head = f"NFG 1 R {quote_text(game.name)} {{ {players} }}"
    if openspiel:
        return "\n".join([f"{head} {{ {' '.join(map(str, game.shape))} }}", "", *body, ""])
    lists = []
    for names in game.actions:
        quoted = " ".join(map(quote_text, names))
        lists.append("{ " + quoted + " }")
    actions = " ".join(lists)
    return "\n".join([head, f"{{ {actions} }}", '""', "", *body, ""])


_NAMES = {"name": 0, "players": 1, "actions": 2}  # and how deep their lists are
_DEEPEST = 60
_MOST_VALUES = 4_000_000
"""So many values of JSON take about 400 MB while they are read."""


def parse_matrix_json(text: str, source: str = "JSON text") -> NormalForm | Tree:
    """Read the game that `text` describes; InvalidGame names the place and what was expected.

    A game with types, which has `cases`, becomes a tree.

    >>> payoffs = '"row": [[3, 0], [5, 1]], "col": [[3, 5], [0, 1]]'
    >>> parse_matrix_json("{" + payoffs + ', "players": ["Ann", "Bob"]}').players
    ('Ann', 'Bob')
    """
    if text.count(",") >= _MOST_VALUES:
        raise InvalidGame(
            f"{source} holds more than {_MOST_VALUES:,} values; at most so many are read"
        )
    try:
        return _game(
            json.loads(
                text,
                parse_int=_read_number,
                parse_float=_read_number,
                object_pairs_hook=read_keys,
            )
        )
    except json.JSONDecodeError as error:
        if not text.strip():
            raise InvalidGame(f"{source} is empty; expected a game, {_EXAMPLE}") from None
        raise InvalidGame(
            f"{source}, line {error.lineno}, column {error.colno}: this is not JSON:"
            f" {error.msg[:1].lower()}{error.msg[1:]}"
        ) from None
    except RecursionError:
        raise InvalidGame(
            f"{source}: expected a matrix or an object, got lists nested too deeply"
        ) from None
    except InvalidGame as error:
        raise InvalidGame(f"{source}: {error}") from None


def read_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Read an object; where a key stands twice, JSON would silently take the last."""
    if len(dict(pairs)) < len(pairs):
        raise InvalidGame(f"expected every key once, got {', '.join(key for key, _ in pairs)}")
    return dict(pairs)


def _read_number(text: str) -> Fraction | float:
    """Read a number as it is written.

    What no float can hold becomes infinite and is refused later.
    """
    try:
        number = parse_rational(text)
        return number if math.isfinite(float(number)) else math.inf
    except (OverflowError, ValueError):
        return math.inf


def read_table(data: object) -> NormalForm | Tree:
    """Read a game from plain data.

    The data are a matrix of payoffs (zero-sum), cells that are tuples with a payoff for every
    player, or a dictionary, which is like the object of a JSON file. What may be cells, tables or
    several games is refused, here as in files.

    >>> read_table([[("1/3", 1), (0, 0)], [(0, 0), (1, 2)]]).payoffs[1].tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    if isinstance(data, Mapping):
        # What JSON does not know becomes what it does: arrays lists, exact numbers texts.
        text = json.dumps(
            dict(data), default=lambda u: u.tolist() if hasattr(u, "tolist") else str(u)
        )
        return _game(json.loads(text, parse_int=_read_number, parse_float=_read_number))
    numbers = read_texts(data, "matrix")
    return _read_cells(numbers, "matrix") if _has_cells(data) else _read_matrix(numbers)


def _has_cells(data: object) -> bool:
    """Say whether the innermost sequences are tuples, and those around them lists."""
    around: object = None
    while isinstance(data, list | tuple) and data and isinstance(data[0], list | tuple):
        around = data
        data = data[0]
    return isinstance(around, list) and isinstance(data, tuple)


def _game(data: object) -> NormalForm | Tree:
    if isinstance(data, list):
        return _read_matrix(_numbers(data, "matrix"))
    if not isinstance(data, dict):
        raise InvalidGame(f"expected a matrix or an object, got {_kind(data)}")
    return _read_types(data) if "cases" in data else _read_object(data)


def _read_types(data: dict[str, object]) -> Tree:
    """Read a game with types: its names, and for every case types, probability and payoffs."""
    cases = data["cases"]
    unknown = sorted(set(data) - {"cases", *_NAMES})
    if unknown:
        raise InvalidGame(f"expected 'cases' and {sorted(_NAMES)}, got {', '.join(unknown)}")
    if not isinstance(cases, list):
        raise InvalidGame(f"cases: expected a list, got {_kind(cases)}")
    shared: dict[str, object] = {key: data[key] for key in ("players", "actions") if key in data}
    read = []
    for number, case in enumerate(cases):
        place = f"cases[{number}]"
        if not isinstance(case, dict) or not {"types", "probability"} < set(case):
            raise InvalidGame(f"{place}: expected an object with types, probability and payoffs")
        payoffs = {key: case[key] for key in case if key not in ("types", "probability")}
        try:
            table = _read_object({**shared, **payoffs})
        except InvalidGame as error:
            raise InvalidGame(f"{place}: {error}") from None
        types = _read_names(case["types"], f"{place}, types", 1)
        share = read_texts(case["probability"], f"{place}, probability")
        if not isinstance(share, Fraction):
            raise InvalidGame(f"{place}, probability: expected a number, got {_kind(share)}")
        read.append(TypeCase(types, share, table))
    return build_cases(read, _read_names(data.get("name", ""), "name", 0))


def _read_object(data: dict[str, object]) -> NormalForm:
    names = {
        key: _read_names(data[key], key, depth) for key, depth in _NAMES.items() if key in data
    }
    keys = sorted(set(data) - set(_NAMES))
    match keys:
        case ["zero_sum"]:
            return NormalForm.zero_sum(_numbers(data["zero_sum"], "zero_sum"), **names)
        case ["col", "row"]:
            row, col = (_numbers(data[key], key) for key in ("row", "col"))
            return NormalForm.bimatrix(row, col, **names)
        case ["tables"]:
            return NormalForm(_numbers(data["tables"], "tables"), **names)
        case ["cells"]:
            return replace(_read_cells(_numbers(data["cells"], "cells"), "cells"), **names)
        case ["payoffs"]:
            raise InvalidGame(f"payoffs {_AMBIGUOUS}")
    raise InvalidGame(
        "expected 'zero_sum', 'row' and 'col', 'tables' or 'cells' (and 'name', 'players' and"
        f" 'actions' as you like), got {', '.join(map(repr, keys)) or 'nothing'}"
    )


def _read_cells(cells: ArrayLike, what: str) -> NormalForm:
    """Read payoffs whose last axis are the players."""
    as_payoffs(cells, what)
    return NormalForm(np.moveaxis(np.array(cells, dtype=object), -1, 0))


def _read_matrix(matrix: ArrayLike) -> NormalForm:
    payoffs = as_payoffs(matrix, "matrix")
    if payoffs.ndim == 2:
        return NormalForm.zero_sum(np.array(matrix, dtype=object))
    if payoffs.ndim < 2:
        raise InvalidGame(
            f"matrix: expected a list of rows, got {payoffs.size} numbers; one row is written"
            " [[1, 2]]"
        )
    raise InvalidGame(f"numbers of sizes {' x '.join(map(str, payoffs.shape))} {_AMBIGUOUS}")


def _read_names(names: object, what: str, depth: int) -> Any:
    """Read a text, a list of texts, or a list of such lists, as `depth` says."""
    if depth == 0:
        if not isinstance(names, str):
            raise InvalidGame(f"{what}: expected a text, got {_kind(names)}")
        return names
    if not isinstance(names, list):
        raise InvalidGame(
            f"{what}: expected a list of {'lists of ' * (depth - 1)}names, got {_kind(names)}"
        )
    return tuple(_read_names(name, f"{what}[{k}]", depth - 1) for k, name in enumerate(names))


def _numbers(numbers: object, what: str, depth: int = 0) -> Any:
    """Give lists of numbers, also those written as texts.

    InvalidGame names the place of anything else.
    """
    if isinstance(numbers, list):
        if depth > _DEEPEST:
            raise InvalidGame(f"{what}: expected at most {_DEEPEST} nested lists")
        return [_numbers(row, f"{what}[{k}]", depth + 1) for k, row in enumerate(numbers)]
    if depth == 0:
        raise InvalidGame(f"{what}: expected a matrix, got {_kind(numbers)}")
    if not isinstance(numbers, float | Fraction | str):
        raise InvalidGame(f"{what}: expected a number, got {_kind(numbers)}")
    return read_texts(numbers, what)


def _kind(element: object) -> str:
    match element:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case float() | Fraction():
            return "a number"
        case str():
            return f"the text {element[:30]!r}"
        case list():
            return "a list"
        case _:
            return "an object"


def load_game_file(path: str | Path) -> NormalForm | Tree:
    """Read the game in a file, whose ending says the format."""
    path = Path(path)
    parsers: dict[str, Callable[[str, str], NormalForm | Tree]] = {
        ".efg": parse_efg,
        ".nfg": parse_nfg,
        ".json": parse_matrix_json,
    }
    parse = parsers.get(path.suffix.lower())
    if parse is None:
        raise UsageError(f"{path.name}: expected a file ending in .efg, .nfg or .json")
    return parse(read_game_text(path), path.name)


def write_game_file(game: NormalForm | Tree, path: str | Path) -> None:
    """Write a tree as `.efg`, a normal form as `.nfg`."""
    wanted = ".efg" if isinstance(game, Tree) else ".nfg"
    if Path(path).suffix.lower() != wanted:
        raise UsageError(
            f"{Path(path).name}: expected a file ending in {wanted} for a {type(game).__name__}"
        )
    Path(path).write_text(
        format_efg(game) if isinstance(game, Tree) else format_nfg(game), encoding="utf-8"
    )


def read_game_text(path: str | Path) -> str:
    """Read the text of a game file; UsageError or InvalidGame where it cannot be one."""
    path = Path(path)
    try:
        return read_text_file(path)
    except UnicodeDecodeError as error:
        raise InvalidGame(
            f"{path.name}: expected UTF-8 text, got other bytes at {error.start}"
        ) from None
    except OSError as error:
        kind = TooLarge if error.errno == errno.EFBIG else UsageError
        raise kind(f"{path}: cannot be read ({error.strerror})") from None
