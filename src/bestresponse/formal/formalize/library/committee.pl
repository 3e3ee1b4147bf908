% Three players vote at the same time; a rule counts the votes instead of one fact for every combination.
initial(s0).
initially(player(P), s0) :- member(P, [tara, umar, vera]).
initially(control(P), s0) :- member(P, [tara, umar, vera]).

legal(move(P, M), S) :- holds(control(P), S), member(M, [lake, hills]).

effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).

final(S) :- \+ holds(control(_), S).

chosen(S, lake) :- aggregate_all(count, holds(did(_, lake), S), N), N >= 2.
chosen(S, hills) :- aggregate_all(count, holds(did(_, hills), S), N), N >= 2.

% gets(player, place, payoff)
gets(tara, lake, 2).
gets(tara, hills, 1).
gets(umar, lake, 0).
gets(umar, hills, 3).
gets(vera, lake, 1).
gets(vera, hills, 0).

finally(goal(P, U), S) :- final(S), chosen(S, Place), gets(P, Place, U).
