% Best response: the default move first, afterwards a move that earns most against the opponent's move of the round
% before; of several such moves the one that the game lists first.
select(Player, Opponent, Situation, Move) :-
    (   holds(last_move(Opponent, Seen), Situation)
    ->  findall(Earned-Option, earns(Player, Option, Opponent, Seen, Situation, Earned), Options),
        most(Options, Move)
    ;   holds(default_move(Player, Move), Situation)
    ).

earns(Player, Option, Opponent, Seen, Situation, Earned) :-
    chooses(Opponent, Seen, Situation, Between),
    chooses(Player, Option, Between, After),
    game(After, Final),
    finally(goal(Player, Earned), Final).

chooses(Player, Move, Situation, do(Made, Situation)) :-
    legal(Made, Situation),
    ( Made = move(Player, Move) ; Made = choice(Player, Move) ).

most([Earned-Option|Options], Move) :-
    most(Options, Earned, Option, Move).

most([], _Most, Move, Move).
most([Earned-Option|Options], Most, Best, Move) :-
    (   Earned > Most
    ->  most(Options, Earned, Option, Move)
    ;   most(Options, Most, Best, Move)
    ).
