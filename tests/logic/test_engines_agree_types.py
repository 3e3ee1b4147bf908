"""The engines agree on calls that make no sense too: both answer, both fail, or both raise."""

import shutil
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestresponse.core.errors import LimitReached, ProgramRefused
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine, Program, RuntimeFault
from bestresponse.logic.language.predicates import GOAL_ARGUMENTS, LIBRARY, STANDARD
from bestresponse.logic.language.terms import write
from bestresponse.logic.swi.engine import SwiEngine

pytestmark = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH")

Loaded = tuple[LogicEngine, Program]
LIMITS = Limits(steps=20_000, cells=200_000, answers=50, seconds=20.0)

RAISING = """
length(2, 1) | X =.. 1 | f(a) =.. b | char_code(0, a) | char_code(X, -1) | atom_length(f(a), X) | atom_length(abc, a)
atom_codes([], X) | atom_codes(X, [a|b]) | atom_codes('1', a) | atom_chars(X, [ab]) | number_codes(X, "a")
number_codes(a, X) | upcase_atom([], X) | upcase_atom(a, f(a)) | atom_concat([a], b, X) | string_concat(X, Y, [])
atom_number(1, X) | atom_number(X, a) | number_string(X, a) | sub_atom(abc, a, X, Y, Z) | sub_atom(abc, -1, X, Y, Z)
atomic_list_concat(a, X) | atomic_list_concat([X, b], Y) | atomic_list_concat(X, '', abc) | memberchk(a, b)
append(a, X) | permutation(a, X) | subtract(X, [a], Y) | union(a, [b], X) | intersection([a|b], [a], X)
keysort([a], X) | compare(a, 1, 2) | compare(1, 1, 2) | plus(1, 2.0, X) | succ(0, a) | succ(X, -1) | msort([a|b], X)
X is 1 + inf | X is log2(8) | X is 2.5 rdiv 2 | X is numerator(0.5) | X is msb(0) | X is foo
X is log(12345678901234567890 ** 100) | 0 =:= log10(12345678901234567890 ** 100)
X is sqrt(12345678901234567890 ** 100)
X is "ab" | sum_list(X, 3) | arg(-1, f(a), X) | sort([], @<, [b, a], X) | sort([a], @<, [f(2)], X) | dif(X, Y)
nth0(-1, [a], X, Y) | nth1(0, [a], X, Y) | split_string("a", "", "", a) | subset(X, [a]) | X is popcount(-1)
aggregate_all(max(X-Y), member(X-Y, [1-a]), Z) | aggregate_all(max(X, Y), member(X-Y, [a-1]), Z) | X is acosh(0.5)
"""
FAILING = """
atom_length(abc, -1) | atom_codes('1', [X, b]) | string_codes("ab", f(a)) | atom_number(-3, -3) | atom_number(' 7', X)
number_string(X, "a") | nth0(-1, [a], X) | nth0(1, a, X) | atomic_list_concat([a, b], [a]) | last(a, X)
0.0 == -0.0 | upcase_atom(a, a) | atom_string(a, f(b)) | 1 =.. [a|b] | arg(X, f(X, Y), 0) | arg(X, f(a, b), X)
reverse(X, a) | aggregate_all(max(X), fail, Y) | f(X, Y) =@= f(X, X) | f(X) \\=@= f(Y) | dif(a, a) | is_set([a, a])
"""
ANSWERING = """
nth0(2, Y, x) | upcase_atom(-3, -3) | atom_string([], X) | string_codes([a, b], X) | string_codes(1, 1)
length([a|T], 3) | atom_length([], X) | atom_length([a, b], X) | atom_string(1.0, 1.0) | atomic_list_concat(X, '-', -3)
X is 4 ** (1 rdiv 2) | X is 0 ** 0.0 | X is 1 / inf | X is floor(inf) | X is sign(-0.0)
X is round(0.49999999999999994) | msort([X, Y], [a, b])
aggregate_all(r(count, sum(X)), member(X, [1, 2]), R) | aggregate_all(r(count), fail, R) | permutation(X, [a, b])
nth1(2, [a|T], x) | number_codes(X, " 7") | char_code(X, 0'a) | X = f(Y, Z), X =.. [f, 1|T]
plus(X, 2, 5) | succ(3, 4) | sort([1, 1], @<, [f(g(2)), f(g(1))], X) | arg(X, f(X, Y), 1) | X is (-8.0) ** (1 rdiv 3)
X is rationalize(0.1) | X is rationalize(1.0e30) | X is max(0, -0.0) | X is 2
X is copysign(2, -(12345678901234567890 ** 100)) | 12345678901234567890 ** 100 =:= inf
X is max(-(12345678901234567890 ** 100), inf) | X is min(nan, 2) | X is 3 / -9007199254740993
aggregate_all(max(3), fail, X) | aggregate_all(max(X, Y), member(X-Y, [1-a, 1-b, 1.0-c]), Z) | X is ceil(inf)
predsort(three, [b, a], X) | split_string("//a//b//", "/", "/", X) | split_string(" a , b ", ",", " ", X)
string_lower('AB', X) | sub_string("abc", X, 1, 0, Y) | nth0(X, [a, b], Y, Z) | nextto(X, Y, [a, b, c])
( member(X, [1, 2]) *-> true ; X = 3 ) | ( fail *-> true ; X = 3 ) | ( member(X, [1, 2]) *-> member(Y, [a, b]) )
"""


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Loaded, Loaded]]:
    program = "one(_). two(_, _). three(_, _, _)."
    embedded = EmbeddedEngine(LIMITS)
    with SwiEngine(LIMITS) as swi:
        yield (embedded, embedded.load(program)), (swi, swi.load(program))


