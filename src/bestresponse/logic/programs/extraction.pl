% How a table is taken out of a game (see table.py): asked about a program, never in it.

'known situation'(Situation, Situation).

table_row(Blocks, Goals) :-
    initial(Situation),
    'play on'(Situation, 300, waiting([], [], [], []), [], Blocks, Goals).

table_rows(Starts, Rows) :-
    findall(Players, ( initial(Start), findall(Player, holds(player(Player), Start), Players) ), Starts),
    findall(Blocks-Goals, table_row(Blocks, Goals), Rows).

'may be made'(Move, Reached) :-
    'known situation'(Reached, Situation),
    (   legal(Move, Situation)
    ->  true
    ;   legal(Legal, Situation),
        Legal == Move
    ->  true
    ).

'play on'(Reached, Left, Waiting, Block, Blocks, Goals) :-
    'next position',
    'known situation'(Reached, Situation),
    (   final(Situation)
    ->  Block = [],
        Blocks = [],
        'at the end'(Waiting, Situation, Goals)
    ;   Left =:= 0
    ->  'raise'('a play is not over after 300 moves (check final/1 and legal/2)', Situation)
    ;   Fewer is Left - 1,
        'go on'(Situation, Fewer, Waiting, Block, Blocks, Goals)
    ).

% A play that ends before all who move at the same time have moved is told of, and an end all the same.
'at the end'(waiting([Mover|_], _, _, _), _, gap(lost(Mover))).
'at the end'(_, Situation, Goals) :-
    'count end',
    findall(Player-Payoff, finally(goal(Player, Payoff), Situation), Goals).

% While others of a block still have to move, who may move is compared with who should: every position tells, once.
'go on'(Situation, Left, Waiting, Block, Blocks, Goals) :-
    (   Waiting = waiting([_|_], _, _, [Rest|_])
    ->  findall(Mover-Move, ( legal(Move, Situation), 'mover of'(Move, Mover) ), Moves),
        (   'same moves'(Moves, Rest) -> Fit = same ; Fit = different ),
        'in or after the block'(Fit, Moves, Situation, Left, Waiting, Block, Blocks, Goals)
    ;   'after the block'(Situation, Left, Waiting, Block, Blocks, Goals)
    ).

'in or after the block'(Fit, Moves, Situation, _, waiting(Movers, _, All, [Rest|_]), [], [], gap(Gap)) :-
    'gap between'(Fit, Moves, Rest, Movers, All, Situation, Gap).
'in or after the block'(Fit, Moves, Situation, Left, Waiting, Block, Blocks, Goals) :-
    (   'moves of the next'(Waiting, Fit, Moves, Options, Others, Early)
    ->  'in the block'(Early, Situation, Left, Options, Others, Block, Blocks, Goals)
    ;   'after the block'(Situation, Left, Waiting, Block, Blocks, Goals)
    ).

'gap between'(same, _, _, _, _, Situation, draw) :-
    \+ 'has percepts',
    'may draw'(Situation).
'gap between'(different, Moves, Rest, Movers, All, _, Gap) :-
    'first gap'(Moves, Rest, Movers, All, Gap).

'may draw'(Situation) :-
    (   chance(_, _, Situation) -> true ).

'same moves'(Moves, Rest) :-
    (   Moves == Rest
    ->  true
    ;   'raw sort'(0, @<, Moves, Sorted),
        'raw sort'(0, @<, Rest, Sorted)
    ).

'first gap'(Moves, Rest, Movers, All, Gap) :-
    (   'one of'(Mover-_, Rest),
        'moves of'(Mover, Moves, [])
    ->  Gap = lost(Mover)
    ;   'one of'(Mover-Move, Rest),
        \+ 'is in'(Mover-Move, Moves)
    ->  Gap = other(Mover)
    ;   'one of'(Mover-Move, Moves),
        \+ 'is in'(Mover-Move, Rest),
        'is in'(Mover, Movers)
    ->  Gap = other(Mover)
    ;   \+ 'has percepts',
        'one of'(Mover-_, Moves),
        \+ 'is in'(Mover, Movers)
    ->  (   'is in'(Mover, All) -> Gap = again(Mover) ; Gap = early(Mover) )
    ).

