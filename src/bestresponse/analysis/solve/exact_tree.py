"""The value of a two-player constant-sum tree as a fraction, proved by exact best responses.

A policy found in floating point is read as simple fractions. If the exact best-response values of both players add up
to the constant sum, neither can gain: the policy is an equilibrium and the first player's best-response value is the
value of the game. Only trees whose numbers are known exactly have one.
"""

from __future__ import annotations

from fractions import Fraction

from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex

__all__ = ["exact_value"]

_PROBABILITY = 1_000
_LEAVES = 3_000


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
