"""Dominated actions, iterated elimination, rationalizability and security levels.

Games may have any number of players.

Definitions: a mixture dominates action a strictly when it earns more against everything the others
can do, weakly when it never earns less and sometimes more. What survives iterated elimination of
strictly dominated actions are the rationalizable actions, where beliefs about several opponents may
be correlated (Bernheim 1984; Pearce 1984). A player's security level is what it can make sure of
whatever the others do (von Neumann 1928).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.arrays import Indices, Numbers, Rationals, as_fractions
from bestresponse.theory.equilibria.integer import maximize
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)
from bestresponse.theory.linear_program import find_mixture
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

_MARGIN = 1e-9  # of the payoff range: a smaller margin may be rounding of the linear program
_SIMPLE = 1_000  # largest denominator of probabilities that are guessed, and proved afterwards
_PROVED_CELLS = 2_000
"""Up to this many payoffs security levels are proved in fractions."""
_EXACT_CELLS = 1500
"""Up to this many payoffs mixtures are decided in whole numbers where the game is exact; above, to
1e-9."""


@dataclass(frozen=True, eq=False, slots=True)
class Domination:
    """`action` of `player` is dominated by the mixture `dominator` over the player's actions.

    `margin` is the least the dominator earns more: positive for strict, 0 for weak domination.
    """

    player: int
    action: int
    kind: Literal["strict", "weak"]
    dominator: Array
    margin: float

    @property
    def pure(self) -> bool:
        """Whether a single action dominates."""
        return int(np.count_nonzero(self.dominator)) == 1


@dataclass(frozen=True, eq=False, slots=True)
class EliminationStep:
    """One action removed in one round; numbers are those of the original game."""

    round: int
    player: int
    action: int
    kind: Literal["strict", "weak"]
    dominator: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Elimination:
    """What is left after iterated elimination.

    It has the game, the original numbers of its actions, and the steps.
    """

    game: NormalForm
    kept: tuple[tuple[int, ...], ...]
    steps: tuple[EliminationStep, ...]

    @property
    def solved(self) -> bool:
        """Whether one action is left for each player."""
        most = max(map(len, self.kept))
        return most == 1


@dataclass(frozen=True, eq=False, slots=True)
class SecurityLevel:
    """What a player can make sure of with `strategy`, up to `gap`, and with its best single action.

    `exact` are the value and the strategy as fractions, where payoffs are exact and simple
    fractions can be proved.
    """

    value: float
    strategy: Array
    pure_value: float
    pure_action: int
    gap: float
    exact: tuple[Fraction, tuple[Fraction, ...]] | None


def find_dominated(game: GameLike, *, strict: bool = False) -> tuple[Domination, ...]:
    """Find every dominated action, with what dominates it.

    This is one action if that suffices, else a mixture.

    With `strict` only those that are dominated strictly.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> [(d.player, d.action, d.kind, d.dominator.tolist()) for d in find_dominated(pd)]
    [(0, 0, 'strict', [0.0, 1.0]), (1, 0, 'strict', [0.0, 1.0])]
    """
    game = as_normal_form(game)
    dominated = []
    for player, count in enumerate(game.shape):
        for action in range(count if count > 1 else 0):
            others = np.delete(np.arange(count), action)
            lead = _Lead.of(game, player, action, others)
            kind: Literal["strict", "weak"] = "strict"
            mix = _find_strict(lead)
            if mix is None and not strict:
                kind = "weak"
                mix = _find_weak(lead)
            if mix is None:
                continue
            dominator = np.zeros(count)
            dominator[others] = mix
            dominated.append(
                Domination(
                    player=player,
                    action=action,
                    kind=kind,
                    dominator=dominator,
                    margin=float((mix @ lead.given).min()) if kind == "strict" else 0.0,
                )
            )
    return tuple(dominated)


def iterated_elimination(game: GameLike, *, strict: bool = True) -> Elimination:
    """Remove dominated actions, all of a round at once, until none is left.

    With `strict` the result does not depend on the order. Otherwise weakly dominated actions go as
    well; removing them one at a time, in another order, could leave something else.

    >>> left = iterated_elimination(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))
    >>> left.kept, len(left.steps), left.solved
    (((1,), (1,)), 2, True)
    """
    game = as_normal_form(game)
    kept = tuple(map(tuple, map(range, game.shape)))
    steps: list[EliminationStep] = []
    current = game
    for turn in range(1, sum(game.shape)):
        gone = find_dominated(current, strict=strict)
        if not gone:
            break
        for d in gone:
            numbers = kept[d.player]
            used = np.flatnonzero(d.dominator)
            step = EliminationStep(
                round=turn,
                player=d.player,
                action=numbers[d.action],
                kind=d.kind,
                dominator=tuple((numbers[a], float(d.dominator[a])) for a in used),
            )
            steps.append(step)
        kept = _leave_out(kept, steps)
        current = game.restrict(kept)
    return Elimination(current, kept, tuple(steps))


def _leave_out(
    kept: tuple[tuple[int, ...], ...], steps: Sequence[EliminationStep]
) -> tuple[tuple[int, ...], ...]:
    """Return the actions of every player that no step has removed."""
    removed = {(step.player, step.action) for step in steps}
    left = []
    for player, actions in enumerate(kept):
        stay = [action for action in actions if (player, action) not in removed]
        left.append(tuple(stay))
    return tuple(left)


def rationalizable(game: GameLike) -> tuple[tuple[int, ...], ...]:
    """Return for each player the actions that common knowledge of rationality leaves.

    >>> rationalizable(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))
    ((1,), (1,))
    """
    return iterated_elimination(game).kept


def maximin(game: GameLike, player: int) -> SecurityLevel:
    """Return the most `player` can make sure of, and how.

    The others are taken to act together against it.

    >>> level = maximin(NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]]), 0)
    >>> round(level.value, 9), level.pure_value
    (0.666666667, 0.0)
    >>> str(level.exact[0]), [str(p) for p in level.exact[1]]
    ('2/3', ['1/3', '2/3'])
    """
    game = as_normal_form(game)
    if not 0 <= player < game.num_players:
        raise UsageError(f"player: expected 0 to {game.num_players - 1}, got {player}")
    payoffs = _by_action(game, game.payoffs, player)
    solved = solve_zero_sum_game(payoffs)
    worst = payoffs.min(axis=1)
    exact = None
    if game.is_exact and payoffs.size <= _PROVED_CELLS:
        # Where what one side guarantees is what the other concedes, in exact arithmetic, both are
        # optimal.
        table = as_fractions(_by_action(game, game.given, player))
        mix = _read_simple(solved.row)
        against = _read_simple(solved.col)
        guaranteed = min(mix @ table)
        conceded = max(table @ against)
        if guaranteed == conceded and min(*mix, *against) >= 0:
            exact = guaranteed, tuple(mix)
    return SecurityLevel(
        value=solved.value,
        strategy=np.array(solved.row),
        pure_value=float(worst.max()),
        pure_action=int(worst.argmax()),
        gap=solved.gap,
        exact=exact,
    )


def _read_simple(mix: Sequence[float]) -> Rationals:
    """Give the nearest simple fractions; the largest takes what is missing to 1."""
    fractions = [Fraction(p).limit_denominator(_SIMPLE) for p in mix]
    near = np.array(fractions, dtype=object)
    near[near.argmax()] += 1 - near.sum()
    return near


def _by_action(game: NormalForm, numbers: Array | Rationals, player: int) -> Array:
    own_first = np.moveaxis(numbers[player], player, 0)
    return np.asarray(own_first.reshape(game.shape[player], -1))


@dataclass(frozen=True, eq=False, slots=True)
class _Lead:
    """What the other actions of a player earn more than one, against everything the others can do.

    It has the differences of what is compared, whose signs are sure, of the payoffs as they were
    given, and of whole numbers of a common unit: against each thing the others can do, and only
    where there are not too many.
    """

    compared: Numbers
    given: Numbers
    columns: list[list[int]] | None

    @classmethod
    def of(cls, game: NormalForm, player: int, action: int, others: Indices) -> _Lead:
        """Compare an action of a player with others."""
        tables = [game.compared[player], game.given[player]]
        if game.payoffs[player].size <= _EXACT_CELLS and game.units is not None:
            tables.append(game.units[player])
        leads = []
        for table in tables:
            rows = np.moveaxis(table, player, 0).reshape(game.shape[player], -1)
            leads.append(rows[others] - rows[action])
        compared, given, *whole = leads
        return cls(compared, given, whole[0].T.tolist() if whole else None)


def _find_strict(lead: _Lead) -> Array | Rationals | None:
    """Find a mixture of the other actions that dominates strictly.

    Such mixtures play a zero-sum game against the others, and the action is dominated when its
    value is positive.
    """
    worst = lead.compared.min(axis=1)
    if worst.max() > 0:
        return np.asarray(np.eye(len(worst))[worst.argmax()])
    if (lead.compared.max(axis=0) <= 0).any():
        return None
    if lead.columns is not None:
        return _find_strict_exactly(lead.columns)
    floats = np.asarray(lead.given, dtype=np.float64)
    mix = np.array(solve_zero_sum_game(floats).row)
    return mix if (mix @ floats).min() > _MARGIN * np.ptp(floats) else None


def _find_strict_exactly(columns: list[list[int]]) -> Rationals | None:
    """In whole numbers: maximise t over mixtures p and t >= 0 with p'lead >= t everywhere."""
    gains = []
    for column in columns:
        gains.append([*(-u for u in column), 1])
    worth = [0] * len(columns[0]) + [1]
    *point, value = maximize(gains, worth)
    return _make_mixture(point) if value > 0 else None


