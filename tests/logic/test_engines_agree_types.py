"""The engines agree on calls that make no sense too: both answer, both fail, or both raise with the
same words."""

import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import LimitReached, ProgramRefused
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine, Program, RuntimeFault
from bestresponse.logic.language.predicates import FUNCTIONS, GOAL_ARGUMENTS, LIBRARY, STANDARD
from bestresponse.logic.language.terms import write
from bestresponse.logic.swi.engine import SwiEngine

pytestmark = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)

Loaded = tuple[LogicEngine, Program]
# Few steps: whether a term holds itself is asked at each of them, of terms that `member(X, X)`
# makes longer each time.
LIMITS = Limits(steps=5_000, cells=200_000, answers=50)

RAISING = """
length(X, a) | length([a|b], X) | msort([a|b], X) | msort([X, Y], Z) | sort(a, @<, [b], X)
sort(1, @<, [a], X) | sort(2, @<, [f(a)], X) | sort(0, <, [a], X) | keysort([a], X) | keysort([X-a], Y)
compare(X, Y, a) | X @< Y | append(a, X) | permutation(a, X) | subtract(X, [a], Y) | union(a, [b], X)
intersection([a|b], [a], X) | plus(1, a, X) | succ(X, -1) | sum_list(X, 3) | sum_list([a], X)
max_list([1, a], X) | nth0(a, [a], X) | numlist(1, a, X) | between(1, X, 2) | between(1, 2, a) | dif(X, Y)
X is foo | X is "ab" | X is 1 // 0.5 | X is 1 / 0 | X is 5 mod 0 | X is 2 ** (1 / 2) | X is 0 ** -1
X is gcd(1 / 2, 3) | Y = sqrt(4), X is Y | Y = pi, X is Y | subset(X, [a])
aggregate_all(max(X-Y), member(X-Y, [1-a]), Z) | aggregate_all(max(X, Y), member(X-Y, [a-1]), Z)
"""
FAILING = """
length(2, 1) | succ(0, a) | nth0(-1, [a], X) | nth0(1, a, X) | last(a, X) | reverse([a], b)
aggregate_all(max(X), fail, Y) | dif(a, a)
is_set([a, a]) | succ(X, 0) | numlist(3, 1, X) | max_list([], X) | memberchk(a, b) | atom([]) | atom("a") | 1 == 1r3
random_between(2, 1, X) | random_member(X, []) | '1' = 1 | "a" = a | max_member(X, [])
"""
ANSWERING = """
length([a|T], 3) | length(X, 2) | plus(X, 2, 5) | succ(3, 4) | nextto(X, Y, [a, b, c]) | nth0(X, [a, b], Y)
X is (2 / 3) ** -2 | X is 0 ** 0 | X is (-1) ** 7 | X is round(-5 / 2) | X is truncate(-7 / 2) | X is -7 // 2
X is 0.1 + 0.2 | X is 1.0e30 | 1.0 = 1 | X is max(1 / 3, 0.3) | msort([b, 1r3, "s", [], a, 1, f(x), 'B', 'é'], X)
aggregate_all(max(X, Y), member(X-Y, [1-a, 1-b]), Z) | aggregate_all(count, fail, X) | aggregate_all(bag(X), fail, Y)
( member(X, [1, 2]) *-> true ; X = 3 ) | ( fail *-> true ; X = 3 ) | ( member(X, [1, 2]) *-> member(Y, [a, b]) )
append(X, Y, [a, b]) | select(X, [a, b], Y) | permutation([a, b], X) | flatten([a, [X, [b]]], Y)
sum_list([1r2, 1r3], X) | X = '{}'(a, b) | X = ['{}'(a, b)|'{}'(c, d)] | member(X, ['{}'(a), {b, c}, {}])
"""


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Loaded, Loaded]]:
    program = "one(_). two(_, _). three(_, _, _)."
    embedded = EmbeddedEngine(LIMITS)
    with closing(SwiEngine(LIMITS)) as swi:
        yield (embedded, embedded.load(program)), (swi, swi.load(program))


def outcome(loaded: Loaded, goal: str) -> object:
    engine, program = loaded
    try:
        answers = engine.solutions(program, goal)
    except LimitReached:
        return "limit"
    except RuntimeFault as fault:
        return f"fault: {fault}"
    except ProgramRefused:
        return "refused"
    return [{name: write(term) for name, term in answer.items()} for answer in answers]


def goals(text: str) -> list[str]:
    return [goal.strip() for line in text.strip().split("\n") for goal in line.split(" | ")]


