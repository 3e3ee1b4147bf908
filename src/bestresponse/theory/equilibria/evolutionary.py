"""Evolutionarily stable strategies of symmetric two-player games.

Definition (Maynard Smith and Price 1973): x is evolutionarily stable when x is a best reply to itself and, against
every other best reply y, x earns more than y does. Test (Haigh 1975; Abakuks 1980): with k in the support of x, the
matrix q_ij = a_kj + a_ik - a_ij - a_kk over the other best replies must be strictly copositive, where coordinates in
the support may have either sign.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from bestresponse.theory.games.normal_form import Array, NormalForm, Numbers

_TOLERANCE = 1e-9


def is_symmetric_bimatrix(game: NormalForm) -> bool:
    """Say whether the players have the same actions and the column player's payoffs are the transposed row payoffs."""
    first, second = game.payoffs if game.units is None else game.units
    if first.shape[0] != first.shape[1]:
        return False
    if game.units is not None:
        return np.array_equal(second, first.T)
    return bool(np.abs(second - first.T).max() <= 1e-12 * float(np.abs(first).max()))


def is_evolutionarily_stable(payoff: Numbers, x: Numbers) -> bool:
    """Say whether x, an equilibrium strategy of the symmetric game with this row payoff, is evolutionarily stable.

    Whole numbers and fractions, in arrays of objects, are compared exactly.

    >>> hawk_dove = np.array([[-1.0, 4.0], [0.0, 2.0]])
    >>> is_evolutionarily_stable(hawk_dove, np.array([2 / 3, 1 / 3]))
    True
    """
    exact = payoff.dtype == np.object_
    slack = 0 if exact else _TOLERANCE  # not 0.0, which would make fractions floats
    scaled = payoff if exact else payoff / (float(np.ptp(payoff)) or 1.0)
    earned = scaled @ x
    best = np.flatnonzero(earned >= earned.max() - slack)
    support = [int(i) for i in best if x[i] > slack]
    k, free = support[0], support[1:]
    signed = [int(i) for i in best if int(i) not in support]
    rest = np.array(free + signed, dtype=np.intp)
    if rest.size == 0:
        return True
    q = scaled[k, rest][None, :] + scaled[rest, k][:, None] - scaled[np.ix_(rest, rest)] - scaled[k, k]
    q = q + q.T
    unit = (abs(q).max() or 1) if exact else 2.0
    return _strictly_copositive((q / unit).astype(np.float64), len(free))


def _strictly_copositive(q: Array, free: int) -> bool:
    """z'qz > 0 for all nonzero z whose coordinates from `free` on are not negative."""
    if free:
        corner = q[:free, :free]
        if float(np.linalg.eigvalsh(corner).min()) <= _TOLERANCE:
            return False
        q = q[free:, free:] - q[free:, :free] @ np.linalg.solve(corner, q[:free, free:])
    size = q.shape[0]
    return all(
        _no_positive_descent(q[np.ix_(chosen, chosen)])
        for count in range(1, size + 1)
        for chosen in combinations(range(size), count)
    )


def _no_positive_descent(q: Array) -> bool:
    """No eigenvector with all entries positive has an eigenvalue <= 0 (Kaplan 2000)."""
    values, vectors = np.linalg.eigh(q)
    for value, vector in zip(values, vectors.T, strict=True):
        if value <= _TOLERANCE and (np.all(vector > 0) or np.all(vector < 0)):
            return False
    return True