'after the block'(Situation, Left, Waiting, Block, Blocks, Goals) :-
    (   findall('by chance'(Move, Probability), chance(Move, Probability, Situation), [First|More])
    ->  Block = [],
        'drawn from'([First|More], Situation, Left, Blocks, Goals)
    ;   findall(Mover-Move, ( legal(Move, Situation), 'mover of'(Move, Mover) ), Moves),
        'next step'(Moves, Situation, Left, Waiting, Block, Blocks, Goals)
    ).

'in the block'(early(Mover), _, _, _, _, [], [], early(Mover)).
'in the block'(nobody, Situation, Left, Options, Others, [Step|Rest], Blocks, Goals) :-
    'one of'(Made, Options),
    'with what is seen'(Made, Made, Situation, Step),
    'play on'(do(Made, Situation), Left, Others, Rest, Blocks, Goals).

'drawn from'(Draws, Situation, Left, Blocks, Goals) :-
    (   'outcomes of'(Draws, Outcomes),
        \+ 'are distinct'(Outcomes),
        'drawn twice'(Outcomes, [], Twice)
    ->  Blocks = [],
        Goals = twice(Twice)
    ;   'one of'('by chance'(Move, Probability), Draws),
        'with what is seen'('by chance'(Move, Probability), Move, Situation, Step),
        Blocks = [[Step]|Later],
        'play on'(do(Move, Situation), Left, waiting([], [], [], []), [], Later, Goals)
    ).

'outcomes of'([], []).
'outcomes of'(['by chance'(Move, _)|Draws], [Move|Moves]) :-
    'outcomes of'(Draws, Moves).

'drawn twice'([Move|Moves], Seen, Twice) :-
    (   'is in'(Move, Seen)
    ->  Twice = Move
    ;   'drawn twice'(Moves, [Move|Seen], Twice)
    ).

'with what is seen'(Made, Move, Situation, Step) :-
    (   'has percepts',
        findall(Player-Percept, sees(Player, Percept, do(Move, Situation)), [First|Percepts])
    ->  Step = 'made and seen'(Made, [First|Percepts])
    ;   Step = Made
    ).

'moves of the next'(Waiting, Fit, Moves, Options, waiting(Movers, compound, All, Rests), Early) :-
    Waiting = waiting([Mover|Movers], compound, All, [_|Rests]),
    'options of'(Mover, Moves, Options),
    Options = [_|_],
    (   Fit == different,
        \+ 'has percepts',
        'mover beside'(All, Moves, Player)
    ->  Early = early(Player)
    ;   Early = nobody
    ).

'mover beside'(All, Moves, Player) :-
    'one of'(Player-_, Moves),
    \+ 'is in'(Player, All).

'options of'(Mover, Moves, Options) :-
    'moves of'(Mover, Moves, Own),
    'distinct moves'(Own, Options).

'other movers'([Mover-Move|Moves], Situation, Waiting) :-
    'the movers'(Moves, [Mover], Others),
    (   Others == []
    ->  Waiting = waiting([], [], [Mover], [])
    ;   'expect combinations'([Mover-Move|Moves], Situation),
        'the kind'([Mover-Move|Moves], Kind),
        'what is left'([Mover|Others], [Mover-Move|Moves], Rests),
        Waiting = waiting(Others, Kind, [Mover|Others], Rests)
    ).

% What may be moved once the first has moved, once the second has too, and so on.
'what is left'([], _, []).
'what is left'([Mover|Movers], Moves, [Rest|Rests]) :-
    'moves of others'(Moves, Mover, Rest),
    'what is left'(Movers, Rest, Rests).

'moves of others'([], _, []).
'moves of others'([Other-Move|Moves], Mover, Rest) :-
    (   Other == Mover
    ->  'moves of others'(Moves, Mover, Rest)
    ;   Rest = [Other-Move|More],
        'moves of others'(Moves, Mover, More)
    ).

% Moves of another kind, such as the bare name of a player, are made by whoever can make one next.
'the kind'([], compound).
'the kind'([_-Move|Moves], Kind) :-
    (   compound(Move)
    ->  'the kind'(Moves, Kind)
    ;   Kind = bare
    ).

