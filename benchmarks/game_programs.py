"""Two games as logic programs, for the benchmarks: a dilemma with a strategy, and public goods of
three players."""

__all__ = ["DILEMMA", "GOODS"]

DILEMMA = """
initial(s0).
initially(player(p1), s0).
initially(player(p2), s0).
initially(role(p1, row), s0).
initially(role(p2, col), s0).
initially(control(p1), s0).
initially(control(p2), s0).
initially(default_move(_, 'C'), s0).
final(do(M2, do(M1, S))) :- ground(M2), ground(M1), initial(S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
possible(move(P, 'D'), S) :- holds(player(P), S).
possible(move(P, 'C'), S) :- holds(player(P), S).
opposite_move('C', 'D').
opposite_move('D', 'C').
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
payoff('D', 'D', 1, 1).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('C', 'C', 3, 3).
finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, row), S), holds(did(P1, M1), S),
    holds(role(P2, col), S), holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
select(P, O, S, M) :- \\+ holds(last_move(O, _), S), holds(default_move(P, M), S).
select(_, O, S, M) :- holds(last_move(O, M), S).
"""

GOODS = """
initial(s0).
initially(player(P), s0) :- member(P, [p1, p2, p3]).
initially(control(P), s0) :- member(P, [p1, p2, p3]).
possible(move(P, M), S) :- member(M, [0, 1, 2, 3, 4]), holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(do(_, do(_, do(_, S)))) :- initial(S).
finally(goal(P, U), S) :-
    final(S),
    holds(did(p1, A), S), holds(did(p2, B), S), holds(did(p3, C), S),
    holds(did(P, Own), S),
    U is 4 - Own + (A + B + C) * 3 / 5.
"""
