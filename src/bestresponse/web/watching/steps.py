"""A play as a picture: a board for each stage.

table   the payoff table with what was chosen
tree    the game tree with the way taken and its information sets
talk    the messages of a dialogue
rounds  a line chart of what each seat did and got, round by round

What is computed here of pictures are places; `pictures.html` draws them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from bestresponse.core.capabilities import PlayedRounds, RoundHistory
from bestresponse.core.episode import Record
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Role
from bestresponse.games.capabilities import HasSpeakers, HasTree, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.report.figures.tree import MOST_ENDS, draw_tree
from bestresponse.runs.reporting.steps import ReplayStage, trace_states
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

_MOST_CELLS = 400
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Bar:
    """What the answer of a seat cost."""

    step: int
    seat: int
    cost: float


@dataclass(frozen=True, slots=True)
class RoundChart:
    """A figure of every round, from `low` to `high`.

    It has a line for each seat, or one if it is the same for all.
    """

    title: str
    low: float
    high: float
    lines: dict[str, list[float | None]]


@dataclass(frozen=True)
class ReplayBoard:
    """What is drawn for a play; the lists have an entry for every stage.

    `weights` tells how much of each cell of the table was chosen, row by row; `paths` the nodes of
    the tree so far, whose branches have the ids `node1`, `node2`, ... in its picture.
    """

    table: NormalForm | None = None
    tree: bytes = b""
    bars: list[Bar] = field(default_factory=list)
    talk: bool = False
    seats: dict[str, int] = field(default_factory=dict)
    weights: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    charts: tuple[RoundChart, ...] = ()
    rounds: PlayedRounds | None = None


def build_replay(
    record: Record, game: AnyGame | None, stages: Sequence[ReplayStage]
) -> ReplayBoard:
    """Build what is drawn; only the chart of costs where the game is not known."""
    roles = list(
        dict.fromkeys(s.role for s in record.submissions if s.role not in (NATURE, REFEREE))
    )
    seats = {role: number % 6 for number, role in enumerate(game.roles if game else roles)}
    bars = _measure_bars(stages, roles)
    if game is None:
        return ReplayBoard(bars=bars, seats=seats)
    form = find_stage_form(game)
    if form is not None and form.num_players == 2 and form.payoffs[0].size <= _MOST_CELLS:
        weights = tuple(_weigh_cells(form, stage, record) for stage in stages)
        return ReplayBoard(form, bars=bars, seats=seats, weights=weights)
    if isinstance(game, HasTree) and len(game.tree.leaves) <= MOST_ENDS:
        states = trace_states(game, record.submissions)
        if isinstance(states[-1], int):
            paths = tuple(
                ",".join(_list_path(game.tree, states[stage.steps[-1].number])) for stage in stages
            )
            return ReplayBoard(tree=_draw_once(game.tree), bars=bars, seats=seats, paths=paths)
    if isinstance(game, RoundHistory):
        state = trace_states(game, record.submissions)[-1]
        tables = {role: game.list_rounds(state, role) for role in game.roles}
        return ReplayBoard(
            bars=bars, seats=seats, charts=_chart_rounds(tables), rounds=tables[game.roles[0]]
        )
    return ReplayBoard(bars=bars, talk=isinstance(game, HasSpeakers), seats=seats)


def _chart_rounds(tables: Mapping[Role, PlayedRounds]) -> tuple[RoundChart, ...]:
    """Make a chart of every column that tells of the seat itself or of the round."""
    charts: list[RoundChart] = []
    for index, column in enumerate(next(iter(tables.values())).columns[1:], 1):
        # A cell may hold more than its number, as "$12.50, served" does, or none.
        cells = {
            role: [_NUMBER.search(str(row[index])) for row in table.rows]
            for role, table in tables.items()
        }
        lines = {
            role: [float(number[0]) if number else None for number in row]
            for role, row in cells.items()
        }
        numbers = [number for line in lines.values() for number in line if number is not None]
        # What the others did is in their own tables, as what they did themselves.
        if column in tables or not numbers:
            continue
        title = "choice" if column == "you" else column.removeprefix("your ")
        if len({tuple(line) for line in lines.values()}) == 1:
            lines = {title: next(iter(lines.values()))}
        charts.append(RoundChart(title, min(0.0, *numbers), max(numbers), lines))
    return tuple(charts)


def _measure_bars(stages: Sequence[ReplayStage], roles: Sequence[str]) -> list[Bar]:
    """Measure the regrets against the others (else against the equilibrium).

    Returns an empty result where none is known.
    """
    bars: list[Bar] = []
    for number, stage in enumerate(stages if len(stages) > 1 else ()):
        for step in stage.steps:
            cost = step.regret_equilibrium if step.regret is None else step.regret
            if step.role in roles and cost is not None:
                bars.append(Bar(number, roles.index(step.role), cost))
    return bars


_draw_once = lru_cache(maxsize=64)(draw_tree)


def _list_path(tree: Tree, node: int) -> list[str]:
    """List the nodes from the root to `node`."""
    path = [node]
    while path[-1] > 0:
        path.append(int(tree.parent[path[-1]]))
    return list(map(str, reversed(path)))


def _weigh_cells(form: NormalForm, stage: ReplayStage, record: Record) -> str:
    """Return how much of each cell was chosen at this stage.

    A seat that did not answer leaves its side open.
    """
    answers = {
        step.role: record.submissions[step.number - 1].decision.action for step in stage.steps
    }
    if not any(role in answers for role in form.players):
        return ""
    sides = []
    for role, actions in zip(form.players, form.actions, strict=True):
        answer = answers.get(role)
        known = answer in actions if isinstance(answer, str) else isinstance(answer, tuple | list)
        sides.append(as_strategy(answer, actions) if known else np.ones(len(actions)))
    return ",".join(f"{weight:.3g}" for weight in np.outer(sides[0], sides[1]).ravel())