'expect combinations'(_, _).

'distinct moves'(Moves, Options) :-
    (   'are distinct'(Moves)
    ->  Options = Moves
    ;   'each once'(Moves, [], Options)
    ).

'are distinct'(Moves) :-
    ground(Moves),
    'raw length'(Moves, Length),
    'raw sort'(0, @<, Moves, Set),
    'raw length'(Set, Length).

'next step'([], _, _, _, [], [], stuck).
'next step'([Mover-Move|Moves], Situation, Left, waiting(Waiting, Kind, All, Rests), Block, Blocks, Goals) :-
    (   'taken out'(Waiting, Mover, Others)
    ->  When = now,
        Rests = [Rest|_],
        'what is left'([Mover|Others], Rest, Later),
        Next = waiting(Others, Kind, All, Later)
    ;   'other movers'([Mover-Move|Moves], Situation, Next),
        When = next
    ),
    'options of'(Mover, [Mover-Move|Moves], Options),
    'one of'(Made, Options),
    'with what is seen'(Made, Made, Situation, Step),
    'put down'(When, Step, Block, Blocks, Rest1, Blocks1),
    'play on'(do(Made, Situation), Left, Next, Rest1, Blocks1, Goals).

'put down'(now, Move, [Move|Rest], Blocks, Rest, Blocks).
'put down'(next, Move, [], [[Move|Rest]|Later], Rest, Later).

'mover of'(Move, Mover) :-
    (   compound(Move)
    ->  'first argument'(Move, Mover)
    ;   Mover = Move
    ).

'taken out'([First|Items], Item, Others) :-
    (   Item == First
    ->  Others = Items
    ;   Others = [First|Rest],
        'taken out'(Items, Item, Rest)
    ).

'the movers'([], _, []).
'the movers'([Mover-_|Moves], Seen, Movers) :-
    (   'is in'(Mover, Seen)
    ->  'the movers'(Moves, Seen, Movers)
    ;   Movers = [Mover|Rest],
        'the movers'(Moves, [Mover|Seen], Rest)
    ).

'moves of'(_, [], []).
'moves of'(Mover, [Other-Move|Others], Moves) :-
    (   Other == Mover
    ->  Moves = [Move|Rest],
        'moves of'(Mover, Others, Rest)
    ;   'moves of'(Mover, Others, Moves)
    ).

'one of'(Item, [Item|_]).
'one of'(Item, [_|Items]) :-
    'one of'(Item, Items).

table_replay(Orders, Results) :-
    initial(Situation),
    findall(Result, ( 'one of'(Moves, Orders), 'played again'(Moves, Situation, Result) ), Results).

'played again'(Moves, Situation, Result) :-
    'next position',
    (   'do all'(Moves, Situation, Reached, Steps),
        'known situation'(Reached, Final),
        final(Final)
    ->  findall(Player-Payoff, finally(goal(Player, Payoff), Final), Goals),
        Result = Steps-Goals
    ;   Result = impossible
    ).

'do all'([], Situation, Situation, []).
'do all'([Step|Steps], Reached, Final, [Again|Later]) :-
    'known situation'(Reached, Situation),
    (   Step = 'made and seen'(Made, _) -> true ; Made = Step ),
    (   Made = 'by chance'(Move, _)
    ->  'the same draw'(Move, Situation, Now)
    ;   Move = Made,
        Now = Made,
        'may be made'(Move, Situation)
    ),
    'with what is seen'(Now, Move, Situation, Again),
    'do all'(Steps, do(Move, Situation), Final, Later).

'the same draw'(Move, Situation, Draw) :-
    (   chance(Move, Probability, Situation)
    ->  Draw = 'by chance'(Move, Probability)
    ;   fail
    ).

% What differs where those who move at the same time move in another order; `Starts` lead to the blocks.
table_gaps(Starts, Gaps) :-
    initial(Situation),
    findall(
        gap(Gap, Steps),
        ( 'one of'(Before, Starts), 'made otherwise'(Before, Situation, Steps, Gap) ),
        Gaps
    ).

