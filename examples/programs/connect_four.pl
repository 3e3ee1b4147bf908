% Connect Four on 4 columns of 4 rows: four in a line win 1, and the other loses 1.
initial(s0).
initially(player(x), s0).
initially(player(o), s0).
initially(control(x), s0).
initially(next(C, 1), s0) :- member(C, [a, b, c, d]).
other(x, o).
other(o, x).
line([cell(a, R), cell(b, R), cell(c, R), cell(d, R)]) :- member(R, [1, 2, 3, 4]).
line([cell(C, 1), cell(C, 2), cell(C, 3), cell(C, 4)]) :- member(C, [a, b, c, d]).
line([cell(a, 1), cell(b, 2), cell(c, 3), cell(d, 4)]).
line([cell(a, 4), cell(b, 3), cell(c, 2), cell(d, 1)]).

legal(move(P, C), S) :- holds(control(P), S), holds(next(C, _), S).
effect(disc(P, C, R), move(P, C), S) :- holds(next(C, R), S).
effect(next(C, Q), move(_, C), S) :- holds(next(C, R), S), R < 4, Q is R + 1.
effect(control(Q), move(P, _), _) :- other(P, Q).
abnormal(next(C, _), move(_, C), _).
abnormal(control(P), move(P, _), _).

wins(P, S) :- holds(player(P), S), line(Cells), forall(member(cell(C, R), Cells), holds(disc(P, C, R), S)).
final(S) :- wins(_, S).
final(S) :- \+ holds(next(_, _), S).
finally(goal(P, 1), S) :- wins(P, S).
finally(goal(P, -1), S) :- other(P, Q), wins(Q, S).
finally(goal(P, 0), S) :- holds(player(P), S), \+ wins(_, S).
