% What every game shares: the situation calculus of solver_language.py. Games may call it, but never define it.

game(Situation, Situation) :-
    final(Situation).
game(Situation, Final) :-
    \+ final(Situation),
    legal(Move, Situation),
    game(do(Move, Situation), Final).

holds(Fluent, Situation) :-
    initially(Fluent, Situation).
holds(Fluent, 'what holds'(Fluents)) :-
    'one of'(Fluent, Fluents).
holds(Fluent, do(Move, Situation)) :-
    effect(Fluent, Move, Situation).
holds(Fluent, do(Move, Situation)) :-
    holds(Fluent, Situation),
    \+ abnormal(Fluent, Move, Situation).
