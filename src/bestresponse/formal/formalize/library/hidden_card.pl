% Chance draws a card that only Ines sees; Jonas sees what she does.
initial(s0).
initially(player(ines), s0).
initially(player(jonas), s0).

chance(move(nature, Card), 1/2, s0) :- member(Card, [queen, king]).
sees(ines, Card, do(move(nature, Card), _S)).
sees(jonas, M, do(move(ines, M), _S)).
sees(ines, M, do(move(jonas, M), _S)).

effect(card(Card), move(nature, Card), _S).
effect(control(ines), move(nature, _Card), _S).
effect(did(P, M), move(P, M), _S) :- member(P, [ines, jonas]).
effect(control(jonas), move(ines, double), _S).
abnormal(control(P), move(P, _M), _S).

possible(ines, give_up).
possible(ines, double).
possible(jonas, fold).
possible(jonas, pay).
legal(move(P, M), S) :- holds(control(P), S), possible(P, M).

final(S) :- holds(card(_), S), \+ holds(control(_), S).

% wins(situation, what Ines wins)
wins(S, -1) :- holds(did(ines, give_up), S).
wins(S, 1) :- holds(did(jonas, fold), S).
wins(S, 2) :- holds(did(jonas, pay), S), holds(card(king), S).
wins(S, -2) :- holds(did(jonas, pay), S), holds(card(queen), S).

finally(goal(ines, U), S) :- wins(S, U).
finally(goal(jonas, U), S) :- wins(S, V), U is -V.
