"""Strategy frequency estimation: which strategies a group of players uses, and how often they err.

Every unit (a player with all of its matches, or a match where players are not known) follows one of
K strategies; each of its moves is the one that the strategy prescribes with probability 1 - error,
else one of the others, all equally likely. A strategy that mixes prescribes every action with its
probability. Shares and error maximise

    sum over units of log (sum over strategies k of share_k * L_k),
    L_k = product over the unit's moves of P(move | k, history, error)

(P. Dal Bo & G. Frechette, "The evolution of cooperation in infinitely repeated games: experimental
evidence", American Economic Review 101, 2011) by expectation maximisation from several starts.
Intervals resample clusters of units. The number of strategies is chosen by leaving out the rarest
one after the other and comparing BIC, or ICL, which is BIC plus twice the entropy of the classes
(C. Biernacki, G. Celeux & G. Govaert, IEEE PAMI 22, 2000).

Strategies that prescribe the same in everything that was played cannot be told apart; they are one
class.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.arrays import Floats, Ints, Shorts
from bestresponse.theory.repeated.automaton import Automaton

_LEAST_ERROR = 1e-9  # an error of 0 would make a single slip impossible, and its logarithm infinite
_LEAST_SHARE = 1e-12
"""A share of 0 could never grow again."""
_LONGEST_STRIDE = 64.0  # where two steps are nearly alike their extrapolation would have no limit
_MOST_CYCLES = 3_000
_FLAT = 1e-4
"""With a smaller curvature, each parameter's own being 1, the data do not determine the shares."""
_STEP = 1e-4
"""The step in which curvature is measured."""
_TINY = 1e-300
"""Stands for 0 where a logarithm or a quotient needs more."""


@dataclass(frozen=True, eq=False)
class Histories:
    """Matches of one seat of one game.

    `own[i, t]` and `other[i, t]` are numbers of actions, or -1 if there is none.

    `automata` are the strategies for that seat; `units` say to which player (or match) each row
    belongs.
    """

    own: Shorts
    other: Shorts
    automata: Sequence[Automaton]
    units: Ints


@dataclass(frozen=True, eq=False)
class Agreement:
    """How the moves of every unit agree with every strategy: all that the likelihood depends on.

    `counts[i, k, d]` moves of unit i had probability `levels[d]` under strategy `names[k]`; equal
    units are kept once with their number in `weights`, and `rows` says where each unit went.
    `actions` is how many moves there were to choose from.
    """

    names: tuple[str, ...]
    counts: Floats
    levels: Floats
    weights: Floats
    rows: Ints
    actions: int


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """Shares of strategies and the error at the maximum.

    `flat` says that other shares reach the same maximum.
    """

    names: tuple[str, ...]
    shares: Floats
    error: float
    log_likelihood: float
    posterior: Floats
    bic: float
    icl: float
    flat: bool


def count_agreement(blocks: Sequence[Histories]) -> Agreement:
    """Follow every strategy through every match and count how likely it makes the moves.

    What comes after a move of the other player that is not known is not counted.
    """
    actions = {automaton.mix.shape[1] for block in blocks for automaton in block.automata}
    if len(actions) != 1:
        raise UsageError(
            "the games have different numbers of moves; estimate strategies game by game"
        )
    mixes = [automaton.mix.ravel() for block in blocks for automaton in block.automata]
    levels = np.unique(np.concatenate(mixes))
    units = 1 + max(int(block.units.max()) for block in blocks)
    names = tuple(automaton.name for automaton in blocks[0].automata)
    counts = np.zeros((units, len(names), len(levels)))
    for block in blocks:
        for k, automaton in enumerate(block.automata):
            codes = np.searchsorted(levels, automaton.mix)
            state = np.zeros(len(block.own), dtype=np.int64)
            rows = np.arange(len(block.own))
            for own, other in zip(block.own.T, block.other.T, strict=True):
                rows = rows[own[rows] >= 0]
                np.add.at(counts, (block.units[rows], k, codes[state[rows], own[rows]]), 1.0)
                rows = rows[other[rows] >= 0]
                state[rows] = automaton.step[state[rows], own[rows], other[rows]]
    return _merge_equal(names, counts, levels, actions.pop())


