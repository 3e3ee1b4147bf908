"""Newton's method on given supports, and the certificate in rationals that a candidate is an
equilibrium.

Decide in rationals which candidates of an exact game of several players are equilibria.

Floats find candidates, but they cannot tell a gain of 1 from rounding where other payoffs are
10^13. So the equations of a candidate's supports are solved again by Newton's method in whole
numbers of a unit far below all payoffs: what the actions earn is exact, and only the size of a
correction is computed in floats, so that each gains some ten digits. Where the result is rational,
it is recognised and checked as it stands.

Certificate: every regret is 0, or, where the probabilities are irrational, less than 1e-9 of what
the smallest difference between payoffs can be worth in the least likely cell of the others'
supports.

Newton's method for the equations of a Nash equilibrium on given supports, and what they say of an
equilibrium.

Unknowns: the probabilities of all actions but the first of each support. Equations: every action
earns what the first one does; its lead over the first is 0. Payoffs are multilinear, so derivatives
are payoffs too.

An equilibrium is regular when every player uses all its best responses and the equations of its
supports have a derivative that is not singular; it is then isolated, and its index is the sign of
the determinant of minus the derivative (Ritzberger 1994). The indices of a regular game's
equilibria sum to +1 (Wilson 1971: their number is odd).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, permutations
from math import prod

import numpy as np

from bestresponse.theory.arrays import Numbers, as_fractions
from bestresponse.theory.equilibria.result import Continuum, Fractions
from bestresponse.theory.games.normal_form import Array, NormalForm, count_multiples
from bestresponse.theory.games.regrets import Profile, contract

Supports = tuple[tuple[int, ...], ...]

REGRET_LIMIT = 1e-9
"""Of the payoff range: what is an equilibrium in floating point."""
_NEWTON_STEPS = 25
_FAR = 20.0  # probabilities so far outside [0, 1] do not come back
_SOLVED = 1e-13  # of payoffs in [0, 1]: what rounding leaves of a lead of 0
_USED = 1e-9  # what is played with less is not played
_REGULAR = 1e-9  # of the largest singular value: a derivative with a smaller one counts as singular
_FLAT = 1e-8  # looser than `_REGULAR`: a false direction is found out by its first step
_STEP = 1e-2
_LAST_STEP = 1e-8
_MOST_STEPS = 2000
_END = 1e-6  # far more than the last step of a walk, which stops just before a probability is 0
_DIRECTIONS = 12  # in a kernel of more dimensions curves may lead elsewhere than along its axes
_MOST_FACES = 64  # they double with every unused best response


def scale_payoffs(game: NormalForm) -> Array:
    """Return payoffs moved and scaled into [0, 1], player by player; best responses stay what they
    are."""
    return np.stack(
        [(table - table.min()) / (float(np.ptp(table)) or 1.0) for table in game.payoffs]
    )


def find_supports(mix: Profile, used: float) -> Supports:
    """List the actions that each player plays with a probability above `used`."""
    return tuple(tuple(np.flatnonzero(x > used).tolist()) for x in mix)


def restrict(payoffs: Numbers, mix: Profile, supports: Supports) -> tuple[Numbers, Profile]:
    """Leave out of payoffs and mixtures what is not in the supports."""
    used = tuple(x[list(support)] for x, support in zip(mix, supports, strict=True))
    return np.stack([table[np.ix_(*supports)] for table in payoffs]), used


def pair_payoffs(payoffs: Numbers, mix: tuple[Numbers, ...], player: int, other: int) -> Numbers:
    """Say what actions earn against those of one other player, as (actions of player, actions of
    other)."""
    table = contract(payoffs[player], mix, player, other)
    return table if player < other else table.T


def find_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Say what every action earns more than its player's first, player by player."""
    earned = [contract(payoffs[player], mix, player) for player in range(len(mix))]
    return np.concatenate([u[1:] - u[0] for u in earned])


