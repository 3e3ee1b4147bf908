"""`bestresponse games`: which games can be named."""

from __future__ import annotations

import json

from bestresponse.cli.options import AsJson
from bestresponse.cli.terminal import console, print_table
from bestresponse.core import registry
from bestresponse.core.errors import UsageError
from bestresponse.core.registry import games as registered_games
from bestresponse.report.document import Cell, Column, Table
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.generators.draw import families
from bestresponse.theory.generators.family import FAMILIES

__all__ = ["games"]


def games(as_json: AsJson = False) -> None:
    """List the games of the catalogue, the registered games and the families that `bench` draws from."""
    rows = list(_rows())
    if as_json:
        print(json.dumps([{"name": n, "kind": k, "what": w} for n, k, w in rows], indent=2, ensure_ascii=False))
        return
    print_table(console(), Table((Column("name"), Column("kind"), Column("what it is")), tuple(rows)))


def _rows() -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = [(e.name, "matrix", e.description) for e in catalogue.entries()]
    rows += [(name, "tree", tree_entry(name).description) for name in tree_names()]
    rows += [(name, "registered", _describe_registered(name)) for name in registry.games.names()]
    rows += [(name, "family", _first_line(FAMILIES[name])) for name in families()]
    return rows


def _describe_registered(name: str) -> str:
    """Describe a game of this library or of a package; of a broken package, say what is wrong."""
    try:
        return _first_line(registered_games.load(name))
    except UsageError as error:
        return str(error)


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]
