% Sealed bids at the same time; the highest bidder pays the own bid.
initial(s0).
initially(player(lena), s0).
initially(player(max), s0).
initially(control(lena), s0).
initially(control(max), s0).

possible(move(P, 1), S) :- holds(player(P), S).
possible(move(P, 3), S) :- holds(player(P), S).
possible(move(P, 5), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).

effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).

final(do(move(_, _), do(move(_, _), S))) :- initial(S).

value(lena, 6).
value(max, 4).

winner(S, lena) :- holds(did(lena, A), S), holds(did(max, B), S), A >= B.
winner(S, max) :- holds(did(lena, A), S), holds(did(max, B), S), A < B.

finally(goal(P, U), S) :-
    final(S),
    winner(S, P),
    holds(did(P, Bid), S),
    value(P, Value),
    U is Value - Bid.
finally(goal(P, 0), S) :-
    final(S),
    holds(player(P), S),
    winner(S, Other),
    P \== Other.
