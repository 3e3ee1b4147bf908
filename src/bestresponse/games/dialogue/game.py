"""A dialogue as a game in extensive form, live and on record.

Speakers take turns. The one whose turn it is chooses a manner (a tone, a day, a style; with three
or more speakers also whom to address), then voices it: every choice is voiced, also the last. After
the last message, or after each one where a referee may end the talk early, the referee says what
was agreed. A speaker's information set holds its private information, its own choices and the
public transcript, so recall is perfect; other speakers' choices stay hidden. With `summaries` it
holds, instead of the transcript, a summary by the referee for each of the speaker's own turns: what
was observed earlier is kept, so recall stays perfect. Where the deal is
about moves (`deals.Moves`), everybody hands in a sealed note after the talk: one more message each,
in the same manners, that the others do not read.

    nature       draws the private information, where several draws are possible
    player 1..n  a Choice of manner, then Words
    referee      Words: a JSON object, the deal (see `deals`) or payoffs; or a summary

In a `PlainDialogue`, which is what people play, nobody chooses a manner first: every seat writes in
the neutral manner of the domain, so that a turn is one message.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, section 2.

The live game asks speakers for words and a referee for rulings. A `Book` holds the answers, each by
the question's words, so a question asked twice has one answer. `RecordedDialogue` is the game that
needs nobody but the choosers of manners: nature picks among the stored wordings of a choice. What
the book does not tell, or tells unreadably, cannot happen: such a wording is not drawn (the others
share its probability), a choice without any wording is not offered. A book cut short therefore
still makes a valid game, and no payoff is made up.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from bestresponse.core.ask import Ask, Choice, Lottery, Words
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import NATURE, REFEREE, Action, Role, View
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.player import Reading, Status
from bestresponse.core.told import prose, spell_told
from bestresponse.games.dialogue.domain import (
    Actions,
    Domain,
    Scenario,
    load_domain,
    scenarios,
    variants,
)
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.games.texts import join_words

_LONGEST_RULING = 20_000
_RANGES = {"seed": (0, 2**31 - 1), "cases": (1, 100), "replies": (1, 50)}
PERSON = "person"
"""Who gave an answer that a person wrote in place of a model."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message: who spoke, in which manner, to whom, and the words."""

    seat: int
    manner: str
    to: int
    text: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A talk so far: the draw of private information, what was said, a manner not yet voiced, the
    last ruling."""

    case: int
    said: tuple[Spoken, ...] = ()
    manner: str = ""
    ruling: str = ""
    over: bool = False
    summaries: tuple[str, ...] = ()
    """One for each message that somebody answers, written for whoever answers it."""


@dataclass(frozen=True, eq=False)
class DialogueGame:
    """A dialogue of `domain` among the people of `cases`, which differ in private information only.

    `replies` is how many messages each speaker writes; with `early_end` the referee rules after
    every message and an agreement ends the talk. With `summaries` a manner is chosen by a summary
    of the talk; the words are still written by whoever has read the transcript.
    """

    domain: Domain
    cases: tuple[Scenario, ...]
    manners: Actions
    replies: int = 1
    early_end: bool = False
    longest: int = 4000
    summaries: bool = False
    _texts: dict[tuple[Any, ...], str] = field(init=False, default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.replies < 1:
            raise UsageError(f"each speaker needs at least 1 reply, got {self.replies}")
        if not self.cases or any(case.names != self.cases[0].names for case in self.cases):
            raise UsageError("the cases of a dialogue are among the same people, at least one case")

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"{self.domain.name} dialogue"

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.domain.version

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return tuple(f"player {seat + 1}" for seat in range(self.domain.players))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the speakers."""
        return self.cases[0].names

    @property
    def messages(self) -> int:
        """How many messages a talk has that is not ended early, sealed notes among them."""
        return (self.replies + self.domain.deal.sealed) * self.domain.players

    def is_sealed(self, number: int) -> bool:
        """Tell whether message `number`, counted from 0, is a sealed note."""
        return number >= self.replies * self.domain.players

    def start(self) -> Dialogue:
        """Return the state before anybody has moved."""
        return Dialogue(case=0 if len(self.cases) == 1 else -1)

    def asks(self, state: Dialogue) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.case < 0:
            return {NATURE: Lottery.uniform(tuple(range(len(self.cases))))}
        if state.over:
            return {}
        if self.to_rule(state):
            return {REFEREE: Words(_LONGEST_RULING)}
        if self.to_sum_up(state):
            return {REFEREE: Words(self.longest)}
        role = self.roles[self.turn(state)]
        return {
            role: Words(self.longest) if state.manner else Choice(self.options(self.turn(state)))
        }

    def turn(self, state: Dialogue) -> int:
        """The seat that speaks next."""
        return len(state.said) % self.domain.players

    def to_rule(self, state: Dialogue) -> bool:
        """Whether it is the referee's turn."""
        return self.rules_after(len(state.said)) and not state.manner and not state.ruling

    def to_sum_up(self, state: Dialogue) -> bool:
        """Whether the next speaker waits for a summary of the talk."""
        return (
            self.summaries
            and not state.over
            and not state.manner
            and len(state.summaries) < len(state.said)
        )

    def rules_after(self, num_messages: int) -> bool:
        """Whether the referee rules once so many messages were said."""
        early = self.early_end and not self.domain.deal.sealed
        return num_messages == self.messages or (early and num_messages >= self.domain.players)

    def options(self, seat: int) -> tuple[str, ...]:
        """The choices of a seat; with three or more speakers each names whom it addresses, never
        oneself."""
        if self.domain.players == 2:
            return self.manners.options
        others = [name for other, name in enumerate(self.names) if other != seat]
        return tuple(f"{manner}, to {name}" for manner in self.manners.options for name in others)

    def neutral(self, seat: int) -> tuple[str, ...]:
        """The choices of a seat that give no guidance about the manner."""
        plain = self.manners.neutral
        return tuple(
            choice
            for choice in self.options(seat)
            if choice == plain or choice.startswith(f"{plain}, to ")
        )

    def with_seed(self, seed: int) -> DialogueGame:
        """Return the dialogue with the people and the private information that the seed draws."""
        return replace(self, cases=(scenarios(self.domain, seed, 1)[0],))

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        ((role, move),) = moves.items()
        if role == NATURE:
            return replace(state, case=move)
        if role == REFEREE and not self.to_rule(state):
            return replace(state, summaries=(*state.summaries, move))
        if role == REFEREE:
            ruling = json.loads(move)
            settled = "payoffs" in ruling or self.domain.deal.settled(ruling)
            return replace(state, ruling=move, over=settled or len(state.said) == self.messages)
        if not state.manner:
            return replace(state, manner=move)
        seat = self.turn(state)
        spoken = Spoken(seat, *self.addressed(state.manner, seat), move)
        return replace(state, said=(*state.said, spoken), manner="", ruling="")

    def addressed(self, choice: str, seat: int) -> tuple[str, int]:
        """The manner and the addressee that a choice stands for."""
        if self.domain.players == 2:
            return choice, 1 - seat
        manner, _, name = choice.rpartition(", to ")
        return manner, self.names.index(name)

    def payoffs(self, state: Dialogue) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if not state.over:
            return dict.fromkeys(self.roles, 0.0)
        ruling = json.loads(state.ruling)
        values = ruling.get("payoffs") or self.domain.deal.utilities(
            ruling, self.cases[state.case].private
        )
        return {role: float(value) for role, value in zip(self.roles, values, strict=True)}

    def view(self, state: Dialogue, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            messages = [[s.seat, s.manner, s.to, s.text] for s in state.said]
            return View(
                NATURE, prose(self.name), facts={"state": [state.case, messages, state.manner]}
            )
        if role == REFEREE and not self.to_rule(state) and self.to_sum_up(state):
            return self._observer_view(state)
        if role == REFEREE:
            return self._referee_view(state)
        return self._speaker_view(state, self.roles.index(role))

    def _speaker_view(self, state: Dialogue, seat: int) -> View:
        scenario = self.cases[max(state.case, 0)]
        heard = self._list_heard(state, seat)
        situation = self._transcript(heard)
        facts = {
            "seat": seat,
            "private": dict(scenario.private[seat]),
            "public": dict(scenario.public),
            "own": [line.manner + f" to {line.to}" for line in state.said if line.seat == seat],
            "said": [[line.seat, line.to, line.text] for line in heard],
        }
        if self.summaries and not state.over and not state.manner:
            observed = self._list_observed(state, seat)
            situation = self._sum_up(observed)
            facts["said"] = [[None, seat, summary] for summary in observed]
        if not state.over and self.turn(state) == seat:
            situation += "\n\n" + self._protocol(len(state.said) + 1)
        if state.manner and self.turn(state) == seat:
            situation += "\n\n" + self._instruction(state, seat)
            facts["manner"], _ = self.addressed(state.manner, seat)
        return View(
            self.roles[seat],
            prose(f"{self._task(state)}\n\n{self._private_text(state, seat)}"),
            prose(situation),
            facts,
        )

    def _list_heard(self, state: Dialogue, seat: int) -> list[Spoken]:
        """List the messages that a seat may read; at the end sealed notes are opened."""
        return [
            line
            for number, line in enumerate(state.said)
            if state.over or line.seat == seat or not self.is_sealed(number)
        ]

    def _list_observed(self, state: Dialogue, seat: int) -> list[str]:
        """List the summaries that were written for a seat, one for each of its turns."""
        return [
            summary
            for number, summary in enumerate(state.summaries, 1)
            if number % self.domain.players == seat
        ]

    def _sum_up(self, observed: Sequence[str]) -> str:
        """Tell a speaker the summaries of the talk, quoted like messages."""
        if not observed:
            return TEXTS.text("dialogue_silence")
        quoted = "\n\n".join(_quote(summary) for summary in observed)
        return TEXTS.fill("dialogue_observed", summaries=quoted)

    def _observer_view(self, state: Dialogue) -> View:
        """Ask for a summary for the next speaker: the messages it may read between two texts, which
        the domain may word itself."""
        seat = self.turn(state)
        scenario = self.cases[state.case]
        places = {
            "names": join_words(self.names),
            "me": self.names[seat],
            **scenario.public,
            **self.domain.deal.fill_public(),
        }
        asked = TEXTS.fill(
            "dialogue_observe",
            task=self._task(state),
            prefix=self.domain.fill("summary_prefix", places),
            transcript=self._transcript(self._list_heard(state, seat)),
            postfix=self.domain.fill("summary_postfix", places),
        )
        return View(REFEREE, prose(asked), facts={"summary_for": seat})

    def _once(self, key: tuple[object, ...], write: Callable[[], str]) -> str:
        """A text that many positions share, written once."""
        if key not in self._texts:
            self._texts[key] = write()
        return self._texts[key]

    def _private_text(self, state: Dialogue, seat: int) -> str:
        """What a seat is told about itself."""
        case = max(state.case, 0)
        return self._once(
            (case, seat),
            lambda: self.domain.fill("private", self._placeholders(self.cases[case], seat)),
        )

    def _protocol(self, number: int) -> str:
        """Tell the writer of message `number` how many are left, its own among them, and what
        happens at the end."""
        if self.is_sealed(number - 1):
            return TEXTS.fill("dialogue_sealed", ending=self.domain.deal.ending)
        left = self.replies * self.domain.players - number
        own_left = left // self.domain.players
        rest = "After it the talk ends."
        if left:
            come = "comes 1 more message" if left == 1 else f"come {left} more messages"
            rest = (
                f"After it {come}{f', {own_left} of them yours' if own_left else ''}, and then the"
                " talk ends."
            )
        ending = "An agreement of all ends the talk at once. " if self.early_end else ""
        if self.domain.deal.sealed:
            ending = "Then each of you hands in a sealed note. "
        return TEXTS.fill(
            "dialogue_protocol",
            number=number,
            messages=self.replies * self.domain.players,
            rank=(
                ""
                if own_left
                else ", your last one"
                if left
                else ", the last of all: nobody can answer it"
            ),
            rest=rest,
            ending=ending + self.domain.deal.ending,
        )

    def _instruction(self, state: Dialogue, seat: int) -> str:
        """What a seat is told about its next message."""

        def write() -> str:
            manner, to = self.addressed(state.manner, seat)
            placeholders = self._placeholders(self.cases[state.case], seat) | {
                "other": self.names[to]
            }
            how, what = (
                self.manners.texts[manner],
                self.domain.fill("note" if sealed else "message", placeholders),
            )
            return TEXTS.fill("dialogue_speak", how=how, what=what)

        sealed = self.is_sealed(len(state.said))
        return self._once((state.case, seat, state.manner, sealed), write)

    def _referee_view(self, state: Dialogue) -> View:
        scenario = self.cases[max(state.case, 0)]
        facts = {
            "names": list(self.names),
            "private": [dict(known) for known in scenario.private],
            "public": dict(scenario.public),
            "told": [self._private_text(state, seat) for seat in range(len(self.names))],
            "said": [(message.seat, message.text) for message in state.said],
        }
        return View(REFEREE, prose(self._task(state)), prose(self._transcript(state.said)), facts)

    def _task(self, state: Dialogue) -> str:
        """What all are told: the domain's task, and the situation where there is one."""
        public = self.cases[max(state.case, 0)].public

        def write() -> str:
            placeholders = {
                "names": join_words(self.names),
                **self.domain.deal.fill_public(),
                **public,
            }
            task = self.domain.fill("task", placeholders)
            return " ".join(part for part in (task, public.get("situation")) if part)

        return self._once((state.case,), write)

    def _placeholders(self, scenario: Scenario, seat: int) -> dict[str, str]:
        others = [name for other, name in enumerate(self.names) if other != seat]
        placeholders = {
            "names": join_words(self.names),
            "me": self.names[seat],
            "other": join_words(others),
        }
        placeholders |= {**scenario.public, **self.domain.deal.fill_public()}
        for name, value in scenario.private[seat].items():
            lines = (
                [f"{item}: {number}" for item, number in value.items()]
                if isinstance(value, Mapping)
                else [value]
            )
            placeholders[name] = "\n".join(map(str, lines))
        return placeholders

    def _transcript(self, messages: Sequence[Spoken]) -> str:
        if not messages:
            return TEXTS.text("dialogue_silence")
        parts = []
        for number, s in enumerate(messages, 1):
            # Every line is marked as somebody's words, so that no message can pass for another's or
            # for an instruction.
            quoted = _quote(s.text)
            sender, receiver = self.names[s.seat], self.names[s.to]
            parts.append(
                TEXTS.fill(
                    "dialogue_message", number=number, sender=sender, receiver=receiver, text=quoted
                )
            )
        return TEXTS.fill("dialogue_transcript", messages="\n\n".join(parts))


def _quote(text: str) -> str:
    """Mark every line of a text as somebody's words."""
    return "\n".join(f"> {line}" for line in text.splitlines())


class PlainDialogue(DialogueGame):
    """A dialogue in the neutral manner."""

    def start(self) -> Dialogue:
        """Return the state before anybody has moved."""
        return self._speak_plainly(super().start())

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        return self._speak_plainly(super().apply(state, moves))

    def _speak_plainly(self, state: Dialogue) -> Dialogue:
        asked = [role for role in self.asks(state) if role not in (NATURE, REFEREE)]
        return (
            replace(state, manner=self.neutral(self.turn(state))[0])
            if asked and not state.manner
            else state
        )

    def word_rules(self, role: Role) -> str:
        """Word the rules for people: what the talk is about, and how many messages there are."""
        ends = " The talk ends as soon as you agree." if self.early_end else ""
        ends = (
            " Then each of you hands in a sealed note with a move."
            if self.domain.deal.sealed
            else ends
        )
        name, task = self.names[self.roles.index(role)], self._task(super().start())
        return (
            f"You are {name}. {task}\n\nEach of you writes {self.replies} messages, in turn.{ends}"
        )

    def word_private(self, state: Dialogue, role: Role) -> str:
        """Say what the seat knows about itself and, on its turn, which message it writes and what
        comes after it."""
        if state.case < 0:
            return ""
        seat = self.roles.index(role)
        known = self._private_text(state, seat)
        if state.over or self.to_rule(state) or self.turn(state) != seat:
            return known
        note = ""
        if self.is_sealed(len(state.said)):
            note = f" {self.domain.fill('note', self._placeholders(self.cases[state.case], seat))}"
        return f"{known}\n\n{self._protocol(len(state.said) + 1)}{note}"

    @property
    def title(self) -> str:
        """What the dialogue is called."""
        return f"A talk: {self.domain.name}"

    unit = "points"

    def word_question(self, ask: object) -> str:
        """Ask for the next message."""
        return "What do you write?"


def make_plain_dialogue(domain: str, parameters: Mapping[str, object]) -> PlainDialogue:
    """Make the dialogue of that domain with the parameters seed, cases, replies and early_end.

    Nature draws one of `cases` sets of private information.
    """
    settings = {"seed": 0, "cases": 1, "replies": 2, "early_end": True, **parameters}
    strangers = set(settings) - {*_RANGES, "early_end"}
    if strangers:
        raise UsageError(
            f"a dialogue has no parameter {min(strangers)!r}; it has {', '.join(_RANGES)},"
            " early_end"
        )
    numbers = {}
    for name, (low, high) in _RANGES.items():
        value = settings[name]
        if not isinstance(value, int) or not low <= value <= high:
            raise UsageError(f"the parameter {name} is {value!r}; expected {low} to {high}")
        numbers[name] = value
    loaded_domain = load_domain(domain)
    if loaded_domain.players != 2:
        raise UsageError(
            f"{domain} has {loaded_domain.players} speakers; expected a dialogue of two"
        )
    return draw_plain_dialogue(loaded_domain, **numbers, early_end=settings["early_end"] is True)


def draw_plain_dialogue(
    domain: Domain, seed: int = 0, cases: int = 20, *, replies: int = 2, early_end: bool = True
) -> PlainDialogue:
    """Draw a dialogue in which nature draws one of `cases` sets of private information, or as many
    as there are."""
    drawn = variants(domain, scenarios(domain, seed, 1)[0], seed, cases, fewer=True)
    return PlainDialogue(domain, drawn, domain.manners(), replies=replies, early_end=early_end)


def prompt_key(view: View) -> str:
    """One key for all views whose words are the same: the same question needs to be asked only
    once."""
    return digest(
        [view.role, spell_told(view.rules), spell_told(view.history), view.facts.get("told")], 24
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded answer: its text (None: unreadable), how it was read, who gave it, and why."""

    key: str
    number: int
    text: str | None
    by: str = ""
    reading: Reading = field(default_factory=Reading)
    why: str = ""

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        data = {
            "key": self.key,
            "number": self.number,
            "text": self.text,
            "by": self.by,
            "why": self.why,
        }
        return data | {"status": self.reading.status.value, "how": self.reading.how}

    @classmethod
    def from_json(cls, data: JsonMapping) -> Entry:
        """Return the value that `to_json` wrote."""
        reading = Reading(Status(data["status"]), data["how"])
        return cls(data["key"], data["number"], data["text"], data["by"], reading, data["why"])


class Book:
    """Recorded answers by the key of their question and the number of the draw."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, dict[int, Entry]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Record one answer; a person's message takes the place of a model's, nothing else is
        replaced."""
        drawn = self._entries.setdefault(entry.key, {})
        if entry.number not in drawn or entry.by == PERSON:
            drawn[entry.number] = entry

    def get(self, key: str, number: int = 0) -> Entry | None:
        """Return the recorded text with that number, or None."""
        return self._entries.get(key, {}).get(number)

    def wordings(self, key: str, most: int) -> dict[str, int]:
        """The different readable texts among the first `most` draws and how often each was drawn,
        in their order."""
        drawn = sorted(self._entries.get(key, {}).items())
        return dict(
            Counter(
                entry.text for number, entry in drawn if number < most and entry.text is not None
            )
        )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All recorded texts."""
        return tuple(entry for drawn in self._entries.values() for entry in drawn.values())

    def __len__(self) -> int:
        return sum(map(len, self._entries.values()))


class RecordedDialogue:
    """The game of `live` with the texts of `book`, `wordings` draws of each at most."""

    def __init__(self, live: DialogueGame, book: Book, wordings: int = 1) -> None:
        self.live, self.book, self.wordings = live, book, wordings
        self.name, self.version, self.roles = f"recorded {live.name}", live.version, live.roles
        self.start, self.payoffs, self.view = live.start, live.payoffs, live.view
        self._possible: dict[Dialogue, bool] = {}
        if not self.possible(live.start()):
            raise InvalidGame(
                f"no {live.domain.name} dialogue can be played to its end with the {len(book)}"
                " recorded answers: the record is cut short, or none of its endings could be read"
            )

    def asks(self, state: Dialogue) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        for role, ask in self.live.asks(state).items():
            match ask:
                case Choice(options):
                    open_to = tuple(
                        o for o in options if self.possible(self.live.apply(state, {role: o}))
                    )
                    return {role: Choice(open_to)}
                case Words():
                    return {NATURE: _lottery(self._wordings(state, role))}
                case Lottery(chances):
                    return {
                        NATURE: _lottery(
                            {k: p for k, p in chances if self.possible(replace(state, case=int(k)))}
                        )
                    }
        return {}

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        ((role, move),) = moves.items()
        if role == NATURE and state.case >= 0:
            role = self.roles[self.live.turn(state)]
            after = self.live.apply(state, {role: list(self._texts(state, role))[move]})
            while REFEREE in self.live.asks(after):
                after = self.live.apply(after, {REFEREE: self.ruling(after)})
            return after
        return self.live.apply(state, {role: move})

    def possible(self, state: Dialogue) -> bool:
        """Whether the talk can come to a readable end from here."""
        if state not in self._possible:
            self._possible[state] = self._look(state)
        return self._possible[state]

    def _look(self, state: Dialogue) -> bool:
        for role, ask in self.live.asks(state).items():
            match ask:
                case Choice(options):
                    return any(
                        self.possible(self.live.apply(state, {role: option})) for option in options
                    )
                case Lottery(chances):
                    return any(self.possible(replace(state, case=int(case))) for case, _ in chances)
                case Words() if role != REFEREE:
                    return bool(self._wordings(state, role))
                case _:
                    ruling = self.ruling(state)
                    return ruling is not None and self.possible(
                        self.live.apply(state, {REFEREE: ruling})
                    )
        return True

    def ruling(self, state: Dialogue) -> str | None:
        """The recorded ruling on this talk, or its summary, where there is a readable one."""
        entry = self.book.get(prompt_key(self.live.view(state, REFEREE)))
        return None if entry is None else entry.text

    def _texts(self, state: Dialogue, role: Role) -> dict[str, int]:
        return self.book.wordings(prompt_key(self.live.view(state, role)), self.wordings)

    def _wordings(self, state: Dialogue, role: Role) -> dict[int, float]:
        """The numbers of the wordings that lead on, with their weights."""
        texts = enumerate(self._texts(state, role).items())
        return {
            k: weight
            for k, (text, weight) in texts
            if self.possible(self.live.apply(state, {role: text}))
        }


def _lottery(weights: Mapping[Any, float]) -> Lottery:
    total = sum(weights.values())
    return Lottery(tuple((outcome, weight / total) for outcome, weight in weights.items()))
