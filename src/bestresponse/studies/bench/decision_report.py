"""Pictures and tables of decisions: every answer, and where policies lose on their tree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from bestresponse.report.blocks import Measurement, Shown, table
from bestresponse.report.document import Figure
from bestresponse.report.figures.tree import MOST_ENDS, Overlay, draw_tree
from bestresponse.theory.trees.tree import Tree

_MOST_DRAWN = 8
_LOSSES = {
    "excess": (
        "exploitability goes once that information set alone is as in the nearest equilibrium"
    ),
    "regret": "is lost at that information set against its own policy in the other seats",
    "loss": "is lost at that information set against the equilibrium",
}
"""What the circles of the tree show: the first of these that is known."""
_SHOWN = (
    "model",
    "asked_for",
    "policy",
    "sample",
    "seat",
    "infoset",
    "answer",
    "best",
    "regret",
    "status",
    "how",
    "reply",
)


def draw_policies(measured: Measurement) -> Shown | None:
    """Draw the policy of every player on the tree, with what is lost at every information set."""
    tree = measured.config.form
    rows = measured.frame("infosets")
    pictures = []
    for player in rows.list_values("player"):
        known: dict[str, dict[int, Any]] = {name: {} for name in ("mixture", *_LOSSES)}
        for row, name in product(rows.select(player=player), known):
            if row[name] is not None:
                known[name][tree.infoset_index[row["seat"], row["infoset"]]] = row[name]
        losses = next((known[name] for name in _LOSSES if known[name]), None)
        if losses is None:
            continue
        chances = {}
        for node in range(1, tree.num_nodes):
            infoset = int(tree.infoset[tree.parent[node]])
            if infoset in known["mixture"]:
                chances[node] = known["mixture"][infoset][tree.move[node]]
        most = max(losses.values()) or 1.0
        nodes = _choose_nodes(tree, losses)
        weights = {k: loss / most for k, loss in losses.items()}
        picture = draw_tree(tree, overlay=Overlay(chances, weights, nodes))
        lost = next(words for name, words in _LOSSES.items() if known[name])
        caption = (
            f"Policy of {player}. Branches: the wider, the likelier; circles: the larger, the more "
            f"{lost}.{' Only the ways to the largest are drawn.' if nodes else ''}"
        )
        pictures.append(Figure(picture, caption, f"Tree of the game with the policy of {player}"))
    return Shown("Where policies lose", tuple(pictures)) if pictures else None


def _choose_nodes(tree: Tree, losses: Mapping[int, float]) -> set[int]:
    """Choose the ways to the information sets with the largest losses.

    This is done if a tree is large; otherwise none are chosen, which means all.
    """
    chosen: set[int] = set()
    if len(tree.leaves) <= MOST_ENDS:
        return chosen
    largest = sorted(losses, key=lambda k: (-losses[k], k))
    for infoset in largest[:_MOST_DRAWN]:
        positions = np.flatnonzero(tree.infoset == infoset)
        node = int(positions[0])
        chosen.update(tree.children[node])
        while node >= 0:
            chosen.add(node)
            node = int(tree.parent[node])
    return chosen


def show_decisions(measured: Measurement) -> Shown | None:
    """List every answer of a game that is played in turn."""
    if "infoset" not in measured.frame("plays").columns:
        return None
    return table("plays", _SHOWN, title="Every answer", most=200)(measured)
