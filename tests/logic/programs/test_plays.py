"""The table of a small game has exactly the plays that its rules allow, in every order of
simultaneous moves."""

import pytest

from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import validate

TOGETHER = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
initially(turn(P), s0) :- member(P, [ann, bob]).
legal(choose(P, M), S) :- holds(turn(P), S), member(M, [left, right]).
effect(chosen(P, M), choose(P, M), _).
abnormal(turn(P), choose(P, _), _).
final(S) :- \\+ holds(turn(_), S).
finally(goal(P, 1), S) :- final(S), member(P, [ann, bob]).
"""
"""Ann and Bob choose at the same time; both always get 1."""

OTHER_FORM = (
    TOGETHER
    + "legal(object(bob, loudly), do(choose(ann, _), s0)).\nabnormal(turn(bob), object(bob, _),"
    " _).\n"
)
OTHER_ORDER = TOGETHER + "legal(choose(ann, third), do(choose(bob, left), s0)).\n"

RACE = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
legal(grab(P, it), s0) :- member(P, [ann, bob]).
final(do(_, s0)).
finally(goal(P, U), do(grab(Q, it), s0)) :- member(P, [ann, bob]), ( P == Q -> U = 1 ; U = 0 ).
"""

TWICE = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
legal(say(P, M), S) :- length_of(S, N), N < 2, member(P, [ann, bob]), member(M, [yes, no]).
length_of(s0, 0).
length_of(do(_, S), N) :- length_of(S, K), N is K + 1.
final(S) :- length_of(S, 2).
finally(goal(P, 0), S) :- final(S), member(P, [ann, bob]).
"""

DRAW_AFTER = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
initially(turn(P), s0) :- member(P, [ann, bob]).
legal(choose(P, left), S) :- holds(turn(P), S).
abnormal(turn(P), choose(P, _), _).
chance(drawn(nature, luck), 1/4, do(choose(LAST, _), do(_, s0))).
chance(drawn(nature, none), 3/4, do(choose(LAST, _), do(_, s0))).
final(do(drawn(nature, _), _)).
finally(goal(P, U), do(drawn(nature, M), _)) :- member(P, [ann, bob]), ( M == luck -> U = 4 ; U = 0 ).
"""
ODDS_BY_ORDER = (
    DRAW_AFTER.replace("1/4, do(choose(LAST", "1/4, do(choose(bob").replace(
        "3/4, do(choose(LAST", "3/4, do(choose(bob"
    )
    + "chance(drawn(nature, luck), 3/4, do(choose(ann, _), do(_, s0))).\n"
    "chance(drawn(nature, none), 1/4, do(choose(ann, _), do(_, s0))).\n"
)

GUESS = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
initially(turn(P), s0) :- member(P, [ann, bob]).
legal(choose(P, M), S) :- holds(turn(P), S), member(M, [left, right]).
legal(guess(ann, M), S) :- \\+ holds(turn(_), S), member(M, [left, right]).
effect(chosen(P, M), choose(P, M), _).
effect(guessed(M), guess(ann, M), _).
abnormal(turn(P), choose(P, _), _).
final(S) :- holds(guessed(_), S).
finally(goal(ann, U), S) :- holds(guessed(M), S), holds(chosen(bob, N), S), ( M == N -> U = 1 ; U = 0 ).
finally(goal(bob, 0), S) :- final(S).
"""
"""Both choose, then Ann guesses what Bob chose; what she sees of it is said by one more rule."""

SEEN_BY_ORDER = GUESS + "sees(P, M, do(choose(Q, M), do(choose(P, _), s0))) :- P \\== Q.\n"
SEEN_AT_ONCE = GUESS + "sees(P, M, do(choose(Q, M), _)) :- member(P, [ann, bob]), P \\== Q.\n"
SEEN_FOR_GOOD = GUESS + "sees(ann, did(P, M), S) :- holds(chosen(P, M), S).\n"

COUNT = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob, eve, judge]).
initially(turn(P), s0) :- member(P, [ann, bob, eve]).
legal(vote(P, M), S) :- holds(turn(P), S), member(M, [yes, no]).
legal(rule(judge, M), S) :- \\+ holds(turn(_), S), member(M, [passed, failed]).
effect(voted(P, M), vote(P, M), _).
effect(ruled(M), rule(judge, M), _).
abnormal(turn(P), vote(P, _), _).
sees(judge, SEEN, do(vote(P, M), _)).
final(S) :- holds(ruled(_), S).
finally(goal(judge, U), S) :- holds(ruled(R), S), findall(P, holds(voted(P, yes), S), Ps), length(Ps, N),
    ( N >= 2 -> Right = passed ; Right = failed ), ( R == Right -> U = 1 ; U = 0 ).
finally(goal(P, 0), S) :- final(S), member(P, [ann, bob, eve]).
"""


