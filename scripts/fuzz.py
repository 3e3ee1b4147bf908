"""Fuzz everything that reads what others wrote, for as long as there is time.

    python scripts/fuzz.py --minutes 60 --seed 1 --findings build/findings

Inputs that are right are changed by draws of Hypothesis, which also finds the smallest input that
goes wrong. Wrong is whatever is neither a verdict nor an error on purpose: a trace, a program on
which the engines come to different tables, a key that a server echoed, a page of the web app with
status 500, an input that takes longer than it may. Each finding is a file with the input, what
happened and how to repeat it. Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import resource
import shutil
import socket
import sys
import tempfile
import threading
import time
import traceback
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from fuzzed_files import Reader, attempt, list_readers, write_right_files
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from bestresponse.core.errors import BestResponseError
from bestresponse.formal.formalize.plan import library
from bestresponse.integrations.mcp.server import _answer as answer_tool
from bestresponse.integrations.mcp.tools import TOOLS
from bestresponse.logic.allowance import Allowance
from bestresponse.logic.confined.client import read_message, share_children
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.logic.programs.report import Report
from bestresponse.logic.programs.table import extract
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.swi.engine import SwiEngine
from bestresponse.models.base import Json, Message, Request
from bestresponse.models.http import HttpClients, Secret
from bestresponse.models.providers.anthropic import AnthropicModel
from bestresponse.models.providers.google import GoogleModel
from bestresponse.models.providers.openai import OpenAIModel
from bestresponse.models.providers.reading import read_chat_reply
from bestresponse.models.providers.scripted import ScriptedModel

LIMITS = Limits(steps=30_000, cells=100_000)
SWI = SwiEngine(LIMITS) if shutil.which("swipl") else None
KEY = "sk-Very/Secret+Key-0123456789abcdefXYZ"
CLIENTS = HttpClients()
PIECES = [
    *"()[]{}|,.;:-_'\"\\%!\n\t0 1aZ\0é\u202e\ud800",
    *(
        "99999999999999999999",
        "1/0",
        "0'a",
        ":- ",
        "\\+ ",
        "_X",
        "do(",
        "holds(",
        "findall(",
        "is ",
        "nature",
        "s0",
    ),
    *("1e400", "nan", "null", '{"a":', "[[[[[[[[", "move(P, M)"),
]
SIMILAR = {
    r"[a-z]\w*": [
        "member",
        "length",
        "append",
        "msort",
        "nth0",
        "last",
        "sum_list",
        "findall",
        "forall",
        "not",
        "nature",
    ],
    r"[A-Z_]\w*": ["_", "X"],
    r"\d+": ["0", "1", "2", "1/3", "0.5", "-1", "1000000007"],
    r"\s+": [" ", "\n"],
    r"[^\w\s]+": [
        ":-",
        ",",
        ";",
        "->",
        "\\+",
        "==",
        "\\==",
        "=",
        "\\=",
        "=:=",
        "<",
        ">=",
        "*",
        "-",
        "/",
        "//",
        "mod",
        "**",
    ],
}
"""What a word is replaced by, besides words of the same kind in its program."""
KINDS = list(SIMILAR)
WORD = re.compile("|".join(KINDS))


def change(text: str, others: list[str], rng: Random) -> str:
    """Change a text in one to four places."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + rng.choice((0, 1, 3, 30)))
        other = rng.choice(others)
        c = rng.randrange(len(other) + 1)
        text = rng.choice(
            (
                text[:a] + rng.choice(PIECES) + text[b:],
                text[:a] + text[b:],
                text[:a] + other[c : c + rng.choice((2, 10, 80))] + text[b:],
                text[:b] + text[a:],
            )
        )
    return text


def vary(text: str, rng: Random) -> str:
    """Replace one to three words by others of their kind, or lines by each other: most of what
    comes out still runs."""
    words = WORD.findall(text)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(words))
        kind = next(kind for kind in KINDS if re.fullmatch(kind, words[place]))
        words[place] = rng.choice(
            [word for word in words if re.fullmatch(kind, word)]
            + SIMILAR[kind]
            + [words[place] + words[place]]
        )
    lines = "".join(words).split("\n")
    if rng.random() < 0.3:
        lines[rng.randrange(len(lines))] = rng.choice(lines)
    return "\n".join(lines)


