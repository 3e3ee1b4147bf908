"""The tree of a game, from left to right: who moves, what is drawn, what cannot be told apart, and what is paid.

Every end has its own row, with its payoffs at the right, and every move its own line, so that no two labels meet. The
positions of an information set are dots on one dashed line; a circle bears the number of its player, a diamond is
chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from bestresponse.core.errors import UsageError
from bestresponse.report.figures.canvas import INK, QUIET, canvas, label, series_colour, to_png, to_svg
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_ENDS", "draw_tree", "require_tree_picture"]

MOST_ENDS = 150
_ROW = 0.3
"""Inches from one end to the next."""
_LETTER = 0.085
"""Inches that a letter takes at most."""
_MARKER = 0.14
_LANE = 0.13
_LONGEST = 28
_LUCK = "chance"
_UNSEEN = "cannot be told apart"
_SIZE = 8.5


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where everything stands, in inches: `x` by level, `y` by node, `lane` by information set, `bend` by level."""

    x: list[float]
    bend: list[float]
    y: list[float]
    depth: list[int]
    lanes: dict[int, float] = field(default_factory=dict)


def require_tree_picture(tree: Tree) -> None:
    """Refuse a tree that is too large to be drawn."""
    if len(tree.leaves) > MOST_ENDS:
        name = tree.name or "this tree"
        raise UsageError(f"{name} cannot be drawn: it has {len(tree.leaves):,} ends, expected at most {MOST_ENDS}")


def draw_tree(tree: Tree, kind: Literal["svg", "png"] = "svg", path: Collection[int] = ()) -> bytes:
    """Draw a tree as a file, the branches to the nodes of `path` thick; UsageError where it is too large."""
    require_tree_picture(tree)
    layout = _lay_out(tree)
    payoffs = max(len(_tell_payoffs(tree, leaf)) for leaf in tree.leaves.tolist())
    legend = sum(len(text) * _LETTER + 0.55 for text in _list_legend(tree))
    width = max(layout.x[-1] + payoffs * _LETTER + 0.5, legend + 0.4)
    height = len(tree.leaves) * _ROW + 0.9
    with canvas(height=height, width=width, grid="none") as axes:
        _draw_branches(axes, tree, layout, path)
        _draw_information(axes, tree, layout)
        _draw_nodes(axes, tree, layout)
        _draw_legend(axes, tree)
        axes.set_xlim(-0.3, width - 0.2)
        axes.set_ylim(-len(tree.leaves) * _ROW, _ROW)
        axes.axis("off")
        return to_svg(axes) if kind == "svg" else to_png(axes)


def _lay_out(tree: Tree) -> _Layout:
    depth, y = _place_rows(tree)
    lanes, counts = _assign_lanes(tree, depth, y)
    names = [0] * (max(depth) + 1)
    for node in range(1, tree.num_nodes):
        names[depth[node]] = max(names[depth[node]], len(_tell_branch(tree, node)))
    x, bend = [0.0], []
    for level, longest in enumerate(names[1:]):
        bend.append(x[-1] + _MARKER + _LANE * (counts[level] + 1))
        x.append(bend[-1] + longest * _LETTER + 0.3)
    return _Layout(x, [*bend, x[-1]], y, depth, {key: x[depth] + offset for key, (depth, offset) in lanes.items()})


def _place_rows(tree: Tree) -> tuple[list[int], list[float]]:
    """Return the level of every node and its height: ends one row apart, other nodes in the middle of what follows."""
    depth = [0] * tree.num_nodes
    for node, parent in enumerate(tree.parent.tolist()[1:], start=1):
        depth[node] = depth[parent] + 1
    y = [0.0] * tree.num_nodes
    for row, leaf in enumerate(tree.leaves.tolist()):
        y[leaf] = -row * _ROW
    for node in range(tree.num_nodes - 1, -1, -1):
        below = tree.children[node]
        if below:
            y[node] = (y[below[0]] + y[below[-1]]) / 2
    return depth, y


def _assign_lanes(tree: Tree, depth: list[int], y: list[float]) -> tuple[dict[int, tuple[int, float]], list[int]]:
    """Give each information set of several positions a lane of its level in which no other one is beside it.

    Keys are information sets; a set that reaches over several levels takes the lane of its last.
    """
    members = _group(tree)
    taken: list[list[list[tuple[float, float]]]] = [[] for _ in range(max(depth) + 1)]
    lanes: dict[int, tuple[int, float]] = {}
    for infoset, nodes in members.items():
        level = max(depth[node] for node in nodes)
        low, high = min(y[node] for node in nodes), max(y[node] for node in nodes)
        free = (
            number
            for number, lane in enumerate(taken[level])
            if all(high < start - _ROW / 2 or low > stop + _ROW / 2 for start, stop in lane)
        )
        found = next(free, len(taken[level]))
        if found == len(taken[level]):
            taken[level].append([])
        taken[level][found].append((low, high))
        lanes[infoset] = (level, _MARKER + _LANE * found)
    return lanes, [len(one) for one in taken]


