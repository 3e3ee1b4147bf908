"""Ask for an outline in small questions, each of which can be answered only with what is known by then.

What luck decides and who plays; the order of draws and choices; what can be drawn or chosen; after what each comes; who
knows it; end by end what everybody gets. A question reads its answer and returns the next question, the last one the
game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Protocol

from bestresponse.core.errors import InvalidGame
from bestresponse.formal.formalize.json_answer import (
    PROBABILITY,
    TEXT,
    Schema,
    choice_schema,
    list_schema,
    object_schema,
    read_name,
    read_numbers,
    read_object,
    refusal_schema,
)
from bestresponse.formal.formalize.outline.steps import LUCK, Outline, Step
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.formal.formalize.tree_json import read_players
from bestresponse.logic.programs.game_table import GameTable

__all__ = [
    "QUESTION_COUNT",
    "AskConditions",
    "AskKnowledge",
    "AskOptions",
    "AskOrder",
    "AskPayoffs",
    "AskPlayers",
    "OutlineQuestion",
]

QUESTION_COUNT: Final = 11
"""How many questions a game of six ends takes."""
_MOST_PLAYERS: Final = 6
_MOST_DRAWS: Final = 4
_MOST_STEPS: Final = 10
_MOST_OPTIONS: Final = 8
_ALWAYS: Final = "always"


class OutlineQuestion(Protocol):
    """A question with a schema for its answer."""

    def text(self) -> str:
        """Return the words of the question."""
        ...

    def schema(self) -> Schema:
        """Return what the answer is held to."""
        ...

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Return the next question, or the game after the last; InvalidGame says what is wrong with the answer."""
        ...


@dataclass(frozen=True, slots=True)
class AskPlayers:
    """Ask what luck decides and who chooses something."""

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_players")

    def schema(self) -> Schema:
        """Return the schema of two lists of names, or a refusal."""
        return object_schema(
            refusal_schema(), luck=list_schema(TEXT, 0, _MOST_DRAWS), players=list_schema(TEXT, 0, _MOST_PLAYERS)
        )

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Read the names of the draws and of the players."""
        data = read_object(answer)
        players = read_players(data.get("players"))
        draws = tuple(read_name(one) for one in _read_list(data.get(LUCK, []), LUCK))
        twice = next((one for one in draws if (*players, *draws).count(one) > 1), None)
        if twice is not None:
            raise InvalidGame(f"{twice} is named twice; give draws and players different names")
        return AskOrder(players, draws)


@dataclass(frozen=True, slots=True)
class AskOrder:
    """Ask for the order of draws and choices."""

    players: tuple[str, ...]
    draws: tuple[str, ...]

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_order")

    def schema(self) -> Schema:
        """Return the schema of a list in which only draws and players can be named."""
        names = (*self.draws, *self.players)
        return object_schema(order=list_schema(choice_schema(names), len(names), _MOST_STEPS))

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Read the order, in which every draw and every player must be."""
        order = [str(one) for one in _read_list(read_object(answer).get("order"), "order")]
        names = (*self.draws, *self.players)
        stranger = next((one for one in order if one not in names), None)
        if stranger is not None:
            raise InvalidGame(f"order: {stranger[:40]!r} is none of {', '.join(names)}")
        missing = [one for one in names if one not in order]
        if missing:
            raise InvalidGame(f"order: {', '.join(missing)} must be in it")
        if len(order) > _MOST_STEPS:
            raise InvalidGame(f"order must be a list of at most {_MOST_STEPS} names")
        asked = AskOptions(self.players, tuple(order))
        labels = asked.label_steps()
        if len({*labels}) < len(labels):
            raise InvalidGame(f"order: two of {', '.join(labels)} have the same name; give them other names")
        return asked


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Ask what can be drawn or chosen at each step."""

    players: tuple[str, ...]
    order: tuple[str, ...]

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_options")

    def schema(self) -> Schema:
        """Return a schema with one property for each step."""
        draw = object_schema(draw=TEXT, probability=PROBABILITY)
        labels = zip(self.label_steps(), self.order, strict=True)
        return object_schema(
            **{label: list_schema(TEXT if who in self.players else draw, 2, _MOST_OPTIONS) for label, who in labels}
        )

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Read the steps."""
        data = read_object(answer)
        labels = self.label_steps()
        pairs = zip(labels, self.order, strict=True)
        steps = tuple(self._read_step(data.get(label), label, who) for label, who in pairs)
        for step in steps:
            Outline(self.players, (step,)).check()
        outline = Outline(self.players, steps)
        return AskConditions(outline, labels) if len(steps) > 1 else AskPayoffs(outline)

    def label_steps(self) -> tuple[str, ...]:
        """Name the steps by who or what decides, with a number where it is not the first time: `Ann (2)`."""
        times = [self.order[: number + 1].count(who) for number, who in enumerate(self.order)]
        return tuple(who if time == 1 else f"{who} ({time})" for who, time in zip(self.order, times, strict=True))

    def _read_step(self, given: object, label: str, who: str) -> Step:
        listed = _read_list(given, label)
        if len(listed) < 2:
            raise InvalidGame(f"{label}: expected at least two {'moves' if who in self.players else 'draws'}")
        if who in self.players:
            return Step(who, tuple(read_name(one) for one in listed))
        draws = [one if isinstance(one, dict) else {} for one in listed]
        odds = tuple(one.get("probability") for one in draws)
        return Step(LUCK, tuple(read_name(one.get("draw")) for one in draws), odds)