class Wrong(Exception):
    """Something happened that must not."""


@dataclass
class Limit:
    """Seconds of the clock that one input may take at this load; a busy machine is not held against
    it."""

    seconds: float

    def check(self, begun: float) -> None:
        """Raise where the time is over."""
        taken = time.monotonic() - begun
        busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        if taken > self.seconds * busy:
            raise Wrong(
                f"it took {taken:.1f} s; at most {self.seconds:g} are allowed,"
                f" {self.seconds * busy:.0f} at this load"
            )


def check_program(text: str) -> None:
    """Validate a changed program with both engines, in this process: containment is tested
    elsewhere."""
    found = validate(text, EmbeddedEngine(LIMITS))
    if SWI is None or found.refusals or any(d.code == "limit" for d in found.errors):
        return
    other = validate(text, SWI)
    if not any(d.code == "limit" for d in other.errors):
        same_errors = [*map(str, found.errors)] == [*map(str, other.errors)]
        if not same_errors or _without_orders(found) != _without_orders(other):
            raise Wrong(
                f"disagreement: {list(map(str, found.errors))} {list(map(str, other.errors))}"
            )


def _without_orders(report: Report) -> GameTable | None:
    """Return the table, whether or not every order of simultaneous moves could be tried within the
    limits."""
    return None if report.table is None else replace(report.table, every_order=True)


def draw_reader(readers: tuple[Reader, ...], rng: Random) -> tuple[Reader, int]:
    """Draw who reads a changed file, and the seed that makes the file."""
    (reader,) = rng.choices(readers, [one.often for one in readers])
    return reader, rng.randrange(2**31)


def check_file(reader: Reader, number: int) -> None:
    """Let a reader of files read a changed one, as `fuzz_files.py` does for each of them."""
    found = attempt(reader, number)
    if found.wrong:
        raise Wrong(f"{reader.name}, seed {number}, {found.file}: {found.wrong}")


def check_message(sent: bytes) -> None:
    """Send a child something that is no request; it must end, and the next one must work."""
    share_children().request("embedded", sent, Limits(seconds=5.0))


def check_child_reply(sent: bytes) -> None:
    """Read a reply of a child that is none."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        theirs.close()
        with suppress(EOFError, OverflowError):
            read_message(ours.fileno(), 1000, Allowance(deadline=time.monotonic() + 5))


def check_reply(reply: tuple[str, Json]) -> None:
    """Read a changed reply of a provider: what is JSON is a reply or an error on purpose."""
    name, data = reply
    WIRE[name][1](data)


class Echo(BaseHTTPRequestHandler):
    """Answer with the bytes that the server was given last."""

    def do_POST(self) -> None:
        """Read the request, and send what there is to send."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.wfile.write(self.server.sent)  # type: ignore[attr-defined]
        self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


def check_answer(sent: bytes) -> None:
    """Receive changed bytes that may echo the key: no text that comes of them shows a part of
    it."""
    SERVER.sent = sent  # type: ignore[attr-defined]
    model = OpenAIModel(
        "m", CLIENTS, Secret(KEY), base_url=f"http://127.0.0.1:{SERVER.server_port}", timeout=2
    )
    try:
        shown = repr(model.complete(REQUEST))
    except BestResponseError as error:
        shown = f"{error} {vars(error)}" + "".join(traceback.format_exception(error))
    seen = re.sub(r"\\x00|\\u200d|[\0\u200d]", "", shown).lower()
    if parts := [
        KEY[start : start + 12]
        for start in range(len(KEY) - 11)
        if KEY[start : start + 12].lower() in seen
    ]:
        raise Wrong(f"the key is shown, such as {parts[0]}")


