"""Meta-games over prompts: the table of estimated payoffs, and the ways to solve it.

    replicator   where replicator dynamics ends, from uniform play (the published choice)
    nash         one Nash equilibrium
    welfare      the coarse correlated equilibrium of the largest sum of payoffs
    bargaining   Nash's bargaining solution over mixtures of profiles, security levels as disagreement

A solution is a distribution over profiles. Its interval comes from resampling plays: all profiles share the plays, so
one draw of play numbers makes one table, which is solved anew; half-widths are Bonferroni-corrected normal quantiles
times the standard deviation over the draws, so that all stated figures hold together with the stated confidence. Where
the plays leave open which of several solutions is the true one, figures jump from draw to draw and are not normal; the
intervals therefore hold every drawn figure as well. As plays that all end alike would claim certainty, every profile
gets two more plays at the lowest and two at the highest payoffs seen anywhere (the idea of Agresti & Coull 1998 for
proportions), for the draws only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.report.stats.interval import Interval, normal_quantile
from bestresponse.studies.steer.psro.plays import Arena, Profile
from bestresponse.theory.correlation.equilibria import correlated
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.bargaining import nash_bargaining
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["MetaGame", "MetaSolution", "estimate", "intervals", "plausible", "solve_meta"]

_STEPS = 500
_STEP = 0.2
_DRAWS = 50
_OFTEN = 0.1
_USED = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class MetaGame:
    """Payoffs of every profile: `samples` has axes (profile of seat 1, ..., of seat n, play, player); void is NaN."""

    prompts: tuple[tuple[str, ...], ...]
    samples: Array

    @property
    def means(self) -> Array:
        """Mean payoffs, player first."""
        return _table(self.samples)

    @property
    def errors(self) -> Array:
        """Standard errors of the means, player first; NaN where fewer than two plays could be read."""
        count = np.isfinite(self.samples[..., 0]).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.nanstd(self.samples, axis=-2, ddof=1) if self.samples.shape[-2] > 1 else np.nan
            return np.asarray(np.moveaxis(spread / np.sqrt(count)[..., None], -1, 0))

    @property
    def counts(self) -> Array:
        """Readable plays of each profile."""
        return np.asarray(np.isfinite(self.samples[..., 0]).sum(axis=-1), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class MetaSolution:
    """A distribution over profiles, every seat's distribution over its prompts, and what each seat expects."""

    joint: Array
    marginals: tuple[Array, ...]
    payoffs: Array


def estimate(arena: Arena, prompts: tuple[tuple[str, ...], ...], plays: int) -> MetaGame:
    """The full joint table, `plays` plays a profile; InvalidGame where a profile has no readable play.

    All profiles have their first play before any has its second, so that a search that is stopped leaves whole tables.
    """
    profiles: list[Profile] = list(product(*prompts))
    rows = arena.sample_many([(profile, number) for number in range(plays) for profile in profiles])
    shape = tuple(map(len, prompts))
    samples = np.moveaxis(rows.reshape(plays, *shape, rows.shape[1]), 0, -2)
    empty = np.argwhere(~np.isfinite(samples[..., 0]).any(axis=-1))
    if len(empty):
        profile = profiles[int(np.ravel_multi_index(tuple(empty[0]), shape))]
        names = " against ".join(profile)
        raise InvalidGame(f"none of the {plays} plays of {names} could be read; mostly because {arena.why_void}")
    return MetaGame(prompts, samples)


def solve_meta(game: MetaGame, how: str) -> MetaSolution:
    """The solution of the estimated table."""
    return _solve(game.means, how)


def _solve(means: Array, how: str) -> MetaSolution:
    form = NormalForm(means)
    match how:
        case "replicator":
            joint = _product(replicator(form, steps=_STEPS, size=_step(means), form="euler").final)
        case "nash":
            joint = _product(nash_one(form).strategies)
        case "welfare":
            joint = correlated(form, "welfare", coarse=True).distribution
        case _:
            joint = _bargained(form)
    return _solution(joint, means)


def _solution(joint: Array, means: Array) -> MetaSolution:
    axes = range(joint.ndim)
    marginals = tuple(np.asarray(joint.sum(axis=tuple(k for k in axes if k != seat))) for seat in axes)
    return MetaSolution(joint, marginals, np.array([float((joint * own).sum()) for own in means]))


def _step(means: Array) -> float:
    """A step that is short against the largest payoff difference."""
    return _STEP / max(1e-9, float(np.ptp(means, axis=tuple(range(1, means.ndim))).max()))


