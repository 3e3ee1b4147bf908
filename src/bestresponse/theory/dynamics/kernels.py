"""Compiled inner loops of the dynamics for two players.

Both payoff matrices come with the opponent's action first: `row[j, i]` is what the row player earns
with i against j, `col[i, j]` what the column player earns with j against i. The arrays of a process
are parts of one, `state`, updated in place; after each of the numbers of steps in `gaps` it is
copied to the next row of `seen`. This module imports numba; load it only when it pays.
"""

import numpy as np
from numba import njit

from bestresponse.theory.arrays import Floats, Ints

EXTINCT = 1e-300  # smaller numbers would soon be denormal, which makes arithmetic slow
_LOOSE = {"contract", "nsz", "reassoc"}
Pair = tuple[Floats, ...]


@njit(cache=True, error_model="numpy")
def _grow(totals: Floats, faced: Floats) -> int:
    """Add what every action would have earned; the first of the best actions so far."""
    best = totals[0] + faced[0]
    totals[0] = best
    at = 0
    for a in range(1, totals.shape[0]):
        total = totals[a] + faced[a]
        totals[a] = total
        if total > best:
            best = total
            at = a
    return at


@njit(cache=True, error_model="numpy")
def best_reply_steps(
    payoffs: Pair,
    sums: Pair,
    counted: Pair,
    earned: Floats,
    state: Floats,
    gaps: Ints,
    seen: Floats,
) -> None:
    """Fictitious play: both play the first best reply to the totals.

    The totals then grow by what was faced.
    """
    (row, col), (totals, others), (counts, facing) = payoffs, sums, counted
    i = np.uint64(totals.argmax())
    j = np.uint64(others.argmax())
    for at in range(gaps.shape[0]):
        first = earned[0]
        second = earned[1]
        for _ in range(gaps[at]):
            counts[i] += 1.0
            facing[j] += 1.0
            first += row[j, i]
            second += col[i, j]
            reply = np.uint64(_grow(totals, row[j]))
            j = np.uint64(_grow(others, col[i]))
            i = reply
        earned[0] = first
        earned[1] = second
        seen[at, :] = state


@njit(inline="always")
def _values(payoffs: Floats, mix: Floats, values: Floats) -> None:
    rows = payoffs.shape[0]
    whole = rows - rows % 4
    if whole > 0:
        for a in range(values.shape[0]):
            near = mix[0] * payoffs[0, a] + mix[1] * payoffs[1, a]
            values[a] = near + mix[2] * payoffs[2, a] + mix[3] * payoffs[3, a]
    else:
        values[:] = 0.0
    for b in range(4, whole, 4):
        first = mix[b]
        second = mix[b + 1]
        third = mix[b + 2]
        fourth = mix[b + 3]
        for a in range(values.shape[0]):
            near = first * payoffs[b, a] + second * payoffs[b + 1, a]
            values[a] += near + third * payoffs[b + 2, a] + fourth * payoffs[b + 3, a]
    for b in range(whole, rows):
        weight = mix[b]
        for a in range(values.shape[0]):
            values[a] += weight * payoffs[b, a]


@njit(inline="always")
def _slope(
    payoffs: Floats,
    mix: Floats,
    other: Floats,
    values: Floats,
    slopes: Floats,
    k: int,
) -> None:
    """Row k of `slopes` becomes the velocity of `mix` against `other`."""
    _values(payoffs, other, values)
    mean = 0.0
    for a in range(mix.shape[0]):
        mean += mix[a] * values[a]
    for a in range(mix.shape[0]):
        slopes[k, a] = mix[a] * (values[a] - mean)


@njit(inline="always")
def _ahead(mix: Floats, slopes: Floats, k: int, size: float, point: Floats) -> None:
    for a in range(mix.shape[0]):
        point[a] = mix[a] + size * slopes[k, a]


@njit(inline="always")
def _combine(slopes: Floats) -> None:
    """Row 0 becomes the slope that a Runge-Kutta step of order 4 follows."""
    for a in range(slopes.shape[1]):
        slopes[0, a] = (slopes[0, a] + 2.0 * slopes[1, a] + 2.0 * slopes[2, a] + slopes[3, a]) / 6.0


@njit(inline="always")
def _move(mix: Floats, slopes: Floats, size: float) -> None:
    """mix + size * slope, as probabilities.

    Shares below EXTINCT are gone, which also keeps arithmetic fast.
    """
    whole = 0.0
    for a in range(mix.shape[0]):
        share = mix[a] + size * slopes[0, a]
        mix[a] = share if share > EXTINCT else 0.0
        whole += mix[a]
    scale = 1.0 / whole
    for a in range(mix.shape[0]):
        mix[a] *= scale


@njit(cache=True, error_model="numpy", fastmath=_LOOSE)
def flow(
    payoffs: Pair,
    shares: Pair,
    how: tuple[float, bool, bool],
    gaps: Ints,
    state: Floats,
    seen: Floats,
) -> None:
    """Continuous replicator dynamics of two populations or of a single one.

    A single population plays against itself, y being x.

    `how`: the length of a step, whether steps are Runge-Kutta's and not Euler's, and whether there
    is one population.
    """
    (row, col), (x, y), (size, fourth_order, single) = payoffs, shares, how
    u = np.empty(x.shape[0])
    v = np.empty(y.shape[0])
    ahead = np.empty(x.shape[0])
    facing = np.empty(y.shape[0])
    dx = np.zeros((4, x.shape[0]))
    dy = np.zeros((4, y.shape[0]))
    for at in range(gaps.shape[0]):
        for _ in range(gaps[at]):
            _slope(row, x, other=y, values=u, slopes=dx, k=0)
            if not single:
                _slope(col, y, other=x, values=v, slopes=dy, k=0)
            for k in range(1, 4 if fourth_order else 1):
                part = size if k == 3 else 0.5 * size
                _ahead(x, dx, k - 1, part, ahead)
                if single:
                    _slope(row, ahead, other=ahead, values=u, slopes=dx, k=k)
                else:
                    _ahead(y, dy, k - 1, part, facing)
                    _slope(row, ahead, other=facing, values=u, slopes=dx, k=k)
                    _slope(col, facing, other=ahead, values=v, slopes=dy, k=k)
            if fourth_order:
                _combine(dx)
                _combine(dy)
            _move(x, dx, size)
            if single:
                y[:] = x
            else:
                _move(y, dy, size)
        seen[at, :] = state
