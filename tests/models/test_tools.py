"""Tools that a model may call before it answers: its own functions, and those of an MCP server."""

import json
import sys
import textwrap
import time
from contextlib import closing
from dataclasses import replace

import pytest
from model_server import ModelServer

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.models.base import Abilities, Reply, ask
from bestresponse.models.codec import reply_from_json, reply_to_json, request_to_json
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.models.wrappers.mcp_tools import McpServer, find_tools
from bestresponse.models.wrappers.tools import Tool, Tooled, make_tool

SERVER = textwrap.dedent("""
    import json, sys

    for line in sys.stdin:
        message = json.loads(line)
        method, number = message["method"], message.get("id")
        if method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "t"}}
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]}
            result = {"tools": [{"name": "price", "description": "What water cost on a day.", "inputSchema": schema}]}
        elif method == "tools/call":
            day = message["params"]["arguments"]["day"]
            print("a line that is no message", flush=True)
            failed = day < 1
            text = "there is no such day" if failed else f"${30 + day}"
            result = {"content": [{"type": "text", "text": text}], "isError": failed}
        else:
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
""")


def price(day: int, more: float = 0.0) -> float:
    """Return what water cost on a day.

    Nobody reads this.
    """
    return 30.0 + day + more


def fail(day: int) -> float:
    """Fail on every day."""
    raise KeyError(day)


@pytest.fixture
def server(tmp_path):
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return f"{sys.executable} {path}"


def test_a_function_is_told_by_its_name_its_first_paragraph_and_its_arguments():
    tool = make_tool(price)
    assert tool.offer() == {
        "name": "price",
        "description": "Return what water cost on a day.",
        "parameters": {
            "type": "object",
            "properties": {"day": {"type": "integer"}, "more": {"type": "number"}},
            "required": ["day"],
        },
    }
    assert tool.call('{"day": 3}') == "33.0"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("[1]", "The arguments of price are no JSON object: '[1]'."),
        ('{"day": ', "The arguments of price are no JSON object: '{\"day\": '."),
        (
            '{"night": 1}',
            "price failed: TypeError: price() got an unexpected keyword argument 'night'",
        ),
    ],
)
def test_a_call_that_cannot_be_made_is_a_sentence(arguments, said):
    assert make_tool(price).call(arguments) == said


def test_a_tool_that_never_returns_is_given_up():
    tool = Tool("wait", "Wait.", {"type": "object"}, run=lambda arguments: time.sleep(60))
    assert tool.call("{}", seconds=0.05) == "wait took longer than 0.05 seconds and was given up."


def test_what_is_no_tool_is_refused():
    with pytest.raises(UsageError, match="expected a function with a name as a tool"):
        make_tool(lambda day: day)
    with pytest.raises(UsageError, match=r"takes \*days; expected arguments that have a name"):
        make_tool(lambda_with_many)
    with pytest.raises(UsageError, match="there is no tool named 'oracle'; expected mcp:COMMAND"):
        find_tools("oracle")


def lambda_with_many(*days):
    """Take any number of days."""


def test_a_model_without_a_protocol_for_tools_writes_its_call_as_a_line():
    model = ScriptedModel(['Let me look.\nTOOL price {"day": 2}', "ANSWER: 32"])
    reply = Tooled(model, (make_tool(price),)).complete(ask("How much?"))
    assert reply.text == "ANSWER: 32"
    assert [(use.name, use.arguments, use.result) for use in reply.tools] == [
        ("price", '{"day": 2}', "32.0")
    ]
    first, second = (request.messages for request in model.asked)
    assert (
        "- price(day: integer, more: number): Return what water cost on a day." in first[-1].content
    )
    assert first[-1].content.endswith("How much?")
    assert [message.content for message in second[1:]] == [
        'TOOL price {"day": 2}',
        "Result of price: 32.0",
    ]


def test_a_model_that_goes_on_calling_has_to_answer_after_the_last_call():
    model = ScriptedModel(['TOOL price {"day": 1}'] * 2 + ["ANSWER: 5"])
    reply = Tooled(model, (make_tool(price),), limit=2).complete(ask("How much?"))
    assert (reply.text, len(reply.tools)) == ("ANSWER: 5", 2)
    assert (
        model.asked[-1]
        .messages[-1]
        .content.endswith("You cannot use any more tools. Answer the question now.")
    )
    stubborn = ScriptedModel(['TOOL price {"day": 1}'] * 3)
    assert len(Tooled(stubborn, (make_tool(price),), limit=2).complete(ask("How much?")).tools) == 2


def test_a_tool_that_fails_or_does_not_exist_is_told_and_nothing_is_lost():
    model = ScriptedModel(['TOOL fail {"day": 1}', "TOOL oracle", "ANSWER: 5"])
    reply = Tooled(model, (make_tool(fail),)).complete(ask("How much?"))
    assert [use.result for use in reply.tools] == [
        "fail failed: KeyError: 1",
        "There is no tool named 'oracle'; there are fail.",
    ]
    assert reply.text == "ANSWER: 5"


