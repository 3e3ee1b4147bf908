"""One dialogue game solved: the equilibrium policy, its certificate, and what it earns beside unguided talk.

Everything is computed exactly on the recorded tree, on the same texts for everybody, without a further call:

    NashConv     what all speakers together could gain by deviating alone (0 at an equilibrium)
    CFR gain     what a speaker gains by switching from the unguided manner to the policy while the others stay
                 unguided, mean over speakers
    attainable   the most that CFR gain can be in any equilibrium of the tree; in trees too large to search all
                 equilibria, by plans that let nobody's regret grow while the others keep to theirs
    won          the share of dialogues in which the guided speaker earns most, a tie for half, mean over its seats
    margin       what the guided speaker earns minus what the unguided others earn on average in the same dialogue,
                 mean over the seats of the guided one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bestresponse.games.dialogue.recorded import RecordedDialogue
from bestresponse.studies.steer.refining import Refined, refine_policy
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.cfr import CfrResult, Variant, cfr
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import nash_conv, policy_value
from bestresponse.theory.trees.tree import Tree

__all__ = ["Solved", "find_reach", "mixed_policy", "solve_dialogue", "unguided_policy"]


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A solved dialogue; payoffs are by seat, in the order of the players.

    `refined` is the policy to follow: that of `cfr`, made a best reply to unguided partners where it is free to be.
    """

    tree: Tree
    cfr: CfrResult
    refined: Refined
    unguided: Policy
    unguided_payoffs: tuple[float, ...]
    guided_payoffs: tuple[float, ...]
    equilibrium_payoffs: tuple[float, ...]
    unguided_nash_conv: float
    margin: float
    won: float

    @property
    def policy(self) -> Policy:
        """The policy to follow."""
        return self.refined.policy

    @property
    def nash_conv(self) -> float:
        """What all speakers together could gain by deviating alone from the policy."""
        return self.refined.nash_conv

    @property
    def gains(self) -> tuple[float, ...]:
        """What each speaker gains by guidance while the others stay unguided."""
        pairs = zip(self.guided_payoffs, self.unguided_payoffs, strict=True)
        return tuple(guided - unguided for guided, unguided in pairs)

    @property
    def gain(self) -> float:
        """The mean gain over speakers."""
        return float(np.mean(self.gains))

    @property
    def attainable_gain(self) -> float | None:
        """The most that `gain` can be in an equilibrium, see `Refined`; None where the tree is too large to tell."""
        if self.refined.attainable is None:
            return None
        return float(np.mean(np.array(self.refined.attainable) - self.unguided_payoffs))

    @property
    def best_response_gain(self) -> float:
        """The most that `gain` can be when every speaker replies best to unguided partners, equilibrium or not."""
        return float(np.mean(np.array(self.refined.best_responses) - self.unguided_payoffs))


def solve_dialogue(game: RecordedDialogue, iterations: int = 1000, variant: Variant = "cfr+") -> Solved:
    """Solve the recorded tree by CFR, refine its policy, and compare it with unguided talk."""
    tree = compile_game(game)
    result = cfr(tree, iterations, variant)
    unguided = unguided_policy(game, tree)
    refined = refine_policy(result.policy, unguided)
    alone = [policy_value(tree, mixed_policy(unguided, {seat: refined.policy})) for seat in range(len(tree.players))]
    guided = tuple(values[player] for values, player in zip(alone, tree.players, strict=True))
    margins = [
        values[player] - float(np.mean([values[other] for other in tree.players if other != player]))
        for values, player in zip(alone, tree.players, strict=True)
    ]
    return Solved(
        tree,
        result,
        refined,
        unguided,
        _by_seat(tree, policy_value(tree, unguided)),
        guided,
        _by_seat(tree, refined.value),
        nash_conv(tree, unguided),
        float(np.mean(margins)),
        float(np.mean([_share_won(tree, mixed_policy(unguided, {s: refined.policy}), s) for s in range(len(alone))])),
    )


def find_reach(policy: Policy) -> Array:
    """Return how likely each node is when all follow `policy`, chance included."""
    tree = policy.tree
    reach = np.ones(tree.num_nodes)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        infoset = int(tree.infoset[parent])
        own = policy.probabilities[tree.first_move[infoset] + int(tree.move[node])] if infoset >= 0 else 1.0
        reach[node] = reach[parent] * own
    return np.asarray(reach * tree.reach)


def _share_won(tree: Tree, policy: Policy, seat: int) -> float:
    payoffs = tree.payoffs[tree.leaves]
    better = np.sign(payoffs[:, seat] - np.delete(payoffs, seat, axis=1).max(axis=1))
    return float(find_reach(policy)[tree.leaves] @ ((better + 1) / 2))


def unguided_policy(game: RecordedDialogue, tree: Tree) -> Policy:
    """Always the neutral manner, the addressee by chance; any choice where no neutral one is on record."""
    row = np.zeros(int(tree.first_move[-1]))
    for index, infoset in enumerate(tree.infosets):
        neutral = game.live.neutral(infoset.player)
        chosen = [k for k, move in enumerate(infoset.moves) if move in neutral] or list(range(len(infoset.moves)))
        row[tree.first_move[index] + np.array(chosen)] = 1 / len(chosen)
    return Policy(tree, row)


def mixed_policy(base: Policy, others: Mapping[int, Policy]) -> Policy:
    """`base` with the seats of `others` following their own policies."""
    row = base.probabilities.copy()
    for index, infoset in enumerate(base.tree.infosets):
        if infoset.player in others:
            part = slice(base.tree.first_move[index], base.tree.first_move[index + 1])
            row[part] = others[infoset.player].probabilities[part]
    return Policy(base.tree, row)


def _by_seat(tree: Tree, values: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(values[player] for player in tree.players)
