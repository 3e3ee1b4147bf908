"""Which form a model is asked for, attempt by attempt: by what the story needs, and by the model.

A tree does not hold a wide range of amounts; a program holds every game. A model on this machine,
which is a small one, begins with the tree; every other model begins with the program.

Prompts show checked examples, stories with the programs that tell them, those nearest to the story.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import cycle, islice
from pathlib import Path
from typing import Literal, NamedTuple

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_toml
from bestresponse.models.base import Model

Wish = Literal["auto", "program", "tree"]
FormName = Literal["program", "tree"]

_TRIES = 2
# A tree spells out a branch for every amount; a program says all of them in one rule.
_MOST_AMOUNTS = 8
_RANGE = re.compile(
    r"\b(?:from|between)?\s*(\d{1,9})\s*(?:to|and|up to|-|–|bis|und|à|et|a|y|hasta)\s*(\d{1,9})\b"
)
_BETWEEN = re.compile(
    r"\b(?:from|between|any|whole|offers?|bids?|amount|number"
    r"|zwischen|von|bietet|betrag"
    r"|entre|de|offre"
    r"|desde|ofrece)\b",
    re.IGNORECASE,
)
# So many characters before two numbers, a word has to say that they are a range to choose from.
_AROUND = 40


def count_amounts(story: str) -> int:
    """Return how long the widest range of numbers is from which a story lets somebody choose.

    >>> count_amounts("Only Ann knows the card. Bob bids any amount from 0 to 50.")
    51
    """
    widest = 0
    for match in _RANGE.finditer(story):
        start = max(0, match.start() - _AROUND)
        if _BETWEEN.search(story[start : match.end()]):
            low, high = int(match[1]), int(match[2])
            widest = max(widest, high - low + 1)
    return widest


def plan(
    wish: Wish,
    model: Model,
    attempts: int,
    story: str = "",
) -> tuple[FormName, ...]:
    """Choose the form of every attempt.

    After two failures in one form it is the other's turn, and so on.

    Only forms that can hold the game are asked for, unless one is wished for.
    """
    if wish != "auto":
        return (wish,) * attempts
    wide = count_amounts(story) > _MOST_AMOUNTS
    turns: tuple[FormName, ...] = ("program", "tree")
    if model.identity.get("provider") == "local":
        turns = ("tree", "program")
    tries: list[FormName] = []
    for form in turns:
        if form == "program" or not wide:
            tries += [form] * _TRIES
    return tuple(islice(cycle(tries), attempts))


WORD = re.compile(r"[^\W\d_][^\W\d_-]*(?:-[^\W\d_]+)*")
_UNSEEN = re.compile(
    r"\b(?:without|before|cannot|never|not|neither|nobody)"
    r" (?:seeing|knowing|see|sees|learns|hears)\b"
)


class _Language(NamedTuple):
    """A language's commonest words, and what its words or their beginnings say of a game."""

    common: frozenset[str]
    cues: dict[str, str]


@cache
def _load_languages() -> dict[str, _Language]:
    file = files(__package__) / "cues.toml"
    languages = {}
    for name, lists in parse_toml(file.read_text("utf-8")).items():
        common = frozenset(lists.pop("common").split())
        cues: dict[str, str] = {}
        for cue, words in lists.items():
            cues |= dict.fromkeys(words.split(), cue)
        languages[name] = _Language(common, cues)
    return languages


def count_cues(text: str) -> Counter[str]:
    """Count what the words say about how the game is built.

    There are cues for turns, chance, secrets, bids and shares in four languages. English words are
    matched whole, those of other languages by their beginnings, because they are inflected more.
    The language of a story is the one whose commonest words it uses most.

    >>> count_cues("Eine Karte wird zufällig gezogen, und nur sie kennt sie.")["#chance"]
    2
    """
    words = WORD.findall(_UNSEEN.sub(" ", text.casefold()))
    languages = _load_languages()
    num_common = {}
    for name, language in languages.items():
        num_common[name] = sum(word in language.common for word in words)
    name = max(num_common, key=num_common.__getitem__)
    cues = languages[name].cues
    if name == "english":
        return Counter(cues[word] for word in words if word in cues)
    counts: Counter[str] = Counter()
    for word in words:
        stem = next((stem for stem in cues if word.startswith(stem)), None)
        if stem is not None:
            counts[cues[stem]] += 1
    return counts


