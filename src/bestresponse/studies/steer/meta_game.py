"""Meta-games over prompts: plays, the table of payoffs, and its solutions.

In a play, every speaker keeps to one manner.

Play `number` of any profile is on game `number % games` with draw `number // games` of every text,
so all profiles are compared on common games and common random numbers, and texts that profiles
share are asked for once.

With `swap` the speakers change seats from play to play: whoever holds a manner speaks first as
often as last. Such a game is symmetric (who you are does not matter, only what you do), so profiles
that differ in order only are one, and are played once.

    replicator   where replicator dynamics ends, from uniform play (the published choice)
    nash         the pure Nash equilibrium that earns most from neutral partners; a mixed one where
                 there is none
    welfare      the coarse correlated equilibrium of the largest sum of payoffs
    bargaining   Nash's bargaining solution over mixtures of profiles, security levels as
                 disagreement

A solution is a distribution over profiles. Its interval comes from resampling plays: all profiles
share the plays, so one draw of play numbers makes one table, which is solved anew; half-widths are
Bonferroni-corrected normal quantiles times the standard deviation over the draws, so that all
stated metrics hold together with the stated confidence. Where the plays leave open which of several
solutions is the true one, metrics jump from draw to draw and are not normal; the intervals
therefore hold every drawn metric as well. As plays that all end alike would claim certainty, every
profile gets two more plays at the lowest and two at the highest payoffs seen anywhere (the idea of
Agresti & Coull 1998 for proportions), for the draws only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
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
from bestresponse.report.stats.statistics import LEVEL, Interval, normal_quantile
from bestresponse.studies.steer.answers import AnswerStore, Cast, seat_players
from bestresponse.theory.correlation.equilibria import correlated
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.equilibria.result import pure_nash
from bestresponse.theory.equilibria.solve import nash_one
from bestresponse.theory.games.bargaining import nash_bargaining
from bestresponse.theory.games.normal_form import Array, NormalForm

Profile = tuple[str, ...]
"""The manner of every seat."""
_STEPS = 500
# of the replicator dynamics, in units of the largest difference of payoffs: short against it
_STEP = 0.2
_DRAWS = 50
_RESAMPLES = 200
_OFTEN = 0.1  # a solution is plausible if one draw of ten leads to it
_USED = 0.01  # a prompt with less probability is not used by a solution


@dataclass(eq=False)
class PromptArena:
    """Plays profiles of manners; every answer is asked for once and kept."""

    games: Sequence[DialogueGame]
    cast: Cast
    answers: AnswerStore
    workers: int = 1
    seed: int = 0
    swap: bool = False

    def __post_init__(self) -> None:
        self._payoffs: dict[tuple[Profile, int], tuple[float, ...] | None] = {}
        self._reasons: Counter[str] = Counter()

    def rehearse(self, answers: AnswerStore) -> PromptArena:
        """Return an arena for the same games that uses these answers."""
        return PromptArena(
            self.games,
            self.cast,
            answers,
            seed=self.seed,
            swap=self.swap,
        )

    @property
    def game(self) -> DialogueGame:
        """The first game, with all manners known by now."""
        return self.games[0]

    @property
    def manners(self) -> Actions:
        """The tones that can be chosen."""
        return self.games[0].manners

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
        self.games = [
            replace(game, manners=game.manners.with_manner(manner)) for game in self.games
        ]

    def sample_many(self, wanted: Sequence[tuple[Profile, int]]) -> Array:
        """Return the payoffs of these plays, one row each; NaN where a play is void.

        A stop keeps what was played.
        """
        plays = dict.fromkeys(map(self._sort, wanted))
        missing = [pair for pair in plays if pair not in self._payoffs]

        def play_and_keep(pair: tuple[Profile, int]) -> None:
            self._payoffs[pair] = self._play(*pair)

        with ThreadPoolExecutor(self.workers, thread_name_prefix="play") as pool:
            list(pool.map(play_and_keep, missing))
        payoffs = [self._look_up(profile, number) for profile, number in wanted]
        return np.array(payoffs)

    def count_whole_plays(self, profiles: Sequence[Profile]) -> int:
        """Count the plays, from the first on, that are known of all these profiles."""
        number = 0
        while all(self._sort((profile, number)) in self._payoffs for profile in profiles):
            number += 1
        return number

    def _sort(self, wanted: tuple[Profile, int]) -> tuple[Profile, int]:
        """Return the play itself, or that of the same manners in the order they are played."""
        if not self.swap:
            return wanted
        profile, number = wanted
        return tuple(sorted(profile)), number

    def _look_up(self, profile: Profile, number: int) -> tuple[float, ...]:
        payoffs = self._payoffs[self._sort((profile, number))]
        if payoffs is None:
            return (float("nan"),) * len(profile)
        if not self.swap:
            return payoffs
        order = sorted(range(len(profile)), key=lambda position: profile[position])
        earned = dict(zip(order, payoffs, strict=True))
        return tuple(earned[position] for position in range(len(profile)))

    def _play(self, profile: Profile, number: int) -> tuple[float, ...] | None:
        """Play once and return what each position of the profile earns.

        Returns None where the talk cannot be read.
        """
        game = self.games[number % len(self.games)]
        draw = number // len(self.games)
        seats = list(range(len(profile)))  # which position of the profile sits in which seat
        if self.swap:  # an order and its reverse in turn
            generator(self.seed, "seats", draw // 2).shuffle(seats)
            seats = seats[::-1] if draw % 2 else seats
        manners = [profile[position] for position in seats]
        if game.domain.players > 2:  # everybody addresses the next one
            addressed = (*game.names[1:], game.names[0])
            pairs = zip(manners, addressed, strict=True)
            manners = [f"{manner}, to {name}" for manner, name in pairs]
        seated = seat_players(
            game,
            self.cast,
            answers=self.answers,
            draw=draw,
            manners=[(manner,) for manner in manners],
            seed=split(self.seed, "case", number),
        )
        record = play(game, seated)
        if record.void is not None:
            self._reasons[record.void.why] += 1
            return None
        payoffs = []
        for position in range(len(seats)):
            role = game.roles[seats.index(position)]
            payoffs.append(record.payoffs[role])
        if not self.swap:
            return tuple(payoffs)

        # The same for all who speak in the same manner: what they earn on average.
        shared: dict[str, list[float]] = defaultdict(list)
        for manner, payoff in zip(profile, payoffs, strict=True):
            shared[manner].append(payoff)
        means = {manner: sum(earned) / len(earned) for manner, earned in shared.items()}
        return tuple(means[manner] for manner in profile)


@dataclass(frozen=True, slots=True, eq=False)
class MetaGame:
    """Payoffs of every profile.

    `samples` has axes (profile of seat 1, ..., of seat n, play, player), and void plays are NaN.
    """

    prompts: tuple[tuple[str, ...], ...]
    samples: Array
    neutral: str

    @property
    def means(self) -> Array:
        """Mean payoffs, player first."""
        return _table(self.samples)

    @property
    def errors(self) -> Array:
        """Standard errors of the means, player first.

        NaN where fewer than two plays could be read.
        """
        # Unlike `np.nanstd`, masked arrays take fewer than two plays without a warning.
        spread = np.ma.masked_invalid(self.samples).std(axis=-2, ddof=1).filled(np.nan)
        roots = np.sqrt(self.counts)[..., None]
        return np.asarray(np.moveaxis(spread / roots, -1, 0))

    @property
    def counts(self) -> Array:
        """Readable plays of each profile."""
        readable = np.isfinite(self.samples[..., 0])
        return np.asarray(readable.sum(axis=-1), dtype=np.float64)

    @property
    def alone(self) -> tuple[int, ...]:
        """Where the neutral manner, or else the first, stands among the prompts of every seat."""
        places = []
        for prompts in self.prompts:
            places.append(prompts.index(self.neutral) if self.neutral in prompts else 0)
        return tuple(places)


@dataclass(frozen=True, slots=True, eq=False)
class MetaSolution:
    """A distribution over profiles, with each seat's over its prompts and expected payoff."""

    joint: Array
    marginals: tuple[Array, ...]
    payoffs: Array


