"""The game as a logic program, and the claims as rules over it.

A table becomes a game in the solver language (`logic.solver_language`) plus one fact per player and cell,
`cell(Player, Own, Others, Outcome, Payoff)`; a tree becomes its nodes. The rules say in logic what each form of claim
means; they share nothing with the arithmetic of `by_theory`. Players are p0 (the reasoner), p1, ...; actions are
a0, a1, ...: no text of a user is ever part of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Final

from bestresponse.core.errors import TooLarge
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.logic.language.terms import Atom, Term, list_of, write
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["RULES", "TREE_RULES", "action", "outcome", "player", "write_program"]

MOST_FACTS: Final = 4_000

GAME: Final = """
initial(s0).
initially(player(P), s0) :- player(P).
initially(control(P), s0) :- player(P).
legal(choice(P, A), S) :- holds(control(P), S), action(P, A).
effect(did(P, A), choice(P, A), _).
abnormal(control(P), choice(P, _), _).
final(S) :- chosen(S, Made), seats(Players), \\+ ( member(P, Players), \\+ memberchk(P-_, Made) ).
finally(goal(P, U), S) :- final(S), chosen(S, Made), seats(Ps), line(Ps, Made, Outcome), cell(P, _, _, Outcome, U).
chosen(s0, []).
chosen(do(choice(P, A), S), [P-A|Made]) :- chosen(S, Made).
line([], _, []).
line([P|Ps], Made, [A|As]) :- memberchk(P-A, Made), line(Ps, Made, As).
"""

COMPARISONS: Final = """
claim(higher(X, Y)) :- X > Y.
claim(lower(X, Y)) :- X < Y.
claim(equal(X, Y)) :- X =:= Y.
"""

RULES: Final = (
    GAME
    + COMPARISONS
    + """
pays(P, Outcome, U) :- cell(P, _, _, Outcome, U).
worst(P, A, U) :- findall(V, cell(P, A, _, _, V), Vs), min_list(Vs, U).
best(P, A, U) :- findall(V, cell(P, A, _, _, V), Vs), max_list(Vs, U).
sum_of(Outcome, T) :- findall(U, pays(_, Outcome, U), Us), sum_list(Us, T).
reply(P, Others, U) :- findall(V, cell(P, _, Others, _, V), Vs), max_list(Vs, U).
likelihood([], [], 1).
likelihood([A|As], [Mix|Mixes], W) :- memberchk(A-X, Mix), likelihood(As, Mixes, Y), W is X * Y.
average(P, A, Mixes, E) :-
    findall(T, ( cell(P, A, Others, _, U), likelihood(Others, Mixes, W), T is W * U ), Ts), sum_list(Ts, E).
beaten_on_average(P, Mixes, E) :- action(P, B), average(P, B, Mixes, F), F > E.
moved(P, Outcome, U) :- cell(P, _, Others, Outcome, _), reply(P, Others, U).
more_everywhere(P, A, B) :- \\+ ( cell(P, A, O, _, U), cell(P, B, O, _, V), U =< V ).
never_less(P, A, B) :- \\+ ( cell(P, A, O, _, U), cell(P, B, O, _, V), U < V ).
once_more(P, A, B) :- cell(P, A, O, _, U), cell(P, B, O, _, V), U > V.
less_for_somebody(X, Y) :- pays(P, X, U), pays(P, Y, V), U < V.

