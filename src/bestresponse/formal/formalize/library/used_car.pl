% Chance decides how good the car is; only Nadia sees it, and Omar sees only the price.
initial(s0).
initially(player(nadia), s0).
initially(player(omar), s0).

chance(move(nature, sound), 6/10, s0).
chance(move(nature, worn), 4/10, s0).
sees(nadia, State, do(move(nature, State), _S)).
sees(omar, Price, do(move(nadia, Price), _S)).
sees(nadia, M, do(move(omar, M), _S)).

effect(car(State), move(nature, State), _S).
effect(control(nadia), move(nature, _State), _S).
effect(did(P, M), move(P, M), _S) :- member(P, [nadia, omar]).
effect(control(omar), move(nadia, _Price), _S).
abnormal(control(P), move(P, _M), _S).

possible(nadia, high).
possible(nadia, low).
possible(omar, buy).
possible(omar, leave).
legal(move(P, M), S) :- holds(control(P), S), possible(P, M).

final(S) :- holds(did(omar, _), S).

price(high, 8).
price(low, 3).
% worth(state, to Nadia, to Omar)
worth(sound, 6, 10).
worth(worn, 1, 2).

outcome(S, P, V) :-
    holds(did(omar, buy), S), holds(did(nadia, Asked), S), price(Asked, P),
    holds(car(State), S), worth(State, _, W), V is W - P.
outcome(S, U, 0) :- holds(did(omar, leave), S), holds(car(State), S), worth(State, U, _).

finally(goal(nadia, U), S) :- final(S), outcome(S, U, _).
finally(goal(omar, V), S) :- final(S), outcome(S, _, V).
