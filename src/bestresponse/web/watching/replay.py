"""A play as something to look at: a board that shows where the play is at every step.

table   the payoff table with what was chosen
tree    the game tree with the way taken and its information sets
talk    the messages of a dialogue
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.game import NATURE, REFEREE, AnyGame
from bestresponse.games.capabilities import HasSpeakers, HasTree, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.web.watching.steps import Stage
from bestresponse.web.watching.timeline import draw_timeline
from bestresponse.web.watching.tree_picture import MOST_LEAVES, draw_tree, find_path

__all__ = ["PayoffBoard", "Replay", "build_replay"]

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
