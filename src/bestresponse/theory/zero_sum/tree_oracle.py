"""Double oracle over the plans of a two-player zero-sum tree: neither the normal form nor a large program is built.

A strategy is a pure realization plan; a best reply is one pass over the sequence form. See `zero_sum.double_oracle`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy, uniform_policy
from bestresponse.theory.trees.response import find_best_plan, plan_regrets
from bestresponse.theory.trees.sequence_form import SequenceForm, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import TreeSolution
from bestresponse.theory.trees.tree import Tree
from bestresponse.theory.zero_sum.double_oracle import Bounds, search_with_oracle

__all__ = ["search_tree"]


@dataclass(frozen=True, slots=True, eq=False)
class _TreeOracle:
    """Plans of both players; payoffs are the first player's, `total` is what both get together."""

    form: SequenceForm
    total: float

    def start(self) -> tuple[Array, Array]:
        plans = self.form.plans(uniform_policy(self.form.tree))
        return find_best_plan(self.form, 0, plans)[0], find_best_plan(self.form, 1, plans)[0]

    def earn(self, first: Array, second: Array) -> float:
        return float(self.form.expected([first, second])[0])

    def reply_first(self, mixture: Sequence[tuple[float, Array]]) -> tuple[Array, float]:
        return find_best_plan(self.form, 0, [np.zeros(0), _blend(mixture)])

    def reply_second(self, mixture: Sequence[tuple[float, Array]]) -> tuple[Array, float]:
        plan, earned = find_best_plan(self.form, 1, [_blend(mixture), np.zeros(0)])
        return plan, self.total - earned


def search_tree(
    tree: Tree, *, gap: float = 1e-9, steps: int = 1000, report: Callable[[Bounds], None] | None = None
) -> TreeSolution:
    """Solve a zero-sum tree to within `gap` of its payoff range, or as well as `steps` best replies do.

    >>> from bestresponse.theory.catalogue.tree_rules import kuhn_poker
    >>> round(search_tree(kuhn_poker()).value["player 1"] * 18, 6)
    -1.0
    """
    if tree.num_players != 2 or not tree.is_constant_sum:
        raise InvalidGame(f"{tree.name or 'the tree'} is not a two-player zero-sum game, as the double oracle needs")
    form = to_sequence_form(tree)
    leaves = tree.payoffs[tree.leaves]
    scale = float(np.ptp(leaves)) or 1.0
    oracle = _TreeOracle(form, float(leaves[0].sum()))
    found = search_with_oracle(oracle, gap=gap * scale, steps=steps, report=report)
    policy = _as_policy(form, [_blend(found.first), _blend(found.second)])
    plans = form.plans(policy)
    value = dict(zip(tree.players, form.expected(plans).tolist(), strict=True))
    method = f"double oracle, {found.bounds.steps:,} steps"
    return TreeSolution(policy, value, float(plan_regrets(form, plans).sum()), method)


def _blend(mixture: Sequence[tuple[float, Array]]) -> Array:
    return np.asarray(sum(p * plan for p, plan in mixture))


def _as_policy(form: SequenceForm, plans: Sequence[Array]) -> Policy:
    return form.policy([plex.normalise(plan) for plex, plan in zip(form.plexes, plans, strict=True)])
