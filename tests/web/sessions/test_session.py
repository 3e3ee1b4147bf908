"""A table by itself: who is waited for, which page everybody sees, and how long an answer may
take."""

from dataclasses import replace

import pytest

from bestresponse.core import Decision
from bestresponse.core.episode import Submission
from bestresponse.runs.reporting.steps import round_amount
from bestresponse.web.experiments.model import wrap_setup
from bestresponse.web.sessions import session as module
from bestresponse.web.sessions.session import (
    Session,
    SessionTable,
    TableStanding,
    TimedAnswer,
    Timing,
    name_attempt,
)
from bestresponse.web.sessions.setup import GameChoice, Setup, make_game

DILEMMA = GameChoice("prisoners-dilemma", rounds=2)
SETUP = Setup(DILEMMA, ("person", "person"), seconds=10, waiting=60)


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


TIMING = Timing(shown=None, answered="then")


def seated(answers="", setup=SETUP, **standing):
    """A table with the answers "row col row col", of which a "-" was given by a stand-in."""
    given = [
        TimedAnswer(
            Submission(role, Decision(move.strip("-"), stand_in="random" if "-" in move else "")),
            TIMING,
        )
        for role, move in zip(("row", "col") * 2, answers.split(), strict=False)
    ]
    known = TableStanding(**{"ready": {0, 1}, **standing})
    return Session.restore(
        SessionTable("l-1", "l", 1, wrap_setup(setup)[1], "then"),
        make_game(setup.game),
        given,
        known,
    )


C, D = "cooperate", "defect"


@pytest.mark.parametrize(
    ("answers", "standing", "phases", "states", "versions"),
    [
        ("", {"ready": set()}, "welcome welcome", "not here yet|not here yet", "welcome welcome"),
        ("", {"ready": {1}}, "welcome gathering", "not here yet|ready", "welcome gathering.1"),
        ("", {"ready": {1}, "absent": {0}}, "welcome turn", "absent|is asked", "welcome turn.0"),
        (
            "",
            {"ready": {1}, "replaced": {0}},
            "replaced turn",
            "replaced by a bot|is asked",
            "replaced turn.0",
        ),
        ("", {}, "turn turn", "is asked|is asked", "turn.0 turn.0"),
        (C, {}, "waiting turn", "waits|is asked", "waiting.1.0 turn.0"),
        (f"{C} {D}", {}, "turn turn", "is asked|is asked", "turn.1 turn.1"),
        (f"{C} {D} {C}", {}, "waiting turn", "waits|is asked", "waiting.2.2 turn.1"),
        (f"{C} {D} {C} {C}", {}, "over over", "done|done", "over over"),
        (C, {"closed": True}, "closed closed", "closed|closed", "closed closed"),
        (f"{C} {D} {C} {C}", {"closed": True}, "over over", "done|done", "over over"),
        ("", {"attempt": 2}, "turn turn", "is asked|is asked", "turn.0.again2 turn.0.again2"),
    ],
)
def test_which_page_everybody_sees(answers, standing, phases, states, versions):
    session = seated(answers, **standing)
    assert [session.phase(seat) for seat in (0, 1)] == phases.split()
    assert [session.state(seat) for seat in (0, 1)] == states.split("|")
    assert [session.version(seat) for seat in (0, 1)] == versions.split()


def test_a_seat_without_a_person_is_never_waited_for():
    setup = replace(SETUP, seats=("person", "strategy:random"))
    session = seated(setup=setup, ready=set())
    assert (session.missing, session.begun, session.phase(1), session.state(1)) == (
        1,
        False,
        "gathering",
        "ready",
    )
    session.standing.ready.add(0)
    assert (session.missing, session.begun, session.phase(1), session.state(1)) == (
        0,
        True,
        "turn",
        "is asked",
    )


@pytest.mark.parametrize(
    ("standing", "missing"),
    [
        ({"ready": set()}, 2),
        ({"ready": {0}}, 1),
        ({"ready": {0}, "absent": {1}}, 0),
        ({"replaced": {1}}, 0),
    ],
)
def test_the_table_begins_when_nobody_is_missing(standing, missing):
    session = seated(**standing)
    assert (session.missing, session.begun) == (missing, missing == 0)
    assert sorted(session.pending()) == ([] if missing else ["col", "row"])


def test_nobody_is_asked_at_a_table_that_is_closed_or_was_begun_anew():
    assert (sorted(seated(closed=True).pending()), seated(closed=True).ended) == ([], True)
    session = seated()
    assert (session.discarded, session.ended, len(session.pending())) == (False, False, 2)
    session.standing.attempt = 2
    assert (session.discarded, session.ended, len(session.pending())) == (True, True, 0)
    assert (session.play, seated(attempt=2).play) == ("l-1", "l-1.2")
    assert session.seed != seated(attempt=2).seed


def test_answers_are_found_by_role_and_number():
    session = seated(f"{C} -{D} {D}")
    assert [session.turn(role) for role in ("row", "col")] == [2, 1]
    assert [
        session.answer("row", turn) and session.answer("row", turn).decision.action
        for turn in (-1, 0, 1, 2)
    ] == [
        None,
        C,
        D,
        None,
    ]
    assert (session.stand_ins("row"), session.stand_ins("col")) == (0, 1)
    assert [answer.timing for answer in session.list_answers()] == [TIMING] * 3


