"""Games as other writers would write them: the same dilemma in other words, and games of other
shapes.

`SAME` are pieces that take the place of the payoffs in `FRAME`; each game must come out with the
table `RIGHT`. `WHOLE` are other layouts of the whole program. `SHAPES` are games of their own, with
the payoffs of all their ends in order.
"""

from __future__ import annotations

__all__ = ["FRAME", "PLAIN", "REFUSED", "RIGHT", "SAME", "SHAPES", "WHOLE"]

RIGHT = [(3, 3), (0, 5), (5, 0), (1, 1)]

FRAME = """
initial(s0).
initially(player(p1), s0).
initially(player(p2), s0).
initially(control(P), s0) :- initially(player(P), s0).
possible(move(P, M), S) :- holds(player(P), S), member(M, ['C', 'D']).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
final(do(move(_, _), do(move(_, _), S))) :- initial(S).
finally(goal(p1, U), S) :- final(S), holds(did(p1, A), S), holds(did(p2, B), S), payoff(A, B, U, _).
finally(goal(p2, U), S) :- final(S), holds(did(p1, A), S), holds(did(p2, B), S), payoff(A, B, _, U).
"""

PLAIN = """
payoff('C', 'C', 3, 3).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('D', 'D', 1, 1).
"""

CELLS = "cell('C', 'C', 3, 3). cell('C', 'D', 0, 5). cell('D', 'C', 5, 0). cell('D', 'D', 1, 1).\n"

_GOALS = {
    "a lambda": "maplist([X, Y]>>(Y is X * 2), [U, V], [_, _])",
    "a lambda over a variable outside": "K = 3, maplist([X, Y]>>(Y is X + K), [1, 2], [4, 5])",
    "a lambda that shares": "maplist({Z}/[X]>>(X = Z), [7, 7]), Z == 7",
    "a lambda twice with one name": (
        "include([X]>>(X > 1), [1, 2], [2]), exclude([X]>>(X > 1), [1, 2], [1])"
    ),
    "a lambda that leaves no binding": "maplist([X]>>(W = X), [1, 2]), var(W)",
    "a lambda in a lambda": (
        "maplist([L, S]>>foldl([X, A0, A1]>>(A1 is A0 + X), L, 0, S), [[1, 2], [3]], [3, 3])"
    ),
    "printing through maplist": 'maplist(writeln, [U, V]), maplist(format("~w~n"), [[U]])',
    "printing to a stream": (
        'format(user_error, "~w~n", [U]), nl(user_error), write(user_output, V)'
    ),
    "printing messages": (
        "print_message(informational, cell(A, B)), portray_clause(cell(A, B)), flush_output"
    ),
    "a soft cut": "( member(X, [1, 2]) *-> X > 0 ; fail ), !",
    "a soft cut that fails over": "( fail *-> fail ; true )",
    "dif": "dif(A, x), \\+ dif(A, A)",
    "subset": "subset([U], [U, V, 9]), is_set([a, b]), nextto(1, 2, [0, 1, 2])",
    "exact numbers": (
        "X is 10 / 3 + 2 * 0.5, X =:= 13 / 3, Y is X * 3, Y == 13, 0.1 + 0.2 =:= 3 / 10"
    ),
    "text over lines": "X = 'two\nlines', Y = 'caf\\u00e9', X \\== Y",
    "convlist": "convlist([X, Y]>>(X > 1, Y is -X), [1, 2], [-2])",
    "not and bracketed goals": "not((U > 9, V > 9)), \\+ (U > 9 ; V > 9), not(\\+ true)",
    "numbers in a base": "16'FF =:= 255, 0'a =:= 97, 0'' =:= 39, 1.0e2 =:= 100",
    "an undefined call no play reaches": "( U > 100 -> no_such_thing ; true )",
}

