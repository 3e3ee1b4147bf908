"""Whether speakers did what they were told: a classifier reads the manner out of each message.

The follow rate is the share of messages whose manner the classifier names right, among those it answers readably
(Gemp et al. 2024, section 4). Neutral messages are left out: they were told nothing. A classifier is held out if it
is another model than the speaker, or a network that was trained on the messages of other games only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bestresponse.core.ask import Choice
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.json import digest
from bestresponse.core.player import Reading, Status
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import prompt_key
from bestresponse.games.dialogue.recorded import Book, Entry, RecordedDialogue
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Request
from bestresponse.studies.steer.reading.embedding import Embedding
from bestresponse.studies.steer.reading.network import Network, Training, train

__all__ = ["Followed", "follow_rate", "learned_follow", "spoken_messages"]

_FOLDS = 5
_STEPS = 200


@dataclass(frozen=True, slots=True)
class Followed:
    """How often each told manner was named as which (times drawn), messages left unreadable, and the calls it took."""

    named: Mapping[tuple[str, str], int] = field(default_factory=dict)
    unreadable: int = 0
    calls: int = 0

    @property
    def judged(self) -> int:
        """The messages whose tone was told."""
        return sum(self.named.values())

    @property
    def followed(self) -> int:
        """The messages written in the tone that was asked for."""
        return sum(times for (told, named), times in self.named.items() if told == named)

    @property
    def rate(self) -> float | None:
        """The share of messages that followed; None where none was judged."""
        return self.followed / self.judged if self.judged else None


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
    named: Counter[tuple[str, str]] = Counter()
    unreadable = calls = 0
    for (manner, text), times in messages.items():
        if manner == manners.neutral:
            continue
        key = f"follow:{model.id}:{digest([text, list(manners.options)], 24)}"
        entry = book.get(key)
        if entry is None:
            entry = _classified(key, text, manners, model)
            calls += 1
            book.add(entry)
            keep(entry)
        if entry.text is None:
            unreadable += times
        else:
            named[manner, entry.text] += times
    return Followed(dict(named), unreadable, calls)


def learned_follow(
    games: Sequence[Mapping[tuple[str, str], int]], manners: Actions, embed: Embedding, seed: int = 0
) -> list[Followed]:
    """For every game, what a network names that was trained on the messages of games outside its fold."""
    folds = min(_FOLDS, len(games))
    if folds < 2:
        raise UsageError("a classifier that learns from other games needs at least 2 games")
    found: list[Followed] = [Followed()] * len(games)
    for fold in range(folds):
        learned = [item for number, one in enumerate(games) if number % folds != fold for item in one.items()]
        network = _fitted(learned, manners, embed, seed)
        for number in range(fold, len(games), folds):
            found[number] = _named(games[number], manners, embed, network)
    return found


def _fitted(learned: Sequence[tuple[tuple[str, str], int]], manners: Actions, embed: Embedding, seed: int) -> Network:
    counts: dict[str, Counter[str]] = {}
    for (manner, text), times in learned:
        counts.setdefault(text, Counter())[manner] += times
    targets = np.array([[drawn[option] / drawn.total() for option in manners.options] for drawn in counts.values()])
    return train(embed(list(counts)), targets, Training(steps=_STEPS, seed=seed))


def _named(messages: Mapping[tuple[str, str], int], manners: Actions, embed: Embedding, network: Network) -> Followed:
    told = [(item, times) for item, times in messages.items() if item[0] != manners.neutral]
    if not told:
        return Followed()
    named: Counter[tuple[str, str]] = Counter()
    guesses = network(embed([text for (_, text), _ in told])).argmax(axis=1)
    for ((manner, _), times), guess in zip(told, guesses, strict=True):
        named[manner, manners.options[int(guess)]] += times
    return Followed(dict(named))


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
