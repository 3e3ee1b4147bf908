"""An agent: a game and a strategy, both as logic programs, under a name.

Agents are values. They are made from rules (text, files or the published strategies), saved and loaded as JSON, cloned,
and changed by replacing the strategy or the default move; each change gives a new agent. What an agent does is a
table (`table_for`), taken out of its rules inside a logic engine; the rules never run anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.strategies.automaton import build_automaton
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.formal.strategies.table_program import write_program
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.programs.strategies import SeatsFound, StrategyMachine, StrategyTable
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import Automaton


@dataclass(frozen=True, slots=True)
class Agent:
    """`game` and `rules` are programs; `words` says where the strategy comes from, if it was told in words."""

    name: str
    game: str
    rules: str
    default_move: str | None = None
    words: str = ""

    @classmethod
    def of(cls, name: str, game: str | Path | NormalForm, strategy: str | Path) -> Agent:
        """A game as program text, file or payoff table; a strategy as rules, file, or name of a published one.

        >>> from bestresponse.theory.catalogue.tables import load
        >>> Agent.of("Ada", load("prisoners-dilemma"), "tit-for-tat").name
        'Ada'
        """
        program = write_program(game) if isinstance(game, NormalForm) else _text(game)
        return cls(name, program, _strategy(strategy))

    def clone(self, name: str) -> Agent:
        """The same agent under another name."""
        return replace(self, name=name)

    def with_strategy(self, strategy: str | Path) -> Agent:
        """Another strategy for the same game."""
        return replace(self, rules=_strategy(strategy), words="")

    def with_default_move(self, move: str | None) -> Agent:
        """Another default move than the one the game names; None for the game's own."""
        return replace(self, default_move=move)

    def to_json(self) -> JsonObject:
        """Return the agent as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: JsonMapping) -> Agent:
        """Read an agent from plain data; UsageError where it is none."""
        known = {field.name for field in fields(cls)}
        if not {"name", "game", "rules"} <= set(data) <= known:
            raise UsageError(
                f"expected an agent with name, game and rules, got {', '.join(map(str, data)) or 'nothing'}"
            )
        texts = {name: value for name, value in data.items() if name != "default_move" or value is not None}
        if not all(isinstance(value, str) for value in texts.values()):
            raise UsageError("name, game, rules, default_move and words of an agent are texts")
        return cls(**data)

    def save(self, path: Path) -> None:
        """Write the agent to a JSON file."""
        path.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path) -> Agent:
        """Read an agent from a JSON file."""
        try:
            data = json.loads(read_text_file(path))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}: expected an agent as JSON: {error}") from None
        if not isinstance(data, dict):
            raise UsageError(f"{path}: expected an agent as a JSON object")
        return cls.from_json(data)

    def seats(self) -> Seats:
        """Return what it does in either seat of its game; all of it is found out in a confined process."""
        return Seats(self.name, ConfinedEngine().find_seats(self.game, self.rules, self.default_move))


@dataclass(frozen=True, slots=True)
class Seats:
    """The two seats of an agent's game: who sits there, which moves there are, what the agent does."""

    agent: str
    found: SeatsFound

    def table(self, seat: int) -> StrategyTable:
        """What the agent does in seat 0 or 1; InvalidGame where its rules do not say, or keep a memory."""
        behaviour = self._behaviour(seat)
        if isinstance(behaviour, StrategyMachine):
            raise InvalidGame(f"the strategy {self.agent} keeps a memory of its own; it is an automaton, not a table")
        return behaviour

    def automaton(self, seat: int, actions: Sequence[Sequence[str]] = ((), ())) -> Automaton:
        """The same as an automaton; `actions` are the moves of both seats in the order the game lists them."""
        return build_automaton(self._behaviour(seat), self.agent, actions[seat], actions[1 - seat])

    def _behaviour(self, seat: int) -> StrategyTable | StrategyMachine:
        behaviour = self.found.behaviour[seat]
        if isinstance(behaviour, str):
            raise InvalidGame(behaviour)
        return behaviour


def _text(source: str | Path) -> str:
    return read_text_file(source) if isinstance(source, Path) else source


def _strategy(strategy: str | Path) -> str:
    return published_strategy(strategy) if strategy in PUBLISHED and isinstance(strategy, str) else _text(strategy)
