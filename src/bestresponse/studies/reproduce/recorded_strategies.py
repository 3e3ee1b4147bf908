"""Recorded strategies, each written five times by a model (section 5.3, table 8).

*As published*, a strategy fails if the loader says anything at all about it, or if it gives no move
when asked. *Corrected*, rules are right only if they give a move in every situation, whatever
chance does, and a random strategy must be uniform. Rules cut off at `@` (which the original took
for the end of the code although it is an operator of Prolog) stay wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonMapping
from bestresponse.formal.strategies.agents import Agent
from bestresponse.formal.strategies.programs import published_strategy
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.gate.check import check_source
from bestresponse.logic.programs.strategies import StrategyTable
from bestresponse.logic.programs.validate import validate
from bestresponse.report.document import Cell, Column, Table
from bestresponse.studies.reproduce.program_levels import LOADER_SPEAKS, ROUNDS_WITH_CLONE
from bestresponse.studies.reproduce.recorded_programs import Part
from bestresponse.studies.reproduce.recorded_tournament import spell_strategy
from bestresponse.studies.reproduce.reproduction import (
    check_equal,
    read_records,
)

_TABLE_8 = {
    "default-move": 5,
    "anti-default-move": 5,
    "anti-tit-for-tat": 5,
    "random": 3,
    "best-response": 2,
}


@dataclass(frozen=True, slots=True)
class JudgedStrategy:
    """One strategy the model wrote.

    `published` and `corrected` are our verdicts in either mode, `why` the reason for the first that
    is not right; `recorded` is the verdict in the record; `same` whether four rounds played by our
    engine give the recorded moves and payoffs (None where chance or a failure leaves nothing to
    compare).
    """

    strategy: str
    agent: str
    recorded: bool
    published: bool
    corrected: bool
    why: str
    same: bool | None


def judge_strategies(folder: Path) -> list[JudgedStrategy]:
    """Judge all recorded strategies."""
    (game,) = read_records(folder / "exp3_program.jsonl")
    return [
        _judge_strategy(row, game["program"]) for row in read_records(folder / "exp3_agents.jsonl")
    ]


def _judge_strategy(row: JsonMapping, game: str) -> JudgedStrategy:
    """Judge a strategy by its rules alone.

    Only where chance decides does the recorded play count as well.
    """
    name = spell_strategy(row["strategy"])
    spoken = _list_warnings(row["strategy_program"])
    table = None
    why = ""
    try:
        table = Agent(name, game, row["strategy_program"]).seats().table(0)
    except BestResponseError as error:
        why = str(error)
    played = None
    total = None
    if table is not None and table.pure:
        played = _play_rival(table, game)
        total = sum(paid for _, paid in played)
    target = row["target_total"]
    reached = target is None or (total is not None and total == target)
    # A record of all rounds: rules that sometimes give no move may have been lucky.
    lucky = table is None and len(row["moves"]) == ROUNDS_WITH_CLONE
    fine = not spoken and (lucky or (table is not None and reached))
    corrected = table is not None and reached and (name != "random" or _is_uniform(table))
    same = None
    if played is not None and row["moves"]:
        moves = [move for move, _ in played]
        payoffs = [float(paid) for _, paid in played]
        same = moves == row["moves"] and payoffs == row["payoffs"]
    return JudgedStrategy(
        name,
        row["agent"],
        recorded=row["correct"],
        published=fine,
        corrected=corrected,
        why=spoken or why,
        same=same,
    )


def _list_warnings(source: str) -> str:
    """Return what the loader of the original says about a program, each message once."""
    spoken = []
    for diagnostic in check_source(source).diagnostics:
        if diagnostic.code in LOADER_SPEAKS or diagnostic.stage.value == "reader":
            spoken.append(diagnostic.message)
    return "; ".join(dict.fromkeys(spoken))


def _is_uniform(table: StrategyTable) -> bool:
    even = sorted((move, Fraction(1, len(table.moves))) for move in table.moves)
    mixtures = [table.first, *(after for _, after in table.after)]
    return all(sorted(mixture) == even for mixture in mixtures)


def _play_rival(table: StrategyTable, game: str) -> list[tuple[str, Fraction]]:
    """Play four rounds against anti-tit-for-tat; return own moves and payoffs."""
    rival = Agent("rival", game, published_strategy("anti-tit-for-tat")).seats().table(1)
    payoffs = validate(game, EmbeddedEngine()).table
    assert payoffs is not None
    rounds: list[tuple[str, Fraction]] = []
    own = table.first[0][0]
    other = rival.first[0][0]
    for _ in range(ROUNDS_WITH_CLONE):
        rounds.append((own, payoffs.payoffs((own, other))[0]))
        own_reply = table.reply(own, other)[0][0]
        other_reply = rival.reply(other, own)[0][0]
        own = own_reply
        other = other_reply
    return rounds


def check_strategies(folder: Path) -> Part:
    """Compare table 8, each recorded verdict, and the play of deterministic strategies."""
    judged = judge_strategies(folder)
    checks = []
    for name, published in _TABLE_8.items():
        written = [verdict for verdict in judged if verdict.strategy == name]
        right = sum(verdict.published for verdict in written)
        remark = f"corrected: {sum(verdict.corrected for verdict in written)} of {len(written)}"
        checks.append(check_equal(f"table 8, {name}, correct of 5", published, right, remark))
    agreed = sum(verdict.published == verdict.recorded for verdict in judged)
    checks.append(check_equal("verdicts on single strategies", len(judged), agreed))
    replayed = [verdict.same for verdict in judged if verdict.same is not None]
    checks.append(check_equal("recorded plays given by the rules", len(replayed), sum(replayed)))
    titles = ("strategy", "agent", "recorded", "as published", "corrected", "why")
    rows: list[tuple[Cell, ...]] = []
    for verdict in sorted(judged, key=lambda verdict: (verdict.strategy, verdict.agent)):
        if verdict.published and verdict.corrected:
            continue
        row = (
            verdict.strategy,
            verdict.agent,
            verdict.recorded,
            verdict.published,
            verdict.corrected,
            verdict.why,
        )
        rows.append(row)
    columns = tuple(map(Column, titles))
    return checks, Table(columns, tuple(rows), "Formalized strategies that are not right")