claim(payoff(P, X, S)) :- finally(goal(P, U), S), U =:= X.
claim(highest_possible_individual_payoff(X, P)) :- \\+ ( cell(P, _, _, _, V), V > X ), cell(P, _, _, _, U), U =:= X.
claim(lowest_possible_individual_payoff(X, P)) :- \\+ ( cell(P, _, _, _, V), V < X ), cell(P, _, _, _, U), U =:= X.
claim(highest_individual_payoff_for_choice(X, A, P)) :- best(P, A, U), U =:= X.
claim(lowest_individual_payoff_for_choice(X, A, P)) :- worst(P, A, U), U =:= X.
claim(guaranteed_payoff_for_choice(X, A, P)) :- worst(P, A, U), U >= X.
claim(limited_payoff_for_choice(X, A, P)) :- best(P, A, U), U =< X.
claim(highest_guaranteed_payoff_choice(A, P)) :- worst(P, A, U), \\+ ( action(P, B), worst(P, B, V), V > U ).
claim(lowest_guaranteed_payoff_choice(A, P)) :- worst(P, A, U), \\+ ( action(P, B), worst(P, B, V), V < U ).
claim(higher_guaranteed_payoff(A, B, P)) :- worst(P, A, U), worst(P, B, V), U > V.
claim(lower_guaranteed_payoff(A, B, P)) :- worst(P, A, U), worst(P, B, V), U < V.
claim(equal_guaranteed_payoff(A, B, P)) :- worst(P, A, U), worst(P, B, V), U =:= V.
claim(highest_mutual_payoff(X)) :- sum_of(X, T), \\+ ( cell(p0, _, _, Y, _), sum_of(Y, V), V > T ).
claim(lowest_mutual_payoff(X)) :- sum_of(X, T), \\+ ( cell(p0, _, _, Y, _), sum_of(Y, V), V < T ).
claim(total_payoff(X, O)) :- sum_of(O, T), T =:= X.
claim(highest_payoff(X)) :- \\+ ( pays(_, _, V), V > X ), pays(_, _, U), U =:= X.
claim(lowest_payoff(X)) :- \\+ ( pays(_, _, V), V < X ), pays(_, _, U), U =:= X.
claim(expected_payoff(P, X, A, Mixes, Error)) :- average(P, A, Mixes, E), E - X =< Error, X - E =< Error.
claim(best_response(A, O, P)) :- cell(P, A, O, _, U), \\+ ( cell(P, _, O, _, V), V > U ).
claim(better_response(A, B, O, P)) :- cell(P, A, O, _, U), cell(P, B, O, _, V), U > V.
claim(equal_response(A, B, O, P)) :- cell(P, A, O, _, U), cell(P, B, O, _, V), U =:= V.
claim(best_response_to_mix(A, Mixes, P)) :- average(P, A, Mixes, E), \\+ beaten_on_average(P, Mixes, E).
claim(better_response_to_mix(A, B, Mixes, P)) :- average(P, A, Mixes, E), average(P, B, Mixes, F), E > F.
claim(better_outcome(P, X, Y)) :- pays(P, X, U), pays(P, Y, V), U > V.
claim(payoff_difference(P, D, X, Y)) :- pays(P, X, U), pays(P, Y, V), U - V =:= D.
claim(strictly_dominates(A, B, P)) :- A \\== B, more_everywhere(P, A, B).
claim(weakly_dominates(A, B, P)) :- never_less(P, A, B), once_more(P, A, B).
claim(strictly_dominant(A, P)) :- \\+ ( action(P, B), B \\== A, \\+ more_everywhere(P, A, B) ).
claim(weakly_dominant(A, P)) :-
    \\+ ( action(P, B), B \\== A, \\+ never_less(P, A, B) ), \\+ ( action(P, B), B \\== A, \\+ once_more(P, A, B) ).
claim(strictly_dominated(A, P)) :- action(P, B), B \\== A, more_everywhere(P, B, A).
claim(equilibrium(X)) :- \\+ ( pays(P, X, U), moved(P, X, V), V > U ).
claim(no_dominant_choice(P)) :- \\+ ( action(P, A), claim(weakly_dominant(A, P)) ).
claim(pure_equilibria(X)) :-
    findall(O, ( cell(p0, _, _, O, _), claim(equilibrium(O)) ), Os), length(Os, N), N =:= X.
claim(mixed_equilibrium(Parts)) :-
    \\+ ( member(part(P, Own, Mixes), Parts), member(A-W, Own), W > 0, average(P, A, Mixes, E),
          beaten_on_average(P, Mixes, E) ).
claim(pareto_dominates(X, Y)) :- \\+ less_for_somebody(X, Y), less_for_somebody(Y, X).
claim(pareto_optimal(X)) :- \\+ ( cell(p0, _, _, Y, _), less_for_somebody(X, Y), \\+ less_for_somebody(Y, X) ).
claim(maximin_payoff(X, P)) :- findall(U, ( action(P, A), worst(P, A, U) ), Us), max_list(Us, V), V =:= X.
claim(minimax_payoff(X, P)) :- findall(U, ( cell(P, a0, O, _, _), reply(P, O, U) ), Us), min_list(Us, V), V =:= X.
"""
)
"""What every form of claim about a table means."""

TREE_RULES: Final = (
    COMPARISONS
    + """
paid(K, Values, U) :- nth0(K, Values, U).
ahead(N, Values, none) :- ends(N, Values).
ahead(N, Values, Move) :-
    turn(N, K), findall(M-C, branch(N, M, C), Branches), below(Branches, Ways), at_best(K, Ways, Most),
    member(Move-Values, Ways), paid(K, Values, U), U =:= Most.
ahead(N, Values, drawn) :-
    draw(N), findall(W-C, drawn(N, W, C), Branches), below(Branches, Ways), blend(Ways, Values).
