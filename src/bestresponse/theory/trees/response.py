"""Best responses in a tree, expected payoffs, and NashConv: how far a policy is from an equilibrium.

Definition: the regret of player i at policy s is max over i's strategies of u_i(., s_-i) - u_i(s); NashConv is the
sum of the regrets over all players (Lanctot et al. 2017), 0 exactly at a Nash equilibrium. In a two-player zero-sum
game exploitability is NashConv / 2.

M. Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning", NeurIPS 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy, PolicyTable, policy_from_table
from bestresponse.theory.trees.sequence_form import SequenceForm, bin_sums, to_sequence_form
from bestresponse.theory.trees.tree import Tree

__all__ = [
    "TreeBestResponse",
    "best_response_value",
    "counterfactual_values",
    "find_best_plan",
    "nash_conv",
    "plan_regrets",
    "policy_regrets",
    "policy_value",
    "tree_best_response",
]


@dataclass(frozen=True, slots=True)
class TreeBestResponse:
    """`moves` is a pure best response (information set label -> move), `value` what it earns, `regret` the gain."""

    player: str
    moves: dict[str, str]
    value: float
    regret: float


def policy_value(tree: Tree, policy: Policy | PolicyTable) -> dict[str, float]:
    """Return every player's expected payoff when all follow `policy`."""
    form = to_sequence_form(tree)
    values = form.expected(form.plans(_as_policy(tree, policy)))
    return dict(zip(tree.players, values.tolist(), strict=True))


def policy_regrets(tree: Tree, policy: Policy | PolicyTable) -> dict[str, float]:
    """Say what every player could gain by deviating alone from `policy`."""
    form = to_sequence_form(tree)
    regrets = plan_regrets(form, form.plans(_as_policy(tree, policy)))
    return dict(zip(tree.players, regrets.tolist(), strict=True))


def nash_conv(tree: Tree, policy: Policy | PolicyTable) -> float:
    """Return the sum of all players' regrets; 0 at a Nash equilibrium.

    >>> from bestresponse.theory.catalogue.tree_rules import kuhn_poker
    >>> from bestresponse.theory.trees.policy import uniform_policy
    >>> round(nash_conv(kuhn_poker(), uniform_policy(kuhn_poker())), 12)  # 11/12
    0.916666666667
    """
    return sum(policy_regrets(tree, policy).values())


def tree_best_response(tree: Tree, policy: Policy | PolicyTable, player: str) -> TreeBestResponse:
    """Find a pure best response of `player` to the others' policies; the first move among equally good ones."""
    if player not in tree.players:
        raise UsageError(f"{player!r} does not play; expected one of {', '.join(tree.players)}")
    index = tree.players.index(player)
    form = to_sequence_form(tree)
    plans = form.plans(_as_policy(tree, policy))
    values = _best_values(form, index, plans)
    plex = form.plexes[index]
    moves = {}
    for infoset, first, size in zip(plex.infosets.tolist(), plex.first.tolist(), plex.size.tolist(), strict=True):
        chosen = int(np.argmax(values[first : first + size]))
        moves[tree.infosets[infoset].label] = tree.infosets[infoset].moves[chosen]
    value = float(values[0])
    return TreeBestResponse(player, moves, value, max(0.0, value - float(form.expected(plans)[index])))


def counterfactual_values(tree: Tree, policy: Policy | PolicyTable) -> dict[int, Array]:
    """Compute what each move of an information set earns if the others follow `policy` and its player plays best after.

    The values are weighted by how likely the others and chance let the play come to the set at all; where they never
    do, all are 0.
    """
    form = to_sequence_form(tree)
    plans = form.plans(_as_policy(tree, policy))
    found: dict[int, Array] = {}
    for player, plex in enumerate(form.plexes):
        values = _best_values(form, player, plans)
        for infoset, first, size in zip(plex.infosets.tolist(), plex.first.tolist(), plex.size.tolist(), strict=True):
            found[infoset] = values[first : first + size].copy()
    return found


def plan_regrets(form: SequenceForm, plans: Sequence[Array]) -> Array:
    """Return every player's regret at realization plans; rounding below 0 is cut off."""
    best = np.array([best_response_value(form, player, plans) for player in range(form.num_players)])
    return np.maximum(best - form.expected(plans), 0.0)


def best_response_value(form: SequenceForm, player: int, plans: Sequence[Array]) -> float:
    """Say what `player` earns at most against the others' plans."""
    return float(_best_values(form, player, plans)[0])


def find_best_plan(form: SequenceForm, player: int, plans: Sequence[Array]) -> tuple[Array, float]:
    """Find a pure best reply to the others' plans as a realization plan, and what it earns."""
    values, plex = _best_values(form, player, plans), form.plexes[player]
    behaviour = np.zeros(plex.num_sequences)
    behaviour[0] = 1.0
    for first, size in zip(plex.first.tolist(), plex.size.tolist(), strict=True):
        behaviour[first + int(np.argmax(values[first : first + size]))] = 1.0
    return plex.plan(behaviour), float(values[0])


def _best_values(form: SequenceForm, player: int, plans: Sequence[Array]) -> Array:
    """For every own sequence what it earns when all later own moves are best: one pass, last level first."""
    values = form.values(player, plans)
    plex = form.plexes[player]
    for level in range(len(plex.levels) - 2, -1, -1):
        low, high = int(plex.levels[level]), int(plex.levels[level + 1])
        start, stop = plex.span(low, high)
        best = np.maximum.reduceat(values[start:stop], plex.first[low:high] - start)
        values += bin_sums(plex.parent[low:high], best, len(values))
    return values


def _as_policy(tree: Tree, policy: Policy | PolicyTable) -> Policy:
    return policy if isinstance(policy, Policy) else policy_from_table(tree, policy)
