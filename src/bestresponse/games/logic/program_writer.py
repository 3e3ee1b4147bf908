"""Write a game table as a logic program in the solver language.

The way back from `logic.programs.table`: the program's table is the table it was written from, with what each player
knows. A game in which all move at once becomes one fact for each combination of moves; every other game becomes its
tree, with a fact for each branch, each lottery, each percept and each end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from bestresponse.logic.language.terms import Atom, write
from bestresponse.logic.programs.game_table import GameTable, Row, spell_knowledge

__all__ = ["write_program"]

_TREE_RULES = (
    "effect(at(Next), move(P, M), S) :- holds(at(Node), S), branch(Node, P, M, Next).",
    "abnormal(at(_Node), move(_P, _M), _S).",
    "legal(move(P, M), S) :- holds(at(Node), S), branch(Node, P, M, _Next), holds(player(P), S).",
)
_CHANCE_RULE = "chance(move(nature, X), Chance, S) :- holds(at(Node), S), lottery(Node, X, Chance)."
_PERCEPT_RULE = (
    "sees(P, What, do(move(Q, M), S)) :- holds(at(Node), S), branch(Node, Q, M, Next), shown(Next, P, What)."
)
_BLIND_RULE = "sees(_P, nothing, s0)."
"""No move leads to s0, so that nobody ever sees anything but the own moves."""
_END_RULES = (
    "final(S) :- holds(at(Node), S), end(Node, _Payoffs).",
    "finally(goal(P, U), S) :- holds(at(Node), S), end(Node, Payoffs), member(P-U, Payoffs).",
)


def write_program(table: GameTable) -> str:
    """Write the program of a game."""
    together = all(row.blocks == (len(table.players),) and not row.chances for row in table.rows)
    start = ["initial(s0).", *(f"initially(player({_atom(who)}), s0)." for who in table.players)]
    rules = _write_at_once(table) if together and not table.private else _write_tree(table)
    return "\n".join([*start, *rules]) + "\n"


def _write_at_once(table: GameTable) -> list[str]:
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


def _write_tree(table: GameTable) -> list[str]:
    """Number the positions of the game and write what leads from one to the next."""
    nodes: dict[tuple[tuple[str, str], ...], str] = {(): "n0"}
    branches: dict[str, None] = {}
    lotteries: dict[str, None] = {}
    percepts: dict[str, None] = {}
    ends: list[str] = []
    hidden = table.private or _moves_together(table)
    for row in table.rows:
        for depth, (who, move) in enumerate(row.moves):
            here = nodes[row.moves[:depth]]
            after = nodes.setdefault(row.moves[: depth + 1], f"n{len(nodes)}")
            branches[f"branch({here}, {_atom(who)}, {_atom(move)}, {after})."] = None
            chance = row.chances[depth] if row.chances else None
            if chance is not None:
                lotteries[f"lottery({here}, {_atom(move)}, {chance})."] = None
            for seer, what in _find_percepts(table, row, depth):
                percepts[f"shown({after}, {_atom(seer)}, {_atom(what)})."] = None
        ends.append(f"end({nodes[row.moves]}, [{_earned(table, row)}]).")
    return [
        "initially(at(n0), s0).",
        *_TREE_RULES,
        *([_CHANCE_RULE] if lotteries else []),
        *([_PERCEPT_RULE] if percepts else [_BLIND_RULE] if hidden else []),
        *_END_RULES,
        *(line for part in (branches, lotteries, percepts) for line in part),
        *ends,
    ]


def _moves_together(table: GameTable) -> bool:
    return any(size > 1 for row in table.rows for size in row.blocks)


def _find_percepts(table: GameTable, row: Row, depth: int) -> Iterator[tuple[str, str]]:
    """Find what is perceived of the move at `depth`; where moves are made together, by whoever moves next."""
    if not _moves_together(table):
        yield from row.percepts[depth] if table.private else ()
    elif depth + 1 < len(row.moves):
        follower = row.moves[depth + 1][0]
        known = spell_knowledge(table.knowledge(row, depth + 1, follower))
        if follower in table.players and known:
            yield follower, known


def _earned(table: GameTable, row: Row) -> str:
    return ", ".join(f"{_atom(who)}-{_number(u)}" for who, u in zip(table.players, row.payoffs, strict=True))


def _atoms(names: Sequence[str]) -> str:
    return ", ".join(map(_atom, names))


def _atom(name: str) -> str:
    return write(Atom(name))


def _number(payoff: Fraction) -> str:
    return f"({payoff})" if payoff < 0 else str(payoff)
