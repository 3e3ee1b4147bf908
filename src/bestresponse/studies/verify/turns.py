"""A game played move by move, told anew at every decision: what happened so far, and how it can go on from there.

Only the rest of the game is told, so that "if I pass" always means now; the claims are checked against the same rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from bestresponse.core.ask import Ask
from bestresponse.core.game import Action, Role, View
from bestresponse.games.trees.game import TreeGame
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.theory.trees.tree import CHANCE, Tree

__all__ = ["Turns"]


@dataclass(frozen=True)
class Turns:
    """A tree in which nothing is hidden, from the node `first` on, in sentences for whoever is asked."""

    tree: Tree
    first: int = 0

    @cached_property
    def rules(self) -> TreeGame:
        """The game itself."""
        return TreeGame(self.tree)

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.rules.name

    @property
    def version(self) -> int:
        """The version of the rules."""
        return self.rules.version

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return self.rules.roles

    def start(self) -> int:
        """Return the state before anybody has moved."""
        return self.first

    def asks(self, state: int) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        return self.rules.asks(state)

    def view(self, state: int, role: Role) -> View:
        """Return what `role` may know in `state`."""
        plain = self.rules.view(state, role)
        return replace(plain, briefing=self._briefing(state, role), situation="") if role in self.roles else plain

    def apply(self, state: int, moves: Mapping[Role, Action]) -> int:
        """Return the state after these moves."""
        return self.rules.apply(state, moves)

    def payoffs(self, state: int) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return self.rules.payoffs(state)

    def _briefing(self, state: int, role: Role) -> str:
        made = ", then ".join(self._moves(0, state, role, past=True))
        return TEXTS.fill(
            "turns",
            me=role,
            everybody=" and ".join(self.roles) if len(self.roles) == 2 else ", ".join(self.roles),
            so_far=f"So far {made}." if made else "Nobody has chosen yet.",
            ways="\n".join(
                self._way(state, leaf, role) for leaf in self.tree.leaves.tolist() if self._below(leaf, state)
            ),
        )

    def _way(self, state: int, leaf: int, role: Role) -> str:
        moves = " and then ".join(self._moves(state, leaf, role))
        paid = zip(self.roles, self.tree.payoffs[leaf].tolist(), strict=True)
        gets = ", ".join(f"you get {u:.12g}" if who == role else f"{who} gets {u:.12g}" for who, u in paid)
        return f"- If {moves}, {gets}." if moves else f"- The game is over: {gets}."

    def _moves(self, start: int, end: int, role: Role, *, past: bool = False) -> list[str]:
        """Every move from one node to another in words, in order."""
        told = []
        while end != start:
            parent = int(self.tree.parent[end])
            told.append(self._move(parent, end, role, past))
            end = parent
        return told[::-1]

    def _move(self, parent: int, child: int, role: Role, past: bool) -> str:
        label, owner = self.tree.branch_labels[child], int(self.tree.owner[parent])
        if owner == CHANCE:
            verb = "drew" if past else "draws"
            return f"chance {verb} {label} (probability {float(self.tree.probability[child]):.4g})"
        mine = self.roles[owner] == role
        verb = "chose" if past else "choose" if mine else "chooses"
        return f"{'you' if mine else self.roles[owner]} {verb} {label}"

    def _below(self, node: int, above: int) -> bool:
        while node > above:
            node = int(self.tree.parent[node])
        return node == above
