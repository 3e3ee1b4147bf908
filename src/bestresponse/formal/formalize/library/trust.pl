% One after the other: only Greta may move at the start, and Hugo only after she has lent.
initial(s0).
initially(player(greta), s0).
initially(player(hugo), s0).
initially(control(greta), s0).

possible(greta, keep).
possible(greta, lend).
possible(hugo, repay).
possible(hugo, run).
legal(move(P, M), S) :- holds(control(P), S), possible(P, M).

effect(did(P, M), move(P, M), _S).
effect(control(hugo), move(greta, lend), _S).
abnormal(control(P), move(P, _M), _S).

% The game is over when nobody may move any more.
final(S) :- \+ holds(control(_), S).

% outcome(situation, Greta's payoff, Hugo's payoff)
outcome(S, 2, 1) :- holds(did(greta, keep), S).
outcome(S, 4, 3) :- holds(did(hugo, repay), S).
outcome(S, 0, 6) :- holds(did(hugo, run), S).

finally(goal(greta, U), S) :- final(S), outcome(S, U, _).
finally(goal(hugo, U), S) :- final(S), outcome(S, _, U).
