"""A referee without a model: the item that the last message of everybody names is what was agreed.

A message that names no item, or more than one, agrees to nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bestresponse.core.ask import Ask
from bestresponse.core.game import View
from bestresponse.core.json import canonical
from bestresponse.core.player import Decision
from bestresponse.games.dialogue.deals.option import Option

__all__ = ["LastNamed", "find_named", "read_last_messages"]

_HEAD = re.compile(r"\[\d+\] From (.+) to .+:")


@dataclass(frozen=True, slots=True)
class LastNamed:
    """Rules by the last message of each speaker."""

    deal: Option
    name: str = "rule: named last"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Say what was agreed, as data."""
        names: list[str] = view.facts["names"]
        last = read_last_messages(view.situation, names)
        named = [find_named(self.deal.items, text) for text in last]
        choice = named[0] if len(set(named)) == 1 else None
        return Decision(canonical({"agreed": choice is not None, "choice": choice}))


def find_named(items: tuple[str, ...], text: str) -> str | None:
    """Return the one item that the text names, None where it names none or several.

    >>> find_named(("Monday", "Tuesday"), "Let us say tuesday!")
    'Tuesday'
    """
    found = [item for item in items if re.search(rf"\b{re.escape(item)}\b", text, re.IGNORECASE)]
    return found[0] if len(found) == 1 else None


def read_last_messages(transcript: str, names: list[str]) -> list[str]:
    """Return the last message of each person in a transcript, empty where there is none."""
    last = dict.fromkeys(names, "")
    speaker = ""
    for line in transcript.split("\n"):
        if head := _HEAD.fullmatch(line):
            speaker = head[1]
            last[speaker] = ""
        elif line.startswith(">") and speaker:
            last[speaker] += line[1:] + "\n"
    return [last[name] for name in names]
