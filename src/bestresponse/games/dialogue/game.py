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

The live game asks speakers for words and a referee for rulings. A `Book` holds the answers, each by
the question's words, so a question asked twice has one answer; `RecordedDialogue` is the game that
is played with them.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, section 2.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from string import Template
from typing import Any

from bestresponse.core.ask import Ask, Choice, Lottery, Words
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.game import NATURE, REFEREE, Action, Role, View
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.player import Reading, Status
from bestresponse.core.told import (
    Event,
    PrivateProse,
    Prose,
    Statement,
    TextPlace,
    Worded,
    prose,
)
from bestresponse.games.dialogue.domain import (
    Actions,
    Domain,
    Scenario,
    load_domain,
    scenarios,
    variants,
)
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.games.dialogue.told import (
    MessageTurn,
    NobodyWrote,
    NoteTurn,
    TakesPart,
    TalkRule,
    TalkSummed,
    WriteSo,
    Wrote,
)
from bestresponse.games.texts import join_words
from bestresponse.telling.render import write_history, write_rules

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
    """A talk so far: the private information drawn, what was said, the last ruling.

    Also holds a manner that is not yet voiced.
    """

    case: int
    said: tuple[Spoken, ...] = ()
    manner: str = ""
    ruling: str = ""
    over: bool = False
    summaries: tuple[str, ...] = ()
    """One for each message that somebody answers, written for whoever answers it."""
    answers: tuple[str, ...] = ()
    """What both say to the ruling, where they are asked (`ruled.RuledDialogue`)."""


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
        casts = {case.names for case in self.cases}
        if len(casts) != 1:
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
        is_drawn = len(self.cases) > 1
        return Dialogue(case=-1 if is_drawn else 0)

    def asks(self, state: Dialogue) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.case < 0:
            numbers = range(len(self.cases))
            return {NATURE: Lottery.uniform(tuple(numbers))}
        if state.over:
            return {}
        if self.to_rule(state):
            return {REFEREE: Words(_LONGEST_RULING)}
        if self.to_sum_up(state):
            return {REFEREE: Words(self.longest)}
        seat = self.turn(state)
        if state.manner:
            return {self.roles[seat]: Words(self.longest)}
        return {self.roles[seat]: Choice(self.options(seat))}

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
        """The choices of a seat.

        With three or more speakers each names whom it addresses, never oneself.
        """
        if self.domain.players == 2:
            return self.manners.options
        others = [name for other, name in enumerate(self.names) if other != seat]
        pairs = product(self.manners.options, others)
        return tuple(f"{manner}, to {name}" for manner, name in pairs)

    def neutral(self, seat: int) -> tuple[str, ...]:
        """The choices of a seat that give no guidance about the manner."""
        plain = self.manners.neutral
        options = self.options(seat)
        return tuple(o for o in options if o == plain or o.startswith(f"{plain}, to "))

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
            is_last = len(state.said) == self.messages
            return replace(state, ruling=move, over=settled or is_last)
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
        values = ruling.get("payoffs")
        if not values:
            values = self.domain.deal.utilities(ruling, self.cases[state.case].private)
        return {role: float(value) for role, value in zip(self.roles, values, strict=True)}

    def view(self, state: Dialogue, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            messages = [[s.seat, s.manner, s.to, s.text] for s in state.said]
            facts = {"state": [state.case, messages, state.manner]}
            return View(NATURE, prose(self.name), facts=facts)
        if role == REFEREE and not self.to_rule(state) and self.to_sum_up(state):
            return self._observer_view(state)
        if role == REFEREE:
            return self._referee_view(state)
        return self._speaker_view(state, self.roles.index(role))

    def _speaker_view(self, state: Dialogue, seat: int) -> View:
        scenario = self.cases[max(state.case, 0)]
        heard = self._list_heard(state, seat)
        own = [line for line in state.said if line.seat == seat]
        facts = {
            "seat": seat,
            "private": dict(scenario.private[seat]),
            "public": dict(scenario.public),
            "own": [f"{line.manner} to {line.to}" for line in own],
            "said": [[line.seat, line.to, line.text] for line in heard],
        }
        history = self._list_messages(heard)
        if self.summaries and not state.over and not state.manner:
            observed = self._list_observed(state, seat)
            history = tuple(map(TalkSummed, observed)) or (NobodyWrote(),)
            facts["said"] = [[None, seat, summary] for summary in observed]
        if not state.over and self.turn(state) == seat:
            history += self.list_turn(len(state.said) + 1)
        if state.manner and self.turn(state) == seat:
            history += (self._make_instruction(state, seat),)
            facts["manner"], _ = self.addressed(state.manner, seat)
        rules = (Prose(self.task(state)), PrivateProse(self.tell_private(state, seat)))
        return View(self.roles[seat], rules, history, facts)

    def _list_heard(self, state: Dialogue, seat: int) -> list[Spoken]:
        """List the messages that a seat may read; at the end sealed notes are opened."""
        heard = []
        for number, line in enumerate(state.said):
            if state.over or line.seat == seat or not self.is_sealed(number):
                heard.append(line)
        return heard

    def _list_observed(self, state: Dialogue, seat: int) -> list[str]:
        """List the summaries that were written for a seat, one for each of its turns."""
        observed = []
        for number, summary in enumerate(state.summaries, 1):
            if number % self.domain.players == seat:
                observed.append(summary)
        return observed

    def _observer_view(self, state: Dialogue) -> View:
        """Ask for a summary for the next speaker.

        The messages it may read come between two texts, which the domain may word itself.
        """
        seat = self.turn(state)
        heard = self._list_heard(state, seat)
        scenario = self.cases[state.case]
        places = {
            "names": join_words(self.names),
            "me": self.names[seat],
            **scenario.public,
            **self.domain.deal.fill_public(),
        }
        transcript = View(REFEREE, (), self._list_messages(heard))
        asked = TEXTS.fill(
            "dialogue_observe",
            task=self.task(state),
            prefix=self.domain.fill("summary_prefix", places),
            transcript=write_history(transcript),
            postfix=self.domain.fill("summary_postfix", places),
        )
        return View(REFEREE, prose(asked), facts={"summary_for": seat})

    def _once(self, key: tuple[object, ...], write: Callable[[], str]) -> str:
        """A text that many positions share, written once."""
        if key not in self._texts:
            self._texts[key] = write()
        return self._texts[key]

    def tell_private(self, state: Dialogue, seat: int) -> str:
        """What a seat is told about itself."""
        case = max(state.case, 0)

        def write() -> str:
            placeholders = self._placeholders(self.cases[case], seat)
            return self.domain.fill("private", placeholders)

        return self._once((case, seat), write)

    def list_turn(self, number: int) -> tuple[Event, ...]:
        """List what the writer of message `number` knows.

        This is how many messages are left, its own among them, and what happens at the end.
        """
        ending = self.domain.deal.ending
        if self.is_sealed(number - 1):
            return NoteTurn(), ending
        messages = self.replies * self.domain.players
        left = messages - number
        turn = MessageTurn(
            number=number,
            messages=messages,
            left=left,
            own_left=left // self.domain.players,
            early_end=self.early_end,
            sealed=self.domain.deal.sealed,
        )
        return turn, ending

    def _make_instruction(self, state: Dialogue, seat: int) -> WriteSo:
        """What a seat is told about its next message."""
        sealed = self.is_sealed(len(state.said))
        manner, to = self.addressed(state.manner, seat)

        def write() -> str:
            placeholders = self._placeholders(self.cases[state.case], seat)
            text = "note" if sealed else "message"
            return self.domain.fill(text, placeholders | {"other": self.names[to]})

        task = self._once((state.case, seat, state.manner, sealed), write)
        return WriteSo(self.manners.texts[manner], task)

    def _referee_view(self, state: Dialogue) -> View:
        scenario = self.cases[max(state.case, 0)]
        facts = {
            "names": list(self.names),
            "private": [dict(known) for known in scenario.private],
            "public": dict(scenario.public),
            "told": [self.tell_private(state, seat) for seat in range(len(self.names))],
            "said": [(message.seat, message.text) for message in state.said],
        }
        return View(
            REFEREE,
            prose(self.task(state)),
            self._list_messages(state.said),
            facts,
        )

    def task(self, state: Dialogue) -> str:
        """What all are told: the domain's task, and the situation where there is one."""
        public = self.cases[max(state.case, 0)].public

        def write() -> str:
            placeholders = {
                "names": join_words(self.names),
                **self.domain.deal.fill_public(),
                **public,
            }
            task = self.domain.fill("task", placeholders)
            parts = task, public.get("situation")
            return " ".join(part for part in parts if part)

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
            placeholders[name] = "\n".join(_list_lines(value))
        return placeholders

    def _list_messages(self, messages: Sequence[Spoken]) -> tuple[Event, ...]:
        if not messages:
            return (NobodyWrote(),)
        events = []
        for number, spoken in enumerate(messages, 1):
            writer = self.names[spoken.seat]
            reader = self.names[spoken.to]
            events.append(Wrote(number, writer, reader, spoken.text))
        return tuple(events)


def _list_lines(known: object) -> list[str]:
    """List what somebody knows, a line for each item where it is about several."""
    if isinstance(known, Mapping):
        return [f"{item}: {number}" for item, number in known.items()]
    return [str(known)]


class PlainDialogue(DialogueGame):
    """A dialogue in the neutral manner, which is what people play.

    Nobody chooses a manner first, so that a turn is one message.
    """

    def start(self) -> Dialogue:
        """Return the state before anybody has moved."""
        return self._speak_plainly(super().start())

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        return self._speak_plainly(super().apply(state, moves))

    def _speak_plainly(self, state: Dialogue) -> Dialogue:
        asked = [role for role in self.asks(state) if role not in (NATURE, REFEREE)]
        if state.over or not asked or state.manner:
            return state
        seat = self.turn(state)
        return replace(state, manner=self.neutral(seat)[0])

    def list_rules(self, role: Role) -> tuple[Statement, ...]:
        """State the rules for people: who they are, the topic, and the number of messages."""
        name = self.names[self.roles.index(role)]
        talk = TalkRule(self.replies, self.early_end, self.domain.deal.sealed)
        scenario = self.cases[0]
        task = self._word_text("task", self._list_places(scenario))
        situation = scenario.public.get("situation", "")
        return TakesPart(name), task, *prose(situation), talk

    def list_private(self, state: Dialogue, role: Role) -> tuple[Worded, ...]:
        """State what the seat knows about itself and, before a sealed note, what to write on it."""
        if state.case < 0:
            return ()
        seat = self.roles.index(role)
        places = self._list_places(self.cases[state.case], seat)
        known = self._word_text("private", places)
        writes = not state.over and not self.to_rule(state) and self.turn(state) == seat
        if writes and self.is_sealed(len(state.said)):
            return known, self._word_text("note", places)
        return (known,)

    def _word_text(self, text: str, places: Iterable[TextPlace]) -> Worded:
        """Return a text of the domain with those of the places that it has."""
        escaped = self.domain.texts[text].replace("{", "{{").replace("}", "}}")
        template = Template(escaped)
        names = template.get_identifiers()
        english = template.safe_substitute({name: f"{{{name}}}" for name in names}).strip()
        used = tuple(place for place in places if place.name in names)
        return Worded(english, used)

    def _list_places(self, scenario: Scenario, seat: int | None = None) -> list[TextPlace]:
        """List what is in the places of a text: for a seat, or for everybody."""
        places = [TextPlace("names", self.names, "and"), *self.domain.deal.list_public()]
        places += [TextPlace(name, (value,)) for name, value in scenario.public.items()]
        if seat is None:
            return places
        others = tuple(name for other, name in enumerate(self.names) if other != seat)
        places.append(TextPlace("me", (self.names[seat],)))
        places.append(TextPlace("other", others, "and"))
        for name, value in scenario.private[seat].items():
            places.append(TextPlace(name, tuple(_list_lines(value))))
        return places

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
            " early_end, offers"
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
    domain: Domain,
    seed: int = 0,
    cases: int = 20,
    *,
    replies: int = 2,
    early_end: bool = True,
) -> PlainDialogue:
    """Draw a dialogue in which nature draws one of `cases` sets of private information.

    If there are fewer sets, all of them are used.
    """
    drawn = variants(domain, scenarios(domain, seed, 1)[0], seed, cases, fewer=True)
    return PlainDialogue(
        domain,
        drawn,
        domain.manners(),
        replies=replies,
        early_end=early_end,
    )


