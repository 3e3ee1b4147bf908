"""The classics in extensive form by name, each with a description and its source.

`tree_names()` lists them, `load_tree("kuhn-poker")` returns the tree, `tree_entry("kuhn-poker")` also what it is about
and where it comes from. They are listed in `data/trees.toml`; games in normal form are in `tables`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.catalogue.tables import read_data
from bestresponse.theory.catalogue.tree_rules import TREE_RULES
from bestresponse.theory.files.efg import parse_efg
from bestresponse.theory.trees.tree import Tree

__all__ = ["TreeEntry", "load_tree", "tree_entry", "tree_names"]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A named tree: what it is about, where it comes from, and its file or the rule that builds it."""

    name: str
    description: str
    citation: str
    data: Mapping[str, Any]

    def make(self) -> Tree:
        """Build the tree."""
        if "file" in self.data:
            return parse_efg(read_data(self.data["file"]))
        return TREE_RULES[self.data["rule"]](**self.data.get("arguments", {}))


@cache
def _load_entries() -> dict[str, TreeEntry]:
    found = tomllib.loads(read_data("trees.toml"))
    return {name: TreeEntry(name, data["description"], data["citation"], data) for name, data in sorted(found.items())}


def tree_names() -> tuple[str, ...]:
    """List the names of all trees, in alphabetical order."""
    return tuple(_load_entries())


def tree_entry(name: str) -> TreeEntry:
    """Find the entry called `name`; case, blanks and underscores do not matter.

    >>> tree_entry("Kuhn poker").name
    'kuhn-poker'
    """
    plain = name.strip().casefold().replace("_", "-").replace(" ", "-")
    known = _load_entries()
    if plain not in known:
        raise UsageError(f"no tree is called {name!r}.{did_you_mean(plain, list(known))}")
    return known[plain]


def load_tree(name: str) -> Tree:
    """Load the tree called `name`.

    >>> load_tree("centipede").num_nodes
    9
    """
    return tree_entry(name).make()
