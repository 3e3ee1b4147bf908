"""Names in backticks in docstrings exist: modules, classes, functions, settings, options, commands
and files.

A name is known if the code has it somewhere: as a definition, an argument, an attribute, a word of
a string, or a word of the data next to the code. That finds what was renamed or removed, and raises
no alarm about a variable.
"""

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sources import parse_package

import bestresponse
from bestresponse.cli.app import COMMANDS

ROOT = Path(bestresponse.__file__).parent
REPOSITORY = ROOT.parents[1]
OF_OTHER_TOOLS = ROOT / "integrations"
"""Options that are named here belong to the tools into which this package is plugged."""
OF_OTHERS = {
    "allOf",
    "bestresponse_solved_games",
    "has_error",
    "node1",
    "node2",
    "recvfrom",
    "seccomp_data",
    "sendto",
    "src/waterAllocation.py",
}
"""Names of other programs and of the system, and examples of names that are made while it runs."""
DATA = {".pl", ".toml", ".txt", ".html", ".js", ".po", ".json"}

TICKS = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMAND = re.compile(r"bestresponse ([a-z]+)\b")
FILE = re.compile(r"[\w./-]+/[\w.-]+\.(?:py|pl|md|toml|txt)")
WORD = re.compile(r"[A-Za-z_]\w*")
PLACEHOLDER = re.compile(r"NAME|STUDY")


def is_documentation(node: ast.AST) -> bool:
    is_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_alone and isinstance(node.value.value, str)


def list_named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield what is in backticks in docstrings and in notes below attributes, with the line."""
    for node in ast.walk(tree):
        if is_documentation(node):
            for number, line in enumerate(node.value.value.splitlines()):
                for text in TICKS.findall(line):
                    yield node.lineno + number, text


@cache
def list_module_names() -> set[str]:
    names = set()
    for path in parse_package():
        parts = path.relative_to(ROOT).with_suffix("").parts
        names.add(".".join(part for part in parts if part != "__init__"))
    return names


@cache
def collect_words() -> tuple[set[str], set[str]]:
    """Return every name that the code has; and chains of attributes such as `report.errors`, whole
    strings and names of files."""
    words = {*dir(builtins), *sys.stdlib_module_names}
    chains = set()
    for name in list_module_names():
        words.update(name.split("."))
    for tree in parse_package().values():
        documented = {node.value for node in ast.walk(tree) if is_documentation(node)}
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                    words.add(name)
                case ast.Name(name) | ast.arg(name) | ast.Attribute(attr=name):
                    words.add(name)
                case ast.keyword(str(name)):
                    words.add(name)
                case ast.ImportFrom(str(module)):
                    words.update(module.split("."))
                case ast.alias(name, other):
                    words.update([*name.split("."), other or name])
                case ast.Constant(str(text)) if node not in documented:
                    words.update(WORD.findall(text))
                    chains.add(text)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                chains.add(f"{node.value.id}.{node.attr}")
    for path in ROOT.rglob("*"):
        chains.add(path.name)
        if path.suffix in DATA:
            words.update(WORD.findall(path.read_text("utf-8", "replace")))
    return words, chains


def is_module_or_member(name: str) -> bool:
    """Tell whether a name is the end of a module's path, perhaps with something in it."""
    words, _ = collect_words()
    parts = name.removeprefix("bestresponse.").split(".")
    for length in range(len(parts), 0, -1):
        start = ".".join(parts[:length])
        found = any(f".{module}".endswith(f".{start}") for module in list_module_names())
        if found and all(part in words for part in parts[length:]):
            return True
    return False


def is_known(name: str) -> bool:
    """Tell whether a name in backticks is one of this code, or of a library that it uses."""
    words, chains = collect_words()
    plain = name.removesuffix("()")
    if plain in words or plain in chains or plain == "bestresponse":
        return True
    first, *rest = plain.split(".")
    if rest and first in PACKAGES:
        return is_module_or_member(plain)
    return bool(rest) and all(part in words for part in (first, *rest))


PACKAGES = {path.name for path in ROOT.iterdir() if path.is_dir()} | {"bestresponse"}


def find_wrong(path: Path, text: str) -> str:
    """Say what in a text in backticks does not exist; nothing where all does."""
    if text in OF_OTHERS or PLACEHOLDER.search(text):
        return ""
    if NAME.fullmatch(text):
        return "" if is_known(text) else f"{text} is no name of the code"
    if FILE.fullmatch(text):
        places = (ROOT, REPOSITORY, path.parent, path.parents[1])
        return "" if any((place / text).exists() for place in places) else f"no file {text}"
    command = COMMAND.match(text)
    if command and command[1] not in COMMANDS:
        return f"there is no command {command[1]}"
    if not path.is_relative_to(OF_OTHER_TOOLS):
        for option in OPTION.findall(text):
            if option not in read_reference():
                return f"there is no option {option}"
    return ""


@cache
def read_reference() -> str:
    """Return the pages of all commands, which another test holds to the commands themselves."""
    docs = REPOSITORY / "docs"
    pages = [docs / "commands" / "index.md", *sorted(docs.glob("commands/*.md"))]
    return "".join(page.read_text("utf-8") for page in pages)


def test_names_in_backticks_exist():
    wrong = []
    for path, tree in parse_package().items():
        for line, text in list_named(tree):
            why = find_wrong(path, text)
            if why:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {why}")
    assert wrong == []


def test_names_that_are_gone_are_found():
    path = ROOT / "games" / "lookup.py"
    assert find_wrong(path, "zero_sum_batched") == "zero_sum_batched is no name of the code"
    assert find_wrong(path, "theory.matrix_jsons") == "theory.matrix_jsons is no name of the code"
    assert find_wrong(path, "games/lookups.py") == "no file games/lookups.py"
    assert find_wrong(path, "bestresponse solves chicken") == "there is no command solves"
    assert find_wrong(path, "--num-gamez") == "there is no option --num-gamez"


def test_names_that_exist_are_let_pass():
    path = ROOT / "games" / "lookup.py"
    for text in (
        "find_game",
        "games.lookup",
        "bestresponse.games.lookup.find_game",
        "LoadedGame.playable",
        "games/lookup.py",
        "bestresponse solve chicken",
        "--num-games",
        "a sentence",
    ):
        assert find_wrong(path, text) == ""
