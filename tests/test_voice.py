"""What people read is plain English: docs/voice.md lists the phrases that no text may use.

Checked are the documentation, every string and docstring of the source, report templates, page
texts and the message catalogues. A comment is for developers, and free.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import bestresponse

ROOT = Path(__file__).parents[1]
SOURCE = Path(bestresponse.__file__).parent
PAGES = sorted(
    path
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/*/*.md"),
    ]
    if path.name != "voice.md" and "_build" not in path.parts
)
_COUNTED = "(?:payoffs?|points?|regrets?|tokens?|rows?|lines?|ms|dollars?|samples?|actions)"
_UNIT = (
    "(?:round|play|day|program|call|answer|question|second|minute|seat|match|row|column|side"
    "|situation|set|policy|participant|player)"
)
AVOIDED = {
    "[default: ...]": r"\bif not said\b|\bunless said\b",
    "there is no X; expected A or B": r"\b(?:is|are) none of\b",
    "command-line options override it": r"\bgoes before it\b|\bwhat is typed goes\b",
    "run the same command to resume": r"\bcommand(?: again)? goes on\b",
    "per": rf"\b{_COUNTED} an? {_UNIT}\b|\bone (?:row|line|column) an? \w+",
    "is in, is next to": r"\bstands? (?:in|on|at|beside|below|above|there|with|by|between)\b(?! for)",
    "results in": r"\bcomes? out\b|\bcame out\b",
    "the full pipeline": r"\bthe whole way\b",
    "advice, a recommendation": r"\ban advice\b",
    "available, that exist": r"\bthose that there are\b|\bthat there are not\b",
}


@cache
def list_texts() -> list[tuple[str, int, str]]:
    """List what people read: the file, the line, and the text."""
    texts = [(path.relative_to(ROOT).as_posix(), 1, path.read_text("utf-8")) for path in PAGES]
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE).as_posix()
        if "stories" in path.parts or "domains" in path.parts or path.suffix == ".po":
            continue  # what people in a story do, and its translations
        if path.suffix in {".html", ".po", ".toml", ".txt", ".md", ".jinja"}:
            texts.append((name, 1, path.read_text("utf-8")))
        elif path.suffix == ".py":
            texts += [(name, *found) for found in list_strings(path.read_text("utf-8"))]
    return texts


def list_strings(source: str) -> list[tuple[int, str]]:
    """List every string of a module with its line; the constant parts of f-strings too."""
    return [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.mark.parametrize("better", AVOIDED)
def test_no_text_uses_a_phrase_that_readers_stumble_over(better):
    pattern = re.compile(re.sub(" ", r"\\s+", AVOIDED[better]), re.IGNORECASE)
    hits = [
        f"{name}:{line + text.count(chr(10), 0, match.start())}: {match[0]!r}"
        for name, line, text in list_texts()
        for match in pattern.finditer(text)
    ]
    assert hits == [], f"write instead: {better}"


def test_the_check_finds_a_phrase_across_the_lines_of_a_text():
    pattern = re.compile(re.sub(" ", r"\\s+", AVOIDED["per"]))
    assert pattern.search("the payoff a\nround")
    assert not pattern.search("the payoff per round")
