"""How messages and rulings are read by others: is a manner recognised, and do two referees agree?

The follow rate is the share of messages whose manner the classifier names right, among those it answers readably
(Gemp et al. 2024, section 4). Neutral messages are left out: they were told nothing. A classifier is held out if it
is another model than the speaker.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bestresponse.core.ask import Choice, Lottery
from bestresponse.core.errors import InvalidMove
from bestresponse.core.game import REFEREE
from bestresponse.core.player import Player, Reading, Status
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import Dialogue, Entry, RecordedDialogue, prompt_key
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Reply, Request
from bestresponse.studies.steer.building import AnswerStore, second_key

Messages = Mapping[tuple[str, str], int]
"""How often each (manner, text) was drawn."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How often each told manner was named as which (times drawn), and messages left unreadable."""

    named: Messages = field(default_factory=dict)
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Opinions:
    """Pairs of payoffs (one per speaker and dialogue) on which both ruled, and dialogues the second left void."""

    pairs: tuple[tuple[float, float], ...] = ()
    void: int = 0


def list_dialogue_states(game: RecordedDialogue) -> Iterator[Dialogue]:
    """Yield every state of the dialogues on record."""
    stack = [game.start()]
    while stack:
        state = stack.pop()
        yield state
        for role, ask in game.asks(state).items():
            match ask:
                case Choice(options):
                    stack += [game.apply(state, {role: option}) for option in options]
                case Lottery(chances):
                    stack += [game.apply(state, {role: outcome}) for outcome, _ in chances]


def compare_rulings(game: RecordedDialogue, second: Player, answers: AnswerStore) -> Opinions:
    """Put the recorded rulings of `game` beside those of `second` on the same dialogues."""
    pairs: list[tuple[float, float]] = []
    void = 0
    for state in list_dialogue_states(game):
        entry = answers.find(second_key(second, game.live.view(state, REFEREE))) if state.over else None
        if entry is None:
            continue
        if entry.text is None:
            void += 1
            continue
        ruling = json.loads(entry.text)
        other = ruling.get("payoffs") or game.live.domain.deal.utilities(ruling, game.live.cases[state.case].private)
        pairs += zip(map(float, game.payoffs(state).values()), map(float, other), strict=True)
    return Opinions(tuple(pairs), void)


def spoken_messages(game: RecordedDialogue) -> Messages:
    """Return every different (manner, text) on record in the tree of `game`, and how often it was drawn."""
    drawn: dict[str, Messages] = {}
    for state in list_dialogue_states(game):
        if state.manner:
            seat = game.live.turn(state)
            key = prompt_key(game.view(state, game.roles[seat]))
            manner, _ = game.live.addressed(state.manner, seat)
            drawn[key] = {(manner, text): times for text, times in game.book.wordings(key, game.wordings).items()}
    return dict(sum((Counter(counts) for counts in drawn.values()), Counter()))


def follow_rate(messages: Messages, manners: Actions, model: Model, answers: AnswerStore, workers: int = 1) -> Followed:
    """Let `model` name the manner of every message that was told one, several at the same time."""
    told = [(manner, text) for manner, text in messages if manner != manners.neutral]

    described = "\n".join(f"- {option}: {manners.texts[option]}" for option in manners.options)
    choices = manners.options if model.abilities.choices else ()

    def read(reply: Reply) -> tuple[str | None, Reading]:
        try:
            return Choice(manners.options).read(reply.text.strip().strip("\"'.`*")), Reading()
        except InvalidMove as error:
            return None, Reading(Status(error.kind.value), str(error))

    def name(message: tuple[str, str]) -> Entry:
        content = TEXTS.fill("dialogue_classify", text=message[1], manners=described)
        prompt = (Message("system", TEXTS.text("dialogue_classifier")), Message("user", content))
        return answers.ask_model("follow", model, Request(prompt, max_tokens=20, choices=choices), read)

    with ThreadPoolExecutor(workers, thread_name_prefix="follow") as pool:
        entries = list(pool.map(name, told))
    named: Counter[tuple[str, str]] = Counter()
    unreadable = 0
    for message, entry in zip(told, entries, strict=True):
        if entry.text is None:
            unreadable += messages[message]
        else:
            named[message[0], entry.text] += messages[message]
    return Followed(dict(named), unreadable)
