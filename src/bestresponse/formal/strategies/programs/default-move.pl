% Default move: the same move in every round, the one that the game names as default.
select(Player, _Opponent, Situation, Move) :-
    holds(default_move(Player, Move), Situation).