@dataclass(frozen=True, slots=True)
class AskConditions:
    """Ask for each step but the first after which earlier draws or moves it comes, with the words that say so."""

    outline: Outline
    labels: tuple[str, ...]

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_conditions")

    def schema(self) -> Schema:
        """Return a schema with one property for each step, in which only earlier options can be named."""
        properties = {}
        for number, label in enumerate(self.labels[1:], 1):
            after = choice_schema((_ALWAYS, *self._list_options(number)))
            properties[label] = object_schema(story=TEXT, after=list_schema(after, 1, _MOST_OPTIONS))
        return object_schema(**properties)

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Read what each step comes after."""
        data = read_object(answer)
        steps = [self.outline.steps[0]]
        for number, label in enumerate(self.labels[1:], 1):
            given = data.get(label)
            if not isinstance(given, dict):
                raise InvalidGame(f"{label} is missing")
            after = self._read_after(_read_list(given.get("after"), f"{label}: after"), number)
            steps.append(replace(self.outline.steps[number], after=after))
        outline = replace(self.outline, steps=tuple(steps))
        outline.check()
        asked = AskKnowledge(outline, self.labels)
        return asked if asked.list_open() else AskPayoffs(outline)

    def _list_options(self, number: int) -> dict[str, list[tuple[int, str]]]:
        """Return the options before a step by their names, with the steps that have them."""
        found: dict[str, list[tuple[int, str]]] = {}
        for earlier, step in enumerate(self.outline.steps[:number]):
            for option in step.options:
                found.setdefault(step.name_option(option), []).append((earlier, option))
        return found

    def _read_after(self, given: Sequence[object], number: int) -> dict[int, frozenset[str]]:
        """Return the condition for a step; where all options of an earlier one are named, that one does not matter."""
        options = self._list_options(number)
        found: dict[int, frozenset[str]] = {}
        for one in given if _ALWAYS not in given else ():
            named = options.get(str(one), [])
            if len(named) != 1:
                told = "two steps have" if named else f"is none of {', '.join(options)}"
                raise InvalidGame(f"{self.labels[number]}: after {str(one)[:40]!r}, which {told}")
            earlier, option = named[0]
            found[earlier] = found.get(earlier, frozenset()) | {option}
        return {earlier: some for earlier, some in found.items() if some < {*self.outline.steps[earlier].options}}


@dataclass(frozen=True, slots=True)
class AskKnowledge:
    """Ask for each draw and move who knows it at a later choice, with the words that say so."""

    outline: Outline
    labels: tuple[str, ...]

    def list_open(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Return for each step the later choices, as properties, with the numbers of both steps.

        What a choice comes after is known, as is what its player did.
        """
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for number, step in enumerate(self.outline.steps):
            for earlier, made in enumerate(self.outline.steps[:number]):
                if step.who not in (LUCK, made.who) and len(step.after.get(earlier, made.options)) > 1:
                    found.setdefault(self.labels[earlier], {})[f"{self.labels[number]} knows"] = number, earlier
        return found

    def text(self) -> str:
        """Return the words of the question."""
        return TEXTS.text("ask_knowledge")

    def schema(self) -> Schema:
        """Return a schema with yes or no for each pair of steps."""
        answer = choice_schema(("yes", "no"))
        return object_schema(
            **{
                label: object_schema(story=TEXT, **dict.fromkeys(later, answer))
                for label, later in self.list_open().items()
            }
        )

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Read what is known."""
        data = read_object(answer)
        known: list[set[int]] = [set() for _ in self.labels]
        for label, later in self.list_open().items():
            given = data.get(label)
            for name, (number, earlier) in later.items():
                told = given.get(name) if isinstance(given, dict) else None
                if told not in ("yes", "no"):
                    raise InvalidGame(f"{label}: expected yes or no under {name!r}")
                if told == "yes":
                    known[number].add(earlier)
        pairs = zip(self.outline.steps, known, strict=True)
        outline = replace(self.outline, steps=tuple(replace(step, known=frozenset(one)) for step, one in pairs))
        outline.check()
        return AskPayoffs(outline)


@dataclass(frozen=True, slots=True)
class AskPayoffs:
    """Ask what everybody gets at one end, after the words of the story that say so; `known` are the ends before it."""

    outline: Outline
    known: tuple[tuple[Fraction, ...], ...] = ()

    def text(self) -> str:
        """Return the question with the play that leads to the end."""
        return TEXTS.fill("ask_payoffs", end=self._name_end())

    def schema(self) -> Schema:
        """Return the schema of one number for each player."""
        numbers: dict[str, Schema] = {who: {"type": "number"} for who in self.outline.players}
        return object_schema(story=TEXT, payoffs=object_schema(**numbers))

    def read(self, answer: str) -> OutlineQuestion | GameTable:
        """Read the payoffs and ask for those of the next end; after the last one return the game."""
        given = read_object(answer).get("payoffs")
        if not isinstance(given, dict):
            raise InvalidGame("payoffs must be an object with one number for each player")
        numbers = read_numbers([given.get(who) for who in self.outline.players], self._name_end())
        known = (*self.known, numbers)
        return self.outline.build(known) if len(known) == len(self.outline.ends()) else replace(self, known=known)

    def _name_end(self) -> str:
        return self.outline.ends()[len(self.known)]


def _read_list(given: object, place: str) -> list[object]:
    if not isinstance(given, list):
        raise InvalidGame(f"{place}: expected a list, got {str(given)[:40]!r}")
    return given
