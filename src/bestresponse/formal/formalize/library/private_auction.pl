% Chance draws both values at once; each player sees only the own one and then bids without seeing the other bid.
initial(s0).
initially(player(petra), s0).
initially(player(quentin), s0).

chance(move(nature, values(V, W)), 1/4, s0) :- member(V, [1, 3]), member(W, [1, 3]).
sees(petra, value(V), do(move(nature, values(V, _)), _S)).
sees(quentin, value(W), do(move(nature, values(_, W)), _S)).

effect(value(petra, V), move(nature, values(V, _)), _S).
effect(value(quentin, W), move(nature, values(_, W)), _S).
effect(control(petra), move(nature, _), _S).
effect(control(quentin), move(nature, _), _S).
effect(did(P, B), move(P, B), _S) :- member(P, [petra, quentin]).
abnormal(control(P), move(P, _B), _S).

legal(move(P, B), S) :- holds(control(P), S), member(B, [0, 1, 2]).

final(S) :- holds(did(petra, _), S), holds(did(quentin, _), S).

other(petra, quentin).
other(quentin, petra).
finally(goal(P, U), S) :-
    final(S), other(P, Q), holds(value(P, V), S), holds(did(P, B), S), holds(did(Q, C), S),
    (   B > C -> U is V - B
    ;   B =:= C -> U is (V - B) / 2
    ;   U = 0
    ).
