"""Write a game in another format: `.nfg`, `.efg`, `.json` or `.pl`.

A tree becomes a table by its reduced normal form; a table becomes a tree in which nobody sees what the others choose.
A program is written from the tree, or for a table with one fact for each combination of moves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.games.logic.tables import read_fraction, table_from_cells, table_from_tree, write_program
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.files.nfg import format_nfg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import Leaf, Tree, Turn, build_tree


def format_game(game: NormalForm | Tree, ending: str, *, openspiel: bool = False) -> str:
    """Return the text of a game file with this ending; UsageError where no such file can be written."""
    if ending not in WRITERS:
        raise UsageError(f"games are written as {', '.join(WRITERS)}; got a file ending in {ending or 'nothing'}")
    if openspiel and ending != ".nfg":
        raise UsageError(f"only .nfg files have a form of their own for OpenSpiel; got one ending in {ending}")
    return format_nfg(_as_table(game), "openspiel") if openspiel else WRITERS[ending](game)


def to_tree(form: NormalForm) -> Tree:
    """Return the tree in which the players choose one after another without seeing the others' choices.

    >>> to_tree(NormalForm.zero_sum([[1, -1], [-1, 1]]))
    Tree('', players=['row', 'col'], 7 nodes, 4 leaves, 2 information sets)
    """

    def expand(chosen: tuple[int, ...]) -> Leaf | Turn:
        seat = len(chosen)
        if seat == form.num_players:
            return Leaf([own[chosen] for own in form.given])
        who = form.players[seat]
        return Turn(who, who, {name: (*chosen, k) for k, name in enumerate(form.actions[seat])})

    return build_tree(form.players, (), expand, name=form.name)


def format_matrix_json(form: NormalForm) -> str:
    """Return the JSON object of a table, which `parse_matrix_json` reads back; a third becomes the nearest float."""
    data: JsonObject = {"name": form.name} if form.name else {}
    data |= {"players": list(form.players), "actions": [list(names) for names in form.actions]}
    return json.dumps(data | {"payoffs": _as_numbers(form.given.tolist())}, ensure_ascii=False) + "\n"


def _as_numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_numbers(one) for one in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return int(value) if float(value).is_integer() else value


def _as_table(game: NormalForm | Tree) -> NormalForm:
    return to_normal_form(game) if isinstance(game, Tree) else game


def as_game_table(game: NormalForm | Tree) -> GameTable:
    """Return the table that a program of the game would be written from."""
    if isinstance(game, Tree):
        return table_from_tree(game)
    payoffs = [
        [u if isinstance(u, Fraction) else read_fraction(float(u)) for u in own.ravel().tolist()] for own in game.given
    ]
    return table_from_cells(game.players, game.actions, tuple(zip(*payoffs, strict=True)))


WRITERS: dict[str, Callable[[NormalForm | Tree], str]] = {
    ".nfg": lambda game: format_nfg(_as_table(game)),
    ".efg": lambda game: format_efg(game if isinstance(game, Tree) else to_tree(game)),
    ".json": lambda game: format_matrix_json(_as_table(game)),
    ".pl": lambda game: write_program(as_game_table(game)),
}
"""By the ending of the file's name."""
