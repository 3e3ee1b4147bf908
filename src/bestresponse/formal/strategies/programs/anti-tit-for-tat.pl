% Anti-tit-for-tat: the default move first, afterwards the opposite of what the opponent did in the round before.
select(Player, Opponent, Situation, Move) :-
    (   holds(last_move(Opponent, Seen), Situation)
    ->  opposite_move(Seen, Move)
    ;   holds(default_move(Player, Move), Situation)
    ).
