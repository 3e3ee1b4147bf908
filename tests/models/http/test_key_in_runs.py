"""A server that sends the key back, in whatever encoding and pieces: no file of a run holds it."""

import json
import random
import unicodedata
from dataclasses import asdict, replace

import faulty
import pytest
from key_spellings import (
    ENCODINGS,
    KEY,
    SPELLINGS,
    WIDE,
    cut,
    find_pieces,
    read_everything,
    say_in_tokens,
)

import bestresponse as br
from bestresponse.core.errors import BestResponseError, Transient
from bestresponse.models import HttpClients, OpenAIModel, Reply, Secret, ask
from bestresponse.models.wrappers.limits import RetryPolicy


@pytest.fixture(scope="module")
def clients():
    with HttpClients() as clients:
        yield clients


def play(clients, folder, *acts):
    """Play a small run with a server that performs these acts; the files it leaves are what is
    looked at."""
    with faulty.serving(*acts) as server:
        model = OpenAIModel("m", clients, Secret(KEY), base_url=server.url)
        try:
            br.bench(model, num_games=2, num_rows=2, num_cols=2, output_dir=folder)
        except BestResponseError as error:
            (folder / "error.txt").write_text(str(error))
    texts = read_everything(folder)
    assert len(texts) > 3
    return texts


def answer_in(encoding, text, status=200):
    content = {**faulty.say(text), "error": {"message": text}}
    return faulty.answer(json.dumps(content, ensure_ascii=False).encode(encoding), status)


@pytest.mark.filterwarnings("ignore:not everything was played")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_file_of_a_run_holds_the_key_in_whatever_encoding_it_comes(
    clients, tmp_path, encoding, monkeypatch
):
    monkeypatch.setattr(RetryPolicy, "wait", lambda *asked: 0.0)  # most of these are asked again
    said = f'{{"A": 0.5, "B": 0.5}} {KEY}'
    assert find_pieces(play(clients, tmp_path, answer_in(encoding, said))) == []


@pytest.mark.filterwarnings("ignore:not everything was played")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_file_of_a_run_holds_the_key_however_it_is_spelt(clients, tmp_path, spelling):
    said = f'{{"A": 0.5, "B": 0.5}} {SPELLINGS[spelling](KEY)} and more'
    texts = play(clients, tmp_path, answer_in("utf-8", said))
    assert find_pieces(texts) == []
    assert any("and more" in text for text in texts)


@pytest.mark.parametrize("encoding", WIDE)
def test_a_reply_that_is_not_utf_8_is_refused_in_a_sentence(clients, encoding):
    with (
        faulty.serving(answer_in(encoding, KEY)) as server,
        pytest.raises(
            Transient, match="openai/m did not answer in JSON, which must be UTF-8"
        ) as caught,
    ):
        OpenAIModel("m", clients, Secret(KEY), base_url=server.url).complete(ask("x"))
    assert find_pieces([str(caught.value).replace(r"\x00", "")]) == []


def test_the_byte_that_is_not_utf_8_is_named(clients):
    body = b'{"choices": "caf\xe9"}'
    with (
        faulty.serving(faulty.answer(body)) as server,
        pytest.raises(
            Transient,
            match=r"openai/m did not answer in JSON, which must be UTF-8 \(byte 17 is not\): ",
        ),
    ):
        OpenAIModel("m", clients, Secret(KEY), base_url=server.url).complete(ask("x"))


def test_a_mark_of_utf_8_before_a_reply_is_passed_over(clients):
    with faulty.serving(answer_in("utf-8-sig", "A")) as server:
        assert (
            OpenAIModel("m", clients, Secret(KEY), base_url=server.url).complete(ask("x")).text
            == "A"
        )


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("status", [400, 401, 404])
def test_no_error_shows_the_key_in_whatever_encoding_it_comes(clients, encoding, status):
    with (
        faulty.serving(answer_in(encoding, KEY, status)) as server,
        pytest.raises(BestResponseError) as caught,
    ):
        OpenAIModel("m", clients, Secret(KEY), base_url=server.url).complete(ask("x"))
    shown = f"{caught.value} {vars(caught.value)}"
    assert find_pieces([shown.replace("\0", "").replace(r"\x00", "")]) == []


@pytest.mark.parametrize("length", [1, 2, 5, 6, 11, 12])
def test_tokens_that_hold_the_key_in_pieces_are_not_kept(clients, length):
    with faulty.serving(faulty.answer(say_in_tokens(f"it is {KEY}", length))) as server:
        model = OpenAIModel("m", clients, Secret(KEY), base_url=server.url)
        reply = model.complete(replace(ask("x"), logprobs=2))
    assert reply.logprobs == ()


