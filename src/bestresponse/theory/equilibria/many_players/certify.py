"""Decide in rationals which candidates of an exact game of several players are equilibria.

Floats find candidates, but they cannot tell a gain of 1 from rounding where other payoffs are 10^13. So the equations
of a candidate's supports are solved again by Newton's method in whole numbers of a unit far below all payoffs: what
the actions earn is exact, and only the size of a correction is computed in floats, so that each gains some ten digits.
Where the result is rational, it is recognised and checked as it stands.

Certificate: every regret is 0, or, where the probabilities are irrational, less than 1e-9 of what the smallest
difference between payoffs can be worth in the least likely cell of the others' supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from bestresponse.theory.equilibria.many_players.newton import (
    Supports,
    derive_leads,
    find_leads,
    find_supports,
    restrict,
    shift,
)
from bestresponse.theory.equilibria.pure import pure_nash
from bestresponse.theory.equilibria.result import IN_SUPPORT, Fractions
from bestresponse.theory.games.normal_form import NormalForm, Numbers
from bestresponse.theory.games.regrets import Profile, contract

__all__ = ["Certified", "certify"]

_USED = (1e-9, 0.0)
"""What is played with less is first taken for rounding, then for a small probability."""
_BITS = 512
_STEPS = 60
_SINGULAR = 1e-13
_REGRET_LIMIT = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, eq=False)
class Certified:
    """An equilibrium; `exact` where it is rational, and its supports where they hold all best replies."""

    strategies: Profile
    exact: Fractions | None = None
    quasi_strict: Supports | None = None


def certify(game: NormalForm, mix: Profile) -> Certified | None:
    """Compute the equilibrium next to a candidate; None where the candidate cannot be shown to be one.

    Candidates of inexact games are taken as they are, but a pure one has to be a pure equilibrium.
    """
    if game.units is None:
        supports = find_supports(mix, IN_SUPPORT)
        is_pure = all(len(support) == 1 for support in supports)
        return None if is_pure and tuple(s[0] for s in supports) not in pure_nash(game) else Certified(mix)
    units = game.units.astype(object)
    for used in _USED:
        certified = _certify_on(units, find_supports(mix, used), mix)
        if certified is not None:
            return certified
    return None


def _certify_on(units: Numbers, supports: Supports, mix: Profile) -> Certified | None:
    length = int(units.max()).bit_length()
    bits = _BITS + 8 * length
    sure = bits - _BITS // 8 - 2 * length  # rounding in the last bits grows with the payoffs
    point = _refine(*restrict(units, mix, supports), bits, sure)
    if point is None:
        return None
    exact = _recognise(point, bits, sure)
    used = exact or [[Fraction(p, 1 << bits) for p in x] for x in point]
    shares = tuple(np.array([Fraction(0)] * len(x), dtype=object) for x in mix)
    for share, support, part in zip(shares, supports, used, strict=True):
        share[list(support)] = part
    limits = [Fraction(0)] * len(mix) if exact else _limit_regrets(used)
    earned = [contract(units[player], shares, player) for player in range(len(mix))]
    if any(max(u) - u @ x > limit for u, x, limit in zip(earned, shares, limits, strict=True)):
        return None
    if exact is None and min(map(min, used)) <= IN_SUPPORT:
        return None  # what floats show would be another profile
    played = tuple(tuple(np.flatnonzero(x).tolist()) for x in shares)
    best = tuple(tuple(np.flatnonzero(u >= max(u) - limit).tolist()) for u, limit in zip(earned, limits, strict=True))
    strategies = tuple(x.astype(np.float64) for x in shares)
    return Certified(strategies, tuple(map(tuple, shares)) if exact else None, played if played == best else None)


def _refine(units: Numbers, mix: Profile, bits: int, sure: int) -> list[list[int]] | None:
    """Make all actions earn the same, in whole numbers of 1 / 2^bits; None where steps do not get below 2^-sure."""
    one = 1 << bits
    point = tuple(np.array([int(Fraction(p) * one) for p in x.tolist()], dtype=object) for x in mix)
    for x in point:
        x[0] += one - sum(x)
    for _ in range(_STEPS):
        step = _find_step(units, point, one)
        largest = np.inf if step is None else max(map(abs, step), default=0.0)
        if step is None or largest > 1.0:
            return None
        point = shift(point, np.array([int(Fraction(change) * one) for change in step], dtype=object))
        if largest <= 2.0**-sure:
            return [x.tolist() for x in point] if min(map(min, point)) >= -(1 << bits - sure) else None
    return None


def _find_step(units: Numbers, point: tuple[Numbers, ...], one: int) -> list[float] | None:
    """Compute by how much to change the probabilities of all actions but the first ones; None if by more than 1."""
    leads = find_leads(units, point).tolist()
    if not leads:
        return []
    jacobian = derive_leads(units, point).tolist()
    rows = [max(map(abs, row)) for row in jacobian]
    if any(abs(lead) > len(leads) * size * one for lead, size in zip(leads, rows, strict=True)):
        return None
    # Rows and columns are made comparable first: their payoffs may be of very different size.
    rows = [size or 1 for size in rows]
    scaled = np.array([[u / size for u in row] for row, size in zip(jacobian, rows, strict=True)])
    columns = np.abs(scaled).max(axis=0)
    columns[columns == 0.0] = 1.0
    wanted = np.array([-lead / (size * one) for lead, size in zip(leads, rows, strict=True)])
    step: list[float] = (np.linalg.lstsq(scaled / columns, wanted, rcond=_SINGULAR)[0] / columns).tolist()
    return step


def _recognise(point: list[list[int]], bits: int, sure: int) -> list[list[Fraction]] | None:
    """Find the fractions that all numbers stand for; None where one is not next to a fraction that is short enough.

    A third of the digits make the denominator: irrational numbers are not as close to any such fraction.
    """
    exact = [[Fraction(p, 1 << bits).limit_denominator(1 << sure // 3) for p in x] for x in point]
    pairs = [pair for fractions, x in zip(exact, point, strict=True) for pair in zip(fractions, x, strict=True)]
    is_close = all(abs(p * (1 << bits) - q) <= 1 << bits - sure for p, q in pairs)
    return exact if is_close and all(sum(x) == 1 and min(x) >= 0 for x in exact) else None


def _limit_regrets(shares: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    least = [min(x) for x in shares]
    return [_REGRET_LIMIT * prod(least[:i] + least[i + 1 :]) for i in range(len(least))]
