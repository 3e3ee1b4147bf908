% Three players at the same time; the payoffs are computed.
initial(s0).
initially(player(iris), s0).
initially(player(jan), s0).
initially(player(kim), s0).
initially(control(P), s0) :- initially(player(P), s0).

possible(move(P, pay), S) :- holds(player(P), S).
possible(move(P, keep), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).

effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).

% The game is over when nobody may move any more.
final(S) :- \+ holds(control(_), S).

kept(pay, 0).
kept(keep, 6).

% Every payer's 6 coins are doubled and split among three.
share(S, Share) :-
    findall(P, holds(did(P, pay), S), Payers),
    length(Payers, N),
    Share is N * 6 * 2 / 3.

finally(goal(P, U), S) :-
    final(S),
    holds(did(P, M), S),
    kept(M, Coins),
    share(S, Share),
    U is Coins + Share.
