"""Large games are tabled at the default limits, and too large ones are told which limit they
hit."""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from example_programs import PROGRAMS, shrink

import bestresponse as br
from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import EngineKind, Limits, open_engine
from bestresponse.logic.language.terms import items_of, write
from bestresponse.logic.programs.report import describe_failure
from bestresponse.logic.programs.table import extract
from bestresponse.logic.programs.validate import validate

swi = pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed")


def assert_tabled(path: Path, ends: int, last: tuple[int, ...]) -> None:
    report = br.check(path, engine="embedded", limits=Limits.within(600))
    assert not report.errors
    assert report.table is not None
    assert len(report.table.rows) == ends
    assert report.table.rows[-1].payoffs == tuple(map(Fraction, last))


@pytest.mark.parametrize(
    ("name", "ends", "last"),
    [
        pytest.param("cournot", 10_201, (-11_000, -11_000), marks=pytest.mark.soak),
        pytest.param("public_goods", 4_096, (6,) * 6, marks=pytest.mark.soak),
        pytest.param("blotto", 4_356, (0, 0), marks=pytest.mark.soak),
        pytest.param("bargaining", 16_463, (0, 0), marks=pytest.mark.soak),
    ],
)
def test_large_games_are_tabled_where_they_are_given_time(
    name: str, ends: int, last: tuple[int, ...]
) -> None:
    assert_tabled(PROGRAMS / f"{name}.pl", ends, last)


@pytest.mark.soak
def test_connect_four_is_told_by_its_positions_where_it_is_given_time() -> None:
    """On 4 columns of 4 rows a count of all columns of discs gives 161,029 positions too."""
    report = br.check(PROGRAMS / "connect_four.pl", limits=Limits.within(600, 400_000))
    assert report.positions is not None
    assert len(report.positions.positions) == 161_029


@pytest.mark.parametrize(
    ("name", "ends", "last"),
    [
        ("cournot", 21 * 21, (1_000, 1_000)),
        ("public_goods", 4**4, (4,) * 4),
        ("blotto", 15 * 15, (0, 0)),
        ("bargaining", 11 + 11 * 9 * 2, (0, 0)),
    ],
)
def test_the_same_games_with_fewer_moves_are_tabled_alike(
    name: str, ends: int, last: tuple[int, ...], tmp_path: Path
) -> None:
    assert_tabled(shrink(name, tmp_path), ends, last)


def test_the_duopoly_of_the_examples_pays_what_the_textbook_says(tmp_path: Path) -> None:
    """With a price of 120 - Q and unit costs of 30 a firm that produces 10 beside one of 20 earns
    10 * 60."""
    table = br.check(shrink("cournot", tmp_path), engine="embedded").table
    assert table is not None
    assert table.payoffs(("10", "20")) == (600, 1200)


def test_a_game_of_opposed_interests_is_solved(tmp_path: Path) -> None:
    assert br.solve(shrink("blotto", tmp_path)).value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("limits", "message", "hint"),
    [
        (Limits(ends=440), "The game has more than 440 ends.", "--logic-ends N"),
        (Limits(cells=10_000), "It needed more than 10,000 cells of memory.", "--logic-ends N"),
    ],
)
def test_a_game_that_is_too_large_is_told_the_limit_and_what_raises_it(
    limits: Limits, message: str, hint: str, tmp_path: Path
) -> None:
    engine = EmbeddedEngine(limits)
    with pytest.raises(LimitReached) as caught:
        extract(engine, engine.load(shrink("cournot", tmp_path).read_text("utf-8")))
    assert str(caught.value) == message
    assert hint in describe_failure(caught.value).hint


def test_a_rule_that_takes_too_many_steps_is_told_the_limit_and_what_raises_it(
    tmp_path: Path,
) -> None:
    engine = EmbeddedEngine(Limits(steps=500))
    slow = "\nlegal(move(nobody, slow), _) :- numlist(1, 2000, Numbers), last(Numbers, 0).\n"
    with pytest.raises(
        LimitReached, match="A rule did not come to an end within 500 steps"
    ) as caught:
        extract(engine, engine.load(shrink("cournot", tmp_path).read_text("utf-8") + slow))
    assert "--logic-seconds 600 " in describe_failure(caught.value).hint


