"""Patterns of the compiler against terms: building a term from a pattern, and matching the head of a clause.

Patterns nest no deeper than the gate lets a clause nest, so these two may call themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestresponse.logic.embedded.compiler import (
    COMPOUND,
    CONSTANT,
    FIRST,
    GROUND,
    LATER,
    SEQUENCE,
    VOID,
    CompiledClause,
    Pattern,
)
from bestresponse.logic.embedded.unify import bind, unify
from bestresponse.logic.language.terms import CONS, Struct, Term, Var, deref

__all__ = ["build", "match", "match_head"]


def build(pattern: Pattern, slots: list[Any]) -> Any:
    """The term a pattern stands for in an activation."""
    kind = pattern[0]
    if kind == LATER:
        term = slots[pattern[1]]
        if term is None:
            term = slots[pattern[1]] = Var()
        return term
    if kind in (CONSTANT, GROUND):
        return pattern[1]
    if kind == COMPOUND:
        parts = []
        for part in pattern[2]:
            if part[0] == LATER and (term := slots[part[1]]) is not None:
                parts.append(term)
            else:
                parts.append(build(part, slots))
        return Struct(pattern[1], tuple(parts))
    if kind == SEQUENCE:
        tail = build(pattern[2], slots)
        for part in reversed(pattern[1]):
            tail = Struct(CONS, (build(part, slots), tail))
        return tail
    term = Var()
    if kind == FIRST:
        slots[pattern[1]] = term
    return term


def match(pattern: Pattern, term: Any, slots: list[Any], trail: list[Var]) -> bool:
    """Make a head pattern and a term equal."""
    kind = pattern[0]
    if kind == FIRST:
        slots[pattern[1]] = term
        return True
    if kind == LATER:
        return unify(slots[pattern[1]], term, trail)
    if kind == VOID:
        return True
    while term.__class__ is Var:
        if term.ref is None:
            bind(term, build(pattern, slots), trail)
            return True
        term = term.ref
    if kind == COMPOUND:
        if term.__class__ is not Struct or term.name != pattern[1] or len(term.args) != len(pattern[2]):
            return False
        for part, argument in zip(pattern[2], term.args, strict=False):
            if part[0] == FIRST:
                slots[part[1]] = argument
            elif part[0] != VOID and not match(part, argument, slots, trail):
                return False
        return True
    if kind == CONSTANT:
        return term.__class__ is pattern[1].__class__ and term == pattern[1]
    if kind == GROUND:
        return unify(pattern[1], term, trail)
    return _match_sequence(pattern, term, slots, trail)


def match_head(clause: CompiledClause, arguments: Sequence[Term], trail: list[Var]) -> bool:
    """Make the head of a clause and the arguments of a call equal; on failure the caller undoes the trail."""
    slots = [None] * clause.slots
    return all(match(pattern, argument, slots, trail) for pattern, argument in zip(clause.head, arguments, strict=True))


def _match_sequence(pattern: Pattern, term: Any, slots: list[Any], trail: list[Var]) -> bool:
    for position, part in enumerate(pattern[1]):
        term = deref(term)
        if term.__class__ is Var:
            bind(term, build((SEQUENCE, pattern[1][position:], pattern[2]), slots), trail)
            return True
        if term.__class__ is not Struct or term.name != CONS or len(term.args) != 2:
            return False
        if not match(part, term.args[0], slots, trail):
            return False
        term = term.args[1]
    return match(pattern[2], term, slots, trail)
