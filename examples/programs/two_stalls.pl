% The game of examples/stories/two-stalls.txt: Mara and Nils choose at the same time where to sell ice cream. 4 ends.
initial(s0).
initially(player('Mara'), s0).
initially(player('Nils'), s0).
initially(control(P), s0) :- initially(player(P), s0).

legal(stand(P, Where), S) :- holds(control(P), S), member(Where, [pier, dunes]).
effect(stands(P, Where), stand(P, Where), _).
abnormal(control(P), stand(P, _), _).
final(S) :- \+ holds(control(_), S).

earns(pier, pier, 2).
earns(dunes, dunes, 1).
earns(pier, dunes, 5).
earns(dunes, pier, 3).

finally(goal(P, U), S) :- holds(stands(P, Mine), S), holds(stands(Q, Theirs), S), P \= Q, earns(Mine, Theirs, U).