class WebApp:
    """The web app with somebody who may do everything, and all addresses that it answers."""

    def __init__(self, folder: Path) -> None:
        from fastapi.testclient import TestClient

        from bestresponse.web.app import ServerSettings, open_web_server

        app, state, self.close = open_web_server(
            ServerSettings(folder),
            lambda name: ScriptedModel(lambda request: "A"),
            ("scripted",),
            None,
        )
        self.client = TestClient(app, follow_redirects=False, raise_server_exceptions=False)
        self.client.__enter__()
        self.client.get(f"/enter/{state.keys.admin}")
        self.headers = {"authorization": f"Bearer {state.keys.admin}"}
        self.routes = sorted(
            (route.path, method)
            for route in app.routes
            for method in getattr(route, "methods", None) or ()
            if method in ("GET", "POST", "PUT", "DELETE")
            and "events" not in route.path
            and "leave" not in route.path
        )
        self.token = state.csrf()

    def check(self, asked: tuple[tuple[str, str], dict[str, str], Json]) -> None:
        """Send a form or JSON to an address; no answer may be the server's own fault."""
        (path, method), fields, data = asked
        fields = {**fields, "csrf": self.token}
        path = re.sub(r"\{\w+\}", lambda place: quote(fields.get(place[0], "x"), safe=""), path)
        body = (
            {"data": fields} if method == "POST" and not path.startswith("/api") else {"json": data}
        )
        sent = {} if method == "GET" else body
        answer = self.client.request(method, path, params=fields, headers=self.headers, **sent)  # type: ignore[arg-type]
        if answer.status_code == 500:
            raise Wrong(f"{method} {path} answered {answer.status_code}: {answer.text[:200]}")


def check_tool(asked: tuple[str, dict[str, Json]]) -> None:
    """Call a tool of the MCP server as its worker does."""
    tool, arguments = asked
    error = answer_tool(json.dumps({"tool": tool, "arguments": arguments})).get("error", "")
    if "this call failed" in error:
        raise Wrong(error)


def damage(data: Json, rng: Random) -> Json:
    """Put a value of another kind somewhere into JSON data."""
    places = (
        list(data)
        if isinstance(data, dict)
        else list(range(len(data)))
        if isinstance(data, list)
        else []
    )
    if not places or rng.random() < 0.2:
        value: Json = json.loads(rng.choice(VALUES))
        return value
    place = rng.choice(places)
    data[place] = damage(data[place], rng)  # type: ignore[index, call-overload]
    return data


