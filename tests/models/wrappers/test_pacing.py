"""Trying again and going slowly, with a clock that does not tick by itself."""

import random
import threading

import pytest
from hypothesis import given, strategies as st
from waiting import run_at_once

from bestresponse.core.errors import BadReply, ModelUnavailable, Transient, Unreached, UsageError
from bestresponse.models import ScriptedModel, ask
from bestresponse.models.codec import reply_from_json, reply_to_json
from bestresponse.models.wrappers.limits import Gate, Limited, Retried, RetryPolicy


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


class NoLuck(random.Random):
    """A generator that always draws 0."""

    def random(self):
        return 0.0


def _failing(*errors, then="fine"):
    pending = list(errors)

    def script(request):
        if pending:
            raise pending.pop(0)
        return then

    return ScriptedModel(script)


def test_a_passing_failure_is_tried_again_ever_more_slowly():
    clock = FakeClock()
    model = _failing(*[Transient("busy")] * 4)
    reply = Retried(model, sleep=clock.sleep, rng=NoLuck()).complete(ask("x"))
    assert (reply.text, reply.failed) == ("fine", 4)
    assert reply_from_json(reply_to_json(reply)).failed == 4
    assert clock.slept == [0.25, 0.5, 1.0, 2.0]
    assert len(model.asked) == 5


def test_it_gives_up_after_the_last_try_with_the_last_reason():
    clock = FakeClock()
    model = _failing(*[Transient(f"busy {n}") for n in range(9)])
    with pytest.raises(ModelUnavailable, match="gave up after 3 tries: busy 2") as caught:
        Retried(model, RetryPolicy(tries=3), sleep=clock.sleep, rng=NoLuck()).complete(ask("x"))
    assert not isinstance(caught.value, Transient)
    assert len(clock.slept) == 2


def test_a_call_is_tried_eight_times_where_nothing_else_is_said():
    model = _failing(*[Transient("busy")] * 9)
    with pytest.raises(ModelUnavailable, match="gave up after 8 tries: busy"):
        Retried(model, sleep=FakeClock().sleep).complete(ask("x"))


def test_the_server_decides_how_long_to_wait_within_reason():
    clock = FakeClock()
    assert (
        Retried(_failing(Transient("slow down", 7)), sleep=clock.sleep, rng=NoLuck())
        .complete(ask("x"))
        .text
        == "fine"
    )
    assert clock.slept == [7]
    with pytest.raises(
        ModelUnavailable, match="asks to wait 3600 s, and at most 300 s are allowed"
    ):
        Retried(_failing(Transient("come back", 3600)), sleep=clock.sleep).complete(ask("x"))
    assert clock.slept == [7]


def test_a_server_that_was_never_reached_is_not_waited_for():
    clock = FakeClock()
    model = _failing(Unreached("nobody listens"))
    with pytest.raises(ModelUnavailable, match=r"^nobody listens$") as caught:
        Retried(model, sleep=clock.sleep).complete(ask("x"))
    assert not isinstance(caught.value, Transient)
    assert clock.slept == []


@pytest.mark.parametrize("first", ["an answer", Transient("busy")])
def test_a_server_that_answered_once_is_waited_for_while_it_starts_again(first):
    clock = FakeClock()
    replies = [first, *[Unreached("nobody listens")] * 3, "back"]

    def script(request):
        reply = replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    model = Retried(ScriptedModel(script), sleep=clock.sleep, rng=NoLuck())
    if first == "an answer":
        assert model.complete(ask("x")).text == first
    assert model.complete(ask("y")).text == "back"
    assert len(clock.slept) >= 3


def test_failures_that_stay_are_not_tried_again():
    model = _failing(BadReply("not JSON"))
    with pytest.raises(BadReply):
        Retried(model, sleep=FakeClock().sleep).complete(ask("x"))
    assert len(model.asked) == 1


@given(st.integers(1, 40), st.floats(0, 1, exclude_max=True))
def test_no_wait_is_longer_than_the_longest(failures, luck):
    policy = RetryPolicy(first=0.5, longest=30)
    wait = policy.wait(failures, None, luck)
    full = min(30, 0.5 * 2 ** (failures - 1))
    assert full / 2 <= wait <= full


def test_a_wait_that_the_server_asks_for_is_spread_by_a_tenth():
    assert [RetryPolicy().wait(1, 10, luck) for luck in (0, 0.5)] == [10, 10.5]


def test_a_call_that_waits_to_try_again_gives_its_place_to_another():
    gate = Gate(1)
    other_done = threading.Event()
    others = []

    def sleep(seconds):
        run_at_once(
            lambda: others.append(Limited(ScriptedModel(["other"]), gate).complete(ask("y")))
        )
        other_done.set()

    model = Retried(Limited(_failing(Transient("busy")), gate), sleep=sleep)
    assert model.complete(ask("x")).text == "fine"
    assert other_done.is_set()
    assert [reply.text for reply in others] == ["other"]


def test_no_more_calls_at_once_than_allowed():
    inside, most, lock = 0, 0, threading.Lock()
    full = threading.Barrier(3)

    def script(request):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        full.wait(120)
        with lock:
            inside -= 1
        return "x"

    model = Limited(ScriptedModel(script), Gate(3))
    run_at_once(*[lambda: model.complete(ask("x"))] * 9)
    assert most == 3


def test_a_place_is_given_back_after_an_error():
    model = Limited(_failing(BadReply("no")), Gate(1))
    with pytest.raises(BadReply):
        model.complete(ask("x"))
    assert model.complete(ask("x")).text == "fine"


def test_limits_that_let_nothing_through_are_refused():
    with pytest.raises(UsageError, match="lets nothing through"):
        Gate(0)
    with pytest.raises(UsageError, match="tries is 0"):
        RetryPolicy(tries=0)


def test_waits_double_from_half_a_second_up_to_half_a_minute():
    policy = RetryPolicy()
    # Half of them is left to luck: 0.5, 1 and 2 seconds, and 0.5 * 2**6 = 32, of which 30 are
    # waited at most.
    assert [policy.wait(failures, None, 0.0) for failures in (1, 2, 3, 7)] == [0.25, 0.5, 1.0, 15.0]
    assert policy.wait(7, None, 1.0) == 30.0
    assert (policy.tries, policy.patience) == (8, 300.0)
