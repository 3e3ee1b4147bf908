"""A game tree as a picture: moves on the branches, information sets as dashed lines, payoffs below the leaves.

Nodes and branches carry their numbers, so that a replay can mark the way that was taken.
"""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["MOST_LEAVES", "draw_tree", "find_path"]

MOST_LEAVES = 80
_ACROSS, _DOWN, _MARGIN = 58.0, 74.0, 34.0
Place = tuple[float, float]


def find_path(tree: Tree, node: int) -> list[int]:
    """List the nodes from the root to `node`."""
    path = [node]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def draw_tree(tree: Tree) -> Markup:
    """Draw the tree; it should have at most MOST_LEAVES leaves."""
    places = _place_nodes(tree)
    width = max(x for x, _ in places) + _MARGIN
    height = max(y for _, y in places) + 14.0 + 16.0 * tree.num_players
    parts = [*_draw_infosets(tree, places), *_draw_branches(tree, places), *_draw_nodes(tree, places)]
    size = Markup('viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}"').format(width, height)
    label = f"Game tree with {tree.num_nodes} nodes and {len(tree.infosets)} information sets"
    frame = Markup('<svg class="tree" {} role="img" aria-label="{}">').format(size, label)
    return frame + Markup("").join(parts) + Markup("</svg>")


def _place_nodes(tree: Tree) -> list[Place]:
    depth = [0] * tree.num_nodes
    for node, parent in enumerate(tree.parent.tolist()[1:], 1):
        depth[node] = depth[parent] + 1
    across = [0.0] * tree.num_nodes
    leaves = 0
    for node in range(tree.num_nodes):
        if int(tree.owner[node]) == LEAF:
            across[node] = leaves
            leaves += 1
    for node in range(tree.num_nodes - 1, -1, -1):
        below = tree.children[node]
        if below:
            across[node] = sum(across[child] for child in below) / len(below)
    return [(_MARGIN + _ACROSS * x, _MARGIN + _DOWN * y) for x, y in zip(across, depth, strict=True)]


def _draw_infosets(tree: Tree, places: list[Place]) -> list[Markup]:
    found = []
    for index in range(len(tree.infosets)):
        nodes = [node for node in range(tree.num_nodes) if int(tree.infoset[node]) == index]
        if len(nodes) > 1:
            line = Markup('<path class="infoset" data-infoset="{}" d="{}"/>')
            found.append(line.format(index, _curve([places[node] for node in nodes], 14.0 + 7.0 * (index % 4))))
    return found


def _curve(points: list[Place], bulge: float) -> str:
    """Return a line through the points that bends upwards between them, so that two such lines can be told apart."""
    bends = [
        f"Q{(x1 + x2) / 2:.1f},{min(y1, y2) - bulge:.1f} {x2:.1f},{y2:.1f}" for (x1, y1), (x2, y2) in pairwise(points)
    ]
    return f"M{points[0][0]:.1f},{points[0][1]:.1f} " + " ".join(bends)


def _draw_branches(tree: Tree, places: list[Place]) -> list[Markup]:
    found = []
    for node in range(1, tree.num_nodes):
        (x1, y1), (x2, y2) = places[int(tree.parent[node])], places[node]
        line = Markup('<line class="branch" data-node="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
        text = Markup('<text class="move" data-node="{}" x="{:.1f}" y="{:.1f}">{}</text>')
        found.append(line.format(node, x1, y1, x2, y2))
        found.append(text.format(node, x1 + 0.6 * (x2 - x1), y1 + 0.6 * (y2 - y1), tree.branch_labels[node][:12]))
    return found


def _draw_nodes(tree: Tree, places: list[Place]) -> list[Markup]:
    found = []
    for node, (x, y) in enumerate(places):
        owner = int(tree.owner[node])
        if owner == LEAF:
            found += [
                Markup('<text class="leaf" data-node="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(
                    node, x, y + 14 + 16 * seat, f"{pay:g}"
                )
                for seat, pay in enumerate(tree.payoffs[node])
            ]
            continue
        kind = "chance" if owner == CHANCE else f"seat{owner % 4}"
        who = "chance" if owner == CHANCE else tree.players[owner]
        place = Markup('cx="{:.1f}" cy="{:.1f}" r="9"').format(x, y)
        circle = Markup('<circle class="node {}" data-node="{}" data-infoset="{}" {}><title>{}</title></circle>')
        found.append(circle.format(kind, node, int(tree.infoset[node]), place, who))
    return found
