"""Strategies of finite memory as tables: what `select/4` answers in every situation it can meet.

A strategy sees the last move of each player (`holds(last_move(Player, Move), S)`). It is asked once for the first round
and once for every pair of last moves; one that keeps a memory of its own (`start_memory/1`, `next_memory/4`) sees that
too (`holds(memory(Player, State), S)`). Random predicates are unfolded, not sampled, so the table of a mixed strategy
is exact: each call of `random_member/2` and the like branches into all its outcomes with their probabilities.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bestresponse.core.errors import InvalidGame, LimitReached
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import Limits, LogicEngine, Program
from bestresponse.logic.gate.check import GatedProgram
from bestresponse.logic.language.terms import Atom, Struct, Term, Var, variables_of, write
from bestresponse.logic.programs.table import label

__all__ = ["Mixture", "StrategyReader", "StrategyTable", "find_move_terms", "strategy_table"]

MAX_BRANCHES = 1_000
_MOST_MOVES = 20

Mixture = tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class StrategyTable:
    """What a player does first, and after each (own last move, opponent's last move), as moves with probabilities."""

    player: str
    opponent: str
    moves: tuple[str, ...]
    first: Mixture
    after: tuple[tuple[tuple[str, str], Mixture], ...]

    def reply(self, own: str, other: str) -> Mixture:
        """The moves after a pair of last moves."""
        return dict(self.after)[own, other]

    @property
    def pure(self) -> bool:
        """Whether it never leaves anything to chance."""
        return all(len(mixture) == 1 for mixture in (self.first, *(mixture for _, mixture in self.after)))


def strategy_table(reader: StrategyReader, moves: Sequence[str]) -> StrategyTable:
    """Return what a strategy does first and after each pair of last moves."""
    first = reader.mix(None)
    pairs = [(own, other) for own in moves for other in moves]
    return StrategyTable(*reader.players, tuple(moves), first, tuple((pair, reader.mix(pair)) for pair in pairs))


class StrategyReader:
    """Ask the rules of a strategy (game and `select/4` in one program) what they do, and what they remember."""

    def __init__(
        self,
        program: GatedProgram,
        player: str,
        opponent: str,
        situation: str = "s0",
        limits: Limits | None = None,
    ) -> None:
        self._source = _Unfolding()
        self._engine = _Unfolded(self._source, limits or Limits())
        self._loaded = self._engine.load(program)
        self.players = (player, opponent)
        self._situation = Atom(situation)
        self._terms = find_move_terms(self._engine, self._loaded)

    def mix(self, last: tuple[str, str] | None, memory: Term | None = None) -> Mixture:
        """Return the moves after a pair of last moves, own first, and with a state of memory, where there are such."""
        goal = self._write_goal(last, memory)
        return _unfold(self._source, lambda: self._engine.solutions(self._loaded, goal, 1), last)

    def list_moves(self, last: tuple[str, str] | None) -> tuple[str, ...]:
        """Return all moves that the rules give after a pair of last moves; only the first would be made."""
        found = self._engine.solutions(self._loaded, self._write_goal(last, None), _MOST_MOVES)
        return tuple(dict.fromkeys(label(answer["Move"]) for answer in found))

    def start(self) -> Term:
        """Return the state of memory before the first round."""
        return self._ask(Struct("start_memory", (Var("State"),)), "before the first round")

    def remember(self, memory: Term, last: tuple[str, str]) -> Term:
        """Return the state of memory after a round."""
        moves = tuple(self._find_term(move) for move in last)
        goal = Struct("next_memory", (memory, *moves, Var("State")))
        return self._ask(goal, f"after {write(memory)}, own {last[0]} and the other's {last[1]}")

    def _ask(self, goal: Term, place: str) -> Term:
        found = self._engine.solutions(self._loaded, goal, 1)
        if not found or variables_of(found[0]["State"]):
            raise InvalidGame(f"The strategy has no state of memory {place}.")
        return found[0]["State"]

    def _write_goal(self, last: tuple[str, str] | None, memory: Term | None) -> Term:
        player, opponent = self.players
        goal: Term = Struct("select", (Atom(player), Atom(opponent), self._situation, Var("Move")))
        fluents = [
            Struct("last_move", (Atom(who), self._find_term(move)))
            for who, move in zip(self.players, last or (), strict=False)
        ]
        if memory is not None:
            fluents.append(Struct("memory", (Atom(player), memory)))
        for fluent in fluents:
            goal = Struct(",", (Struct("initialise", (fluent, self._situation)), goal))
        return goal

    def _find_term(self, move: str) -> Term:
        return self._terms.get(move, Atom(move))


def find_move_terms(engine: LogicEngine, program: Program) -> dict[str, Term]:
    """Return the terms of the first moves by their labels: the label `1` may stand for a number or for a name."""
    found = engine.solutions(program, "initial(S), legal(move(_, M), S)", MAX_BRANCHES)
    return {label(answer["M"]): answer["M"] for answer in found}


class _Unfolded(EmbeddedEngine):
    """An engine whose random choices are taken from an unfolding."""

    def __init__(self, source: _Unfolding, limits: Limits) -> None:
        super().__init__(limits)
        self._draw = source.randint


class _Unfolding(random.Random):
    """Walks through all outcomes of a sequence of random choices: each run takes one, `advance` moves to the next."""

    def __init__(self) -> None:
        super().__init__(0)
        self.path: list[int] = []
        self.sizes: list[int] = []

    def begin(self) -> None:
        """Start a run on the present path."""
        self.sizes = []

    def advance(self) -> bool:
        """Move to the next path; false when all have been taken."""
        path = self.path[: len(self.sizes)]
        while path and path[-1] + 1 >= self.sizes[len(path) - 1]:
            path.pop()
        if not path:
            self.path = []
            return False
        path[-1] += 1
        self.path = path
        return True

    @property
    def probability(self) -> Fraction:
        """How likely the run just made is."""
        chance = Fraction(1)
        for size in self.sizes:
            chance /= size
        return chance

    def _take(self, size: int) -> int:
        depth = len(self.sizes)
        if depth == len(self.path):
            self.path.append(0)
        self.sizes.append(size)
        return self.path[depth]

    def randint(self, a: int, b: int) -> int:
        return a + self._take(b - a + 1)


def _unfold(source: _Unfolding, ask: Any, last: tuple[str, str] | None) -> Mixture:
    chances: dict[str, Fraction] = {}
    lost = Fraction(0)
    for _ in range(MAX_BRANCHES):
        source.begin()
        answers = ask()
        if answers:
            move = label(answers[0]["Move"])
            chances[move] = chances.get(move, Fraction(0)) + source.probability
        else:
            lost += source.probability
        if not source.advance():
            if lost:
                raise InvalidGame(f"The strategy gives no move {_when(last)}{_how_often(lost)}.")
            return tuple(chances.items())
    raise LimitReached(f"The strategy has more than {MAX_BRANCHES:,} random outcomes.")


def _when(last: tuple[str, str] | None) -> str:
    return f"after {last[0]} and {last[1]}" if last else "in the first round"


def _how_often(lost: Fraction) -> str:
    return "" if lost == 1 else f" with probability {lost}"
