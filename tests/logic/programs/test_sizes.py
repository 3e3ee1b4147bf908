"""Large games are tabled at the default limits, and too large ones are told which limit they hit."""

from fractions import Fraction
from pathlib import Path

import pytest

import bestresponse as br
from bestresponse.core.errors import LimitReached
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.programs.report import describe_failure
from bestresponse.logic.programs.table import extract

PROGRAMS = Path(__file__).parents[3] / "examples" / "programs"


@pytest.mark.parametrize(
    ("name", "ends", "last"),
    [
        ("cournot", 10_201, (-11_000, -11_000)),
        ("public_goods", 4_096, (6,) * 6),
        ("blotto", 4_356, (0, 0)),
        ("bargaining", 16_463, (0, 0)),
    ],
)
def test_large_games_are_tabled_at_the_default_limits(name: str, ends: int, last: tuple[int, ...]) -> None:
    report = br.check(PROGRAMS / f"{name}.pl", engine="embedded")
    assert not report.errors
    assert report.table is not None
    assert len(report.table.rows) == ends
    assert report.table.rows[-1].payoffs == tuple(map(Fraction, last))


def test_the_duopoly_of_the_examples_pays_what_the_textbook_says() -> None:
    """With a price of 120 - Q and unit costs of 30 each firm produces 90 / 3 = 30 and earns 30 * 30."""
    table = br.check(PROGRAMS / "cournot.pl", engine="embedded").table
    assert table is not None
    assert table.payoffs(("30", "30")) == (900, 900)


def test_a_large_game_of_opposed_interests_is_solved() -> None:
    assert br.solve(PROGRAMS / "blotto.pl").value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("limits", "message", "hint"),
    [
        (Limits(ends=10_200), "The game has more than 10,200 ends.", "--logic-ends N"),
        (Limits(positions=10_000), "The game has more than 10,000 positions.", "--logic-ends N"),
        (Limits(cells=10_000), "It needed more than 10,000 cells of memory.", "--logic-ends N"),
        (Limits(steps=500), "A rule did not come to an end within 500 steps.", "--logic-seconds 600"),
    ],
)
def test_a_game_that_is_too_large_is_told_the_limit_and_what_raises_it(limits: Limits, message: str, hint: str) -> None:
    engine = EmbeddedEngine(limits)
    with pytest.raises(LimitReached) as caught:
        extract(engine, engine.load((PROGRAMS / "cournot.pl").read_text()))
    assert str(caught.value) == message
    assert hint in describe_failure(caught.value).hint


def test_answers_that_are_kept_are_those_that_would_be_found_again() -> None:
    """`holds/2` by rules and by facts, with several answers, none, and unknown parts, in situations of a play."""
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
    assert [(len(row.moves), int(row.payoffs[0])) for row in rows] == [(3, 133), (3, 132), (2, 121), (1, 110)]
