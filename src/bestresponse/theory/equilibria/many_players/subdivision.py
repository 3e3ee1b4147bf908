"""All solutions of the equations of a mixed equilibrium, with a proof that there are no others.

On given supports everything in a support earns the same: as many polynomial equations as unknowns.
Payoffs are multilinear, so around the centre of a box an equation is its value there, a linear part
and products of deviations whose size is bounded by the radii: no interval arithmetic is needed
beyond absolute values. A box is left out where

- an equation has the same sign everywhere in it,
- an action outside the supports earns more everywhere in it,
- or Newton's method, with what is not linear as its error, leads out of it (Krawczyk 1969).

Where the equations are one to one on a box around a solution (the derivative, multiplied by its
inverse at the centre, differs from the identity by less than 1), the box holds no other. All other
boxes are halved. Where no box is left, all solutions are known; where boxes get small or many, as
they do around a continuum, the system is given up, and nothing is claimed; Newton's method from
random points may still find solutions.

Rounding: payoffs are scaled to [0, 1], and every bound is widened by `_ROUNDING` times the sizes of
all terms, some hundred times what so many operations can round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bestresponse.theory.arrays import Bools, Indices
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.many_players.equations import Supports
from bestresponse.theory.games.normal_form import Array

_ROUNDING = 1e-13
_SMALLEST = 1e-5  # radius: a box that is still open so close to a solution will stay so
_MOST_BOXES = 20_000  # of one system, in all
_AT_ONCE = 4096
_NEWTON_STEPS = 8
_NEAR = 1e-9  # probabilities and gains closer to 0 than this are left to rationals
_SINGULAR = 1e-12
_TIGHT = 1e-13  # least radius of the box in which a solution is shown to exist
_GUESSES = 16  # random points for each system that boxes do not settle
_GUESS_STEPS = 12
_FLAT = 1e-6  # of the largest singular value: a guess with a smaller one may lie on a continuum


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """The equations of several profiles of supports of the same sizes, as polynomials.

    `equations[k, e]` and `gains[k, g]` have one axis per player who mixes: along it the constant
    first, then one coefficient for the probability of each action but the first of the support.
    """

    sizes: tuple[int, ...]
    equations: Array
    gains: Array

    @property
    def unknowns(self) -> int:
        """How many probabilities are unknown."""
        return sum(self.sizes) - len(self.sizes)


Root = tuple[int, Array]
"""The number of a system, and a solution as probabilities of all actions but the first of each
support."""


@dataclass(slots=True)
class Roots:
    """What is known of the solutions of several systems.

    `found` are solutions that may be equilibria; `proved` says of each system that there are no
    others.
    """

    found: list[Root] = field(default_factory=list)
    proved: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))
    boxes: int = 0


def make_systems(payoffs: Array, profiles: Sequence[Supports]) -> Systems:
    """Write down the equations of profiles of supports of the same sizes."""
    sizes = tuple(len(support) for support in profiles[0] if len(support) > 1)
    equations = []
    gains = []
    for supports in profiles:
        equal: list[Array] = []
        better: list[Array] = []
        for player, support in enumerate(supports):
            leads = _find_leads(payoffs, supports, player)
            equal.extend(leads[a] for a in support[1:])
            better.extend(lead for a, lead in enumerate(leads) if a not in support)
        equations.append(np.stack(equal))
        gains.append(np.stack(better) if better else np.zeros((0, *sizes)))
    return Systems(sizes, np.stack(equations), np.stack(gains))


def _find_leads(payoffs: Array, supports: Supports, player: int) -> Array:
    """Say what every action of a player earns more than the first of its support.

    The results are polynomials: one axis for actions, then one for each player who mixes.
    """
    cells: list[Sequence[int]] = list(supports)
    cells[player] = range(payoffs.shape[1 + player])
    earned = payoffs[player][np.ix_(*cells)]
    table = np.moveaxis(earned, player, 0)
    first_action = supports[player][0]
    leads = table - table[first_action]
    axis = 1
    for other, support in enumerate(supports):
        if other == player:
            if len(support) > 1:  # one's own probabilities do not matter
                leads = np.expand_dims(leads, axis)
                padding = [(0, 0)] * leads.ndim
                padding[axis] = (0, len(support) - 1)
                leads = np.pad(leads, padding)
                axis += 1
        elif len(support) > 1:
            first = np.take(leads, [0], axis=axis)
            others = np.take(leads, range(1, len(support)), axis=axis)
            leads = np.concatenate([first, others - first], axis=axis)
            axis += 1
        else:
            leads = np.take(leads, 0, axis=axis)
    return np.asarray(leads)


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """Where the terms of a polynomial lie in a row of coefficients.

    It has the linear ones, and for every term which unknowns it multiplies.
    """

    sizes: tuple[int, ...]
    linear: Indices
    powers: Array

    @classmethod
    def of(cls, sizes: tuple[int, ...]) -> _Shape:
        columns = []
        for player, size in enumerate(sizes):
            for k in range(1, size):
                has = np.zeros(size)
                has[k] = 1.0
                axes = [1] * len(sizes)
                axes[player] = size
                wide = np.broadcast_to(has.reshape(axes), sizes)
                columns.append(wide.ravel())
        powers = np.array(columns)
        is_linear = powers.sum(axis=0) == 1
        linear = [np.flatnonzero(is_linear & (row == 1))[0] for row in powers]
        return cls(sizes, np.array(linear), powers)

    @property
    def higher(self) -> Bools:
        """Which terms are products of several unknowns."""
        return np.asarray(self.powers.sum(axis=0) > 1)

    def blocks(self) -> Iterator[slice]:
        """The unknowns of each player."""
        start = 0
        for size in self.sizes:
            yield slice(start, start + size - 1)
            start += size - 1

    def centre(self, terms: Array, centre: Array) -> Array:
        """Write polynomials in deviations from a centre instead: coefficients in rows."""
        moved = terms.reshape(*terms.shape[:2], *self.sizes)
        for axis, block in enumerate(self.blocks(), start=2):
            size = self.sizes[axis - 2]
            shape = [len(terms), 1] + [1] * len(self.sizes)
            shape[axis] = size - 1
            rest = np.take(moved, range(1, size), axis=axis)
            by = centre[:, block].reshape(shape)
            shift = (rest * by).sum(axis=axis, keepdims=True)
            first = np.take(moved, [0], axis=axis) + shift
            moved = np.concatenate([first, rest], axis=axis)
        return moved.reshape(terms.shape)

    def largest(self, radius: Array) -> Array:
        """Say how large the product of unknowns of every term can be, for rows of radii."""
        product = np.ones((len(radius), *[1] * len(self.sizes)))
        for axis, block in enumerate(self.blocks(), start=1):
            part = np.concatenate([np.ones((len(radius), 1)), radius[:, block]], axis=1)
            shape = [len(radius)] + [1] * len(self.sizes)
            shape[axis] = self.sizes[axis - 1]
            product = product * part.reshape(shape)
        return product.reshape(len(radius), self.powers.shape[1])


@dataclass(slots=True, eq=False)
class _Boxes:
    """Boxes of probabilities, each of one system."""

    system: Indices
    low: Array
    high: Array

    def __len__(self) -> int:
        return len(self.system)

    def take(self, rows: Bools | Indices | slice) -> _Boxes:
        return _Boxes(self.system[rows], self.low[rows], self.high[rows])

    @property
    def centre(self) -> Array:
        return (self.low + self.high) / 2

    @property
    def radius(self) -> Array:
        return (self.high - self.low) / 2


def solve_systems(systems: Systems, deadline: Deadline) -> Roots:
    """Find all solutions that may be equilibria, and say of which systems there are no others."""
    count = len(systems.equations)
    flat = _Flat.of(systems)
    roots = Roots(proved=np.ones(count, dtype=bool))
    used = np.zeros(count, dtype=np.int64)
    waiting = _Boxes(
        np.arange(count),
        np.zeros((count, systems.unknowns)),
        np.ones((count, systems.unknowns)),
    )
    while len(waiting):
        if deadline.is_over:
            roots.proved[waiting.system] = False
            break
        boxes = waiting.take(slice(_AT_ONCE))
        waiting = waiting.take(slice(_AT_ONCE, None))
        roots.boxes += len(boxes)
        used += np.bincount(boxes.system, minlength=count)
        left, weights = _examine(flat, boxes, roots)
        small = left.radius.max(axis=1) < _SMALLEST
        roots.proved[left.system[small]] = False
        roots.proved[used > _MOST_BOXES] = False
        going = roots.proved[left.system]
        halves = _halve(left.take(going), weights[going])
        waiting = waiting.take(roots.proved[waiting.system])
        waiting = _Boxes(  # depth first, so that few boxes wait
            np.concatenate([halves.system, waiting.system]),
            np.concatenate([halves.low, waiting.low]),
            np.concatenate([halves.high, waiting.high]),
        )
    return roots


@dataclass(frozen=True, slots=True, eq=False)
class _Flat:
    """Systems with the coefficients of each polynomial in one row."""

    shape: _Shape
    equations: Array
    gains: Array

    @classmethod
    def of(cls, systems: Systems) -> _Flat:
        count = len(systems.equations)
        shape = _Shape.of(systems.sizes)
        equations = systems.equations.reshape(count, systems.unknowns, -1)
        gains = systems.gains.reshape(count, systems.gains.shape[1], shape.powers.shape[1])
        return cls(shape, equations, gains)

    def find_possible(self, system: Indices, points: Array) -> Bools:
        """Say which points are mixtures that no action outside the supports beats."""
        totals = [points[:, block].sum(axis=1) for block in self.shape.blocks()]
        firsts = 1.0 - np.stack(totals, axis=1)
        least = np.concatenate([firsts, points], axis=1).min(axis=1)
        gains = self.shape.centre(self.gains[system], points)[:, :, 0]
        most = gains.max(axis=1, initial=-1.0)
        return np.asarray((least >= -_NEAR) & (most <= _NEAR))


def _examine(flat: _Flat, boxes: _Boxes, roots: Roots) -> tuple[_Boxes, Array]:
    """Leave out boxes without a solution and those whose only one is known; shrink the others.

    With the boxes that are left comes how much each unknown matters for what is not linear.
    """
    shape = flat.shape
    inside = np.ones(len(boxes), dtype=bool)
    for block in shape.blocks():
        inside &= boxes.low[:, block].sum(axis=1) <= 1.0 + _NEAR
    boxes = boxes.take(inside)
    equations = flat.equations[boxes.system]
    terms = shape.centre(equations, boxes.centre)
    sizes = shape.largest(boxes.radius)
    rounding = _ROUNDING * np.abs(equations).sum(axis=2)
    within = np.abs(terms[:, :, 0]) <= _find_spread(terms, sizes) + rounding
    possible = np.asarray(within.all(axis=1))
    boxes = boxes.take(possible)
    terms = terms[possible]
    sizes = sizes[possible]
    if flat.gains.shape[1]:
        gains = shape.centre(flat.gains[boxes.system], boxes.centre)
        least = gains[:, :, 0] - _find_spread(gains, sizes)
        possible = np.asarray((least <= _NEAR).all(axis=1))
        boxes = boxes.take(possible)
        terms = terms[possible]
    return _contract(flat, boxes, terms, roots)


def _find_spread(terms: Array, sizes: Array) -> Array:
    """Say by how much polynomials can differ from their values at the centres of boxes."""
    largest = np.abs(terms[:, :, 1:]) * sizes[:, None, 1:]
    return np.asarray(largest.sum(axis=2))


def _contract(
    flat: _Flat,
    boxes: _Boxes,
    terms: Array,
    roots: Roots,
) -> tuple[_Boxes, Array]:
    """Apply Newton's method to boxes, whose equations are `terms` around their centres."""
    shape = flat.shape
    sizes = shape.largest(boxes.radius)
    newton = _precondition(shape, terms)
    error = _bound_error(shape, newton, sizes, boxes.radius)
    middle = boxes.centre - newton.terms[:, :, 0]
    low = np.maximum(boxes.low, middle - error)
    high = np.minimum(boxes.high, middle + error)
    regular = newton.regular
    possible = ~regular | (low <= high).all(axis=1)
    low = np.where(regular[:, None], low, boxes.low)
    high = np.where(regular[:, None], high, boxes.high)
    smaller = _Boxes(boxes.system[possible], low[possible], high[possible])
    known = _find_known(flat, smaller, regular[possible], roots)
    left = smaller.take(~known)
    open_terms = terms[possible][~known]
    open_sizes = sizes[possible][~known]
    matters = np.abs(open_terms) * open_sizes[:, None, :]
    weights = np.einsum("nep,jp->nj", matters[:, :, shape.higher], shape.powers[:, shape.higher])
    return left, weights


