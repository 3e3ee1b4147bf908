% Anti-default move: in every round the opposite of the game's default move.
select(Player, _Opponent, Situation, Move) :-
    holds(default_move(Player, Default), Situation),
    opposite_move(Default, Move).
