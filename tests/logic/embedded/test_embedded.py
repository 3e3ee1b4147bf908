"""The embedded engine: answers of ordinary Prolog, errors with their clause, and limits that
hold."""

from contextlib import suppress

import pytest
from games_for_logic import DILEMMA
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import LimitReached, LogicError, ProgramRefused, UsageError
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, Proof, RuntimeFault, Verdict, open_engine
from bestresponse.logic.language.predicates import CALLABLE, GOAL_ARGUMENTS, OUTPUT, SOLVER
from bestresponse.logic.language.terms import write

LIBRARY = """
pq(b, 2). pq(a, 1). pq(b, 1). pq(a, 3).
double(X, Y) :- Y is X * 2.
add(X, A, B) :- B is A + X.
big(X) :- X > 3.
order(O, A, B) :- compare(O, A, B).
first(X) :- member(X, [a, b, c]), !.
classify(X, Y) :- ( X > 1 -> Y = big ; Y = small ).
only(X) :- \\+ \\+ X = 1, var(X).
cut_in_test(X) :- ( member(X, [1, 2]), ! -> true ; X = 3 ).
cut_in_negation :- \\+ ( member(X, [1, 2]), !, X > 1 ).
after_cut(1) :- !, fail.
after_cut(_).
count(0) :- !.
count(N) :- M is N - 1, count(M).
loop :- loop.
grow(X) :- grow(f(X, X)).
grow_list(L) :- grow_list([a|L]).
twice(0, T, T).
twice(N, X, T) :- N > 0, M is N - 1, twice(M, f(X, X), T).
wrong(X) :-
    X = 1,
    Y is X + foo,
    Y > 0.
calls_missing :- missing(1).
"""


def answers(goal: str, limit: int | None = None, source: str = LIBRARY) -> list[dict[str, str]]:
    engine = EmbeddedEngine(Limits())
    found = engine.solutions(engine.load(source), goal, limit)
    return [{name: write(value) for name, value in answer.items()} for answer in found]