def estimate(arena: PromptArena, prompts: tuple[tuple[str, ...], ...], plays: int) -> MetaGame:
    """Estimate the full joint table, `plays` plays a profile.

    Raises InvalidGame where a profile has no readable play.

    All profiles have their first play before any has its second, so that a search that is stopped
    leaves whole tables.
    """
    profiles: list[Profile] = list(product(*prompts))
    wanted = [(profile, number) for number in range(plays) for profile in profiles]
    rows = arena.sample_many(wanted)
    shape = tuple(map(len, prompts))
    samples = np.moveaxis(rows.reshape(plays, *shape, rows.shape[1]), 0, -2)

    readable = np.isfinite(samples[..., 0]).any(axis=-1)
    empty = np.flatnonzero(~readable)
    if len(empty):
        names = " against ".join(profiles[empty[0]])
        raise InvalidGame(
            f"none of the {plays} plays of {names} could be read; mostly because {arena.why_void}"
        )
    return MetaGame(prompts, samples, arena.manners.neutral)


def solve_meta(game: MetaGame, how: str) -> MetaSolution:
    """Solve the estimated table."""
    return _solve(game.means, how, game.alone)


def _solve(means: Array, how: str, alone: tuple[int, ...]) -> MetaSolution:
    form = NormalForm(means)
    match how:
        case "replicator":
            ranges = np.ptp(means.reshape(len(means), -1), axis=1)
            size = _STEP / max(1e-9, float(ranges.max()))
            path = replicator(form, steps=_STEPS, size=size, form="euler")
            joint = _product(path.final)
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


