"""Newton's method for the equations of a Nash equilibrium on given supports, for any number of players.

Unknowns: the probabilities on the supports and one payoff v_i per player. Equations: u_i(s, x_-i) = v_i for every s in
player i's support, and probabilities that sum to 1. Payoffs are multilinear, so derivatives are payoffs too.
"""

from __future__ import annotations

import numpy as np

from bestresponse.theory.games.normal_form import Array, NormalForm, Numbers
from bestresponse.theory.games.regrets import contract

__all__ = [
    "Supports",
    "action_payoffs",
    "derive_leads",
    "equal_payoffs",
    "null_directions",
    "pair_payoffs",
    "scale_payoffs",
    "worst_regret",
]

Supports = tuple[tuple[int, ...], ...]

_NEWTON_STEPS = 25
_FAR = 20.0
_SOLVED = 1e-13
_REGULAR = 1e-8


def scale_payoffs(game: NormalForm) -> Array:
    """Return payoffs moved and scaled into [0, 1], player by player; best responses stay what they are."""
    return np.stack([(own - own.min()) / (float(np.ptp(own)) or 1.0) for own in game.payoffs])


def action_payoffs(payoffs: Numbers, mix: tuple[Numbers, ...], player: int) -> Numbers:
    """Say what each action of `player` earns against the others' mixtures."""
    return contract(payoffs[player], mix, player)


def pair_payoffs(payoffs: Numbers, mix: tuple[Numbers, ...], player: int, other: int) -> Numbers:
    """Return the same for every action of one other player, as (actions of player, actions of other)."""
    table = contract(payoffs[player], mix, player, other)
    return table if player < other else table.T


def derive_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Derive what every action earns more than its player's first, by the others' shifts from their first."""
    blocks = []
    for i, own in enumerate(mix):
        row = []
        for j in range(len(mix)):
            if i == j:
                row.append(np.zeros((len(own) - 1, len(own) - 1), dtype=payoffs.dtype))
                continue
            table = pair_payoffs(payoffs, mix, i, j)
            lead = table[1:] - table[:1]
            row.append(lead[:, 1:] - lead[:, :1])
        blocks.append(np.concatenate(row, axis=1))
    return np.concatenate(blocks, axis=0)


def worst_regret(payoffs: Array, mix: tuple[Array, ...]) -> float:
    """Return the largest gain from a deviation."""
    gains = []
    for i, own in enumerate(mix):
        earned = action_payoffs(payoffs, mix, i)
        gains.append(float(earned.max() - earned @ own))
    return max(gains)


def equal_payoffs(
    payoffs: Array, supports: Supports, start: np.random.Generator | tuple[Array, ...] | None = None
) -> tuple[Array, ...] | None:
    """Mixtures on `supports` whose actions all earn the same, or None if Newton's method does not get to any.

    Starts at the uniform mixtures, at random ones drawn from a generator, or at the mixtures given.
    """
    mix = _starting_point(payoffs.shape[1:], supports, start)
    values = np.array([float(action_payoffs(payoffs, mix, i) @ mix[i]) for i in range(len(mix))])
    for _ in range(_NEWTON_STEPS):
        residual, jacobian = _system(payoffs, supports, mix, values)
        if not max(float(np.abs(x).max()) for x in mix) < _FAR:
            return None
        if np.abs(residual).max() < _SOLVED:
            return _cleaned(mix)
        step = np.asarray(np.linalg.lstsq(jacobian, -residual, rcond=1e-12)[0], dtype=np.float64)
        mix, values = _moved(supports, mix, values, step)
    return None


def null_directions(
    payoffs: Array, supports: Supports, mix: tuple[Array, ...], generator: np.random.Generator, count: int
) -> list[tuple[Array, ...]]:
    """Draw directions in which the equations of `supports` stay solved near `mix`, the largest change being 1."""
    values = np.array([float(action_payoffs(payoffs, mix, i) @ mix[i]) for i in range(len(mix))])
    _, jacobian = _system(payoffs, supports, mix, values)
    _, singular, rows = np.linalg.svd(jacobian)
    kernel = rows[singular <= _REGULAR * max(float(singular[0]), 1.0)]
    if not len(kernel):
        return []
    weights = np.concatenate([np.eye(len(kernel)), -np.eye(len(kernel)), generator.normal(size=(count, len(kernel)))])
    found = []
    for step in weights @ kernel:
        direction, _ = _moved(supports, tuple(np.zeros_like(x) for x in mix), values, step)
        size = max(float(np.abs(x).max()) for x in direction)
        if size > _REGULAR:
            found.append(tuple(x / size for x in direction))
    return found


def _starting_point(
    shape: tuple[int, ...], supports: Supports, start: np.random.Generator | tuple[Array, ...] | None
) -> tuple[Array, ...]:
    if isinstance(start, tuple):
        return start
    mix = tuple(np.zeros(m) for m in shape)
    for whole, support in zip(mix, supports, strict=True):
        whole[list(support)] = 1.0 / len(support) if start is None else start.dirichlet(np.ones(len(support)))
    return mix


def _system(payoffs: Array, supports: Supports, mix: tuple[Array, ...], values: Array) -> tuple[Array, Array]:
    """Residuals and derivatives; unknowns are the support probabilities player by player, then the values."""
    sizes = [len(s) for s in supports]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    total, players = int(offsets[-1]), len(supports)
    residual, jacobian = np.zeros(total + players), np.zeros((total + players, total + players))
    for i, own in enumerate(supports):
        rows = slice(int(offsets[i]), int(offsets[i + 1]))
        residual[rows] = action_payoffs(payoffs, mix, i)[list(own)] - values[i]
        residual[total + i] = mix[i].sum() - 1.0
        jacobian[rows, total + i] = -1.0
        jacobian[total + i, rows] = 1.0
        for j, other in enumerate(supports):
            if i != j:
                block = pair_payoffs(payoffs, mix, i, j)[np.ix_(own, other)]
                jacobian[rows, int(offsets[j]) : int(offsets[j + 1])] = block
    return residual, jacobian


def _moved(supports: Supports, mix: tuple[Array, ...], values: Array, step: Array) -> tuple[tuple[Array, ...], Array]:
    new = tuple(x.copy() for x in mix)
    at = 0
    for x, support in zip(new, supports, strict=True):
        x[list(support)] += step[at : at + len(support)]
        at += len(support)
    return new, values + step[at:]


def _cleaned(mix: tuple[Array, ...]) -> tuple[Array, ...] | None:
    if min(float(x.min()) for x in mix) < -1e-10:
        return None
    clipped = tuple(np.clip(x, 0.0, None) for x in mix)
    return tuple(x / x.sum() for x in clipped)
