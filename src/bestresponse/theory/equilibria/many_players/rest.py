"""What iterated elimination leaves of a game, and its equilibria as those of the whole game.

A strictly dominated action is played in no equilibrium, and a player who has one action left plays
it: the equilibria of the game are those of the players who still have a choice, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.engines import Engine
from bestresponse.theory.equilibria.result import (
    Component,
    Continuum,
    Equilibrium,
    Fractions,
    NashResult,
    NashSubset,
)
from bestresponse.theory.equilibria.solve import solve_bimatrix
from bestresponse.theory.games.dominance import iterated_elimination
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile

_FLAT = 1e-9  # of differences between strategies: what is smaller is rounding


@dataclass(frozen=True, slots=True, eq=False)
class ReducedGame:
    """The game of the players who have a choice left, within the `whole` game.

    `seats` are their numbers there, `kept` are the actions that every player of the whole game has
    left. Where fewer than two players have a choice, others with one action fill up to two; the
    second of a game of one player is made up.
    """

    whole: NormalForm
    game: NormalForm
    seats: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...]

    def carry(
        self,
        strategies: Profile,
        exact: Fractions | None,
        index: int | None,
        in_continuum: bool,
    ) -> Equilibrium:
        """Describe an equilibrium of the rest as one of the whole game."""
        fractions = None if exact is None else self._spread_fractions(exact)
        profile = self.spread(strategies)
        return Equilibrium.at(self.whole, profile, fractions, index, in_continuum)

    def spread(self, strategies: Profile) -> Profile:
        """Give strategies in the rest as those of all players over all actions."""
        profile = tuple(np.zeros(m) for m in self.whole.shape)
        for mix, actions in zip(profile, self.kept, strict=True):
            mix[actions[0]] = 1.0  # those without a choice; the others are written over
        for seat, strategy in zip(self.seats, strategies, strict=False):
            profile[seat][list(self.kept[seat])] = strategy
        return profile

    def _spread_fractions(self, exact: Fractions) -> Fractions:
        profile = [[Fraction(0)] * m for m in self.whole.shape]
        for mix, actions in zip(profile, self.kept, strict=True):
            mix[actions[0]] = Fraction(1)
        for seat, strategy in zip(self.seats, exact, strict=False):
            for action, share in zip(self.kept[seat], strategy, strict=True):
                profile[seat][action] = share
        return tuple(map(tuple, profile))

    def carry_continuum(self, continuum: Continuum) -> Continuum:
        """Describe a continuum of the rest as one of the whole game."""
        path = tuple(map(self.spread, continuum.path))
        return Continuum(continuum.dimension, path)

    def solve_simple(self, engine: Engine, deadline: Deadline) -> NashResult | None:
        """Solve a rest of at most two players with a choice.

        Returns None if it is another, too large, or takes longer than the `deadline`.
        """
        if self.game.num_players > 2:
            return None
        try:
            solved = solve_bimatrix(self.game, engine=engine, deadline=deadline)
        except (TooLarge, NotCertified):
            return None
        return self._carry_result(solved)

    def _carry_result(self, solved: NashResult) -> NashResult:
        carried = {
            id(e): self.carry(
                e.strategies,
                e.exact,
                e.index,
                e.in_continuum,
            )
            for e in solved
        }
        components = []
        continua: list[Continuum] = []
        for component in solved.components if solved.spans else ():
            listed = tuple(carried[id(e)] for e in component.equilibria)
            subsets = tuple(map(self._carry_subset, component.subsets))
            components.append(Component(listed, subsets, component.index))
            if not component.isolated:
                continua.extend(map(self._join, component.subsets))
        left = list(map(len, self.kept))
        if max(left) == 1:
            method = "iterated elimination"
        elif left == list(self.whole.shape):
            method = solved.method
        else:
            method = f"iterated elimination, {solved.method}"
        return NashResult(
            tuple(carried.values()),
            method,
            True,
            solved.spans,
            engine=solved.engine,
            continua=tuple(continua),
            known_components=tuple(components),
        )

    def _carry_subset(self, subset: NashSubset) -> NashSubset:
        sides = []
        for number, rows in enumerate((subset.x, subset.y)):
            if number < len(self.seats):
                seat = self.seats[number]
                wide = np.zeros((len(rows), self.whole.shape[seat]))
                wide[:, list(self.kept[seat])] = rows
                sides.append(wide)
            else:
                sides.append(rows)
        return NashSubset(sides[0], sides[1], self.seats)

    def _join(self, subset: NashSubset) -> Continuum:
        """Describe a product of two polytopes by its dimension and a line through its middle."""
        corners = zip((subset.x[0], subset.y[0]), (subset.x[-1], subset.y[-1]), strict=True)
        first, last = zip(*corners, strict=True)
        middle = (subset.x.mean(axis=0), subset.y.mean(axis=0))
        path = tuple(map(self.spread, (first, middle, last)))
        return Continuum(_count_dimensions(subset.x) + _count_dimensions(subset.y), path)


def _count_dimensions(corners: Array) -> int:
    return int(np.linalg.matrix_rank(corners - corners[0], tol=_FLAT))


def find_rest(game: NormalForm) -> ReducedGame:
    """Eliminate strictly dominated actions, then players without a choice."""
    left = iterated_elimination(game)
    seats = [i for i, actions in enumerate(left.kept) if len(actions) > 1]
    for i in range(game.num_players):
        if len(seats) < 2 and i not in seats:
            seats.append(i)
    seats.sort()
    fixed = tuple(i for i in range(game.num_players) if i not in seats)
    payoffs = left.game.given[seats]
    if fixed:
        axes = [i + 1 for i in fixed]
        payoffs = payoffs.squeeze(axis=tuple(axes))
    if len(seats) == 1:  # a game of one player
        own = payoffs[0][:, None]
        payoffs = np.stack([own, np.zeros_like(own)])
    players = tuple(game.players[i] for i in seats)
    actions = tuple(left.game.actions[i] for i in seats)
    if len(seats) == 1:
        players = ()
        actions = ()
    exact = None if left.game.rationals is None else payoffs.astype(object)
    rest = NormalForm(payoffs.astype(np.float64), players, actions, game.name, exact)
    return ReducedGame(game, rest, tuple(seats), left.kept)
