% The players and what holds at the start: both may move, in any order, so neither sees the other's move.
initial(s0).
initially(player(ada), s0).
initially(player(ben), s0).
initially(role(ada, row), s0).
initially(role(ben, col), s0).
initially(control(ada), s0).
initially(control(ben), s0).
initially(default_move(_, 'Silent'), s0).

% What a player can do, and when.
possible(move(P, 'Silent'), S) :- holds(player(P), S).
possible(move(P, 'Betray'), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
opposite_move('Silent', 'Betray').
opposite_move('Betray', 'Silent').

% A move is remembered, and whoever has moved may not move again.
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).

% The game is over when both have moved.
final(do(move(_, _), do(move(_, _), S))) :- initial(S).

% payoff(row player's move, column player's move, row player's payoff, column player's payoff)
payoff('Silent', 'Silent', 3, 3).
payoff('Silent', 'Betray', 0, 5).
payoff('Betray', 'Silent', 5, 0).
payoff('Betray', 'Betray', 1, 1).

finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, row), S),
    holds(did(P1, M1), S),
    holds(role(P2, col), S),
    holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
