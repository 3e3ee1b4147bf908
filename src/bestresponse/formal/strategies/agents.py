"""An agent: a game and a strategy, both as logic programs, under a name.

Agents are values. They are made from rules (text, files or the published strategies), saved and loaded as JSON, cloned,
and changed by replacing the strategy or the default move; each change gives a new agent. What an agent does is a
table (`table_for`), taken out of its rules inside a logic engine; the rules never run anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.formal.strategies.automaton import build_automaton, explore_memory
from bestresponse.formal.strategies.programs import PUBLISHED, published_strategy
from bestresponse.formal.strategies.table_program import write_program
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.gate.check import GatedProgram, check
from bestresponse.logic.language.terms import Atom, Struct, Term, write
from bestresponse.logic.programs.strategies import StrategyReader, StrategyTable, find_move_terms, strategy_table
from bestresponse.logic.programs.table import label
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import Automaton

__all__ = ["Agent", "Seats", "find_seats"]


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
            data = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise UsageError(f"{path}: expected an agent as JSON: {error}") from None
        if not isinstance(data, dict):
            raise UsageError(f"{path}: expected an agent as a JSON object")
        return cls.from_json(data)

    def seats(self) -> Seats:
        """The players and moves of its game, and the program both strategies and game stand in."""
        return find_seats(self)


@dataclass(frozen=True, slots=True)
class Seats:
    """The two seats of an agent's game: who sits there, which moves there are, where play starts."""

    agent: str
    program: GatedProgram
    players: tuple[str, str]
    moves: tuple[str, ...]
    situation: str

    @property
    def remembers(self) -> bool:
        """Whether the strategy keeps a memory of its own."""
        return "start_memory/1" in self.program.defined

    def table(self, seat: int) -> StrategyTable:
        """What the agent does in seat 0 or 1; InvalidGame where its rules do not say."""
        own, other = self.players[seat], self.players[1 - seat]
        return strategy_table(self.program, own, other, self.moves, self.situation)

    def automaton(self, seat: int, actions: Sequence[Sequence[str]] = ((), ())) -> Automaton:
        """The same as an automaton; `actions` are the moves of both seats in the order the game lists them."""
        if self.remembers:
            reader = StrategyReader(self.program, self.players[seat], self.players[1 - seat], self.situation)
            own, other = actions[seat] or self.moves, actions[1 - seat] or self.moves
            return explore_memory(reader, self.agent, own, other)
        return build_automaton(self.table(seat), self.agent, actions[seat], actions[1 - seat])


def find_seats(agent: Agent) -> Seats:
    """Look into the agent's game: two players who move once, at the same time, with the same moves."""
    engine = EmbeddedEngine()
    report = validate(agent.game, engine)
    table = report.table
    if table is None or not report.ok:
        raise InvalidGame(f"the game of {agent.name} is none: {'; '.join(map(str, report.errors[:3]))}")
    if len(table.players) != 2 or table.sequential or set(table.moves[0]) != set(table.moves[1]):
        raise InvalidGame("a match needs two players who choose among the same moves at the same time")
    moves = table.moves[0]
    terms = find_move_terms(engine, engine.load(check(agent.game)))
    gated = check(f"{agent.game}\n{_opposites(report.defined, moves, terms)}\n{agent.rules}").require()
    program = engine.load(gated)
    situation = label(engine.solutions(program, "initial(S)", 1)[0]["S"])
    players = (table.players[0], table.players[1])
    gated = _with_defaults(agent, gated, engine, players, moves, situation)
    return Seats(agent.name, gated, players, moves, situation)


def _with_defaults(
    agent: Agent,
    gated: GatedProgram,
    engine: EmbeddedEngine,
    players: tuple[str, str],
    moves: tuple[str, ...],
    situation: str,
) -> GatedProgram:
    """The program with the agent's default move, or with the first move where neither it nor the game names one."""
    if agent.default_move is not None and agent.default_move not in moves:
        raise UsageError(f"the default move {agent.default_move!r} is none of {', '.join(moves)}")
    move = agent.default_move
    if move is None:
        asked = "initial(S), holds(default_move(_, M), S)"
        if engine.solutions(engine.load(gated), asked, 1):
            return gated
        move = moves[0]
    term = find_move_terms(engine, engine.load(gated)).get(move, Atom(move))
    given = [(Struct("default_move", (Atom(who), term)), Atom(situation)) for who in players]
    return gated.given(given)


def _opposites(defined: frozenset[str], moves: tuple[str, ...], terms: Mapping[str, Term]) -> str:
    """Of two moves each is the opposite of the other, also where the game does not say so."""
    if "opposite_move/2" in defined or len(moves) != 2:
        return ""
    one, other = (write(terms.get(move, Atom(move))) for move in moves)
    return f"opposite_move({one}, {other}).\nopposite_move({other}, {one}).\n"


def _text(source: str | Path) -> str:
    return source.read_text("utf-8-sig") if isinstance(source, Path) else source


def _strategy(strategy: str | Path) -> str:
    return published_strategy(strategy) if strategy in PUBLISHED and isinstance(strategy, str) else _text(strategy)