@pytest.mark.parametrize("kind", ["embedded", pytest.param("swi", marks=swi)])
def test_positions_are_counted_alike_by_both_engines(kind: EngineKind, tmp_path: Path) -> None:
    """Each of two firms has 21 outputs: a first position, 21 with one output, and 441 with two."""
    source = shrink("cournot", tmp_path).read_text("utf-8")
    whole, short = (
        br.check(source, engine=kind, limits=Limits(positions=positions))
        for positions in (1 + 21 + 441, 21 + 441)
    )
    assert whole.ok
    assert [error.message for error in short.errors] == [
        "Walking through the game takes more than 462 positions."
    ]


@pytest.mark.parametrize("kind", ["embedded", pytest.param("swi", marks=swi)])
def test_rules_that_take_many_steps_in_all_are_given_up_by_a_count(
    kind: EngineKind, tmp_path: Path
) -> None:
    source = shrink("cournot", tmp_path).read_text("utf-8")
    slow = "\nfinally(goal(nobody, 0), _) :- between(1, 500, N), N < 0.\n"
    report = br.check(source + slow, engine=kind, limits=Limits(steps=10_000))
    assert [error.message for error in report.errors] == [
        "The rules took more than 140,000 steps in all."
    ]


def test_answers_that_are_kept_are_those_that_would_be_found_again() -> None:
    """`holds/2` by rules and by facts, with several answers, none, and unknown parts, in situations
    of a play."""
    source = r"""
initial(s0).
initially(player(p), s0).
initially(count(0), s0).
initially(free(_), s0).
initially(open, s0).
legal(move(p, M), S) :- holds(open, S), member(M, [up, down]).
effect(count(N), move(p, up), S) :- holds(count(M), S), N is M + 1.
effect(seen(M), move(p, M), _).
abnormal(count(_), move(p, up), _).
abnormal(open, _, S) :- holds(count(2), S).
abnormal(open, move(p, down), _).
final(S) :- \+ holds(open, S).
finally(goal(p, U), S) :-
    holds(count(N), S),
    findall(M, holds(seen(M), S), Ms), length(Ms, L),
    ( holds(free(any), S) -> F = 100 ; F = 0 ),
    U is N + 10 * L + F.
"""
    engine = EmbeddedEngine()
    rows = extract(engine, engine.load(source)).require().rows
    assert [(len(row.moves), int(row.payoffs[0])) for row in rows] == [
        (3, 133),
        (3, 132),
        (2, 121),
        (1, 110),
    ]


def test_sixteen_million_ends_are_refused_at_the_first_position() -> None:
    """Twelve players with four moves each: the first position shows how many combinations there
    are."""
    names = ", ".join(f"p{number}" for number in range(1, 13))
    source = (PROGRAMS / "public_goods.pl").read_text().replace("p1, p2, p3, p4, p5, p6", names)
    engine = EmbeddedEngine()
    with pytest.raises(LimitReached, match=r"The game has more than 100,000 ends\."):
        extract(engine, engine.load(source))


def test_a_game_in_which_one_of_many_can_end_the_play_is_not_refused_for_combinations_that_never_come_about() -> (
    None
):
    """Four players could choose at the same time among 30 moves each, but 29 of the first one's end
    the play."""
    source = """
initial(s0).
initially(player(P), s0) :- member(P, [a, b, c, d]).
initially(control(P), s0) :- initially(player(P), s0).
legal(move(P, M), S) :- holds(control(P), S), between(1, 30, M).
effect(did(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(did(_, M), S), M > 1.
final(S) :- \\+ holds(control(_), S).
finally(goal(P, U), S) :- holds(player(P), S), findall(M, holds(did(_, M), S), Ms), sum_list(Ms, U).
"""
    engine = EmbeddedEngine(Limits(ends=200))
    answer = engine.solutions(engine.load(source), "table_rows(_, Rows)")[0]
    ends = [row for row in items_of(answer["Rows"])[0] if "gap(" not in write(row)]
    assert len(ends) == 3 * 29 + 30


