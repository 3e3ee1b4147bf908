"""A game table written as a logic program in the solver language.

The way back from `logic.extract`: the program's table is the table it was written from.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.table import GameTable, Row

__all__ = ["write_program"]


def write_program(table: GameTable) -> str:
    """Write the program of a game; InvalidGame unless all move at once and once, or strictly in turn."""
    if table.chancy or table.private:
        raise InvalidGame("games with chance or hidden moves are not written as programs here")
    together = all(row.blocks == (len(table.players),) for row in table.rows)
    if not together and any(size != 1 for row in table.rows for size in row.blocks):
        raise InvalidGame("only games with all moves at the same time, or all in turn, are written as programs here")
    start = ["initial(s0).", *(f"initially(player({_atom(who)}), s0)." for who in table.players)]
    rules = _at_once(table) if together else _in_turn(table)
    return "\n".join([*start, *rules]) + "\n"


def _at_once(table: GameTable) -> list[str]:
    lines = [f"initially(control({_atom(who)}), s0)." for who in table.players]
    for who, moves in zip(table.players, table.moves, strict=True):
        lines += [f"possible(move({_atom(who)}, {_atom(move)}), _S)." for move in moves]
    made = ", ".join(f"holds(did({_atom(who)}, M{k}), S)" for k, who in enumerate(table.players))
    names = ", ".join(f"M{k}" for k in range(len(table.players)))
    lines += [
        "legal(move(P, M), S) :- holds(control(P), S), possible(move(P, M), S).",
        "effect(did(P, M), move(P, M), _S).",
        "abnormal(control(P), move(P, _M), _S).",
        "final(S) :- \\+ holds(control(_), S).",
    ]
    lines += [f"payoffs([{_atoms(_profile(table, row))}], [{_earned(table, row)}])." for row in table.rows]
    return [*lines, f"finally(goal(P, U), S) :- final(S), {made}, payoffs([{names}], Us), member(P-U, Us)."]


def _profile(table: GameTable, row: Row) -> list[str]:
    made = dict(row.moves)
    return [made[who] for who in table.players]


def _in_turn(table: GameTable) -> list[str]:
    """The moves so far are one fluent, the latest first."""
    turns: dict[str, None] = {}
    for row in table.rows:
        for k, (who, move) in enumerate(row.moves):
            turns[f"turn([{_history(row.moves[:k])}], {_atom(who)}, {_atom(move)})."] = None
    return [
        "initially(history([]), s0).",
        "effect(history([M|H]), move(_P, M), S) :- holds(history(H), S).",
        "abnormal(history(_), move(_P, _M), _S).",
        "legal(move(P, M), S) :- holds(history(H), S), turn(H, P, M).",
        *turns,
        *(f"end([{_history(row.moves)}], [{_earned(table, row)}])." for row in table.rows),
        "final(S) :- holds(history(H), S), end(H, _).",
        "finally(goal(P, U), S) :- holds(history(H), S), end(H, Us), member(P-U, Us).",
    ]


def _history(moves: Sequence[tuple[str, str]]) -> str:
    return _atoms([move for _, move in reversed(moves)])


def _earned(table: GameTable, row: Row) -> str:
    return ", ".join(f"{_atom(who)}-{_number(u)}" for who, u in zip(table.players, row.payoffs, strict=True))


def _atoms(names: Sequence[str]) -> str:
    return ", ".join(map(_atom, names))


def _atom(name: str) -> str:
    return write(Atom(name))


def _number(payoff: Fraction) -> str:
    return f"({payoff})" if payoff < 0 else str(payoff)
