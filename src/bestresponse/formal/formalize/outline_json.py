"""A game as an outline, a list of steps as JSON: draws and moves in order, after what each comes, and who sees it.

The tool works out every play. Payoffs are asked for in a second question, on a sheet that names every end, so nothing
is nested, written twice or forgotten. The outline becomes the tree that `tree_json` reads, and passes its checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.formal.formalize.json_answer import (
    PROBABILITY,
    TEXT,
    list_schema,
    object_schema,
    read_name,
    read_object,
    read_payoffs,
    refusal_schema,
    sheet_schema,
)
from bestresponse.formal.formalize.tree_json import build_table, read_players
from bestresponse.logic.programs.game_table import GameTable
from bestresponse.models.schema import schema_text

__all__ = ["OUTLINE_SCHEMA", "Outline", "OutlineTooLarge", "check_outline", "read_outline"]

MOST_ENDS = 64
MOST_STEPS = 30
_LUCK: Final = "luck"
_EVERYBODY: Final = frozenset(["all", "both", "everybody", "everyone"])
_NOBODY: Final = frozenset(["", "nobody", "none", "no one"])

_NAMES: Final = list_schema(TEXT)
_DRAWS: Final = list_schema(object_schema(draw=TEXT, probability=PROBABILITY))
_STEP: Final = {
    "anyOf": [
        object_schema(luck=_DRAWS, after=_NAMES, seen_by=_NAMES),
        object_schema(player=TEXT, moves=_NAMES, after=_NAMES, seen_by=_NAMES),
    ]
}
OUTLINE_SCHEMA: Final = schema_text(object_schema(refusal_schema(), players=_NAMES, steps=list_schema(_STEP)))
"""What a model is held to."""


class OutlineTooLarge(InvalidGame):
    """The game has more plays than can be listed one by one."""


@dataclass(frozen=True, slots=True)
class Step:
    """A draw or a move. It is made where everybody in `after` has chosen one of the options listed there."""

    who: str
    options: tuple[str, ...]
    odds: tuple[object, ...] = ()
    after: Mapping[str, frozenset[str]] = field(default_factory=dict)
    seen_by: frozenset[str] = frozenset()


_Play = tuple[tuple[Step, str], ...]
"""The steps that were made, each with the option that was drawn or chosen."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Players and steps, and the ends to which they lead, in words."""

    players: tuple[str, ...]
    steps: tuple[Step, ...]

    def ends(self) -> list[str]:
        """Name every end by its play: `heads; Lev: dare; Nora: hold`."""
        return [_name_play(play) for play in islice(self._plays((), 0), MOST_ENDS + 1)]

    def schema(self) -> str:
        """Return the schema of the sheet on which the payoffs are written."""
        return sheet_schema(self.players, self.ends())

    def read(self, answer: str) -> GameTable:
        """Return the game with the payoffs of an answer; InvalidGame says which are missing."""
        return self.build(read_payoffs(read_object(answer), self.players, self.ends()))

    def build(self, payoffs: Sequence[Sequence[Fraction]]) -> GameTable:
        """Return the game with the payoffs of every end, in the order of `ends`."""
        return build_table(self.players, self._node((), 0, iter(payoffs)))

    def check_references(self) -> None:
        """Raise InvalidGame where a step comes after an option that somebody may choose twice in a play."""
        wanted = {(who, option) for step in self.steps for who, options in step.after.items() for option in options}
        for play in self._plays((), 0):
            offered = [(step.who, option) for step, _ in play for option in step.options]
            twice = next((one for one in offered if one in wanted and offered.count(one) > 1), None)
            if twice is not None:
                name = _name_option(*twice)
                raise InvalidGame(f"a step comes after {name!r}, which is in two steps of a play; name them apart")

    def _plays(self, play: _Play, number: int) -> Iterator[_Play]:
        number = self._find_next(play, number)
        if number == len(self.steps):
            yield play
            return
        step = self.steps[number]
        for option in step.options:
            yield from self._plays((*play, (step, option)), number + 1)

    def _node(self, play: _Play, number: int, payoffs: Iterator[Sequence[Fraction]]) -> JsonObject:
        """Return the tree below a play, as nested JSON."""
        number = self._find_next(play, number)
        if number == len(self.steps):
            return {"end": _name_play(play), "payoffs": [str(one) for one in next(payoffs)]}
        step = self.steps[number]
        below = [self._node((*play, (step, option)), number + 1, payoffs) for option in step.options]
        if step.who == _LUCK:
            branches = zip(step.options, step.odds, below, strict=True)
            return {"chance": [{"draw": name, "probability": odds, "then": then} for name, odds, then in branches]}
        moves = [{"move": name, "then": then} for name, then in zip(step.options, below, strict=True)]
        return {"player": step.who, "knows": self._describe_knowledge(play, step), "moves": moves}

    def _find_next(self, play: _Play, number: int) -> int:
        made = {(step.who, option) for step, option in play}
        while number < len(self.steps) and not all(
            any((who, option) in made for option in options) for who, options in self.steps[number].after.items()
        ):
            number += 1
        return number

    def _describe_knowledge(self, play: _Play, step: Step) -> str:
        """Tell what the mover has seen, and between what there is to choose where that is not always the same."""
        seen = tuple((one, option) for one, option in play if step.who == one.who or step.who in one.seen_by)
        differs = any(one.who == step.who and set(one.options) != set(step.options) for one in self.steps)
        return "; ".join(filter(None, (_name_play(seen), f"{' or '.join(step.options)}?" if differs else "")))


