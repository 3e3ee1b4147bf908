"""Double oracle over the sequences of a two-player zero-sum tree.

No linear program over the whole tree is solved.

Both players start with one plan. The game in which only sequences of the plans so far may be played
is solved by its sequence form; best replies in the whole tree add their sequences, until neither
player earns more. What the replies earn bounds the value from both sides at every step, so that a
search that is stopped has an answer as good as its gap. Moves of different plans combine freely, so
that far fewer steps are needed than plans are mixed.

H. B. McMahan, G. J. Gordon and A. Blum, "Planning in the presence of cost functions controlled by
an adversary", ICML 2003; B. Bosansky, C. Kiekintveld, V. Lisy and M. Pechoucek, "An exact
double-oracle algorithm for zero-sum extensive-form games with imperfect information", Journal of
Artificial Intelligence Research 51, 2014.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.arrays import find_range
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    Treeplex,
    find_best_plan,
    to_sequence_form,
)
from bestresponse.theory.trees.sequence_form_lp import TreeSolution, certify_plans, optimise_plans
from bestresponse.theory.trees.tree import Tree, uniform_policy


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """Between which numbers the value lies after `steps` steps."""

    low: float
    high: float
    steps: int

    def __str__(self) -> str:
        return (
            f"the value lies between {self.low:.6g} and {self.high:.6g} after {self.steps:,} steps"
        )


Kept = NDArray[np.bool_]


def search_tree(
    tree: Tree,
    *,
    gap: float = 1e-9,
    steps: int = 1000,
    seconds: float = inf,
    report: Callable[[ValueBounds], None] | None = None,
) -> TreeSolution:
    """Solve a zero-sum tree to within `gap` of its payoff range.

    Otherwise solves it as well as `steps` best replies or `seconds` allow.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> round(search_tree(kuhn_poker()).value["player 1"] * 18, 6)
    -1.0
    """
    if tree.num_players != 2 or not tree.is_constant_sum:
        raise InvalidGame(
            f"{tree.name or 'the tree'} is not a two-player zero-sum game, as the double oracle"
            " needs"
        )
    form = to_sequence_form(tree)
    leaves = tree.payoffs[tree.leaves]
    aim = _Aim(
        total=float(leaves[0].sum()),
        gap=gap * find_range(leaves),
        steps=steps,
        deadline=Deadline.after(seconds),
    )
    bounds, weights = _search(form, aim, report)
    return certify_plans(form, weights, f"double oracle, {bounds.steps:,} steps")


@dataclass(frozen=True, slots=True)
class _Aim:
    """When a search ends: at a gap, after some steps, or at the deadline.

    The `gap` is between the bounds. `total` is what both players get together.
    """

    total: float
    gap: float
    steps: int
    deadline: Deadline


def _search(
    form: SequenceForm,
    aim: _Aim,
    report: Callable[[ValueBounds], None] | None,
) -> tuple[ValueBounds, list[Array]]:
    """Give the best bounds and the behaviours that prove them."""
    plans = form.plans(uniform_policy(form.tree))
    kept = [find_best_plan(form, player, plans)[0] > 0.0 for player in (0, 1)]
    best: tuple[ValueBounds, list[Array]] | None = None
    for step in range(1, aim.steps + 1):
        behaviours = _solve_kept(form, kept)
        plans = [
            plex.plan(behaviour) for plex, behaviour in zip(form.plexes, behaviours, strict=True)
        ]
        (row, high), (col, earned) = (find_best_plan(form, player, plans) for player in (0, 1))
        bounds = ValueBounds(aim.total - earned, high, step)
        if best is None or bounds.high - bounds.low < best[0].high - best[0].low:
            best = bounds, behaviours
        if report is not None:
            report(best[0])
        new = [have | (plan > 0.0) for have, plan in zip(kept, (row, col), strict=True)]
        is_settled = bounds.high - bounds.low <= aim.gap or all(map(np.array_equal, new, kept))
        if is_settled or aim.deadline.is_over:
            break
        kept = new
    assert best is not None
    return best


def _solve_kept(form: SequenceForm, kept: Sequence[Kept]) -> list[Array]:
    """Find optimal behaviours of the game in which only the sequences kept may be played."""
    number = [np.cumsum(have) - 1 for have in kept]
    both = kept[0][form.sequences[0]] & kept[1][form.sequences[1]]
    sequences = np.stack(
        [names[ends[both]] for names, ends in zip(number, form.sequences, strict=True)]
    )
    plexes = tuple(_restrict(plex, have) for plex, have in zip(form.plexes, kept, strict=True))
    small = SequenceForm(
        form.tree,
        plexes,
        sequences,
        form.payoffs[:, both],
        form.merged_leaves,
    )
    behaviours = []
    for plex, have, plan in zip(form.plexes, kept, optimise_plans(small), strict=True):
        whole = np.zeros(plex.num_sequences)
        whole[have] = plan
        behaviours.append(plex.normalise(whole))
    return behaviours


def _restrict(plex: Treeplex, kept: Kept) -> Treeplex:
    """Leave out the sequences that are not kept, and the information sets that they lead to."""
    if not len(plex.infosets):
        return plex
    count = np.add.reduceat(kept[1:].astype(np.int64), plex.first - 1)
    sets = np.flatnonzero(count)
    size = count[sets]
    parent = (np.cumsum(kept) - 1)[plex.parent[sets]]
    levels = np.searchsorted(sets, plex.levels)
    return Treeplex(
        infosets=plex.infosets[sets],
        parent=parent,
        first=1 + np.cumsum(size) - size,
        size=size,
        levels=levels,
        moves=plex.moves[kept[1:]],
    )
