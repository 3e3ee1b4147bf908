% Best response as it was run in the published tournament: the default move first, afterwards the move that earns most
% against the opponent's last move among those that earn at least as much as the opponent does. Moves that earn less
% than the opponent are never considered; of equally good ones the name that comes last in the alphabet is taken.
select(Player, Opponent, Situation, Move) :-
    (   holds(last_move(Opponent, Seen), Situation)
    ->  findall(Earned-Option, ahead(Player, Option, Opponent, Seen, Situation, Earned), Options),
        msort(Options, Ascending),
        last(Ascending, _Most-Move)
    ;   holds(default_move(Player, Move), Situation)
    ).

ahead(Player, Option, Opponent, Seen, Situation, Earned) :-
    game(Situation, Final),
    finally(outcome(Player, Option, Earned, Opponent, Seen, Theirs), Final),
    Earned >= Theirs.