SAME = {
    **{
        name: f"payoff(A, B, U, V) :- cell(A, B, U, V), {goal}.\n{CELLS}"
        for name, goal in _GOALS.items()
    },
    "if then else": (
        """
payoff(A, B, U, V) :-
    (   A == 'C', B == 'C' -> U = 3, V = 3
    ;   A == 'C' -> U = 0, V = 5
    ;   B == 'C' -> U = 5, V = 0
    ;   U = 1, V = 1
    ).
"""
    ),
    "a bar for or": (
        """
payoff(A, B, U, V) :- ( A = 'C', B = 'C', U = 3, V = 3 | A = 'C', B = 'D', U = 0, V = 5 | A = 'D', cell(B, U, V) ).
cell('C', 5, 0). cell('D', 1, 1).
"""
    ),
    "a chain of two hundred cases": (
        "payoff(A, B, U, V) :- ( "
        + "".join(f"A == x{n} -> U = {n}, V = {n} ; " for n in range(200))
        + f"cell(A, B, U, V) ).\n{CELLS}"
    ),
    "a list of cells": (
        """
cells([['C', 'C', 3, 3], ['C', 'D', 0, 5], ['D', 'C', 5, 0], ['D', 'D', 1, 1]]).
payoff(A, B, U, V) :- cells(Cells), member([A, B, U, V], Cells).
"""
    ),
    "a matrix": (
        """
index('C', 0). index('D', 1).
payoff(A, B, U, V) :- index(A, I), index(B, J), nth0(I, [[3-3, 0-5], [5-0, 1-1]], Row), nth0(J, Row, U-V).
"""
    ),
    "words for numbers": (
        """
worth(best, 5). worth(good, 3). worth(bad, 1). worth(worst, 0).
feels('C', 'C', good, good). feels('C', 'D', worst, best). feels('D', 'C', best, worst). feels('D', 'D', bad, bad).
payoff(A, B, U, V) :- feels(A, B, X, Y), worth(X, U), worth(Y, V).
"""
    ),
    "an order of wishes": (
        """
wish([good, worst, best, bad]).
payoff(A, B, U, V) :- value(A, B, U), value(B, A, V).
value('C', 'C', U) :- U is max(3, 1).
value('C', 'D', U) :- U is min(0, 2).
value('D', M, U) :- findall(X, (member(X, [5, 1]), fits(M, X)), Xs), sum_list(Xs, U).
fits('C', 5). fits('D', 1).
"""
    ),
    "own library predicates": (
        """
member(X, [X|_]).
member(X, [_|T]) :- member(X, T).
print(X) :- write(X), nl.
max(X, Y, X) :- X >= Y, !.
max(_, Y, Y).
cells([c('C', 'C', 3, 3), c('C', 'D', 0, 5), c('D', 'C', 5, 0), c('D', 'D', 1, 1)]).
payoff(A, B, U, V) :- cells(Cells), member(c(A, B, U, V), Cells), print(U), max(U, V, _).
"""
    ),
    "words that are also commands": """
help(p1, p2). tell(p1, police). spy(alice). catch(hunter, stag). retract(p1, statement). see(p1). transaction(a, b, 3).
open(door). table(p1, 3). sleep(p1). consult(expert, p1). throw(p1, dice). repeat(3). kill(p1). prompt(a).
payoff(A, B, U, V) :- help(p1, p2), spy(_), catch(_, stag), see(p1), repeat(3), cell(A, B, U, V).
"""
    + CELLS,
    "things beside the game": PLAIN
    + """
:- initialization(main).
:- use_module([library(lists), library(yall)]).
:- encoding(utf8).
main :- forall(game(s0, F), (finally(goal(P, U), F), format('~w: ~w~n', [P, U]))), halt.
start :- main.
reset :- retractall(score(_, _)), assertz(score(p1, 0)).
ask(X) :- write('Move? '), read(X).
apply_to(P, L) :- maplist(P, L).
count_solutions(G, N) :- findall(x, G, L), length(L, N).
try(G) :- catch(G, _, true).
show(X) :- show_nicely(X).
:- main.
""",
    "the solver once more": """
game(F, F) :- final(F), !.
game(S, F) :- not(final(S)), legal(M, S), game(do(M, S), F).
holds(F, S) :- initially(F, S).
holds(F, do(A, S)) :- effect(F, A, S).
holds(F, do(A, S)) :- holds(F, S), not(abnormal(F, A, S)).
"""
    + PLAIN,
}

WHOLE = {
    "carriage returns": (FRAME + PLAIN).replace("\n", "\r\n"),
    "only carriage returns": (FRAME + PLAIN).replace("\n", "\r"),
    "tabs and form feeds": (FRAME + "\f" + PLAIN).replace(" ", "\t"),
    "a byte order mark": "\ufeff" + FRAME + PLAIN,
    "a first line for the shell": "#!/usr/bin/env swipl\n" + FRAME + PLAIN,
    "no last line end": (FRAME + PLAIN).rstrip(),
    "comments everywhere": (
        "/** A game.\n * 'quoted\n */\n" + FRAME + PLAIN.replace(").\n", ").% a cell – “so”\n")
    ),
    "Chinese names": (
        (FRAME + PLAIN).replace("'C'", "合作").replace("'D'", "背叛").replace("p1", "甲")
    ),
    "accented names and variables": (FRAME + PLAIN).replace("'C'", "coopérer").replace("U", "Éa"),
    "strings as moves": (FRAME + PLAIN).replace("'C'", '"stay silent"').replace("'D'", '"betray"'),
    "emoji": (FRAME + PLAIN).replace("'C'", "'🤝'").replace("'D'", "'🔪'"),
    "another initial situation": (FRAME + PLAIN).replace("s0", "situation(0)"),
    "choices instead of moves": (FRAME + PLAIN).replace("move(", "choice("),
}

