"""The MCP server answers the SDK's own client, over stdio and over HTTP, with typed results and
within limits."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import asynccontextmanager, closing
from threading import Thread

import pytest
from waiting import wait_until

import bestresponse as br

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install '.[mcp]'")

TOOLS = [
    *("solve", "check", "best_response", "formalize_check", "verify", "compare", "tournament"),
    *("list_games", "list_strategies", "position", "advise"),
    *("prolog_load", "prolog_ask", "prolog_repair"),
]
PROGRAM = """
initial(s0).
initially(player(ann), s0).
initially(player(bob), s0).
initially(control(ann), s0).
initially(control(bob), s0).
possible(move(P, M), S) :- holds(player(P), S), member(M, [stag, hare]).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _S).
abnormal(control(P), move(P, _M), _S).
final(do(move(_, _), do(move(_, _), S))) :- initial(S).
finally(goal(P, U), S) :- final(S), holds(did(P, M), S), holds(did(Q, N), S), P \\= Q, pay(M, N, U).
pay(stag, stag, 4).
pay(stag, hare, 0).
pay(hare, stag, 3).
pay(hare, hare, 3).
"""
DILEMMA = '{"row": [[3, 0], [5, 1]], "col": [[3, 5], [0, 1]]}'
MISTAKES = [
    (
        "solve",
        {"game": "no-such-game"},
        "there is no game named 'no-such-game'. list_games lists the names.",
    ),
    ("solve", {"game": "/etc/passwd.json"}, "there is no game named '/etc/passwd.json'"),
    ("solve", {"game": "[[1, 2], [3]]"}, "rows of different lengths"),
    ("check", {"game": DILEMMA, "strategies": {"row": "a0"}}, "the strategy of 'col' is missing"),
    (
        "check",
        {"game": DILEMMA, "strategies": {"row": "a0", "col": "a7"}},
        "col has no move 'a7' at 'col'; expected a0, a1",
    ),
    (
        "check",
        {"game": DILEMMA, "strategies": {"row": "a0", "col": {"a0": "x"}}},
        "expected a move or probabilities",
    ),
    (
        "check",
        {"game": DILEMMA, "strategies": {"row": "a0", "col": {"a0": 0.5}}},
        "expected probabilities that sum to 1",
    ),
    (
        "check",
        {"game": "centipede", "strategies": {"player 1": "x", "player 2": "y"}},
        "for each information set",
    ),
    (
        "tournament",
        {"game": DILEMMA, "strategies": ["openai/gpt-4o"]},
        "there is no strategy named 'openai/gpt-4o'",
    ),
    (
        "tournament",
        {"game": DILEMMA, "strategies": ["/etc/x.pl"]},
        "there is no strategy named '/etc/x.pl'",
    ),
    ("solve", {"game": "[[" + "1," * 200_000 + "1]]"}, "the limit is 200,000"),
    (
        "advise",
        {"domain": "/etc/x.toml", "transcript": [], "private": {}},
        "there is no domain named '/etc/x.toml'",
    ),
    ("position", {"game": "tic-tac-toe", "moves": ["z9"]}, "move 1 is 'z9'; expected one of a3"),
    ("position", {"game": "tic-tac-toe", "moves": ["a1", "a1"]}, "move 2 is 'a1'; expected"),
    ("position", {"game": "kuhn-poker", "moves": []}, "is not solved by its positions"),
    ("prolog_ask", {"session": "0", "goal": "p(X)"}, "load the program again by prolog_load"),
    ("prolog_ask", {"session": "../x", "goal": "p(X)", "most": 0}, "greater than or equal to 1"),
    ("prolog_repair", {"session": "0", "old": "a", "new": "b"}, "there is no session '0'"),
    ("prolog_load", {"program": "p(1)." * 60_000}, "the limit is 200,000"),
]


def run_with_server(use, *options, folder=None):
    """Start the server as a subprocess and let `use(client)` talk to it over stdio."""

    async def talk():
        parameters = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "bestresponse", "mcp", *options],
            env=dict(os.environ),
            cwd=folder,
        )
        async with mcp.Client(mcp.stdio_client(parameters)) as client:
            return await use(client)

    return asyncio.run(talk())


def test_every_tool_is_listed_with_a_schema_of_its_result():
    tools = run_with_server(lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.output_schema and tool.description for tool in tools)
    assert set(tools[0].input_schema["properties"]) == {"game", "method"}


def test_many_questions_are_answered_by_one_server():
    async def ask(client):
        async def one(tool, **arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        return {
            "matrix": await one("solve", game="[[0, 5], [4, 1]]"),
            "tree": await one("solve", game="kuhn-poker"),
            "pure": await one("check", game=DILEMMA, strategies={"row": "a0", "col": "a0"}),
            "best": await one(
                "best_response",
                game="rock-paper-scissors",
                player="row",
                strategies={"col": "rock"},
            ),
            "program": await one("formalize_check", program=PROGRAM),
            "broken": await one("formalize_check", program="initial(s0"),
            "text": await one(
                "verify", text="If I defect and you cooperate, I get 1.", game="prisoners-dilemma"
            ),
            "same": await one(
                "compare", first=PROGRAM, second='{"row": [[4,0],[3,3]], "col": [[4,3],[0,3]]}'
            ),
            "games": await one("list_games", search="stag"),
            "strategies": await one("list_strategies"),
            "position": await one("position", game="tic-tac-toe", moves=["a1"]),
            "loaded": await one("prolog_load", program="p(1). p(2)."),
            "values": await one(
                "best_response",
                game="stag-hunt",
                player="row",
                strategies={"col": {"stag": 0.75, "hare": 0.25}},
            ),
            "table": await one(
                "tournament",
                game="prisoners-dilemma",
                strategies=["tit-for-tat", "defector"],
                rounds=5,
            ),
        }

    found = run_with_server(ask)
    assert found["matrix"]["value"] == 2.5
    assert found["matrix"]["equilibria"][0]["strategies"] == {
        "row": {"a0": 0.375, "a1": 0.625},
        "col": {"a0": 0.5, "a1": 0.5},
    }
    assert found["tree"]["value"] == pytest.approx(-1 / 18)
    assert found["pure"] == {
        "is_equilibrium": False,
        "payoffs": {"row": 3.0, "col": 3.0},
        "regrets": {"row": 2.0, "col": 2.0},
        "nash_conv": 4.0,
    }
    assert found["best"]["best"] == ["paper"]
    # the stag earns 4 in three of four cases, the hare 3 always
    assert found["values"] == {
        "player": "row",
        "best": ["stag", "hare"],
        "moves": {},
        "value": 3.0,
        "action_values": {"stag": 3.0, "hare": 3.0},
    }
    assert found["strategies"]["names"][:3] == ["all", "published", "classic"]
    assert "tit-for-tat" in found["strategies"]["names"]
    assert found["position"]["best"] == ["b2"]  # whoever does not answer a corner there loses
    assert found["loaded"]["defined"] == ["p/1"]
    assert found["program"]["ok"]
    assert found["program"]["table"]["players"] == ["ann", "bob"]
    assert "stag-hunt" in found["program"]["known_as"]
    assert found["broken"]["ok"] is False
    assert found["broken"]["diagnostics"][0]["stage"] == "reader"
    assert found["text"]["state"] == "refuted"
    assert found["text"]["claims"][0]["correction"].endswith("you get 5.")
    assert found["same"]["relation"] == "renamed"
    listed = [game["name"] for game in found["games"]["games"]]
    assert listed == ["stag-hunt", "stag-hunt-lelma"]
    assert [(row["name"], row["total"]) for row in found["table"]["standings"]] == [
        ("tit-for-tat", 38.0),
        ("defector", 28.0),
    ]


def test_a_speaker_is_advised_from_a_run_beside_the_server(tmp_path):
    run = br.steer("meeting", games=1, fresh=0, output_dir=tmp_path / "results")
    (game,) = run.frames["games"]
    first = game["scenario"][0]["private"][0]
    asked = {"domain": "meeting", "transcript": [], "private": first}
    strange = {**asked, "transcript": [{"text": "Something that nobody has said."}]}

    async def ask(client):
        return [await client.call_tool("advise", arguments) for arguments in (asked, strange)]

    known, unknown = run_with_server(ask, folder=tmp_path)
    wanted = br.advise("meeting", [], first, run=run)
    told = known.structured_content
    assert (told["manner"], told["instruction"]) == (wanted.manner, wanted.instruction)
    assert told["earns"] == pytest.approx(wanted.earns)
    assert told["source"] == "solved tree"
    assert told["probabilities"] == pytest.approx(dict(wanted.probabilities))
    assert unknown.structured_content["source"] == "nearest situation"


def test_mistakes_come_back_as_sentences():
    async def ask(client):
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in MISTAKES]

    for found, (_, _, sentence) in zip(run_with_server(ask), MISTAKES, strict=True):
        assert found.is_error
        assert sentence in found.content[0].text


@asynccontextmanager
async def http_server():
    """Start the server on a port that is free; where somebody else was quicker to take it, on
    another one."""
    process, port = None, 0

    def answers():
        nonlocal process, port
        if process is None or process.poll() is not None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            command = [sys.executable, "-m", "bestresponse", "mcp", "--http", "--port", str(port)]
            process = subprocess.Popen(command, env=dict(os.environ))
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(answers, pause=0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(300)


def test_the_same_tools_answer_over_http():
    async def talk():
        async with http_server() as address:
            async with mcp.Client(address) as client:
                first = await client.call_tool("solve", {"game": "chicken"})
            async with mcp.Client(address) as client:
                return first, await client.call_tool("solve", {"game": "chicken"})

    first, second = asyncio.run(talk())
    assert len(first.structured_content["equilibria"]) == 3
    assert first.structured_content == second.structured_content


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Host", "evil.example", 421), ("Origin", "http://evil.example", 403)],
)
def test_a_page_of_another_site_cannot_call_the_server(header, value, status):
    async def ask():
        async with http_server() as address:
            headers = {"Content-Type": "application/json", header: value}
            request = urllib.request.Request(address, b"{}", headers, method="POST")
            with pytest.raises(urllib.error.HTTPError) as refused:
                await asyncio.to_thread(urllib.request.urlopen, request, timeout=60)
            return refused.value.code

    assert asyncio.run(ask()) == status


def test_a_tournament_knows_noise():
    """One round: with itself .81 x 3 + .09 x 5 + .01, and .27 + .05 + .09 against a defector."""
    from bestresponse.integrations.mcp.tools import tournament

    found = tournament(
        "prisoners-dilemma with repeated(rounds=1, noise=0.1)", ["tit-for-tat", "defector"]
    )
    totals = {row.name: row.total for row in found.standings}
    assert totals["tit-for-tat"] == pytest.approx(2 * (2.89 + 0.41))


class RawClient:
    """A client without manners: it sends bytes over stdio and keeps every line that comes back."""

    def __init__(self, folder):
        words = [sys.executable, "-m", "bestresponse", "mcp"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "cwd": folder}
        self.server = subprocess.Popen(words, env=dict(os.environ), **pipes)
        self.lines = []
        Thread(target=self._read, daemon=True).start()
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}}
        asked["clientInfo"] = {"name": "raw", "version": "1"}
        self.ask({"id": "hello", "method": "initialize", "params": asked})
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def _read(self):
        for line in self.server.stdout:
            self.lines.append(line.decode())

    def send(self, text):
        line = text if isinstance(text, bytes) else text.encode()
        self.server.stdin.write(line + b"\n")
        self.server.stdin.flush()

    def ask(self, message, replies=1):
        """Send a message and return the texts of its replies."""
        before = len(self.lines)
        unsent = isinstance(message, dict)
        self.send(json.dumps({"jsonrpc": "2.0", **message}) if unsent else message)
        wait_until(lambda: len(self.lines) >= before + replies)
        return self.lines[before:]

    def close(self):
        self.server.stdin.close()
        self.server.wait(300)


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    with closing(RawClient(tmp_path_factory.mktemp("raw"))) as client:
        yield client


def write_call(tool, **arguments):
    call = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})


def nest(depth):
    return "[" * depth + "]" * depth


NO_MESSAGE = "this line is not a message of JSON-RPC; send one object per line"
PAIR = ["tit-for-tat", "defector"]
MIXED = {"row": {"dare": float("nan")}, "col": {"dare": 1}}
HOSTILE = {
    "no JSON": ("{not json", NO_MESSAGE),
    "half a message": ('{"jsonrpc": "2.0", "id": 5,', NO_MESSAGE),
    "bytes that are no text": (b"\xff\xfe\x00\x01", NO_MESSAGE),
    "an empty line": ("", NO_MESSAGE),
    "a batch": ('[{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}]', NO_MESSAGE),
    "half a surrogate": (write_call("solve", game="\ud800"), NO_MESSAGE),
    "arguments 10,000 deep": (
        write_call("solve", game=0).replace("0}", nest(10_000) + "}"),
        NO_MESSAGE,
    ),
    "an unknown method": ('{"jsonrpc": "2.0", "id": 1, "method": "nope"}', "Method not found"),
    "no parameters": (
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call"}',
        "Invalid request parameters",
    ),
    "an unknown tool": (write_call("solv"), "there is no tool named 'solv'; known: solve, check"),
    "a wrong type": (
        write_call("solve", game={"a": 1}),
        "solve: game: Input should be a valid string",
    ),
    "nothing": (write_call("solve"), "solve: game: Field required"),
    "an unknown argument": (
        write_call("solve", game="chicken", metod="lp"),
        "there is no argument of solve named 'metod'; known: game, method. Did you mean method?",
    ),
    "a payoff that is none": (
        write_call("solve", game="[[NaN, 1], [1, 0]]"),
        "expected finite numbers",
    ),
    "a huge payoff": (
        write_call("solve", game=f"[[{'9' * 5000}, 1], [1, 0]]"),
        "expected finite numbers",
    ),
    "a probability that is none": (
        write_call("check", game="chicken", strategies=MIXED),
        "check: strategies.row.dare.float: Input should be a finite number",
    ),
    "a game 10,000 deep": (write_call("solve", game=nest(10_000)), "got lists nested too deeply"),
    "a path": (
        write_call("compare", first="/etc/hostname", second="../../etc/passwd"),
        "there is no game",
    ),
    "other alphabets": (
        write_call("solve", game="\u202egnim\0\U0001f4a3"),
        "there is no game named",
    ),
    "a program of a shell": (
        write_call("prolog_load", program=":- shell('touch x')."),
        "is not allowed",
    ),
    "a term 10,000 deep": (
        write_call("prolog_load", program=f"p({'f(' * 10_000}a{')' * 10_000})."),
        "more than 100 brackets are open",
    ),
    "endless matches": (
        write_call("tournament", game="prisoners-dilemma", strategies=PAIR, rounds=10**12),
        "tournament: rounds: Input should be less than or equal to 10000",
    ),
    "a game that takes hours": (
        write_call("solve", game=json.dumps([[i * j % 7 for i in range(120)] for j in range(120)])),
        "this call was not done after 20 seconds; try a smaller game or another method",
    ),
}


@pytest.mark.parametrize(("line", "sentence"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_line_is_answered_with_a_sentence_and_the_next_as_ever(raw, line, sentence):
    [said] = raw.ask(line)
    assert sentence in json.loads(said).get("error", {}).get("message", said)
    assert not {"Traceback", "pydantic"} & set(said.replace(".", " ").split())
    [said] = raw.ask(write_call("list_games", search="stag"))
    assert "stag-hunt-lelma" in said


def test_a_flood_of_calls_is_refused_in_part_and_the_server_lives_on(raw):
    flood = "\n".join([write_call("list_games", search="stag")] * 100)
    said = raw.ask(flood, replies=100)
    refused = sum("8 calls wait already; send one after the other" in one for one in said)
    # One is carried out and eight wait when the first hundred arrive.
    assert 0 < refused <= 91
    assert sum("stag-hunt-lelma" in one for one in said) == 100 - refused


def test_a_client_that_hangs_up_within_a_message_ends_its_server(tmp_path):
    client = RawClient(tmp_path)
    client.server.stdin.write(b'{"jsonrpc": "2.0", "id"')
    client.close()
    assert client.server.returncode == 0
