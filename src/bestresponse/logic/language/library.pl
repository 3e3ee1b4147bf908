% The list library of the logic language, loaded by both engines (see library.py).

'say nothing'(_).
'say nothing'(_, _).
'say nothing'(_, _, _).

'list length'(List, Length) :-
    (   var(Length) -> true
    ;   integer(Length), Length >= 0 -> true
    ;   'raise'('the length of a list is a whole number of at least 0', Length)
    ),
    (   is_list(List) -> 'raw length'(List, Length)
    ;   integer(Length) -> 'list of length'(Length, List)
    ;   'raise'('length/2 needs a list whose end is known', List)
    ).
'list of length'(Length, List) :-
    (   Length =:= 0
    ->  List = []
    ;   List = [_|Rest],
        Shorter is Length - 1,
        'list of length'(Shorter, Rest)
    ).

'must be list'(List) :- ( is_list(List) -> true ; 'raise'('a list was expected', List) ).
'must be known'(Term) :- ( ground(Term) -> true ; 'raise'('terms with unknown parts have no order', Term) ).
'must be pairs'(List) :-
    (   'member of'(List, Item), \+ Item = _-_
    ->  'raise'('a pair was expected', Item)
    ;   true
    ).

'sorted set'(List, Sorted) :-
    'must be list'(List), 'must be known'(List), 'raw sort'(0, @<, List, Result), Sorted = Result.
'sorted list'(List, Sorted) :-
    'must be list'(List),
    (   ground(List)
    ->  'raw sort'(0, @=<, List, Result)
    ;   'sorted with'(-1000000000000, List, Result),
        'sorted with'(z(z, z, z, z, z, z, z, z), List, Other),
        (   Result == Other -> true ; 'must be known'(List) )
    ),
    Sorted = Result.
'sorted with'(Filler, List, Sorted) :-
    'keyed by copies'(List, Filler, Pairs),
    'raw sort'(1, @=<, Pairs, Ordered),
    'values without ties'(Ordered, List, Sorted).
'keyed by copies'([], _, []).
'keyed by copies'([Item|Items], Filler, [Key-Item|Pairs]) :-
    'filled copy'(Item, Filler, Key), 'keyed by copies'(Items, Filler, Pairs).
'values without ties'([], _, []).
'values without ties'([Key-Item|Pairs], List, [Item|Items]) :-
    (   Pairs = [Next-_|_], Key == Next, \+ ground(Item) -> 'must be known'(List) ; true ),
    'values without ties'(Pairs, List, Items).
'sorted pairs'(List, Sorted) :-
    'must be list'(List), 'must be pairs'(List),
    pairs_keys(List, Keys), 'must be known'(Keys),
    'raw sort'(1, @=<, List, Result), Sorted = Result.
'sorted by'(Key, Order, List, Sorted) :-
    (   integer(Key), Key >= 0 -> true ; 'raise'('sort/4 takes the position of an argument, or 0', Key) ),
    (   ground(Order), 'member of'([@<, @=<, @>, @>=], Order) -> true
    ;   'raise'('sort/4 takes one of @<, @=<, @>, @>=', Order)
    ),
    'must be list'(List), 'must be known'(List), 'raw sort'(Key, Order, List, Result), Sorted = Result.

'ordered as'(Order, Left, Right) :-
    'must be known'(Left), 'must be known'(Right), 'raw compare'(Result, Left, Right), Order = Result.
'stands before'(Left, Right) :- 'ordered as'(<, Left, Right).
'stands after'(Left, Right) :- 'ordered as'(>, Left, Right).
'stands not after'(Left, Right) :- 'ordered as'(Order, Left, Right), Order \== (>).
'stands not before'(Left, Right) :- 'ordered as'(Order, Left, Right), Order \== (<).

append([], Back, Back).
append([Item|Front], Back, [Item|Whole]) :- append(Front, Back, Whole).

append(Lists, Whole) :- 'must be list'(Lists), 'join lists'(Lists, Whole).
'join lists'([], []).
'join lists'([List|Lists], Whole) :- append(List, Rest, Whole), 'join lists'(Lists, Rest).

member(Item, [First|Rest]) :- 'member of'(Rest, Item, First).
'member of'(_, Item, Item).
'member of'([First|Rest], Item, _) :- 'member of'(Rest, Item, First).
'member of'(List, Item) :- member(Item, List).
memberchk(Item, List) :- once(member(Item, List)).