def _group(tree: Tree) -> dict[int, list[int]]:
    """Return the positions of each information set that has several."""
    found: dict[int, list[int]] = defaultdict(list)
    for node, infoset in enumerate(tree.infoset.tolist()):
        if infoset >= 0:
            found[infoset].append(node)
    return {infoset: nodes for infoset, nodes in found.items() if len(nodes) > 1}


def _draw_branches(axes: Axes, tree: Tree, layout: _Layout, path: Collection[int]) -> None:
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        level = layout.depth[parent]
        start, bend = layout.x[level], layout.bend[level]
        stop = layout.x[-1 if int(tree.owner[node]) == LEAF else level + 1]
        axes.plot(
            [start, bend, bend, stop],
            [layout.y[parent], layout.y[parent], layout.y[node], layout.y[node]],
            color=INK if node in path else QUIET, linewidth=2.4 if node in path else 0.9, solid_joinstyle="round",
            zorder=1,
        )  # fmt: skip
        axes.text(bend + 0.06, layout.y[node] + 0.025, _tell_branch(tree, node), fontsize=_SIZE, va="bottom", color=INK)


def _draw_information(axes: Axes, tree: Tree, layout: _Layout) -> None:
    for infoset, nodes in _group(tree).items():
        colour = series_colour(tree.infosets[infoset].player)
        lane = layout.lanes[infoset]
        heights = [layout.y[node] for node in nodes]
        axes.plot([lane] * len(nodes), heights, color=colour, linewidth=1.3, linestyle=(0, (3, 2)), zorder=2)
        for node in nodes:
            x = lane if layout.depth[node] == max(layout.depth[one] for one in nodes) else layout.x[layout.depth[node]]
            axes.plot([x, lane], [layout.y[node]] * 2, color=colour, linewidth=1.3, linestyle=(0, (3, 2)), zorder=2)
            axes.plot(lane, layout.y[node], marker="o", markersize=4, color=colour, zorder=3)


def _draw_nodes(axes: Axes, tree: Tree, layout: _Layout) -> None:
    for node in range(tree.num_nodes):
        owner, x, y = int(tree.owner[node]), layout.x[layout.depth[node]], layout.y[node]
        if owner == LEAF:
            axes.text(layout.x[-1] + 0.08, y, _tell_payoffs(tree, node), fontsize=_SIZE, va="center", color=INK)
        elif owner == CHANCE:
            axes.plot(x, y, marker="D", markersize=8, color=QUIET, zorder=4)
        else:
            axes.plot(x, y, marker="o", markersize=12, color=series_colour(owner), zorder=4)
            axes.text(x, y - 0.005, str(owner + 1), fontsize=7.5, ha="center", va="center", color="white", zorder=5)


def _draw_legend(axes: Axes, tree: Tree) -> None:
    handles = []
    for number, text in enumerate(_list_legend(tree)):
        if text == _UNSEEN:
            handles += axes.plot([], [], color=QUIET, linestyle=(0, (3, 2)), marker="o", markersize=4, label=text)
        elif text == _LUCK:
            handles += axes.plot([], [], marker="D", markersize=7, linestyle="", color=QUIET, label=text)
        else:
            colour = series_colour(number)
            handles += axes.plot([], [], marker="o", markersize=9, linestyle="", color=colour, label=text)
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False, ncols=len(handles), labelcolor=INK,
        fontsize=9, borderaxespad=0, handletextpad=0.4, columnspacing=1.4,
    )  # fmt: skip


def _list_legend(tree: Tree) -> list[str]:
    players = [f"{k + 1} {label(who, 24)}" for k, who in enumerate(tree.players)]
    luck = [_LUCK] if (tree.owner == CHANCE).any() else []
    return [*players, *luck, *([_UNSEEN] if _group(tree) else [])]


def _tell_branch(tree: Tree, node: int) -> str:
    name = label(tree.branch_labels[node], _LONGEST)
    if int(tree.owner[int(tree.parent[node])]) != CHANCE:
        return name
    return f"{name} ({_tell_number(float(tree.probability[node]))})"


def _tell_payoffs(tree: Tree, leaf: int) -> str:
    return ", ".join(_tell_number(float(u)) for u in tree.payoffs[leaf])


def _tell_number(number: float) -> str:
    simple = Fraction(number).limit_denominator(1000)
    if simple.denominator > 1 and abs(float(simple) - number) < 1e-12 and simple.denominator not in (2, 4, 5, 10, 20):
        return str(simple).replace("-", "\N{MINUS SIGN}")
    return f"{number:.4g}".replace("-", "\N{MINUS SIGN}")