def values(goal: str) -> list[str]:
    return [answer["X"] for answer in answers(goal)]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("member(X, [1, 2, 3])", ["1", "2", "3"]),
        ("first(X)", ["a"]),
        ("member(Y, [1, 2]), classify(Y, X)", ["small", "big"]),
        ("cut_in_test(X)", ["1"]),
        ("after_cut(1), X = 1", []),
        ("after_cut(2), X = 1", ["1"]),
        ("cut_in_negation, X = 1", ["1"]),
        ("only(Y), X = Y", ["_1"]),
        ("findall(Y-Z, (member(Y, [1, 2]), classify(Y, Z)), X)", ["['-'(1,small),'-'(2,big)]"]),
        ("findall(Y, fail, X)", ["[]"]),
        ("aggregate_all(count, pq(_, _), X)", ["4"]),
        ("aggregate_all(sum(V), pq(_, V), X)", ["7"]),
        ("aggregate_all(max(V), pq(_, V), X)", ["3"]),
        ("aggregate_all(max(V, K), pq(K, V), X)", ["max(3,a)"]),
        ("aggregate_all(min(V), pq(zzz, V), X)", []),
        ("aggregate_all(bag(V), pq(b, V), X)", ["[2,1]"]),
        ("aggregate_all(set(V), pq(_, V), X)", ["[1,2,3]"]),
        ("maplist(double, [1, 2, 3], X)", ["[2,4,6]"]),
        ("foldl(add, [1, 2, 3], 0, X)", ["6"]),
        ("include(big, [1, 5, 2, 9], X)", ["[5,9]"]),
        ("exclude(big, [1, 5, 2, 9], X)", ["[1,2]"]),
        ("partition(big, [1, 5], Y, X)", ["[1]"]),
        ("call(add, 1, 2, X)", ["3"]),
        ("call(plus(1), 2, X)", ["3"]),
        ("forall(member(Y, [4, 5]), big(Y)), X = yes", ["yes"]),
        ("append(X, [3], [1, 2, 3])", ["[1,2]"]),
        ("append([[1], [2, 3]], X)", ["[1,2,3]"]),
        ("append(Y, Z, [1]), X = Y/Z", ["'/'([],[1])", "'/'([1],[])"]),
        ("select(b, [a, b, c], X)", ["[a,c]"]),
        ("permutation([1, 2, 3], X), X = [3|_]", ["[3,1,2]", "[3,2,1]"]),
        ("nth0(1, [a, b], X)", ["b"]),
        ("nth1(X, [a, b, a], a)", ["1", "3"]),
        ("last([1, 2], X)", ["2"]),
        ("sum_list([1, 2.5], X)", ["7r2"]),
        ("max_list([1, 3, 2], X)", ["3"]),
        ("max_member(X, [1-a, 3-b, 2-c])", ["'-'(3,b)"]),
        ('msort([b, 1, a, 0.5, f(x), "s", b], X)', ['[1r2,1,"s",a,b,b,f(x)]']),
        ("sort([c, a, b, a], X)", ["[a,b,c]"]),
        ("sort(0, @>=, [1, 3, 2, 3], X)", ["[3,3,2,1]"]),
        ("sort(1, @<, [2-a, 1-b, 2-c], X)", ["['-'(1,b),'-'(2,a)]"]),
        ("keysort([2-a, 1-b, 2-c], X)", ["['-'(1,b),'-'(2,a),'-'(2,c)]"]),
        ("list_to_set([a, b, a], X)", ["[a,b]"]),
        ("subtract([1, 2, 3], [2], X)", ["[1,3]"]),
        ("reverse([1, 2], X)", ["[2,1]"]),
        ("numlist(1, 3, X)", ["[1,2,3]"]),
        ("length(Y, 2), X = Y", ["[_1,_2]"]),
        ("between(1, 3, X)", ["1", "2", "3"]),
        ("between(1, inf, X), X > 4, !", ["5"]),
        ("flatten([1, [2, [3]], []], X)", ["[1,2,3]"]),
        ("pairs_keys_values(X, [a], [1])", ["['-'(a,1)]"]),
        ("compare(X, 1, 2)", ["'<'"]),
        ("succ(X, 4)", ["3"]),
        ("( X = 1 ; X = 2 )", ["1", "2"]),
        ("once(member(X, [1, 2]))", ["1"]),
        ("ignore(fail), X = 1", ["1"]),
        ("X = f(Y), Y = 2", ["f(2)"]),
    ],
)
def test_goals_have_the_answers_of_prolog(goal: str, expected: list[str]) -> None:
    assert values(goal) == expected


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 / 2", "7r2"),
        ("6 / 3", "2"),
        ("-7 // 2", "-3"),
        ("-7 mod 3", "2"),
        ("-7 rem 3", "-1"),
        ("-7 div 2", "-4"),
        ("2 ** 3", "8"),
        ("2 ** -1", "1r2"),
        ("2 ^ 3", "8"),
        ("(2/3) ^ -2", "9r4"),
        ("2.0 * 3", "6"),
        ("0.1 + 0.2", "3r10"),
        ("1 rdiv 3 + 1 / 6", "1r2"),
        ("0 ** 0", "1"),
        ("(-1) ** 5", "-1"),
        ("max(1, 2.5)", "5r2"),
        ("min(2, 2.0)", "2"),
        ("abs(-3)", "3"),
        ("sign(-2)", "-1"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("truncate(-2.5)", "-2"),
        ("floor(-2.5)", "-3"),
        ("ceiling(2.1)", "3"),
        ("gcd(12, 18)", "6"),
        ("- (3)", "-3"),
        ("10 - 2 - 3", "5"),
        ("numerator(0.75) - denominator(0.75)", "-1"),
    ],
)
def test_arithmetic_is_exact(expression: str, value: str) -> None:
    assert values(f"X is {expression}") == [value]


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("X is 1 / 0", "division by zero"),
        ("X is 0 ** -1", "division by zero"),
        ("X is Y + 1", "an arithmetic expression contains an unbound variable"),
        ("X is foo + 1", "foo is not a number"),
        ("Y = sqrt(2), X is Y", "sqrt/1 is not an arithmetic function"),
        ("X is 2 ** 0.5", "a whole number was expected, 1r2 came"),
        ("calls_missing", "unknown procedure missing/1"),
        ("sum_list([a|X], N)", "a list was expected"),
        ("sort([X, a], Y)", "terms with unknown parts have no order"),
        ("X @< a", "terms with unknown parts have no order"),
        ("length(L, N)", "length/2 needs a list whose end is known"),
        ("length(L, -1)", "the length of a list is a whole number of at least 0"),
        ("between(a, 2, X)", "the lower bound of between/3 must be a whole number, not a"),
    ],
)
def test_errors_are_raised_and_said(goal: str, message: str) -> None:
    with pytest.raises(RuntimeFault, match=message):
        answers(goal)


