"""Meta-games over prompts: plays in which every speaker keeps to one manner, the table of payoffs, and its solutions.

Play `number` of any profile is on game `number % games` with draw `number // games` of every text, so all profiles
are compared on common games and common random numbers, and texts that profiles share are asked for once.

With `swap` the speakers change seats from play to play: whoever holds a manner speaks first as often as last. Such a
game is symmetric (who you are does not matter, only what you do), so profiles that differ in order only are one, and
are played once.

    replicator   where replicator dynamics ends, from uniform play (the published choice)
    nash         the pure Nash equilibrium that earns most from neutral partners; a mixed one where there is none
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

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidGame
from bestresponse.core.seeds import generator, split
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.report.stats.statistics import Interval, normal_quantile
from bestresponse.studies.steer.building import AnswerStore, Cast, seat_players
from bestresponse.theory.correlation.equilibria import correlated
from bestresponse.theory.dynamics.learning import replicator
from bestresponse.theory.equilibria.result import pure_nash
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.bargaining import nash_bargaining
from bestresponse.theory.games.normal_form import Array, NormalForm

Profile = tuple[str, ...]
"""The manner of every seat."""
_STEPS = 500
_STEP = 0.2  # of the replicator dynamics, in units of the largest difference of payoffs: short against it
_DRAWS = 50
_OFTEN = 0.1  # a solution is plausible if one draw of ten leads to it
_USED = 0.01  # a prompt with less probability is not used by a solution


class PromptArena:
    """Plays profiles of manners; every answer is asked for once and kept."""

    def __init__(
        self,
        games: Sequence[DialogueGame],
        cast: Cast,
        answers: AnswerStore,
        *,
        workers: int = 1,
        seed: int = 0,
        swap: bool = False,
    ) -> None:
        self.swap, self.answers, self.cast = swap, answers, cast
        self._games = list(games)
        self._workers, self._seed = workers, seed
        self._payoffs: dict[tuple[Profile, int], tuple[float, ...] | None] = {}
        self._reasons: Counter[str] = Counter()

    def rehearse(self, answers: AnswerStore) -> PromptArena:
        """Return an arena for the same games that uses these answers."""
        return PromptArena(self._games, self.cast, answers, seed=self._seed, swap=self.swap)

    @property
    def game(self) -> DialogueGame:
        """The first game, with all manners known by now."""
        return self._games[0]

    @property
    def manners(self) -> Actions:
        """The tones that can be chosen."""
        return self._games[0].manners

    @property
    def voids(self) -> int:
        """How many plays could not be read."""
        return sum(payoffs is None for payoffs in self._payoffs.values())

    @property
    def why_void(self) -> str:
        """The commonest reason why plays could not be read; empty where all could."""
        return self._reasons.most_common(1)[0][0] if self._reasons else ""

    @property
    def played(self) -> int:
        """The number of plays so far."""
        return len(self._payoffs)

    def learn(self, manner: str) -> None:
        """Make a new manner known to all games."""
        self._games = [replace(game, manners=game.manners.with_manner(manner)) for game in self._games]

    def sample_many(self, wanted: Sequence[tuple[Profile, int]]) -> Array:
        """Return the payoffs of these plays, one row each; NaN where a play is void. A stop keeps what was played."""
        missing = [pair for pair in dict.fromkeys(map(self._sort, wanted)) if pair not in self._payoffs]

        def play_and_keep(pair: tuple[Profile, int]) -> None:
            self._payoffs[pair] = self._play(*pair)

        with ThreadPoolExecutor(self._workers, thread_name_prefix="play") as pool:
            list(pool.map(play_and_keep, missing))
        return np.array([self._look_up(profile, number) for profile, number in wanted])

    def count_whole_plays(self, profiles: Sequence[Profile]) -> int:
        """Count the plays, from the first on, that are known of all these profiles."""
        number = 0
        while all(self._sort((profile, number)) in self._payoffs for profile in profiles):
            number += 1
        return number

    def _sort(self, wanted: tuple[Profile, int]) -> tuple[Profile, int]:
        """Return the play itself, or that of the same manners in the order in which they are played."""
        return (tuple(sorted(wanted[0])), wanted[1]) if self.swap else wanted

    def _look_up(self, profile: Profile, number: int) -> tuple[float, ...]:
        payoffs = self._payoffs[self._sort((profile, number))]
        if payoffs is None:
            return (float("nan"),) * len(profile)
        if not self.swap:
            return payoffs
        order = sorted(range(len(profile)), key=lambda place: profile[place])
        return tuple(payoffs[order.index(place)] for place in range(len(profile)))

    def _play(self, profile: Profile, number: int) -> tuple[float, ...] | None:
        """Play once and return what each place of the profile earns; None where the talk cannot be read."""
        game, draw = self._games[number % len(self._games)], number // len(self._games)
        seats = list(range(len(profile)))  # which place of the profile sits in which seat
        if self.swap:  # an order and its reverse in turn
            generator(self._seed, "seats", draw // 2).shuffle(seats)
            seats = seats[::-1] if draw % 2 else seats
        manners = [profile[place] for place in seats]
        if game.domain.players > 2:  # everybody addresses the next one
            addressed = (*game.names[1:], game.names[0])
            manners = [f"{manner}, to {name}" for manner, name in zip(manners, addressed, strict=True)]
        seed = split(self._seed, "case", number)
        seated = seat_players(game, self.cast, self.answers, draw, [(manner,) for manner in manners], seed)
        record = play(game, seated)
        if record.void is not None:
            self._reasons[record.void.why] += 1
            return None
        payoffs = [record.payoffs[game.roles[seats.index(place)]] for place in range(len(seats))]
        if not self.swap:
            return tuple(payoffs)
        # The same for all who speak in the same manner: what they earn on average.
        shared = {m: [u for other, u in zip(profile, payoffs, strict=True) if other == m] for m in profile}
        return tuple(sum(shared[manner]) / len(shared[manner]) for manner in profile)


@dataclass(frozen=True, slots=True, eq=False)
class MetaGame:
    """Payoffs of every profile: `samples` has axes (profile of seat 1, ..., of seat n, play, player); void is NaN."""

    prompts: tuple[tuple[str, ...], ...]
    samples: Array
    neutral: str = ""

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

    @property
    def alone(self) -> tuple[int, ...] | None:
        """Where the neutral manner stands among the prompts of every seat; None where a seat does not have it."""
        missing = any(self.neutral not in prompts for prompts in self.prompts)
        return None if missing else tuple(prompts.index(self.neutral) for prompts in self.prompts)


@dataclass(frozen=True, slots=True, eq=False)
class MetaSolution:
    """A distribution over profiles, every seat's distribution over its prompts, and what each seat expects."""

    joint: Array
    marginals: tuple[Array, ...]
    payoffs: Array


