"""A play as something to look at: a board that shows where the play is at every step, and a chart of what answers cost.

table   the payoff table with what was chosen
tree    the game tree with the way taken and its information sets
talk    the messages of a dialogue
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.game import NATURE, REFEREE, AnyGame
from bestresponse.games.capabilities import HasSpeakers, HasTree, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree
from bestresponse.web.watching.steps import Stage

__all__ = ["MOST_LEAVES", "PayoffBoard", "Replay", "build_replay", "draw_timeline", "draw_tree", "find_path"]

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


_WIDTH, _HEIGHT, _PAD = 640.0, 120.0, 8.0
_WIDEST = 14.0


def draw_timeline(stages: Sequence[Stage], roles: Sequence[str]) -> Markup:
    """Draw bars for the regrets against the others (else against the equilibrium); empty where none is known."""
    costs = [[_read_cost(stage, role) for role in roles] for stage in stages]
    most = max((cost for row in costs for cost in row if cost is not None), default=None)
    if len(stages) < 2 or most is None:
        return Markup("")
    step = (_WIDTH - 2 * _PAD) / len(stages)
    bars = [
        _draw_bar(number, seat, cost, most, step, len(roles))
        for number, row in enumerate(costs)
        for seat, cost in enumerate(row)
        if cost is not None
    ]
    cursor = Markup('<rect class="cursor" data-step="{:.2f}" data-pad="{}" x="{}" y="0" width="{:.2f}" height="{}"/>')
    label = f"Regret of {len(stages)} steps; the largest is {most:.4g}"
    frame = Markup('<svg class="timeline" viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="none">')
    return (
        frame.format(_WIDTH, _HEIGHT, label)
        + cursor.format(step, _PAD, _PAD, step, _HEIGHT)
        + Markup("").join(bars)
        + Markup("</svg>")
    )


def _read_cost(stage: Stage, role: str) -> float | None:
    own = [step for step in stage.steps if step.role == role]
    if not own:
        return None
    return own[-1].regret if own[-1].regret is not None else own[-1].regret_equilibrium


def _draw_bar(number: int, seat: int, cost: float, most: float, step: float, seats: int) -> Markup:
    room = _HEIGHT - 2 * _PAD
    high = max(2.0, room * cost / most) if most > 0 else 2.0
    wide = min(0.7 * step / seats, _WIDEST)
    left = _PAD + step * (number + 0.5) + (seat - seats / 2) * wide
    place = Markup('x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"').format(
        left, _HEIGHT - _PAD - high, wide, high
    )
    bar = Markup('<rect class="bar seat{}" data-go="{}" {}><title>{}</title></rect>')
    return bar.format(seat % 4, number, place, f"step {number + 1}: {cost:.4g}")


_MOST_CELLS = 400
_NOTHING = Markup("")


@dataclass(frozen=True, slots=True)
class PayoffBoard:
    """A payoff table of two players: names of rows and columns, and the payoffs of every cell."""

    players: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True)
class Replay:
    """What is drawn for a play; the lists have an entry for every stage.

    `weights` tells how much of each cell of the table was chosen, row by row; `paths` the nodes of the tree so far.
    """

    table: PayoffBoard | None = None
    tree: Markup = _NOTHING
    timeline: Markup = _NOTHING
    talk: bool = False
    seats: dict[str, int] = field(default_factory=dict)
    weights: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def build_replay(record: Record, game: AnyGame | None, stages: Sequence[Stage]) -> Replay:
    """Build what is drawn; only the timeline where the game is not known."""
    roles = list(dict.fromkeys(s.role for s in record.submissions if s.role not in (NATURE, REFEREE)))
    seats = {role: number % 4 for number, role in enumerate(game.roles if game else roles)}
    timeline = draw_timeline(stages, roles)
    if game is None:
        return Replay(timeline=timeline, seats=seats)
    form = find_stage_form(game)
    if form is not None and form.num_players == 2 and form.payoffs[0].size <= _MOST_CELLS:
        weights = tuple(_weigh_cells(form, stage, record) for stage in stages)
        return Replay(table=_make_board(form), timeline=timeline, seats=seats, weights=weights)
    if isinstance(game, HasTree) and len(game.tree.leaves) <= MOST_LEAVES:
        nodes = _list_nodes(record, game)
        if nodes:
            paths = tuple(",".join(map(str, find_path(game.tree, nodes[stage.steps[-1].number]))) for stage in stages)
            return Replay(tree=draw_tree(game.tree), timeline=timeline, seats=seats, paths=paths)
    return Replay(timeline=timeline, talk=isinstance(game, HasSpeakers), seats=seats)


def _make_board(form: NormalForm) -> PayoffBoard:
    shape = form.payoffs[0].shape
    cells = tuple(
        tuple((float(form.payoffs[0][i, j]), float(form.payoffs[1][i, j])) for j in range(shape[1]))
        for i in range(shape[0])
    )
    return PayoffBoard(form.players, form.actions[0], form.actions[1], cells)


def _weigh_cells(form: NormalForm, stage: Stage, record: Record) -> str:
    """Return how much of each cell was chosen at this stage; a seat that did not answer leaves its side open."""
    given = {step.role: record.submissions[step.number - 1].decision.action for step in stage.steps}
    sides = []
    for role, actions in zip(form.players, form.actions, strict=True):
        answer = given.get(role)
        known = (isinstance(answer, str) and answer in actions) or isinstance(answer, tuple | list)
        sides.append(as_strategy(answer, actions) if known else np.ones(len(actions)))
    if not any(role in given for role in form.players):
        return ""
    return ",".join(f"{weight:.3g}" for weight in np.outer(sides[0], sides[1]).ravel())


def _list_nodes(record: Record, game: AnyGame) -> dict[int, int]:
    """List by number of the answer the node that the play came to; empty where states are no nodes."""
    episode: AnyEpisode = Episode(game)
    found: dict[int, int] = {}
    for number, submission in enumerate(record.submissions, 1):
        episode.submit(submission.role, submission.decision)
        if not isinstance(episode.state, int):
            return {}
        found[number] = episode.state
    return found
