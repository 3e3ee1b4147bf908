"""A reasoner in a game that hides moves or draws: the whole game is told, and what it knows where it has to choose.

Claims are about the whole game from its start. The other player follows one sequential equilibrium; a move is worth
what it earns on average wherever the reasoner may be, if it plays best from there on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.core.episode import Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Role
from bestresponse.core.player import Nature, Player
from bestresponse.players.llm.verified import SubjectOf, whole_of
from bestresponse.players.strategies.fixed import Mixing
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.studies.verify.told_tree import ToldTree
from bestresponse.studies.verify.turns import Turns
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.response import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, LEAF

__all__ = ["HiddenScene", "HiddenTurns"]


@dataclass(frozen=True)
class HiddenTurns(Turns):
    """A tree that hides something, in sentences: every way it can go, who cannot tell what, what may have happened."""

    def _briefing(self, state: int, role: Role) -> str:
        return TEXTS.fill(
            "turns_hidden",
            me=role,
            everybody=" and ".join(self.roles),
            ways="\n".join(self._way(0, leaf, role) for leaf in self.tree.leaves.tolist()),
            secrets="\n".join(self._secrets(role)),
            so_far=self._tell_so_far(state, role),
        )

    def _secrets(self, role: Role) -> Iterator[str]:
        for number, infoset in enumerate(self.tree.infosets):
            nodes = np.flatnonzero(self.tree.infoset == number).tolist()
            if len(nodes) > 1:
                mine = self.roles[infoset.player] == role
                who = "You choose" if mine else f"{self.roles[infoset.player]} chooses"
                yield f"- {who} without knowing which of these has happened: {self._histories(nodes, role)}."

    def _tell_so_far(self, state: int, role: Role) -> str:
        index = int(self.tree.infoset[state])
        nodes = np.flatnonzero(self.tree.infoset == index).tolist() if index >= 0 else [state]
        if nodes == [0]:
            return "Nothing has happened yet. Now you choose."
        if len(nodes) == 1:
            return f"What has happened, and you know it: {self._histories(nodes, role)}. Now you choose."
        return f"One of these has happened, and you do not know which: {self._histories(nodes, role)}. Now you choose."

    def _move(self, parent: int, child: int, role: Role, past: bool) -> str:
        if past and int(self.tree.owner[parent]) == CHANCE:
            return f"chance drew {self.tree.branch_labels[child]}"
        return super()._move(parent, child, role, past)

    def _histories(self, nodes: list[int], role: Role) -> str:
        return "; or ".join(", then ".join(self._moves(0, node, role, past=True)) for node in nodes)


@dataclass(frozen=True)
class HiddenScene(ToldTree):
    """One after the other, with something hidden."""

    yardstick = "the first decision; the other player follows one sequential equilibrium"

    @cached_property
    def game(self) -> HiddenTurns:
        """The game as it is told."""
        return HiddenTurns(self.tree)

    @cached_property
    def opening(self) -> int:
        """A node where the player first decides."""
        return next(node for node in self._find_firsts() if self.tree.owner[node] == self.seat)

    @cached_property
    def subject(self) -> SubjectOf:
        """What the claims are about."""
        return whole_of(self.tree)

    @cached_property
    def policy(self) -> Policy:
        """One sequential equilibrium."""
        return find_sequential(self.tree).policy

    @cached_property
    def decisions(self) -> int:
        """The most decisions of the player in one play."""
        asked = [0] * self.tree.num_nodes
        for node in range(self.tree.num_nodes):
            above = int(self.tree.parent[node])
            asked[node] = (asked[above] if above >= 0 else 0) + (int(self.tree.owner[node]) == self.seat)
        return max(asked)

    def others(self, repeat: int) -> dict[str, Player]:
        """Seat the other player with its equilibrium strategy, and nature."""
        mixes: dict[str, dict[str, Mapping[str, float]]] = {}
        for infoset in self.tree.infosets:
            player = self.tree.players[infoset.player]
            mixes.setdefault(player, {})[infoset.label] = self.policy.at(player, infoset.label)
        found: dict[str, Player] = {
            player: Mixing(own, "equilibrium", repeat) for player, own in mixes.items() if player != self.role
        }
        return found | {NATURE: Nature(repeat)} if CHANCE in self.tree.owner else found

    def worth(self, submissions: Iterable[Submission]) -> Mapping[str, float]:
        """Return what each move is worth where the player first decides."""
        node = self.game.start()
        for one in submissions:
            if one.role == self.role:
                break
            node = self.game.apply(node, {one.role: one.decision.action})
        index = int(self.tree.infoset[node])
        reach = sum(self._find_reach(place) for place in np.flatnonzero(self.tree.infoset == index).tolist())
        values = self._values[index] / reach
        return dict(zip(self.tree.infosets[index].moves, map(float, values), strict=True))

    def check(self) -> None:
        """UsageError where the game can be over before the reasoner moves."""
        if any(self.tree.owner[node] == LEAF for node in self._find_firsts()):
            name = self.original.players[self.seat]
            raise UsageError(
                f"--seat {self.seat + 1}: with the other player at the equilibrium the game can be over before {name} "
                "moves; ask the other seat"
            )

    @cached_property
    def _values(self) -> dict[int, Array]:
        return counterfactual_values(self.tree, self.policy)

    def _find_firsts(self) -> Iterator[int]:
        """Find the nodes where the seat is first asked in equilibrium, or leaves where the game ends before that."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            if int(self.tree.owner[node]) in (self.seat, LEAF):
                yield node
            else:
                waiting += [child for child in reversed(self.tree.children[node]) if self._chance(child) > 0]

    def _find_reach(self, node: int) -> float:
        """Find how likely chance and the other player let the play come to a node."""
        reach = 1.0
        while node:
            parent = int(self.tree.parent[node])
            if int(self.tree.owner[parent]) != self.seat:
                reach *= self._chance(node)
            node = parent
        return reach

    def _chance(self, node: int) -> float:
        """Return the probability of the move that leads to a node, by nature or in equilibrium."""
        parent = int(self.tree.parent[node])
        if int(self.tree.owner[parent]) == CHANCE:
            return float(self.tree.probability[node])
        infoset = self.tree.infosets[int(self.tree.infoset[parent])]
        return float(self.policy.at(self.tree.players[infoset.player], infoset.label)[self.tree.branch_labels[node]])
