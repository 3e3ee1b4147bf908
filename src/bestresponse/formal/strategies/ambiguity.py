"""Rules that give several moves in one situation: the first one counts, but it is rarely the one that was meant.

The usual slip is a rule for the first round that also applies afterwards. Rules that leave something to chance are
not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from bestresponse.formal.strategies.agents import Seats
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.language.terms import Atom, Struct, Term, Var
from bestresponse.logic.programs.strategies import find_move_terms
from bestresponse.logic.programs.table import label

__all__ = ["several_moves"]

_MOST = 20


def several_moves(seats: Seats, seat: int) -> str:
    """The first situation in which the rules give several moves, told in words; empty if there is none."""
    if seats.remembers or not seats.table(seat).pure:
        return ""
    engine = EmbeddedEngine()
    program = engine.load(seats.program)
    pairs: list[tuple[str, str] | None] = [None, *product(seats.moves, seats.moves)]
    terms = find_move_terms(engine, program)
    answers = engine.ask_many(program, [_goal(seats, seat, last, terms) for last in pairs], _MOST)
    for last, found in zip(pairs, answers, strict=True):
        moves = list(dict.fromkeys(label(answer["Move"]) for answer in found))
        if len(moves) > 1:
            when = f"after own {last[0]} and the opponent's {last[1]}" if last else "in the first round"
            return f"{when} the rules give several moves ({', '.join(moves)}), of which the first would be made"
    return ""


def _goal(seats: Seats, seat: int, last: tuple[str, str] | None, terms: Mapping[str, Term]) -> Term:
    own, other = Atom(seats.players[seat]), Atom(seats.players[1 - seat])
    goal: Term = Struct("select", (own, other, Atom(seats.situation), Var("Move")))
    for who, move in zip((own, other), last or (), strict=False):
        fluent = Struct("last_move", (who, terms.get(move, Atom(move))))
        goal = Struct(",", (Struct("initialise", (fluent, Atom(seats.situation))), goal))
    return goal