below([], []).
below([M-C|Branches], [M-Values|Ways]) :- ahead(C, Values, _), below(Branches, Ways).
at_best(K, Ways, Most) :- findall(U, ( member(_-Values, Ways), paid(K, Values, U) ), Us), max_list(Us, Most).
blend([W-Values], Blend) :- scaled(W, Values, Blend).
blend([W-Values, Next|Ways], Blend) :- scaled(W, Values, Part), blend([Next|Ways], Rest), added(Part, Rest, Blend).
scaled(_, [], []).
scaled(W, [U|Us], [V|Vs]) :- V is W * U, scaled(W, Us, Vs).
added([], [], []).
added([U|Us], [V|Vs], [W|Ws]) :- W is U + V, added(Us, Vs, Ws).

claim(payoff(K, X, N)) :- ends(N, Values), paid(K, Values, U), U =:= X.
claim(highest_possible_individual_payoff(X, K)) :-
    \\+ ( ends(_, Us), paid(K, Us, U), U > X ), ends(_, Vs), paid(K, Vs, V), V =:= X.
claim(lowest_possible_individual_payoff(X, K)) :-
    \\+ ( ends(_, Us), paid(K, Us, U), U < X ), ends(_, Vs), paid(K, Vs, V), V =:= X.
claim(highest_payoff(X)) :- \\+ ( ends(_, Us), member(U, Us), U > X ), ends(_, Vs), member(V, Vs), V =:= X.
claim(lowest_payoff(X)) :- \\+ ( ends(_, Us), member(U, Us), U < X ), ends(_, Vs), member(V, Vs), V =:= X.
claim(will_play(_, M, N)) :- \\+ ( ahead(N, _, Other), Other \\== M ).
claim(may_play(_, M, N)) :- ahead(N, _, M).
claim(continuation_payoff(K, X, N)) :- \\+ ( ahead(N, Values, _), paid(K, Values, U), U =\\= X ).
claim(possible_payoff(K, X, N)) :- ahead(N, Values, _), paid(K, Values, U), U =:= X.
"""
)
"""What the claims about a tree mean: looking ahead is backward induction, every tie followed."""


def player(place: int) -> Atom:
    """Return the atom that stands for a player."""
    return Atom(f"p{place}")


def action(place: int) -> Atom:
    """Return the atom that stands for an action."""
    return Atom(f"a{place}")


def outcome(places: tuple[int, ...]) -> Term:
    """One action per player as a list."""
    return list_of([action(k) for k in places])


def write_program(subject: Subject) -> str:
    """The text of the program; `TooLarge` where it would not fit an engine."""
    if subject.tree is not None:
        if subject.tree.num_nodes > MOST_FACTS:
            raise TooLarge(f"the tree has {subject.tree.num_nodes:,} nodes; the logic engine takes {MOST_FACTS:,}")
        return TREE_RULES + "\n".join(_nodes(subject.tree)) + "\n"
    count = subject.cells.size
    if count > MOST_FACTS:
        raise TooLarge(f"the table has {count:,} payoffs; the logic engine takes {MOST_FACTS:,}")
    return RULES + "\n".join(_table(subject)) + "\n"


def _table(subject: Subject) -> Iterator[str]:
    shape = subject.cells.shape[1:]
    yield f"seats({write(list_of([player(i) for i in range(len(shape))]))})."
    yield from (f"player(p{i})." for i in range(len(shape)))
    yield from (f"action(p{i}, a{k})." for i, n in enumerate(shape) for k in range(n))
    for who in range(len(shape)):
        for places in product(*map(range, shape)):
            others = outcome(tuple(k for i, k in enumerate(places) if i != who))
            value = _number(Fraction(int(subject.cells[(who, *places)]), subject.scale))
            yield f"cell(p{who}, a{places[who]}, {write(others)}, {write(outcome(places))}, {value})."


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            yield f"ends(n{node}, [{', '.join(_number(exact(u)) for u in tree.payoffs[node].tolist())}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            yield from (f"drawn(n{node}, {_number(exact(tree.probability[c]))}, n{c})." for c in children)
        else:
            yield f"turn(n{node}, {owner})."
            yield from (f"branch(n{node}, a{k}, n{c})." for k, c in enumerate(children))
    if not (tree.owner == CHANCE).any():
        yield "draw(none)."
        yield "drawn(none, 1, none)."
    if not (tree.owner >= 0).any():
        yield "turn(none, 0)."
        yield "branch(none, none, none)."


def _number(value: Fraction) -> str:
    return write(value.numerator if value.denominator == 1 else value)
