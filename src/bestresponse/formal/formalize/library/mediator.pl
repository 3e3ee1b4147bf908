% Both choose at once; leaving the decision to the council is a choice like the others.
initial(s0).
initially(player(ida), s0).
initially(player(jon), s0).
initially(control(ida), s0).
initially(control(jon), s0).

possible(choose(P, M), S) :- holds(player(P), S), choice(M).
legal(choose(P, M), S) :- possible(choose(P, M), S), holds(control(P), S).
choice(little).
choice(much).
choice(leave).

% A choice is remembered, and whoever has chosen may not choose again.
effect(chose(P, M), choose(P, M), _S).
abnormal(control(P), choose(P, _M), _S).

% The game is over when both have chosen.
final(do(choose(_, _), do(choose(_, _), S))) :- initial(S).

% acts(own choice, the other's choice, what is done): the council knows who leaves it the decision.
acts(little, _, little).
acts(much, _, much).
acts(leave, leave, little).
acts(leave, little, much).
acts(leave, much, much).

% payoff(own pumping, the other's pumping, own payoff)
payoff(little, little, 3).
payoff(little, much, 0).
payoff(much, little, 5).
payoff(much, much, 1).

finally(goal(P, U), S) :-
    final(S),
    holds(chose(P, M), S),
    holds(chose(Q, N), S),
    P \= Q,
    acts(M, N, Own),
    acts(N, M, Other),
    payoff(Own, Other, U).