def prompt_key(view: View) -> str:
    """One key for all views with the same words.

    The same question needs to be asked only once.
    """
    words = [view.role, write_rules(view), write_history(view), view.facts.get("told")]
    return digest(words, 24)


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
        return cls(
            data["key"],
            data["number"],
            data["text"],
            data["by"],
            reading,
            data["why"],
        )


class Book:
    """Recorded answers by the key of their question and the number of the draw."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, dict[int, Entry]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Record one answer.

        A person's message takes the place of a model's, nothing else is replaced.
        """
        drawn = self._entries.setdefault(entry.key, {})
        if entry.number not in drawn or entry.by == PERSON:
            drawn[entry.number] = entry

    def get(self, key: str, number: int = 0) -> Entry | None:
        """Return the recorded text with that number, or None."""
        return self._entries.get(key, {}).get(number)

    def wordings(self, key: str, most: int) -> dict[str, int]:
        """The different readable texts among the first `most` draws, in their order.

        Each comes with how often it was drawn.
        """
        counts: Counter[str] = Counter()
        for number, entry in sorted(self._entries.get(key, {}).items()):
            if number < most and entry.text is not None:
                counts[entry.text] += 1
        return dict(counts)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All recorded texts."""
        entries: list[Entry] = []
        for drawn in self._entries.values():
            entries += drawn.values()
        return tuple(entries)

    def __len__(self) -> int:
        return sum(map(len, self._entries.values()))


class RecordedDialogue:
    """The game of `live` with the texts of `book`, `wordings` draws of each at most.

    It needs nobody but the choosers of manners: nature picks among the stored wordings of a choice.
    What the book does not tell, or tells unreadably, cannot happen: such a wording is not drawn
    (the others share its probability), a choice without any wording is not offered. A book cut
    short therefore still makes a valid game, and no payoff is made up.
    """

    def __init__(self, live: DialogueGame, book: Book, wordings: int = 1) -> None:
        self.live = live
        self.book = book
        self.wordings = wordings
        self.name = f"recorded {live.name}"
        self.version = live.version
        self.roles = live.roles
        self.start = live.start
        self.payoffs = live.payoffs
        self.view = live.view
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
                    open_to = [o for o in options if self._is_possible_after(state, role, o)]
                    return {role: Choice(tuple(open_to))}
                case Words():
                    return {NATURE: _lottery(self._wordings(state, role))}
                case Lottery(chances):
                    weights = {k: p for k, p in chances if self._is_possible_after(state, role, k)}
                    return {NATURE: _lottery(weights)}
        return {}

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        ((role, move),) = moves.items()
        if role == NATURE and state.case >= 0:
            role = self.roles[self.live.turn(state)]
            texts = list(self._texts(state, role))
            after = self.live.apply(state, {role: texts[move]})
            while REFEREE in self.live.asks(after):
                after = self.live.apply(after, {REFEREE: self.ruling(after)})
            return after
        return self.live.apply(state, {role: move})

    def possible(self, state: Dialogue) -> bool:
        """Whether the talk can come to a readable end from here."""
        if state not in self._possible:
            self._possible[state] = self._look(state)
        return self._possible[state]

    def _is_possible_after(self, state: Dialogue, role: Role, move: Action) -> bool:
        return self.possible(self.live.apply(state, {role: move}))

    def _look(self, state: Dialogue) -> bool:
        for role, ask in self.live.asks(state).items():
            match ask:
                case Choice(options):
                    return any(self._is_possible_after(state, role, o) for o in options)
                case Lottery(chances):
                    return any(self._is_possible_after(state, role, case) for case, _ in chances)
                case Words() if role != REFEREE:
                    return bool(self._wordings(state, role))
                case _:
                    ruling = self.ruling(state)
                    if ruling is None:
                        return False
                    return self._is_possible_after(state, REFEREE, ruling)
        return True

    def ruling(self, state: Dialogue) -> str | None:
        """The recorded ruling on this talk, or its summary, where there is a readable one."""
        entry = self.book.get(prompt_key(self.live.view(state, REFEREE)))
        return None if entry is None else entry.text

    def _texts(self, state: Dialogue, role: Role) -> dict[str, int]:
        return self.book.wordings(prompt_key(self.live.view(state, role)), self.wordings)

    def _wordings(self, state: Dialogue, role: Role) -> dict[int, float]:
        """The numbers of the wordings that lead on, with their weights."""
        weights: dict[int, float] = {}
        for number, (text, weight) in enumerate(self._texts(state, role).items()):
            if self._is_possible_after(state, role, text):
                weights[number] = weight
        return weights


def _lottery(weights: Mapping[Any, float]) -> Lottery:
    total = sum(weights.values())
    shares = [(outcome, weight / total) for outcome, weight in weights.items()]
    return Lottery(tuple(shares))
