"""Two engines, one meaning: the embedded engine and SWI-Prolog give the same answers in the same
order."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given, settings, strategies as st
from recorded import DATA, needs_recorded

from bestresponse.core.errors import LimitReached, LogicError
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine, RuntimeFault
from bestresponse.logic.gate.check import GatedProgram, check_source
from bestresponse.logic.language.terms import write
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.swi.engine import SwiEngine

pytestmark = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="SWI-Prolog (swipl) is not on PATH"
)

REFERENCE = DATA / "autoformalization"
recorded = needs_recorded("autoformalization")

LIMITS = Limits(steps=60_000)


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[LogicEngine, LogicEngine]]:
    with closing(SwiEngine(LIMITS)) as swi:
        yield EmbeddedEngine(LIMITS), swi


def outcome(engine: LogicEngine, program: GatedProgram, goal: str) -> object:
    """The answers as text, or the kind of failure: engines count steps differently, so a limit is
    just a limit."""
    try:
        answers = engine.solutions(engine.load(program), goal)
    except LimitReached:
        return "limit"
    except RuntimeFault as fault:
        return ("fault", str(fault))
    except LogicError as error:
        return type(error).__name__
    return [{name: write(term) for name, term in answer.items()} for answer in answers]


def agreed(engines: tuple[LogicEngine, LogicEngine], program: GatedProgram, goal: str) -> object:
    embedded, swi = (outcome(engine, program, goal) for engine in engines)
    assert embedded == swi, goal
    return swi


def rows(name: str) -> list[dict[str, str]]:
    lines = (REFERENCE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@recorded
@pytest.mark.parametrize(
    ("every", "most", "least"),
    [(5, 55, 44), pytest.param(1, 275, 238, marks=pytest.mark.soak)],
    ids=["few", "all"],
)
def test_they_agree_on_recorded_games(
    engines: tuple[LogicEngine, LogicEngine], every: int, most: int, least: int
) -> None:
    programs = [check_source(row["program"]) for row in rows("exp1_agents.jsonl")[::every]]
    accepted = [program for program in programs if not program.refusals]
    tables = 0
    for program in accepted:
        found = agreed(engines, program, "table_rows(_, Rows)")
        agreed(engines, program, "initial(S), holds(F, S)")
        tables += isinstance(found, list) and found[0]["Rows"].count("'-'([[") == 4
    assert len(programs) == most
    assert tables >= least


@recorded
def test_they_agree_on_what_recorded_strategies_choose(
    engines: tuple[LogicEngine, LogicEngine],
) -> None:
    game = rows("exp3_program.jsonl")[0]["program"]
    for row in rows("exp3_agents.jsonl"):
        program = check_source(game + row["strategy_program"])
        if program.refusals or "random" in row["strategy"]:
            continue
        agreed(engines, program, "select(c1, c2, s0, M)")
        for move in ("C", "D"):
            agreed(
                engines, program, f"initialise(last_move(c2, '{move}'), s0), select(c1, c2, s0, M)"
            )


GOALS = [
    "R is X + Y",
    "R is X * Y - 2",
    "R is X // 3",
    "R is X mod 3",
    "R is -X rem 4",
    "R is max(X, Y)",
    "R is X / 4",
    "R is X / 0.5",
    "R is abs(X) ** 2",
    "R is 2 ** -1",
    "R is truncate(X / 3)",
    "R is sign(X) * min(X, 1.5)",
    "X < Y, R = less",
    "(X > Y -> R = more ; X =:= Y -> R = same ; R = less)",
    "(colour(R) ; R = X)",
    "\\+ X = Y, R = differ",
    "\\+ \\+ item(X), R = there",
    "length(L, R)",
    "length(R, 2)",
    "msort(L, R)",
    "sort(L, R)",
    "sort(0, @>=, L, R)",
    "reverse(L, R)",
    "sum_list(L, R)",
    "max_list(L, R)",
    "min_list(L, R)",
    "nth0(1, L, R)",
    "nth1(R, L, X)",
    "last(L, R)",
    "append(R, [_], L)",
    "append(R, [_|_], L)",
    "append([L, [A], L], R)",
    "member(R, L)",
    "select(X, L, R)",
    "subtract(L, [X], R)",
    "include(small, L, R)",
    "exclude(small, L, R)",
    "partition(small, L, R, _)",
    "maplist(double, L, R)",
    "foldl(add, L, 0, R)",
    "numlist(1, X, R)",
    "nth0(A, L, R)",
    "call(add(X), Y, R)",
    "aggregate_all(count, item(_), R)",
    "aggregate_all(sum(Z), item(Z), R)",
    "aggregate_all(max(Z), item(Z), R)",
    "aggregate_all(max(Z, V), (item(Z), colour(V)), R)",
    "aggregate_all(bag(Z - A), item(Z), R)",
    "aggregate_all(set(Z), item(Z), R)",
    "findall(Z - V, (item(Z), colour(V)), R)",
    "findall(Z, (item(Z), Z > 100), R)",
    "between(1, 3, R)",
    "numlist(1, 4, R)",
    "R = f(X, A)",
    "R is X / 3 + Y / 7",
    "R is (X / 3) ** -Y",
    "R is round(X / 2) * gcd(X, Y)",
    "R is numerator(X / 6) - denominator(Y / 4)",
    "R is E + 1, E = 2",
    "E = X / 3, R is E * 3",
    "E = sqrt(X), R is E",
    "maplist(<, [X], [Y]), R = less",
    "R = g(R)",
    "dif(A, X), R = dif",
    "max_member(R, [X, A, L])",
    "min_member(R, [X, A, L])",
    "aggregate_all(min(Z, V), (item(Z), colour(V)), R)",
    "compare(R, X, A)",
    "compare(R, Y, X)",
    'msort([f(A), X, A, 1.0, 1, [], "s", [X]], R)',
    "list_to_set([X|L], R)",
    "permutation([X, Y], R)",
    "pairs_keys_values(R, L, L)",
    "pairs_keys_values([X - a, Y - b], R, _)",
    "keysort([X - a, Y - b, X - c], R)",
    "memberchk(X, L), R = there",
    "once(item(R))",
    "forall(item(Z), Z > -100), R = all",
    "ignore((item(R), R > 2))",
    "flatten([L, [X, [Y]]], R)",
    "delete([X|L], X, R)",
    "union(L, [99], R)",
    "intersection([99|L], [X, 99], R)",
    "item(R), !",
    "reaches(1, R)",
    "countdown(3, R)",
    "holds(mood(R), do(anything, s0))",
    "atom(A), atomic(X), number(X), compound(f(x)), var(R)",
    "atom([]), R = atom",
    "R is A + 1",
    "R is X / 0",
    "undefined_here(R)",
    "succ(R, 4)",
    "succ_or_not(X, R)",
]
FRAME = """
by_size(Order, A, B) :- compare(Order, A, B).
small(N) :- N < 2.
double(N, M) :- M is 2 * N.
add(A, B, C) :- C is A + B.
smaller(A, B, C) :- C is min(A, B).
five(A, B, C, D, E) :- E is A + B + C + D.
owns(ann, 1). owns(bob, 2). owns(ann, 3).
edge(1, 2). edge(2, 3). edge(3, 4).
reaches(A, B) :- edge(A, B).
reaches(A, C) :- edge(A, B), reaches(B, C).
countdown(0, []) :- !.
countdown(N, [N|T]) :- M is N - 1, countdown(M, T).
initially(mood(calm), s0).
effect(mood(A), paint(A), _).
abnormal(mood(calm), anger, _).
succ_or_not(X, Y) :- X >= 0, succ(X, Y).
"""
bodies = st.lists(st.sampled_from(GOALS), min_size=1, max_size=3)
items = st.lists(st.integers(-3, 4), min_size=1, max_size=4)
colours = st.lists(st.sampled_from(["red", "'dark blue'", "x", "'B'"]), min_size=1, max_size=2)


def program(numbers: list[int], names: list[str], rules: list[list[str]]) -> str:
    facts = [f"item({n})." for n in numbers] + [f"colour({c})." for c in names]
    clauses = []
    for rule in rules:
        goals = [goal.replace("R", f"R{i}") for i, goal in enumerate(rule)]
        results = ", ".join(f"R{i}" for i in range(len(rule)))
        start = "item(X), item(Y), findall(E, item(E), L), colour(A)"
        clauses.append(f"answer(X, Y, A, [{results}]) :- {start}, {', '.join(goals)}.")
    return "\n".join([*facts, FRAME, *clauses])


@settings(max_examples=150, deadline=None)
@given(items, colours, st.lists(bodies, min_size=1, max_size=2))
def test_they_agree_on_generated_programs(
    engines: tuple[LogicEngine, LogicEngine],
    numbers: list[int],
    names: list[str],
    rules: list[list[str]],
) -> None:
    agreed(engines, check_source(program(numbers, names, rules)), "answer(X, Y, A, Rs)")


@pytest.mark.parametrize("goal", GOALS)
def test_they_agree_on_each_goal_alone(engines: tuple[LogicEngine, LogicEngine], goal: str) -> None:
    source = check_source(program([2, -1, 2, 0], ["red", "'dark blue'"], [[goal]]))
    assert not source.refusals
    agreed(engines, source, "answer(X, Y, A, Rs)")


@pytest.mark.parametrize(
    ("goal", "count"),
    [
        (
            "same(Y, f(Y), b)",
            0,
        ),  # the third argument tells already; which is looked at first must not matter
        ("same(Y, f(Y), a)", 0),
        ("within(Y, Y)", 0),
        ("first_of(L, L)", 0),
        ("circle(X, Y)", 0),
        ("X = f(X)", 0),
        ("X = f(Y), Y = X", 0),
        ("X \\= f(X)", 1),
        ("maplist(=(f(X)), [X])", 0),
        ("within(X, f(g(a)))", 1),
    ],
)
def test_a_term_does_not_unify_with_a_part_of_itself(
    engines: tuple[LogicEngine, LogicEngine], goal: str, count: int
) -> None:
    source = (
        "same(X, X, a). within(X, f(X)). first_of([X|_], X). circle(X, Y) :- X = f(Y), Y = g(X)."
    )
    for engine in engines:
        assert len(engine.solutions(engine.load(source), goal)) == count


def test_a_rule_without_end_is_stopped_by_its_steps_not_by_the_clock(
    engines: tuple[LogicEngine, LogicEngine],
) -> None:
    source = (
        "initial(s0). initially(player(p), s0). final(S) :- final(S). legal(a(p), s0)."
        " finally(goal(p, 1), _)."
    )
    for engine in engines:
        assert [error.message for error in validate(source, engine).errors] == [
            "A rule did not come to an end within 60,000 steps."
        ]


def test_nature_may_draw_from_hundreds_of_outcomes() -> None:
    """Comparing them with each other is not the author's work, and is not counted as such."""
    source = (
        "initial(s0). initially(player(p), s0). chance(N, 1/800, s0) :- between(1, 800, N)."
        " final(do(_, s0)). finally(goal(p, 1), do(_, _))."
    )
    with closing(SwiEngine()) as swi:
        for engine in (EmbeddedEngine(), swi):
            table = validate(source, engine).table
            assert table is not None
            assert len(table.rows) == 800
