% How a table is taken out of a game (see table.py): asked about a program, never in it.

'known situation'(Situation, Situation).

table_row(Blocks, Goals) :-
    initial(Situation),
    'play on'(Situation, 300, waiting([], [], []), [], Blocks, Goals).

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
    ->  'count end',
        Block = [],
        Blocks = [],
        findall(Player-Payoff, finally(goal(Player, Payoff), Situation), Goals)
    ;   Left =:= 0
    ->  'raise'('a play is not over after 300 moves (check final/1 and legal/2)', Situation)
    ;   Fewer is Left - 1,
        'go on'(Situation, Fewer, Waiting, Block, Blocks, Goals)
    ).

'go on'(Situation, Left, Waiting, Block, Blocks, Goals) :-
    (   'moves of the next'(Waiting, Situation, Options, Others, Early)
    ->  'in the block'(Early, Situation, Left, Options, Others, Block, Blocks, Goals)
    ;   findall('by chance'(Move, Probability), chance(Move, Probability, Situation), [First|More])
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
    (   'drawn twice'(Draws, [], Twice)
    ->  Blocks = [],
        Goals = twice(Twice)
    ;   'one of'('by chance'(Move, Probability), Draws),
        'with what is seen'('by chance'(Move, Probability), Move, Situation, Step),
        Blocks = [[Step]|Later],
        'play on'(do(Move, Situation), Left, waiting([], [], []), [], Later, Goals)
    ).

'drawn twice'(['by chance'(Move, _)|Draws], Seen, Twice) :-
    (   'is in'(Move, Seen)
    ->  Twice = Move
    ;   'drawn twice'(Draws, [Move|Seen], Twice)
    ).

'with what is seen'(Made, Move, Situation, Step) :-
    (   'has percepts',
        findall(Player-Percept, sees(Player, Percept, do(Move, Situation)), [First|Percepts])
    ->  Step = 'made and seen'(Made, [First|Percepts])
    ;   Step = Made
    ).

'moves of the next'(waiting([Mover|Movers], Forms, All), Situation, Options, waiting(Movers, Forms, All), Early) :-
    Forms = [_|_],
    findall(Other-Move, ( 'one of'(Move, Forms), legal(Move, Situation), 'first argument'(Move, Other) ), Moves),
    'options of'(Mover, Moves, Options),
    Options = [_|_],
    (   \+ 'has percepts',
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

'other movers'([Mover-Move|Moves], Situation, Others, Forms) :-
    'the movers'(Moves, [Mover], Others),
    (   Others == [] -> true ; 'expect combinations'([Mover-Move|Moves], Situation) ),
    'the forms'([Mover-Move|Moves], [], Forms).

'expect combinations'(_, _).

'distinct moves'(Moves, Options) :-
    (   ground(Moves),
        'raw length'(Moves, Length),
        'raw sort'(0, @<, Moves, Set),
        'raw length'(Set, Length)
    ->  Options = Moves
    ;   'each once'(Moves, [], Options)
    ).

'next step'([], _, _, _, [], [], stuck).
'next step'([Mover-Move|Moves], Situation, Left, waiting(Waiting, Forms, All), Block, Blocks, Goals) :-
    (   'taken out'(Waiting, Mover, Others)
    ->  When = now,
        Next = waiting(Others, Forms, All)
    ;   'other movers'([Mover-Move|Moves], Situation, Others, NewForms),
        Next = waiting(Others, NewForms, [Mover|Others]),
        When = next
    ),
    'options of'(Mover, [Mover-Move|Moves], Options),
    'one of'(Made, Options),
    'with what is seen'(Made, Made, Situation, Step),
    'put down'(When, Step, Block, Blocks, Rest, Later),
    'play on'(do(Made, Situation), Left, Next, Rest, Later, Goals).

'put down'(now, Move, [Move|Rest], Blocks, Rest, Blocks).
'put down'(next, Move, [], [[Move|Rest]|Later], Rest, Later).

'the forms'([], Forms, Forms).
'the forms'([_-Move|Moves], Seen, Forms) :-
    (   \+ compound(Move)
    ->  Forms = []
    ;   \+ \+ 'one of'(Move, Seen)
    ->  'the forms'(Moves, Seen, Forms)
    ;   'form of'(Move, Form),
        'the forms'(Moves, [Form|Seen], Forms)
    ).

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

table_play(Steps, Goals) :-
    initial(Situation),
    'play freely'(Situation, 300, Steps, Goals).

'play freely'(Reached, Left, Steps, Goals) :-
    'next position',
    'known situation'(Reached, Situation),
    (   final(Situation)
    ->  Steps = [],
        findall(Player-Payoff, finally(goal(Player, Payoff), Situation), Goals)
    ;   Left > 0,
        Fewer is Left - 1,
        'what may come'(Situation, Options),
        'one of'(Made, Options),
        (   Made = 'by chance'(Move, _) -> true ; Move = Made ),
        'with what is seen'(Made, Move, Situation, Step),
        Steps = [Step|Later],
        'play freely'(do(Move, Situation), Fewer, Later, Goals)
    ).

'what may come'(Situation, Options) :-
    (   findall('by chance'(Move, Probability), chance(Move, Probability, Situation), [First|More])
    ->  Options = [First|More]
    ;   findall(Move, legal(Move, Situation), Moves),
        'distinct moves'(Moves, Options)
    ).