select(Item, [Item|Rest], Rest).
select(Item, [First|List], [First|Rest]) :- select(Item, List, Rest).
selectchk(Item, List, Rest) :- once(select(Item, List, Rest)).

permutation(List, Permutation) :- 'must be list'(List), permuted(List, Permutation).
permuted([], []).
permuted([First|Rest], [Item|Permutation]) :- select(Item, [First|Rest], Others), permuted(Others, Permutation).

last([First|Rest], Last) :- 'last of'(Rest, First, Last).
'last of'([], Last, Last).
'last of'([First|Rest], _, Last) :- 'last of'(Rest, First, Last).

reverse(List, Reversed) :- 'must be list'(List), 'reverse onto'(List, [], Reversed).
'reverse onto'([], Reversed, Reversed).
'reverse onto'([First|Rest], Done, Reversed) :- 'reverse onto'(Rest, [First|Done], Reversed).

same_length([], []).
same_length([_|List], [_|Other]) :- same_length(List, Other).

nth0(Index, List, Item) :- 'item at'(Index, 0, List, Item).
nth1(Index, List, Item) :- 'item at'(Index, 1, List, Item).
'item at'(Index, Base, List, Item) :-
    (   var(Index)
    ->  'item from'(List, Item, Base, Index)
    ;   integer(Index)
    ->  Skipped is Index - Base,
        Skipped >= 0,
        'item after'(Skipped, List, Item)
    ;   'raise'('the position in a list is a whole number', Index)
    ).
'item from'([First|Rest], Item, Here, Index) :- 'item from'(Rest, First, Item, Here, Index).
'item from'(_, Item, Item, Index, Index).
'item from'([First|Rest], _, Item, Here, Index) :- Next is Here + 1, 'item from'(Rest, First, Item, Next, Index).
'item after'(Skipped, [First|Rest], Item) :-
    (   Skipped =:= 0
    ->  Item = First
    ;   Fewer is Skipped - 1,
        'item after'(Fewer, Rest, Item)
    ).

numlist(Low, High, List) :-
    (   integer(Low), integer(High) -> true ; 'raise'('numlist/3 takes two whole numbers', Low-High) ),
    Low =< High,
    'numbers from'(Low, High, List).
'numbers from'(Low, High, [Low|Rest]) :-
    (   Low =:= High
    ->  Rest = []
    ;   Next is Low + 1,
        'numbers from'(Next, High, Rest)
    ).

sum_list(List, Sum) :- 'must be list'(List), 'sum onto'(List, 0, Sum).
sumlist(List, Sum) :- sum_list(List, Sum).
'sum onto'([], Sum, Sum).
'sum onto'([Item|Items], Before, Sum) :- Next is Before + Item, 'sum onto'(Items, Next, Sum).
max_list(List, Max) :- 'must be list'(List), List = [First|Rest], Value is First, 'max onto'(Rest, Value, Max).
'max onto'([], Max, Max).
'max onto'([Item|Items], Before, Max) :- Next is max(Before, Item), 'max onto'(Items, Next, Max).
min_list(List, Min) :- 'must be list'(List), List = [First|Rest], Value is First, 'min onto'(Rest, Value, Min).
'min onto'([], Min, Min).
'min onto'([Item|Items], Before, Min) :- Next is min(Before, Item), 'min onto'(Items, Next, Min).
'sum of'(List, Sum) :- sum_list(List, Sum).
'max of'(List, Max) :- max_list(List, Max).
'min of'(List, Min) :- min_list(List, Min).
max_member(Max, List) :- 'sorted list'(List, Sorted), last(Sorted, Found), Max = Found.
min_member(Min, List) :- 'sorted list'(List, [Found|_]), Min = Found.

'largest pair'([Value-Witness|Pairs], Best) :- First is Value, 'larger onto'(Pairs, First, Witness, Best).
'larger onto'([], Value, Witness, max(Value, Witness)).
'larger onto'([Value-Witness|Pairs], Old, Before, Best) :-
    Number is Value,
    (   Number > Old -> 'larger onto'(Pairs, Number, Witness, Best) ; 'larger onto'(Pairs, Old, Before, Best) ).