def _make_mixture(point: Sequence[int]) -> Rationals | None:
    """Give weights as shares of their sum; None where all are 0."""
    total = sum(point)
    return np.array([Fraction(p, total) for p in point], dtype=object) if total else None


def _find_weak(lead: _Lead) -> Array | Rationals | None:
    never_behind = (lead.compared >= 0).all(axis=1)
    sometimes_ahead = (lead.compared > 0).any(axis=1)
    alone = np.flatnonzero(never_behind & sometimes_ahead)
    if len(alone):
        return np.asarray(np.eye(len(lead.compared))[alone[0]])
    best = lead.compared.max(axis=0)
    if len(lead.compared) == 1 or best.min() < 0 or best.max() <= 0:
        return None
    if lead.columns is not None:
        # In whole numbers: maximise the sum of p'lead over mixtures that are never behind.
        gains = [[-u for u in column] for column in lead.columns]
        return _make_mixture(maximize(gains, [sum(row) for row in zip(*lead.columns, strict=True)]))
    floats = np.asarray(lead.given, dtype=np.float64)
    return find_weak_mixture(floats / np.ptp(floats))


def find_weak_mixture(lead: Array) -> Array | None:
    """Find the mixture that is never behind and ahead the most in total.

    Returns None where none is ahead anywhere.
    """
    mix = find_mixture(-lead.sum(axis=1), -lead.T, np.zeros(lead.shape[1]))
    if mix is None:
        return None
    ahead = mix @ lead
    is_nowhere_less = ahead.min() > -_MARGIN
    is_somewhere_more = ahead.max() > 10 * _MARGIN
    return mix if is_nowhere_less and is_somewhere_more else None
