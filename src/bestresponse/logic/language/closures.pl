% Predicates that call a closure: SWI-Prolog has them in a form that knows about modules.

convlist(Goal, List, Kept) :- converted(List, Goal, Kept).
converted([], _, []).
converted([Item|Items], Goal, Kept) :-
    (   call(Goal, Item, New) -> Kept = [New|Rest] ; Kept = Rest ),
    converted(Items, Goal, Rest).

include(Goal, List, Kept) :- included(List, Goal, Kept).
included([], _, []).
included([Item|Items], Goal, Kept) :-
    (   call(Goal, Item) -> Kept = [Item|Rest] ; Kept = Rest ),
    included(Items, Goal, Rest).

exclude(Goal, List, Kept) :- excluded(List, Goal, Kept).
excluded([], _, []).
excluded([Item|Items], Goal, Kept) :-
    (   call(Goal, Item) -> Kept = Rest ; Kept = [Item|Rest] ),
    excluded(Items, Goal, Rest).

partition(Goal, List, In, Out) :- partitioned(List, Goal, In, Out).
partitioned([], _, [], []).
partitioned([Item|Items], Goal, In, Out) :-
    (   call(Goal, Item) -> In = [Item|Inner], Out = Outer ; In = Inner, Out = [Item|Outer] ),
    partitioned(Items, Goal, Inner, Outer).

maplist(Goal, A) :- mapped(A, Goal).
mapped([], _).
mapped([A|As], Goal) :- call(Goal, A), mapped(As, Goal).
maplist(Goal, A, B) :- mapped(A, B, Goal).
mapped([], [], _).
mapped([A|As], [B|Bs], Goal) :- call(Goal, A, B), mapped(As, Bs, Goal).
maplist(Goal, A, B, C) :- mapped(A, B, C, Goal).
mapped([], [], [], _).
mapped([A|As], [B|Bs], [C|Cs], Goal) :- call(Goal, A, B, C), mapped(As, Bs, Cs, Goal).
maplist(Goal, A, B, C, D) :- mapped(A, B, C, D, Goal).
mapped([], [], [], [], _).
mapped([A|As], [B|Bs], [C|Cs], [D|Ds], Goal) :- call(Goal, A, B, C, D), mapped(As, Bs, Cs, Ds, Goal).

foldl(Goal, A, Before, After) :- folded(A, Goal, Before, After).
folded([], _, Value, Value).
folded([A|As], Goal, Before, After) :- call(Goal, A, Before, Between), folded(As, Goal, Between, After).
foldl(Goal, A, B, Before, After) :- folded(A, B, Goal, Before, After).
folded([], [], _, Value, Value).
folded([A|As], [B|Bs], Goal, Before, After) :- call(Goal, A, B, Before, Between), folded(As, Bs, Goal, Between, After).
