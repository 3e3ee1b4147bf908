"""A library of checked examples, stories with the programs that tell them, and which of them is nearest to a story.

The examples that come along cover two and three moves, moves in turn, offers, three players, votes, auctions, chance,
hidden cards and private values. A folder of one's own with `NAME.txt` and `NAME.pl` files is read in the same way;
games formalized together with a person can so become examples for the next.

Nearness is the cosine similarity of tf-idf vectors (Salton and Buckley, "Term-weighting approaches in automatic text
retrieval", Information Processing & Management 24, 1988). Words that tell how a game is built (who moves after whom,
how many players, bids and shares) are folded into cues and weigh more than the furniture of the story; a story without
any cue is nearest to the prisoner's dilemma, the plainest of games.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.formal.formalize.plan import WORD, count_cues

_CUE_SHARE = 0.75
_PLAIN = 0.1
_STOP_WORDS = (
    "a an and are as at be both but by can each either for from get gets has have he her him his if in is it its of on "
    "one or other she so that the their them they this to two was we were when whether which while who will with "
    "would you your than more much into out up does do not no nobody neither nor"
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
    """The examples that come along, by name."""
    return _read(files(f"{__package__}.library"))


def read_examples(folder: Path) -> tuple[Example, ...]:
    """The examples in a folder; UsageError where there is none."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; expected one with NAME.txt and NAME.pl files")
    found = _read(folder)
    if not found:
        raise UsageError(f"{folder} holds no examples; expected pairs of files NAME.txt (the story) and NAME.pl")
    return found


def write_example(folder: Path, example: Example) -> None:
    """Keep an example in a folder that `read_examples` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{example.name}.txt").write_text(example.story + "\n", "utf-8")
    (folder / f"{example.name}.pl").write_text(example.program + "\n", "utf-8")


def _read(folder: Traversable | Path) -> tuple[Example, ...]:
    texts = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith((".txt", ".pl"))}
    names = sorted(name[:-3] for name in texts if name.endswith(".pl") and f"{name[:-3]}.txt" in texts)
    return tuple(
        Example(name, texts[f"{name}.txt"].read_text("utf-8").strip(), texts[f"{name}.pl"].read_text("utf-8").strip())
        for name in names
    )


def nearest(story: str, examples: Sequence[Example], count: int = 1) -> tuple[Example, ...]:
    """The `count` examples most like `story`, the nearest last, where a model remembers it best.

    >>> [e.name for e in nearest("Three farmers each contribute to a common fund.", library())]
    ['public_goods']
    """
    words = _vectors([count_words(text) for text in (story, *(example.story for example in examples))])
    cues = _vectors([count_cues(text) for text in (story, *(example.story for example in examples))])
    scored = [
        (
            _CUE_SHARE * _cosine(cues[0], cues[place])
            + (1 - _CUE_SHARE) * _cosine(words[0], words[place])
            + _PLAIN * (example.name == FIRST),
            -place,
            example,
        )
        for place, example in enumerate(examples, 1)
    ]
    best = sorted(scored, key=lambda entry: entry[:2], reverse=True)[:count]
    return tuple(entry[2] for entry in reversed(best))


def count_words(text: str) -> Counter[str]:
    """The words that count, in their stems."""
    return Counter(_stem(word) for word in WORD.findall(text.casefold()) if word not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _vectors(counted: Sequence[Counter[str]]) -> list[dict[str, float]]:
    documents: Counter[str] = Counter(word for words in counted for word in words)
    total = len(counted)
    return [
        {word: (1 + math.log(n)) * math.log(1 + total / documents[word]) for word, n in words.items()}
        for words in counted
    ]


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    product = math.fsum(weight * other[word] for word, weight in one.items() if word in other)
    sizes = math.sqrt(math.fsum(w * w for w in one.values()) * math.fsum(w * w for w in other.values()))
    return product / sizes if sizes else 0.0