def _choose_nash(form: NormalForm, alone: tuple[int, ...]) -> Array:
    """Choose the pure equilibrium whose manners earn most from neutral partners.

    If there is none, finds a mixed one.
    """
    pure = pure_nash(form)
    if not pure:
        return _product(nash_one(form).strategies)

    gains = []
    for profile in pure:
        gain = 0.0
        for seat, manner in enumerate(profile):
            gain += float(form.payoffs[seat][deviate(alone, seat, manner)])
        gains.append(gain)
    chosen = pure[int(np.argmax(gains))]
    joint: Array = np.zeros(form.shape)
    joint[tuple(chosen)] = 1.0
    return joint


def deviate(profile: tuple[int, ...], seat: int, move: int) -> tuple[int, ...]:
    """Return the profile in which one seat moves otherwise."""
    return (*profile[:seat], move, *profile[seat + 1 :])


def _make_solution(joint: Array, means: Array) -> MetaSolution:
    axes = range(joint.ndim)
    marginals = []
    for seat in axes:
        others = tuple(axis for axis in axes if axis != seat)
        marginals.append(np.asarray(joint.sum(axis=others)))
    expected = [float((joint * payoffs).sum()) for payoffs in means]
    return MetaSolution(joint, tuple(marginals), np.array(expected))


def _product(strategies: tuple[Array, ...]) -> Array:
    joint: Array = np.ones(())
    for mix in strategies:
        joint = np.multiply.outer(joint, mix)
    return joint


def find_plausible(
    game: MetaGame,
    how: str,
    most: int,
    *,
    rng: np.random.Generator,
) -> tuple[MetaSolution, ...]:
    """Find other solutions that the plays do not rule out, the likeliest first, `most` at most.

    Those of resampled tables that use other prompts than the stated solution, in one draw of ten or
    more; solutions that use the same prompts are one, on average.
    """
    stated = _used(solve_meta(game, how))
    groups: dict[bytes, list[MetaSolution]] = {}
    for solution in _resampled(game, how, _DRAWS, rng):
        groups.setdefault(_used(solution), []).append(solution)
    groups.pop(stated, None)
    plausible: list[MetaSolution] = []
    for drawn in sorted(groups.values(), key=len, reverse=True):
        if len(plausible) < most and len(drawn) >= _OFTEN * _DRAWS:
            joint = np.mean([solution.joint for solution in drawn], axis=0)
            plausible.append(_make_solution(joint, game.means))
    return tuple(plausible)


