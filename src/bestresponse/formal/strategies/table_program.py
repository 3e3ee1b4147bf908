"""A table of payoffs written as a game program, so that strategies written as rules can play any matrix game."""

from __future__ import annotations

from itertools import product

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.language.terms import Atom, write
from bestresponse.theory.games.normal_form import NormalForm

PLAYERS = ("p1", "p2")

_RULES = """
final(do(move(_, _), do(move(_, _), S))) :- initial(S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, first), S), holds(did(P1, M1), S),
    holds(role(P2, second), S), holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P, U), S) :- finally(outcome(P, _, U, _, _, _), S).
finally(goal(P, U), S) :- finally(outcome(_, _, _, P, _, U), S).
"""


def write_program(form: NormalForm, default: str | None = None) -> str:
    """The program of a two-player game with as many moves for each; both players' moves have the first one's names.

    `default` is the default move, the first one if not given.
    """
    if form.num_players != 2 or form.shape[0] != form.shape[1]:
        raise InvalidGame(f"a repeated match needs two players with equally many moves, got {form.shape}")
    moves = [write(Atom(name)) for name in form.actions[0]]
    chosen = write(Atom(default if default is not None else form.actions[0][0]))
    lines = [f"initially(player({p}), s0).\ninitially(control({p}), s0)." for p in PLAYERS]
    lines += [f"initially(role({PLAYERS[0]}, first), s0).", f"initially(role({PLAYERS[1]}, second), s0)."]
    lines += ["initial(s0).", f"initially(default_move(_, {chosen}), s0)."]
    lines += [f"possible(move(P, {move}), S) :- holds(player(P), S)." for move in moves]
    if len(moves) == 2:
        lines += [f"opposite_move({moves[0]}, {moves[1]}).", f"opposite_move({moves[1]}, {moves[0]})."]
    for (i, first), (k, second) in product(enumerate(moves), enumerate(moves)):
        earned = ", ".join(_number(float(own[i, k])) for own in form.payoffs)
        lines.append(f"payoff({first}, {second}, {earned}).")
    return ":- discontiguous initially/2.\n" + "\n".join(lines) + _RULES


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else format(value, "f") if abs(value) >= 1e-4 else repr(value)
