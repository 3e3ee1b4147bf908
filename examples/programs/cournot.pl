% Cournot duopoly: two firms choose quantities from 0 to 100 at the same time. 10,201 ends.
initial(s0).
initially(player(left), s0).
initially(player(right), s0).
initially(control(P), s0) :- initially(player(P), s0).

legal(produce(P, Q), S) :- holds(control(P), S), between(0, 100, Q).
effect(output(P, Q), produce(P, Q), _).
abnormal(control(P), produce(P, _), _).
final(S) :- \+ holds(control(_), S).

other(left, right).
other(right, left).

finally(goal(P, U), S) :-
    holds(output(P, Own), S),
    other(P, O),
    holds(output(O, Theirs), S),
    U is Own * (120 - Own - Theirs - 30).