def test_calls_are_kept_in_records_and_requests_without_tools_are_written_as_before():
    reply = Tooled(ScriptedModel(['TOOL price {"day": 2}', "ok"]), (make_tool(price),)).complete(
        ask("?")
    )
    assert reply_from_json(json.loads(json.dumps(reply_to_json(reply)))) == reply
    assert "tools" not in request_to_json(ask("?"))
    assert "tools" not in reply_to_json(Reply("ok"))
    plain = ScriptedModel(["ok"])
    assert Tooled(plain, (make_tool(price),)).identity != plain.identity
    assert Abilities().tools is False


def play(model, folder, **more):
    return br.water.simulate(
        model,
        seat=dict.fromkeys(("Bob", "Cindy", "David", "Eric"), "need"),
        days=1,
        repeats=1,
        output_dir=folder,
        **more,
    )


def answer_by_protocol(body):
    """Call the tool by the protocol, then bid what it said."""
    last = body["messages"][-1]["content"]
    if last.startswith("Result of price: "):
        return json.dumps(
            {"reasons": "The tool says so.", "answer": float(last.rpartition(" ")[2])}
        )
    call = {"id": "c", "type": "function", "function": {"name": "price", "arguments": '{"day": 1}'}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_a_model_behind_a_server_calls_a_function_and_the_run_can_be_replayed_without_it(tmp_path):
    with closing(ModelServer(answer_by_protocol)) as server:
        run = play(server.model, tmp_path, tools=[price])
        sent = [json.loads(body) for body in server.delivered]
    assert sent[0]["tools"][0]["function"]["name"] == "price"
    assert run.frame("days").select(resident="Alex")[0]["bid"] == 31.0
    (call,) = run.folder.calls()
    assert call["reply"]["tools"] == [["price", '{"day": 1}', "31.0"]]
    # 100 and 10 tokens for each of two replies.
    assert (call["reply"]["usage"]["prompt"], call["reply"]["usage"]["completion"]) == (200, 20)
    again = br.load_run(run.path)
    assert (again.replay().same, again.replay().different) == (1, ())
    assert again.config.tools[0].name == "price"
    assert (
        again.config.tools[0].call('{"day": 1}')
        == "price cannot be called here: this run was loaded without it."
    )


def test_tools_where_no_model_plays_are_refused(tmp_path):
    with pytest.raises(UsageError, match="this has no effect where no model plays"):
        br.water.simulate("need", tools=[price], days=1, repeats=1, output_dir=tmp_path)
    with pytest.raises(UsageError, match="two tools are named 'price'"):
        br.water.simulate(lambda prompt: "ANSWER: 1", tools=[price, price], output_dir=tmp_path)


def test_the_tools_of_an_mcp_server_are_listed_and_called(server):
    (tool,) = McpServer(server).list_tools()
    assert tool.describe() == "- price(day: integer): What water cost on a day."
    assert tool.call('{"day": 2}') == "$32"
    assert tool.call('{"day": 0}') == "price failed: RuntimeError: there is no such day"


def test_a_server_is_started_without_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    path = tmp_path / "server.py"
    path.write_text(
        SERVER.replace(
            'f"${30 + day}"', 'str(sorted(k for k in __import__("os").environ if "API" in k))'
        )
    )
    (tool,) = McpServer(f"{sys.executable} {path}").list_tools()
    assert tool.call('{"day": 2}') == "[]"


def test_a_server_that_refuses_tools_hears_of_them_in_words_and_is_not_held_to_a_schema():
    class Refusing(ScriptedModel):
        def complete(self, request):
            reply = super().complete(request)
            return replace(reply, honoured=(("tools", "left out"),)) if request.tools else reply

    model = Refusing(["{}", 'TOOL price {"day": 2}', "ANSWER: 32"])
    model.abilities = Abilities(schema=True, tools=True)
    request = replace(ask("How much?"), schema='{"type":"object"}')
    reply = Tooled(model, (make_tool(price),)).complete(request)
    assert (reply.text, len(reply.tools)) == ("ANSWER: 32", 1)
    assert [(bool(asked.tools), asked.schema is None) for asked in model.asked] == [
        (True, False),
        (False, True),
        (False, True),
    ]


def test_a_server_that_ends_or_cannot_be_started_is_a_sentence(server, tmp_path):
    started = McpServer(server)
    (tool,) = started.list_tools()
    started.close()
    assert "has ended" in tool.call('{"day": 2}')
    with pytest.raises(UsageError, match="cannot be started"):
        find_tools("mcp:/nonexistent/server")
    silent = tmp_path / "silent.py"
    silent.write_text("")
    with pytest.raises(UsageError, match="has ended"):
        find_tools(f"mcp:{sys.executable} {silent}")


def test_a_command_offers_the_tools_of_an_mcp_server(server, tmp_path):
    def bid(prompt):
        return "ANSWER: 7" if "Result of price" in prompt else 'TOOL price {"day": 5}'

    run = play(bid, tmp_path, tools=f"mcp:{server}")
    (call,) = run.folder.calls()
    assert call["reply"]["tools"] == [["price", '{"day": 5}', "$35"]]
