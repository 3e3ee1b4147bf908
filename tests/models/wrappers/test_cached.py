"""The cache of replies: keys, modes, calls in flight, and why a call missed."""

import hashlib
import sqlite3
import threading
from dataclasses import fields, replace

import pytest
from hypothesis import given, strategies as st
from waiting import join_threads, run_at_once, start_thread

from bestresponse.core.errors import ModelUnavailable, NotCached, StoreError
from bestresponse.models import Finish, Message, Reply, Request, ScriptedModel, Usage, ask
from bestresponse.models.codec import reply_from_json, reply_to_json, request_to_json
from bestresponse.models.wrappers.cached import Cache, Cached, CacheMode, call_key

FULL = Reply(
    "A\ud800",
    Finish.LENGTH,
    Usage(10, 2, 4, 1),
    ((("A", -0.1), ("B", -2.5)),),
    "id-1",
    0.25,
    honoured=(("seed", 3), ("schema", "grammar"), ("repeatable", True)),
)


@pytest.fixture
def cache(tmp_path):
    cache = Cache(tmp_path / "sub" / "replies.sqlite")
    yield cache
    cache.close()


def test_a_second_call_is_answered_without_the_model_and_equals_the_first(cache):
    model = ScriptedModel([FULL])
    cached = Cached(model, cache)
    assert cached.complete(ask("Which?")) == FULL
    assert cached.complete(ask("Which?")) == replace(FULL, cached=True)
    assert len(model.asked) == 1


def test_a_new_process_finds_what_an_old_one_kept(cache, tmp_path):
    Cached(ScriptedModel([FULL]), cache).complete(ask("Which?"))
    again = Cache(tmp_path / "sub" / "replies.sqlite")
    assert Cached(ScriptedModel([]), again).complete(ask("Which?")).text == FULL.text
    assert len(again) == 1


def test_every_field_of_the_request_and_the_identity_is_part_of_the_key():
    base = Request((Message("user", "x"),))
    changed = {
        "messages": (Message("system", "x"),),
        "max_tokens": 9,
        "temperature": None,
        "top_p": 0.5,
        "seed": 1,
        "stop": ("\n",),
        "schema": "{}",
        "choices": ("A",),
        "logprobs": 2,
        "replicate": 1,
        "effort": "low",
        "reasoning_tokens": 7,
        "tools": ('{"name": "price"}',),
    }
    # What a request is about stays with it: the messages say the same in words.
    assert changed.keys() == {field.name for field in fields(Request)} - {"facts"}
    told = replace(base, facts={"seat": 1})
    assert call_key({"model": "m"}, told) == call_key({"model": "m"}, base)
    keys = {
        call_key({"model": "m"}, replace(base, **{name: value})) for name, value in changed.items()
    }
    keys |= {call_key({"model": "m"}, base), call_key({"model": "n"}, base)}
    assert len(keys) == len(changed) + 2


def test_the_key_is_the_hash_of_this_very_text():
    text = (
        '{"identity":{"model":"m","provider":"scripted"},"request":{"choices":[],"logprobs":0,"max_tokens":256,'
        '"messages":[["user","x"]],"replicate":0,"schema":null,"seed":null,"stop":[],"temperature":0.0,"top_p":null}}'
    )
    assert (
        call_key({"provider": "scripted", "model": "m"}, ask("x"))
        == hashlib.sha256(text.encode()).hexdigest()
    )


def test_replicates_do_not_collapse(cache):
    cached = Cached(ScriptedModel(["A", "B"]), cache)
    texts = [cached.complete(replace(ask("x"), replicate=number)).text for number in (0, 1, 0, 1)]
    assert texts == ["A", "B", "A", "B"]


def test_errors_are_never_kept(cache):
    answers = iter([ModelUnavailable("down"), "up"])

    def script(request):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    cached = Cached(ScriptedModel(script), cache)
    with pytest.raises(ModelUnavailable):
        cached.complete(ask("x"))
    assert cached.complete(ask("x")).text == "up"


