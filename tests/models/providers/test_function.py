"""Python functions as models."""

import functools
import threading

import pytest
from waiting import run_at_once

from bestresponse.core.errors import InvalidMove, ModelError, UsageError
from bestresponse.models import (
    Abilities,
    Message,
    Reply,
    Request,
    Usage,
    ask,
    estimate_price,
    from_function,
)

CHAT = Request((Message("system", "Be brief."), Message("user", "Row?")), max_tokens=9)


def shout(prompt):
    return prompt.upper()


def test_a_function_gets_the_messages_as_one_text():
    reply = from_function("shout", shout).complete(CHAT)
    assert (reply.text, reply.usage) == ("BE BRIEF.\n\nROW?", Usage(7, 7))


def test_a_function_that_asks_for_the_request_gets_it():
    def answer(request: Request) -> str:
        return f"{request.max_tokens} {request.messages[-1].content}"

    def quoted(request: "Request") -> Reply:
        return Reply("whole")

    assert from_function("m", answer).complete(CHAT).text == "9 Row?"
    assert from_function("m", quoted).complete(CHAT) == Reply("whole")


def test_any_callable_will_do():
    class Echo:
        def __call__(self, prompt):
            return prompt[:3]

        def method(self, prompt):
            return prompt[-1]

    def repeat(times, prompt):
        return prompt * times

    assert from_function("m", Echo()).complete(ask("hello")).text == "hel"
    assert from_function("m", Echo().method).complete(ask("hello")).text == "o"
    assert from_function("m", functools.partial(repeat, 2)).complete(ask("ab")).text == "abab"
    assert from_function("m", str.title).complete(ask("ab")).text == "Ab"


def test_another_function_of_the_same_name_is_another_model():
    first = from_function("m", lambda prompt: "A")
    second = from_function("m", lambda prompt: "B")
    assert first.identity["provider"] == "function"
    assert first.identity != second.identity
    assert from_function("m", shout).identity == from_function("m", shout).identity


def test_what_a_function_raises_or_returns_wrongly_is_a_sentence():
    def broken(prompt):
        raise ZeroDivisionError("by zero")

    def refusing(prompt):
        raise InvalidMove("no")

    with pytest.raises(ModelError, match="the function of m failed: ZeroDivisionError: by zero"):
        from_function("m", broken).complete(ask("x"))
    with pytest.raises(
        ModelError, match="the function of m returned int, expected text or a Reply"
    ):
        from_function("m", len).complete(ask("x"))
    with pytest.raises(InvalidMove, match="no"):
        from_function("m", refusing).complete(ask("x"))


def test_what_is_no_function_is_refused_at_once():
    async def later(prompt):
        return "A"

    with pytest.raises(UsageError, match="needs a function, not str"):
        from_function("m", "openai/gpt-4o")
    with pytest.raises(UsageError, match="is asynchronous"):
        from_function("m", later)
    with pytest.raises(UsageError, match="a limit of 0 calls at once lets nothing through"):
        from_function("m", shout, concurrency=0)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_run_at_once_than_allowed(concurrency):
    lock, running, most = threading.Lock(), 0, 0

    def count(prompt):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()
        with lock:
            running -= 1
        return "A"

    together = threading.Barrier(concurrency, timeout=120)
    model = from_function("m", count, concurrency=concurrency)
    run_at_once(*[lambda: model.complete(ask("x"))] * 6)
    assert most == concurrency
    assert model.abilities == Abilities(concurrency=concurrency)


def test_the_price_of_a_function_is_not_known():
    assert estimate_price("function/m", 1, 1) is None


def ask_somebody(prompt, api_key, model="small"):
    return f"{model} {len(api_key)} {prompt}"


class Client:
    def __init__(self, api_key, model):
        self.api_key, self.model, self.calls = api_key, model, 0

    def __call__(self, prompt):
        return ask_somebody(prompt, self.api_key, self.model)


def close_over(api_key, model):
    return lambda prompt: ask_somebody(prompt, api_key, model)


@pytest.mark.parametrize(
    "make",
    [
        lambda key, model: functools.partial(ask_somebody, api_key=key, model=model),
        Client,
        lambda key, model: Client(key, model).__call__,
        close_over,
    ],
    ids=["partial", "object", "method", "closure"],
)
def test_a_model_behind_another_key_is_the_same_and_another_model_behind_it_is_not(make):
    before, renewed, other = (
        from_function("m", make(key, model)).identity["source"]
        for key, model in (("k-1", "small"), ("k-2", "small"), ("k-1", "large"))
    )
    assert before == renewed
    assert before != other