def _bargained(form: NormalForm) -> Array:
    try:
        return nash_bargaining(form).weights
    except InvalidGame:
        return correlated(form, "welfare", coarse=True).distribution


def _product(strategies: tuple[Array, ...]) -> Array:
    joint: Array = np.ones(())
    for mix in strategies:
        joint = np.multiply.outer(joint, mix)
    return joint


def plausible(game: MetaGame, how: str, most: int, *, rng: np.random.Generator) -> tuple[MetaSolution, ...]:
    """Other solutions that the plays do not rule out, the likeliest first, `most` at most.

    Those of resampled tables that use other prompts than the stated solution, in one draw of ten or more; solutions
    that use the same prompts are one, on average.
    """
    stated = _used(solve_meta(game, how))
    groups: dict[bytes, list[MetaSolution]] = {}
    for solution in _resampled(game, how, _DRAWS, rng):
        groups.setdefault(_used(solution), []).append(solution)
    likely = sorted(groups.items(), key=lambda pair: -len(pair[1]))
    others = [drawn for used, drawn in likely if used != stated and len(drawn) >= _OFTEN * _DRAWS]
    return tuple(_solution(np.mean([one.joint for one in drawn], axis=0), game.means) for drawn in others[:most])


def _used(solution: MetaSolution) -> bytes:
    """Which prompts a solution uses."""
    return bytes(bool(p > _USED) for mix in solution.marginals for p in mix)


def _resampled(game: MetaGame, how: str, count: int, rng: np.random.Generator) -> list[MetaSolution]:
    """The solutions of `count` tables made of plays drawn with replacement; fewer where draws leave a profile void."""
    samples = _with_extremes(game.samples)
    plays = samples.shape[-2]
    tables = (_table(samples[..., rng.integers(plays, size=plays), :]) for _ in range(count))
    return [_solve(table, how) for table in tables if np.isfinite(table).all()]


def intervals(
    game: MetaGame,
    how: str,
    *,
    rng: np.random.Generator,
    span: tuple[float, float] = (-np.inf, np.inf),
    level: float = 0.95,
    resamples: int = 200,
) -> tuple[tuple[Interval, ...], tuple[tuple[Interval, ...], ...]]:
    """Simultaneous intervals of every seat's payoff (within `span`) and every prompt's probability, at the solution."""
    best, count = solve_meta(game, how), game.samples.shape[-2]
    stated, centre = _figures(best), _figures(_solve(_table(_with_extremes(game.samples)), how))
    drawn = np.array([_figures(one) for one in _resampled(game, how, resamples, rng)])
    spread = np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.full(len(stated), np.inf)
    plays = count + 4
    wide = spread * normal_quantile(1 - (1 - level) / 2 / len(stated)) * np.sqrt(plays / (plays - 1))
    low = np.min([stated, centre - wide, *drawn], axis=0)
    high = np.max([stated, centre + wide, *drawn], axis=0)
    method = f"{resamples} resamples of plays, Bonferroni over {len(stated)} figures"
    ends = [
        Interval(float(e), float(a), float(b), level, method, count) for e, a, b in zip(stated, low, high, strict=True)
    ]
    seats = len(best.payoffs)
    parts, start = [], seats
    for mix in best.marginals:
        parts.append(tuple(_within(one, 0.0, 1.0) for one in ends[start : start + len(mix)]))
        start += len(mix)
    return tuple(_within(one, *span) for one in ends[:seats]), tuple(parts)


def _figures(solution: MetaSolution) -> Array:
    """Payoffs of all seats, then probabilities of all prompts."""
    return np.concatenate([solution.payoffs, *solution.marginals])


def _with_extremes(samples: Array) -> Array:
    """The plays of every profile and four more: two at each player's lowest payoff of all, two at its highest."""
    axes = tuple(range(samples.ndim - 1))
    low, high = np.nanmin(samples, axis=axes), np.nanmax(samples, axis=axes)
    more = np.broadcast_to(np.stack([low, low, high, high]), (*samples.shape[:-2], 4, samples.shape[-1]))
    return np.concatenate([samples, more], axis=-2)


def _within(one: Interval, low: float, high: float) -> Interval:
    """The interval without what cannot be."""
    return replace(one, low=max(low, one.low), high=min(high, one.high))


def _table(samples: Array) -> Array:
    counts = np.isfinite(samples).sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.moveaxis(np.nansum(samples, axis=-2) / counts, -1, 0))
