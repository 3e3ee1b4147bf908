"""The correlated equilibrium of largest entropy: the one that assumes least beyond obedience (Ortiz et al. 2007).

Maximise -sum p log p over distributions with G p <= 0. A first linear program finds which cells can be positive and
which constraints can be slack at all; within those the problem has an interior, and a barrier method with Newton steps
follows the central path to within 1e-7 of the optimum. The optimum is proportional to exp(-G'k) with k >= 0 positive on
binding constraints only, which Newton's method on k then finds to full precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.linear_program import solve_program

__all__ = ["most_random"]

_CELLS_LIMIT = 1500
_DUALITY_GAP = 1e-7
_NEWTON_STEPS = 60


def most_random(rows: Any) -> Array:
    """Return the distribution p of largest entropy with rows p <= 0."""
    cells = rows.shape[1]
    if cells > _CELLS_LIMIT:
        raise TooLarge(f"largest entropy over {cells:,} cells: more than {_CELLS_LIMIT:,}; use objective='any'")
    dense = rows.toarray()
    start, possible, slack = _interior(dense)
    inner, tight = dense[slack][:, possible], dense[~slack][:, possible]
    inside = _follow(start[possible], inner, tight)
    p = np.zeros(cells)
    p[possible] = inside
    return p


def _interior(rows: Array) -> tuple[Array, Any, Any]:
    """(a distribution in the relative interior, the cells that can be positive, the rows that can be slack).

    Linear program over the cone: maximise the sum of t and s with p >= t, rows p + s <= 0, 0 <= t, s <= 1.
    """
    count, cells = rows.shape
    cost = np.concatenate([np.zeros(cells), -np.ones(cells + count)])
    positive = np.hstack([-np.eye(cells), np.eye(cells), np.zeros((cells, count))])
    slacked = np.hstack([rows, np.zeros((count, cells)), np.eye(count)])
    bounds = [(0.0, None)] * cells + [(0.0, 1.0)] * (cells + count)
    answer = solve_program(cost, np.vstack([positive, slacked]), np.zeros(cells + count), bounds=bounds)
    p, t, s = np.split(np.asarray(answer.x), [cells, 2 * cells])
    possible = t > 0.5
    inside = np.where(possible, p, 0.0)
    return inside / inside.sum(), possible, s > 0.5


def _follow(p: Array, inner: Array, tight: Array) -> Array:
    """The central path: minimise weight * sum p log p - sum log(-walls p) with p kept on sum 1 and tight p = 0."""
    fixed = np.vstack([np.ones((1, len(p))), tight])
    free = _null_space(fixed)
    p = p - fixed.T @ np.linalg.lstsq(fixed @ fixed.T, fixed @ p - np.eye(len(fixed))[0], rcond=None)[0]
    if free.shape[1] == 0:
        return p
    walls = np.vstack([inner, -np.eye(len(p))])
    weight = 1.0
    while True:
        p = _centre(p, walls, free, weight)
        if len(walls) / weight < _DUALITY_GAP:
            return _polished(p, inner, tight, weight)
        weight *= 20.0


def _polished(p: Array, inner: Array, tight: Array, weight: float) -> Array:
    """Newton's method on the multipliers of the binding rows; p itself where they turn out not to be the right ones."""
    room = -(inner @ p)
    binding = np.vstack([inner[1.0 / weight > room**2], tight])
    columns = np.hstack([binding.T, np.ones((len(p), 1))])
    multipliers = np.linalg.lstsq(columns, -np.log(p), rcond=None)[0][:-1]
    for _ in range(_NEWTON_STEPS):
        exponents = -(binding.T @ multipliers)
        if not np.isfinite(exponents).all():
            return p
        new = np.exp(exponents - exponents.max())
        new /= new.sum()
        left = binding @ new
        if np.abs(left).max(initial=0.0) < 1e-15:
            break
        spread = (binding * new) @ binding.T - np.outer(left, left)
        multipliers = multipliers + np.linalg.lstsq(spread, left, rcond=1e-13)[0]
    positive = multipliers[: len(binding) - len(tight)]
    good = np.isfinite(new).all() and positive.min(initial=0.0) > -1e-9 and (inner @ new).max(initial=0.0) < 1e-14
    return np.asarray(new) if good else p


def _null_space(matrix: Array) -> Array:
    _, values, vectors = np.linalg.svd(matrix)
    rank = int((values > 1e-10 * values[0]).sum())
    return np.asarray(vectors[rank:].T)


def _centre(p: Array, walls: Array, free: Array, weight: float) -> Array:
    """Newton's method with halved steps that stay inside."""
    for _ in range(_NEWTON_STEPS):
        room = -(walls @ p)
        gradient = weight * (np.log(p) + 1.0) + walls.T @ (1.0 / room)
        pushed = (walls @ free) / room[:, None]
        hessian = (free.T * (weight / p)) @ free + pushed.T @ pushed
        slope = free.T @ gradient
        step = free @ np.linalg.solve(hessian, -slope)
        decrease = float(-gradient @ step)
        if decrease <= 1e-14 * weight:
            return p
        p = _moved(p, step, walls, weight, decrease)
    return p


def _moved(p: Array, step: Array, walls: Array, weight: float, decrease: float) -> Array:
    now, length = _height(p, walls, weight), 1.0
    while length > 1e-12:
        new = p + length * step
        if (walls @ new).max() < 0.0:
            height = _height(new, walls, weight)
            if height <= now - 0.1 * length * decrease + 1e-13 * abs(now):
                return new
        length /= 2.0
    return p


def _height(p: Array, walls: Array, weight: float) -> float:
    return float(weight * (p * np.log(p)).sum() - np.log(-(walls @ p)).sum())