@pytest.mark.parametrize("goal", goals(RAISING))
def test_both_raise_with_the_same_words(engines: tuple[Loaded, Loaded], goal: str) -> None:
    embedded, swi = (outcome(engine, goal) for engine in engines)
    assert embedded == swi
    assert str(swi).startswith("fault")


@pytest.mark.parametrize("goal", goals(FAILING))
def test_both_fail(engines: tuple[Loaded, Loaded], goal: str) -> None:
    assert [outcome(engine, goal) for engine in engines] == [[], []]


@pytest.mark.parametrize("goal", goals(ANSWERING))
def test_both_answer(engines: tuple[Loaded, Loaded], goal: str) -> None:
    embedded, swi = (outcome(engine, goal) for engine in engines)
    assert embedded == swi
    assert isinstance(swi, list)
    assert swi


PREDICATES = sorted(key for key in STANDARD | LIBRARY if not key.startswith(("random", "maybe")))
SPECIFICATIONS = [
    "count",
    "sum(X)",
    "max(X)",
    "min(X)",
    "max(X, Y)",
    "min(X, Y)",
    "bag(X-Y)",
    "set(X)",
    "r(count)",
]
ORDERS = ["@<", "@>", "@=<", "@>="]
VALUES = [
    "X",
    "Y",
    "a",
    "abc",
    "[]",
    "''",
    "0",
    "1",
    "2",
    "-3",
    "2.5",
    "1r3",
    '"str"',
    '""',
    "f(a)",
    "f(X, Y)",
    "[a, b]",
    "[1, 2, 3]",
    "[a|T]",
    "[a|b]",
    "[a-1, b-2]",
    "a-b",
    "'1'",
    "[X, Y]",
    "1 + X",
    "7 / 2",
    "[[1], [2]]",
    "<",
    "12345678901234567890",
]
GOALS = ["true", "fail", "X = Y", "member(X, [a, b, a])", "member(X-Y, [1-a, 2-b, 1-c])"]
CLOSURES = {1: ["one", "atom"], 2: ["two", "length", "<"], 3: ["three", "compare", "plus"]}


@st.composite
def calls(draw: st.DrawFn) -> str:
    key = draw(st.sampled_from(PREDICATES))
    name, arity = key.rsplit("/", 1)
    arguments = [draw(st.sampled_from(VALUES)) for _ in range(int(arity))]
    for position, extra in GOAL_ARGUMENTS.get(key, {}).items():
        arguments[position] = draw(
            st.sampled_from(CLOSURES.get(extra, ["one"]) if extra else GOALS)
        )
    if key == "aggregate_all/3":
        arguments[0] = draw(st.sampled_from(SPECIFICATIONS))
    if key == "sort/4":
        arguments[:2] = (
            draw(st.sampled_from(["0", "1", "[1]", "2", "a"])),
            draw(st.sampled_from(ORDERS)),
        )
    quoted = name.replace("\\", "\\\\")
    return f"'{quoted}'({', '.join(arguments)})"


@settings(max_examples=400, deadline=None)
@given(st.lists(calls(), min_size=1, max_size=3))
def test_they_agree_on_any_calls_of_built_in_predicates(
    engines: tuple[Loaded, Loaded], called: list[str]
) -> None:
    embedded, swi = (outcome(engine, ", ".join(called)) for engine in engines)
    assert "limit" in (embedded, swi) or embedded == swi


NUMBERS = [
    "0",
    "1",
    "-1",
    "2",
    "-8",
    "7",
    "1.5",
    "1r3",
    "-7r2",
    "1.0e10",
    "X",
    "12345678901234567890",
    "a",
    '"a"',
    "[5]",
]
UNARY = sorted(key[:-2] for key in FUNCTIONS if key.endswith("/1"))
BINARY = sorted(key[:-2] for key in FUNCTIONS if key.endswith("/2"))
RELATIONS = ["=:=", "=\\=", "<", ">", "=<", ">=", "@<", "=="]


@st.composite
def expressions(draw: st.DrawFn) -> str:
    first, second = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(NUMBERS))
    inner = f"'{draw(st.sampled_from(BINARY))}'({first}, {second})"
    return draw(st.sampled_from([first, inner, f"'{draw(st.sampled_from(UNARY))}'({inner})"]))


@settings(max_examples=400, deadline=None)
@given(expressions(), st.sampled_from(RELATIONS), expressions())
def test_they_agree_on_any_arithmetic(
    engines: tuple[Loaded, Loaded], left: str, relation: str, right: str
) -> None:
    for goal in (f"R is {left}", f"{left} {relation} {right}", f"E = {left}, R is E"):
        embedded, swi = (outcome(engine, goal) for engine in engines)
        assert embedded == swi