@pytest.fixture(params=["embedded", "swi"])
def engine(request):
    logic = open_engine(request.param)
    yield logic
    logic.close()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            OTHER_FORM,
            (
                "the rules also allow the play ann: left, bob: loudly, but the game is taken to be"
                " played as in "
            ),
        ),
        (
            OTHER_ORDER,
            (
                "the rules also allow the play bob: left, ann: third, but the game is taken to be"
                " played as in "
            ),
        ),
        (
            RACE,
            (
                "the rules also allow the play bob: it, but the game is taken to be played as in"
                " ann: it"
            ),
        ),
        (
            TWICE,
            (
                "the rules also allow the play ann: yes, ann: yes, but the game is taken to be"
                " played as in ann: yes"
            ),
        ),
        (
            ODDS_BY_ORDER,
            (
                "the probabilities of nature's moves in ann: left, bob: left, nature: luck depend"
                " on the order"
            ),
        ),
        (
            SEEN_BY_ORDER,
            (
                "what is seen in ann: choose left, bob: choose left, ann: guess left depends on the"
                " order"
            ),
        ),
        (
            COUNT.replace("SEEN", "M"),
            "What judge sees of moves made at the same time counts once, so it cannot tell how",
        ),
    ],
    ids=["another form", "another order", "race", "twice", "odds", "seen", "counted"],
)
def test_what_the_table_would_lack_is_a_defect_that_names_the_plays(engine, program, message):
    report = validate(program, engine)
    assert report.table is None
    assert report.errors[0].message.startswith(message)


@pytest.mark.parametrize(
    ("program", "ends"),
    [
        (TOGETHER, 4),
        (DRAW_AFTER.replace("LAST", "_"), 2),
        (SEEN_AT_ONCE, 8),
        (SEEN_FOR_GOOD, 8),
        (COUNT.replace("SEEN", "by(P, M)"), 16),
    ],
    ids=["together", "drawn", "seen at once", "seen for good", "told by whom"],
)
def test_what_does_not_depend_on_the_order_is_a_game(engine, program, ends):
    report = validate(program, engine)
    assert report.ok
    assert (len(report.table.rows), report.table.every_order) == (ends, True)


def test_who_may_answer_before_others_have_chosen_plays_the_same_game(engine):
    """Carl, who sees only Ann's choice, may move while Bob has not: with percepts that is no other
    game."""
    program = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob, carl]).
legal(choose(P, M), S) :- member(P, [ann, bob]), \\+ done(P, S), member(M, [x, y]).
legal(choose(carl, M), S) :- done(ann, S), \\+ done(carl, S), member(M, [x, y]).
done(P, do(choose(P, _), _)).
done(P, do(_, S)) :- done(P, S).
sees(carl, M, do(choose(ann, M), _)).
final(S) :- done(ann, S), done(bob, S), done(carl, S).
finally(goal(P, U), S) :- member(P, [ann, bob, carl]), ( same(S) -> U = 1 ; U = 0 ).
same(S) :- made(ann, M, S), made(carl, M, S).
made(P, M, do(choose(P, M), _)) :- !.
made(P, M, do(_, S)) :- made(P, M, S).
"""
    report = validate(program, engine)
    assert report.ok
    assert len(report.table.rows) == 8


MIDDLE = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob, eve]).
initially(turn(P), s0) :- member(P, [ann, bob, eve]).
legal(bid(P, M), S) :- holds(turn(P), S), between(1, 7, M).
abnormal(turn(P), bid(P, _), _).
final(do(_, do(_, do(_, s0)))).
finally(goal(P, U), do(_, do(bid(Q, _), _))) :- member(P, [ann, bob, eve]), ( P == Q -> U = 1 ; U = 0 ).
"""
"""Who bids second of three gets 1: backwards that is the same one, and 343 plays are too many to
try all orders."""


def test_payoffs_by_who_is_in_the_middle_are_a_defect_of_a_large_game_too(engine):
    first, *_ = validate(MIDDLE, engine).errors
    assert (
        first.message
        == "the payoffs after ann: 1, bob: 1, eve: 2 depend on the order of simultaneous moves"
    )


AT_ONCE = """
initial(s0).
initially(player(ann), s0).
chance(drawn(nature, D), 1/2, S) :- \\+ S = do(drawn(_, _), _), \\+ S = do(_, do(_, _)), member(D, [heads, tails]).
legal(call(ann, M), S) :- \\+ S = do(call(_, _), _), \\+ S = do(_, do(_, _)), member(M, [heads, tails]).
final(do(_, do(_, s0))).
finally(goal(ann, U), do(call(ann, M), do(drawn(nature, D), s0))) :- ( M == D -> U = 1 ; U = 0 ).
"""


def test_a_draw_that_is_made_before_a_move_that_could_be_made_too_is_told(engine):
    report = validate(AT_ONCE, engine)
    assert report.ok
    assert [warning.message for warning in report.warnings] == [
        "nature draws at the start before call(ann,heads) is made, which could be made too"
    ]


def test_a_payoff_that_is_written_in_two_ways_is_one_payoff(engine):
    report = validate(
        TOGETHER + "finally(goal(P, 3/3), S) :- final(S), member(P, [ann, bob]).\n", engine
    )
    assert report.ok
    other = validate(
        TOGETHER + "finally(goal(P, 1/2), S) :- final(S), member(P, [ann, bob]).\n", engine
    )
    assert other.errors[0].message == "ann has several payoffs after ann: left, bob: left: 1, 0.5"
