"""How fast a client may ask, by a clock that is set by hand, and how much it may send."""

import asyncio
import json
import weakref
from types import SimpleNamespace

import pytest

from bestresponse.web import security as limits


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


class Name(str):
    """The name of a client that can be watched for whether anybody still holds it."""


def test_a_client_with_a_full_bucket_leaves_the_memory_when_there_are_many(clock):
    limit, name = limits.RateLimit(rate=0.5, burst=2), Name("somebody")
    limit.take(name)
    held = weakref.ref(name)
    del name
    for number in range(10_000):
        limit.take(f"client {number}")
    assert held() is not None
    clock.seconds += 4
    limit.take("one more")
    assert held() is None


def send_through_guard(
    body, most=10, path="/api/games", headers=(), answered=(b"content-type", b"text/plain")
):
    """Send a body in one piece to an application that reads it and says how long it was; (status,
    headers, body)."""
    sent = []

    async def application(scope, receive, send):
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [answered]})
        await send(
            {"type": "http.response.body", "body": b"%d bytes" % len(message.get("body", b""))}
        )

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers)}
    asyncio.run(limits.Guard(application, most)(scope, receive, send))
    started, *rest = sent
    return (
        started["status"],
        dict(started["headers"]),
        b"".join(message["body"] for message in rest),
    )


def test_a_body_as_long_as_allowed_goes_through():
    status, _, body = send_through_guard(b"0123456789", headers=[(b"content-length", b"10")])
    assert (status, body) == (200, b"10 bytes")


def test_an_empty_body_goes_through_where_nothing_may_be_sent():
    assert send_through_guard(b"", most=0)[0] == 200


TOO_LONG = "This is longer than 10 bytes, or does not say how long it is; send less."


@pytest.mark.parametrize(
    "header",
    [(b"content-length", b"11"), (b"content-length", b"ten"), (b"transfer-encoding", b"chunked")],
)
def test_a_body_that_is_longer_or_of_unknown_length_is_refused_in_a_sentence(header):
    status, found, body = send_through_guard(b"0123456789A", headers=[header])
    assert (status, found[b"content-type"]) == (413, b"application/json")
    assert json.loads(body) == {"error": TOO_LONG}
    assert found[b"content-length"] == b"%d" % len(body)
    assert found[b"x-frame-options"] == b"DENY"


def test_a_person_is_refused_in_plain_text():
    status, found, body = send_through_guard(
        b"0123456789A", path="/play", headers=[(b"content-length", b"11")]
    )
    assert (status, found[b"content-type"]) == (413, b"text/plain; charset=utf-8")
    assert body == TOO_LONG.encode()


def test_every_answer_carries_the_headers_and_those_of_its_own_stay():
    _, found, _ = send_through_guard(b"", answered=(b"Cache-Control", b"max-age=60"))
    assert found[b"Cache-Control"] == b"max-age=60"
    assert b"cache-control" not in found
    assert found[b"x-content-type-options"] == b"nosniff"


def test_what_is_not_http_is_left_alone():
    seen = []

    async def application(scope, receive, send):
        seen.append((scope["type"], receive, send))

    asyncio.run(limits.Guard(application)({"type": "lifespan"}, "receive", "send"))
    assert seen == [("lifespan", "receive", "send")]
