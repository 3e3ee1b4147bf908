"""Decide in rationals which candidates of an exact game of several players are equilibria.

Floats find candidates, but they cannot tell a gain of 1 from rounding where other payoffs are
10^13. So the equations of a candidate's supports are solved again by Newton's method in whole
numbers of a unit far below all payoffs: what the actions earn is exact, and only the size of a
correction is computed in floats, so that each gains some ten digits. Where the result is rational,
it is recognised and checked as it stands.

Certificate: every regret is 0, or, where the probabilities are irrational, less than 1e-9 of what
the smallest difference between payoffs can be worth in the least likely cell of the others'
supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from bestresponse.theory.arrays import Numbers, as_fractions
from bestresponse.theory.equilibria.many_players.equations import (
    Supports,
    derive_leads,
    find_earnings,
    find_leads,
    find_supports,
    list_where,
    restrict,
    shift,
)
from bestresponse.theory.equilibria.result import Fractions
from bestresponse.theory.games.normal_form import NormalForm, count_multiples
from bestresponse.theory.games.regrets import Profile, contract

_ROUNDING = 1e-12  # what a candidate in floats plays with less, it does not play
_LEAST_PLAYED = (1e-9, 0.0)
"""What is played with less is first taken for rounding, then for a small probability."""
_BITS = 512  # of the unit, beside those that payoffs need
_STEPS = 60
_SINGULAR = 1e-13
_LONGEST = 2000  # bits of a payoff: floats of very different exponents would take too long
_REGRET_LIMIT = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, eq=False)
class Certified:
    """An equilibrium, its exact form and its supports.

    `exact` is given if it is rational, and the supports if they hold all best replies.
    """

    strategies: Profile
    exact: Fractions | None = None
    quasi_strict: Supports | None = None


@dataclass(frozen=True, slots=True)
class _Precision:
    """Probabilities are whole numbers of 1 / 2^`bits`, of which the first `sure` bits are right."""

    bits: int
    sure: int

    @property
    def unit(self) -> int:
        """The number that stands for 1."""
        return 1 << self.bits

    @property
    def error(self) -> int:
        """By how much a number may be wrong."""
        return 1 << (self.bits - self.sure)


def certify(game: NormalForm, mix: Profile) -> Certified | None:
    """Compute the equilibrium next to a candidate.

    Returns None where the candidate cannot be shown to be one.

    Where payoffs are floats that may stand for numbers nearby, they are taken exactly first; a
    candidate that fails so, by ties that rounding broke, is kept where no player gains more than
    1e-9 of what its own moves differ by in the cells that the others play.
    """
    # Floats that are not known exactly are taken as the numbers they are.
    numbers = game.given if game.is_exact else game.payoffs
    units = count_multiples(numbers)
    is_short = int(units.max()).bit_length() <= _LONGEST
    for used in _LEAST_PLAYED if is_short else ():
        certified = _certify_on(units, find_supports(mix, used), mix)
        if certified is not None:
            return certified if game.is_exact else Certified(certified.strategies)
    if game.is_exact:
        return None
    played = tuple(map(_drop_unplayed, mix))
    return Certified(played) if _is_close(units, played) else None


def _drop_unplayed(strategy: Numbers) -> Numbers:
    is_played = strategy > _ROUNDING
    played = np.where(is_played, strategy, 0.0)
    return np.asarray(played / strategy[is_played].sum())


def _is_close(units: Numbers, mix: Profile) -> bool:
    """Return whether every regret is less than 1e-9 of the player's range, in rationals.

    The range is what the player's own moves differ by.
    """
    shares = tuple(strategy / strategy.sum() for strategy in map(as_fractions, mix))
    for player, table in enumerate(units):
        earned = contract(table, shares, player)
        regret = max(earned) - earned @ shares[player]
        best = table.max(axis=player, keepdims=True)
        worst = table.min(axis=player, keepdims=True)
        at_stake = contract(best - worst, shares, player).sum()
        if regret > _REGRET_LIMIT * at_stake:
            return False
    return True


def _certify_on(units: Numbers, supports: Supports, mix: Profile) -> Certified | None:
    """Certify a candidate that plays just these supports."""
    length = int(units.max()).bit_length()
    bits = _BITS + 8 * length
    # Rounding in the last bits grows with the payoffs.
    precision = _Precision(bits, sure=bits - _BITS // 8 - 2 * length)
    part, start = restrict(units, mix, supports)
    point = _refine(part, start, precision)
    if point is None:
        return None

    exact = _recognise(point, precision)
    used = exact or [[Fraction(p, precision.unit) for p in strategy] for strategy in point]
    shares = tuple(np.array([Fraction(0)] * len(strategy), dtype=object) for strategy in mix)
    for share, support, strategy in zip(shares, supports, used, strict=True):
        share[list(support)] = strategy

    limits = [Fraction(0)] * len(mix) if exact else _find_limits(used)
    earnings = find_earnings(units, shares)
    for earned, share, limit in zip(earnings, shares, limits, strict=True):
        if max(earned) - earned @ share > limit:
            return None
    positive = [p for strategy in used for p in strategy if p]
    if min(map(float, positive)) == 0.0:
        return None  # what floats show would be another profile

    played = tuple(map(list_where, shares))
    listed = []
    for earned, limit in zip(earnings, limits, strict=True):
        least = max(earned) - limit
        listed.append(list_where(earned >= least))
    best = tuple(listed)
    return Certified(
        strategies=tuple(share.astype(np.float64) for share in shares),
        exact=tuple(map(tuple, shares)) if exact else None,
        quasi_strict=played if played == best else None,
    )


def _find_limits(used: list[list[Fraction]]) -> list[Fraction]:
    """Return, for each player, 1e-9 of the probability of the least likely cell of the others."""
    least = list(map(min, used))
    limits = []
    for player in range(len(used)):
        others = least[:player] + least[player + 1 :]
        limits.append(_REGRET_LIMIT * prod(others))
    return limits


def _refine(units: Numbers, mix: Profile, precision: _Precision) -> list[list[int]] | None:
    """Make all actions earn the same, in whole numbers of the unit.

    Returns None where steps do not get small enough.
    """
    point = tuple(_write_in_units(strategy, precision.unit) for strategy in mix)
    for _ in range(_STEPS):
        step = _find_step(units, point, precision.unit)
        if step is None:
            return None
        largest = max(map(abs, step), default=0.0)
        if largest > 1.0:
            return None
        changes = [int(Fraction(change) * precision.unit) for change in step]
        point = shift(point, np.array(changes, dtype=object))
        if largest <= 2.0**-precision.sure:
            is_mixture = min(map(min, point)) >= -precision.error
            return [strategy.tolist() for strategy in point] if is_mixture else None
    return None


def _write_in_units(strategy: Numbers, unit: int) -> Numbers:
    """Return probabilities as whole numbers that sum to the unit."""
    numbers = [int(_drop_rounding(share) * unit) for share in strategy.tolist()]
    numbers[0] += unit - sum(numbers)
    return np.array(numbers, dtype=object)


def _drop_rounding(share: float) -> Fraction:
    """Give the simple fraction next to a float.

    In a continuum, no step would lead back to it from its rounding.
    """
    whole = Fraction(share)
    near = whole.limit_denominator(1000)
    return near if abs(near - whole) <= _ROUNDING * share else whole


def _find_step(units: Numbers, point: tuple[Numbers, ...], unit: int) -> list[float] | None:
    """Compute by how much to change the probabilities of all actions but the first ones.

    Returns None if by more than 1.
    """
    leads = find_leads(units, point).tolist()
    if not leads:
        return []
    jacobian = derive_leads(units, point).tolist()
    sizes = [max(map(abs, row)) for row in jacobian]
    for lead, size in zip(leads, sizes, strict=True):
        if abs(lead) > len(leads) * size * unit:
            return None

    # Rows and columns are made comparable first: their payoffs may be of very different size.
    sizes = [size or 1 for size in sizes]
    rows = []
    wanted = []
    for row, lead, size in zip(jacobian, leads, sizes, strict=True):
        rows.append([derivative / size for derivative in row])
        wanted.append(-lead / (size * unit))
    scaled = np.array(rows)
    columns = np.abs(scaled).max(axis=0)
    columns[columns == 0.0] = 1.0
    solution = np.linalg.lstsq(scaled / columns, np.array(wanted), rcond=_SINGULAR)[0]
    step: list[float] = (solution / columns).tolist()
    return step


def _recognise(point: list[list[int]], precision: _Precision) -> list[list[Fraction]] | None:
    """Find the fractions that all numbers stand for.

    Returns None where one is not next to a fraction that is short enough.

    A third of the digits make the denominator: irrational numbers are not as close to any such
    fraction.
    """
    largest = 1 << (precision.sure // 3)
    exact = []
    for numbers in point:
        strategy = []
        for number in numbers:
            share = Fraction(number, precision.unit).limit_denominator(largest)
            if abs(share * precision.unit - number) > precision.error:
                return None
            strategy.append(share)
        if sum(strategy) != 1 or min(strategy) < 0:
            return None
        exact.append(strategy)
    return exact