SERVER = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
BATCH = 200
SLICE = 15.0
"""Inputs of a kind, and seconds, before it is the turn of the next."""
VALUES = [
    "null",
    "[]",
    "{}",
    "[[1]]",
    '"text"',
    "-1",
    "1e308",
    "9" * 400,
    "true",
    "0.5",
    "NaN",
    '{"a": []}',
]
REQUEST = Request((Message("user", "hello"),))
WIRE: dict[str, tuple[str, Callable[[object], object]]] = {
    "chat": (
        (
            '{"id": "1", "choices": [{"message": {"content": "a", "refusal": null},'
            ' "finish_reason": "stop", "logprobs": {"content": [{"token": "a", "logprob": -0.1,'
            ' "top_logprobs": [{"token": "a", "logprob": -0.1}]}]}}], "usage": {"prompt_tokens": 3,'
            ' "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}}'
        ),
        lambda data: read_chat_reply(data, "fuzz"),
    ),
    "anthropic": (
        (
            '{"id": "1", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "input":'
            ' {"a": 1}}], "stop_reason": "end_turn", "usage": {"input_tokens": 3,'
            ' "output_tokens": 4}}'
        ),
        lambda data: AnthropicModel("fuzz", HttpClients(), Secret("")).read_reply(data, REQUEST),
    ),
    "google": (
        (
            '{"responseId": "1", "candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b",'
            ' "thought": true}]}, "finishReason": "STOP", "logprobsResult": {"topCandidates":'
            ' [{"candidates": [{"token": "a", "logProbability": -0.1}]}], "chosenCandidates":'
            ' [{"token": "a", "logProbability": -0.1}]}}], "usageMetadata": {"promptTokenCount": 3,'
            ' "candidatesTokenCount": 4}, "promptFeedback": {"blockReason": ""}}'
        ),
        lambda data: GoogleModel("fuzz", HttpClients(), Secret("")).read_reply(data, REQUEST),
    ),
}
PROGRAMS = [example.program for example in library()]
WEIGHTS = [
    1 / len(extract(engine, engine.load(program)).require().rows)
    for engine in (EmbeddedEngine(),)
    for program in PROGRAMS
]
"""Small games more often, because they are done sooner."""
ANSWERS = [
    b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%s\r\n\r\n%s"
    % (status, len(body), header, body)
    for status in (
        b"200 OK",
        b"400 Bad",
        b"401 No",
        b"404 No",
        b"429 Wait",
        b"500 Oh",
        b"307 There",
    )
    for header in (
        b"x-a: KEY",
        b"content-encoding: gzip",
        b"retry-after: 3",
        b"location: http://KEY/",
        b"KEY: 1",
    )
    for body in (
        b'{"error": {"message": "KEY", "param": "KEY"}}',
        WIRE["chat"][0].encode(),
        WIRE["chat"][0].replace('"content": "a"', '"content": "KEY"').encode(),
        b"KEY KEY",
        b"",
    )
]
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.lower,
    lambda key: key[:-1],
    lambda key: key[5:],
    lambda key: quote(key, safe=""),
    lambda key: key.replace("/", "\\/"),
    lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "\0".join,
    lambda key: "\\u0000".join(key),
    lambda key: "\u200d".join(key),
    lambda key: key.encode().hex(),
    lambda key: b64encode(key.encode()).decode(),
    lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    lambda key: '", "'.join(key[start : start + 11] for start in range(0, len(key), 11)),
    str.swapcase,
]
ENCODINGS = [
    *("utf-8", "utf-8-sig", "latin-1", "utf-7"),
    *("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
]
ARGUMENTS = [
    "stag-hunt",
    "kuhn-poker",
    "[[1, 2], [3, 4]]",
    "row",
    "nash",
    "The best response to A is B.",
    "",
    "x" * 5000,
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(ARGUMENTS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=8,
)
RNG = st.randoms(use_true_random=False)


def spell_key(sent: bytes, rng: Random) -> bytes:
    """Put the key, in one of many spellings, where a template has room for it, encode the body,
    change a few bytes."""
    while b"KEY" in sent:
        sent = sent.replace(b"KEY", rng.choice(SPELLINGS)(KEY).encode(), 1)
    head, _, body = sent.partition(b"\r\n\r\n")
    if rng.random() < 0.5:
        body = body.decode().encode(rng.choice(ENCODINGS), "replace")
    head = re.sub(rb"content-length: \d+", b"content-length: %d" % len(body), head)
    sent = head + b"\r\n\r\n" + body
    if rng.random() < 0.5:
        place = rng.randrange(len(sent) + 1)
        sent = (
            sent[:place]
            + rng.choice((b"", b"\r\n", b"\0", b"\xff", b"9" * 30, KEY.encode()))
            + sent[place + rng.randrange(4) :]
        )
    return sent


def list_targets(
    place: Path,
) -> dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], object], float]]:
    """Return what is fuzzed: how inputs are drawn, what reads one, and the seconds it may take on a
    quiet machine."""
    right = place / "right"
    right.mkdir()
    write_right_files(right)
    readers = list_readers(right)
    web = WebApp(place / "web")

    def change_reply(name: str, rng: Random) -> tuple[str, Json]:
        try:
            data = json.loads(change(WIRE[name][0], [WIRE[name][0], *VALUES], rng))
        except ValueError:
            data = damage(json.loads(WIRE[name][0]), rng)
        return name, data

    names = sorted(
        {
            *re.findall(r"\{\w+\}", str(web.routes)),
            "name",
            "game",
            "story",
            "program",
            "answer",
            "setup",
            "seats",
        }
    )
    fields = st.dictionaries(
        st.sampled_from(names), st.sampled_from(ARGUMENTS) | st.text(max_size=30), max_size=6
    )
    parameters = sorted({name for tool in TOOLS.values() for name in tool.__annotations__})
    programs = st.builds(lambda rng: rng.choices(PROGRAMS, WEIGHTS)[0], RNG)
    return {
        "program": (
            st.builds(lambda text, rng: change(text, PROGRAMS, rng), programs, RNG),
            check_program,
            20.0,
        ),
        "varied program": (st.builds(vary, programs, RNG), check_program, 20.0),
        "file": (
            st.builds(draw_reader, st.just(readers), RNG),
            lambda drawn: check_file(*drawn),
            20.0,
        ),
        "reply": (st.builds(change_reply, st.sampled_from(sorted(WIRE)), RNG), check_reply, 4.0),
        "answer over HTTP": (
            st.builds(spell_key, st.sampled_from(ANSWERS), RNG),
            check_answer,
            4.0,
        ),
        "web": (st.tuples(st.sampled_from(web.routes), fields, JSON), web.check, 8.0),
        "MCP tool": (
            st.tuples(
                st.sampled_from(sorted(TOOLS)),
                st.dictionaries(st.sampled_from(parameters), JSON, max_size=4),
            ),
            check_tool,
            8.0,
        ),
        "message to a child": (st.binary(max_size=3000), check_message, 8.0),
        "reply of a child": (st.binary(max_size=20), check_child_reply, 6.0),
    }


