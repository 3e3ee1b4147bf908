"""What an agent remembers of the rounds gone by: all, a window, or a summary with the last few.

Games that go over rounds tell them apart in their facts: `past` holds one text a round, `now` the present one. The
view of a game that does not is left as it is. An agent's own earlier replies stand beside the rounds they belong to
(`add_own_words`), as in S. Mao et al., "ALYMPICS", 2024, equation 1.

    full        every round
    window:N    the last N rounds (5 where no number is given)
    summary:N   the last N rounds (3), and a summary of the earlier ones that the model itself writes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bestresponse.core.errors import UsageError
from bestresponse.core.game import View
from bestresponse.core.registry import did_you_mean
from bestresponse.players.llm.reasoning import Thinker
from bestresponse.players.llm.texts import TEXTS

__all__ = ["MEMORIES", "Memory", "add_own_words", "memory"]

Memory = Callable[[Thinker, View], View]


def full(thinker: Thinker, view: View) -> View:
    """Remember everything."""
    return view


def window(size: int, thinker: Thinker, view: View) -> View:
    """Remember the last `size` rounds."""
    past = list(view.facts.get("past", ()))
    if len(past) <= size:
        return view
    gap = TEXTS.fill("agent_forgotten", count=len(past) - size)
    return _retold(view, [gap, *past[-size:]])


def summary(size: int, thinker: Thinker, view: View) -> View:
    """Remember the last `size` rounds, and a summary of those before."""
    past = list(view.facts.get("past", ()))
    if len(past) <= size:
        return view
    text = thinker.say(TEXTS.fill("agent_summary", past="\n\n".join(past[:-size])))
    return _retold(view, [TEXTS.fill("agent_summarised", summary=text), *past[-size:]])


def _retold(view: View, past: list[str]) -> View:
    return replace(view, situation="\n\n".join((*past, view.facts.get("now", ""))))


def add_own_words(view: View, replies: Sequence[str]) -> View:
    """Put what an agent said in each round gone by below that round; without rounds, below all it is shown."""
    past = list(view.facts.get("past", ()))
    if not any(replies):
        return view
    if len(past) != len(replies):
        said = "\n".join(f"- {words}" for words in replies if words)
        return replace(view, notes=(*view.notes, TEXTS.fill("agent_said", words=said)))
    rounds = [
        f"{told}\n{TEXTS.fill('agent_own_words', words=words)}" if words else told
        for told, words in zip(past, replies, strict=True)
    ]
    return _retold(replace(view, facts={**view.facts, "past": rounds}), rounds)


MEMORIES: dict[str, Memory] = {"full": full, "window": partial(window, 5), "summary": partial(summary, 3)}


def memory(name: str) -> Memory:
    """The memory of that name; a number after a colon says how many rounds are kept word by word."""
    plain, colon, size = name.partition(":")
    if plain not in MEMORIES or (colon and plain == "full"):
        known = ", ".join(MEMORIES)
        raise UsageError(f"there is no memory {name!r}; known: {known}.{did_you_mean(plain, list(MEMORIES))}")
    if not colon:
        return MEMORIES[plain]
    if not size.isdecimal() or not 1 <= int(size) <= 10_000:
        raise UsageError(f"{name!r}: expected a number of rounds after the colon, such as {plain}:5")
    return partial(window if plain == "window" else summary, int(size))
