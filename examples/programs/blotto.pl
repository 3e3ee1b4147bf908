% Colonel Blotto: each side distributes 10 troops over three fields; the larger force wins a field. 4,356 ends.
initial(s0).
initially(player(red), s0).
initially(player(blue), s0).
initially(control(P), s0) :- initially(player(P), s0).

legal(send(P, force(A, B, C)), S) :-
    holds(control(P), S),
    between(0, 10, A), Rest is 10 - A, between(0, Rest, B), C is Rest - B.
effect(sent(P, Force), send(P, Force), _).
abnormal(control(P), send(P, _), _).
final(S) :- \+ holds(control(_), S).

other(red, blue).
other(blue, red).

finally(goal(P, U), S) :-
    holds(sent(P, force(A, B, C)), S),
    other(P, O),
    holds(sent(O, force(D, E, F)), S),
    U is sign(A - D) + sign(B - E) + sign(C - F).
