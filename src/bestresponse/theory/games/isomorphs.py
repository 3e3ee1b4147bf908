"""The same game written differently: permuted actions and players, new labels, positive affine payoffs.

An isomorphism maps player i of the new game to player `order[i]` of the old one, its action k to that player's action
`actions[i][k]`, and its payoff to scale * payoff + shift with scale > 0. Best responses, equilibria and every solution
concept that does not compare payoffs between players are carried along, so a solver or a model that answers both
games differently is reacting to the presentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.seeds import Seed, generator

__all__ = ["Isomorph", "permute_actions", "permute_players", "random_isomorph", "relabel", "rescale"]


@dataclass(frozen=True, eq=False, slots=True)
class Isomorph:
    """A rewritten game and the way back."""

    game: NormalForm
    order: tuple[int, ...]
    actions: tuple[tuple[int, ...], ...]
    scale: tuple[float, ...]
    shift: tuple[float, ...]

    def carry(self, profile: Sequence[Array]) -> tuple[Array, ...]:
        """Return a mixed profile of the old game, in the new one."""
        return tuple(np.asarray(profile[old])[list(ks)] for old, ks in zip(self.order, self.actions, strict=True))

    def back(self, profile: Sequence[Array]) -> tuple[Array, ...]:
        """Return a mixed profile of the new game, in the old one."""
        found: list[Array] = [np.empty(0)] * len(self.order)
        for old, ks, strategy in zip(self.order, self.actions, profile, strict=True):
            found[old] = np.asarray(strategy, dtype=np.float64)[np.argsort(ks)]
        return tuple(found)

    def then(self, following: Isomorph) -> Isomorph:
        """This rewriting followed by one of its result."""
        order = tuple(self.order[i] for i in following.order)
        actions = tuple(
            tuple(self.actions[i][k] for k in ks) for i, ks in zip(following.order, following.actions, strict=True)
        )
        scale = tuple(self.scale[i] * s for i, s in zip(following.order, following.scale, strict=True))
        shift = tuple(
            self.shift[i] * s + b for i, s, b in zip(following.order, following.scale, following.shift, strict=True)
        )
        return Isomorph(following.game, order, actions, scale, shift)


def permute_actions(game: NormalForm, actions: Sequence[Sequence[int]]) -> Isomorph:
    """Player i's new action k is its old action `actions[i][k]`; labels move with the actions.

    >>> swapped = permute_actions(NormalForm.zero_sum([[1, 2], [3, 4]]), [[1, 0], [0, 1]])
    >>> swapped.game.payoffs[0].tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    if len(actions) != game.num_players:
        raise UsageError(f"expected one order of actions for each of {game.num_players} players, got {len(actions)}")
    for who, ks, count in zip(game.players, actions, game.shape, strict=True):
        if sorted(ks) != list(range(count)):
            raise UsageError(f"actions of {who}: expected an order of 0 to {count - 1}, got {list(ks)}")
    cells = np.ix_(range(game.num_players), *actions)
    exact = None if game.rationals is None else game.rationals[cells]
    labels = tuple(tuple(names[k] for k in ks) for names, ks in zip(game.actions, actions, strict=True))
    return _made(
        game,
        replace(game, payoffs=game.payoffs[cells], actions=labels, rationals=exact),
        actions=tuple(tuple(ks) for ks in actions),
    )


def permute_players(game: NormalForm, order: Sequence[int]) -> Isomorph:
    """New player i is old player `order[i]`, with its actions, payoffs and name."""
    if sorted(order) != list(range(game.num_players)):
        raise UsageError(f"order: expected an order of 0 to {game.num_players - 1}, got {list(order)}")
    axes = 0, *(1 + i for i in order)
    payoffs = game.payoffs[list(order)].transpose(axes)
    exact = None if game.rationals is None else game.rationals[list(order)].transpose(axes)
    players, labels = tuple(game.players[i] for i in order), tuple(game.actions[i] for i in order)
    return _made(
        game, replace(game, payoffs=payoffs, players=players, actions=labels, rationals=exact), order=tuple(order)
    )


def relabel(
    game: NormalForm, actions: Sequence[Sequence[str]] | None = None, players: Sequence[str] | None = None
) -> Isomorph:
    """New names for actions, players or both; nothing moves."""
    labels = game.actions if actions is None else tuple(tuple(names) for names in actions)
    if len(labels) != game.num_players:
        raise UsageError(f"expected names of actions for {game.num_players} players, got {len(labels)}")
    who = game.players if players is None else tuple(players)
    return _made(game, replace(game, actions=labels, players=who))


def rescale(game: NormalForm, scale: Sequence[float], shift: Sequence[float]) -> Isomorph:
    """Player i's payoffs become scale[i] * payoff + shift[i]."""
    if len(scale) != game.num_players or len(shift) != game.num_players:
        raise UsageError(f"expected {game.num_players} scales and shifts, got {len(scale)} and {len(shift)}")
    if not all(0 < s < float("inf") for s in scale):
        raise UsageError(f"scale: expected positive numbers, got {list(scale)}")
    ones = (1,) * game.num_players
    payoffs = game.payoffs * np.reshape(scale, (-1, *ones)) + np.reshape(shift, (-1, *ones))
    scales, shifts = tuple(float(s) for s in scale), tuple(float(b) for b in shift)
    return _made(game, replace(game, payoffs=payoffs, rationals=None), scale=scales, shift=shifts)


def random_isomorph(seed: Seed, game: NormalForm, affine: bool = True) -> Isomorph:
    """Actions and players in random order and, if `affine`, payoffs scaled by 1/2 to 2 and shifted by -5 to 5."""
    rng = generator(seed)
    found = permute_actions(game, [rng.permutation(m).tolist() for m in game.shape])
    found = found.then(permute_players(found.game, rng.permutation(game.num_players).tolist()))
    if not affine:
        return found
    scale, shift = 2.0 ** rng.uniform(-1, 1, game.num_players), rng.uniform(-5, 5, game.num_players)
    return found.then(rescale(found.game, scale.tolist(), shift.tolist()))


def _made(
    old: NormalForm,
    new: NormalForm,
    order: tuple[int, ...] | None = None,
    actions: tuple[tuple[int, ...], ...] | None = None,
    scale: tuple[float, ...] | None = None,
    shift: tuple[float, ...] | None = None,
) -> Isomorph:
    """An isomorph that changes only what is given."""
    players = order or tuple(range(old.num_players))
    return Isomorph(
        new,
        players,
        actions or tuple(tuple(range(old.shape[i])) for i in players),
        scale or (1.0,) * old.num_players,
        shift or (0.0,) * old.num_players,
    )
