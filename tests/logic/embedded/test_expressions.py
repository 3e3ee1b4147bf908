"""Arithmetic in the bodies of clauses computes what `evaluate` computes, with the same faults."""

import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import LogicError
from bestresponse.logic import EmbeddedEngine
from bestresponse.logic.language.terms import Struct, write

NUMBERS = st.integers(-9, 9)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.builds(
            lambda name, a, b: Struct(name, (a, b)),
            st.sampled_from(["+", "-", "*", "/", "mod", "max"]),
            inner,
            inner,
        ),
        st.builds(
            lambda name, a: Struct(name, (a,)),
            st.sampled_from(["-", "abs", "sign", "floor"]),
            inner,
        ),
    ),
    max_leaves=8,
)


def answer(engine: EmbeddedEngine, program: str, goal: str) -> str:
    try:
        found = engine.solutions(engine.load(program), goal)
    except LogicError as error:
        return str(error).partition(" in the clause")[0]
    return "; ".join(write(one["X"]) for one in found)


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS)
def test_a_compiled_expression_has_the_value_of_the_same_expression_in_a_variable(
    expression: Struct | int,
) -> None:
    text, engine = write(expression), EmbeddedEngine()
    compiled = answer(engine, f"value(X) :- X is {text}.", "value(X)")
    assert compiled == answer(
        engine, f"expression({text}).\nvalue(X) :- expression(E), X is E.", "value(X)"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Y = 2 + 3, X is Y * 2", "10"),
        ("3 is 1 + 2, X = yes", "yes"),
        ("3 is 1 + 3, X = yes", ""),
        ("f(_) is 3, X = yes", ""),
        ("_ is 3, X = yes", "yes"),
        ("( X is 1 ; X is 2 )", "1; 2"),
        ("( X is 1, X > 1 ; X is 7 / 2, X >= 3 )", "7r2"),
        ("X is Y + 1, Y = 1", "an arithmetic expression contains an unbound variable"),
        ("Y = foo(1), X is Y + 1", "foo/1 is not an arithmetic function"),
        ("Y = a, X is Y", "a is not a number"),
        ("X is 1 / 0", "division by zero"),
        ("Y = a, X is 1 + Y", "a is not a number"),
    ],
)
def test_what_stands_in_an_expression(body: str, expected: str) -> None:
    assert answer(EmbeddedEngine(), f"value(X) :- {body}.", "value(X)") == expected


def test_answers_with_unknown_parts_get_fresh_variables_and_others_stay_as_they_are() -> None:
    engine = EmbeddedEngine()
    program = engine.load("pair(f(a, [1, 2]), _).\nvalue(L) :- findall(P-V, pair(P, V), L).")
    (found,) = engine.solutions(program, "value([P-1]), value([Q-2])")
    assert (write(found["P"]), write(found["Q"])) == ("f(a,[1,2])", "f(a,[1,2])")
