"""What is wrong with a program, told to its author: only the faults that count, each once, with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bestresponse.logic.diagnostics import Diagnostic, Severity
from bestresponse.logic.validate import Report

__all__ = ["what_is_wrong"]

_MOST = 12
_LONGEST_LINE = 160
_ALSO = (
    (re.compile(r"before '(?:and|or|not)'"), "write a comma for and, a semicolon for or, \\+ for not"),
    (re.compile(r"before '(?:=>|->|<-|if|:)'"), "write rules as head :- body."),
    (re.compile(r"before '='|before '=='"), "write X is Y to compute, X =:= Y to compare numbers"),
)
"""Habits of other languages, and what to write instead."""


def what_is_wrong(report: Report, problem: str = "") -> str:
    """The errors of a report, or its warnings where there is no error; faults of one kind are told together."""
    faults = report.errors or report.warnings
    lines = [f"- {problem}: write a shorter program" if problem else "", *_grouped(faults)]
    told = [line for line in lines if line]
    more = len(told) - _MOST
    return "\n".join(told[:_MOST] + ([f"- and {more} more of the same kinds"] if more > 0 else []))


def _grouped(faults: Sequence[Diagnostic]) -> list[str]:
    """Faults that differ only in their place become one line."""
    places: dict[tuple[str, str, Severity], list[Diagnostic]] = {}
    for fault in faults:
        places.setdefault((fault.message, fault.hint, fault.severity), []).append(fault)
    return [_line(message, hint, found) for (message, hint, _), found in places.items()]


def _line(message: str, hint: str, found: Sequence[Diagnostic]) -> str:
    hint = hint or next((advice for habit, advice in _ALSO if habit.search(message)), "")
    lines = sorted({one.line for one in found if one.line})
    where = f"line {', '.join(map(str, lines[:6]))}{', ...' if len(lines) > 6 else ''}: " if lines else ""
    source = found[0].source_line.strip()
    shown = f"\n    {source[:_LONGEST_LINE]}" if source and len(lines) == 1 else ""
    return f"- {where}{message}{f' ({hint})' if hint else ''}{shown}"
