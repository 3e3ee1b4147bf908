"""A policy on the drawn tree: the wider a branch the likelier the move, the larger a disc the more is lost there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bestresponse.report.figures.canvas import INK, QUIET, canvas, label, series_colour, to_svg
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["choose_nodes", "draw_policy"]

_MOST_LEAVES = 40
_MOST_SETS = 8
_ROW = 0.21
_LETTERS = 9


def choose_nodes(tree: Tree, losses: Mapping[int, float]) -> frozenset[int]:
    """Return the nodes to draw: all of a small tree, else the ways to the information sets with the largest losses."""
    if len(tree.leaves) <= _MOST_LEAVES:
        return frozenset(range(tree.num_nodes))
    worst = sorted(losses, key=lambda k: (-losses[k], k))[:_MOST_SETS]
    chosen: set[int] = set()
    for infoset in worst:
        node = next(k for k in range(tree.num_nodes) if tree.infoset[k] == infoset)
        chosen.update(tree.children[node])
        while node >= 0:
            chosen.add(node)
            node = int(tree.parent[node])
    return frozenset(chosen)


def draw_policy(tree: Tree, policy: Policy, losses: Mapping[int, float]) -> bytes:
    """Draw the tree from left to right with the policy and the losses (by information set) on it, as SVG."""
    places = _lay_out(tree, choose_nodes(tree, losses))
    rows = 1 + max(place.row for place in places.values())
    most = max(losses.values(), default=0.0)
    with canvas(height=0.6 + _ROW * rows, grid="none") as axes:
        for node, place in places.items():
            if node:
                _draw_branch(axes, tree, policy, node, places)
            if int(tree.owner[node]) == LEAF:
                earned = ", ".join(f"{payoff:g}" for payoff in tree.payoffs[node])
                axes.text(place.depth + 0.03, place.row, earned, fontsize=7, va="center", color=QUIET)
            elif int(tree.owner[node]) != CHANCE:
                _draw_decision(axes, tree, node, place, losses.get(int(tree.infoset[node]), 0.0), most)
        axes.set_axis_off()
        axes.invert_yaxis()
        axes.margins(x=0.06, y=0.03)
        return to_svg(axes)


@dataclass(frozen=True, slots=True)
class _Place:
    depth: int
    row: float


def _lay_out(tree: Tree, chosen: frozenset[int]) -> dict[int, _Place]:
    """Give ends a row each, and every other node the middle of those below it."""
    places: dict[int, _Place] = {}
    next_row = 0

    def place(node: int, depth: int) -> float:
        nonlocal next_row
        below = [child for child in tree.children[node] if child in chosen]
        if below:
            rows = [place(child, depth + 1) for child in below]
            row = (rows[0] + rows[-1]) / 2
        else:
            row = float(next_row)
            next_row += 1
        places[node] = _Place(depth, row)
        return row

    place(0, 0)
    return dict(sorted(places.items()))


def _draw_branch(axes: Axes, tree: Tree, policy: Policy, node: int, places: Mapping[int, _Place]) -> None:
    parent = int(tree.parent[node])
    here, there = places[parent], places[node]
    chance = int(tree.owner[parent]) == CHANCE
    place = tree.first_move[tree.infoset[parent]] + tree.move[node]
    likely = float(tree.probability[node]) if chance else float(policy.probabilities[place])
    colour = QUIET if chance else series_colour(int(tree.owner[parent]))
    axes.plot(
        [here.depth, there.depth],
        [here.row, there.row],
        color=colour,
        linewidth=0.5 + (0.5 if chance else 3.0 * likely),
        alpha=0.9 if chance or likely > 0 else 0.35,
        zorder=1,
    )
    text = label(tree.branch_labels[node], _LETTERS) + ("" if chance else f" {likely:.2g}")
    x, y = (0.45 * here.depth + 0.55 * there.depth), (0.45 * here.row + 0.55 * there.row)
    axes.text(x, y - 0.06, text, fontsize=6.5, ha="center", va="bottom", color=INK, zorder=3)


def _draw_decision(axes: Axes, tree: Tree, node: int, place: _Place, lost: float, most: float) -> None:
    infoset = tree.infosets[int(tree.infoset[node])]
    share = lost / most if most > 0 else 0.0
    colour = series_colour(infoset.player)
    axes.scatter([place.depth], [place.row], s=14 + 300 * share, color=colour, alpha=0.35 if share else 0.9, zorder=2)
    name = label(infoset.label, _LETTERS)
    axes.text(place.depth - 0.04, place.row - 0.12, name, fontsize=7, ha="right", va="bottom", color=INK, zorder=4)
