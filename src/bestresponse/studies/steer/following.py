"""Whether speakers did what they were told: a classifier reads the manner out of each message.

The follow rate is the share of messages whose manner the classifier names right, among those it answers readably
(Gemp et al. 2024, section 4). Neutral messages are left out: they were told nothing. For a held-out judgement the
classifier should be another model than the speaker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bestresponse.core.ask import Choice
from bestresponse.core.errors import InvalidMove
from bestresponse.core.json import digest
from bestresponse.core.player import Reading, Status
from bestresponse.games.dialogue import prompt_key
from bestresponse.games.dialogue_domain import Actions
from bestresponse.games.dialogue_recorded import Book, Entry, RecordedDialogue
from bestresponse.games.dialogue_texts import TEXTS
from bestresponse.models.base import Message, Model, Request

__all__ = ["Followed", "follow_rate", "spoken_messages"]


@dataclass(frozen=True, slots=True)
class Followed:
    """How many messages were followed, judged and unreadable, and the calls it took."""

    followed: int = 0
    judged: int = 0
    unreadable: int = 0
    calls: int = 0

    @property
    def rate(self) -> float | None:
        return self.followed / self.judged if self.judged else None

    def __add__(self, other: Followed) -> Followed:
        return Followed(
            self.followed + other.followed,
            self.judged + other.judged,
            self.unreadable + other.unreadable,
            self.calls + other.calls,
        )


def spoken_messages(game: RecordedDialogue) -> dict[tuple[str, str], int]:
    """Every different (manner, text) on record in the tree of `game`, and how often it was drawn."""
    drawn: dict[str, dict[tuple[str, str], int]] = {}
    stack = [game.start()]
    while stack:
        state = stack.pop()
        if state.manner:
            role = game.roles[game.live.turn(state)]
            key = prompt_key(game.view(state, role))
            manner, _ = game.live.addressed(state.manner, game.live.turn(state))
            drawn[key] = {(manner, text): times for text, times in game.book.wordings(key, game.wordings).items()}
        for role, ask in game.asks(state).items():
            moves = ask.options if isinstance(ask, Choice) else [outcome for outcome, _ in ask.chances]  # type: ignore[union-attr]
            stack.extend(game.apply(state, {role: move}) for move in moves)
    return dict(sum((Counter(counts) for counts in drawn.values()), Counter()))


def follow_rate(
    messages: Mapping[tuple[str, str], int],
    manners: Actions,
    model: Model,
    book: Book,
    keep: Callable[[Entry], None] = lambda entry: None,
) -> Followed:
    """Let `model` name the manner of every message that was told one."""
    total = Followed()
    for (manner, text), times in messages.items():
        if manner == manners.neutral:
            continue
        key = f"follow:{model.id}:{digest([text, list(manners.options)], 24)}"
        entry = book.get(key)
        asked = int(entry is None)
        if entry is None:
            entry = _classified(key, text, manners, model)
            book.add(entry)
            keep(entry)
        readable = times * (entry.text is not None)
        total += Followed(times * (entry.text == manner), readable, times - readable, asked)
    return total


def _classified(key: str, text: str, manners: Actions, model: Model) -> Entry:
    told = "\n".join(f"- {option}: {manners.texts[option]}" for option in manners.options)
    content = TEXTS.fill("dialogue_classify", text=text, manners=told)
    messages = (Message("system", TEXTS.text("dialogue_classifier")), Message("user", content))
    choices = manners.options if model.abilities.choices else ()
    reply = model.complete(Request(messages, max_tokens=20, choices=choices))
    try:
        named = Choice(manners.options).read(reply.text.strip().strip("\"'.`*"))
    except InvalidMove as error:
        return Entry(key, 0, None, model.id, Reading(Status(error.kind.value), str(error)), reply.text[:500])
    return Entry(key, 0, named, model.id)
