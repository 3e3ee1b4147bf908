"""Ask for an outline in small questions, each of which can be answered only with what is known by then.

Who plays; who decides in which order; between what, and who is next; what is known at each choice; what everybody gets
at each end. A question reads its answer and returns the next question, and the last one the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Protocol

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.formal.formalize.json_answer import (
    PROBABILITY,
    TEXT,
    Schema,
    choice_schema,
    list_schema,
    object_schema,
    read_name,
    read_number,
    read_object,
    refusal_schema,
)
from bestresponse.formal.formalize.outline_json import LUCK, Outline, Step
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.formal.formalize.tree_json import read_players
from bestresponse.logic.programs.game_table import GameTable

__all__ = ["MOST_QUESTIONS", "AskKnowledge", "AskOptions", "AskOrder", "AskPayoffs", "AskPlayers", "Question"]

MOST_QUESTIONS: Final = 5
_MOST_PLAYERS: Final = 6
_MOST_STEPS: Final = 10
_MOST_OPTIONS: Final = 8
_NOBODY: Final = "nobody"


class Question(Protocol):
    """A question with a schema for its answer."""

    def text(self) -> str:
        """Return the words of the question."""
        ...

    def schema(self) -> Schema:
        """Return what the answer is held to."""
        ...

    def read(self, answer: str) -> Question | GameTable:
        """Return the next question, or the game after the last; InvalidGame says what is wrong with the answer."""
        ...


@dataclass(frozen=True, slots=True)
class AskPlayers:
    """Ask who chooses something."""

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_players")

    def schema(self) -> Schema:
        """Return the schema of a list of names, or a refusal."""
        return object_schema(refusal_schema(), players=list_schema(TEXT, 0, _MOST_PLAYERS))

    def read(self, answer: str) -> Question | GameTable:
        """Read the players."""
        return AskOrder(read_players(read_object(answer).get("players")))


@dataclass(frozen=True, slots=True)
class AskOrder:
    """Ask who decides, in order: luck for a draw, a player for a choice."""

    players: tuple[str, ...]

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_order")

    def schema(self) -> Schema:
        """Return the schema of a list in which only luck and the players can be named."""
        return object_schema(order=list_schema(choice_schema((LUCK, *self.players)), 1, _MOST_STEPS))

    def read(self, answer: str) -> Question | GameTable:
        """Read the order, in which every player must be."""
        order = read_object(answer).get("order")
        if not isinstance(order, list) or not 0 < len(order) <= _MOST_STEPS:
            raise InvalidGame(f"order must be a list of 1 to {_MOST_STEPS} names")
        stranger = next((one for one in order if one not in (LUCK, *self.players)), None)
        if stranger is not None:
            raise InvalidGame(f"order: {str(stranger)[:40]!r} is neither luck nor one of {', '.join(self.players)}")
        idle = [who for who in self.players if who not in order]
        if idle:
            raise InvalidGame(f"order: {', '.join(idle)} must choose somewhere, as every player does")
        return AskOptions(self.players, tuple(order))


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Ask what can be drawn or chosen at each step, and which later step comes next after each option."""

    players: tuple[str, ...]
    order: tuple[str, ...]

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_options")

    def schema(self) -> Schema:
        """Return a schema with one property for each step, in which only later steps can be next."""
        labels = _label(self.order)
        properties = {}
        for number, label in enumerate(labels):
            following = choice_schema((*labels[number + 1 :], _NOBODY))
            option = (
                object_schema(draw=TEXT, probability=PROBABILITY, next=following)
                if self.order[number] == LUCK
                else object_schema(move=TEXT, next=following)
            )
            properties[label] = list_schema(option, 2, _MOST_OPTIONS)
        return object_schema(**properties)

    def read(self, answer: str) -> Question | GameTable:
        """Read the steps; where nobody can have seen anything, ask for the payoffs at once."""
        data = read_object(answer)
        labels = _label(self.order)
        steps = tuple(
            _read_step(data.get(label), number, self.order[number], labels) for number, label in enumerate(labels)
        )
        outline = Outline(self.players, steps)
        reached = {0}.union(*(step.following for step in outline.steps))
        for number, label in enumerate(labels):
            if number not in reached:
                raise InvalidGame(f"{label} never decides: it is next after no draw and no move")
        outline.check()
        asked = AskKnowledge(outline)
        return asked if asked.list_statements() else AskPayoffs(outline)


