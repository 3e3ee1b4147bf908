"""How fast a client may ask, by a clock that is set by hand."""

from types import SimpleNamespace

import pytest

from bestresponse.web.security import limits


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def count_allowed(limit, key="a", asked=20):
    return [limit.take(key) for _ in range(asked)].count(True)


def test_a_burst_is_allowed_and_then_as_much_as_is_filled_in_again(clock):
    limit = limits.RateLimit(rate=2, burst=6)
    assert count_allowed(limit) == 6
    clock.seconds += 0.25
    assert count_allowed(limit) == 0
    clock.seconds += 0.25
    assert count_allowed(limit) == 1
    clock.seconds += 2
    assert count_allowed(limit) == 4


def test_waiting_longer_fills_no_more_than_the_burst(clock):
    limit = limits.RateLimit(rate=2, burst=6)
    count_allowed(limit)
    clock.seconds += 3600
    assert count_allowed(limit) == 6


def test_every_client_has_a_bucket_of_its_own(clock):
    limit = limits.RateLimit(rate=1, burst=3)
    assert [count_allowed(limit, key) for key in ("a", "b", "a")] == [3, 3, 0]


def test_only_clients_with_a_full_bucket_are_forgotten_when_there_are_many(clock):
    limit = limits.RateLimit(rate=0.5, burst=2)
    count_allowed(limit, "greedy")
    for number in range(10_000):
        limit.take(f"client {number}")
    clock.seconds += 2.5
    assert count_allowed(limit, "greedy") == 1
    clock.seconds += 10
    assert count_allowed(limit, "client 7") == 2
