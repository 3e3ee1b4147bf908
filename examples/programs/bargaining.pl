% Alternating offers: ann offers 0 to 100 coins, bob accepts, or offers 0 to 80 of the 80 that are left. 16,463 ends.
initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
initially(turn(ann, offer(100)), s0).

legal(move(P, offer(N)), S) :- holds(turn(P, offer(Most)), S), between(0, Most, N).
legal(move(P, A), S) :- holds(turn(P, answer), S), member(A, [yes, no]).

effect(turn(bob, answer), move(ann, offer(_)), _).
effect(turn(ann, answer), move(bob, offer(_)), _).
effect(turn(bob, offer(80)), move(bob, no), _).
effect(said(P, M), move(P, M), _).
abnormal(turn(_, _), _, _).
final(S) :- \+ holds(turn(_, _), S).

coins(S, 0, 0) :- holds(said(ann, no), S).
coins(S, A, B) :- holds(said(bob, yes), S), holds(said(ann, offer(B)), S), A is 100 - B.
coins(S, A, B) :- holds(said(ann, yes), S), holds(said(bob, offer(A)), S), B is 80 - A.

finally(goal(ann, U), S) :- coins(S, U, _).
finally(goal(bob, U), S) :- coins(S, _, U).
