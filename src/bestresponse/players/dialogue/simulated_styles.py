"""What the simulated speaker's manners do: the numbers of its stochastic model.

    firmness   how likely a speaker insists instead of yielding, refuses instead of accepting (negotiations)
    edge       how much likelier than even a rebuttal in one style answers a point made in another (debates)

The first sentence of a message shows its manner; with probability SLIP it is the neutral one instead.
"""

from __future__ import annotations

import re

from bestresponse.core.seeds import generator

__all__ = ["CYCLE", "EDGE", "FIRMNESS", "NEUTRAL", "SLIP", "edge", "firmness", "manner_in", "opener", "shown_in"]

FIRMNESS = {
    "submissive": 0.1, "friendly": 0.25, "sad": 0.3, "calm": 0.4, "any": 0.5, "happy": 0.5, "enthusiastic": 0.6,
    "frank": 0.7, "angry": 0.75, "assertive": 0.8, "stubborn": 1.0,
}  # fmt: skip
"""Manners of negotiation, from soft to hard. Any other word has a firmness of its own between 0.2 and 0.8."""

CYCLE = ("logos", "pathos", "ethos")
"""Each style beats the next one, the last the first, and every one of them any other manner."""

EDGE = 0.3
SLIP = 0.1
NEUTRAL = "any"
_OPENERS = {
    NEUTRAL: "Hello.",
    "calm": "There is no hurry.",
    "assertive": "Let me be clear.",
    "submissive": "I do not want to be in your way.",
    "logos": "The facts are plain.",
    "ethos": "I have worked on this for years.",
    "pathos": "Think of those it hurts.",
}
_OTHER = re.compile(r"^Let me say it in a way that is ([\w -]+)\.")


def firmness(manner: str) -> float:
    """How hard a speaker of that manner is, between 0 and 1."""
    if manner in FIRMNESS:
        return FIRMNESS[manner]
    return round(generator(0, "firmness", manner).uniform(0.2, 0.8), 2)


def edge(manner: str, against: str) -> float:
    """By how much a rebuttal in `manner` beats even chances against a point made in `against`."""
    if manner in CYCLE and against in CYCLE:
        step = (CYCLE.index(against) - CYCLE.index(manner)) % 3
        return EDGE * (0, 1, -1)[step]
    return EDGE * ((manner in CYCLE) - (against in CYCLE))


def opener(manner: str) -> str:
    """The sentence that shows a manner."""
    return _OPENERS.get(manner, f"Let me say it in a way that is {manner}.")


def shown_in(text: str) -> str:
    """The manner that a message shows; the neutral one where it shows none."""
    for manner, sentence in _OPENERS.items():
        if text.startswith(sentence):
            return manner
    other = _OTHER.match(text)
    return str(other[1]) if other else NEUTRAL


def manner_in(instruction: str) -> str:
    """The manner that an instruction such as 'Write in a calm tone.' names."""
    words = re.findall(r"[\w-]+", instruction.casefold())
    known = [str(word) for word in words if word in FIRMNESS or word in CYCLE]
    if known:
        return known[0]
    named = re.search(r"in an? ([\w -]+?) (?:tone|manner|style)", instruction.casefold())
    return str(named[1]) if named else NEUTRAL