def _used(solution: MetaSolution) -> bytes:
    """Say which prompts a solution uses."""
    probabilities = np.concatenate(solution.marginals)
    return (probabilities > _USED).tobytes()


def _resampled(
    game: MetaGame,
    how: str,
    count: int,
    rng: np.random.Generator,
) -> list[MetaSolution]:
    """Solve `count` tables made of plays drawn with replacement.

    Fewer where draws leave a profile void.
    """
    samples = _with_extremes(game.samples)
    plays = samples.shape[-2]
    solutions = []
    for _ in range(count):
        drawn = rng.integers(plays, size=plays)
        table = _table(samples[..., drawn, :])
        if np.isfinite(table).all():
            solutions.append(_solve(table, how, game.alone))
    return solutions


def find_intervals(
    game: MetaGame,
    how: str,
    *,
    rng: np.random.Generator,
    span: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[tuple[Interval, ...], tuple[tuple[Interval, ...], ...]]:
    """Compute simultaneous intervals of every seat's payoff and prompt probabilities.

    The payoffs lie within `span`.
    """
    best = solve_meta(game, how)
    count = game.samples.shape[-2]
    stated = _figures(best)
    extended = _table(_with_extremes(game.samples))
    centre = _figures(_solve(extended, how, game.alone))
    solutions = _resampled(game, how, _RESAMPLES, rng)
    drawn = np.array([_figures(solution) for solution in solutions])

    spread = np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.full(len(stated), np.inf)
    plays = count + 4
    quantile = normal_quantile(1 - (1 - LEVEL) / 2 / len(stated))
    wide = spread * quantile * np.sqrt(plays / (plays - 1))

    is_payoff = np.arange(len(stated)) < len(best.payoffs)  # the others are probabilities
    least = np.where(is_payoff, span[0], 0.0)
    most = np.where(is_payoff, span[1], 1.0)
    low = np.maximum(np.min([stated, centre - wide, *drawn], axis=0), least)
    high = np.minimum(np.max([stated, centre + wide, *drawn], axis=0), most)

    method = f"{_RESAMPLES} resamples of plays, Bonferroni over {len(stated)} figures"
    intervals = []
    for figure, start, end in zip(stated.tolist(), low.tolist(), high.tolist(), strict=True):
        interval = Interval(
            figure,
            start,
            high=end,
            level=LEVEL,
            method=method,
            n=count,
        )
        intervals.append(interval)

    starts = np.cumsum([0, len(best.payoffs), *map(len, best.marginals)]).tolist()
    values, *masses = (tuple(intervals[start:end]) for start, end in pairwise(starts))
    return values, tuple(masses)


def _figures(solution: MetaSolution) -> Array:
    """List the payoffs of all seats, then the probabilities of all prompts."""
    return np.concatenate([solution.payoffs, *solution.marginals])


def _with_extremes(samples: Array) -> Array:
    """Return the plays of every profile and four more at the extremes.

    Two are at each player's lowest payoff, two at its highest.
    """
    axes = tuple(range(samples.ndim - 1))
    low = np.nanmin(samples, axis=axes)
    high = np.nanmax(samples, axis=axes)
    *profiles, _, players = samples.shape
    more = np.broadcast_to(np.stack([low, low, high, high]), (*profiles, 4, players))
    return np.concatenate([samples, more], axis=-2)


def _table(samples: Array) -> Array:
    counts = np.isfinite(samples).sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.nansum(samples, axis=-2) / counts
    return np.asarray(np.moveaxis(means, -1, 0))
