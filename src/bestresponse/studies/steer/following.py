"""How messages and rulings are read by others: is a manner recognised, and do two referees agree?

The follow rate is the share of messages whose manner the classifier names right, among those it
answers readably (Gemp et al. 2024, section 4). Neutral messages are left out: they were told
nothing. A classifier is held out if it is another model than the speaker. Of several that one is
taken which names most of the domain's labelled messages right, the first of these where they tie.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bestresponse.core.ask import Choice, Lottery
from bestresponse.core.errors import InvalidMove
from bestresponse.core.game import REFEREE
from bestresponse.core.player import Player, Reading, Status
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import (
    Dialogue,
    Entry,
    RecordedDialogue,
    prompt_key,
)
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, ModelsByName, Reply, Request
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.building import second_key

Messages = Mapping[tuple[str, str], int]
"""How often each (manner, text) was drawn."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How often each told manner was named as which by the classifier `by`.

    Messages count as often as they were drawn. Unreadable ones are counted separately.

    `tested` has for every classifier pairs of the manner of a labelled message and the one that was
    named, None where it was unreadable.
    """

    named: Messages = field(default_factory=dict)
    unreadable: int = 0
    by: str = ""
    tested: Mapping[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opinions:
    """Pairs of payoffs on which both ruled, and dialogues the second left void.

    There is one pair per speaker and dialogue.
    """

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
        if not state.over:
            continue
        entry = answers.find(second_key(second, game.live.view(state, REFEREE)))
        if entry is None:
            continue
        if entry.text is None:
            void += 1
            continue
        ruling = json.loads(entry.text)
        other = ruling.get("payoffs") or game.live.domain.deal.utilities(
            ruling, game.live.cases[state.case].private
        )
        first = game.payoffs(state).values()
        pairs += zip(map(float, first), map(float, other), strict=True)
    return Opinions(tuple(pairs), void)


def spoken_messages(game: RecordedDialogue) -> Messages:
    """Return every different (manner, text) on record in the tree of `game`.

    Also returns how often each was drawn.
    """
    drawn: dict[str, Messages] = {}
    for state in list_dialogue_states(game):
        if state.manner:
            seat = game.live.turn(state)
            key = prompt_key(game.view(state, game.roles[seat]))
            manner, _ = game.live.addressed(state.manner, seat)
            wordings = game.book.wordings(key, game.wordings)
            drawn[key] = {(manner, text): times for text, times in wordings.items()}
    total: Counter[tuple[str, str]] = Counter()
    for counts in drawn.values():
        total += Counter(counts)
    return dict(total)


def follow_rate(
    messages: Messages,
    manners: Actions,
    models: ModelsByName,
    answers: AnswerStore,
    workers: int = 1,
) -> Followed:
    """Let the best of `models` name the manner of every message that was told one."""
    known = [(manner, text) for text, manner in manners.labelled]
    tested = {}
    for name, model in models.items():
        entries = name_manners(known, manners, model, answers, workers)
        pairs = zip(known, entries, strict=True)
        tested[name] = tuple((manner, entry.text) for (manner, _), entry in pairs)
    best = max(models, key=lambda name: share_named_right(tested[name]) or 0.0)
    guided = [(manner, text) for manner, text in messages if manner != manners.neutral]
    entries = name_manners(guided, manners, models[best], answers, workers)
    named: Counter[tuple[str, str]] = Counter()
    unreadable = 0
    for message, entry in zip(guided, entries, strict=True):
        if entry.text is None:
            unreadable += messages[message]
        else:
            named[message[0], entry.text] += messages[message]
    return Followed(dict(named), unreadable, best, tested)


def share_named_right(tested: Sequence[tuple[str, str | None]]) -> float | None:
    """Return the share of labelled messages that were named right; None where there are none."""
    if not tested:
        return None
    right = [manner for manner, named in tested if manner == named]
    return len(right) / len(tested)


def name_manners(
    messages: Sequence[tuple[str, str]],
    manners: Actions,
    model: Model,
    answers: AnswerStore,
    workers: int = 1,
) -> list[Entry]:
    """Let `model` name the manner of each (manner, text), several at the same time."""
    # How a writer is told a manner and, where the domain defines it, how a reader recognises it.
    lines = []
    for option in manners.options:
        definition = manners.definitions.get(option, "")
        lines.append(f"- {option}: {manners.texts[option]} {definition}".rstrip())
    described = "\n".join(lines)
    choices = manners.options if model.abilities.choices else ()

    def read(reply: Reply) -> tuple[str | None, Reading]:
        try:
            return Choice(manners.options).read(reply.text.strip().strip("\"'.`*")), Reading()
        except InvalidMove as error:
            return None, Reading(Status(error.kind.value), str(error))

    def name(message: tuple[str, str]) -> Entry:
        content = TEXTS.fill("dialogue_classify", text=message[1], manners=described)
        prompt = (Message("system", TEXTS.text("dialogue_classifier")), Message("user", content))
        return answers.ask_model(
            "follow",
            model,
            Request(prompt, max_tokens=20, choices=choices),
            read,
        )

    with ThreadPoolExecutor(workers, thread_name_prefix="follow") as pool:
        return list(pool.map(name, messages))