def test_modes(cache):
    model = ScriptedModel(["one", "two", "three"])
    assert Cached(model, cache, CacheMode.OFF).complete(ask("x")).text == "one"
    assert len(cache) == 0
    assert Cached(model, cache).complete(ask("x")).text == "two"
    assert Cached(model, cache, CacheMode.REFRESH).complete(ask("x")).text == "three"
    assert Cached(model, cache, CacheMode.REPLAY).complete(ask("x")).text == "three"
    with pytest.raises(NotCached, match="never recorded"):
        Cached(model, cache, CacheMode.REPLAY).complete(ask("y"))
    assert len(model.asked) == 3


def test_identical_calls_in_flight_share_one_request(cache):
    started, release = threading.Event(), threading.Event()

    def slow(request):
        started.set()
        release.wait(120)
        return "shared"

    model = ScriptedModel(slow)
    cached = Cached(model, cache)
    replies = []

    def call():
        replies.append(cached.complete(ask("x")))

    first = start_thread(call)
    assert started.wait(120)
    others = [start_thread(call) for _ in range(15)]
    release.set()
    join_threads(first, *others)
    assert [reply.text for reply in replies] == ["shared"] * 16
    assert len(model.asked) == 1
    assert [reply.cached for reply in replies].count(False) == 1


def test_a_shared_call_that_fails_fails_for_all_and_leaves_nothing_behind(cache):
    started, release = threading.Event(), threading.Event()

    def broken(request):
        started.set()
        release.wait(120)
        raise ModelUnavailable("down")

    cached = Cached(ScriptedModel(broken), cache)
    errors = []

    def call():
        try:
            cached.complete(ask("x"))
        except ModelUnavailable as error:
            errors.append(str(error))

    first = start_thread(call)
    assert started.wait(120)
    others = [start_thread(call) for _ in range(3)]
    release.set()
    join_threads(first, *others)
    assert errors == ["down"] * 4
    assert Cached(ScriptedModel(["up"]), cache).complete(ask("x")).text == "up"


def test_many_threads_may_write_at_once(cache):
    cached = Cached(ScriptedModel(lambda request: request.messages[0].content), cache)
    run_at_once(
        *(lambda n=n: [cached.complete(ask(f"{n} {k}")) for k in range(20)] for n in range(8))
    )
    assert len(cache) == 160


def test_a_file_that_is_no_cache_is_a_sentence(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text(
        "these are my notes, not a database, and they are long enough to be looked at" * 20
    )
    with pytest.raises(StoreError, match=r"notes\.txt cannot be used"):
        Cache(other)
    assert other.read_text().startswith("these are my notes")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot create the folder"):
        Cache(tmp_path / "file" / "replies.sqlite")


def test_a_cache_of_another_format_and_a_damaged_row_are_sentences(tmp_path):
    path = tmp_path / "replies.sqlite"
    cache = Cache(path)
    cached = Cached(ScriptedModel(["A"]), cache)
    cached.complete(ask("x"))
    with sqlite3.connect(path) as rows:
        rows.execute("update replies set reply = '{}'")
    with pytest.raises(StoreError, match="damaged reply"):
        cached.complete(ask("x"))
    with sqlite3.connect(path) as rows:
        rows.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="has format 99"):
        Cache(path)


texts = st.text(st.characters(exclude_categories=()), max_size=20)


@given(
    texts,
    st.sampled_from(Finish),
    st.lists(
        st.lists(st.tuples(texts, st.floats(max_value=0, allow_infinity=False)), max_size=3),
        max_size=3,
    ),
)
def test_replies_survive_json(text, finish, logprobs):
    reply = Reply(
        text,
        finish,
        Usage(None, 3),
        tuple(tuple(one) for one in logprobs),
        None,
        1.5,
        honoured=(("a", None),),
    )
    assert reply_from_json(reply_to_json(reply)) == reply


@given(
    texts,
    st.none() | st.floats(0, 2),
    st.none() | st.integers(0, 2**40),
    st.lists(texts, max_size=3),
)
def test_requests_as_json_hold_all_that_was_asked(text, temperature, seed, stop):
    request = replace(ask(text), temperature=temperature, seed=seed, stop=tuple(stop))
    data = request_to_json(request)
    assert (data["messages"], data["temperature"], data["seed"], data["stop"]) == (
        [["user", text]],
        temperature,
        seed,
        stop,
    )