def estimate(arena: PromptArena, prompts: tuple[tuple[str, ...], ...], plays: int) -> MetaGame:
    """Estimate the full joint table, `plays` plays a profile; InvalidGame where a profile has no readable play.

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
    return MetaGame(prompts, samples, arena.manners.neutral)


def solve_meta(game: MetaGame, how: str) -> MetaSolution:
    """Solve the estimated table."""
    return _solve(game.means, how, game.alone)


def _solve(means: Array, how: str, alone: tuple[int, ...] | None) -> MetaSolution:
    form = NormalForm(means)
    match how:
        case "replicator":
            size = _STEP / max(1e-9, float(np.ptp(means, axis=tuple(range(1, means.ndim))).max()))
            joint = _product(replicator(form, steps=_STEPS, size=size, form="euler").final)
        case "nash":
            joint = _choose_nash(form, alone)
        case "bargaining":
            try:
                joint = nash_bargaining(form).weights
            except InvalidGame:  # nobody can have more than its security level
                joint = correlated(form, "welfare", coarse=True).distribution
        case _:
            joint = correlated(form, "welfare", coarse=True).distribution
    return _make_solution(joint, means)


def _choose_nash(form: NormalForm, alone: tuple[int, ...] | None) -> Array:
    """Choose the pure equilibrium whose manners earn most from neutral partners, else find a mixed one."""
    pure = pure_nash(form, tolerance=0.0)
    if not pure:
        return _product(nash_one(form).strategies)

    gains = []
    for profile in pure if alone is not None else ():
        moves = (tuple(m if s == seat else a for s, a in enumerate(alone or ())) for seat, m in enumerate(profile))
        gains.append(sum(float(payoffs[move]) for payoffs, move in zip(form.payoffs, moves, strict=True)))
    joint: Array = np.zeros(form.shape)
    joint[tuple(pure[int(np.argmax(gains)) if gains else 0])] = 1.0
    return joint


def _make_solution(joint: Array, means: Array) -> MetaSolution:
    axes = range(joint.ndim)
    marginals = tuple(np.asarray(joint.sum(axis=tuple(k for k in axes if k != seat))) for seat in axes)
    return MetaSolution(joint, marginals, np.array([float((joint * own).sum()) for own in means]))


def _product(strategies: tuple[Array, ...]) -> Array:
    joint: Array = np.ones(())
    for mix in strategies:
        joint = np.multiply.outer(joint, mix)
    return joint


def find_plausible(game: MetaGame, how: str, most: int, *, rng: np.random.Generator) -> tuple[MetaSolution, ...]:
    """Find other solutions that the plays do not rule out, the likeliest first, `most` at most.

    Those of resampled tables that use other prompts than the stated solution, in one draw of ten or more; solutions
    that use the same prompts are one, on average.
    """
    stated = _used(solve_meta(game, how))
    groups: dict[bytes, list[MetaSolution]] = {}
    for solution in _resampled(game, how, _DRAWS, rng):
        groups.setdefault(_used(solution), []).append(solution)
    likely = sorted(groups.items(), key=lambda pair: -len(pair[1]))
    others = [drawn for used, drawn in likely if used != stated and len(drawn) >= _OFTEN * _DRAWS]
    return tuple(_make_solution(np.mean([s.joint for s in drawn], axis=0), game.means) for drawn in others[:most])


def _used(solution: MetaSolution) -> bytes:
    """Say which prompts a solution uses."""
    return bytes(bool(p > _USED) for mix in solution.marginals for p in mix)


def _resampled(game: MetaGame, how: str, count: int, rng: np.random.Generator) -> list[MetaSolution]:
    """Solve `count` tables made of plays drawn with replacement; fewer where draws leave a profile void."""
    samples = _with_extremes(game.samples)
    plays = samples.shape[-2]
    tables = (_table(samples[..., rng.integers(plays, size=plays), :]) for _ in range(count))
    return [_solve(table, how, game.alone) for table in tables if np.isfinite(table).all()]


def find_intervals(
    game: MetaGame,
    how: str,
    *,
    rng: np.random.Generator,
    span: tuple[float, float] = (-np.inf, np.inf),
    level: float = 0.95,
    resamples: int = 200,
) -> tuple[tuple[Interval, ...], tuple[tuple[Interval, ...], ...]]:
    """Compute simultaneous intervals of every seat's payoff (within `span`) and every prompt's probability."""
    best, count = solve_meta(game, how), game.samples.shape[-2]
    stated, centre = _figures(best), _figures(_solve(_table(_with_extremes(game.samples)), how, game.alone))
    drawn = np.array([_figures(solution) for solution in _resampled(game, how, resamples, rng)])
    spread = np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.full(len(stated), np.inf)
    plays = count + 4
    wide = spread * normal_quantile(1 - (1 - level) / 2 / len(stated)) * np.sqrt(plays / (plays - 1))
    is_payoff = np.arange(len(stated)) < len(best.payoffs)  # the others are probabilities
    low = np.maximum(np.min([stated, centre - wide, *drawn], axis=0), np.where(is_payoff, span[0], 0.0))
    high = np.minimum(np.max([stated, centre + wide, *drawn], axis=0), np.where(is_payoff, span[1], 1.0))
    method = f"{resamples} resamples of plays, Bonferroni over {len(stated)} figures"
    ends = [
        Interval(float(e), float(a), float(b), level, method, count) for e, a, b in zip(stated, low, high, strict=True)
    ]
    starts = np.cumsum([0, len(best.payoffs), *map(len, best.marginals)]).tolist()
    values, *masses = (tuple(ends[start:end]) for start, end in pairwise(starts))
    return values, tuple(masses)


def _figures(solution: MetaSolution) -> Array:
    """List the payoffs of all seats, then the probabilities of all prompts."""
    return np.concatenate([solution.payoffs, *solution.marginals])


def _with_extremes(samples: Array) -> Array:
    """Return the plays of every profile and four more: two at each player's lowest payoff, two at its highest."""
    axes = tuple(range(samples.ndim - 1))
    low, high = np.nanmin(samples, axis=axes), np.nanmax(samples, axis=axes)
    more = np.broadcast_to(np.stack([low, low, high, high]), (*samples.shape[:-2], 4, samples.shape[-1]))
    return np.concatenate([samples, more], axis=-2)


def _table(samples: Array) -> Array:
    counts = np.isfinite(samples).sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.moveaxis(np.nansum(samples, axis=-2) / counts, -1, 0))
