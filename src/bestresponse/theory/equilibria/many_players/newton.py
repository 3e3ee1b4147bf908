"""Newton's method for the equations of a Nash equilibrium on given supports, and what they say of an equilibrium.

Unknowns: the probabilities of all actions but the first of each support. Equations: every action earns what the first
one does; its lead over the first is 0. Payoffs are multilinear, so derivatives are payoffs too.

An equilibrium is regular when every player uses all its best responses and the equations of its supports have a
derivative that is not singular; it is then isolated, and its index is the sign of the determinant of minus the
derivative (Ritzberger 1994). The indices of a regular game's equilibria sum to +1 (Wilson 1971: their number is odd).
"""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np

from bestresponse.theory.games.normal_form import Array, NormalForm, Numbers
from bestresponse.theory.games.regrets import Profile, contract

__all__ = [
    "REGRET_LIMIT",
    "Supports",
    "derive_leads",
    "equal_payoffs",
    "find_index",
    "find_leads",
    "find_supports",
    "is_in_continuum",
    "pair_payoffs",
    "restrict",
    "scale_payoffs",
    "shift",
    "worst_regret",
]

Supports = tuple[tuple[int, ...], ...]

REGRET_LIMIT = 1e-9
"""Of the payoff range: what is an equilibrium in floating point."""
_NEWTON_STEPS = 25
_FAR = 20.0
_SOLVED = 1e-13
_USED = 1e-9
_REGULAR = 1e-9
_FLAT = 1e-8
_STEP = 1e-2
_DIRECTIONS = 12
_MOST_FACES = 64


def scale_payoffs(game: NormalForm) -> Array:
    """Return payoffs moved and scaled into [0, 1], player by player; best responses stay what they are."""
    return np.stack([(own - own.min()) / (float(np.ptp(own)) or 1.0) for own in game.payoffs])


def find_supports(mix: Profile, used: float) -> Supports:
    """List the actions that each player plays with a probability above `used`."""
    return tuple(tuple(np.flatnonzero(x > used).tolist()) for x in mix)


def restrict(payoffs: Numbers, mix: Profile, supports: Supports) -> tuple[Numbers, Profile]:
    """Leave out of payoffs and mixtures what is not in the supports."""
    used = tuple(x[list(support)] for x, support in zip(mix, supports, strict=True))
    return np.stack([own[np.ix_(*supports)] for own in payoffs]), used


def pair_payoffs(payoffs: Numbers, mix: tuple[Numbers, ...], player: int, other: int) -> Numbers:
    """Say what actions earn against those of one other player, as (actions of player, actions of other)."""
    table = contract(payoffs[player], mix, player, other)
    return table if player < other else table.T


def find_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Say what every action earns more than its player's first, player by player."""
    earned = [contract(payoffs[player], mix, player) for player in range(len(mix))]
    return np.concatenate([u[1:] - u[0] for u in earned])


def derive_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Derive the leads by the others' shifts from their first action."""
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


def shift(mix: tuple[Numbers, ...], step: Numbers) -> tuple[Numbers, ...]:
    """Add to the probabilities of all actions but the first ones, which give or take the rest."""
    parts = np.split(step, np.cumsum([len(x) - 1 for x in mix])[:-1])
    return tuple(np.append(x[0] - part.sum(), x[1:] + part) for x, part in zip(mix, parts, strict=True))


def worst_regret(payoffs: Array, mix: Profile) -> float:
    """Return the largest gain from a deviation."""
    earned = (contract(payoffs[player], mix, player) for player in range(len(mix)))
    return max(float(u.max() - u @ x) for u, x in zip(earned, mix, strict=True))


def equal_payoffs(payoffs: Array, supports: Supports, start: Profile) -> Profile | None:
    """Find mixtures on `supports` whose actions all earn the same, or None if Newton's method does not get to any."""
    part, point = restrict(payoffs, start, supports)
    for _ in range(_NEWTON_STEPS):
        leads = find_leads(part, point)
        if not max(float(np.abs(x).max()) for x in point) < _FAR:
            return None
        if np.abs(leads).max(initial=0.0) < _SOLVED:
            return _embed(point, supports, start)
        point = shift(point, np.linalg.lstsq(derive_leads(part, point), -leads, rcond=1e-12)[0])
    return None


def _embed(point: Profile, supports: Supports, start: Profile) -> Profile | None:
    """Write mixtures on supports as mixtures of all actions; None where a probability is negative."""
    if min(float(x.min()) for x in point) < -1e-10:
        return None
    mix = tuple(np.zeros(len(x)) for x in start)
    for whole, x, support in zip(mix, point, supports, strict=True):
        whole[list(support)] = np.clip(x, 0.0, None) / np.clip(x, 0.0, None).sum()
    return mix


def find_index(payoffs: Array, mix: Profile, quasi_strict: Supports | None = None) -> int | None:
    """Compute the index, for payoffs scaled into [0, 1]; None where the equilibrium is not regular.

    `quasi_strict` are the supports where they are known to hold all best responses.
    """
    supports = quasi_strict or find_supports(mix, _USED)
    if quasi_strict is None and supports != _find_best(payoffs, mix):
        return None
    derivative = derive_leads(*restrict(payoffs, mix, supports))
    if not len(derivative):
        return 1
    singular = np.linalg.svd(derivative, compute_uv=False)
    return None if singular[-1] <= _REGULAR * singular[0] else int(np.linalg.slogdet(-derivative)[0])


def _find_best(payoffs: Array, mix: Profile) -> Supports:
    earned = (contract(payoffs[player], mix, player) for player in range(len(mix)))
    return tuple(tuple(np.flatnonzero(u >= u.max() - REGRET_LIMIT).tolist()) for u in earned)


def is_in_continuum(payoffs: Array, mix: Profile) -> bool:
    """Say whether another equilibrium was found close by, in a direction in which the equations stay solved.

    Every face between the supports and the best responses is tried.
    """
    generator = np.random.default_rng(0)
    supports, best = find_supports(mix, _USED), _find_best(payoffs, mix)
    extra = [(i, a) for i, actions in enumerate(best) for a in actions if a not in supports[i]]
    choices = (chosen for count in range(len(extra) + 1) for chosen in combinations(extra, count))
    for chosen in islice(choices, _MOST_FACES):
        face = tuple(tuple(sorted((*s, *(a for i, a in chosen if i == k)))) for k, s in enumerate(supports))
        part, point = restrict(payoffs, mix, face)
        for step in _draw_flat_steps(derive_leads(part, point), generator):
            start = shift(point, _STEP * step)
            other = None if min(float(x.min()) for x in start) < 0.0 else _embed(start, face, mix)
            other = other and equal_payoffs(payoffs, face, other)
            if other is None or worst_regret(payoffs, other) > REGRET_LIMIT:
                continue
            if max(float(np.abs(a - b).max()) for a, b in zip(mix, other, strict=True)) > _STEP / 10:
                return True
    return False


def _draw_flat_steps(derivative: Array, generator: np.random.Generator) -> Array:
    """Draw steps along which the equations stay solved, the largest change being 1."""
    if not len(derivative):
        return derivative
    _, singular, rows = np.linalg.svd(derivative)
    kernel = rows[singular <= _FLAT * max(float(singular[0]), 1.0)]
    axes, drawn = np.eye(len(kernel)), generator.normal(size=(_DIRECTIONS, len(kernel)))
    steps = np.concatenate([axes, -axes, drawn]) @ kernel
    sizes = np.abs(steps).max(axis=1, initial=0.0)
    return np.asarray(steps[sizes > 0] / sizes[sizes > 0, None])