@dataclass(frozen=True, slots=True, eq=False)
class _Newton:
    """Equations multiplied by the inverse of their derivative at the centre."""

    terms: Array
    rounding: Array
    regular: Bools


def _precondition(shape: _Shape, terms: Array) -> _Newton:
    derivative = terms[:, :, shape.linear]
    singular = np.linalg.svd(derivative, compute_uv=False)
    regular = singular[:, -1] > _SINGULAR * singular[:, 0]
    safe = np.where(regular[:, None, None], derivative, np.eye(derivative.shape[1]))
    inverse = np.linalg.inv(safe)
    product = inverse @ terms
    largest = np.abs(inverse) @ np.abs(terms)
    rounding = _ROUNDING * largest.sum(axis=2)
    return _Newton(product, rounding, regular)


def _bound_error(shape: _Shape, newton: _Newton, sizes: Array, radius: Array) -> Array:
    """Say by how much a solution in the box can differ from where Newton's method leads."""
    return _bound_change(shape, newton, sizes[:, shape.higher], radius)


def _bound_change(
    shape: _Shape,
    newton: _Newton,
    higher: Array,
    radius: Array,
) -> Array:
    """Bound what is added to the identity within boxes.

    Products of several unknowns are at most `higher` there.
    """
    linear = newton.terms[:, :, shape.linear] - np.eye(radius.shape[1])
    by_linear = np.abs(linear) * radius[:, None, :]
    by_higher = np.abs(newton.terms[:, :, shape.higher]) * higher[:, None]
    change = by_linear.sum(axis=2) + by_higher.sum(axis=2) + newton.rounding
    return np.asarray(change)