def outcome(loaded: Loaded, goal: str) -> object:
    engine, program = loaded
    try:
        answers = engine.solutions(program, goal)
    except LimitReached:
        return "limit"
    except RuntimeFault:
        return "fault"
    except ProgramRefused:
        return "refused"
    return [{name: write(term) for name, term in answer.items()} for answer in answers]


def goals(text: str) -> list[str]:
    return [goal.strip() for line in text.strip().split("\n") for goal in line.split(" | ")]


@pytest.mark.parametrize("goal", goals(RAISING))
def test_both_raise(engines: tuple[Loaded, Loaded], goal: str) -> None:
    assert [outcome(engine, goal) for engine in engines] == ["fault", "fault"]


@pytest.mark.parametrize("goal", goals(FAILING))
def test_both_fail(engines: tuple[Loaded, Loaded], goal: str) -> None:
    assert [outcome(engine, goal) for engine in engines] == [[], []]


@pytest.mark.parametrize("goal", goals(ANSWERING))
def test_both_answer(engines: tuple[Loaded, Loaded], goal: str) -> None:
    embedded, swi = (outcome(engine, goal) for engine in engines)
    assert embedded == swi
    assert swi not in ([], "fault", "limit")


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
    "r(count, max(X))",
]
ORDERS = ["@<", "@>", "@=<", "@>="]
VALUES = [
    "X", "Y", "a", "abc", "[]", "''", "0", "1", "2", "-3", "1.0", "2.5", "1r3", '"str"', '""', "f(a)", "f(X, Y)",
    "[a, b]", "[1, 2, 3]", "[a|T]", "[a|b]", "[a-1, b-2]", "a-b", "'1'", "'12x'", "[0'a, 0'b]", "['1', '2']", '"7"',
    "[[1], [2]]", "<",
]  # fmt: skip
GOALS = ["true", "fail", "X = Y", "member(X, [a, b, a])", "member(X-Y, [1-a, 2-b, 1-c])"]
CLOSURES = {1: ["one", "atom"], 2: ["two", "atom_length"], 3: ["three", "compare", "plus"]}


@st.composite
def calls(draw: st.DrawFn) -> str:
    key = draw(st.sampled_from(PREDICATES))
    name, arity = key.rsplit("/", 1)
    arguments = [draw(st.sampled_from(VALUES)) for _ in range(int(arity))]
    for position, extra in GOAL_ARGUMENTS.get(key, {}).items():
        arguments[position] = draw(st.sampled_from(CLOSURES.get(extra, ["one"]) if extra else GOALS))
    if key == "aggregate_all/3":
        arguments[0] = draw(st.sampled_from(SPECIFICATIONS))
    if key == "sort/4":
        arguments[:2] = draw(st.sampled_from(["0", "1", "[1]", "2", "a"])), draw(st.sampled_from(ORDERS))
    quoted = name.replace("\\", "\\\\")
    return f"'{quoted}'({', '.join(arguments)})"


@settings(max_examples=200, deadline=None)
@given(calls())
def test_they_agree_on_any_call_of_a_built_in_predicate(engines: tuple[Loaded, Loaded], goal: str) -> None:
    embedded, swi = (outcome(engine, goal) for engine in engines)
    assert "limit" in (embedded, swi) or embedded == swi


NUMBERS = [
    "0", "1", "-1", "2", "3", "-8", "7", "0.0", "-0.0", "1.5", "-2.5", "1r3", "-7r2", "100", "1.0e10", "inf", "nan",
    "X", "12345678901234567890", "0.1", "1.0e300", "a", "e", "pi", '"a"', "[5]", "64", "0.5",
]  # fmt: skip
UNARY = """
- + abs sign sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh floor ceiling ceil round
integer truncate float rational numerator denominator float_integer_part float_fractional_part msb lsb popcount eval
"""
BINARY = "+ - * / // mod rem div rdiv ** ^ max min lcm gcd /\\\\ \\\\/ xor atan2 atan copysign"
RELATIONS = ["=:=", "<", ">=", "@<", "=="]


@st.composite
def expressions(draw: st.DrawFn) -> str:
    first, second = draw(st.sampled_from(NUMBERS)), draw(st.sampled_from(NUMBERS))
    inner = f"'{draw(st.sampled_from(BINARY.split()))}'({first}, {second})"
    return draw(st.sampled_from([first, inner, f"'{draw(st.sampled_from(UNARY.split()))}'({inner})"]))


@settings(max_examples=200, deadline=None)
@given(expressions(), st.sampled_from(RELATIONS), expressions())
def test_they_agree_on_any_arithmetic(engines: tuple[Loaded, Loaded], left: str, relation: str, right: str) -> None:
    for goal in (f"R is {left}", f"{left} {relation} {right}"):
        embedded, swi = (outcome(engine, goal) for engine in engines)
        assert "limit" in (embedded, swi) or embedded == swi
