% Random: every legal move is as likely as any other.
select(Player, _Opponent, Situation, Move) :-
    findall(Option, option(Player, Option, Situation), Found),
    sort(Found, Options),
    random_member(Move, Options).

option(Player, Move, Situation) :-
    legal(Made, Situation),
    ( Made = move(Player, Move) ; Made = choice(Player, Move) ).