def _merge_equal(
    names: tuple[str, ...],
    counts: Floats,
    levels: Floats,
    actions: int,
) -> Agreement:
    """Make one class of strategies without a difference, and keep equal units once."""
    kinds: dict[bytes, list[int]] = {}
    for k in range(len(names)):
        behaviour = counts[:, k].tobytes()
        kinds.setdefault(behaviour, []).append(k)
    merged = []
    for same in kinds.values():
        merged.append(" = ".join(names[k] for k in same))
    kept = counts[:, [same[0] for same in kinds.values()]]
    flat, rows, weights = np.unique(
        kept.reshape(len(kept), -1),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    shaped = flat.reshape(len(flat), *kept.shape[1:])
    return Agreement(
        names=tuple(merged),
        counts=np.ascontiguousarray(shaped),
        levels=levels,
        weights=weights.astype(np.float64),
        rows=rows.ravel(),
        actions=actions,
    )


def fit_mixture(agreement: Agreement, *, starts: int = 5, seed: int = 0) -> MixtureFit:
    """Find the shares and the error that make the moves most likely, the best of several climbs."""
    rng = np.random.default_rng(seed)
    kinds = len(agreement.names)
    uniform = np.full((1, kinds), 1.0 / kinds)
    shares = np.vstack([uniform, rng.dirichlet(np.ones(kinds), starts - 1)])
    errors = np.linspace(0.05, 0.4, starts) * 2 * (1 - 1 / agreement.actions)
    points, heights = _climb(
        agreement,
        weights=np.tile(agreement.weights, (starts, 1)),
        points=np.column_stack([shares, errors]),
        tolerance=1e-6,
    )
    best = int(heights.argmax())
    return _describe(agreement, points[best], float(heights[best]))


def resample(
    agreement: Agreement,
    fitted: MixtureFit,
    draws: int,
    clusters: Ints,
    *,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Fit again to clusters drawn with replacement.

    Returns the shares and the errors of every draw.

    `clusters` numbers for every unit what it is drawn with, such as its match where both seats of
    one are units.
    """
    rng = np.random.default_rng(seed)
    count = int(clusters.max()) + 1
    weights = []
    for _ in range(draws):
        times = np.bincount(rng.integers(count, size=count), minlength=count)
        weights.append(np.bincount(agreement.rows, times[clusters]))
    # Shares near 0 grow slowly, so each climb begins a little inside.
    shares = 0.9 * fitted.shares + 0.1 / len(fitted.shares)
    inside = np.append(shares, max(fitted.error, 0.01))
    points, _ = _climb(
        agreement,
        weights=np.array(weights),
        points=np.tile(inside, (draws, 1)),
        tolerance=1e-4,
    )
    return points[:, :-1], points[:, -1]


def prune_mixture(
    agreement: Agreement,
    fitted: MixtureFit,
    *,
    seed: int = 0,
) -> tuple[MixtureFit, ...]:
    """Leave out the rarest strategy again and again, down to one.

    Returns the fit of every number, all first.
    """
    path = [fitted]
    while len(path[-1].names) > 1:
        rarest = int(path[-1].shares.argmin())
        agreement = replace(
            agreement,
            names=agreement.names[:rarest] + agreement.names[rarest + 1 :],
            counts=np.delete(agreement.counts, rarest, axis=1),
        )
        path.append(fit_mixture(agreement, starts=2, seed=seed))
    return tuple(path)


def _describe(agreement: Agreement, point: Floats, height: float) -> MixtureFit:
    shares = point[:-1]
    error = float(point[-1])
    posterior = _classify(agreement, shares, error)
    bic = -2 * height + len(shares) * np.log(agreement.weights.sum())
    logs = np.log(np.maximum(posterior, _TINY))
    entropy = -np.sum(agreement.weights[:, None] * posterior * logs)
    return MixtureFit(
        names=agreement.names,
        shares=shares,
        error=error,
        log_likelihood=height,
        posterior=posterior[agreement.rows],
        bic=float(bic),
        icl=float(bic + 2 * entropy),
        flat=_is_flat(agreement, point),
    )


def _is_flat(agreement: Agreement, point: Floats) -> bool:
    """Return whether shares and error can change together at the maximum.

    They can if this does not change the likelihood.

    Shares that are used move against the first of them, so that they keep their sum; an error of 0
    stays.
    """
    units = np.eye(len(point))
    used = np.flatnonzero(point[:-1] > 10 * _STEP)
    directions = [units[k] - units[used[0]] for k in used[1:]]
    if point[-1] > 10 * _STEP:
        directions.append(units[-1])
    if not directions:
        return False

    axes = np.array(directions)
    curvature = np.empty((len(axes), len(axes)))
    for k, axis in enumerate(axes):
        before = _find_slopes(agreement, point - _STEP * axis)
        after = _find_slopes(agreement, point + _STEP * axis)
        curvature[k] = axes @ before - axes @ after
    scale = np.sqrt(np.maximum(np.diag(curvature), _TINY))
    eigenvalues = np.linalg.eigvalsh(curvature / np.outer(scale, scale))
    return bool(eigenvalues[0] < _FLAT)


def _find_slopes(agreement: Agreement, point: Floats) -> Floats:
    """Return how the log likelihood changes with every share, and with the error."""
    shares = point[:-1]
    error = point[-1]
    bend = (agreement.actions * agreement.levels - 1) / (agreement.actions - 1)
    parts = agreement.weights[:, None] * _classify(agreement, shares, error)
    losses = agreement.counts @ (bend / (agreement.levels - error * bend))
    by_error = -(parts * losses).sum()
    by_share = parts.sum(axis=0) / np.maximum(shares, _TINY)
    return np.append(np.where(shares > 0, by_share, 0.0), by_error)


def _classify(agreement: Agreement, shares: Floats, error: float) -> Floats:
    """Return how likely every unit belongs to every strategy."""
    joint, _ = _weigh(agreement, shares, error)
    relative = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(relative / relative.sum(axis=1, keepdims=True))


def _weigh(agreement: Agreement, shares: Floats, error: float) -> tuple[Floats, Floats]:
    """Return each unit's log probability with every strategy, and chances of mistakes.

    The latter say, by level, how likely a move was a mistake.
    """
    slip = error * (1 - agreement.levels) / (agreement.actions - 1)
    chances = agreement.levels * (1 - error) + slip
    with np.errstate(divide="ignore"):
        return np.log(shares) + agreement.counts @ np.log(chances), slip / chances


def _climb(
    agreement: Agreement,
    weights: Floats,
    points: Floats,
    tolerance: float,
) -> tuple[Floats, Floats]:
    """Climb from every row of `points` until a cycle gains less than `tolerance`.

    Returns the ends and their heights.

    Two EM steps are extrapolated (SQUAREM: R. Varadhan & C. Roland, Scandinavian Journal of
    Statistics 35, 2008), and where that leads down the second step is taken instead, so that no
    cycle loses.
    """
    heights = np.full(len(points), -np.inf)
    active = np.arange(len(points))
    # With a larger error a strategy would be played less often than by chance.
    largest = 1 - 1 / agreement.actions

    def bound(there: Floats) -> Floats:
        shares = np.maximum(there[:, :-1], _LEAST_SHARE)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.column_stack([shares, np.clip(there[:, -1], _LEAST_ERROR, largest)])

    for _ in range(_MOST_CYCLES):
        here = points[active]
        active_weights = weights[active]
        first, height = _step(agreement, active_weights, here)
        second, _ = _step(agreement, active_weights, bound(first))
        move = first - here
        bend = second - 2 * first + here
        length = np.linalg.norm(move, axis=1) / np.maximum(np.linalg.norm(bend, axis=1), 1e-300)
        stride = np.clip(length, 1.0, _LONGEST_STRIDE)[:, None]
        extrapolated = here + 2 * stride * move + stride**2 * bend
        third, reached = _step(agreement, active_weights, bound(extrapolated))
        is_higher = (reached >= height)[:, None]
        points[active] = bound(np.where(is_higher, third, second))
        gained = height - heights[active]
        heights[active] = height
        active = active[~(gained < tolerance)]
        if not active.size:
            break
    return points, heights


def _step(agreement: Agreement, weights: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Take one EM step from every row of `points`.

    Returns where it leads and the log likelihood before it.
    """
    heights = np.empty(len(points))
    out = np.empty_like(points)
    moves = agreement.counts[:, 0].sum(axis=1)
    for b, (unit_weights, point) in enumerate(zip(weights, points, strict=True)):
        joint, slips = _weigh(agreement, point[:-1], point[-1])
        top = joint.max(axis=1, keepdims=True)
        relative = np.exp(joint - top)
        total = relative.sum(axis=1, keepdims=True)
        likelihoods = top + np.log(total)
        heights[b] = unit_weights @ likelihoods[:, 0]
        part = unit_weights[:, None] * relative / total
        mistakes = part * (agreement.counts @ slips)
        out[b, :-1] = part.sum(axis=0) / unit_weights.sum()
        out[b, -1] = mistakes.sum() / (unit_weights @ moves)
    return out, heights