@dataclass(frozen=True, slots=True)
class AskKnowledge:
    """Ask for each choice which earlier draws and moves are known, where they can differ."""

    outline: Outline

    def list_statements(self) -> dict[str, tuple[int, int]]:
        """Return every statement to say yes or no to, with the numbers of the step that chooses and the earlier one."""
        found: dict[str, tuple[int, int]] = {}
        steps = self.outline.steps
        for number, step in enumerate(steps):
            before = self.outline.find_options_before(number) if step.who != LUCK else {}
            for earlier, options in before.items():
                maker = steps[earlier].who
                if len(options) > 1 and maker != step.who:
                    told = " or ".join(options) if maker == LUCK else f"{maker} chose {' or '.join(options)}"
                    again = sum(one.who == step.who for one in steps[:number])
                    time = f" at choice {again + 1}" if again else ""
                    found[f"{step.who} knows{time} whether {told}"] = number, earlier
        return found

    def text(self) -> str:
        """Return the question with its statements."""
        return TEXTS.fill("ask_knowledge", statements=_list(self.list_statements()))

    def schema(self) -> Schema:
        """Return a schema with yes or no for each statement."""
        return object_schema(**dict.fromkeys(self.list_statements(), choice_schema(("yes", "no"))))

    def read(self, answer: str) -> Question | GameTable:
        """Read what is known."""
        data = read_object(answer)
        known: list[set[int]] = [set() for _ in self.outline.steps]
        for statement, (number, earlier) in self.list_statements().items():
            if data.get(statement) not in ("yes", "no"):
                raise InvalidGame(f"{statement}: expected yes or no")
            if data[statement] == "yes":
                known[number].add(earlier)
        pairs = zip(self.outline.steps, known, strict=True)
        outline = replace(self.outline, steps=tuple(replace(step, known=frozenset(one)) for step, one in pairs))
        outline.check()
        return AskPayoffs(outline)


@dataclass(frozen=True, slots=True)
class AskPayoffs:
    """Ask what everybody gets or pays at each end, after the words of the story that say so."""

    outline: Outline

    def text(self) -> str:
        """Return the question with the ends."""
        return TEXTS.fill("ask_payoffs", ends=_list(self.outline.ends()))

    def schema(self) -> Schema:
        """Return a schema with one property for each end."""
        number: Schema = {"type": "number"}
        amount: Schema = {"anyOf": [object_schema(gets=number), object_schema(pays=number)]}
        end = object_schema(story=TEXT, payoffs=object_schema(**dict.fromkeys(self.outline.players, amount)))
        return object_schema(**dict.fromkeys(self.outline.ends(), end))

    def read(self, answer: str) -> Question | GameTable:
        """Read the payoffs and return the game."""
        data = read_object(answer)
        return self.outline.build(
            [_read_payoffs(data.get(end), self.outline.players, end) for end in self.outline.ends()]
        )


def _label(order: Sequence[str]) -> list[str]:
    """Name the steps: by who decides, and with a number where it is not the first time.

    >>> _label(["luck", "Ann", "Bob", "Ann"])
    ['luck', 'Ann', 'Bob', 'Ann (2)']
    """
    times = [order[: number + 1].count(who) for number, who in enumerate(order)]
    return [who if time == 1 else f"{who} ({time})" for who, time in zip(order, times, strict=True)]


def _list(lines: Sequence[str] | Mapping[str, object]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _read_step(given: object, number: int, who: str, labels: Sequence[str]) -> Step:
    listed = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    if len(listed) < 2:
        raise InvalidGame(f"{labels[number]}: expected at least two {'draws' if who == LUCK else 'moves'}")
    later = {label: place for place, label in enumerate(labels) if place > number}
    following: list[int | None] = []
    for one in listed:
        name = str(one.get("next"))
        if name != _NOBODY and name not in later:
            raise InvalidGame(f"{labels[number]}: next is {name[:40]!r}; expected {', '.join((*later, _NOBODY))}")
        following.append(later.get(name))
    options = tuple(read_name(one.get("draw" if who == LUCK else "move")) for one in listed)
    odds = tuple(one.get("probability") for one in listed) if who == LUCK else ()
    return Step(who, options, tuple(following), odds)


def _read_payoffs(given: object, players: Sequence[str], end: str) -> list[Fraction]:
    payoffs = given.get("payoffs") if isinstance(given, dict) else None
    if not isinstance(payoffs, dict):
        raise InvalidGame(f"the end {end} is missing")
    return [_read_amount(payoffs.get(who), f"{end}: {who}") for who in players]


def _read_amount(given: JsonObject | None, place: str) -> Fraction:
    for verb, sign in (("gets", 1), ("pays", -1)):
        amount = read_number(given.get(verb)) if isinstance(given, dict) else None
        if amount is not None:
            return sign * amount
    raise InvalidGame(f'{place}: expected {{"gets": NUMBER}} or {{"pays": NUMBER}}')
