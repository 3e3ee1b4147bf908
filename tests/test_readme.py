"""Every command of the README runs as it is written, in a folder that holds no more than the
examples."""

import io
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from model_server import ModelServer, stated_mix
from outlines import outlined_figures  # noqa: F401 - for all tests below

from bestresponse.cli.app import main
from bestresponse.formal.formalize.plan import library

ROOT = Path(__file__).parents[1]
REFUTED = "bestresponse verify prisoners-dilemma --text examples/reasoning/answer.txt"
TYPED = {"bestresponse play": "cooperate\ndefect\ndefect\n"}


def list_commands():
    blocks = re.findall(
        r"^```\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("bestresponse")]


def list_printed():
    """Pair each command of the README with the lines of output below it."""
    printed = {}
    for block in re.findall(
        r"^```\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        for line in block.splitlines():
            if line.startswith("bestresponse"):
                command = line.partition("#")[0].strip()
            elif line.startswith("  "):
                printed.setdefault(command, []).append(line.split())
    return printed


def is_part(words, line):
    """Tell whether a line has these words in this order, perhaps with others between them."""
    rest = iter(line.split())
    return all(word in rest for word in words)


COMMANDS = list_commands()
PRINTED = list_printed()
SERVING = [command for command in COMMANDS if command.startswith("bestresponse serve")]
HERE = [command for command in COMMANDS if command not in SERVING]


def answer(body):
    """What a model would say: a program where one is asked for, a mix, or an action with a
    reason."""
    text = body["messages"][-1]["content"]
    if "Mara" in text:
        return f"```prolog\n{next(example.program for example in library() if example.name == 'meeting_place')}\n```"
    options = re.search(r"one of ([\w-]+)[,.]", text)
    if options:
        return f"If we both cooperate, I get 3.\nANSWER: {options.group(1)}"
    mixed = re.search(r"^ANSWER: (.*<p>.*)$", text, re.MULTILINE)
    if mixed:
        names = re.findall(r"([\w-]+): <p>", mixed.group(1))
        return "ANSWER: " + ", ".join(
            f"{name}: {float(number == 0)}" for number, name in enumerate(names)
        )
    moves = re.findall(r'"(\w+)": ?(?:0|1|<)', text)
    if moves:
        return (
            "{"
            + ", ".join(f'"{move}": {float(number == 0)}' for number, move in enumerate(moves))
            + "}"
        )
    return stated_mix(body)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with the examples, and a server in the place of OpenAI's."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    server = ModelServer(answer)
    monkeypatch.setenv("OPENAI_BASE_URL", server.model.partition("#")[0])
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    yield tmp_path
    server.close()


def test_the_readme_has_commands_of_every_kind():
    assert {command.split()[1] for command in COMMANDS} >= {
        "demo",
        "bench",
        "verify",
        "solve",
        "formalize",
        "play",
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", HERE)
def test_each_command_of_the_readme_runs_as_it_is_written(command, clone, monkeypatch, capfd):
    typed = next((text for start, text in TYPED.items() if command.startswith(start)), "")
    monkeypatch.setattr(sys, "argv", command.split())
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    assert int(ended.value.code or 0) == (1 if command == REFUTED else 0), (out + err)[-2000:]
    assert out.strip()
    missing = [
        " ".join(words)
        for words in PRINTED.get(command, [])
        if not any(is_part(words, line) for line in out.splitlines())
    ]
    assert missing == [], out[-2000:]


def test_the_readme_shows_the_output_of_one_command_per_capability():
    shown = {command.split()[1] for command in PRINTED}
    assert shown == {"bench", "verify", "solve", "check", "tournament", "steer"}


def test_a_line_of_output_may_be_shortened_but_not_changed():
    assert is_part(["random", "0.166"], "random  mixed  0.370  0.166")
    assert not is_part(["random", "0.167"], "random  mixed  0.370  0.166")
    assert not is_part(["0.166", "random"], "random  mixed  0.370  0.166")


@pytest.mark.slow
@pytest.mark.parametrize("command", SERVING)
def test_each_command_that_serves_prints_where_to_enter_and_where_people_join(command, clone):
    pytest.importorskip("fastapi", reason="the web app needs its extra: pip install '.[web]'")
    # any free port, so that tests need none for themselves
    words = [sys.executable, "-m", *command.split(), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            links = [server.stdout.readline(), server.stdout.readline()]
        finally:
            server.terminate()
    shown = [line.rpartition(": ") for line in links]
    assert [label for label, _, _ in shown] == ["your page, keep it secret", "participants"]
    assert [urlsplit(link).path.split("/")[1] for _, _, link in shown] == ["enter", "join"]