SHAPES = {
    "three voters": (
        """
initial(s0).
voters([v1, v2, v3]).
initially(player(P), s0) :- voters(Vs), member(P, Vs).
initially(control(P), s0) :- voters(Vs), member(P, Vs).
legal(move(P, V), S) :- holds(control(P), S), member(V, [yes, no]).
effect(voted(P, V), move(P, V), _).
abnormal(control(P), move(P, _), _).
final(S) :- voters(Vs), forall(member(V, Vs), holds(voted(V, _), S)).
passes(S) :- aggregate_all(count, holds(voted(_, yes), S), N), N >= 2.
finally(goal(P, U), S) :- final(S), holds(player(P), S), ( passes(S) -> U = 1 ; U = 0 ).
""",
        [(1, 1, 1), (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)],
    ),
    "an ultimatum": (
        """
initial(s0).
initially(player(proposer), s0).
initially(player(responder), s0).
initially(control(proposer), s0).
legal(move(proposer, offer(X)), S) :- holds(control(proposer), S), member(X, [2, 8]).
legal(move(responder, M), S) :- holds(control(responder), S), member(M, [accept, reject]).
effect(offered(X), move(proposer, offer(X)), _).
effect(control(responder), move(proposer, _), _).
effect(answer(M), move(responder, M), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(answer(_), S).
finally(goal(proposer, U), S) :- holds(offered(X), S), ( holds(answer(accept), S) -> U is 10 - X ; U = 0 ).
finally(goal(responder, U), S) :- holds(offered(X), S), ( holds(answer(accept), S) -> U = X ; U = 0 ).
""",
        [(8, 2), (0, 0), (2, 8), (0, 0)],
    ),
    "moves that are predicates": (
        """
initial(s0).
initially(player(p1), s0). initially(player(p2), s0).
legal(hunt(P, Prey), S) :- holds(player(P), S), \\+ holds(hunted(P, _), S), member(Prey, [stag, hare]).
effect(hunted(P, Prey), hunt(P, Prey), _).
final(S) :- forall(holds(player(P), S), holds(hunted(P, _), S)).
caught(stag, stag, 4). caught(stag, hare, 0). caught(hare, _, 3).
finally(goal(P, U), S) :- holds(hunted(P, A), S), holds(hunted(Q, B), S), P \\= Q, caught(A, B, U).
""",
        [(4, 4), (0, 3), (3, 0), (3, 3)],
    ),
}

_DRAWN = "draws by lot, but the rules of a game must always say the same"

REFUSED = {
    ":- module(game, [payoff/4]).": "the directive :- module(game,['/'(payoff,4)]) is not allowed",
    "greeting --> [hello].": "rules with --> are not supported",
    "f(X), X > 1 => true.": "rules with => are not supported",
    ":- op(700, xfx, beats).": "the directive :- op(700,xfx,beats) is not allowed",
    ":- set_prolog_flag(double_quotes, atom).": (
        "the directive :- set_prolog_flag(double_quotes,atom) is not allowed"
    ),
    "write(p1, letter).": "write/2 is built in and cannot be redefined",
    "possible(move(p1, x), _) :- G = fail, call(G).": (
        "the variable G stands where a goal is expected"
    ),
    "possible(move(p1, x), _) :- lists:member(x, []).": "a call into another module cannot be used",
    "possible(move(p1, x), _) :- X is cputime, X < 0.": (
        "cputime is not part of the arithmetic of games"
    ),
    "possible(move(p1, x), _) :- X is sqrt(2), X < 0.": (
        "sqrt/1 is not part of the arithmetic of games"
    ),
    "possible(move(p1, x), _) :- atom_concat(a, b, x).": (
        "atom_concat/3 is not part of the language of games"
    ),
    "possible(move(p1, x), _) :- f(a) =.. [x|_].": "=../2 is not part of the language of games",
    "possible(move(p1, x), _) :- random_member(a, [b]).": f"random_member/2 {_DRAWN}",
    "payoff('C', 'C', U, U) :- maplist(random_between(1), [2], [U]).": f"random_between/3 {_DRAWN}",
    "possible(move(p1, x), _) :- format(atom(_), x, []), fail.": "format/3 cannot make a text here",
}