def _are_one_to_one(
    shape: _Shape,
    newton: _Newton,
    sizes: Array,
    radius: Array,
) -> Bools:
    """Say of boxes whether no two points in them have the same values."""
    degree = shape.powers.sum(axis=0)[shape.higher]
    change = _bound_change(shape, newton, sizes[:, shape.higher] * degree, radius)
    contracts = (change < 0.99 * radius).all(axis=1)
    return np.asarray(newton.regular & contracts)


def _find_known(
    flat: _Flat,
    boxes: _Boxes,
    regular: Bools,
    roots: Roots,
) -> Bools:
    """Say which boxes hold no solution but one that is found here, by Newton's method."""
    shape = flat.shape
    known = np.zeros(len(boxes), dtype=bool)
    rows = np.flatnonzero(regular)
    if not len(rows):
        return known
    equations = flat.equations[boxes.system[rows]]
    point = boxes.centre[rows]
    for _ in range(_NEWTON_STEPS):
        newton = _precondition(shape, shape.centre(equations, point))
        point = np.clip(point - newton.terms[:, :, 0], -2.0, 2.0)
    newton = _precondition(shape, shape.centre(equations, point))
    # A box around the point that Newton's method leads into itself holds a solution (Brouwer).
    step = np.abs(newton.terms[:, :, 0])
    tight = np.minimum(_TIGHT + 3.0 * (step + newton.rounding), _NEAR)
    error = _bound_error(shape, newton, shape.largest(tight), tight)
    leads_inside = (step + error < tight).all(axis=1)
    exists = newton.regular & leads_inside
    rows = rows[exists]
    point = point[exists]
    tight = tight[exists]
    equations = equations[exists]
    low = np.minimum(boxes.low[rows], point - tight)
    high = np.maximum(boxes.high[rows], point + tight)
    hull = _Boxes(boxes.system[rows], low, high)
    newton = _precondition(shape, shape.centre(equations, hull.centre))
    alone = _are_one_to_one(shape, newton, shape.largest(hull.radius), hull.radius)
    known[rows[alone]] = True
    _keep(flat, hull.system[alone], point[alone], roots.found)
    return known


