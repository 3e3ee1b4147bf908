% Tit-for-tat: the default move first, afterwards whatever the opponent did in the round before.
select(Player, Opponent, Situation, Move) :-
    (   holds(last_move(Opponent, Seen), Situation)
    ->  Move = Seen
    ;   holds(default_move(Player, Move), Situation)
    ).