# How a game is built counts three times as much as what its story is about.
_CUE_SHARE = 0.75
# Makes the prisoner's dilemma the nearest example to a story without any cue.
_PLAIN = 0.1
_STOP_WORDS = (
    "a an and are as at be both but by can each either for from get gets has have he her him his if"
    " in is it its of on one or other she so that the their them they this to two was we were when"
    " whether which while who will with would you your than more much into out up does do not no"
    " nobody neither nor"
)
_STOP = frozenset(_STOP_WORDS.split())
FIRST = "prisoners_dilemma"
"""The one example of the published one-shot prompt."""


@dataclass(frozen=True, slots=True)
class Example:
    """A story and its program."""

    name: str
    story: str
    program: str


@cache
def library() -> tuple[Example, ...]:
    """Return the examples that come along, by name.

    They cover two and three moves, moves in turn, offers, three players, votes, auctions, chance,
    hidden cards, private values and a mediator.
    """
    return _read(files(f"{__package__}.library"))


def read_examples(folder: Path) -> tuple[Example, ...]:
    """Return the examples in a folder of `NAME.txt` and `NAME.pl` files.

    Raises UsageError where there is none.

    Games formalized together with a person can so become examples for the next.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; expected one with NAME.txt and NAME.pl files")
    examples = _read(folder)
    if not examples:
        raise UsageError(
            f"{folder} holds no examples; expected pairs of files NAME.txt (the story) and NAME.pl"
        )
    return examples


def write_example(folder: Path, example: Example) -> None:
    """Keep an example in a folder that `read_examples` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{example.name}.txt").write_text(example.story + "\n", "utf-8")
    (folder / f"{example.name}.pl").write_text(example.program + "\n", "utf-8")


def _read(folder: Traversable | Path) -> tuple[Example, ...]:
    entries = {entry.name: entry for entry in folder.iterdir()}
    programs = [name.removesuffix(".pl") for name in entries if name.endswith(".pl")]
    examples = []
    for name in sorted(programs):
        if f"{name}.txt" in entries:
            story = entries[f"{name}.txt"].read_text("utf-8").strip()
            program = entries[f"{name}.pl"].read_text("utf-8").strip()
            examples.append(Example(name, story, program))
    return tuple(examples)


def nearest(story: str, examples: Sequence[Example], count: int = 1) -> tuple[Example, ...]:
    """Return the `count` examples most like `story`, the nearest last.

    A model remembers the last example best.

    Nearness is the cosine similarity of tf-idf vectors (Salton and Buckley, "Term-weighting
    approaches in automatic text retrieval", Information Processing & Management 24, 1988). Words
    that tell how a game is built (who moves after whom, how many players, bids and shares) are
    folded into cues and weigh more than the furniture of the story; a story without any cue is
    nearest to the prisoner's dilemma, the plainest of games.

    >>> [e.name for e in nearest("Three farmers each contribute to a common fund.", library())]
    ['public_goods']
    """
    texts = [story, *(example.story for example in examples)]
    words = _vectors([count_words(text) for text in texts])
    cues = _vectors([count_cues(text) for text in texts])
    scores = {}
    for index, example in enumerate(examples, 1):
        by_cues = _CUE_SHARE * _cosine(cues[0], cues[index])
        by_words = (1 - _CUE_SHARE) * _cosine(words[0], words[index])
        scores[index - 1] = by_cues + by_words + _PLAIN * (example.name == FIRST)
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:count]
    return tuple(examples[index] for index in reversed(best))


def count_words(text: str) -> Counter[str]:
    """The words that count, in their stems."""
    words = WORD.findall(text.casefold())
    return Counter(_stem(word) for word in words if word not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _vectors(counted: Sequence[Counter[str]]) -> list[dict[str, float]]:
    documents: Counter[str] = Counter()
    for words in counted:
        documents.update(words.keys())
    total = len(counted)
    rarity = {word: math.log(1 + total / count) for word, count in documents.items()}
    vectors = []
    for words in counted:
        weights = {word: (1 + math.log(count)) * rarity[word] for word, count in words.items()}
        vectors.append(weights)
    return vectors


def _cosine(first: dict[str, float], second: dict[str, float]) -> float:
    shared = [word for word in first if word in second]
    product = math.fsum(first[word] * second[word] for word in shared)
    sizes = math.sqrt(_sum_squares(first) * _sum_squares(second))
    return product / sizes if sizes else 0.0


def _sum_squares(vector: dict[str, float]) -> float:
    return math.fsum(weight * weight for weight in vector.values())
