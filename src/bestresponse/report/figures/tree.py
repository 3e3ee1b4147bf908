"""The tree of a game, drawn from left to right.

Shows who moves, what is drawn, what cannot be told apart, and what is paid.

Every end has its own row, with its payoffs at the right, and every move its own line, so that no
two labels meet. The positions of an information set are dots on one dashed line; a circle bears the
number of its player, a diamond is chance. An `Overlay` draws a policy on it: the likelier a move
the thicker its line, the heavier a position the larger its circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.report.figures.charts import (
    INK,
    QUIET,
    canvas,
    clip,
    series_colour,
    to_png,
    to_svg,
)
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ENDS = 150
_ROW = 0.3
"""Inches from one end to the next."""
_LETTER = 0.085
"""Inches that a letter takes at most."""
_MARKER = 0.14
_LANE = 0.13
_LONGEST = 28
_SIZE = 8.5


@dataclass(frozen=True, slots=True)
class Overlay:
    """A policy on a tree.

    Holds by node how likely its branch is taken, and by information set how heavy it is, from 0 to
    1.

    Only `nodes` are drawn, all where none are named.
    """

    chances: Mapping[int, float] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    nodes: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """Where everything is, in inches.

    Gives `x` by level, `y` by node, `lane` by information set and `bend` by level.
    """

    x: list[float]
    bend: list[float]
    y: dict[int, float]
    depth: list[int]
    lanes: dict[int, float] = field(default_factory=dict)


def require_tree_picture(tree: Tree) -> None:
    """Refuse a tree that is too large to be drawn."""
    if len(tree.leaves) > MOST_ENDS:
        name = tree.name or "this tree"
        raise UsageError(
            f"{name} cannot be drawn: it has {len(tree.leaves):,} ends, expected at most"
            f" {MOST_ENDS}"
        )


def draw_tree(
    tree: Tree,
    kind: Literal["svg", "png"] = "svg",
    path: Collection[int] = (),
    overlay: Overlay | None = None,
) -> bytes:
    """Draw a tree as a file, the branches to the nodes of `path` thick.

    Raises UsageError where it is too large.
    """
    overlay = overlay or Overlay()
    if not overlay.nodes:
        require_tree_picture(tree)
    layout = lay_out(tree, overlay)
    payoffs = [tell_payoffs(tree, leaf) for leaf in tree.leaves.tolist()]
    longest = max(map(len, payoffs))
    legend = 0.0
    for text in _list_legend(tree):
        legend += len(text) * _LETTER + 0.55
    width = max(layout.x[-1] + longest * _LETTER + 0.5, legend + 0.4)
    lowest = min(layout.y.values())
    with canvas(height=0.9 + _ROW - lowest, width=width, grid="none") as axes:
        _draw_branches(axes, tree, layout, path, overlay)
        _draw_information(axes, tree, layout)
        _draw_nodes(axes, tree, layout, overlay)
        _draw_legend(axes, tree)
        axes.set_xlim(-0.3, width - 0.2)
        axes.set_ylim(lowest - _ROW, _ROW)
        axes.axis("off")
        return to_svg(axes) if kind == "svg" else to_png(axes)


def lay_out(tree: Tree, overlay: Overlay | None = None) -> TreeLayout:
    """Find the place of every node, branch and information set."""
    overlay = overlay or Overlay()
    depth = tree.depth
    y = _place_rows(tree, overlay.nodes or range(tree.num_nodes))
    lanes, counts = _assign_lanes(tree, depth, y)
    deepest = max(depth[node] for node in y)
    longest_names = [0] * (deepest + 1)
    for node in y:
        if node:  # no branch leads to the root
            level = depth[node]
            name = tell_branch(tree, node, overlay)
            longest_names[level] = max(longest_names[level], len(name))

    x = [0.0]
    bends = []
    for level, longest in enumerate(longest_names[1:]):
        lanes_width = _LANE * (counts[level] + 1)
        bend = x[-1] + _MARKER + lanes_width
        bends.append(bend)
        x.append(bend + longest * _LETTER + 0.3)
    places = {key: x[level] + offset for key, (level, offset) in lanes.items()}
    return TreeLayout(x, [*bends, x[-1]], y, depth, places)


def _place_rows(tree: Tree, nodes: Collection[int]) -> dict[int, float]:
    """Return the height of every node.

    Ends are one row apart, other nodes in the middle of what follows.
    """
    below: dict[int, list[int]] = {}
    for node in sorted(nodes):
        below[node] = [child for child in tree.children[node] if child in nodes]

    ends = [node for node, children in below.items() if not children]
    y = {node: -row * _ROW for row, node in enumerate(ends)}
    for node, children in reversed(below.items()):
        if children:
            y[node] = (y[children[0]] + y[children[-1]]) / 2
    return dict(sorted(y.items()))


def _assign_lanes(
    tree: Tree,
    depth: list[int],
    y: Mapping[int, float],
) -> tuple[dict[int, tuple[int, float]], list[int]]:
    """Give each information set of several positions a lane of its level.

    No other information set is beside it in this lane.

    Keys are information sets; a set that reaches over several levels takes the lane of its last.
    """
    members = group_positions(tree, y)
    taken: list[list[Lane]] = [[] for _ in range(max(depth) + 1)]
    lanes: dict[int, tuple[int, float]] = {}
    for infoset, nodes in members.items():
        level = max(depth[node] for node in nodes)
        heights = [y[node] for node in nodes]
        chosen = _take_lane(taken[level], min(heights), max(heights))
        lanes[infoset] = (level, _MARKER + _LANE * chosen)
    return lanes, [len(level_lanes) for level_lanes in taken]


Lane = list[tuple[float, float]]
"""The heights, from the lowest to the highest, of the information sets in one lane."""


def _take_lane(lanes: list[Lane], low: float, high: float) -> int:
    """Put an information set into the first lane with room, a new one where all are taken.

    Return its number.
    """
    margin = _ROW / 2
    for number, lane in enumerate(lanes):
        if all(high < start - margin or low > stop + margin for start, stop in lane):
            lane.append((low, high))
            return number
    lanes.append([(low, high)])
    return len(lanes) - 1


def group_positions(tree: Tree, nodes: Collection[int]) -> dict[int, list[int]]:
    """Return the positions of each information set that has several."""
    groups: dict[int, list[int]] = defaultdict(list)
    for node in nodes:
        if tree.infoset[node] >= 0:
            groups[int(tree.infoset[node])].append(node)
    return {infoset: members for infoset, members in groups.items() if len(members) > 1}


def _draw_branches(
    axes: Axes,
    tree: Tree,
    layout: TreeLayout,
    path: Collection[int],
    overlay: Overlay,
) -> None:
    for node in filter(None, layout.y):
        parent = int(tree.parent[node])
        level = layout.depth[parent]
        start = layout.x[level]
        bend = layout.bend[level]
        is_end = int(tree.owner[node]) == LEAF
        stop = layout.x[-1] if is_end else layout.x[level + 1]
        chance = overlay.chances.get(node, 0.0)
        axes.plot(
            [start, bend, bend, stop],
            [layout.y[parent], layout.y[parent], layout.y[node], layout.y[node]],
            color=INK if node in path else QUIET,
            solid_joinstyle="round",
            zorder=1,
            gid=f"node{node}",
            linewidth=2.4 if node in path else 0.9 + 3.0 * chance,
        )
        words = tell_branch(tree, node, overlay)
        axes.text(
            bend + 0.06,
            layout.y[node] + 0.025,
            words,
            fontsize=_SIZE,
            va="bottom",
            color=INK,
        )


def _draw_information(axes: Axes, tree: Tree, layout: TreeLayout) -> None:
    for infoset, nodes in group_positions(tree, layout.y).items():
        colour = series_colour(tree.infosets[infoset].player)
        lane = layout.lanes[infoset]
        heights = [layout.y[node] for node in nodes]
        axes.plot(
            [lane] * len(nodes),
            heights,
            color=colour,
            linewidth=1.3,
            linestyle=(0, (3, 2)),
            zorder=2,
        )
        deepest = max(layout.depth[node] for node in nodes)
        for node in nodes:
            level = layout.depth[node]
            x = lane if level == deepest else layout.x[level]
            axes.plot(
                [x, lane],
                [layout.y[node]] * 2,
                color=colour,
                linewidth=1.3,
                linestyle=(0, (3, 2)),
                zorder=2,
            )
            axes.plot(
                lane,
                layout.y[node],
                marker="o",
                markersize=4,
                color=colour,
                zorder=3,
            )


def _draw_nodes(axes: Axes, tree: Tree, layout: TreeLayout, overlay: Overlay) -> None:
    for node, y in layout.y.items():
        owner = int(tree.owner[node])
        x = layout.x[layout.depth[node]]
        if owner == LEAF:
            axes.text(
                layout.x[-1] + 0.08,
                y,
                tell_payoffs(tree, node),
                fontsize=_SIZE,
                va="center",
                color=INK,
            )
        elif owner == CHANCE:
            axes.plot(x, y, marker="D", markersize=8, color=QUIET, zorder=4)
        else:
            weight = overlay.weights.get(int(tree.infoset[node]), 0.0)
            size = 12 + 14 * weight
            axes.plot(
                x,
                y,
                marker="o",
                markersize=size,
                color=series_colour(owner),
                zorder=4,
            )
            axes.text(
                x,
                y - 0.005,
                str(owner + 1),
                fontsize=7.5,
                ha="center",
                va="center",
                color="white",
                zorder=5,
            )


def _draw_legend(axes: Axes, tree: Tree) -> None:
    handles = [
        axes.plot(
            [],
            [],
            label=text,
            **style,
        )[0]
        for text, style in _list_legend(tree).items()
    ]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        frameon=False,
        ncols=len(handles),
        labelcolor=INK,
        fontsize=9,
        borderaxespad=0,
        handletextpad=0.4,
        columnspacing=1.4,
    )


def _list_legend(tree: Tree) -> dict[str, JsonObject]:
    """List what is in the legend, and how it is drawn."""
    circle = {"marker": "o", "markersize": 9, "linestyle": ""}
    legend = {}
    for k, name in enumerate(tree.players):
        legend[f"{k + 1} {clip(name, 24)}"] = {**circle, "color": series_colour(k)}
    if (tree.owner == CHANCE).any():
        legend["chance"] = {
            "marker": "D",
            "markersize": 7,
            "linestyle": "",
            "color": QUIET,
        }
    if group_positions(tree, range(tree.num_nodes)):
        legend["cannot be told apart"] = {
            "marker": "o",
            "markersize": 4,
            "linestyle": (0, (3, 2)),
            "color": QUIET,
        }
    return legend


def tell_branch(tree: Tree, node: int, overlay: Overlay | None = None) -> str:
    """Name the branch to a node: its move, or what chance draws with its odds."""
    overlay = overlay or Overlay()
    name = clip(tree.branch_labels[node], _LONGEST)
    parent = int(tree.parent[node])
    if tree.owner[parent] == CHANCE:
        return f"{name} ({_tell_number(float(tree.probability[node]))})"
    return f"{name} {overlay.chances[node]:.2g}" if node in overlay.chances else name


def tell_payoffs(tree: Tree, leaf: int) -> str:
    """Write what an end pays to everybody."""
    payoffs = tree.payoffs[leaf].tolist()
    return ", ".join(map(_tell_number, payoffs))


def _tell_number(number: float) -> str:
    simple = Fraction(number).limit_denominator(1000)
    is_exact = abs(float(simple) - number) < 1e-12
    if is_exact and simple.denominator not in (1, 2, 4, 5, 10, 20):
        return str(simple).replace("-", "\N{MINUS SIGN}")
    return f"{number:.4g}".replace("-", "\N{MINUS SIGN}")
