"""All equilibria of three players with two actions each, in closed form and in exact arithmetic.

Write p, q, r for the probabilities of the second actions. What a player gains by its second action
is bilinear in the two others' probabilities; an equilibrium has 0 where the player mixes and the
right sign where it does not. The cube has 27 open faces (everybody plays its first action, its
second, or mixes). On a face where all three mix, p and r follow from q by two of the equations, and
the third becomes a quadratic equation in q; on all others the equations are linear. Irrational
roots are taken to 60 digits, all else is rational, so no tie is decided by rounding.

A face may hold a continuum: a segment, a part of a plane, or a curve. Its ends are found, as points
of this face or of those around it: no continuum is without a point that is listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import isqrt

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm, as_meant

Point = tuple[Fraction, ...]
Bilinear = tuple[Fraction, Fraction, Fraction, Fraction]
"""Constant, factors of the first and of the second probability, and of their product."""
Linear = tuple[Fraction, Fraction]

_DIGITS = 10**60  # of an irrational root: signs of gains there are decided far beyond floats


@dataclass(slots=True)
class CubeSolution:
    """Probabilities of the second actions at equilibria.

    They are given at every isolated equilibrium and at points of every continuum.

    `continua` says whether there may be continua; `rational` that no root was irrational.
    """

    points: list[Point]
    continua: bool = False
    rational: bool = True


def solve_two_actions(game: NormalForm) -> CubeSolution:
    """Find all equilibria of a 2x2x2 game.

    >>> import numpy as np
    >>> cells = np.array([[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    >>> solution = solve_two_actions(NormalForm(np.stack([cells] * 3)))
    >>> [[str(p) for p in point] for point in solution.points]
    [['0', '0', '0'], ['1', '1', '1'], ['1/2', '1/2', '1/2']]
    """
    gains = [_find_gain(game, player) for player in range(3)]
    cube = CubeSolution([])
    for face in sorted(product((0, 1, None), repeat=3), key=lambda ends: ends.count(None)):
        mixing = [i for i in range(3) if face[i] is None]
        match len(mixing):
            case 0 | 1:
                _solve_edge(cube, gains, face, mixing)
            case 2:
                _solve_square(cube, gains, face, mixing)
            case _:
                _solve_inside(cube, gains)
    cube.points = list(dict.fromkeys(cube.points))
    return cube


def _find_gain(game: NormalForm, player: int) -> Bilinear:
    """What the second action earns more than the first, by the two others' probabilities."""
    exact = as_meant(game.given[player])
    first, second = np.moveaxis(exact, player, 0).reshape(2, 4)
    low, right, left, both = second - first
    return low, left - low, right - low, both - left - right + low


def _gain_at(gains: Sequence[Bilinear], player: int, point: Sequence[Fraction]) -> Fraction:
    x, y = (point[k] for k in range(3) if k != player)
    low, left, right, both = gains[player]
    alone = low + left * x
    return alone + (right + both * x) * y


def _fits(gains: Sequence[Bilinear], player: int, point: Sequence[Fraction]) -> Fraction:
    """What a player who does not mix loses by its other action: not negative at an equilibrium."""
    gain = _gain_at(gains, player, point)
    return gain if point[player] == 1 else -gain


def _solve_edge(
    cube: CubeSolution,
    gains: Sequence[Bilinear],
    face: Sequence[int | None],
    mixing: list[int],
) -> None:
    """Solve the case that at most one player mixes, who must not care.

    The others' conditions are linear in its probability.
    """
    first = [Fraction(x or 0) for x in face]
    if any(_gain_at(gains, i, first) for i in mixing):
        return
    held = [i for i in range(3) if i not in mixing]
    at_first = [_fits(gains, i, first) for i in held]
    if not mixing:
        if min(at_first) >= 0:
            cube.points.append(tuple(first))
        return
    last = [Fraction(1 if x is None else x) for x in face]
    at_last = [_fits(gains, i, last) for i in held]
    limits = list(zip(at_first, at_last, strict=True))
    _keep_segment(cube, first, mixing[0], limits)


def _keep_segment(
    cube: CubeSolution,
    point: list[Fraction],
    free: int,
    limits: Sequence[Linear],
) -> None:
    """Keep the part of a line on which linear functions are not negative.

    The functions are given by their values at 0 and 1.
    """
    low = Fraction(0)
    high = Fraction(1)
    for start, stop in limits:
        if start < 0 and stop < 0:
            return
        if (start < 0) != (stop < 0):
            root = start / (start - stop)
            if start < 0:
                low = max(low, root)
            else:
                high = min(high, root)
    if low > high or low == 1 or high == 0:
        return
    cube.continua = cube.continua or low < high
    for end in (low, high):
        if 0 < end < 1:
            there = list(point)
            there[free] = end
            cube.points.append(tuple(there))


def _solve_square(
    cube: CubeSolution,
    gains: Sequence[Bilinear],
    face: Sequence[int | None],
    mixing: list[int],
) -> None:
    """Two players mix, each so that the other does not care.

    The third must not want its other action.
    """
    held = next(i for i in range(3) if i not in mixing)
    chosen = Fraction(face[held] or 0)
    point = [chosen] * 3
    free = []
    for i, other in (mixing, mixing[::-1]):
        # A player mixes so that the other one does not care.
        root = _find_root(_restrict(gains[other], other, held, chosen))
        if root == "all":
            free.append(i)
            point[i] = Fraction(0)
        elif isinstance(root, Fraction) and 0 < root < 1:
            point[i] = root
        else:
            return
    fits = _fit_corners(gains, held, point, free)
    match len(free):
        case 0:
            if fits[0] >= 0:
                cube.points.append(tuple(point))
        case 1:
            _keep_segment(cube, point, free[0], [(fits[0], fits[1])])
        case _:
            # A part of the square, which reaches its edges as the function is bilinear.
            is_anywhere = max(fits) > 0 or not any(fits)
            cube.continua = cube.continua or is_anywhere


def _fit_corners(
    gains: Sequence[Bilinear],
    held: int,
    point: list[Fraction],
    free: list[int],
) -> list[Fraction]:
    """Say what the player who is held loses at every corner of the others' free probabilities."""
    fits = []
    for ends in product((0, 1), repeat=len(free)):
        corner = list(point)
        for i, end in zip(free, ends, strict=True):
            corner[i] = Fraction(end)
        fits.append(_fits(gains, held, corner))
    return fits


def _restrict(gain: Bilinear, player: int, held: int, chosen: Fraction) -> Linear:
    """A player's gain by the probability of the one who mixes, with the other held.

    It is a constant and a factor.
    """
    others = [k for k in range(3) if k != player]
    if others[0] == held:
        return gain[0] + gain[1] * chosen, gain[2] + gain[3] * chosen
    return gain[0] + gain[2] * chosen, gain[1] + gain[3] * chosen


def _find_root(line: Linear) -> Fraction | str:
    """Where a linear function is 0: a number, "all" or "none"."""
    if line[1] != 0:
        return -line[0] / line[1]
    return "none" if line[0] else "all"


def _solve_inside(cube: CubeSolution, gains: Sequence[Bilinear]) -> None:
    """Everybody mixes: see above."""
    first, second, third = gains  # in (q, r), in (p, r), in (p, q)
    # p = above / below
    above = (-third[0], -third[2])
    below = (third[1], third[3])
    # r = over / under
    over = (-first[0], -first[1])
    under = (first[2], first[3])
    parts = zip(second, ((below, under), (above, under), (below, over), (above, over)), strict=True)
    square = [Fraction(0)] * 3
    for weight, (x, y) in parts:
        square[0] += weight * x[0] * y[0]
        square[1] += weight * (x[0] * y[1] + x[1] * y[0])
        square[2] += weight * x[1] * y[1]
    if any(square):
        roots, rational = _solve_quadratic(square)
    else:
        cube.continua = True
        ends = [_find_root(below), _find_root(under)]
        roots = [root for root in ends if isinstance(root, Fraction)]
        rational = True
    for q in roots:
        if not 0 < q < 1:
            continue
        at = [line[0] + line[1] * q for line in (above, below, over, under)]
        if _keep_inside(cube, q, second, at):
            cube.rational = cube.rational and rational


def _keep_inside(
    cube: CubeSolution,
    q: Fraction,
    second: Bilinear,
    at: Sequence[Fraction],
) -> bool:
    """Keep the equilibrium at q, if there is one; say whether a point was kept."""
    p = _find_root((-at[0], at[1]))
    r = _find_root((-at[2], at[3]))
    if p == "all" and r == "all":
        cube.continua = True
        return False
    if p == "all" and isinstance(r, Fraction):
        p = _find_root(_restrict(second, player=1, held=2, chosen=r))
    elif r == "all" and isinstance(p, Fraction):
        r = _find_root(_restrict(second, player=1, held=0, chosen=p))
    cube.continua = cube.continua or "all" in (p, r)
    if isinstance(p, Fraction) and isinstance(r, Fraction) and 0 < p < 1 and 0 < r < 1:
        cube.points.append((p, q, r))
        return True
    return False


def _solve_quadratic(square: Sequence[Fraction]) -> tuple[list[Fraction], bool]:
    """The real roots of c + b x + a x^2, and whether they are exact."""
    c, b, a = square
    if a == 0:
        root = _find_root((c, b))
        return ([root] if isinstance(root, Fraction) else []), True
    inside = b * b - 4 * a * c
    if inside < 0:
        return [], True
    product_ = inside.numerator * inside.denominator
    whole = isqrt(product_)
    exact = whole * whole == product_
    if exact:
        size = Fraction(whole, inside.denominator)
    else:
        size = Fraction(isqrt(product_ * _DIGITS**2), inside.denominator * _DIGITS)
    roots = [(-b - size) / (2 * a), (-b + size) / (2 * a)]
    return list(dict.fromkeys(roots)), exact
