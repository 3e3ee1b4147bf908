% A public good: six players pay 0 to 3 coins at the same time, the sum is doubled and shared. 4,096 ends.
initial(s0).
initially(player(P), s0) :- member(P, [p1, p2, p3, p4, p5, p6]).
initially(control(P), s0) :- initially(player(P), s0).

legal(pay(P, N), S) :- holds(control(P), S), between(0, 3, N).
effect(paid(P, N), pay(P, N), _).
abnormal(control(P), pay(P, _), _).
final(S) :- \+ holds(control(_), S).

finally(goal(P, U), S) :-
    findall(N, holds(paid(_, N), S), Ns),
    sum_list(Ns, Pot),
    holds(paid(P, Own), S),
    U is 3 - Own + Pot * 2 / 6.
