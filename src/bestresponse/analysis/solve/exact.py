"""Security levels of tables and values of trees as fractions, where they can be proved.

A strategy found in floating point is read as simple fractions. Where what it guarantees is what the other side
concedes, in exact arithmetic, both are optimal; only games whose numbers are known exactly have such a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex
from bestresponse.theory.trees.tree import Policy
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

_SIMPLE = 1_000
_CELLS = 2_000
_LEAVES = 3_000


@dataclass(frozen=True, slots=True)
class ExactSecurity:
    """What a player can make sure of, and the strategy that does it."""

    value: Fraction
    strategy: tuple[Fraction, ...]


def exact_security(game: NormalForm, player: int) -> ExactSecurity | None:
    """The maximin of `player` as fractions; None unless payoffs are exact and simple fractions prove it.

    Both sides of the zero-sum game against all others together are read as fractions; where what one guarantees is
    what the other concedes, both are optimal.

    >>> battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> level = exact_security(battle, 0)
    >>> str(level.value), [str(p) for p in level.strategy]
    ('2/3', ['1/3', '2/3'])
    """
    own = np.moveaxis(game.given[player], player, 0).reshape(game.shape[player], -1)
    if not game.is_exact or own.size > _CELLS:
        return None
    solved = solve_zero_sum_game(own.astype(np.float64))
    rows = [[Fraction(u) for u in row] for row in own.tolist()]
    mix, against = _simple(solved.row), _simple(solved.col)
    guaranteed = min(
        sum((p * u for p, u in zip(mix, col, strict=True)), Fraction(0)) for col in zip(*rows, strict=True)
    )
    conceded = max(sum((q * u for q, u in zip(against, row, strict=True)), Fraction(0)) for row in rows)
    proved = guaranteed == conceded and min(*mix, *against) >= 0
    return ExactSecurity(guaranteed, mix) if proved else None


def _simple(mix: tuple[float, ...]) -> tuple[Fraction, ...]:
    """The nearest simple fractions; the largest takes what is missing to 1."""
    near = [Fraction(p).limit_denominator(_SIMPLE) for p in mix]
    largest = near.index(max(near))
    near[largest] += 1 - sum(near)
    return tuple(near)


def exact_value(form: SequenceForm, policy: Policy) -> Fraction | None:
    """The exact value to the first player; None where the fractions are not simple enough to be proved.

    >>> from bestresponse.theory import load_tree, solve_tree, to_sequence_form
    >>> tree = load_tree("kuhn-poker")
    >>> print(exact_value(to_sequence_form(tree), solve_tree(tree).policy))
    -1/18
    """
    if form.payoffs.shape[1] > _LEAVES or not form.tree.is_exact:
        return None
    payoffs = form.read_payoffs()
    constant = sum(form.tree.read_payoffs(int(form.tree.leaves[0])))
    plans = [_plan(plex, policy) for plex in form.plexes]
    if min(min(plan) for plan in plans) < 0:
        return None
    best = [_best_response(form, player, payoffs[player], plans[1 - player]) for player in (0, 1)]
    return best[0] if best[0] + best[1] == constant else None


def _plan(plex: Treeplex, policy: Policy) -> list[Fraction]:
    """The realization plan of the policy's nearest simple fractions; the last move of a set takes what is left."""
    behaviour = [Fraction(p).limit_denominator(_SIMPLE) for p in plex.behaviour(policy).tolist()]
    plan = [Fraction(1)] * plex.num_sequences
    for first, size, before in zip(plex.first.tolist(), plex.size.tolist(), plex.parent.tolist(), strict=True):
        left = 1 - sum(behaviour[first : first + size - 1], Fraction(0))
        for k in range(first, first + size):
            plan[k] = plan[before] * (behaviour[k] if k < first + size - 1 else left)
    return plan


def _best_response(form: SequenceForm, player: int, payoffs: list[Fraction], other: list[Fraction]) -> Fraction:
    """What `player` earns at most against the other's plan."""
    plex = form.plexes[player]
    values = [Fraction(0)] * plex.num_sequences
    ends = zip(form.sequences[player].tolist(), form.sequences[1 - player].tolist(), payoffs, strict=True)
    for own, others, payoff in ends:
        values[own] += payoff * other[others]
    for i in range(len(plex.infosets) - 1, -1, -1):
        first, size = int(plex.first[i]), int(plex.size[i])
        values[int(plex.parent[i])] += max(values[first : first + size])
    return values[0]
