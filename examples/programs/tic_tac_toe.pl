% Tic-tac-toe: three in a row win 1, and the other loses 1.
initial(s0).
initially(player(x), s0).
initially(player(o), s0).
initially(control(x), s0).
initially(empty(C, R), s0) :- member(C, [a, b, c]), member(R, [1, 2, 3]).
other(x, o).
other(o, x).
line([cell(a, R), cell(b, R), cell(c, R)]) :- member(R, [1, 2, 3]).
line([cell(C, 1), cell(C, 2), cell(C, 3)]) :- member(C, [a, b, c]).
line([cell(a, 1), cell(b, 2), cell(c, 3)]).
line([cell(a, 3), cell(b, 2), cell(c, 1)]).

legal(move(P, mark(C, R)), S) :- holds(control(P), S), holds(empty(C, R), S).
effect(marked(P, C, R), move(P, mark(C, R)), _).
effect(control(Q), move(P, _), _) :- other(P, Q).
abnormal(empty(C, R), move(_, mark(C, R)), _).
abnormal(control(P), move(P, _), _).

wins(P, S) :- holds(player(P), S), line(Cells), forall(member(cell(C, R), Cells), holds(marked(P, C, R), S)).
final(S) :- wins(_, S).
final(S) :- \+ holds(empty(_, _), S).
finally(goal(P, 1), S) :- wins(P, S).
finally(goal(P, -1), S) :- other(P, Q), wins(Q, S).
finally(goal(P, 0), S) :- holds(player(P), S), \+ wins(_, S).
