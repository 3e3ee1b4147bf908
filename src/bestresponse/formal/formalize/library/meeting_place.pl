% The players and what holds at the start. The roles matter: Carla and Dino do not like the same place best.
initial(s0).
initially(player(carla), s0).
initially(player(dino), s0).
initially(role(carla, row), s0).
initially(role(dino, col), s0).
initially(control(carla), s0).
initially(control(dino), s0).
initially(default_move(_, 'Carousel'), s0).

possible(move(P, 'Carousel'), S) :- holds(player(P), S).
possible(move(P, 'Fountain'), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
opposite_move('Carousel', 'Fountain').
opposite_move('Fountain', 'Carousel').

effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).

final(do(move(_, _), do(move(_, _), S))) :- initial(S).

% payoff(row player's move, column player's move, row player's payoff, column player's payoff)
payoff('Carousel', 'Carousel', 4, 2).
payoff('Fountain', 'Fountain', 2, 4).
payoff('Carousel', 'Fountain', 0, 0).
payoff('Fountain', 'Carousel', 0, 0).

finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, row), S),
    holds(did(P1, M1), S),
    holds(role(P2, col), S),
    holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