def main() -> int:
    """Fuzz every kind of input in turn until the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the kinds of input whose names begin so")
    parser.add_argument(
        "--findings", type=Path, default=Path("build/findings"), help="where findings are written"
    )
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    logging.disable(logging.CRITICAL)  # pages that fail are found by their status
    threading.Thread(target=SERVER.serve_forever, daemon=True).start()
    tried: Counter[str] = Counter()
    wrong: set[str] = set()
    place = Path(tempfile.mkdtemp())
    targets = {
        name: target
        for name, target in list_targets(place).items()
        if name.startswith(options.only)
    }
    turn = 0
    while time.monotonic() < end:
        for name, (inputs, check, seconds) in targets.items():
            if time.monotonic() < end:
                until = min(end, time.monotonic() + SLICE)
                fuzz(
                    name,
                    inputs,
                    check,
                    Limit(seconds),
                    options.seed + turn,
                    tried,
                    wrong,
                    options.findings,
                    until,
                )
        turn += 1
        print(f"turn {turn}: {sum(tried.values()):,} tried, {len(wrong)} findings", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    print(f"seed {options.seed}: {dict(tried)}; findings: {len(wrong)}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"this process: at most {memory:,.0f} MB")
    return 1 if wrong else 0


def fuzz(
    name: str,
    inputs: st.SearchStrategy[Any],
    check: Callable[[Any], object],
    limit: Limit,
    start: int,
    tried: Counter[str],
    wrong: set[str],
    findings: Path,
    end: float,
) -> None:
    """Draw a batch of inputs of one kind; the smallest input that goes wrong in a new way becomes a
    file."""
    smallest: list[Any] = []

    @seed(start)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.target, Phase.shrink),
        report_multiple_bugs=False,
    )
    @given(inputs)
    def attempt(value: Any) -> None:
        if time.monotonic() > end:
            return
        tried[name] += 1
        begun = time.monotonic()
        smallest[:] = [value]
        with suppress(BestResponseError):
            check(value)
        limit.check(begun)

    try:
        attempt()
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        trace = "".join(traceback.format_exception(error))
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = (
            f"{name}: {type(error).__name__} at {where.filename}:{where.lineno} {str(error)[:60]}"
        )
        if kind not in wrong:
            wrong.add(kind)
            findings.mkdir(parents=True, exist_ok=True)
            file = (
                findings / f"{name.replace(' ', '-')}-{sha256(kind.encode()).hexdigest()[:8]}.txt"
            )
            repeat = f"python scripts/fuzz.py --only '{name}' --seed {start} --minutes 5"
            file.write_text(
                f"{kind}\nrepeat: {repeat}\n\n{smallest[0]!r}\n\n{trace}",
                "utf-8",
                "backslashreplace",
            )
            print(f"WRONG {kind}: see {file}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
