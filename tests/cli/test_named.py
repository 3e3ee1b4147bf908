"""A command or option that a text names exists: in the pages, and in what the program says."""

import ast
import re
from pathlib import Path

import pytest
import typer
from sources import list_nodes, parse_package

import bestresponse
from bestresponse.cli.app import COMMANDS, app

ROOT = Path(__file__).parents[2]
SOURCE = Path(bestresponse.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
PAGES += [page for page in sorted(ROOT.glob("docs/**/*.md")) if "_build" not in page.parts]
FOREIGN = re.compile(
    r"pip|python|make|git|gambit|inspect|lm_eval|docker|claude|curl|uv |sbatch|vllm|prime|vf-"
    r"|scripts/|benchmarks/|npx|pytest|sphinx|swipl"
)
"""Other programs, which have options of their own."""


FOREIGN_OPTIONS = {"--env", "--joins", "--own-games", "--strict", "--whole"}
"""Options of other programs that a page names alone: of a cluster, of benchmarks, of mypy."""


def list_options(words, command, found):
    """Collect the options of every command by the words that are typed for it."""
    found[words] = {
        name for each in command.params for name in (*each.opts, *each.secondary_opts)
    } | {"--help", "-h"}
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            list_options(f"{words} {name}".strip(), command.get_command(context, name), found)
    return found


OPTIONS = list_options("", typer.main.get_command(app), {})
OPTIONS["bench stories"] = OPTIONS["run stories"]
OPTIONS["bench strategies"] = OPTIONS["run strategies"]
ALL = set().union(*OPTIONS.values())


def find_unknown(text):
    """List what a text names that is no command, or no option of the command it follows."""
    unknown = []
    for line in re.findall(r"bestresponse ((?:--[\w-]+ |[a-z]+\b)[^`\n#|]*)", text):
        tokens = line.replace("'", " ").replace('"', " ").split()
        words = [token for token in tokens if re.fullmatch(r"[a-z]+", token)]
        if not words or tokens[0].startswith("--"):
            continue
        if words[0] not in COMMANDS:
            unknown.append(words[0])
            continue
        longest = " ".join(words[:2])
        command = longest if longest in OPTIONS else words[0]
        known = OPTIONS["simulate game"] if command == "simulate" else OPTIONS[command]
        typed = re.findall(r"(?<![\w-])--[a-z][\w-]*", line)
        unknown += [f"{command} {option}" for option in typed if option not in known]
    return unknown


def list_spans(page):
    """List what is code in a page: lines of blocks, continued ones joined, and spans."""
    blocks = re.findall(r"^```(?!python|toml|json|ini|yaml)[^\n]*\n(.*?)^```", page, re.M | re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    prose = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    return lines, [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_that_a_page_names_exists_and_has_the_options_that_follow_it(page):
    lines, spans = list_spans(page.read_text("utf-8"))
    commands = [line for line in (*lines, *spans) if line.startswith("bestresponse ")]
    assert [unknown for line in commands for unknown in find_unknown(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_option_that_a_page_names_alone_exists_in_some_command(page):
    _, spans = list_spans(page.read_text("utf-8"))
    named = [
        option
        for span in spans
        if not FOREIGN.search(span)
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", span)
    ]
    assert sorted({option for option in named if option not in ALL | FOREIGN_OPTIONS}) == []


def test_a_command_that_a_message_names_exists_and_has_the_options_that_follow_it():
    unknown = []
    for path, tree in parse_package().items():
        for node in list_nodes(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for span in re.findall(r"`(bestresponse [^`]+)`", node.value):
                    unknown += [f"{path.name}: {each}" for each in find_unknown(span)]
    assert unknown == []


def test_the_check_finds_a_command_and_an_option_that_do_not_exist():
    assert find_unknown("bestresponse slove chicken") == ["slove"]
    assert find_unknown("bestresponse solve chicken --ploot x.svg") == ["solve --ploot"]
    assert find_unknown("bestresponse solve chicken --output x.svg") == []
