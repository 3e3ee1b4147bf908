"""What workers share: what a lost worker held is given back."""

import json
import threading
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from bestresponse.core.errors import ModelUnavailable, OverBudget, StoreError
from bestresponse.models.base import Reply, ask
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.wrappers.cached import Cache
from bestresponse.models.wrappers.meter import Budget, Cost, Meter
from bestresponse.models.wrappers.pacing import Gate
from bestresponse.runs.executors import services
from bestresponse.runs.executors.services import BudgetService, GateService, ReplyService

CALL = Cost(calls=1)


def test_a_call_of_a_lost_worker_counts_as_made():
    meter = Meter(Budget(calls=2))
    budget = BudgetService(meter)
    budget.reserve("a", CALL)
    budget.release("a")
    assert meter.spent == Cost(calls=1)
    budget.reserve("b", CALL)
    with pytest.raises(OverBudget, match="3 calls of 2"):
        budget.settle("b", CALL, CALL) or budget.reserve("b", CALL)


def test_the_place_of_a_lost_worker_is_free_again():
    gates = GateService({("p", "x"): Gate(1)})
    gates.enter("a", ("p", "x"))
    waiting = threading.Thread(target=gates.enter, args=("b", ("p", "x")), daemon=True)
    waiting.start()
    gates.release("a")
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_call_in_flight_is_shared_and_made_by_another_when_its_worker_is_lost(tmp_path):
    replies = ReplyService(Cache(tmp_path / "replies.sqlite"))
    assert replies.claim_now("a", "key") == (None, None)
    outcome = []
    waiting = threading.Thread(target=lambda: outcome.append(replies.claim("b", "key")), daemon=True)
    waiting.start()
    replies.release("a")
    waiting.join(60)
    assert outcome == [(None, None)]
    replies.land("b", "key", "yes", None, None)
    assert replies.claim("c", "key") == (None, None)


def test_a_lost_worker_claims_nothing_more(tmp_path):
    replies = ReplyService(Cache(tmp_path / "replies.sqlite"))
    replies.claim("a", "key")
    outcome = []
    waiting = threading.Thread(target=lambda: outcome.append(replies.claim("a", "key")), daemon=True)
    waiting.start()
    replies.release("a")
    waiting.join(60)
    assert outcome == [(None, None)]
    assert replies.claim_now("b", "key") == (None, None)


def test_the_error_of_a_shared_call_is_shared(tmp_path, monkeypatch):
    shared = threading.Event()

    class Watched(Future):
        def result(self, timeout=300):
            shared.set()
            return super().result(timeout)

    monkeypatch.setattr(services, "Future", Watched)
    replies = ReplyService(Cache(tmp_path / "replies.sqlite"))
    replies.claim("a", "key")
    failures = []

    def wait():
        try:
            replies.claim("b", "key")
        except ModelUnavailable as error:
            failures.append(str(error))

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert shared.wait(300)
    replies.land("a", "key", None, ModelUnavailable("gone"), None)
    waiting.join(60)
    assert failures == ["gone"]


def test_replies_are_kept_for_all(tmp_path):
    cache = Cache(tmp_path / "replies.sqlite")
    replies = ReplyService(cache)
    replies.claim("a", "key")
    reply = json.dumps(reply_to_json(Reply("A")))
    replies.land("a", "key", reply, None, ("m", "{}", json.dumps(request_to_json(ask("Which?")))))
    assert cache.get("key").text == "A"
    assert replies.get("b", "key") == reply
    assert replies.claim("b", "key") == (None, reply)


def test_a_claim_that_cannot_be_answered_is_free_for_others(tmp_path):
    cache = Cache(tmp_path / "replies.sqlite")
    replies = ReplyService(cache)
    cache.close()
    for _ in range(2):
        with pytest.raises(StoreError, match="cannot be used"):
            replies.claim("a", "key")


