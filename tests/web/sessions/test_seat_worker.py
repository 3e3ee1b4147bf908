"""Seats without a person, and people whose time is up, are answered for in the background."""

import threading

import pytest
from waiting import PATIENCE, run_at_once, wait_until
from web_server import Clock

from bestresponse.core.errors import ModelUnavailable
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.web.sessions import seat_worker
from bestresponse.web.sessions.seat_worker import SeatWorker
from bestresponse.web.sessions.setup import GameChoice, Setup

DILEMMA = GameChoice("prisoners-dilemma")


@pytest.fixture
def begin(store):
    """Start a worker that opens models by a function, and stop it at the end."""
    started = []

    def start(open_model=None):
        started.append(SeatWorker(store, open_model))
        started[-1].start()

    yield start
    for worker in started:
        worker.close()


def create(store, *seats, game=DILEMMA, **settings):
    setup = Setup(game, seats, **{"seconds": 0, "stand_in": "level-1", "quiz": False, **settings})
    return store.get_session(store.create_sessions(setup).tables[0].id)


def read_answers(store, session):
    """(role, move, who stood in, why, whether the time was up) of every answer, once the game is
    over."""
    wait_until(lambda: store.is_finished(session.id))
    return [
        (
            s.role,
            s.decision.action,
            s.decision.stand_in,
            s.decision.reading.how,
            answer.timing.timed_out,
        )
        for answer in store.get_session(session.id).list_answers()
        for s in [answer.submission]
    ]


def test_strategies_play_to_the_end_also_where_they_were_left_before_the_worker_began(store, begin):
    before = create(store, "strategy:always:cooperate", "strategy:always:defect")
    begin()
    after = create(store, "strategy:always:defect", "strategy:always:cooperate")
    assert sorted(read_answers(store, before)) == [
        ("col", "defect", "", "", False),
        ("row", "cooperate", "", "", False),
    ]
    assert {row[:2] for row in read_answers(store, after)} == {
        ("row", "defect"),
        ("col", "cooperate"),
    }


def test_nature_draws_where_the_game_has_chance(store, begin):
    begin()
    session = create(
        store,
        "strategy:random",
        "strategy:random",
        game=GameChoice("kuhn-poker"),
        stand_in="random",
    )
    assert read_answers(store, session)[0][0] == "nature"


def test_a_model_that_gives_no_usable_answer_is_stood_in_for(store, begin):
    begin(lambda name: ScriptedModel(lambda request: "I will not say."))
    session = create(store, "model:m", "strategy:always:cooperate")
    answers = {row[0]: row for row in read_answers(store, session)}
    assert answers["row"][1:3] == ("defect", "level-1")
    assert answers["col"][1:3] == ("cooperate", "")
    assert session.answer("row", 0).decision.reading.status == "refused"


def test_a_model_that_cannot_be_reached_is_stood_in_for_with_the_reason(store, begin):
    def fail(request):
        raise ModelUnavailable("the server is gone")

    begin(lambda name: ScriptedModel(fail))
    session = create(store, "model:m", "strategy:always:cooperate")
    (row,) = (row for row in read_answers(store, session) if row[0] == "row")
    assert row == ("row", "defect", "level-1", "the server is gone", False)
    assert session.answer("row", 0).decision.reading.status == "refused"


def test_a_worker_ends_without_waiting_for_slow_players(store):
    asked, released = threading.Event(), threading.Event()

    def think(request):
        asked.set()
        released.wait(PATIENCE)
        return "cooperate"

    worker = SeatWorker(store, lambda name: ScriptedModel(think))
    worker.start()
    session = create(store, "model:m", "strategy:always:cooperate")
    wait_until(asked.is_set)
    try:
        run_at_once(worker.close)
        assert session.answer("row", 0) is None
    finally:
        released.set()
    wait_until(lambda: session.answer("row", 0) is not None)


def test_a_seat_that_breaks_is_told_beside_the_table_and_asked_again_later(
    store, begin, monkeypatch
):
    clock, broken = Clock(), [True]
    monkeypatch.setattr(seat_worker, "time", clock)

    def open_model(name):
        if broken[0]:
            raise RuntimeError("no room")
        return ScriptedModel(lambda request: "cooperate")

    begin(open_model)
    session = create(store, "model:m", "strategy:always:cooperate")
    wait_until(lambda: session.trouble)
    assert session.trouble == "row cannot go on: no room. It is asked again every 2 seconds."
    broken[0] = False
    clock.advance(2.5)
    assert {row[:3] for row in read_answers(store, session)} == {
        ("row", "cooperate", ""),
        ("col", "cooperate", ""),
    }
    wait_until(lambda: not session.trouble)


def test_whoever_never_came_is_stood_in_for(store, begin):
    begin()
    session = create(store, "person", "strategy:always:cooperate")
    store.begin_without(session)
    (row,) = (row for row in read_answers(store, session) if row[0] == "row")
    assert row == ("row", "defect", "level-1", "nobody had come", False)


def test_whoever_was_replaced_is_stood_in_for(store, begin):
    begin()
    session = create(store, "person", "strategy:always:cooperate")
    store.replace_person(session, 0)
    (row,) = (row for row in read_answers(store, session) if row[0] == "row")
    assert row == ("row", "defect", "level-1", "replaced by the experimenter", False)


def test_a_question_that_the_experimenter_advances_is_answered_for(store, begin):
    begin()
    session = create(store, "person", "strategy:always:cooperate")
    store.make_ready(session, 0)
    store.advance_person(session, 0)
    (row,) = (row for row in read_answers(store, session) if row[0] == "row")
    assert row == ("row", "defect", "level-1", "advanced by the experimenter", False)


@pytest.mark.parametrize(("seconds", "words"), [(1000, "1000 seconds"), (1, "1 second")])
def test_whoever_lets_the_time_pass_is_stood_in_for(store, begin, clock, seconds, words):
    begin()
    session = create(store, "person", "strategy:always:cooperate", seconds=seconds)
    store.make_ready(session, 0)
    clock.advance(seconds + 3)
    (row,) = (row for row in read_answers(store, session) if row[0] == "row")
    assert row == ("row", "defect", "level-1", f"no answer within {words}", True)


def test_a_person_who_has_time_is_waited_for(store, begin):
    begin()
    session = create(store, "person", "strategy:always:cooperate", seconds=80_000)
    store.make_ready(session, 0)
    wait_until(lambda: session.turn("col") == 1)
    other = create(store, "strategy:always:cooperate", "strategy:always:cooperate")
    wait_until(lambda: store.is_finished(other.id))
    assert (session.turn("row"), session.over) == (0, False)


def test_a_table_begins_without_the_missing_when_the_waiting_room_is_over(store, begin, clock):
    begin()
    session = create(store, "person", "person", waiting=1000)
    store.make_ready(session, 0)
    clock.advance(1001)
    wait_until(lambda: session.begun)
    assert session.standing.absent == {1}
