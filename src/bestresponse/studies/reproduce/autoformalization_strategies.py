"""The published formalization of five strategies, found again from its records.

Mensfelt, Stathis and Trencsenyi 2024, section 5.3 and table 8: a model wrote each strategy five times; each played four
rounds of the prisoner's dilemma against a clone with anti-tit-for-tat, and its total was compared with the target.

*As published*, a strategy fails if the loader says anything at all about it, or if it gives no move when asked.
*Corrected*, warnings do not count, rules cut off at `@` (which the original took for the end of the code although it is
an operator of Prolog) stay wrong, and rules are right only if they give a move in every situation, whatever chance
does; a random strategy must be uniform.
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
from bestresponse.logic.gate.check import check
from bestresponse.logic.programs.strategies import StrategyTable
from bestresponse.logic.programs.validate import validate
from bestresponse.report.document import Column, Table
from bestresponse.studies.reproduce.autoformalization_tournament import spell_strategy
from bestresponse.studies.reproduce.reproduction import Check, read_records

PUBLISHED = {"default-move": 5, "anti-default-move": 5, "anti-tit-for-tat": 5, "random": 3, "best-response": 2}
"""Table 8, of five."""

ROUNDS = 4
_LOADER_SPEAKS = {"singleton", "marked", "discontiguous", "syntax"}


@dataclass(frozen=True, slots=True)
class JudgedStrategy:
    """One strategy the model wrote. `published` and `corrected` are our verdicts in either mode, `why` the reason for
    the first that is not right; `recorded` is the verdict in the record; `same` whether four rounds played by our
    engine give the recorded moves and payoffs (None where chance or a failure leaves nothing to compare)."""

    strategy: str
    agent: str
    recorded: bool
    published: bool
    corrected: bool
    why: str
    same: bool | None


def judge_all(folder: Path) -> tuple[JudgedStrategy, ...]:
    """All recorded strategies."""
    (game,) = read_records(folder / "exp3_program.jsonl")
    return tuple(judge_strategy(row, game["program"]) for row in read_records(folder / "exp3_agents.jsonl"))


def judge_strategy(row: JsonMapping, game: str) -> JudgedStrategy:
    """One of them, from its rules alone; only where chance decides does the recorded play count as well."""
    name = spell_strategy(row["strategy"])
    loud = (
        d for d in check(row["strategy_program"]).diagnostics if d.code in _LOADER_SPEAKS or d.stage.value == "reader"
    )
    spoken = "; ".join(dict.fromkeys(diagnostic.message for diagnostic in loud))
    table, why = None, ""
    try:
        table = Agent(name, game, row["strategy_program"]).seats().table(0)
    except BestResponseError as error:
        why = str(error)
    played = _play(table, game) if table is not None and table.pure else None
    total = None if played is None else float(sum(paid for _, paid in played))
    reached = row["target_total"] is None or total == row["target_total"]
    # A record of all rounds: rules that sometimes give no move may have been lucky.
    lucky = table is None and len(row["moves"]) == ROUNDS
    fine = not spoken and (lucky or (table is not None and reached))
    corrected = table is not None and reached and (name != "random" or _uniform(table))
    same = None
    if played is not None and row["moves"]:
        same = [m for m, _ in played] == row["moves"] and [float(p) for _, p in played] == row["payoffs"]
    return JudgedStrategy(name, row["agent"], row["correct"], fine, corrected, spoken or why, same)


def _uniform(table: StrategyTable) -> bool:
    even = Fraction(1, len(table.moves))
    mixtures = (table.first, *(mixture for _, mixture in table.after))
    return all(sorted(m for m, _ in mix) == sorted(table.moves) and {p for _, p in mix} == {even} for mix in mixtures)


def _play(table: StrategyTable, game: str) -> list[tuple[str, Fraction]]:
    """Four rounds against anti-tit-for-tat: own moves and payoffs."""
    rival = Agent("rival", game, published_strategy("anti-tit-for-tat")).seats().table(1)
    payoffs = validate(game, EmbeddedEngine()).table
    assert payoffs is not None
    rounds: list[tuple[str, Fraction]] = []
    own, other = table.first[0][0], rival.first[0][0]
    for _ in range(ROUNDS):
        rounds.append((own, payoffs.payoffs((own, other))[0]))
        own, other = table.reply(own, other)[0][0], rival.reply(other, own)[0][0]
    return rounds


def strategy_checks(folder: Path) -> tuple[Check, ...]:
    """Table 8, each verdict of the record, and the recorded play of every strategy that leaves nothing to chance."""
    judged = judge_all(folder)
    checks = []
    for name, published in PUBLISHED.items():
        mine = [one for one in judged if one.strategy == name]
        found = sum(one.published for one in mine)
        remark = f"corrected: {sum(one.corrected for one in mine)} of {len(mine)}"
        checks.append(Check(f"table 8, {name}, correct of 5", published, found, found == published, remark))
    agreed = sum(one.published == one.recorded for one in judged)
    checks.append(Check("verdicts on single strategies", len(judged), agreed, agreed == len(judged)))
    replayed = [one.same for one in judged if one.same is not None]
    again = sum(bool(same) for same in replayed)
    checks.append(Check("recorded plays given by the rules", len(replayed), again, again == len(replayed)))
    return tuple(checks)


def strategy_table_of(folder: Path) -> Table:
    """Every strategy that is wrong in either mode, and why."""
    titles = ("strategy", "agent", "recorded", "as published", "corrected", "why")
    rows = tuple(
        (one.strategy, one.agent, one.recorded, one.published, one.corrected, one.why)
        for one in sorted(judge_all(folder), key=lambda one: (one.strategy, one.agent))
        if not (one.published and one.corrected)
    )
    return Table(tuple(map(Column, titles)), rows, "Formalized strategies that are not right")