def _keep(
    flat: _Flat,
    system: Indices,
    points: Array,
    found: list[Root],
) -> Bools:
    """Add the solutions that may be equilibria to those found, and say which they are."""
    possible = flat.find_possible(system, points)
    numbers = system[possible].tolist()
    found.extend(zip(numbers, points[possible], strict=True))
    return possible


def _halve(boxes: _Boxes, weights: Array) -> _Boxes:
    """Cut boxes in two, across the unknown that matters most for what is not linear."""
    # None matters nothing: every unknown is cut at some time.
    least = 1e-3 * weights.max(axis=1, keepdims=True) + 1e-12
    widths = boxes.radius * (weights + least)
    axis = widths.argmax(axis=1)
    rows = np.arange(len(boxes))
    middle = boxes.centre[rows, axis]
    first_high = boxes.high.copy()
    second_low = boxes.low.copy()
    first_high[rows, axis] = middle
    second_low[rows, axis] = middle
    return _Boxes(
        np.concatenate([boxes.system, boxes.system]),
        np.concatenate([boxes.low, second_low]),
        np.concatenate([first_high, boxes.high]),
    )


def guess_roots(systems: Systems, deadline: Deadline) -> list[Root]:
    """Look for solutions that may be equilibria, by Newton's method from random mixtures.

    Of solutions that are not regular, and may be points of a continuum, one of a system is kept.
    """
    flat = _Flat.of(systems)
    generator = np.random.default_rng(0)
    different: dict[object, Root] = {}
    at_once = max(1, _AT_ONCE // _GUESSES)
    for first in range(0, len(systems.equations), at_once):
        if deadline.is_over:
            break
        some = np.arange(first, min(first + at_once, len(systems.equations)))
        system = np.repeat(some, _GUESSES)
        drawn = [generator.dirichlet(np.ones(size), len(system)) for size in systems.sizes]
        starts = np.concatenate([mix[:, 1:] for mix in drawn], axis=1)
        for root, is_regular in _polish_guesses(flat, system, starts):
            place = root[1].round(6).tobytes() if is_regular else b""
            different.setdefault((root[0], place), root)
    return list(different.values())


def _polish_guesses(
    flat: _Flat,
    system: Indices,
    point: Array,
) -> Iterator[tuple[Root, bool]]:
    """Give what Newton's method finds from these points, and whether it is regular."""
    shape = flat.shape
    equations = flat.equations[system]
    for _ in range(_GUESS_STEPS):
        terms = shape.centre(equations, point)
        inverse = np.linalg.pinv(terms[:, :, shape.linear], rcond=_SINGULAR)
        step = (inverse @ terms[:, :, :1])[:, :, 0]
        point = np.clip(point - step, -2.0, 2.0)
    terms = shape.centre(equations, point)
    left = np.abs(terms[:, :, 0])
    is_solved = left.max(axis=1) <= _NEAR
    singular = np.linalg.svd(terms[is_solved][:, :, shape.linear], compute_uv=False)
    is_regular = singular[:, -1] > _FLAT * singular[:, 0]
    found: list[Root] = []
    kept = _keep(flat, system[is_solved], point[is_solved], found)
    yield from zip(found, is_regular[kept].tolist(), strict=True)
