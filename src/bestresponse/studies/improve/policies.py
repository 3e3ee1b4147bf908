"""What to do at the information sets of a game played in turn, and what another move loses there.

Of a two-player zero-sum game all optimal plans are a convex set. Let e be a mean of several of
them: whatever some equilibrium does, e does with some probability. With Q(I, a) the counterfactual
value of a move against e (weighted by chance and the others, the player's own moves best
afterwards) and r(I) the probability that the others let the play come to I,

    loss(I, s) = (max_a Q(I, a) - sum_a s(a) Q(I, a)) / r(I)

is 0 for the moves of every equilibrium whose player comes to I, whichever of several one plays.

Where a player's own moves never lead, a linear program leaves its policy open: the best reply to e
is taught there, and the label says so. Where the others never lead, no move loses anything against
e: what counts there is the distance from the policy of e, which keeps them from coming. Where
neither leads there is nothing to teach, and no label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from bestresponse.analysis.truth import find_chances, find_reach
from bestresponse.studies.improve.examples import plan_tree
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    Treeplex,
    counterfactual_values,
    to_sequence_form,
)
from bestresponse.theory.trees.sequence_form_lp import find_nearest_plan, solve_tree, turn_form
from bestresponse.theory.trees.tree import Policy, Tree

_REACHED = 1e-7
"""Smaller chances are errors of the linear program."""
_TIE = 1e-6
"""Of the payoff range: moves that differ by less are equally good."""
_PLANS = 8
"""Optimal plans whose mean is taken: those nearest to so many plans that are drawn."""


@dataclass(frozen=True, slots=True)
class Label:
    """The policy at an information set; `reached` where the player's own moves lead there.

    `losses` says what every move loses as a share of the payoff range; None where the others never
    let the play come there.
    """

    mix: Array
    losses: Array | None
    reached: bool


@cache
def label_tree(game: str) -> Mapping[int, Label]:
    """Return the labels of a game's information sets, without those where nobody ever leads."""
    tree = plan_tree(game).tree
    form = to_sequence_form(tree)
    plans = _find_central_plans(form)
    behaviours = [plex.normalise(plan) for plex, plan in zip(form.plexes, plans, strict=True)]
    policy = form.policy(behaviours)
    values = counterfactual_values(tree, policy)
    allowed = _weigh_infosets(tree, policy)
    labels: dict[int, Label] = {}
    for player, plex in enumerate(form.plexes):
        size = float(np.ptp(tree.payoffs[tree.leaves][:, player])) or 1.0
        for index, before in zip(plex.infosets.tolist(), plex.parent.tolist(), strict=True):
            first = tree.first_move[index]
            end = tree.first_move[index + 1]
            mix = np.asarray(policy.probabilities[first:end], dtype=np.float64)
            reached = bool(plans[player][before] > _REACHED)
            losses: Array | None = None
            if allowed[index] > _REACHED:
                earned = values[index] / allowed[index]
                losses = np.asarray((earned.max() - earned) / size)
                if not reached:
                    best = losses < _TIE
                    mix = best / best.sum()
            if reached or losses is not None:
                labels[index] = Label(mix, losses, reached)
    return labels


def _find_central_plans(form: SequenceForm) -> list[Array]:
    """Return for each player the mean of several optimal plans."""
    values = solve_tree(form.tree).value
    rng = np.random.default_rng(0)
    central: list[Array] = []
    for seat, plex in enumerate(form.plexes):
        turned = turn_form(form, seat)
        value = values[form.tree.players[seat]]
        wanted = [_draw_plan(plex, rng) for _ in range(_PLANS)]
        found = [find_nearest_plan(turned, plan, value) for plan in wanted]
        central.append(np.mean(found, axis=0))
    return central


def _draw_plan(plex: Treeplex, rng: np.random.Generator) -> Array:
    """Draw one move at every information set, and return the plan."""
    weights = np.zeros(plex.num_sequences)
    for first, size in zip(plex.first.tolist(), plex.size.tolist(), strict=True):
        weights[first + int(rng.integers(size))] = 1.0
    return plex.plan(plex.normalise(weights))


def _weigh_infosets(tree: Tree, policy: Policy) -> Array:
    """Return how likely each information set is reached if its own player aims for it.

    Only chance and the other players count.
    """
    nodes = np.flatnonzero(tree.infoset >= 0)
    reach = find_reach(tree, find_chances(tree, policy.probabilities))
    likely = np.bincount(tree.infoset[nodes], reach[nodes, tree.owner[nodes]], len(tree.infosets))
    return np.asarray(likely, dtype=np.float64)
