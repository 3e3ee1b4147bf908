% Nim: piles of 1, 3, 5 and 7; whoever takes the last object wins.
initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
initially(control(ann), s0).
initially(pile(1, 1), s0).
initially(pile(2, 3), s0).
initially(pile(3, 5), s0).
initially(pile(4, 7), s0).
other(ann, bob).
other(bob, ann).

legal(move(P, take(N, Pile)), S) :- holds(control(P), S), holds(pile(Pile, Size), S), between(1, Size, N).

effect(pile(Pile, Left), move(_, take(N, Pile)), S) :- holds(pile(Pile, Size), S), Left is Size - N.
effect(control(Q), move(P, _), _) :- other(P, Q).
abnormal(pile(Pile, _), move(_, take(_, Pile)), _).
abnormal(control(P), move(P, _), _).

final(S) :- \+ (holds(pile(_, Size), S), Size > 0).
finally(goal(P, -1), S) :- holds(control(P), S).
finally(goal(Q, 1), S) :- holds(control(P), S), other(P, Q).
