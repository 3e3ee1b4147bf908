"""The equations of a Nash equilibrium on given supports, Newton's method for them, and the index.

Unknowns: the probabilities of all actions but the first of each support. Equations: every action
earns what the first one does; its lead over the first is 0. Payoffs are multilinear, so derivatives
are payoffs too.
"""

from itertools import permutations

import numpy as np

from bestresponse.theory.arrays import Numbers, find_range
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import Profile, contract

Supports = tuple[tuple[int, ...], ...]

REGRET_LIMIT = 1e-9
"""Of the payoff range: what is an equilibrium in floating point."""
USED = 1e-9
"""What is played with less is not played."""
_NEWTON_STEPS = 25
_FAR = 20.0  # probabilities so far outside [0, 1] do not come back
_SOLVED = 1e-13  # of payoffs in [0, 1]: what rounding leaves of a lead of 0
_NEGATIVE = -1e-10  # what rounding leaves of a probability of 0
_REGULAR = 1e-9  # of the largest singular value: a derivative with a smaller one counts as singular


def scale_by_player(game: NormalForm) -> Array:
    """Return payoffs moved and scaled into [0, 1], player by player.

    Best responses stay what they are.
    """
    scaled = []
    for table in game.payoffs:
        payoff_range = find_range(table)
        shifted = table - table.min()
        scaled.append(shifted / payoff_range)
    return np.stack(scaled)


def find_supports(mix: Profile, used: float) -> Supports:
    """List the actions that each player plays with a probability above `used`."""
    return tuple([list_where(strategy > used) for strategy in mix])


def list_where(is_true: Numbers) -> tuple[int, ...]:
    """List the actions of which something is true."""
    return tuple(np.flatnonzero(is_true).tolist())


def restrict(payoffs: Numbers, mix: Profile, supports: Supports) -> tuple[Numbers, Profile]:
    """Leave out of payoffs and mixtures what is not in the supports."""
    used = tuple(strategy[list(support)] for strategy, support in zip(mix, supports, strict=True))
    cells = np.ix_(*supports)
    return np.stack([table[cells] for table in payoffs]), used


def pair_payoffs(
    payoffs: Numbers,
    mix: tuple[Numbers, ...],
    player: int,
    other: int,
) -> Numbers:
    """Say what actions earn against those of one other player.

    The axes are (actions of player, actions of other).
    """
    table = contract(payoffs[player], mix, player, other)
    return table if player < other else table.T


def find_earnings(payoffs: Numbers, mix: tuple[Numbers, ...]) -> list[Numbers]:
    """Say what every action earns against the others' mixtures, player by player."""
    return [contract(payoffs[player], mix, player) for player in range(len(mix))]


def find_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Say what every action earns more than its player's first, player by player."""
    earnings = find_earnings(payoffs, mix)
    return np.concatenate([earned[1:] - earned[0] for earned in earnings])


def derive_leads(payoffs: Numbers, mix: tuple[Numbers, ...]) -> Numbers:
    """Derive the leads by the others' shifts from their first action."""
    sizes = [len(strategy) - 1 for strategy in mix]
    ends = np.cumsum([0, *sizes])
    derivative = np.zeros((ends[-1], ends[-1]), dtype=payoffs.dtype)
    for i, j in permutations(range(len(mix)), 2):
        table = pair_payoffs(payoffs, mix, i, j)
        lead = table[1:] - table[:1]
        rows = slice(ends[i], ends[i + 1])
        columns = slice(ends[j], ends[j + 1])
        derivative[rows, columns] = lead[:, 1:] - lead[:, :1]
    return derivative


def shift(mix: tuple[Numbers, ...], step: Numbers) -> tuple[Numbers, ...]:
    """Add to the probabilities of all actions but the first ones, which give or take the rest."""
    sizes = [len(strategy) - 1 for strategy in mix]
    ends = np.cumsum(sizes)
    shifted = []
    for strategy, part in zip(mix, np.split(step, ends[:-1]), strict=True):
        first = strategy[0] - part.sum()
        others = strategy[1:] + part
        shifted.append(np.append(first, others))
    return tuple(shifted)


def measure_distance(first: Profile, second: Profile) -> float:
    """Return the largest difference between two probabilities of the same action."""
    change = np.concatenate(first) - np.concatenate(second)
    return float(np.abs(change).max())


def worst_regret(payoffs: Array, mix: Profile) -> float:
    """Return the largest gain from a deviation."""
    regrets = []
    for earned, strategy in zip(find_earnings(payoffs, mix), mix, strict=True):
        regrets.append(float(earned.max() - earned @ strategy))
    return max(regrets)


def equal_payoffs(payoffs: Array, supports: Supports, start: Profile) -> Profile | None:
    """Find mixtures on `supports` whose actions all earn the same.

    Returns None if Newton's method does not get to any.
    """
    part, point = restrict(payoffs, start, supports)
    for _ in range(_NEWTON_STEPS):
        leads = find_leads(part, point)
        largest = float(np.abs(np.concatenate(point)).max())
        if not largest < _FAR:
            return None
        if np.abs(leads).max(initial=0.0) < _SOLVED:
            return embed(point, supports, start)
        derivative = derive_leads(part, point)
        step = np.linalg.lstsq(derivative, -leads, rcond=1e-12)[0]
        point = shift(point, step)
    return None


def settle(payoffs: Array, mix: Profile, least: float) -> Profile | None:
    """Find the equilibrium next to `mix` where what is played with at most `least` is left out."""
    start = []
    for strategy in mix:
        used = np.where(strategy > least, strategy, 0.0)
        start.append(used / used.sum())
    found = equal_payoffs(payoffs, find_supports(mix, least), tuple(start))
    if found is None or worst_regret(payoffs, found) > REGRET_LIMIT:
        return None
    return found


def embed(point: Profile, supports: Supports, start: Profile) -> Profile | None:
    """Write mixtures on supports as mixtures of all actions.

    Returns None where a probability is negative.
    """
    if np.concatenate(point).min() < _NEGATIVE:
        return None
    mix = tuple(np.zeros(len(strategy)) for strategy in start)
    for whole, strategy, support in zip(mix, point, supports, strict=True):
        shares = np.clip(strategy, 0.0, None)
        whole[list(support)] = shares / shares.sum()
    return mix


def find_best_replies(payoffs: Array, mix: Profile) -> Supports:
    """List the best replies of every player, rounding aside."""
    earnings = find_earnings(payoffs, mix)
    best = []
    for earned in earnings:
        least = earned.max() - REGRET_LIMIT
        best.append(list_where(earned >= least))
    return tuple(best)


def find_index(payoffs: Array, mix: Profile, quasi_strict: Supports | None = None) -> int | None:
    """Compute the index, for payoffs scaled into [0, 1]; None where the equilibrium is not regular.

    An equilibrium is regular when every player uses all its best responses and the equations of its
    supports have a derivative that is not singular; it is then isolated, and its index is the sign
    of the determinant of minus the derivative (Ritzberger 1994). The indices of a regular game's
    equilibria sum to +1 (Wilson 1971: their number is odd).

    `quasi_strict` are the supports where they are known to hold all best responses.
    """
    supports = quasi_strict or find_supports(mix, USED)
    if quasi_strict is None and supports != find_best_replies(payoffs, mix):
        return None
    derivative = derive_leads(*restrict(payoffs, mix, supports))
    if not len(derivative):
        return 1
    singular = np.linalg.svd(derivative, compute_uv=False)
    if singular[-1] <= _REGULAR * singular[0]:
        return None
    sign, _ = np.linalg.slogdet(-derivative)
    return int(sign)
