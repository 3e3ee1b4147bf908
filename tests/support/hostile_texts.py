"""150 programs that must not get out, thirty of each kind, as texts: a dilemma with one poisoned
place each.

Kinds: the *host* (files, processes, the net), the *integrity* of the solver and of other games,
*resources* (time and memory), the *text* itself (what a reader may stumble over), and *goals*
smuggled past a list of names. A goal is put before the legal moves; a line that ends in a full stop
is put in front of the program.
"""

from __future__ import annotations

__all__ = ["KINDS", "poisoned"]

LEGAL = "legal(move(P, M), S) :- "

HOST = r"""
shell('touch breach/x')
shell('touch breach/x', _)
process_create(path(touch), ['breach/x'], [])
open('breach/x', write, St), close(St)
open('breach/x', append, St, [create([default])]), close(St)
open(pipe('touch breach/x'), read, St), close(St)
tell('breach/x'), write(x), told
append('breach/x'), told
see('secret.txt'), read(X), seen, X = M
read_term_from_file('secret.txt', M)
read_file_to_terms('secret.txt', [M|_], [])
consult('secret.txt')
load_files(['secret.txt'], [])
[breach/x]
make_directory('breach/x')
rename_file('secret.txt', 'breach/x')
copy_file('secret.txt', 'breach/x')
delete_file('secret.txt')
tmp_file_stream(text, F, St), close(St)
qcompile('secret.txt')
save_program('breach/x')
qsave_program('breach/x', [])
tcp_connect('127.0.0.1':80, St, []), close(St)
http_open('http://localhost/', St, [])
setenv('PATH', breach)
chdir(breach)
on_signal(int, _, throw)
prolog_to_os_filename(X, breach), exists_directory(X)
:- initialization(shell('touch breach/x')).
:- use_foreign_library('breach/x').
"""

INTEGRITY = r"""
assertz(payoff('C', 'C', 9, 9))
asserta((holds(_, _) :- true))
retract((payoff('C', 'C', _, _) :- true))
retractall(payoff(_, _, _, _))
abolish(payoff/4)
nb_setval(score, 9), nb_getval(score, _)
b_setval(score, 9)
recordz(score, 9)
flag(score, _, 9)
set_prolog_flag(double_quotes, atom)
op(700, xfx, is)
redefine_system_predicate(holds(_, _))
copy_predicate_clauses(payoff/4, legal/2)
user:assertz(payoff('C', 'C', 9, 9))
g0:assertz(payoff('C', 'C', 9, 9))
bestresponse:unload(g0)
bestresponse:perform(load(g0), "payoff(1,1,1,1).", _)
'$set_source_module'(_, user)
dynamic(payoff/4)
prolog_load_context(module, _)
holds(_, _) :- true.
game(S, S).
table_rows([], []).
table_row([], []).
'play on'(_, _, _, _, _, _) :- fail.
'do all'(_, S, S).
user:payoff('C', 'C', 9, 9).
:- module(bestresponse, [holds/2]).
:- multifile(holds/2).
:- set_prolog_flag(generate_debug_info, false).
"""

RESOURCES = r"""
spin
between(1, inf, X), X < 0
length(L, N), N < 0
repeat, fail
deep(10000000)
wide(30, a, T), T = b
wide(60, a, T), wide(60, a, U), T == U
grow([x])
X = f(X, X), Y = f(Y, Y), X == Y
X = [a|X], length(X, _)
X = [a|X], msort(X, _)
findall(X, between(1, 100000000, X), _)
findall(X-Y, (between(1, 100000, X), between(1, 100000, Y)), _)
aggregate_all(count, (between(1, 100000, X), between(1, 100000, Y)), _)
forall(between(1, 100000000, X), X > 0)
numlist(1, 500000000, L), sum_list(L, _)
length(L, 500000000)
functor(T, f, 500000000)
X is 9 ** 9 ** 9 ** 9, X > 0
X is 1 << (1 << 40), X > 0
X is 2 ** (1000000001 rdiv 1000000000), X < 0
fact(100000, F), F < 0
twice('ab', 40, A), atom_length(A, 3)
numlist(1, 9, L), permutation(L, R), fail
numlist(1, 200, L), findall(X-Y-Z, (member(X, L), member(Y, L), member(Z, L)), T), msort(T, [])
atom_length(abc, _), sub_atom(A, _, _, _, x), spin
setof(X-Y, (between(1, 3000, X), between(1, 3000, Y)), _)
numlist(1, 400000, L), foldl(plus, L, 0, N), N < 0
bagof(X, Y ^ (between(1, 30000, X), between(1, 3000, Y)), _)
nth0(100000000, L, x), spin
"""

TEXT = r"""
a(0'
a('unclosed).
a("unclosed).
a(`codes`
a(/* never closed
a(b c).
a((((((((((b).
a(b)))))))))).
a(]).
a([b|c|d]).
a({b).
a :- .
:- .
.
a.b.c.
a(9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999).
a(1.0e999999).
a(0'\xffffffff\).
a('\x0\').
a('\xd800\').
a(1r0).
A(b).
a --> b, {shell(x)}, !.
a => b.
#!/usr/bin/env swipl
a(–1).
a(“b”).
end_of_file.
:- if(true).
:- encoding(utf16).
"""

GOALS = r"""
G = shell(x), G
G = shell(x), call(G)
G = (true, shell(x)), once(G)
call(shell, x)
call(call, halt)
call((G = halt, G))
T =.. [shell, x], call(T)
functor(T, halt, 0), T
atom_codes(A, [104, 97, 108, 116]), A
maplist(call, [halt])
maplist([X]>>shell(X), [x])
maplist(shell, [x])
foldl([X, A, B]>>halt, [x], 0, _)
include(shell, [x], _)
findall(X, (X = halt, X), _)
findall(X, X, _)
forall(G = halt, G)
bagof(X, halt, _)
setof(X, Y ^ Z ^ halt, _)
aggregate_all(count, halt, _)
aggregate_all(max(X), (X = 1, halt), _)
\+ \+ halt
not(not(halt))
(halt -> true ; true)
(true ; halt)
(fail *-> true ; halt)
predsort(shell, [b, a], _)
system:halt
lists:append([], [], _), user:halt
apply(halt, [])
"""

RULES = """
spin :- spin.
deep(0).
deep(N) :- M is N - 1, deep(M), true.
wide(0, T, T) :- !.
wide(N, X, T) :- M is N - 1, wide(M, f(X, X), T).
grow(L) :- grow([y|L]).
fact(0, 1) :- !.
fact(N, F) :- M is N - 1, fact(M, G), F is N * G.
twice(A, 0, A) :- !.
twice(A, N, B) :- M is N - 1, atom_concat(A, A, C), twice(C, M, B).
"""

KINDS: dict[str, tuple[str, ...]] = {
    name: tuple(text.strip("\n").split("\n"))
    for name, text in (
        ("host", HOST),
        ("integrity", INTEGRITY),
        ("resources", RESOURCES),
        ("text", TEXT),
        ("goals", GOALS),
    )
}


def poisoned(kind: str, line: str, dilemma: str) -> str:
    """The dilemma with one line of poison in it."""
    if kind == "text":
        return f"{line}\n{dilemma}\n{line}"
    if line.endswith("."):
        return f"{line}\n{dilemma}"
    rules = RULES if kind == "resources" else ""
    return rules + dilemma.replace(LEGAL, f"{LEGAL}{line}, ")
