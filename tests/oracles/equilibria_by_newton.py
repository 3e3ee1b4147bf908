"""An independent search for Nash equilibria of games of several players, to attack lists that are
called complete. It shares no code with the product: payoffs are contracted by `einsum`, solutions
are searched by Newton's method from drawn starts, for every profile of supports.

`find_missing` returns equilibria that are not listed. `sum_of_indices` is +1 for the equilibria of
a game in which all are regular (Ritzberger 1994), so that a single missing one shows.
"""

from __future__ import annotations

from itertools import combinations, product
from string import ascii_lowercase

import numpy as np

Profile = tuple[np.ndarray, ...]

_STARTS = 12
_STEPS = 30
_EQUAL = 1e-10
_POSITIVE = 1e-7
_REGRET = 1e-9
_LISTED = 1e-5


def payoffs_of_actions(table: np.ndarray, mixes: list[np.ndarray], player: int) -> np.ndarray:
    """Give what each action of a player earns, for rows of mixtures."""
    letters = ascii_lowercase[: table.ndim]
    others = [k for k in range(table.ndim) if k != player]
    factors = [f"z{letters[k]}" for k in others]
    rule = f"{letters},{','.join(factors)}->z{letters[player]}"
    return np.einsum(rule, table, *[mixes[k] for k in others])


def find_equations(
    payoffs: np.ndarray, mixes: list[np.ndarray], supports: tuple[tuple[int, ...], ...]
) -> np.ndarray:
    """Give the leads of all supported actions over the first, and what mixtures lack to 1."""
    columns = []
    for player, support in enumerate(supports):
        earned = payoffs_of_actions(payoffs[player], mixes, player)
        for action in support[1:]:
            columns.append(earned[:, action] - earned[:, support[0]])
        columns.append(mixes[player].sum(axis=1) - 1.0)
    return np.stack(columns, axis=1)


def solve_support(
    payoffs: np.ndarray, supports: tuple[tuple[int, ...], ...], generator: np.random.Generator
) -> list[Profile]:
    """Run Newton's method, with derivatives by complex steps, from drawn mixtures on supports."""
    shape = payoffs.shape[1:]
    places = [(player, action) for player, s in enumerate(supports) for action in s]
    starts = _STARTS if len(places) > 2 * len(shape) - 2 else 2
    drawn = [generator.dirichlet(np.ones(len(s)), starts) for s in supports]
    point = np.concatenate(drawn, axis=1)

    def spread(values: np.ndarray) -> list[np.ndarray]:
        mixes = [np.zeros((len(values), m), dtype=values.dtype) for m in shape]
        for column, (player, action) in enumerate(places):
            mixes[player][:, action] = values[:, column]
        return mixes

    size = len(places)
    for _ in range(_STEPS):
        value = find_equations(payoffs, spread(point), supports)
        derivative = np.empty((starts, size, size))
        for column in range(size):
            bumped = point.astype(complex)
            bumped[:, column] += 1e-30j
            changed = find_equations(payoffs, spread(bumped), supports).imag
            derivative[:, :, column] = changed / 1e-30
        with np.errstate(all="ignore"):
            step = np.linalg.pinv(derivative) @ -value[:, :, None]
        point = np.clip(point + step[:, :, 0], -3.0, 3.0)
    found = []
    residue = np.abs(find_equations(payoffs, spread(point), supports)).max(axis=1)
    for row in np.flatnonzero((residue < _EQUAL) & (point.min(axis=1) > _POSITIVE)):
        mix = tuple(m[row] for m in spread(point))
        if largest_gain(payoffs, mix) < _REGRET:
            found.append(mix)
    return found


def largest_gain(payoffs: np.ndarray, mix: Profile) -> float:
    """Give the most that a player could gain by another action."""
    rows = [x[None] for x in mix]
    gains = []
    for player, own in enumerate(mix):
        earned = payoffs_of_actions(payoffs[player], rows, player)[0]
        gains.append(earned.max() - earned @ own)
    return float(max(gains))


def find_all(payoffs: np.ndarray, generator: np.random.Generator) -> list[Profile]:
    """Search every profile of supports."""
    scaled = np.stack([(t - t.min()) / ((t.max() - t.min()) or 1.0) for t in payoffs.astype(float)])
    choices = []
    for m in scaled.shape[1:]:
        choices.append([s for size in range(1, m + 1) for s in combinations(range(m), size)])
    found: list[Profile] = []
    for supports in product(*choices):
        if not is_hopeless(scaled, supports):
            found.extend(solve_support(scaled, supports, generator))
    return found


def is_hopeless(payoffs: np.ndarray, supports: tuple[tuple[int, ...], ...]) -> bool:
    """Say whether a supported action is worse than another one, whatever the others do."""
    for player, support in enumerate(supports):
        cells = list(supports)
        cells[player] = tuple(range(payoffs.shape[1 + player]))
        table = np.moveaxis(payoffs[player][np.ix_(*cells)], player, 0)
        rows = table.reshape(len(table), -1)
        for action in support:
            if any((rows[other] > rows[action]).all() for other in range(len(rows))):
                return True
    return False


def find_missing(payoffs: np.ndarray, listed: list[Profile], seed: int) -> list[Profile]:
    """Find equilibria that are not close to a listed one."""
    known = [np.concatenate(mix) for mix in listed]
    missing = []
    for mix in find_all(payoffs, np.random.default_rng(seed)):
        whole = np.concatenate(mix)
        if min((np.abs(whole - one).max() for one in known), default=1.0) > _LISTED:
            missing.append(mix)
    return missing


def sum_of_indices(payoffs: np.ndarray, listed: list[Profile]) -> int | None:
    """Add up the indices of equilibria; None where one is not regular.

    The index is the sign of the determinant of minus the derivative of leads on the supports, in
    mixtures as shifts away from the first supported action.
    """
    total = 0
    scaled = np.stack([(t - t.min()) / ((t.max() - t.min()) or 1.0) for t in payoffs.astype(float)])
    for mix in listed:
        supports = [tuple(np.flatnonzero(x > 1e-9)) for x in mix]
        rows = [x[None] for x in mix]
        for player, support in enumerate(supports):
            earned = payoffs_of_actions(scaled[player], rows, player)[0]
            best = tuple(np.flatnonzero(earned > earned.max() - 1e-7))
            if best != support:
                return None
        shifts = [(i, a, s[0]) for i, s in enumerate(supports) for a in s[1:]]
        matrix = np.zeros((len(shifts), len(shifts)))
        for column, (i, a, first) in enumerate(shifts):
            moved = [x[None].astype(complex) for x in mix]
            moved[i][0, a] += 1e-30j
            moved[i][0, first] -= 1e-30j
            for row, (j, b, start) in enumerate(shifts):
                earned = payoffs_of_actions(scaled[j], moved, j)[0]
                matrix[row, column] = (earned[b] - earned[start]).imag / 1e-30
        if not shifts:
            total += 1
            continue
        singular = np.linalg.svd(matrix, compute_uv=False)
        if singular[-1] < 1e-7 * singular[0]:
            return None
        total += int(np.sign(np.linalg.det(-matrix)))
    return total
