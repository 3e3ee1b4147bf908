"""What people read is plain English: docs/contribute/voice.md lists the phrases that no text may use.

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


GUIDES = sorted(ROOT.glob("docs/guides/*.md"))
_LONGEST = 30
_EASE = 50
_SCREEN = 25
"""Lines that a reader sees without scrolling."""


def list_sentences(page: str) -> list[str]:
    """List the sentences of a page: no code, no tables, no headings; a code span is one word."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?:\||#|!\[).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text).replace("*", "")
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.)\s)", text)
    plain = [re.sub(r"^\s*(?:-|\d+\.)\s+|\s+", " ", block).strip() for block in blocks]
    parts = [part for block in plain for part in re.split(r"(?<=[.!?])\s+", block)]
    return [part for part in parts if len(part.split()) > 1]


def count_syllables(word: str) -> int:
    """Count groups of vowels, without a silent e at the end."""
    groups = len(re.findall("[aeiouy]+", word.lower()))
    silent = word.lower().endswith("e") and not word.lower().endswith("le")
    return max(1, groups - silent)


def measure_ease(sentences: list[str]) -> float:
    """Compute the Flesch reading ease: 206.835 - 1.015 words per sentence - 84.6 syllables per
    word."""
    words = [
        word for sentence in sentences for word in re.findall(r"[A-Za-z][A-Za-z'-]*", sentence)
    ]
    syllables = sum(map(count_syllables, words))
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syllables / len(words)


def test_the_reading_ease_of_a_known_sentence():
    # six words of one syllable each: 206.835 - 1.015 * 6 - 84.6 = 116.145
    assert measure_ease(["The cat sat on the mat."]) == pytest.approx(116.145)
    assert [count_syllables(word) for word in ("model", "game", "table")] == [2, 1, 2]


def test_guides_are_easy_to_read():
    assert len(GUIDES) == 10
    eases = [measure_ease(list_sentences(path.read_text("utf-8"))) for path in GUIDES]
    assert sorted(eases)[len(eases) // 2] >= _EASE


@pytest.mark.parametrize("path", GUIDES, ids=[path.stem for path in GUIDES])
def test_no_sentence_of_a_guide_is_long_and_its_first_command_is_on_the_first_screen(path):
    text = path.read_text("utf-8")
    assert [each for each in list_sentences(text) if len(each.split()) > _LONGEST] == []
    assert text.splitlines().index("```") < _SCREEN


@pytest.mark.parametrize("path", GUIDES, ids=[path.stem for path in GUIDES])
def test_a_guide_says_what_you_will_have_in_five_steps_with_a_picture_and_what_can_go_wrong(path):
    text = path.read_text("utf-8")
    assert text.split("\n\n")[1].startswith("At the end, you will ")
    assert re.findall(r"^(\d)\. \*\*", text, re.MULTILINE) == ["1", "2", "3", "4", "5"]
    pictures = re.findall(r"^!\[.{20,}\]\((.*)\)$", text, re.MULTILINE)
    assert len(pictures) == 1
    assert (path.parent / pictures[0]).is_file()
    assert "\n## What can go wrong\n" in text
