"""An independent check, in fractions, that a policy and beliefs of a tree are a sequential
equilibrium.

It shares nothing with the solver but the tree: it compares the policy with every plan, at the root
and at every information set, and the beliefs with Bayes' rule wherever the policy leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["find_faults"]

Weighted = list[tuple[int, Fraction]]


def find_faults(tree: Tree, policy: Sequence[Fraction], beliefs: Sequence[Fraction]) -> list[str]:
    """List what keeps the assessment from being a sequential equilibrium; nothing where it is
    one."""
    check = _Check(tree, policy)
    faults = []
    for player, name in enumerate(tree.players):
        gain = check.find_best(player, [(0, Fraction(1))]) - check.find_value(
            player, [(0, Fraction(1))]
        )
        if gain:
            faults.append(f"{name} gains {gain} at the root")
    reach = check.find_reach()
    for index, infoset in enumerate(tree.infosets):
        nodes = [node for node in range(tree.num_nodes) if tree.infoset[node] == index]
        at = [(node, beliefs[node]) for node in nodes]
        if sum(belief for _, belief in at) != 1 or min(belief for _, belief in at) < 0:
            faults.append(f"beliefs at {infoset.label} are no probabilities")
        total = sum(reach[node] for node in nodes)
        if total and any(belief * total != reach[node] for node, belief in at):
            faults.append(f"beliefs at {infoset.label} break Bayes' rule")
        gain = check.find_best(infoset.player, at) - check.find_value(infoset.player, at)
        if gain:
            faults.append(f"{tree.players[infoset.player]} gains {gain} at {infoset.label}")
    return faults


class _Check:
    def __init__(self, tree: Tree, policy: Sequence[Fraction]) -> None:
        self.tree = tree
        self.policy = policy

    def find_branches(self, node: int) -> Weighted:
        """The nodes below with the probabilities of chance or the policy."""
        below = self.tree.children[node]
        if self.tree.owner[node] == CHANCE:
            return [(child, self.tree.read_probability(child)) for child in below]
        first = int(self.tree.first_move[self.tree.infoset[node]])
        return [(child, self.policy[first + k]) for k, child in enumerate(below)]

    def find_reach(self) -> list[Fraction]:
        reach = [Fraction(1)] * self.tree.num_nodes
        for node in range(self.tree.num_nodes):
            if self.tree.owner[node] != LEAF:
                for child, chance in self.find_branches(node):
                    reach[child] = reach[node] * chance
        return reach

    def find_value(self, player: int, nodes: Weighted) -> Fraction:
        """What the policy earns the player from weighted nodes on."""
        total, waiting = Fraction(0), list(nodes)
        while waiting:
            node, weight = waiting.pop()
            if self.tree.owner[node] == LEAF:
                total += weight * self.tree.read_payoffs(node)[player]
            else:
                waiting += [(child, weight * chance) for child, chance in self.find_branches(node)]
        return total

    def find_best(self, player: int, nodes: Weighted) -> Fraction:
        """What the best plan earns the player from weighted nodes on, all others following the
        policy."""
        total, waiting = Fraction(0), list(nodes)
        own: dict[int, Weighted] = {}
        while waiting:
            node, weight = waiting.pop()
            if self.tree.owner[node] == LEAF:
                total += weight * self.tree.read_payoffs(node)[player]
            elif self.tree.owner[node] == player:
                own.setdefault(int(self.tree.infoset[node]), []).append((node, weight))
            else:
                waiting += [(child, weight * chance) for child, chance in self.find_branches(node)]
        for infoset, some in own.items():
            moves = range(len(self.tree.infosets[infoset].moves))
            total += max(
                self.find_best(
                    player, [(self.tree.children[node][move], weight) for node, weight in some]
                )
                for move in moves
            )
        return total