def derive_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Derive the leads by the others' shifts from their first action."""
    ends = np.cumsum([0, *(len(strategy) - 1 for strategy in mix)])
    derivative = np.zeros((ends[-1], ends[-1]), dtype=payoffs.dtype)
    for i, j in permutations(range(len(mix)), 2):
        table = pair_payoffs(payoffs, mix, i, j)
        lead = table[1:] - table[:1]
        derivative[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = lead[:, 1:] - lead[:, :1]
    return derivative


def shift(mix: tuple[Numbers, ...], step: Numbers) -> tuple[Numbers, ...]:
    """Add to the probabilities of all actions but the first ones, which give or take the rest."""
    parts = np.split(step, np.cumsum([len(x) - 1 for x in mix])[:-1])
    return tuple(
        np.append(x[0] - part.sum(), x[1:] + part) for x, part in zip(mix, parts, strict=True)
    )


def worst_regret(payoffs: Array, mix: Profile) -> float:
    """Return the largest gain from a deviation."""
    earned = (contract(payoffs[player], mix, player) for player in range(len(mix)))
    return max(float(u.max() - u @ x) for u, x in zip(earned, mix, strict=True))


def equal_payoffs(payoffs: Array, supports: Supports, start: Profile) -> Profile | None:
    """Find mixtures on `supports` whose actions all earn the same, or None if Newton's method does
    not get to any."""
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
    """Write mixtures on supports as mixtures of all actions; None where a probability is
    negative."""
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
    return (
        None if singular[-1] <= _REGULAR * singular[0] else int(np.linalg.slogdet(-derivative)[0])
    )


def _find_best(payoffs: Array, mix: Profile) -> Supports:
    earned = (contract(payoffs[player], mix, player) for player in range(len(mix)))
    return tuple(tuple(np.flatnonzero(u >= u.max() - REGRET_LIMIT).tolist()) for u in earned)


def add_continua(payoffs: Array, mix: Profile, continua: list[Continuum]) -> None:
    """Add curves of equilibria through one, in directions in which the equations stay solved, to
    those known.

    Every face between the supports and the best responses is tried; of sets of more dimensions on a
    face one is kept.
    """
    generator = np.random.default_rng(0)
    supports = find_supports(mix, _USED)
    best = _find_best(payoffs, mix)
    extra = [(i, a) for i, actions in enumerate(best) for a in actions if a not in supports[i]]
    choices = (chosen for count in range(len(extra) + 1) for chosen in combinations(extra, count))
    for chosen in islice(choices, _MOST_FACES):
        face = tuple(
            tuple(sorted((*s, *(a for i, a in chosen if i == k)))) for k, s in enumerate(supports)
        )
        part, point = restrict(payoffs, mix, face)
        wide = [find_supports(known.inner, _USED) for known in continua if known.dimension > 1]
        for step in (
            _draw_flat_steps(derive_leads(part, point), generator) if face not in wide else ()
        ):
            near = _move(payoffs, face, mix, _STEP * step)
            # On a curve that is known there is a point that is nearer than where the step came
            # from.
            if near is None or is_on_curve(continua, near, 0.7 * measure_distance(near, mix)):
                continue
            path = (
                *reversed(_walk(payoffs, face, mix, -step)),
                mix,
                *_walk(payoffs, face, mix, step),
            )
            inner = path[len(path) // 2]
            free = derive_leads(*restrict(payoffs, inner, find_supports(inner, _USED)))
            singular = np.linalg.svd(free, compute_uv=False)
            dimension = int((singular <= _FLAT * max(float(singular.max(initial=0.0)), 1.0)).sum())
            continua.append(Continuum(max(1, dimension), path))
            if dimension > 1:
                break


def is_on_curve(continua: Sequence[Continuum], mix: Profile, distance: float) -> bool:
    """Say whether a mixture is closer than that to a point of one of the curves."""
    whole = np.concatenate(mix)
    return any(
        bool((np.abs(known.points - whole).max(axis=1) < distance).any()) for known in continua
    )


def measure_distance(first: Profile, second: Profile) -> float:
    """Return the largest difference between two probabilities of the same action."""
    return float(np.abs(np.concatenate(first) - np.concatenate(second)).max())


def _move(payoffs: Array, face: Supports, mix: Profile, step: Array) -> Profile | None:
    """Find the equilibrium on a face that is about a step away; None where there is none."""
    start = shift(restrict(payoffs, mix, face)[1], step)
    other = None if min(float(x.min()) for x in start) < 0.0 else _embed(start, face, mix)
    other = other and equal_payoffs(payoffs, face, other)
    if other is None or worst_regret(payoffs, other) > REGRET_LIMIT:
        return None
    return other if measure_distance(mix, other) > np.abs(step).max() / 10 else None


def _walk(payoffs: Array, face: Supports, mix: Profile, step: Array) -> list[Profile]:
    """Follow equilibria on a face, each a step from the last, as far as they go."""
    path = [mix]
    size = _STEP
    while size > _LAST_STEP and len(path) < _MOST_STEPS:
        other = _move(payoffs, face, path[-1], size * step)
        if other is None:
            size /= 2.0
            continue
        before, after = (restrict(payoffs, point, face)[1] for point in (path[-1], other))
        change = np.concatenate([y[1:] - x[1:] for x, y in zip(before, after, strict=True)])
        step = change / np.abs(change).max()
        path.append(other)
    # What is played next to never at the end is not played there at all.
    last = tuple(np.where(x > _END, x, 0.0) / x[x > _END].sum() for x in path[-1])
    end = equal_payoffs(payoffs, find_supports(last, 0.0), last)
    return (
        [*path[1:], end]
        if end is not None and worst_regret(payoffs, end) <= REGRET_LIMIT
        else path[1:]
    )


def _draw_flat_steps(derivative: Array, generator: np.random.Generator) -> Array:
    """Draw steps along which the equations stay solved, the largest change being 1."""
    if not len(derivative):
        return derivative
    _, singular, rows = np.linalg.svd(derivative)
    kernel = rows[singular <= _FLAT * max(float(singular[0]), 1.0)]
    axes = np.eye(len(kernel))
    drawn = generator.normal(size=(_DIRECTIONS, len(kernel)))
    steps = np.concatenate([axes, -axes, drawn]) @ kernel
    sizes = np.abs(steps).max(axis=1, initial=0.0)
    return np.asarray(steps[sizes > 0] / sizes[sizes > 0, None])


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
    """An equilibrium; `exact` where it is rational, and its supports where they hold all best
    replies."""

    strategies: Profile
    exact: Fractions | None = None
    quasi_strict: Supports | None = None


def certify(game: NormalForm, mix: Profile) -> Certified | None:
    """Compute the equilibrium next to a candidate; None where the candidate cannot be shown to be
    one.

    Where payoffs are floats that may stand for numbers nearby, they are taken exactly first; a
    candidate that fails so, by ties that rounding broke, is kept where no player gains more than
    1e-9 of what its own moves differ by in the cells that the others play.
    """
    # Floats that are not known exactly are taken as the numbers they are.
    units = count_multiples(game.payoffs) if game.units is None else game.units.astype(object)
    for used in _LEAST_PLAYED if int(units.max()).bit_length() <= _LONGEST else ():
        certified = _certify_on(units, find_supports(mix, used), mix)
        if certified is not None:
            return certified if game.is_exact else Certified(certified.strategies)
    played = tuple(np.where(x > _ROUNDING, x, 0.0) / x[x > _ROUNDING].sum() for x in mix)
    if game.is_exact or not _is_close(units, played):
        return None
    return Certified(played)


def _is_close(units: Numbers, mix: Profile) -> bool:
    """Say whether every regret is less than 1e-9 of what the player's own moves differ by, all in
    rationals."""
    shares = tuple(x / x.sum() for x in map(as_fractions, mix))
    for player, table in enumerate(units):
        earned = contract(table, shares, player)
        spread = table.max(axis=player, keepdims=True) - table.min(axis=player, keepdims=True)
        if (
            max(earned) - earned @ shares[player]
            > _REGRET_LIMIT * contract(spread, shares, player).sum()
        ):
            return False
    return True


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
    least = [min(x) for x in used]
    limits = [
        0 if exact else _REGRET_LIMIT * prod(least[:i] + least[i + 1 :]) for i in range(len(mix))
    ]
    earned = [contract(units[player], shares, player) for player in range(len(mix))]
    if any(max(u) - u @ x > limit for u, x, limit in zip(earned, shares, limits, strict=True)):
        return None
    if min(float(p) for x in used for p in x if p) == 0.0:
        return None  # what floats show would be another profile
    played = tuple(tuple(np.flatnonzero(x).tolist()) for x in shares)
    best = tuple(
        tuple(np.flatnonzero(u >= max(u) - limit).tolist())
        for u, limit in zip(earned, limits, strict=True)
    )
    strategies = tuple(x.astype(np.float64) for x in shares)
    return Certified(
        strategies, tuple(map(tuple, shares)) if exact else None, played if played == best else None
    )


def _refine(units: Numbers, mix: Profile, bits: int, sure: int) -> list[list[int]] | None:
    """Make all actions earn the same, in whole numbers of 1 / 2^bits; None where steps do not get
    below 2^-sure."""
    unit = 1 << bits
    point = tuple(
        np.array([int(_drop_rounding(p) * unit) for p in x.tolist()], dtype=object) for x in mix
    )
    for x in point:
        x[0] += unit - sum(x)
    for _ in range(_STEPS):
        step = _find_step(units, point, unit)
        largest = np.inf if step is None else max(map(abs, step), default=0.0)
        if step is None or largest > 1.0:
            return None
        point = shift(
            point, np.array([int(Fraction(change) * unit) for change in step], dtype=object)
        )
        if largest <= 2.0**-sure:
            return (
                [x.tolist() for x in point] if min(map(min, point)) >= -(1 << bits - sure) else None
            )
    return None


def _drop_rounding(share: float) -> Fraction:
    """Give the simple fraction next to a float: in a continuum, no step would lead back to it from
    its rounding."""
    near = Fraction(share).limit_denominator(1000)
    return near if abs(near - Fraction(share)) <= _ROUNDING * share else Fraction(share)


def _find_step(units: Numbers, point: tuple[Numbers, ...], unit: int) -> list[float] | None:
    """Compute by how much to change the probabilities of all actions but the first ones; None if by
    more than 1."""
    leads = find_leads(units, point).tolist()
    if not leads:
        return []
    jacobian = derive_leads(units, point).tolist()
    rows = [max(map(abs, row)) for row in jacobian]
    if any(abs(lead) > len(leads) * size * unit for lead, size in zip(leads, rows, strict=True)):
        return None
    # Rows and columns are made comparable first: their payoffs may be of very different size.
    rows = [size or 1 for size in rows]
    scaled = np.array([[u / size for u in row] for row, size in zip(jacobian, rows, strict=True)])
    columns = np.abs(scaled).max(axis=0)
    columns[columns == 0.0] = 1.0
    wanted = np.array([-lead / (size * unit) for lead, size in zip(leads, rows, strict=True)])
    step: list[float] = (
        np.linalg.lstsq(scaled / columns, wanted, rcond=_SINGULAR)[0] / columns
    ).tolist()
    return step


def _recognise(point: list[list[int]], bits: int, sure: int) -> list[list[Fraction]] | None:
    """Find the fractions that all numbers stand for; None where one is not next to a fraction that
    is short enough.

    A third of the digits make the denominator: irrational numbers are not as close to any such
    fraction.
    """
    exact = [[Fraction(p, 1 << bits).limit_denominator(1 << sure // 3) for p in x] for x in point]
    pairs = [
        pair
        for fractions, x in zip(exact, point, strict=True)
        for pair in zip(fractions, x, strict=True)
    ]
    is_close = all(abs(p * (1 << bits) - q) <= 1 << bits - sure for p, q in pairs)
    return exact if is_close and all(sum(x) == 1 and min(x) >= 0 for x in exact) else None
