"""Monte Carlo CFR: counterfactual regret minimisation on sampled play.

It is for games whose tree does not fit into memory.

External sampling draws the moves of chance and of the other players and follows all moves of one
player; outcome sampling draws one play, that player's moves partly at random, and weighs what it
earned by how likely it was. Only information sets that were met are kept. In two-player zero-sum
games the average policy approaches an equilibrium as iterations grow, slower than CFR's but without
visiting the tree.

M. Lanctot, K. Waugh, M. Zinkevich and M. Bowling, "Monte Carlo sampling for regret minimization in
extensive games", NeurIPS 2009.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, get_args

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.tree import (
    Chance,
    Leaf,
    Policy,
    Tree,
    Turn,
    as_tree,
    policy_from_table,
)

Position = TypeVar("Position")
Sampling = Literal["external", "outcome"]
Expand = Callable[[Position], Leaf | Chance | Turn]

_EXPLORE = 0.6  # much, as moves that are not played any more have to be met too


@dataclass(slots=True)
class _Infoset:
    """What is kept of an information set: its moves, regrets, and how much each move was played."""

    label: str
    moves: tuple[str, ...]
    regrets: Array
    played: Array

    def strategy(self) -> Array:
        """Play in proportion to positive regrets, uniformly where there are none."""
        positive = np.maximum(self.regrets, 0.0)
        whole = positive.sum()
        if whole > 0:
            return np.asarray(positive / whole)
        return np.full(len(self.moves), 1.0 / len(self.moves))


@dataclass(frozen=True, slots=True, eq=False)
class SampledPolicy:
    """The average policy at the information sets met.

    It goes by player, information set, move, and probability.
    """

    table: dict[str, dict[str, dict[str, float]]]
    iterations: int
    sampling: Sampling

    def on(self, tree: Tree) -> Policy:
        """Return the policy on the whole tree: uniform where it was never met."""
        whole: dict[str, dict[str, dict[str, float]]] = {name: {} for name in tree.players}
        for infoset in tree.infosets:
            name = tree.players[infoset.player]
            uniform = dict.fromkeys(infoset.moves, 1.0 / len(infoset.moves))
            whole[name][infoset.label] = self.table[name].get(infoset.label) or uniform
        return policy_from_table(tree, whole)


def mccfr(
    players: Sequence[str],
    root: Position,
    expand: Expand[Position],
    *,
    iterations: int = 10_000,
    sampling: Sampling = "external",
    seed: int = 0,
) -> SampledPolicy:
    """Sample `iterations` times for every player.

    The position and the function are as `build_tree` takes them.
    """
    if sampling not in get_args(Sampling):
        raise UsageError(
            f"sampling: expected one of {', '.join(get_args(Sampling))}, got {sampling!r}"
        )
    if iterations < 1:
        raise UsageError(f"iterations: expected at least 1, got {iterations}")
    walker = _Walker(tuple(players), expand, np.random.default_rng(seed))
    for _ in range(iterations):
        for player in range(len(walker.players)):
            if sampling == "external":
                walker.explore(root, player)
            else:
                walker.play(root, player, 1.0, 1.0, 1.0)
    table: dict[str, dict[str, dict[str, float]]] = {name: {} for name in walker.players}
    for (player, _), infoset in walker.infosets.items():
        whole = infoset.played.sum()
        mix = infoset.played / whole if whole > 0 else infoset.strategy()
        table[walker.players[player]][infoset.label] = dict(
            zip(infoset.moves, mix.tolist(), strict=True)
        )
    return SampledPolicy(table, iterations, sampling)


def mccfr_tree(
    tree: Tree | str | Path,
    *,
    iterations: int = 10_000,
    sampling: Sampling = "external",
    seed: int = 0,
) -> SampledPolicy:
    """Sample on a tree that is there.

    InvalidGame names the information set at which a player forgets.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> sampled = mccfr_tree(load_tree("kuhn-poker"), iterations=200)
    >>> [len(moves) for moves in sampled.table.values()]
    [6, 6]
    """
    tree = as_tree(tree)
    to_sequence_form(tree)  # which refuses trees without perfect recall
    positions = list(map(tree.describe, range(tree.num_nodes)))
    return mccfr(
        tree.players,
        0,
        positions.__getitem__,
        iterations=iterations,
        sampling=sampling,
        seed=seed,
    )


@dataclass(slots=True, eq=False)
class _Walker:
    """Samples plays and keeps regrets."""

    players: tuple[str, ...]
    expand: Callable[..., Leaf | Chance | Turn]
    rng: np.random.Generator
    infosets: dict[tuple[int, str], _Infoset] = field(default_factory=dict)

    def explore(self, position: object, player: int) -> float:
        """External sampling: what `player` earns, its regrets updated on the way."""
        what = self.expand(position)
        match what:
            case Leaf():
                return float(what.payoffs[player])
            case Chance():
                label, _ = self._draw_branch(what)
                _, after_draw = what.branches[label]
                return self.explore(after_draw, player)
            case Turn():
                owner, infoset = self._find(what)
                mix = infoset.strategy()
                after = list(what.moves.values())
                if owner != player:
                    infoset.played += mix
                    return self.explore(after[self._draw(mix)], player)
                values = np.array([self.explore(child, player) for child in after])
                mean = float(mix @ values)
                infoset.regrets += values - mean
                return mean

    def play(
        self,
        position: object,
        player: int,
        own: float,
        others: float,
        sampled: float,
    ) -> tuple[float, float]:
        """Outcome sampling: (payoff over sample probability, probability of what follows).

        `own` and `others` are the probabilities of the way here by the player and by all others,
        `sampled` that of the sample.
        """
        what = self.expand(position)
        match what:
            case Leaf():
                return float(what.payoffs[player]) / sampled, 1.0
            case Chance():
                label, p = self._draw_branch(what)
                earned, tail = self.play(
                    what.branches[label][1],
                    player,
                    own,
                    others * p,
                    sampled * p,
                )
                return earned, tail * p
            case Turn():
                owner, infoset = self._find(what)
                mix = infoset.strategy()
                after = list(what.moves.values())
                if owner != player:
                    move = self._draw(mix)
                    share = float(mix[move])
                    earned, tail = self.play(
                        after[move],
                        player,
                        own,
                        others * share,
                        sampled * share,
                    )
                    return earned, tail * share
                infoset.played += mix * own / sampled
                chances = _EXPLORE / len(mix) + (1.0 - _EXPLORE) * mix
                move = self._draw(chances)
                earned, tail = self.play(
                    after[move],
                    player,
                    own * mix[move],
                    others,
                    sampled * chances[move],
                )
                weight = earned * others
                gain = np.full(len(mix), -weight * tail * mix[move])
                gain[move] += weight * tail
                infoset.regrets += gain
                return earned, tail * float(mix[move])

    def _find(self, turn: Turn) -> tuple[int, _Infoset]:
        if turn.player not in self.players:
            raise InvalidGame(f"{turn.player!r} moves; expected one of {', '.join(self.players)}")
        owner = self.players.index(turn.player)
        infoset = self.infosets.get((owner, turn.infoset))
        if infoset is None:
            moves = tuple(turn.moves)
            infoset = _Infoset(
                turn.label or turn.infoset,
                moves,
                np.zeros(len(moves)),
                np.zeros(len(moves)),
            )
            self.infosets[owner, turn.infoset] = infoset
        return owner, infoset

    def _draw(self, mix: Array) -> int:
        luck = self.rng.random() * mix.sum()
        place = int(np.searchsorted(np.cumsum(mix), luck, side="right"))
        return min(place, len(mix) - 1)

    def _draw_branch(self, chance: Chance) -> tuple[str, float]:
        labels = list(chance.branches)
        shares = [float(share) for share, _ in chance.branches.values()]
        drawn = self._draw(np.array(shares))
        return labels[drawn], shares[drawn]
