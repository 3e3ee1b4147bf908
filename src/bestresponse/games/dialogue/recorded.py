"""A dialogue whose texts are on record: wordings are draws among stored texts, rulings are looked up.

The live game asks speakers for words and a referee for rulings. A `Book` holds the answers, each by the question's
words, so a question asked twice has one answer. `RecordedDialogue` is the game that needs nobody but the choosers of
manners: nature picks among the stored wordings of a choice. What the book does not tell, or tells unreadably, cannot
happen: such a wording is not drawn (the others share its probability), a choice without any wording is not offered.
A book cut short therefore still makes a valid game, and no payoff is made up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bestresponse.core.ask import Ask, Choice, Lottery, Words
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, REFEREE, Action, Role, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Reading, Status
from bestresponse.games.dialogue.game import Dialogue, DialogueGame, prompt_key

PERSON = "person"
"""Who gave an answer that a person wrote in place of a model."""


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
        data = {"key": self.key, "number": self.number, "text": self.text, "by": self.by, "why": self.why}
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
        """Record one answer; a person's message takes the place of a model's, nothing else is replaced."""
        drawn = self._entries.setdefault(entry.key, {})
        if entry.number not in drawn or entry.by == PERSON:
            drawn[entry.number] = entry

    def get(self, key: str, number: int = 0) -> Entry | None:
        """Return the recorded text with that number, or None."""
        return self._entries.get(key, {}).get(number)

    def wordings(self, key: str, most: int) -> dict[str, int]:
        """The different readable texts among the first `most` draws and how often each was drawn, in their order."""
        drawn = sorted(self._entries.get(key, {}).items())
        return dict(Counter(entry.text for number, entry in drawn if number < most and entry.text is not None))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All recorded texts."""
        return tuple(entry for drawn in self._entries.values() for entry in drawn.values())

    def __len__(self) -> int:
        return sum(map(len, self._entries.values()))


@dataclass(frozen=True, eq=False)
class RecordedDialogue:
    """The game of `live` with the texts of `book`, `wordings` draws of each at most."""

    live: DialogueGame
    book: Book
    wordings: int = 1
    _possible: dict[Dialogue, bool] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.possible(self.live.start()):
            raise InvalidGame(
                f"no {self.live.domain.name} dialogue can be played to its end with the {len(self.book)} recorded "
                "answers: the record is cut short, or none of its endings could be read"
            )

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"recorded {self.live.name}"

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.live.version

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.live.roles

    def start(self) -> Dialogue:
        """Return the state before anybody has moved."""
        return self.live.start()

    def asks(self, state: Dialogue) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        for role, ask in self.live.asks(state).items():
            match ask:
                case Choice(options):
                    open_to = tuple(o for o in options if self.possible(self.live.apply(state, {role: o})))
                    return {role: Choice(open_to)}
                case Words():
                    return {NATURE: _lottery(self._wordings(state, role))}
                case Lottery(chances):
                    return {NATURE: _lottery({k: p for k, p in chances if self.possible(replace(state, case=int(k)))})}
        return {}

    def apply(self, state: Dialogue, moves: Mapping[Role, Action]) -> Dialogue:
        """Return the state after these moves."""
        ((role, move),) = moves.items()
        if role == NATURE and state.case >= 0:
            role = self.roles[self.live.turn(state)]
            after = self.live.apply(state, {role: list(self._texts(state, role))[move]})
            return self.live.apply(after, {REFEREE: self.ruling(after)}) if self.live.to_rule(after) else after
        return self.live.apply(state, {role: move})

    def payoffs(self, state: Dialogue) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return self.live.payoffs(state)

    def view(self, state: Dialogue, role: Role) -> View:
        """Return what `role` may know in `state`."""
        return self.live.view(state, role)

    def possible(self, state: Dialogue) -> bool:
        """Whether the talk can come to a readable end from here."""
        if state not in self._possible:
            self._possible[state] = self._look(state)
        return self._possible[state]

    def _look(self, state: Dialogue) -> bool:
        for role, ask in self.live.asks(state).items():
            match ask:
                case Choice(options):
                    return any(self.possible(self.live.apply(state, {role: option})) for option in options)
                case Lottery(chances):
                    return any(self.possible(replace(state, case=int(case))) for case, _ in chances)
                case Words() if role != REFEREE:
                    return bool(self._wordings(state, role))
                case _:
                    ruling = self.ruling(state)
                    return ruling is not None and self.possible(self.live.apply(state, {REFEREE: ruling}))
        return True

    def ruling(self, state: Dialogue) -> str | None:
        """The recorded ruling on this talk, where there is a readable one."""
        entry = self.book.get(prompt_key(self.live.view(state, REFEREE)))
        return None if entry is None else entry.text

    def _texts(self, state: Dialogue, role: Role) -> dict[str, int]:
        return self.book.wordings(prompt_key(self.live.view(state, role)), self.wordings)

    def _wordings(self, state: Dialogue, role: Role) -> dict[int, float]:
        """The numbers of the wordings that lead on, with their weights."""
        texts = enumerate(self._texts(state, role).items())
        return {k: weight for k, (text, weight) in texts if self.possible(self.live.apply(state, {role: text}))}


def _lottery(weights: Mapping[Any, float]) -> Lottery:
    total = sum(weights.values())
    return Lottery(tuple((outcome, weight / total) for outcome, weight in weights.items()))
