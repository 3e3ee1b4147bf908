"""What is wrong with a program, told to its author: only the faults that count, each once, with its line.

Faults of one kind are told together: a payoff that is missing at four ends is one thing to repair, not eight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bestresponse.logic.language.diagnostics import Diagnostic, Severity
from bestresponse.logic.programs.validate import Report

_MOST = 12
_MOST_ENDS = 9
_LONGEST_LINE = 160
_NO_PAYOFF = re.compile(r"^(?P<who>.*) has no payoff after (?P<end>.*)$", re.DOTALL)
_ALSO = (
    (re.compile(r"before '(?:and|or|not)'"), "write a comma for and, a semicolon for or, \\+ for not"),
    (re.compile(r"before '(?:=>|->|<-|if|:)'"), "write rules as head :- body."),
    (re.compile(r"before '='|before '=='"), "write X is Y to compute, X =:= Y to compare numbers"),
)
"""Habits of other languages, and what to write instead."""
_LIMIT = (
    "does every rule come to an end? if so, tell the game with fewer moves, players or rounds, or with simpler rules"
)
"""Who writes a program cannot raise a limit; who runs it is told how."""


def what_is_wrong(report: Report, problem: str = "") -> str:
    """The errors of a report, or its warnings where there is no error."""
    faults = report.errors or report.warnings
    others = [fault for fault in faults if _NO_PAYOFF.match(fault.message) is None]
    lines = [f"- {problem}: write a shorter program" if problem else "", *_unpaid(report, faults), *_grouped(others)]
    told = [line for line in lines if line]
    more = len(told) - _MOST
    return "\n".join(told[:_MOST] + ([f"- and {more} more of the same kinds"] if more > 0 else []))


def _unpaid(report: Report, faults: Iterable[Diagnostic]) -> list[str]:
    """The ends without a payoff in one line, and predicates written with different numbers of arguments."""
    found = [match for fault in faults if (match := _NO_PAYOFF.match(fault.message))]
    if not found:
        return []
    players = dict.fromkeys(match["who"] for match in found)
    ends = list(dict.fromkeys(match["end"] for match in found))
    more = f" and {len(ends) - _MOST_ENDS} more" if len(ends) > _MOST_ENDS else ""
    line = (
        f"- {', '.join(players)} got no payoff at these ends: ({'), ('.join(ends[:_MOST_ENDS])}){more} "
        "(finally(goal(Player, Payoff), S) must give every player a number at every end: is there a payoff fact for "
        "each combination of moves, and can the rule find it?)"
    )
    return [line, *_arities(report)]


def _arities(report: Report) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for key in sorted(report.defined):
        name, _, arity = key.rpartition("/")
        kinds.setdefault(name, []).append(arity)
    return [
        f"- {name} is written with {' and with '.join(arities)} arguments, which are different predicates"
        for name, arities in kinds.items()
        if len(arities) > 1
    ]


def _grouped(faults: Sequence[Diagnostic]) -> list[str]:
    """Faults that differ only in their place become one line."""
    places: dict[tuple[str, str, Severity], list[Diagnostic]] = {}
    for fault in faults:
        hint = _LIMIT if fault.code == "limit" else fault.hint
        places.setdefault((fault.message, hint, fault.severity), []).append(fault)
    return [_line(message, hint, found) for (message, hint, _), found in places.items()]


def _line(message: str, hint: str, found: Sequence[Diagnostic]) -> str:
    hint = hint or next((advice for habit, advice in _ALSO if habit.search(message)), "")
    lines = sorted({one.line for one in found if one.line})
    where = f"line {', '.join(map(str, lines[:6]))}{', ...' if len(lines) > 6 else ''}: " if lines else ""
    source = found[0].source_line.strip()
    shown = f"\n    {source[:_LONGEST_LINE]}" if source and len(lines) == 1 else ""
    return f"- {where}{message}{f' ({hint})' if hint else ''}{shown}"
