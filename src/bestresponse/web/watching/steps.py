"""A play step by step and as a picture: who was asked, what they saw, said and lost by it, and a
board for each stage.

table   the payoff table with what was chosen
tree    the game tree with the way taken and its information sets
talk    the messages of a dialogue
rounds  a line chart of what each seat did and got, round by round

What is computed here of pictures are places; `pictures.html` draws them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from bestresponse.analysis.costs import price_against_equilibrium, price_against_strategies
from bestresponse.core.capabilities import PlayedRounds, RoundHistory
from bestresponse.core.episode import Record
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Role
from bestresponse.core.json import JsonMapping
from bestresponse.games.capabilities import HasSpeakers, HasTree, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.players.lookup import find_known_strategies
from bestresponse.report.figures.tree import MOST_ENDS, draw_tree
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree
from bestresponse.web.sessions.session import format_action, trace_states


@dataclass(frozen=True, slots=True)
class Step:
    """One answer.

    `stage` counts the states that were passed: answers given at the same time have the same.
    `regret` is what the best reply to the others would have earned more (`analysis.costs`),
    `regret_equilibrium` what this answer loses against others who play the equilibrium; None where
    that is not known.
    """

    number: int
    stage: int
    role: Role
    action: str
    status: str
    how: str
    stand_in: str
    words: str
    situation: str
    prompts: tuple[str, ...]
    regret: float | None = None
    regret_equilibrium: float | None = None


@dataclass(frozen=True, slots=True)
class ReplayStage:
    """Answers that were given in the same state; what everybody had earned before them where that
    is new."""

    number: int
    steps: tuple[Step, ...]
    earned: Mapping[Role, float]


def list_steps(
    record: Record, game: AnyGame | None, calls: Iterable[JsonMapping] = ()
) -> list[Step]:
    """List every answer in its order, with the view it was given from where the game is known."""
    asked = _group_calls(record, calls)
    states = trace_states(game, record.submissions) if game else range(len(record.submissions) + 1)
    steps: list[Step] = []
    stage = 0
    for number, (submission, state) in enumerate(zip(record.submissions, states, strict=False), 1):
        view = game.view(state, submission.role) if game else None
        decision = submission.decision
        prompts: list[str] = []
        for call in asked.get(number, []):
            prompts += [f"{role}:\n{content}" for role, content in call["request"]["messages"]]
            prompts.append(f"{call['model']}:\n{call['reply']['text']}")
        answer = (
            format_action(decision.action),
            decision.reading.status.value,
            decision.reading.how,
        )
        words = (
            decision.stand_in,
            decision.reasoning,
            write_history(view) or write_rules(view) if view else "",
        )
        steps.append(Step(number, stage, submission.role, *answer, *words, tuple(prompts)))
        stage += states[number] is not state
    return steps


def list_stages(
    record: Record, game: AnyGame | None, calls: Iterable[JsonMapping] = ()
) -> list[ReplayStage]:
    """List the answers in groups of those that were given at the same time, with what each cost;
    solves the game."""
    known = {} if game is None else find_known_strategies(game, record.players)
    replies = price_against_strategies(record, game, known)
    equilibrium = price_against_equilibrium(record, game)
    groups: dict[int, list[Step]] = {}
    for step in list_steps(record, game, calls):
        reply = replies.get(step.number)
        expected = equilibrium.get(step.number)
        priced = replace(
            step,
            regret=None if reply is None else reply.cost,
            regret_equilibrium=None if expected is None else expected.cost,
        )
        groups.setdefault(step.stage, []).append(priced)
    stages: list[ReplayStage] = []
    states = trace_states(game, record.submissions) if game else []
    before: Mapping[Role, float] = {}
    for number, steps in enumerate(groups.values(), 1):
        earned = game.payoffs(states[steps[0].number - 1]) if game else {}
        stages.append(ReplayStage(number, tuple(steps), {} if earned == before else earned))
        before = earned
    return stages


def _group_calls(record: Record, calls: Iterable[JsonMapping]) -> dict[int, list[JsonMapping]]:
    """Group the calls that led to each answer, by its number: those up to the one that the answer
    was read from.

    Calls after the last reply that can be told are with the last answer of their seat.
    """
    waiting: dict[Role, list[JsonMapping]] = {}
    for call in calls:
        waiting.setdefault(call["role"], []).append(call)
    grouped: dict[int, list[JsonMapping]] = {}
    last: dict[Role, int] = {}
    for number, submission in enumerate(record.submissions, 1):
        seat_calls = waiting.get(submission.role, [])
        words = submission.decision.reasoning.strip()
        replies = [call["reply"]["text"].strip() for call in seat_calls if words]
        read = next(
            (k for k, reply in enumerate(replies) if reply and (reply in words or words in reply)),
            None,
        )
        if read is not None:
            grouped[number], waiting[submission.role] = (
                seat_calls[: read + 1],
                seat_calls[read + 1 :],
            )
        if seat_calls:
            last[submission.role] = number
    for role, left in waiting.items():
        if left and role in last:
            grouped[last[role]] = [*grouped.get(last[role], []), *left]
    return grouped


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
    """A figure of every round, from `low` to `high`: a line for each seat, or one where it is the
    same for all."""

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
    """Measure the regrets against the others (else against the equilibrium); empty where none is
    known."""
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
    """Return how much of each cell was chosen at this stage; a seat that did not answer leaves its
    side open."""
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
