"""How much of a story a program has caught, level by level, each verdict with its reason.

The levels are those of Mensfelt, Stathis and Trencsenyi (2024, section 3): *syntactic* (it can be loaded), *functional*
(it plays to an end with a payoff for everybody), *approximate* (the players' total payoffs are right), *exact* (the
payoffs of every end are), and the *constraints* of a named game; and beyond them *order* (every player ranks the ends
as it should) and *equivalent* (the same game up to positive affine payoffs and names).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.formal.evaluate.equivalence import compare_tables, find_broken_order
from bestresponse.formal.evaluate.named_games import Named, check_constraints
from bestresponse.logic.language.diagnostics import Stage
from bestresponse.logic.programs.table import GameTable
from bestresponse.logic.programs.validate import Report


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict and why it is not yes. `ok` is None where the question does not arise."""

    ok: bool | None
    why: str = ""


NOT_ASKED = Finding(None)


@dataclass(frozen=True, slots=True)
class Levels:
    """One finding per level, the weakest demand first."""

    syntactic: Finding
    functional: Finding
    approximate: Finding = NOT_ASKED
    exact: Finding = NOT_ASKED
    order: Finding = NOT_ASKED
    constraints: Finding = NOT_ASKED
    equivalent: Finding = NOT_ASKED
    verdict: str = "no game"
    """How the game is related to the true one, as `compare` says it."""

    def items(self) -> Iterator[tuple[str, Finding]]:
        """Names and findings, in order."""
        for name in ("syntactic", "functional", "approximate", "exact", "order", "constraints", "equivalent"):
            yield name, getattr(self, name)


def judge_levels(
    report: Report,
    true: GameTable | None = None,
    named: Named | None = None,
    orders: Sequence[str] = (),
) -> Levels:
    """Judge a validated program, as far as what is known allows: the true table, the game's name or orders of ends."""
    syntactic = _syntactic(report)
    functional = _functional(report) if syntactic.ok else Finding(False, "it cannot be loaded")
    if not functional.ok or report.table is None:
        no = Finding(False, "there is no game to compare")
        asked = no if true is not None else NOT_ASKED
        constrained = named is not None or bool(orders)
        return Levels(syntactic, functional, asked, asked, asked, no if constrained else NOT_ASKED, asked)
    table = report.table
    constraints = NOT_ASKED
    if named is not None:
        verdict = check_constraints(table, named)
        constraints = Finding(verdict.holds, verdict.why)
    elif orders and true is not None:
        broken = find_broken_order(table, true, orders)
        constraints = Finding(not broken, broken)
    if true is None:
        return Levels(syntactic, functional, constraints=constraints)
    comparison = compare_tables(table, true)
    why = "its payoffs are those of the true game only up to scale"
    for difference in comparison.differences[:1]:
        why = re.sub("the first( game)?", "the program", re.sub("the second( game)?", "the true game", difference))
    order = comparison.same or comparison.relation == "ordinal"
    return Levels(
        syntactic,
        functional,
        _approximate(table, true),
        Finding(comparison.exact, "" if comparison.exact else why),
        Finding(order, "" if order else why),
        constraints,
        Finding(comparison.same, "" if comparison.same else why),
        comparison.verdict,
    )


def _syntactic(report: Report) -> Finding:
    wrong = [one for one in report.errors if one.stage in (Stage.READER, Stage.STATIC)]
    return Finding(not wrong, str(wrong[0]) if wrong else "")


def _functional(report: Report) -> Finding:
    wrong = [one for one in report.errors if one.stage in (Stage.CONTRACT, Stage.RUNTIME)]
    if wrong:
        return Finding(False, str(wrong[0]))
    return Finding(report.table is not None, "" if report.table is not None else "no game could be taken out of it")


def _approximate(table: GameTable, true: GameTable) -> Finding:
    ours, wanted = sorted(_totals(table)), sorted(_totals(true))
    told = f"over all ends the players earn {_told(ours)} in total, not {_told(wanted)}"
    return Finding(ours == wanted, "" if ours == wanted else told)


def _totals(table: GameTable) -> list[Fraction]:
    return [sum((row.payoffs[seat] for row in table.rows), Fraction(0)) for seat in range(len(table.players))]


def _told(numbers: list[Fraction]) -> str:
    return " and ".join(map(str, numbers))
