"""Which predicates a game needs, and which of them are its rules."""

import pytest

from bestresponse.logic.gate.check import Needs
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.reader import read

PARTS = ("rule/0", "chosen/0", "shown/0")


def needs(text: str) -> Needs:
    terms = [clause.term for clause in read(text).clauses]
    return Needs((indicator(term.args[0]), term.args[1]) for term in terms)


def test_rules_are_what_the_end_of_a_game_leads_to_and_a_strategy_is_needed_but_no_rule() -> None:
    found = needs(
        "finally(A, B) :- rule.\nselect(P, O, S, M) :- chosen.\nmain(X) :- shown.\nrule :-"
        " deep(rule)."
    )
    assert [found.is_needed(key) for key in PARTS] == [True, True, False]
    assert [found.is_rule(key) for key in PARTS] == [True, False, False]
    assert [found.is_rule(key) for key in ("finally/2", "deep/1", "select/4")] == [
        True,
        True,
        False,
    ]


def test_a_predicate_that_is_called_like_a_strategy_may_be_a_rule() -> None:
    found = needs(
        "finally(A, B) :- select(x, y, z).\nselect(A, B, C) :- rule.\nselect(P, O, S, M) :- chosen."
    )
    assert [found.is_rule(key) for key in ("rule/0", "chosen/0", "select/3", "select/4")] == [
        True,
        False,
        True,
        False,
    ]


def test_a_strategy_that_the_rules_call_is_part_of_them() -> None:
    found = needs("finally(A, B) :- select(p, o, s, m).\nselect(P, O, S, M) :- chosen.")
    assert found.is_rule("chosen/0")
    assert found.is_rule("select/4")


@pytest.mark.parametrize(
    "call",
    [
        "call(select(p, o, s), M)",
        "call(select, p, o, s, M)",
        "maplist(select(p, o), [s], [M])",
        "foldl(select(p), [o], s, M)",
        "findall(M, call(select(p, o), s, M), Ms)",
        "maplist([X, Y]>>call(select(p, o, X), Y), [s], [M])",
    ],
)
def test_a_strategy_that_the_rules_call_with_added_arguments_is_part_of_them(call: str) -> None:
    found = needs(f"finally(A, M) :- {call}.\nselect(P, O, S, M) :- chosen.")
    assert [found.is_rule(key) for key in ("chosen/0", "select/4")] == [True, True]


@pytest.mark.parametrize(
    "call", ["call(select(x, y), z)", "maplist(select(x), [y], [z])", "holds(select(a, b), c)"]
)
def test_fewer_arguments_than_a_strategy_has_call_no_strategy(call: str) -> None:
    assert not needs(f"finally(A, B) :- {call}.\nselect(P, O, S, M) :- chosen.").is_rule("chosen/0")


def test_in_a_program_that_is_no_game_everything_is_needed_and_nothing_a_rule() -> None:
    found = needs("main(X) :- shown.\nshown(X) :- rule.\nrule(X) :- true.")
    assert [found.is_needed(key) for key in ("main/1", "shown/1", "rule/1")] == [True] * 3
    assert not any(found.is_rule(key) for key in ("main/1", "shown/1", "rule/1"))


def test_what_cannot_do_without_something_goes_with_it() -> None:
    found = needs("a(X) :- b(X).\nb(X) :- c(X), d.\nc(X) :- true.\nd(X) :- a(X).\ne(X) :- c(X).")
    assert found.without(["b/1"]) == {"a/1", "b/1", "d/1"}
    assert found.without(["c/1"]) == {"a/1", "b/1", "c/1", "d/1", "e/1"}
    assert found.without([]) == frozenset()
