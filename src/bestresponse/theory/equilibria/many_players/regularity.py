"""Whether an equilibrium of several players is regular, with its index, or may be one of a continuum.

An equilibrium is regular when every player uses all its best responses and the equations of its supports have a
derivative that is not singular; it is then isolated, and its index is the sign of the determinant of minus the
derivative of what every action earns more than a first one, by the probabilities of the actions other than the first
(Ritzberger 1994). The indices of a regular game's equilibria sum to +1, so their number is odd (Wilson 1971).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from bestresponse.theory.equilibria.many_players.newton import (
    Supports,
    action_payoffs,
    derive_leads,
    equal_payoffs,
    null_directions,
    worst_regret,
)
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.regrets import Profile

__all__ = ["find_index", "is_in_continuum"]

_TIE = 1e-9
_IN_SUPPORT = 1e-9
_REGULAR = 1e-9
_STEP = 1e-2
_DIRECTIONS = 12
_MOST_FACES = 64
_REGRET_LIMIT = 1e-9


def find_index(payoffs: Array, mix: Profile, quasi_strict: Supports | None = None) -> int | None:
    """Compute the index, for payoffs scaled into [0, 1]; None where the equilibrium is not regular.

    `quasi_strict` are the supports where they are known to hold all best responses.
    """
    supports = quasi_strict or _find_supports(mix)
    if quasi_strict is None and supports != _find_best(payoffs, mix):
        return None
    used = tuple(x[list(support)] for x, support in zip(mix, supports, strict=True))
    derivative = derive_leads(np.stack([own[np.ix_(*supports)] for own in payoffs]), used)
    if not len(derivative):
        return 1
    singular = np.linalg.svd(derivative, compute_uv=False)
    if singular[-1] <= _REGULAR * singular[0]:
        return None
    return int(np.linalg.slogdet(-derivative)[0])


def _find_supports(mix: Profile) -> Supports:
    return tuple(tuple(int(a) for a in np.flatnonzero(x > _IN_SUPPORT)) for x in mix)


def _find_best(payoffs: Array, mix: Profile) -> Supports:
    earned = (action_payoffs(payoffs, mix, i) for i in range(len(mix)))
    return tuple(tuple(int(a) for a in np.flatnonzero(u >= u.max() - _TIE)) for u in earned)


def is_in_continuum(payoffs: Array, mix: Profile) -> bool:
    """Say whether another equilibrium was found close by, in a direction in which the equations stay solved.

    Every face between the supports and the best responses is tried.
    """
    generator = np.random.default_rng(0)
    supports, best = _find_supports(mix), _find_best(payoffs, mix)
    for face in _faces(supports, best):
        for direction in null_directions(payoffs, face, mix, generator, _DIRECTIONS):
            start = tuple(x + _STEP * d for x, d in zip(mix, direction, strict=True))
            if min(float(x.min()) for x in start) < 0.0:
                continue
            other = equal_payoffs(payoffs, face, start)
            if other is None or worst_regret(payoffs, other) > _REGRET_LIMIT:
                continue
            if max(float(np.abs(a - b).max()) for a, b in zip(mix, other, strict=True)) > _STEP / 10:
                return True
    return False


def _faces(supports: Supports, best: Supports) -> list[Supports]:
    """The supports enlarged by some of the other best responses, fewest first."""
    extra = [(i, a) for i, actions in enumerate(best) for a in actions if a not in supports[i]]
    choices = (chosen for count in range(len(extra) + 1) for chosen in combinations(extra, count))
    found = []
    for chosen, _ in zip(choices, range(_MOST_FACES), strict=False):
        added = [[a for player, a in chosen if player == i] for i in range(len(supports))]
        found.append(tuple(tuple(sorted((*s, *more))) for s, more in zip(supports, added, strict=True)))
    return found
