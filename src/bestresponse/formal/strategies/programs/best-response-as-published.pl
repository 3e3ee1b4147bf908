% Best response as it was run in the published tournament: the default move first, afterwards the move that earns most
% against the opponent's last move among those that earn at least as much as the opponent does. Moves that earn less
% than the opponent are never considered; of equally good ones the name that comes last in the alphabet is taken. As
% there, payoffs are reckoned as if it sat in the first seat, wherever it sits.
select(Player, Opponent, Situation, Move) :-
    (   holds(last_move(Opponent, Seen), Situation)
    ->  findall(Earned-Option, ahead(Option, Seen, Situation, Earned), Options),
        msort(Options, Ascending),
        last(Ascending, _Most-Move)
    ;   holds(default_move(Player, Move), Situation)
    ).

ahead(Option, Seen, Situation, Earned) :-
    game(Situation, Final),
    finally(outcome(_First, Option, Earned, _Second, Seen, Theirs), Final),
    Earned >= Theirs.