'made otherwise'(Before, Situation, Steps, Gap) :-
    'do all'(Before, Situation, Reached, Made),
    'known situation'(Reached, Start),
    findall(Mover-Move, ( legal(Move, Start), 'mover of'(Move, Mover) ), Moves),
    'the movers'(Moves, [], Movers),
    'out of turn'(Start, Moves, Movers, Movers, Made, Steps, Gap).

% Whoever moves next, the others have the same moves as before, until one of them is left.
'out of turn'(Start, Moves, [One, Another|Movers], All, Made, Steps, Gap) :-
    'one of'(Mover, [One, Another|Movers]),
    'moves of others'(Moves, Mover, Rest),
    'the movers'(Rest, [], Others),
    'options of'(Mover, Moves, Options),
    'one of'(Move, Options),
    'next position',
    'with one more'(Made, Move, After),
    (   'gap after'(do(Move, Start), Rest, Others, All, Found)
    ->  Steps = After,
        Gap = Found
    ;   'known situation'(do(Move, Start), Next),
        'out of turn'(Next, Rest, Others, All, After, Steps, Gap)
    ).

'gap after'(Reached, Rest, Movers, All, Gap) :-
    'known situation'(Reached, Situation),
    (   final(Situation)
    ->  Rest = [Mover-_|_],
        Gap = lost(Mover)
    ;   findall(Mover-Move, ( legal(Move, Situation), 'mover of'(Move, Mover) ), Moves),
        (   'same moves'(Moves, Rest) -> Fit = same ; Fit = different ),
        'gap between'(Fit, Moves, Rest, Movers, All, Situation, Gap)
    ).

'with one more'([], Item, [Item]).
'with one more'([First|Items], Item, [First|More]) :-
    'with one more'(Items, Item, More).

% All plays, whoever moves when.
table_play(Order, Steps, Goals) :-
    initial(Situation),
    'play freely'(Situation, 300, Order, Steps, Goals).

'play freely'(Reached, Left, Order, Steps, Goals) :-
    'next position',
    'known situation'(Reached, Situation),
    (   final(Situation)
    ->  Steps = [],
        findall(Player-Payoff, finally(goal(Player, Payoff), Situation), Goals)
    ;   Left > 0,
        Fewer is Left - 1,
        'what may come'(Situation, Coming),
        'in the order'(Order, Coming, Options),
        'one of'(Made, Options),
        (   Made = 'by chance'(Move, _) -> true ; Move = Made ),
        'with what is seen'(Made, Move, Situation, Step),
        Steps = [Step|Later],
        'play freely'(do(Move, Situation), Fewer, Order, Later, Goals)
    ).

'in the order'(first, Options, Options).
'in the order'(last, Options, Turned) :-
    'turned round'(Options, [], Turned).

'turned round'([], Turned, Turned).
'turned round'([Item|Items], Before, Turned) :-
    'turned round'(Items, [Item|Before], Turned).

'what may come'(Situation, Options) :-
    (   findall('by chance'(Move, Probability), chance(Move, Probability, Situation), [First|More])
    ->  Options = [First|More]
    ;   findall(Move, legal(Move, Situation), Moves),
        'distinct moves'(Moves, Options)
    ).

table_start(Fluents) :-
    initial(Situation),
    findall(Fluent, holds(Fluent, Situation), Fluents).

table_positions(Positions, Rows) :-
    findall(Row, ( 'one of'(Position, Positions), 'seen from'(Position, Row) ), Rows).

'seen from'(Position, Row) :-
    'next position',
    (   final(Position)
    ->  findall(Player-Payoff, finally(goal(Player, Payoff), Position), Goals),
        Row = end(Goals)
    ;   'what may come'(Position, Options),
        findall(Made-Fluents, ( 'one of'(Made, Options), 'what it leads to'(Made, Position, Fluents) ), Steps),
        Row = steps(Steps)
    ).

'what it leads to'(Made, Position, Fluents) :-
    (   Made = 'by chance'(Move, _) -> true ; Move = Made ),
    findall(Fluent, holds(Fluent, do(Move, Position)), Fluents).