COUNTDOWN = """
initial(s0).
initially(player(p), s0).
initially(left(23), s0).
legal(move(p, M), _) :- member(M, [a, b]).
effect(left(N), move(p, _), S) :- holds(left(M), S), N is M - 1.
abnormal(left(_), _, _).
final(S) :- holds(left(0), S).
finally(goal(p, 1), _).
"""


def test_a_tree_of_ten_million_nodes_is_refused_at_the_limit_on_ends_or_told_by_positions() -> None:
    engine = EmbeddedEngine(Limits(ends=1_000))
    with pytest.raises(LimitReached, match=r"The game has more than 1,000 ends\."):
        extract(engine, engine.load(COUNTDOWN + "sees(p, nothing, s0).\n"))
    positions = extract(engine, engine.load(COUNTDOWN)).positions
    assert positions is not None
    assert (len(positions.positions), positions.plays) == (24, 2**23)


def test_what_holds_after_the_same_moves_in_another_order_is_listed_as_it_came_about() -> None:
    """`seen/1` lists the latest move first, whichever way was walked before; payoffs read the list
    as digits."""
    source = """
initial(s0).
initially(player(p), s0).
initially(left([1, 2, 3]), s0).
legal(move(p, N), S) :- member(N, [1, 2, 3]), \\+ holds(seen(N), S).
effect(seen(N), move(p, N), _).
final(S) :- findall(N, holds(seen(N), S), [_, _, _]).
finally(goal(p, U), S) :- findall(N, holds(seen(N), S), [A, B, C]), U is 100 * C + 10 * B + A.
"""
    engine = EmbeddedEngine()
    rows = extract(engine, engine.load(source)).require().rows
    assert [int(row.payoffs[0]) for row in rows] == [123, 132, 213, 231, 312, 321]


CENTIPEDE = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
initially(turn(ann), s0).
initially(round(1), s0).
legal(move(P, M), S) :- holds(turn(P), S), member(M, [stop, go]).
effect(stopped(P, N), move(P, stop), S) :- holds(round(N), S).
effect(round(N), move(_, go), S) :- holds(round(K), S), N is K + 1.
effect(turn(Q), move(P, go), S) :- holds(round(N), S), N < 100, other(P, Q).
abnormal(round(_), move(_, go), _).
abnormal(turn(P), move(P, _), _).
other(ann, bob).
other(bob, ann).
final(S) :- holds(stopped(_, _), S).
final(S) :- holds(round(101), S).
finally(goal(P, U), S) :- holds(stopped(Q, N), S), member(P, [ann, bob]), ( P == Q -> U is N + 1 ; U is N - 1 ).
finally(goal(P, 100), S) :- holds(round(101), S), member(P, [ann, bob]).
"""
"""A counter that is a fluent is asked for by every rule of every move: without a memory that is
exponential in time."""


@pytest.mark.parametrize("kind", ["embedded", "swi"])
def test_a_play_of_a_hundred_moves_with_a_counter_stays_within_the_limits_on_work(
    kind: EngineKind,
) -> None:
    engine = open_engine(kind)
    try:
        report = validate(CENTIPEDE, engine)
    finally:
        engine.close()
    assert report.ok
    assert report.table is not None
    assert (len(report.table.rows), report.table.rows[0].payoffs) == (101, (2, 0))
    assert report.table.rows[-1].payoffs == (100, 100)


@pytest.mark.parametrize("kind", ["embedded", "swi"])
def test_a_play_of_more_than_three_hundred_moves_is_named_as_such(kind: EngineKind) -> None:
    engine = open_engine(kind)
    try:
        (error,) = validate(CENTIPEDE.replace("100", "301").replace("101", "302"), engine).errors
    finally:
        engine.close()
    assert error.message.startswith(
        "a play is not over after 300 moves (check final/1 and legal/2)"
    )
