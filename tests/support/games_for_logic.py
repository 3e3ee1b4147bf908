"""Game programs that several tests use."""

DILEMMA = """
initial(s0).
initially(player(p1), s0).
initially(player(p2), s0).
initially(role(p1, row), s0).
initially(role(p2, col), s0).
initially(control(p1), s0).
initially(control(p2), s0).
initially(default_move(_, 'C'), s0).
possible(move(P, 'D'), S) :- holds(player(P), S).
possible(move(P, 'C'), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
opposite_move('C', 'D').
opposite_move('D', 'C').
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
final(do(M2, do(M1, S))) :- ground(M2), ground(M1), initial(S).
payoff('D', 'D', 1, 1).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('C', 'C', 3, 3).
finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    final(S),
    holds(role(P1, row), S),
    holds(did(P1, M1), S),
    holds(role(P2, col), S),
    holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
"""

SEQUENTIAL = """
initial(start).
initially(player(leader), start).
initially(player(follower), start).
initially(control(leader), start).
option(leader, in). option(leader, out).
option(follower, fight). option(follower, yield).
legal(move(P, M), S) :- holds(control(P), S), option(P, M).
effect(did(P, M), move(P, M), _).
effect(control(follower), move(leader, in), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(did(leader, out), S).
final(S) :- holds(did(follower, _), S).
finally(goal(leader, U), S) :- result(S, U, _).
finally(goal(follower, U), S) :- result(S, _, U).
result(S, 0, 2) :- holds(did(leader, out), S).
result(S, -1, -1) :- holds(did(follower, fight), S).
result(S, 1, 1) :- holds(did(follower, yield), S).
"""


def simultaneous(players: int, moves: int) -> str:
    """A game in which everybody names a number at once and is paid twice the sum minus three times
    its own."""
    names = [f"p{number}" for number in range(1, players + 1)]
    facts = [f"initially(player({name}), s0). initially(control({name}), s0)." for name in names]
    values = [f"value(m{number}, {number})." for number in range(moves)]
    situation = "S"
    for _ in names:
        situation = f"do(_, {situation})"
    rules = [
        "initial(s0).",
        "legal(move(P, M), S) :- holds(control(P), S), value(M, _).",
        "effect(did(P, M), move(P, M), _).",
        "abnormal(control(P), move(P, _), _).",
        f"final({situation}) :- initial(S).",
        (
            "finally(goal(P, U), S) :- final(S), holds(did(P, M), S), value(M, W), total(S, T), U"
            " is T * 2 - W * 3."
        ),
        "total(S, T) :- findall(V, (holds(did(_, N), S), value(N, V)), Vs), sum_list(Vs, T).",
    ]
    return "\n".join([*facts, *values, *rules])


KUHN = """
% Kuhn poker: three cards, one each, a bet of one.
initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
cards([jack, queen, king]).
beats(queen, jack). beats(king, jack). beats(king, queen).
chance(move(nature, deal(A, B)), 1/6, s0) :- cards(Cards), member(A, Cards), member(B, Cards), A \\= B.
sees(ann, card(A), do(move(nature, deal(A, _)), _)).
sees(bob, card(B), do(move(nature, deal(_, B)), _)).
sees(P, heard(Q, M), do(move(Q, M), _)) :- member(P, [ann, bob]), member(Q, [ann, bob]), P \\= Q.
effect(cards(A, B), move(nature, deal(A, B)), _).
effect(control(ann), move(nature, _), _).
effect(did(P, M), move(P, M), _) :- P \\= nature.
effect(control(bob), move(ann, check), _).
effect(control(bob), move(ann, bet), S) :- \\+ holds(did(_, _), S).
effect(control(ann), move(bob, bet), S) :- holds(did(ann, check), S).
abnormal(control(P), move(P, _), _).
legal(move(P, M), S) :- holds(control(P), S), options(S, Ms), member(M, Ms).
options(S, [call, fold]) :- holds(did(_, bet), S), !.
options(_, [check, bet]).
final(S) :- holds(cards(_, _), S), \\+ holds(control(_), S).
winner(S, ann) :- holds(cards(A, B), S), beats(A, B).
winner(S, bob) :- holds(cards(A, B), S), beats(B, A).
stake(S, 2) :- holds(did(_, call), S), !.
stake(_, 1).
ann_wins(S, U) :- holds(did(ann, fold), S), !, U is -1.
ann_wins(S, U) :- holds(did(bob, fold), S), !, U = 1.
ann_wins(S, U) :- winner(S, ann), !, stake(S, U).
ann_wins(S, U) :- stake(S, T), U is -T.
finally(goal(ann, U), S) :- ann_wins(S, U).
finally(goal(bob, U), S) :- ann_wins(S, V), U is -V.
"""
"""Poker with three cards (Kuhn 1950): the first player loses 1/18 a hand in equilibrium."""