def test_an_error_names_the_clause_it_came_from() -> None:
    with pytest.raises(RuntimeFault) as caught:
        answers("wrong(X)")
    assert caught.value.message == "foo is not a number"
    assert caught.value.line == 21
    assert caught.value.source_line == "wrong(X) :-"


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("loop", "steps|cells"),
        ("grow(a)", "cells of memory"),
        ("grow_list([])", "cells of memory"),
        ("length(L, 2000000000)", "steps|cells"),
        ("numlist(1, 1000000000, L)", "steps|cells"),
        ("X is 7 ** (7 ** (7 ** 7))", "bits"),
        ("findall(A-B, (between(1, 100000, A), between(1, 100000, B)), L)", "cells of memory"),
        ("X is 2 ** 9000, findall(X, between(1, 2000, _), L)", "cells of memory"),
        ("X is 1 / 2 ** 9000, findall(f(X, a), between(1, 2000, _), L)", "cells of memory"),
        ("twice(40, a, T)", "limit on output"),
        ("twice(40, a, T), findall(T, true, L)", "limit on output"),
        ("twice(40, a, T), twice(40, a, U), T == U", "limit on output"),
        ("between(1, inf, X)", "."),
        ("count(100000000)", "."),
    ],
)
def test_limits_hold(goal: str, message: str) -> None:
    engine = EmbeddedEngine(Limits(steps=400_000, cells=200_000, answers=1_000, output=400_000))
    with pytest.raises(LimitReached, match=message):
        engine.solutions(engine.load(LIBRARY), goal)


def test_deep_proofs_need_no_python_stack() -> None:
    engine = EmbeddedEngine(Limits())
    assert engine.solutions(engine.load(LIBRARY), "count(50000)") == ({},)


def test_a_claim_is_proved_refuted_or_unknown_with_a_reason() -> None:
    engine = EmbeddedEngine(Limits(steps=50_000))
    program = engine.load(LIBRARY)
    assert engine.prove(program, "pq(a, 1)") == Proof(Verdict.PROVED)
    assert engine.prove(program, "pq(a, 2)") == Proof(Verdict.REFUTED)
    assert engine.prove(program, "pq(a, ").verdict is Verdict.UNKNOWN
    assert engine.prove(program, "loop").why == "A rule did not come to an end within 50,000 steps."
    assert engine.prove(program, "nobody(1)").why == "unknown procedure nobody/1"
    assert "not allowed" in engine.prove(program, "shell(ls)").why


def test_a_limit_on_answers_stops_early() -> None:
    assert len(answers("between(1, inf, X)", limit=5)) == 5


def test_what_is_given_to_one_goal_is_gone_for_the_next() -> None:
    engine = EmbeddedEngine()
    program = engine.load(DILEMMA)
    given = engine.solutions(
        program, "initialise(default_move(p1, 'D'), s0), holds(default_move(p1, M), s0)"
    )
    later = engine.solutions(program, "holds(default_move(p1, M), s0)")
    assert [write(answer["M"]) for answer in given] == ["'D'"]
    assert [write(answer["M"]) for answer in later] == ["'C'"]


def test_programs_do_not_see_each_other_and_hide_nothing_from_the_library() -> None:
    engine = EmbeddedEngine()
    first = engine.load(
        "append(_, _, mine).\na(X) :- append([1], [2], X).\nb(X) :- append([[1], [2]], X)."
    )
    second = engine.load("a(X) :- append([1], [2], X).")
    assert [write(answer["X"]) for answer in engine.solutions(first, "a(X)")] == ["mine"]
    assert [write(answer["X"]) for answer in engine.solutions(first, "b(X)")] == ["[1,2]"]
    assert [write(answer["X"]) for answer in engine.solutions(second, "a(X)")] == ["[1,2]"]


