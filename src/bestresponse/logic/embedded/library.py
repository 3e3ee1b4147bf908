"""The list library of the embedded engine, written in the logic language itself.

The predicates and their answers are those of SWI-Prolog's libraries lists, apply and pairs; the wording is our own.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LIBRARY_TEXT"]

LIBRARY_TEXT: Final = """
append([], Back, Back).
append([Item|Front], Back, [Item|Whole]) :- append(Front, Back, Whole).

append(Lists, Whole) :- 'must be list'(Lists), 'join lists'(Lists, Whole).
'join lists'([], []).
'join lists'([List|Lists], Whole) :- append(List, Rest, Whole), 'join lists'(Lists, Rest).

member(Item, [First|Rest]) :- 'member of'(Rest, Item, First).
'member of'(_, Item, Item).
'member of'([First|Rest], Item, _) :- 'member of'(Rest, Item, First).

select(Item, [Item|Rest], Rest).
select(Item, [First|List], [First|Rest]) :- select(Item, List, Rest).
selectchk(Item, List, Rest) :- once(select(Item, List, Rest)).

permutation(List, Permutation) :-
    'list end'(List, Length, End),
    'list end'(Permutation, OtherLength, OtherEnd),
    (   End == [], OtherEnd == [] -> Length == OtherLength
    ;   var(End), var(OtherEnd) -> length(List, Number), length(Permutation, Number)
    ;   End == [], var(OtherEnd) -> length(Permutation, Length)
    ;   var(End), OtherEnd == [] -> length(List, OtherLength)
    ;   'must be list'(List), 'must be list'(Permutation)
    ),
    permuted(List, Permutation).
permuted([], []).
permuted(List, [First|Rest]) :- select(First, List, Others), permuted(Others, Rest).

last([First|Rest], Last) :- 'last of'(Rest, First, Last).
'last of'([], Last, Last).
'last of'([First|Rest], _, Last) :- 'last of'(Rest, First, Last).

reverse(List, Reversed) :- 'reverse onto'(List, Reversed, [], Reversed).
'reverse onto'([], [], Reversed, Reversed).
'reverse onto'([First|Rest], [_|Bound], Done, Reversed) :- 'reverse onto'(Rest, Bound, [First|Done], Reversed).

same_length([], []).
same_length([_|List], [_|Other]) :- same_length(List, Other).

subtract(Items, Removed, Rest) :-
    (   Items == [] -> Rest = []
    ;   nonvar(Items), Items = [Item|More]
    ->  (   memberchk(Item, Removed) -> Others = Rest ; Rest = [Item|Others] ),
        subtract(More, Removed, Others)
    ;   'no rule'(Items)
    ).

intersection(Items, Other, Common) :-
    (   Items == [] -> Common = []
    ;   nonvar(Items), Items = [Item|More]
    ->  (   memberchk(Item, Other) -> Common = [Item|Rest] ; Rest = Common ),
        intersection(More, Other, Rest)
    ;   'no rule'(Items)
    ).

union(Items, Other, Union) :-
    (   Items == [] -> Union = Other
    ;   nonvar(Items), Items = [Item|More]
    ->  (   memberchk(Item, Other) -> Rest = Union ; Union = [Item|Rest] ),
        union(More, Other, Rest)
    ;   'no rule'(Items)
    ).

subset(Items, Set) :-
    (   Items == [] -> true
    ;   nonvar(Items), Items = [Item|More]
    ->  memberchk(Item, Set),
        subset(More, Set)
    ;   'no rule'(Items)
    ).

is_set(Set) :- is_list(Set), length(Set, Length), sort(Set, Sorted), length(Sorted, Length).

nextto(First, Second, [First,Second|_]).
nextto(First, Second, [_|Rest]) :- nextto(First, Second, Rest).

nth0(Index, List, Item, Rest) :- 'taken at'(Index, 0, List, Item, Rest).
nth1(Index, List, Item, Rest) :- 'taken at'(Index, 1, List, Item, Rest).
'taken at'(Index, Base, List, Item, Rest) :-
    (   var(Index)
    ->  'taken from'(List, Item, Rest, Base, Index)
    ;   'must be index'(Index, Base),
        Skipped is Index - Base,
        'taken after'(Skipped, List, Item, Rest)
    ).
'taken from'([Item|Rest], Item, Rest, Index, Index).
'taken from'([First|List], Item, [First|Rest], Here, Index) :-
    Next is Here + 1,
    'taken from'(List, Item, Rest, Next, Index).
