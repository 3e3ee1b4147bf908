% Three moves, both players at the same time.
initial(s0).
initially(player(emil), s0).
initially(player(fee), s0).
initially(role(emil, row), s0).
initially(role(fee, col), s0).
initially(control(emil), s0).
initially(control(fee), s0).

possible(move(P, rock), S) :- holds(player(P), S).
possible(move(P, paper), S) :- holds(player(P), S).
possible(move(P, scissors), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).

effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).

final(do(move(_, _), do(move(_, _), S))) :- initial(S).

beats(rock, scissors).
beats(scissors, paper).
beats(paper, rock).

% payoff(row player's move, column player's move, row player's payoff, column player's payoff)
payoff(M, M, 0, 0).
payoff(M1, M2, 1, -1) :- beats(M1, M2).
payoff(M1, M2, -1, 1) :- beats(M2, M1).

finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, row), S),
    holds(did(P1, M1), S),
    holds(role(P2, col), S),
    holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
