"""A behaviour policy: for every information set, a probability for each move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import Array, as_payoffs
from bestresponse.theory.trees.tree import Infoset, Tree

PolicyTable = Mapping[str, Mapping[str, Mapping[str, float]]]
"""player -> information set (label) -> move -> probability"""

_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Policy:
    """Probabilities of all moves of `tree` in one row; those of information set i start at `tree.first_move[i]`."""

    tree: Tree
    probabilities: Array

    def __post_init__(self) -> None:
        probabilities = as_payoffs(self.probabilities, "policy").copy() if self.tree.infosets else np.zeros(0)
        if probabilities.shape != (self.tree.first_move[-1],):
            expected = int(self.tree.first_move[-1])
            raise InvalidGame(f"policy: expected {expected} probabilities, got an array of shape {probabilities.shape}")
        if self.tree.infosets:
            _check_distributions(self.tree, probabilities)
        probabilities.setflags(write=False)
        object.__setattr__(self, "probabilities", probabilities)

    def __str__(self) -> str:
        """Say what is played at every information set, one a line."""
        lines = []
        for player, sets in self.table().items():
            for label, moves in sets.items():
                played = ", ".join(move if p == 1 else f"{move} {p:.6g}" for move, p in moves.items() if p > 0)
                lines.append(f"{player} at {label}: {played}")
        return "\n".join(lines)

    def at(self, player: str, label: str) -> dict[str, float]:
        """Return the probabilities of the moves at the information set with this label or key."""
        index = self.tree.infoset_index.get((player, label))
        if index is None:
            raise InvalidGame(f"{player!r} has no information set {label!r} in {self.tree!r}")
        return self._row(index, self.tree.infosets[index])

    def table(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return all of it as plain data: player, information set, move, probability."""
        table: dict[str, dict[str, dict[str, float]]] = {player: {} for player in self.tree.players}
        for index, infoset in enumerate(self.tree.infosets):
            table[self.tree.players[infoset.player]][infoset.label] = self._row(index, infoset)
        return table

    def _row(self, index: int, infoset: Infoset) -> dict[str, float]:
        first = self.tree.first_move[index]
        numbers = self.probabilities[first : first + len(infoset.moves)].tolist()
        return dict(zip(infoset.moves, numbers, strict=True))


def uniform_policy(tree: Tree) -> Policy:
    """Every move of an information set equally likely."""
    sizes = np.diff(tree.first_move)
    return Policy(tree, np.repeat(1.0 / sizes, sizes))


def policy_from_table(tree: Tree, table: PolicyTable) -> Policy:
    """Read the policy in `table`; a move left out has probability 0, an information set left out is an error."""
    row = np.zeros(int(tree.first_move[-1]))
    for index, infoset in enumerate(tree.infosets):
        player = tree.players[infoset.player]
        given = table.get(player, {}).get(infoset.label)
        if given is None:
            raise InvalidGame(f"policy: {player} has no probabilities at the information set {infoset.label!r}")
        unknown = [move for move in given if move not in infoset.moves]
        if unknown:
            expected = ", ".join(infoset.moves)
            raise InvalidGame(f"policy: {player} has no move {unknown[0]!r} at {infoset.label!r}; expected {expected}")
        first = tree.first_move[index]
        row[first : first + len(infoset.moves)] = [given.get(move, 0.0) for move in infoset.moves]
    return Policy(tree, row)


def _check_distributions(tree: Tree, probabilities: Array) -> None:
    totals = np.add.reduceat(probabilities, tree.first_move[:-1])
    least = np.minimum.reduceat(probabilities, tree.first_move[:-1])
    wrong = np.flatnonzero((np.abs(totals - 1) > _SUM_TOLERANCE) | (least < -_SUM_TOLERANCE))
    if wrong.size:
        infoset = tree.infosets[wrong[0]]
        first = tree.first_move[wrong[0]]
        given = probabilities[first : first + len(infoset.moves)].tolist()
        place = f"{tree.players[infoset.player]} at {infoset.label!r}"
        raise InvalidGame(f"policy of {place}: expected probabilities that sum to 1, got {given}")
