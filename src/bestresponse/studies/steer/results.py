"""What a steering run measured: rows, and the figures as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from bestresponse.core.json import JsonObject
from bestresponse.report.metrics import Heads, Metric, Value
from bestresponse.runs.study import Measured
from bestresponse.studies.steer.psro.judging import table_nash_conv
from bestresponse.studies.steer.psro.oracles import Response
from bestresponse.studies.steer.psro.search import PsroResult
from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.summary import (
    DialogueRow,
    Worth,
    fresh_worth,
    held_out_worth,
    make_game_row,
    recorded_worth,
    shown,
    summarise,
    table_worth,
    unguided_mixes,
)

__all__ = ["METRICS", "SteerMeasured", "list_groups", "list_rows"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What guidance earns on one set of texts or games, with the NashConv of guided and of unguided talk there."""

    worth: Worth
    nash_conv: Value = None
    unguided_nash_conv: Value = None


_DEVIATE = "what all could gain by deviating alone; 0 at an equilibrium"
METRICS: tuple[Metric[Evaluation], ...] = (
    Metric(
        "gain",
        "gain",
        "what a speaker earns more by guidance while the others stay unguided, mean over speakers",
        "",
        ".3f",
        lambda one: shown(one.worth.gain),
    ),
    Metric(
        "margin",
        "margin",
        "what the guided speaker earns more than the unguided ones in the same dialogue, mean over speakers",
        "",
        ".3f",
        lambda one: shown(one.worth.margin),
    ),
    Metric(
        "relative_gain",
        "guided earns more by",
        "the gain as a share of what unguided speakers earn",
        "",
        ".1%",
        lambda one: one.worth.relative,
    ),
    Metric(
        "won",
        "dialogues won",
        "share of dialogues in which the guided speaker earns most; a tie counts for half",
        "",
        ".3f",
        lambda one: shown(one.worth.won),
    ),
    Metric("nash_conv", "NashConv of the policy", _DEVIATE, "", ".3f", lambda one: one.nash_conv),
    Metric("unguided_nash_conv", "NashConv of unguided talk", _DEVIATE, "", ".3f", lambda one: one.unguided_nash_conv),
)
"""Every figure of an evaluation, in the order of the columns."""


class ResponseRow(TypedDict):
    """One player in one iteration of PSRO; `new` is empty where nothing better was found or looked for."""

    iteration: int
    player: int
    prompts: int
    new: str | None
    value: float | None
    tried: int
    rejected: list[str]


@dataclass(frozen=True)
class SteerMeasured(Measured):
    """What a steering run measured, with the solved games themselves for the report."""

    steered: SteerResults = field(kw_only=True)

    @property
    def summary(self) -> JsonObject:
        """The frames and what else is known of the solution, as plain data."""
        return super().summary | summarise(self.steered)


def list_rows(steered: SteerResults) -> tuple[str, type, list[DialogueRow] | list[ResponseRow]]:
    """List one row for each game; with PSRO one for each iteration and player."""
    if steered.psro is None:
        return "games", DialogueRow, [make_game_row(game) for game in (*steered.games, *steered.held_out)]
    rows = [
        _make_response_row(number, seat, len(prompts), next((r for r in step.responses if r.seat == seat), None))
        for number, step in enumerate(steered.psro.history)
        for seat, prompts in enumerate(step.prompts)
    ]
    return "responses", ResponseRow, rows


def list_groups(steered: SteerResults) -> dict[Heads, Evaluation]:
    """List what is evaluated: texts that were solved and fresh ones; with PSRO the search and held-out games."""
    return _evaluate_cfr(steered) if steered.psro is None else _evaluate_psro(steered, steered.psro)


def _evaluate_cfr(steered: SteerResults) -> dict[Heads, Evaluation]:
    ends = (shown(steered.interval(name)) for name in ("nash_conv", "unguided_nash_conv"))
    found: dict[Heads, Evaluation] = {("recorded texts",): Evaluation(recorded_worth(steered), *ends)}
    fresh = fresh_worth(steered, steered.games)
    return found if fresh.gain is None else found | {("fresh texts",): Evaluation(fresh)}


def _evaluate_psro(steered: SteerResults, psro: PsroResult) -> dict[Heads, Evaluation]:
    unguided = unguided_mixes(psro, steered.domain.manners(steered.config.actions).neutral)
    ends = (table_nash_conv(psro.game, mixes) for mixes in (psro.solution.marginals, unguided))
    found: dict[Heads, Evaluation] = {("plays of the search",): Evaluation(table_worth(steered, psro), *ends)}
    if steered.psro_held_out is None:
        return found
    return found | {("held-out games",): Evaluation(held_out_worth(steered, steered.psro_held_out))}


def _make_response_row(iteration: int, seat: int, prompts: int, response: Response | None) -> ResponseRow:
    best = None if response is None else response.best
    return ResponseRow(
        iteration=iteration,
        player=seat + 1,
        prompts=prompts,
        new=None if best is None else best.manner,
        value=None if response is None else response.value,
        tried=0 if response is None else len(response.tried),
        rejected=[] if response is None else list(response.rejected),
    )
