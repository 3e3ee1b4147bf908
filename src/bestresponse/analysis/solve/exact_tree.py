"""The value of a two-player constant-sum tree as a fraction, proved by exact best responses.

A policy found in floating point is read as simple fractions. If the exact best-response values of both players add up
to the constant sum, neither can gain: the policy is an equilibrium and the first player's best-response value is the
value of the game. Payoffs and chances are the simple fractions that their floats stand for (0.1 is 1/10).
"""

from __future__ import annotations

from fractions import Fraction

from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex

__all__ = ["exact_value"]

_PROBABILITY = 1_000
_PAYOFF = 1_000_000
_LEAVES = 3_000
_ROUNDING = 1e-12


def exact_value(form: SequenceForm, policy: Policy) -> Fraction | None:
    """The exact value to the first player; None where the fractions are not simple enough to be proved.

    >>> from bestresponse.theory import load_tree, solve_tree, to_sequence_form
    >>> tree = load_tree("kuhn-poker")
    >>> print(exact_value(to_sequence_form(tree), solve_tree(tree).policy))
    -1/18
    """
    if form.payoffs.shape[1] > _LEAVES:
        return None
    payoffs = [[Fraction(u).limit_denominator(_PAYOFF) for u in row] for row in form.payoffs.tolist()]
    totals = form.tree.payoffs[form.tree.leaves].sum(axis=1)
    constant = Fraction(float(totals[0])).limit_denominator(_PAYOFF)
    if not _agree(payoffs, form.payoffs.tolist()) or not _agree([[constant]], [[float(totals[0])]]):
        return None
    plans = [_plan(plex, policy) for plex in form.plexes]
    if min(min(plan) for plan in plans) < 0:
        return None
    best = [_best_response(form, player, payoffs[player], plans[1 - player]) for player in (0, 1)]
    return best[0] if best[0] + best[1] == constant else None


def _agree(fractions: list[list[Fraction]], floats: list[list[float]]) -> bool:
    pairs = [(f, u) for row, numbers in zip(fractions, floats, strict=True) for f, u in zip(row, numbers, strict=True)]
    return all(abs(float(f) - u) <= _ROUNDING * max(1.0, abs(u)) for f, u in pairs)


def _plan(plex: Treeplex, policy: Policy) -> list[Fraction]:
    """The realization plan of the policy's nearest simple fractions; the last move of a set takes what is left."""
    behaviour = [Fraction(p).limit_denominator(_PROBABILITY) for p in plex.behaviour(policy).tolist()]
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