def test_answers_of_a_round_that_is_not_complete_have_changed_nothing():
    assert [seated(answers).settled for answers in ("", C, f"{C} {D}", f"{C} {D} {C}")] == [
        0,
        0,
        2,
        2,
    ]


def test_payoffs_come_without_rounding_noise():
    assert seated(f"{C} {D} {C} {C}").payoffs() == {"row": 3.0, "col": 8.0}
    assert str(round_amount(-9.252e-19)) == "0.0"
    assert round_amount(0.1234567891) == 0.123456789


def test_an_attempt_has_a_name_of_its_own_from_the_second_on():
    assert [name_attempt("a1-3", attempt) for attempt in (1, 2, 3)] == ["a1-3", "a1-3.2", "a1-3.3"]


def test_the_time_for_an_answer_runs_from_the_question(clock):
    session = seated(C)
    assert [session.seconds_left(seat) for seat in (0, 1)] == [None, 10.0]
    clock.now = 104.0
    session.note_asked()
    assert session.seconds_left(1) == 6.0
    clock.now = 115.0
    assert session.seconds_left(1) == 0.0


def test_a_new_question_has_its_full_time_and_what_happened_is_counted(clock):
    session = seated(C)
    clock.now = 104.0
    session.episode.submit("col", Decision(D))
    session.note_asked()
    assert (session.seconds_left(0), session.seconds_left(1), session.stamp) == (10.0, 10.0, 2)


@pytest.mark.parametrize(
    ("setup", "standing"),
    [(replace(SETUP, seconds=0), {}), (SETUP, {"closed": True}), (SETUP, {"ready": {1}})],
)
def test_there_is_no_limit_where_nobody_is_asked_or_the_setup_has_none(clock, setup, standing):
    session = seated(setup=setup, **standing)
    clock.now = 1e6
    assert [(session.seconds_left(seat), session.is_overdue(seat)) for seat in (0, 1)] == [
        (None, False)
    ] * 2


def test_a_strategy_has_no_time_limit(clock):
    session = seated(setup=replace(SETUP, seats=("person", "strategy:random")))
    assert [session.seconds_left(seat) for seat in (0, 1)] == [10.0, None]


@pytest.mark.parametrize("standing", [{"ready": {1}, "absent": {0}}, {"replaced": {0}}])
@pytest.mark.parametrize("seconds", [0, 10])
def test_whoever_is_absent_or_replaced_is_not_waited_for(clock, standing, seconds):
    session = seated(setup=replace(SETUP, seconds=seconds), **standing)
    session.touch(0)
    assert (session.seconds_left(0), session.is_overdue(0)) == (0.0, True)
    assert session.is_overdue(1) is False
    session.episode.submit("row", Decision(C))
    session.note_asked()
    assert (session.seconds_left(0), session.is_overdue(0)) == (None, False)


def test_whoever_missed_a_question_and_was_not_seen_since_gets_five_seconds(clock):
    session = seated(f"-{C} {D}")
    assert [session.seconds_left(seat) for seat in (0, 1)] == [5.0, 10.0]
    session.touch(0)
    assert session.seconds_left(0) == 10.0
    assert seated(f"-{C} {D}", replace(SETUP, seconds=3)).seconds_left(0) == 3.0


def test_a_question_that_the_experimenter_advances_is_overdue_at_once(clock):
    session = seated()
    session.advanced["row", 0] = module.time.monotonic()
    assert [session.is_overdue(seat) for seat in (0, 1)] == [True, False]
    session.episode.submit("row", Decision(C))
    session.note_asked()
    assert session.is_overdue(0) is False


@pytest.mark.parametrize(
    ("now", "overdue"), [(109.5, False), (110.0, False), (112.0, False), (112.5, True)]
)
def test_a_person_who_was_seen_has_two_seconds_more_and_one_who_was_not_has_none(
    clock, now, overdue
):
    session = seated()
    session.touch(0)
    clock.now = now
    assert [session.is_overdue(seat) for seat in (0, 1)] == [overdue, now >= 110]


def test_the_waiting_room_closes_when_those_who_are_ready_have_waited_long_enough(clock):
    session = seated(ready=set())
    clock.now = 500.0
    assert not session.waited_too_long()
    session.standing.ready.add(0)
    session.note_asked()
    clock.now = 530.0
    session.note_asked()
    found = []
    for now in (560.0, 561.0):
        clock.now = now
        found.append(session.waited_too_long())
    assert found == [False, True]
    session.standing.ready.add(1)
    session.note_asked()
    assert not session.waited_too_long()


def test_a_waiting_room_without_a_limit_never_closes(clock):
    session = seated(setup=replace(SETUP, waiting=0), ready={0})
    clock.now = 1e6
    assert not session.waited_too_long()


def test_the_time_on_a_page_runs_until_the_page_changes(clock):
    session = seated(C)
    session.note_page(0, session.version(0))
    clock.now = 105.0
    session.note_page(0, session.version(0))
    session.note_page(1, session.version(1))
    assert session.pages == {0: ("waiting.1.0", 100.0), 1: ("turn.0", 105.0)}
    session.episode.submit("col", Decision(D))
    session.note_page(0, session.version(0))
    assert session.pages[0] == ("turn.1", 105.0)
