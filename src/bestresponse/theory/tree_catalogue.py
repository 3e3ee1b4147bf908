"""The classics in extensive form, by name.

>>> load_tree("centipede").num_nodes
9
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory import classics_trees as classics
from bestresponse.theory.tree import Tree

__all__ = ["load_tree", "tree_names"]

_TREES: dict[str, Callable[[], Tree]] = {
    "centipede": classics.centipede,
    "entry-deterrence": classics.entry_deterrence,
    "kuhn-poker": classics.kuhn_poker,
    "kuhn-poker-3": partial(classics.kuhn_poker, 3),
    "leduc-poker": classics.leduc_poker,
    "trust": classics.trust,
    "ultimatum": classics.ultimatum,
}


def tree_names() -> tuple[str, ...]:
    """The names `load_tree` knows."""
    return tuple(_TREES)


def load_tree(name: str) -> Tree:
    """The tree called `name`."""
    if name not in _TREES:
        raise UsageError(f"no tree is called {name!r}.{did_you_mean(name, list(_TREES))}")
    return _TREES[name]()
