% Offers by turns: whoever answers sees the offer. Amounts are ranges, not one fact each.
initial(s0).
initially(player(rana), s0).
initially(player(silas), s0).
initially(control(rana), s0).
initially(turn(1), s0).

legal(move(rana, offer(X)), S) :- holds(control(rana), S), holds(turn(1), S), between(0, 4, X).
legal(move(silas, offer(X)), S) :- holds(control(silas), S), holds(turn(3), S), between(0, 3, X).
legal(move(silas, M), S) :- holds(control(silas), S), holds(turn(2), S), member(M, [accept, refuse]).
legal(move(rana, M), S) :- holds(control(rana), S), holds(turn(4), S), member(M, [accept, refuse]).

effect(did(T, P, M), move(P, M), S) :- holds(turn(T), S).
effect(turn(2), move(rana, offer(_)), _S).
effect(control(silas), move(rana, offer(_)), _S).
effect(turn(3), move(silas, refuse), _S).
effect(control(silas), move(silas, refuse), _S).
effect(turn(4), move(silas, offer(_)), _S).
effect(control(rana), move(silas, offer(_)), _S).
abnormal(turn(_), move(_P, _M), _S).
abnormal(control(P), move(P, _M), _S).

final(S) :- holds(did(2, silas, accept), S).
final(S) :- holds(did(4, rana, _), S).

outcome(S, U, X) :- holds(did(2, silas, accept), S), holds(did(1, rana, offer(X)), S), U is 4 - X.
outcome(S, X, V) :- holds(did(4, rana, accept), S), holds(did(3, silas, offer(X)), S), V is 3 - X.
outcome(S, 0, 0) :- holds(did(4, rana, refuse), S).

finally(goal(rana, U), S) :- final(S), outcome(S, U, _).
finally(goal(silas, V), S) :- final(S), outcome(S, _, V).