'taken after'(Skipped, List, Item, Rest) :-
    (   Skipped =:= 0
    ->  List = [Item|Rest]
    ;   List = [First|Others],
        Rest = [First|Left],
        Fewer is Skipped - 1,
        'taken after'(Fewer, Others, Item, Left)
    ).

maybe :- random_between(0, 1, 0).
random_permutation(List, Permutation) :-
    (   is_list(List) -> shuffled(List, Permutation)
    ;   is_list(Permutation) -> shuffled(Permutation, List)
    ;   'must be list'(List), 'must be list'(Permutation)
    ).
shuffled([], []).
shuffled([First|Items], [Item|Permutation]) :-
    length([First|Items], Length),
    random_between(1, Length, Index),
    nth1(Index, [First|Items], Item, Rest),
    shuffled(Rest, Permutation).

dif(A, B) :- ( A \\= B -> true ; A == B -> fail ; 'not yet known'(A, B) ).

delete([], _, []).
delete([First|List], Item, Rest) :-
    (   First \\= Item -> Rest = [First|Others] ; Rest = Others ),
    delete(List, Item, Others).

flatten(List, Flat) :- 'flatten onto'(List, [], Flat).
'flatten onto'(Item, Tail, Flat) :- var(Item), !, Flat = [Item|Tail].
'flatten onto'([], Tail, Flat) :- !, Flat = Tail.
'flatten onto'([First|Rest], Tail, Flat) :- !, 'flatten onto'(First, Middle, Flat), 'flatten onto'(Rest, Tail, Middle).
'flatten onto'(Item, Tail, [Item|Tail]).

pairs_keys_values([], [], []).
pairs_keys_values([Key-Value|Pairs], [Key|Keys], [Value|Values]) :- pairs_keys_values(Pairs, Keys, Values).
pairs_keys([], []).
pairs_keys([Key-_|Pairs], [Key|Keys]) :- pairs_keys(Pairs, Keys).
pairs_values([], []).
pairs_values([_-Value|Pairs], [Value|Values]) :- pairs_values(Pairs, Values).

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
maplist(Goal, A, B, C, D, E) :- mapped(A, B, C, D, E, Goal).
mapped([], [], [], [], [], _).
mapped([A|As], [B|Bs], [C|Cs], [D|Ds], [E|Es], Goal) :- call(Goal, A, B, C, D, E), mapped(As, Bs, Cs, Ds, Es, Goal).

foldl(Goal, A, Before, After) :- folded(A, Goal, Before, After).
folded([], _, Value, Value).
folded([A|As], Goal, Before, After) :- call(Goal, A, Before, Between), folded(As, Goal, Between, After).
foldl(Goal, A, B, Before, After) :- folded(A, B, Goal, Before, After).
folded([], [], _, Value, Value).
folded([A|As], [B|Bs], Goal, Before, After) :- call(Goal, A, B, Before, Between), folded(As, Bs, Goal, Between, After).
foldl(Goal, A, B, C, Before, After) :- folded(A, B, C, Goal, Before, After).
folded([], [], [], _, Value, Value).
folded([A|As], [B|Bs], [C|Cs], Goal, Before, After) :-
    call(Goal, A, B, C, Before, Between),
    folded(As, Bs, Cs, Goal, Between, After).

predsort(Goal, List, Sorted) :-
    length(List, Length),
    (   Length < 2
    ->  Sorted = List
    ;   Half is Length // 2,
        length(Front, Half),
        append(Front, Back, List),
        predsort(Goal, Front, First),
        predsort(Goal, Back, Second),
        merged(First, Second, Goal, Sorted)
    ).
merged([], List, _, List) :- !.
merged(List, [], _, List) :- !.
merged([A|As], [B|Bs], Goal, Sorted) :-
    call(Goal, Order, A, B),
    !,
    'merge by'(Order, A, As, B, Bs, Goal, Sorted).
'merge by'(<, A, As, B, Bs, Goal, [A|Sorted]) :- merged(As, [B|Bs], Goal, Sorted).
'merge by'(=, A, As, _, Bs, Goal, Sorted) :- merged([A|As], Bs, Goal, Sorted).
'merge by'(>, A, As, B, Bs, Goal, [B|Sorted]) :- merged([A|As], Bs, Goal, Sorted).
"""