def test_random_predicates_follow_the_seed() -> None:
    def draws(seed: int) -> list[str]:
        engine = EmbeddedEngine(seed=seed)
        program = engine.load("a.")
        return [
            write(engine.solutions(program, "random_member(X, [1, 2, 3, 4])")[0]["X"])
            for _ in range(10)
        ]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert values("random_between(3, 3, X)") == ["3"]


def test_engines_are_opened_by_name() -> None:
    assert open_engine("embedded").name == "embedded"
    with pytest.raises(UsageError, match="no logic engine"):
        open_engine("prolog")  # type: ignore[arg-type]


def test_refused_programs_are_never_loaded() -> None:
    with pytest.raises(ProgramRefused, match="halt/0 is not allowed"):
        EmbeddedEngine().load("a :- halt.")


def test_a_program_of_another_engine_is_turned_away() -> None:
    engine = EmbeddedEngine()
    program = engine.load("a.")
    foreign = type(program)(program.gated, object())
    with pytest.raises(LogicError, match="loaded by another engine"):
        engine.solutions(foreign, "a")


_TERMS = st.sampled_from(
    [
        "a",
        "[]",
        "'B c'",
        "1",
        "0",
        "-3",
        "2.5",
        '"s"',
        "f(a)",
        "f(X,Y)",
        "[1,2,3]",
        "[a|T]",
        "X",
        "Y",
        "[X,Y]",
        "1-a",
        "[1-a,2-b]",
        "inf",
        "@>=",
        "1r3",
        "X+1",
        "1/0",
        "10**5",
        "''",
        "[[a],[b]]",
    ]
)
_PLAIN = sorted(CALLABLE - set(GOAL_ARGUMENTS) - OUTPUT - SOLVER - {"!/0"})


@st.composite
def _goals(draw: st.DrawFn) -> str:
    name, arity = draw(st.sampled_from(_PLAIN)).rsplit("/", 1)
    quoted = name.replace("\\", "\\\\")
    arguments = ",".join(draw(_TERMS) for _ in range(int(arity)))
    return f"'{quoted}'({arguments})" if arguments else f"'{quoted}'"


@settings(max_examples=300, deadline=None)
@given(
    st.lists(_goals(), min_size=1, max_size=3),
    st.sampled_from(["{}", "findall(X-Y, ({}), L)", "\\+ ({})"]),
)
def test_no_built_in_predicate_fails_in_python(goals: list[str], frame: str) -> None:
    engine = EmbeddedEngine(Limits(steps=2_000, cells=20_000, answers=20, output=50_000))
    with suppress(LogicError):
        engine.solutions(engine.load("q(1)."), frame.format(", ".join(goals)), 10)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=8))
def test_sorting_and_summing_agree_with_python(numbers: list[int]) -> None:
    assert values(f"msort({numbers}, X)") == ["[" + ",".join(map(str, sorted(numbers))) + "]"]
    assert values(f"sort(0, @>, {numbers}, X)") == [
        "[" + ",".join(map(str, sorted(set(numbers), reverse=True))) + "]"
    ]
    assert values(f"sum_list({numbers}, X)") == [str(sum(numbers))]
    assert values(f"foldl(add, {numbers}, 0, X)") == [str(sum(numbers))]


def test_a_loop_is_charged_for_what_it_builds_not_for_its_text() -> None:
    source = "count(N, N) :- !.\ncount(I, N) :- J is I + 1, count(J, N).\n"
    engine = EmbeddedEngine(Limits(cells=7_500_000))
    assert engine.solutions(engine.load(source), "count(0, 50_000)") == ({},)


@pytest.mark.parametrize(
    ("clause", "answer"),
    [
        ("row([c(a, R), c(b, R)]) :- R = 1.", "[c(a,1),c(b,1)]"),
        ("row([R, c(R)|T]) :- R = 1, T = [R].", "[1,c(1),1]"),
        ("row([c(T)|T]) :- T = [1].", "[c([1]),1]"),
        ("row(f([c(R), c(R)], R)) :- R = 1.", "f([c(1),c(1)],1)"),
    ],
)
def test_a_variable_that_occurs_twice_in_a_list_of_a_head_is_one(clause, answer):
    engine = EmbeddedEngine()
    (found,) = engine.solutions(engine.load(clause), "row(X)")
    assert write(found["X"]) == answer