def test_tokens_that_are_no_piece_of_the_key_stay(clients):
    with faulty.serving(
        faulty.answer(say_in_tokens("sk-Very nice, and no Secret at all", 4))
    ) as server:
        model = OpenAIModel("m", clients, Secret(KEY), base_url=server.url)
        reply = model.complete(replace(ask("x"), logprobs=2))
    likeliest = "".join(alternatives[0][0] for alternatives in reply.logprobs)
    assert likeliest == "sk-Very nice, and no Secret at all"


def test_escapes_that_are_quoted_twice_hide_no_key():
    escaped = "".join(f"\\\\x{ord(letter):02x}" for letter in KEY)
    shown = Secret(KEY).quote(f"illegal header {escaped}")
    assert find_pieces([shown.replace("\\", "")]) == []


def test_fields_that_follow_each_other_hold_no_key_in_pieces():
    first, second, third, fourth = cut(KEY, 11)
    reply = Reply(
        f"no {first}",
        provider_id=f"{second}{third}{fourth} yes",
        tool_calls=(("look", f"no {first}"), (second, f"{third}{fourth} yes")),
    )
    redacted = Secret(KEY).redact_reply(reply)
    assert (redacted.text, redacted.provider_id) == ("***", "***")
    assert redacted.tool_calls == (("***", "***"), ("***", "***"))


def test_a_field_that_is_not_read_is_not_kept(clients):
    said = {"model": "kept nowhere", "system_fingerprint": "kept nowhere", "kept nowhere": 1}
    usage = {"prompt_tokens": 3, "kept nowhere": "kept nowhere"}
    answer = {**faulty.say("A"), **said, "id": "one", "usage": usage}
    headers = [("x-request-id", "kept nowhere"), ("set-cookie", "kept=nowhere")]
    with faulty.serving(faulty.answer(answer, headers=headers)) as server:
        reply = OpenAIModel("m", clients, Secret(KEY), base_url=server.url).complete(ask("x"))
    assert "nowhere" not in repr(reply)
    assert (reply.text, reply.provider_id, reply.usage.prompt) == ("A", "one", 3)


def draw_reply(rng):
    """Draw how a server sends the key back: encoding, spelling, what is around it, where, and the
    status."""
    key = SPELLINGS[rng.choice(list(SPELLINGS))](KEY)
    before, after = ("".join(rng.choices("ab 1/{é\u200b", k=rng.randrange(6))) for _ in range(2))
    text = f"{before}{key}{after}"
    where = rng.randrange(4)
    if where == 0:
        content = faulty.say(text)
    elif where == 1:
        content = say_in_tokens(text, rng.randint(1, 40))
    elif where == 2:
        content = {**faulty.say("A"), text: {"model": text}, "model": text}
    else:
        content = {"error": {"message": text, "type": text}}
    body = json.dumps(content, ensure_ascii=rng.random() < 0.3)
    encoding = rng.choice([*ENCODINGS, "cp037", "utf-16-be"])
    data = body.encode(encoding, "replace")
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data))]
    return faulty.answer(data, 200 if where < 3 else rng.choice((400, 401, 404)))


def fold_text(text):
    """Return a text without case, width and what is unseen, as somebody reads it who looks for a
    key."""
    plain = unicodedata.normalize("NFKC", text.replace(r"\x00", "")).casefold()
    return "".join(letter for letter in plain if unicodedata.category(letter)[0] not in "CM")


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.soak)])
def test_no_drawn_reply_brings_the_key_into_a_file(clients, tmp_path, count):
    rng = random.Random(7)
    outcomes = {"answered": 0, "refused": 0}
    with (
        faulty.serving(lambda handler: draw_reply(rng)(handler)) as server,
        (tmp_path / "kept.txt").open("w", encoding="utf-8", errors="backslashreplace") as kept,
    ):
        model = OpenAIModel("m", clients, Secret(KEY), base_url=server.url)
        for _ in range(count):
            try:
                reply = model.complete(replace(ask("x"), logprobs=2))
                tokens = "".join(token for ranks in reply.logprobs or () for token, _ in ranks[:1])
                kept.write(f"{json.dumps(asdict(reply), default=str)} {reply.text} {tokens}|")
                outcomes["answered"] += 1
            except BestResponseError as error:
                kept.write(f"{error} {vars(error)}|")
                outcomes["refused"] += 1
    found = (tmp_path / "kept.txt").read_text("utf-8")
    assert [piece for one in found.split("|") for piece in find_pieces([fold_text(one)])] == []
    assert min(outcomes.values()) > count // 10
