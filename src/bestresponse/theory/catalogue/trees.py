"""The classics in extensive form by name, each with a description and its source.

`tree_names()` lists them, `load_tree("kuhn-poker")` returns the tree, `tree_entry("kuhn-poker")` also what it is about
and where it comes from. Games in normal form are in `catalogue`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.catalogue import classics_trees as classics
from bestresponse.theory.trees.tree import Tree

__all__ = ["TreeEntry", "load_tree", "tree_entry", "tree_names"]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A named tree: what it is about, where it comes from, and how to make it."""

    name: str
    description: str
    citation: str
    make: Callable[[], Tree]


_ENTRIES = {
    entry.name: entry
    for entry in (
        TreeEntry(
            "centipede",
            "Two players take or pass in turn while the piles double; four moves",
            "R. W. Rosenthal, J. Economic Theory 25, 1981; R. D. McKelvey, T. R. Palfrey, Econometrica 60, 1992",
            classics.centipede,
        ),
        TreeEntry(
            "entry-deterrence",
            "An entrant stays out or enters; the incumbent shares the market or fights",
            "R. Selten, The chain store paradox, Theory and Decision 9, 1978",
            classics.entry_deterrence,
        ),
        TreeEntry(
            "kuhn-poker",
            "Three cards, one each, at most one bet; value -1/18 for the first player",
            "H. W. Kuhn, A simplified two-person poker, Contributions to the Theory of Games I, 1950",
            classics.kuhn_poker,
        ),
        TreeEntry(
            "kuhn-poker-3",
            "Kuhn poker for three players and four cards",
            "N. Abou Risk, D. Szafron, Using counterfactual regret minimization to create competitive multiplayer "
            "poker agents, AAMAS 2010",
            partial(classics.kuhn_poker, 3),
        ),
        TreeEntry(
            "leduc-poker",
            "Six cards, two betting rounds, one public card; value -0.0856064 for the first player",
            "F. Southey et al., Bayes' bluff: opponent modelling in poker, UAI 2005",
            classics.leduc_poker,
        ),
        TreeEntry(
            "trust",
            "A sender entrusts up to 10, it is tripled, the receiver returns part",
            "J. Berg, J. Dickhaut, K. McCabe, Games and Economic Behavior 10, 1995",
            classics.trust,
        ),
        TreeEntry(
            "ultimatum",
            "A proposer offers a share of 10; the responder accepts or both get nothing",
            "W. Güth, R. Schmittberger, B. Schwarze, Journal of Economic Behavior and Organization 3, 1982",
            classics.ultimatum,
        ),
    )
}


def tree_names() -> tuple[str, ...]:
    """The names of all trees, in alphabetical order."""
    return tuple(_ENTRIES)


def tree_entry(name: str) -> TreeEntry:
    """The entry called `name`; case, blanks and underscores do not matter.

    >>> tree_entry("Kuhn poker").name
    'kuhn-poker'
    """
    plain = name.strip().casefold().replace("_", "-").replace(" ", "-")
    if plain not in _ENTRIES:
        raise UsageError(f"no tree is called {name!r}.{did_you_mean(plain, list(_ENTRIES))}")
    return _ENTRIES[plain]


def load_tree(name: str) -> Tree:
    """The tree called `name`.

    >>> load_tree("centipede").num_nodes
    9
    """
    return tree_entry(name).make()
