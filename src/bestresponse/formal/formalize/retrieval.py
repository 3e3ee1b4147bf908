"""Which example is nearest to a story: words in common, weighted by how rare they are.

Cosine similarity of tf-idf vectors (Salton and Buckley, "Term-weighting approaches in automatic text retrieval",
Information Processing & Management 24, 1988). Words that tell how a game is built (who moves after whom, how many
players, bids and shares) are folded into cues and weigh more than the furniture of the story; a story without any cue
is nearest to the prisoner's dilemma, the plainest of games.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from bestresponse.formal.formalize.cues import WORD, count_cues
from bestresponse.formal.formalize.examples import FIRST, Example

_CUE_SHARE = 0.75
_PLAIN = 0.1
_STOP_WORDS = (
    "a an and are as at be both but by can each either for from get gets has have he her him his if in is it its of on "
    "one or other she so that the their them they this to two was we were when whether which while who will with "
    "would you your than more much into out up does do not no nobody neither nor"
)
_STOP = frozenset(_STOP_WORDS.split())


def nearest(story: str, examples: Sequence[Example], count: int = 1) -> tuple[Example, ...]:
    """The `count` examples most like `story`, the nearest last, where a model remembers it best.

    >>> from bestresponse.formal.formalize.examples import library
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