'smallest pair'([Value-Witness|Pairs], Best) :- First is Value, 'smaller onto'(Pairs, First, Witness, Best).
'smaller onto'([], Value, Witness, min(Value, Witness)).
'smaller onto'([Value-Witness|Pairs], Old, Before, Best) :-
    Number is Value,
    (   Number < Old -> 'smaller onto'(Pairs, Number, Witness, Best) ; 'smaller onto'(Pairs, Old, Before, Best) ).

succ(Before, After) :-
    (   integer(Before), Before >= 0 -> After is Before + 1
    ;   var(Before), integer(After), After >= 0 -> After > 0, Before is After - 1
    ;   'raise'('succ/2 takes whole numbers of at least 0', Before-After)
    ).
plus(First, Second, Sum) :-
    (   number(First), number(Second) -> Sum is First + Second
    ;   number(First), number(Sum) -> Second is Sum - First
    ;   number(Second), number(Sum) -> First is Sum - Second
    ;   'raise'('plus/3 needs two numbers', First-Second)
    ).

subtract(Items, Removed, Rest) :- 'must be list'(Items), 'items without'(Items, Removed, Rest).
'items without'([], _, []).
'items without'([Item|Items], Removed, Rest) :-
    (   memberchk(Item, Removed) -> Others = Rest ; Rest = [Item|Others] ),
    'items without'(Items, Removed, Others).

intersection(Items, Other, Common) :- 'must be list'(Items), 'items within'(Items, Other, Common).
'items within'([], _, []).
'items within'([Item|Items], Other, Common) :-
    (   memberchk(Item, Other) -> Common = [Item|Rest] ; Rest = Common ),
    'items within'(Items, Other, Rest).

union(Items, Other, Union) :- 'must be list'(Items), 'items besides'(Items, Other, Union).
'items besides'([], Other, Other).
'items besides'([Item|Items], Other, Union) :-
    (   memberchk(Item, Other) -> Rest = Union ; Union = [Item|Rest] ),
    'items besides'(Items, Other, Rest).

subset(Items, Set) :- 'must be list'(Items), 'all within'(Items, Set).
'all within'([], _).
'all within'([Item|Items], Set) :- memberchk(Item, Set), 'all within'(Items, Set).

is_set(Set) :- is_list(Set), \+ 'holds twice'(Set).
'holds twice'([Item|Items]) :- 'is in'(Item, Items).
'holds twice'([_|Items]) :- 'holds twice'(Items).
'is in'(Item, [First|Items]) :- ( Item == First -> true ; 'is in'(Item, Items) ).
list_to_set(List, Set) :- 'must be list'(List), 'each once'(List, [], Set).
'each once'([], _, []).
'each once'([Item|Items], Seen, Once) :-
    (   'is in'(Item, Seen)
    ->  'each once'(Items, Seen, Once)
    ;   Once = [Item|Rest],
        'each once'(Items, [Item|Seen], Rest)
    ).

nextto(First, Second, [First,Second|_]).
nextto(First, Second, [_|Rest]) :- nextto(First, Second, Rest).

dif(A, B) :- ( A \= B -> true ; A == B -> fail ; 'raise'('whether dif/2 holds is not known yet', A-B) ).

delete([], _, []).
delete([First|List], Item, Rest) :-
    (   First \= Item -> Rest = [First|Others] ; Rest = Others ),
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

random(Low, High, Number) :- Highest is High - 1, random_between(Low, Highest, Number).
random_member(Item, List) :-
    'must be list'(List),
    'raw length'(List, Length),
    Length > 0,
    random_between(1, Length, Position),
    nth1(Position, List, Item).
maybe :- random_between(0, 1, 0).

highest([_-Move|_], Move).

'bag of'(Group, Pairs, Bag) :-
    pairs_keys(Pairs, Keys), 'sorted set'(Keys, Groups), 'member of'(Groups, Group), 'values of'(Pairs, Group, Bag).
'set of'(Group, Pairs, Set) :- 'bag of'(Group, Pairs, Bag), 'sorted set'(Bag, Set).
'values of'([], _, []).
'values of'([Key-Value|Pairs], Group, Values) :-
    ( Key == Group -> Values = [Value|Rest] ; Values = Rest ), 'values of'(Pairs, Group, Rest).
