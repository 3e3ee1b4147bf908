"""The table of a game has the plays that its rules allow, in every order of simultaneous moves.

In a small game all plays are compared; in a large one every position is, and what is not compared
is said.
"""

import pytest

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, open_engine
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
                "the moves ann: left, bob: loudly are made at the same time, but not possible in"
                " another order"
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
                "ann can move again after ann: yes, while others who move at the same time have"
                " not moved yet"
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
        == "the payoffs after ann: 1, bob: 1, eve: 1 depend on the order of simultaneous moves"
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


def enlarge(program, options=34):
    """Give the choice between left and right `options` options, which makes more than 1,000 plays
    of two choices."""
    return program.replace("member(M, [left, right])", f"between(1, {options}, M)")


LARGE = enlarge(TOGETHER)

LARGE_RACE = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
rival(ann, bob).
rival(bob, ann).
legal(grab(P, it), s0) :- rival(P, _).
legal(share(P, N), do(grab(P, it), s0)) :- between(1, 40, N).
legal(answer(Q, N), do(share(P, _), _)) :- rival(P, Q), between(1, 30, N).
final(do(answer(_, _), _)).
finally(goal(P, 7), do(_, do(_, do(grab(P, it), s0)))).
finally(goal(Q, 0), do(_, do(_, do(grab(P, it), s0)))) :- rival(P, Q).
"""
"""Who grabs first gets 7, and 40 times 30 choices follow: 1,200 ends with Ann first, and as many
with Bob."""

EARLY = """
initial(s0).
initially(player(P), s0) :- member(P, [ann, bob, eve, dan, last]).
initially(turn(P), s0) :- member(P, [ann, bob, eve, dan]).
legal(choose(P, M), S) :- holds(turn(P), S), member(M, [left, right]).
abnormal(turn(P), choose(P, _), _).
effect(turn(last), choose(dan, _), _).
effect(quick, choose(last, _), S) :- holds(turn(ann), S), holds(turn(bob), S).
sees(last, it(M), do(choose(dan, M), _)).
final(S) :- \\+ holds(turn(_), S).
finally(goal(ann, U), S) :- ( holds(quick, S) -> U = 5 ; U = 0 ).
finally(goal(P, 0), _) :- member(P, [bob, eve, dan, last]).
"""
"""Four choose at the same time, and a fifth as soon as Dan has: more than 1,000 plays, in some of
which it is quick."""


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            LARGE_RACE,
            "bob could move too, but no more after ann: it: plays are missing from the game",
        ),
        (
            LARGE + "legal(object(bob, loudly), do(choose(ann, 34), s0)).\nabnormal(turn(bob),"
            " object(bob, _), _).\n",
            "bob moves at the same time, but has other moves after ann: 34 than before",
        ),
        (
            LARGE + "legal(object(ann, loudly), do(choose(bob, 34), s0)).\nabnormal(turn(ann),"
            " object(ann, _), _).\n",
            "ann moves at the same time, but has other moves after bob: 34 than before",
        ),
        (
            LARGE + "legal(choose(ann, x), do(choose(ann, 7), s0)).\n",
            "ann can move again after ann: 7, while others",
        ),
        (
            LARGE + "final(do(choose(ann, 9), s0)).\n",
            "bob could move too, but no more after ann: 9",
        ),
        (
            LARGE + "final(do(choose(bob, 9), s0)).\n",
            "ann could move too, but no more after bob: 9",
        ),
        (
            LARGE + "chance(luck, 1, do(choose(ann, 3), s0)).\n",
            "nature draws after ann: 3, while others",
        ),
    ],
    ids=[
        "race",
        "hidden option",
        "hidden option of the first",
        "again",
        "end",
        "end by the second",
        "draw",
    ],
)
def test_a_large_game_lacks_no_play_without_a_word(engine, program, message):
    report = validate(program, engine)
    assert report.table is None
    assert report.errors[0].message.startswith(message)


def test_large_games_of_simultaneous_moves_are_games_and_say_what_was_not_compared(engine):
    report = validate(LARGE.replace("34", "51"), engine)
    assert report.ok
    assert len(report.table.rows) == 51 * 51
    told = "not compared: 1,734 of 2,601 other orders of simultaneous moves"
    assert report.not_compared == (told,)


def test_all_plays_of_a_game_that_is_not_so_large_are_compared(engine):
    """Whoever is asked last may do something new, but only later and after one order of moves."""
    report = validate(LARGE, engine)
    assert report.ok
    assert not report.not_compared
    late = "finally(goal(ann, 2), do(choose(ann, 7), do(choose(bob, 8), s0))).\n"
    report = validate(LARGE + late, engine)
    assert "depend on the order of simultaneous moves" in report.errors[0].message


def test_larger_limits_compare_all_plays_of_a_larger_game():
    """51 x 51 plays in two orders are 5,202: no more than a quarter of 22,000 positions."""
    larger = LARGE.replace("34", "51")
    late = "finally(goal(ann, 2), do(choose(ann, 7), do(choose(bob, 8), s0))).\n"
    engine = EmbeddedEngine(Limits(positions=22_000))
    assert not validate(larger, engine).not_compared
    report = validate(larger + late, engine)
    assert "depend on the order of simultaneous moves" in report.errors[0].message


def test_plays_in_which_somebody_moves_early_are_compared_from_the_last_mover_on(engine):
    report = validate(EARLY, engine)
    assert report.table is None
    assert "depend on the order of simultaneous moves" in report.errors[0].message


def test_early_moves_that_were_not_all_compared_are_told(engine):
    report = validate(EARLY.replace("U = 5", "U = 0"), engine)
    assert report.ok
    assert not report.table.every_order
    assert report.not_compared == (
        (
            "not compared: all plays in which somebody moves before others who could move earlier;"
            " 1,000 plays were"
        ),
    )