def read_outline(answer: str) -> Outline:
    """Return the outline in an answer; InvalidGame says what is wrong with it."""
    data = read_object(answer)
    players = read_players(data.get("players"))
    listed = data.get("steps")
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise InvalidGame("steps must be a list of draws of luck and moves of players, in order")
    steps: list[Step] = []
    for number, one in enumerate(listed, 1):
        steps.append(_read_step(one, f"step {number}", players, steps))
    if not any(step.who != _LUCK and len(step.options) > 1 for step in steps):
        raise InvalidGame("no step gives a player a choice between two moves")
    outline = Outline(players, tuple(steps))
    count = len(outline.ends()) if len(steps) <= MOST_STEPS else 0
    if not 0 < count <= MOST_ENDS:
        raise OutlineTooLarge(f"an outline has at most {MOST_STEPS} steps and {MOST_ENDS} ends")
    outline.build([(Fraction(0),) * len(players)] * count)
    outline.check_references()
    return outline


def check_outline(answer: str) -> None:
    """Raise InvalidGame where there is no outline in an answer, or something is wrong with it."""
    read_outline(answer)


def _read_step(data: JsonObject, place: str, players: Sequence[str], before: Sequence[Step]) -> Step:
    seen_by = frozenset(who for one in _read_list(data, "seen_by", place) for who in _find_players(one, players, place))
    after: dict[str, frozenset[str]] = {}
    for one in _read_list(data, "after", place):
        for who, option in _find_options(str(one), before, place):
            after[who] = after.get(who, frozenset()) | {option}
    if _LUCK in data:
        draws = [one if isinstance(one, dict) else {} for one in _read_list(data, _LUCK, place)]
        options, who = tuple(read_name(one.get("draw")) for one in draws), _LUCK
        return Step(who, options, tuple(one.get("probability") for one in draws), after, seen_by)
    who = next(iter(_find_players(data.get("player"), players, place)), "")
    options = tuple(read_name(one) for one in _read_list(data, "moves", place))
    if not who or not options:
        raise InvalidGame(f"{place}: expected luck with its draws, or a player with moves")
    return Step(who, options, (), after, seen_by)


def _read_list(data: JsonObject, key: str, place: str) -> list[object]:
    found = data.get(key, [])
    if not isinstance(found, list):
        raise InvalidGame(f"{place}: {key} must be a list")
    return found


def _find_players(given: object, players: Sequence[str], place: str) -> tuple[str, ...]:
    name = str(given).strip().casefold()
    found = tuple(who for who in players if who.casefold() == name or name in _EVERYBODY)
    if not found and name not in _NOBODY:
        raise InvalidGame(f"{place}: {str(given)[:40]!r} is none of the players {', '.join(players)}")
    return found


def _find_options(given: str, before: Sequence[Step], place: str) -> Iterator[tuple[str, str]]:
    """Yield every earlier option of a name, which may follow the name of its player: `bet`, `Mia: bet`."""
    name = given.strip().casefold()
    made = [(step.who, option) for step in before for option in step.options]
    found = [
        (who, option)
        for who, option in made
        if name in (option.casefold(), *(f"{who}{gap}{option}".casefold() for gap in (" ", ": ", ":")))
    ]
    if not found:
        told = ", ".join(dict.fromkeys(option for _, option in made)) or "there are none"
        raise InvalidGame(f"{place}: after {given[:40]!r}, which is no draw or move of an earlier step: {told}")
    if len({who for who, _ in found}) > 1:
        told = ", ".join(dict.fromkeys(_name_option(*one) for one in found))
        raise InvalidGame(f"{place}: after {given[:40]!r}, which may be {told}; write which")
    yield from found


def _name_play(play: _Play) -> str:
    return "; ".join(_name_option(step.who, option) for step, option in play)


def _name_option(who: str, option: str) -> str:
    return option if who == _LUCK else f"{who}: {option}"
