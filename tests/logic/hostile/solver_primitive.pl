% expect: refused
% defines a primitive of the engines
initial(dawn).
initially(player(p1), dawn).
initially(player(p2), dawn).
initially(control(P), dawn) :- member(P, [p1, p2]).
legal(move(P, M), S) :- holds(control(P), S), member(M, [stag, hare]).
effect(hunted(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(hunted(p1, _), S), holds(hunted(p2, _), S).
catch_of(stag, stag, 4).
catch_of(stag, hare, 0).
catch_of(hare, _, 3).
finally(goal(p1, U), S) :- holds(hunted(p1, A), S), holds(hunted(p2, B), S), catch_of(A, B, U).
finally(goal(p2, U), S) :- holds(hunted(p1, A), S), holds(hunted(p2, B), S), catch_of(B, A, U).
'raw sort'(_, _, _, []).
