"""Which positions of a game of perfect information a run asks about, and what a move is worth.

Positions are met by random, by partly random and by best play. Where there is one legal move, or
all moves are worth the same, there is nothing to decide, and nothing is asked. All players are
asked the same questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from bestresponse.analysis.truth import Values
from bestresponse.core.errors import SettingError
from bestresponse.core.game import NATURE
from bestresponse.core.seeds import generator
from bestresponse.games.positions import Moves
from bestresponse.games.twins.twin import find_base
from bestresponse.studies.bench.decisions import (
    AskedGameRow,
    DecisionPlan,
    DecisionPoint,
    find_hardness,
)
from bestresponse.studies.bench.twins import ask_which
from bestresponse.telling.render import write_history
from bestresponse.theory.positions.solve import TIE, list_best

_ERRORS = (1.0, 0.5, 0.0)
"""How often those who meet the positions move at random: players of every strength are asked about
positions that they may come to."""
_MOST_PLAYS = 40
"""For each position that is wanted; a small game has no more."""
_MOST_MOVES = 1_000
_HARD = 0.5
"""Positions are hard where uniform play loses that share of what the worst move loses, or more."""


@dataclass(frozen=True)
class PositionPlan(DecisionPlan):
    """Positions of a game that is solved by its positions."""

    @property
    def _wanted(self) -> int:
        return self.config.games

    @property
    def num_asked(self) -> int:
        """At how many positions everybody is asked."""
        return len(self._found)

    @cached_property
    def _found(self) -> tuple[tuple[DecisionPoint, Values], ...]:
        """The positions with what their moves are worth, in the order in which they were met."""
        rng = generator(self.config.seed, "positions")
        found: dict[str, tuple[DecisionPoint, Values]] = {}
        for number in range(_MOST_PLAYS * self._wanted):
            for decision, values in self._play(_ERRORS[number % len(_ERRORS)], rng):
                found.setdefault(decision.view.question, (decision, values))
                if len(found) == self._wanted:
                    return tuple(found.values())
        if not found:
            raise SettingError("game", f"{self.game.name} has no position at which a move matters")
        return tuple(found.values())

    def _play(self, error: float, rng: Random) -> Iterator[tuple[DecisionPoint, Values]]:
        """Play once, with that share of random moves; yield the positions at which moves matter."""
        game: Any = self.game
        state = game.start()
        path: Moves = ()
        while len(path) < _MOST_MOVES and (asks := game.asks(state)):
            position = game.find_position(state)
            turn = game.find_turn(position)
            if turn.role == NATURE:
                move = rng.choices(turn.moves, turn.chances)[0]
            else:
                solved = self.config.solved
                worths = solved.list_worths(game, position)
                values = Values(tuple(worths), np.array([[*worths.values()]]), solved.bound)
                if turn.role in self.config.seat and self._is_wanted(values):
                    view = game.view(state, turn.role)
                    told = " ".join(write_history(view).split())
                    place = {"path": [list(step) for step in path]}
                    yield DecisionPoint(turn.role, told, view, values.answers, place), values
                # In the order of where moves lead, which is the same however a game is told.
                moves = sorted(worths, key=lambda move: self._find_next(position, move))
                wanted = moves if rng.random() < error else list_best(worths)
                move = rng.choice([one for one in moves if one in wanted])
            state = game.apply(state, dict.fromkeys(asks, move))
            path = (*path, (turn.role, move))

    def _is_wanted(self, values: Values) -> bool:
        """Say whether moves matter at a position, and whether it is as hard as is wanted."""
        least = _HARD if self.config.difficulty == "hard" else 0.0
        return bool(np.ptp(values.worths) > TIE) and find_hardness(values) >= least

    def _find_next(self, position: object, move: str) -> str:
        game: Any = self.game
        return repr(game.find_key(game.advance(position, move)))

    @cached_property
    def decisions(self) -> Mapping[int, DecisionPoint]:
        """The positions, each with another move offered first, and which game this is."""
        asked = [decision for decision, _ in self._found]
        if self.config.recognise:
            asked.append(ask_which(asked[0].view))
        return {number: replace(one, turn=number) for number, one in enumerate(asked)}

    @property
    def num_policies(self) -> int:
        """Every position is asked about once; `num_games` says how many these are."""
        return 1

    def describe(self) -> AskedGameRow:
        """Say how many positions the game has, and what it is worth."""
        solved = self.config.solved
        return AskedGameRow(
            decisions=solved.graph.num_decisions,
            asked=self.num_asked,
            method="backward induction over positions",
            positions=len(solved.graph.known),
            bound=solved.bound,
            value=float(solved.values[0, 0]),
        )

    @property
    def what(self) -> str:
        """How many positions are asked about."""
        decisions = self.config.solved.graph.num_decisions
        return f"{self.num_asked:,} of {decisions:,} positions of {self.game.name}"

    def find_values(self, number: int) -> Values | None:
        """Return what each move is worth if both play best afterwards."""
        return self._found[number][1] if number < len(self._found) else None

    def list_best(self, number: int) -> list[str]:
        """List the best moves, or the name of the game that is asked for."""
        known = find_base(self.game.name)
        return super().list_best(number) if number < len(self._found) or not known else [known]

    def find_solution(self, number: int) -> Mapping[str, float]:
        """Make every best move equally often."""
        best = self.list_best(number)
        return {move: (move in best) / len(best) for move in self.decisions[number].moves}