def test_a_reply_that_cannot_be_stored_is_shared_with_those_who_wait(tmp_path):
    cache = Cache(tmp_path / "replies.sqlite")
    replies = ReplyService(cache)
    replies.claim("a", "key")
    waiting = replies.claim_now("b", "key")
    cache.close()
    with pytest.raises(StoreError, match="cannot be used"):
        replies.land("a", "key", "yes", None, ("m", "{}", "{}"))
    assert waiting.result(60) == "yes"


def test_what_a_worker_reserves_after_it_was_lost_costs_nothing():
    meter = Meter(Budget(calls=1))
    budget = BudgetService(meter)
    budget.release("a")
    budget.reserve("a", CALL)
    assert meter.spent == Cost()
    budget.reserve("b", CALL)
    budget.settle("b", CALL, CALL)
    assert meter.spent == Cost(calls=1)


def test_a_call_is_settled_once_and_only_by_the_worker_that_reserved_it():
    meter = Meter(Budget(calls=5))
    budget = BudgetService(meter)
    budget.reserve("a", CALL)
    budget.settle("b", CALL, CALL)
    assert meter.spent == Cost()
    for _ in range(2):
        budget.settle("a", CALL, CALL)
    budget.release("a")
    assert meter.spent == Cost(calls=1)


class Counted:
    """A gate that counts who is inside."""

    def __init__(self):
        self.inside = 0

    @contextmanager
    def pass_through(self):
        self.inside += 1
        yield
        self.inside -= 1


def test_a_place_is_given_back_by_whoever_leaves_and_by_nobody_else():
    gate, other = Counted(), Counted()
    gates = GateService({("p", "x"): gate, ("p", "y"): other})
    gates.enter("a", ("p", "x"))
    gates.enter("a", ("p", "x"))
    gates.leave("b", ("p", "x"))
    gates.leave("a", ("p", "y"))
    gates.release("b")
    assert (gate.inside, other.inside) == (2, 0)
    gates.leave("a", ("p", "x"))
    assert gate.inside == 1
    gates.release("a")
    assert gate.inside == 0


def test_a_lost_worker_keeps_no_place_that_it_enters_later():
    gate = Counted()
    gates = GateService({("p", "x"): gate})
    gates.release("a")
    gates.enter("a", ("p", "x"))
    assert gate.inside == 0
    gates.enter("b", ("p", "x"))
    assert gate.inside == 1


def test_losing_one_worker_leaves_the_calls_of_others_in_flight(tmp_path):
    replies = ReplyService(Cache(tmp_path / "replies.sqlite"))
    replies.claim("a", "one")
    replies.claim("b", "two")
    one, two = replies.claim_now("c", "one"), replies.claim_now("c", "two")
    replies.release("a")
    assert (one.done(), two.done()) == (True, False)
    replies.land("a", "two", "not mine", None, None)
    assert not two.done()
    replies.land("b", "two", "yes", None, None)
    assert two.result(0) == "yes"


def test_a_call_that_ends_without_reply_or_error_is_made_by_another(tmp_path):
    cache = Cache(tmp_path / "replies.sqlite")
    replies = ReplyService(cache)
    replies.claim("a", "key")
    waiting = replies.claim_now("b", "key")
    replies.land("a", "key", None, None, ("m", "{}", "{}"))
    assert waiting.done()
    assert waiting.exception(0) is not None
    assert replies.claim("b", "key") == (None, None)
    assert cache.get_text("key") is None


def test_the_last_calls_are_told_newest_first(tmp_path):
    replies = ReplyService(Cache(tmp_path / "replies.sqlite"))
    for key in ("one", "two", "three"):
        replies.claim("a", key)
        replies.land("a", key, "{}", None, ("m", '{"id": "m"}', f'{{"asked": "{key}"}}'))
    assert replies.recent("b", 2) == [({"id": "m"}, {"asked": "three"}), ({"id": "m"}, {"asked": "two"})]
