"""Prompt-space response oracles: grow every speaker's set of manners by best responses to the
present solution.

Each iteration estimates the full joint payoff table over the prompts so far, solves it, and asks an
oracle for a better response of every seat (Lanctot et al. 2017; Gemp et al. 2024, algorithm 5):

    shotgun       `candidates` new manners at once, the best is taken
                  (algorithm 1)
    better        one new manner after another until one beats the present value
                  (algorithm 2)
    trajectory    the manners so far are shown ranked by score, new ones asked for in rising order
                  (algorithm 3)
    categorical   new categories of manners, ranked by their mean score; the best one of the best
                  (algorithm 4)

Candidates are played against the others' present mixture on common plays, in rounds: whoever is
surely worse than the leader drops out and costs no further play. Manners that are known already are
rejected before they cost anything.

The search ends when no seat's response is new, or after the given number of iterations. Because a
table of few plays can show an equilibrium that is none, the first time that no response is new is
only believed after the plays of every profile were doubled. Then the oracles are asked for
responses to the other solutions that the plays do not rule out: only if these bring nothing new, it
ends. In an arena whose speakers swap seats all of them have the same prompts, and what one of them
finds is a prompt of all. A search that is stopped (by a budget, by a model that fails) ends with
the last whole table: the present one with fewer plays, or the one before.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix H.

Meta-games over prompts: plays in which every speaker keeps to one manner, the table of payoffs, and
its solutions.

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
stated figures hold together with the stated confidence. Where the plays leave open which of several
solutions is the true one, figures jump from draw to draw and are not normal; the intervals
therefore hold every drawn figure as well. As plays that all end alike would claim certainty, every
profile gets two more plays at the lowest and two at the highest payoffs seen anywhere (the idea of
Agresti & Coull 1998 for proportions), for the draws only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import comb

import numpy as np

from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidGame, ModelError, UsageError
from bestresponse.core.player import Reading
from bestresponse.core.seeds import generator, split
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Request
from bestresponse.report.stats.statistics import LEVEL, Interval, normal_quantile
from bestresponse.studies.steer.building import AnswerStore, Cast, FreshPlays, seat_players
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.theory.correlation.equilibria import correlated
from bestresponse.theory.dynamics.learning import replicator
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
        return PromptArena(self.games, self.cast, answers, seed=self.seed, swap=self.swap)

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
        """Return the payoffs of these plays, one row each; NaN where a play is void. A stop keeps
        what was played."""
        missing = [
            pair for pair in dict.fromkeys(map(self._sort, wanted)) if pair not in self._payoffs
        ]

        def play_and_keep(pair: tuple[Profile, int]) -> None:
            self._payoffs[pair] = self._play(*pair)

        with ThreadPoolExecutor(self.workers, thread_name_prefix="play") as pool:
            list(pool.map(play_and_keep, missing))
        return np.array([self._look_up(profile, number) for profile, number in wanted])

    def count_whole_plays(self, profiles: Sequence[Profile]) -> int:
        """Count the plays, from the first on, that are known of all these profiles."""
        number = 0
        while all(self._sort((profile, number)) in self._payoffs for profile in profiles):
            number += 1
        return number

    def _sort(self, wanted: tuple[Profile, int]) -> tuple[Profile, int]:
        """Return the play itself, or that of the same manners in the order in which they are
        played."""
        return (tuple(sorted(wanted[0])), wanted[1]) if self.swap else wanted

    def _look_up(self, profile: Profile, number: int) -> tuple[float, ...]:
        payoffs = self._payoffs[self._sort((profile, number))]
        if payoffs is None:
            return (float("nan"),) * len(profile)
        if not self.swap:
            return payoffs
        order = sorted(range(len(profile)), key=lambda position: profile[position])
        return tuple(payoffs[order.index(position)] for position in range(len(profile)))

    def _play(self, profile: Profile, number: int) -> tuple[float, ...] | None:
        """Play once and return what each position of the profile earns; None where the talk cannot
        be read."""
        game = self.games[number % len(self.games)]
        draw = number // len(self.games)
        seats = list(range(len(profile)))  # which position of the profile sits in which seat
        if self.swap:  # an order and its reverse in turn
            generator(self.seed, "seats", draw // 2).shuffle(seats)
            seats = seats[::-1] if draw % 2 else seats
        manners = [profile[position] for position in seats]
        if game.domain.players > 2:  # everybody addresses the next one
            addressed = (*game.names[1:], game.names[0])
            manners = [
                f"{manner}, to {name}" for manner, name in zip(manners, addressed, strict=True)
            ]
        seed = split(self.seed, "case", number)
        seated = seat_players(
            game,
            self.cast,
            answers=self.answers,
            draw=draw,
            manners=[(manner,) for manner in manners],
            seed=seed,
        )
        record = play(game, seated)
        if record.void is not None:
            self._reasons[record.void.why] += 1
            return None
        payoffs = [
            record.payoffs[game.roles[seats.index(position)]] for position in range(len(seats))
        ]
        if not self.swap:
            return tuple(payoffs)
        # The same for all who speak in the same manner: what they earn on average.
        shared = {
            m: [u for other, u in zip(profile, payoffs, strict=True) if other == m] for m in profile
        }
        return tuple(sum(shared[manner]) / len(shared[manner]) for manner in profile)


@dataclass(frozen=True, slots=True, eq=False)
class MetaGame:
    """Payoffs of every profile: `samples` has axes (profile of seat 1, ..., of seat n, play,
    player); void is NaN."""

    prompts: tuple[tuple[str, ...], ...]
    samples: Array
    neutral: str

    @property
    def means(self) -> Array:
        """Mean payoffs, player first."""
        return _table(self.samples)

    @property
    def errors(self) -> Array:
        """Standard errors of the means, player first; NaN where fewer than two plays could be
        read."""
        # Unlike `np.nanstd`, masked arrays take fewer than two plays without a warning.
        spread = np.ma.masked_invalid(self.samples).std(axis=-2, ddof=1).filled(np.nan)
        return np.asarray(np.moveaxis(spread / np.sqrt(self.counts)[..., None], -1, 0))

    @property
    def counts(self) -> Array:
        """Readable plays of each profile."""
        return np.asarray(np.isfinite(self.samples[..., 0]).sum(axis=-1), dtype=np.float64)

    @property
    def alone(self) -> tuple[int, ...]:
        """Where the neutral manner, or else the first, stands among the prompts of every seat."""
        return tuple(
            prompts.index(self.neutral) if self.neutral in prompts else 0
            for prompts in self.prompts
        )


@dataclass(frozen=True, slots=True, eq=False)
class MetaSolution:
    """A distribution over profiles, every seat's distribution over its prompts, and what each seat
    expects."""

    joint: Array
    marginals: tuple[Array, ...]
    payoffs: Array


def estimate(arena: PromptArena, prompts: tuple[tuple[str, ...], ...], plays: int) -> MetaGame:
    """Estimate the full joint table, `plays` plays a profile; InvalidGame where a profile has no
    readable play.

    All profiles have their first play before any has its second, so that a search that is stopped
    leaves whole tables.
    """
    profiles: list[Profile] = list(product(*prompts))
    rows = arena.sample_many([(profile, number) for number in range(plays) for profile in profiles])
    shape = tuple(map(len, prompts))
    samples = np.moveaxis(rows.reshape(plays, *shape, rows.shape[1]), 0, -2)
    empty = np.argwhere(~np.isfinite(samples[..., 0]).any(axis=-1))
    if len(empty):
        profile = profiles[int(np.ravel_multi_index(tuple(empty[0]), shape))]
        names = " against ".join(profile)
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


def _choose_nash(form: NormalForm, alone: tuple[int, ...]) -> Array:
    """Choose the pure equilibrium whose manners earn most from neutral partners, else find a mixed
    one."""
    pure = pure_nash(form, tolerance=0.0)
    if not pure:
        return _product(nash_one(form).strategies)

    gains = []
    for profile in pure:
        moves = (
            tuple(m if s == seat else a for s, a in enumerate(alone))
            for seat, m in enumerate(profile)
        )
        gains.append(
            sum(float(payoffs[move]) for payoffs, move in zip(form.payoffs, moves, strict=True))
        )
    joint: Array = np.zeros(form.shape)
    joint[tuple(pure[int(np.argmax(gains))])] = 1.0
    return joint


def _make_solution(joint: Array, means: Array) -> MetaSolution:
    axes = range(joint.ndim)
    marginals = tuple(
        np.asarray(joint.sum(axis=tuple(k for k in axes if k != seat))) for seat in axes
    )
    return MetaSolution(
        joint, marginals, np.array([float((joint * payoffs).sum()) for payoffs in means])
    )


def _product(strategies: tuple[Array, ...]) -> Array:
    joint: Array = np.ones(())
    for mix in strategies:
        joint = np.multiply.outer(joint, mix)
    return joint


def find_plausible(
    game: MetaGame, how: str, most: int, *, rng: np.random.Generator
) -> tuple[MetaSolution, ...]:
    """Find other solutions that the plays do not rule out, the likeliest first, `most` at most.

    Those of resampled tables that use other prompts than the stated solution, in one draw of ten or
    more; solutions that use the same prompts are one, on average.
    """
    stated = _used(solve_meta(game, how))
    groups: dict[bytes, list[MetaSolution]] = {}
    for solution in _resampled(game, how, _DRAWS, rng):
        groups.setdefault(_used(solution), []).append(solution)
    likely = sorted(groups.items(), key=lambda pair: -len(pair[1]))
    others = [drawn for used, drawn in likely if used != stated and len(drawn) >= _OFTEN * _DRAWS]
    return tuple(
        _make_solution(np.mean([s.joint for s in drawn], axis=0), game.means)
        for drawn in others[:most]
    )


def _used(solution: MetaSolution) -> bytes:
    """Say which prompts a solution uses."""
    return bytes(bool(p > _USED) for mix in solution.marginals for p in mix)


def _resampled(
    game: MetaGame, how: str, count: int, rng: np.random.Generator
) -> list[MetaSolution]:
    """Solve `count` tables made of plays drawn with replacement; fewer where draws leave a profile
    void."""
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
) -> tuple[tuple[Interval, ...], tuple[tuple[Interval, ...], ...]]:
    """Compute simultaneous intervals of every seat's payoff (within `span`) and every prompt's
    probability."""
    best = solve_meta(game, how)
    count = game.samples.shape[-2]
    stated = _figures(best)
    centre = _figures(_solve(_table(_with_extremes(game.samples)), how, game.alone))
    drawn = np.array([_figures(solution) for solution in _resampled(game, how, _RESAMPLES, rng)])
    spread = np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.full(len(stated), np.inf)
    plays = count + 4
    wide = (
        spread * normal_quantile(1 - (1 - LEVEL) / 2 / len(stated)) * np.sqrt(plays / (plays - 1))
    )
    is_payoff = np.arange(len(stated)) < len(best.payoffs)  # the others are probabilities
    low = np.maximum(
        np.min([stated, centre - wide, *drawn], axis=0), np.where(is_payoff, span[0], 0.0)
    )
    high = np.minimum(
        np.max([stated, centre + wide, *drawn], axis=0), np.where(is_payoff, span[1], 1.0)
    )
    method = f"{_RESAMPLES} resamples of plays, Bonferroni over {len(stated)} figures"
    ends = [
        Interval(float(e), float(a), high=float(b), level=LEVEL, method=method, n=count)
        for e, a, b in zip(stated, low, high, strict=True)
    ]
    starts = np.cumsum([0, len(best.payoffs), *map(len, best.marginals)]).tolist()
    values, *masses = (tuple(ends[start:end]) for start, end in pairwise(starts))
    return values, tuple(masses)


def _figures(solution: MetaSolution) -> Array:
    """List the payoffs of all seats, then the probabilities of all prompts."""
    return np.concatenate([solution.payoffs, *solution.marginals])


def _with_extremes(samples: Array) -> Array:
    """Return the plays of every profile and four more: two at each player's lowest payoff, two at
    its highest."""
    axes = tuple(range(samples.ndim - 1))
    low = np.nanmin(samples, axis=axes)
    high = np.nanmax(samples, axis=axes)
    more = np.broadcast_to(
        np.stack([low, low, high, high]), (*samples.shape[:-2], 4, samples.shape[-1])
    )
    return np.concatenate([samples, more], axis=-2)


def _table(samples: Array) -> Array:
    counts = np.isfinite(samples).sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.moveaxis(np.nansum(samples, axis=-2) / counts, -1, 0))


_OTHERS = 2
"""How many other plausible solutions are responded to before a search is closed."""
_FEWEST_PLAYS = 2  # one play has no deviation, so nothing could be said of its error
_LONGEST = 40  # characters; what is longer is a sentence and no name of a manner
_FIRST_ROUND = 5  # plays of every candidate before any is dropped; then twice as many each time
_CATEGORIES = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A manner and what it earned against the others' mixture: mean, standard error, plays it
    got."""

    manner: str
    score: float
    error: float
    plays: int
    category: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What an oracle found for one seat: the best candidate (None: nothing beats the present
    value), and all tried."""

    seat: int
    best: Candidate | None
    tried: tuple[Candidate, ...]
    rejected: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """The prompts, their solution, and what the oracles answered to it (empty after the last
    table)."""

    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    responses: tuple[Response, ...] = ()


def tidy(manner: str) -> str:
    """Return one spelling of a manner.

    >>> tidy(" 'Very  Calm'. ")
    'very calm'
    """
    return re.sub(r"\s+", " ", manner.strip(" \t\n'\"`*-.,:")).casefold()


@dataclass(frozen=True, slots=True, eq=False)
class Inventor:
    """A model that proposes manners for a task; its proposals are kept like every other answer."""

    model: Model
    task: str
    answers: AnswerStore
    temperature: float

    def propose(
        self,
        most: int,
        known: list[str],
        what: str = "manners",
        ranked: bool = False,
        purpose: str = "",
        draw: int = 0,
    ) -> list[str]:
        """Return up to `most` proposals, as the model wrote them."""
        content = TEXTS.fill(
            "dialogue_invent",
            task=self.task,
            manners="\n".join(f"- {manner}" for manner in known),
            ranked=", from the worst to the best" if ranked else "",
            order=" Order them from the worst to the best." if ranked else "",
            count=most,
            what=what,
            purpose=purpose,
        )
        prompt = (Message("system", TEXTS.text("dialogue_inventor")), Message("user", content))
        request = Request(prompt, max_tokens=200, temperature=self.temperature, replicate=draw)
        entry = self.answers.ask_model(
            "invent", self.model, request, lambda reply: (reply.text[:5000], Reading())
        )
        return _list_names(entry.text or "")[:most]


def _list_names(text: str) -> list[str]:
    """List the names in a JSON list, or one per line where there is no list."""
    listed = re.search(r"\[.*?\]", text, re.S)
    if listed:
        try:
            return [str(name) for name in json.loads(listed[0])]
        except ValueError:
            pass
    return [
        re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line) for line in text.splitlines() if line.strip()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Oracle:
    """One oracle call: for which seat, against what, and how many plays and candidates it may
    take."""

    arena: PromptArena
    inventor: Inventor
    seat: int
    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    plays: int
    candidates: int
    seed: int
    round: int

    def score(self, manners: list[str], category: str = "") -> list[Candidate]:
        """Play the candidates against the others' mixture, dropping those that are surely
        behind."""
        for manner in manners:
            self.arena.learn(manner)
        rows: dict[str, Array] = {manner: np.zeros(0) for manner in manners}
        alive = list(manners)
        done = 0
        step = min(_FIRST_ROUND, self.plays)
        while alive and done < self.plays:
            numbers = range(done, min(self.plays, done + step))
            for manner in alive:
                wanted = [(self._draw_profile(manner, number), number) for number in numbers]
                earned = self.arena.sample_many(wanted)[:, self.seat]
                rows[manner] = np.concatenate([rows[manner], earned[np.isfinite(earned)]])
            done = numbers.stop
            step = 2 * step
            alive = _drop_losers({manner: rows[manner] for manner in alive})
        return [
            replace(_rate(manner, values), category=category)
            for manner, values in rows.items()
            if len(values)
        ]

    def propose_and_score(
        self, known: list[str], offered: list[str], category: str = ""
    ) -> tuple[list[Candidate], list[str]]:
        """Score the offers that are new, in one spelling, and return the others: duplicates, empty,
        overlong ones."""
        taken = {tidy(manner) for manner in known}
        fresh = []
        rejected = []
        for offer in offered:
            name = tidy(offer)
            if not name or name in taken or len(name) > _LONGEST:
                rejected.append(offer)
                continue
            taken.add(name)
            fresh.append(name)
        return self.score(fresh, category), rejected

    def _draw_profile(self, manner: str, number: int) -> Profile:
        """Seat `manner` here and draw the others from the solution: the same draw for every
        candidate."""
        others = self.solution.joint.sum(axis=self.seat, keepdims=True)
        flat = others.ravel().clip(0)
        drawn = generator(self.seed, "others", self.round, number).choices(
            range(flat.size), flat.tolist()
        )[0]
        choices = np.unravel_index(drawn, others.shape)
        return tuple(
            manner if seat == self.seat else self.prompts[seat][int(choice)]
            for seat, choice in enumerate(choices)
        )


def _drop_losers(rows: dict[str, Array]) -> list[str]:
    """List those whose mean is not more than three standard errors (of the difference) behind the
    best."""
    scored = {manner: _rate(manner, values) for manner, values in rows.items() if len(values) > 1}
    if len(scored) < 2:
        return list(rows)
    best = max(scored.values(), key=lambda candidate: candidate.score)

    def is_behind(candidate: Candidate) -> bool:
        return best.score - candidate.score > 3 * float(np.hypot(best.error, candidate.error))

    return [manner for manner in rows if manner not in scored or not is_behind(scored[manner])]


def _rate(manner: str, values: Array) -> Candidate:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")
    return Candidate(manner, float(values.mean()), error, len(values))


def find_response(oracle: Oracle, kind: str) -> Response:
    """Find the best response of one seat; `best` is None where nothing beats the present value."""
    known = list(oracle.prompts[oracle.seat])
    present = oracle.score(known)
    value = max(candidate.score for candidate in present)
    propose = oracle.inventor.propose
    count = oracle.candidates
    draw = oracle.round
    tried: list[Candidate] = []
    rejected: list[str] = []
    match kind:
        case "shotgun":
            tried, rejected = oracle.propose_and_score(known, propose(count, known, draw=draw))
        case "trajectory":
            order = [
                candidate.manner
                for candidate in sorted(present, key=lambda candidate: candidate.score)
            ]
            tried, rejected = oracle.propose_and_score(
                known, propose(count, order, ranked=True, draw=draw)
            )
        case "better":
            for attempt in range(count):
                seen = known + [candidate.manner for candidate in tried]
                scored, refused = oracle.propose_and_score(
                    seen, propose(1, seen, draw=draw * count + attempt)
                )
                tried = tried + scored
                rejected = rejected + refused
                if tried and tried[-1].score > value:
                    break
        case "categorical":
            categories = propose(
                _CATEGORIES, [oracle.arena.manners.name], what="categories of manners", draw=draw
            )
            for category in dict.fromkeys(map(tidy, categories)):
                seen = known + [candidate.manner for candidate in tried]
                offered = propose(count, seen, purpose=f" of the category {category}", draw=draw)
                scored, refused = oracle.propose_and_score(seen, offered, category)
                tried = tried + scored
                rejected = rejected + refused
    groups: dict[str, list[Candidate]] = {}  # by category; all together where there are none
    for candidate in tried:
        groups.setdefault(candidate.category, []).append(candidate)
    group = max(
        groups.values(),
        key=lambda group: float(np.mean([member.score for member in group])),
        default=[],
    )
    best = max(group, key=lambda candidate: candidate.score, default=None)
    better = best is not None and best.score > value
    return Response(oracle.seat, best if better else None, tuple(tried), tuple(rejected), value)


def psro(
    arena: PromptArena,
    inventor: Inventor,
    settings: SteerConfig,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> PsroResult:
    """Search from the domain's own manners until that is closed, used up or stopped.

    ModelError where it was stopped before there was a whole table.
    """
    if not arena.manners.new:
        raise UsageError(
            f"the actions {arena.manners.name!r} cannot be added to; choose another set of actions"
        )
    search = PsroResult(arena, inventor, settings)
    try:
        while search.step(on_iteration):
            pass
    except ModelError as error:
        if not search.cut_short(str(error)):
            raise
    return search


class PsroResult:
    """A search on its way or at its end: the last whole table with its solution, and how it came
    there.

    `closed`: no response was new; `stopped`: why the search was cut short (empty: it was not).
    """

    game: MetaGame
    solution: MetaSolution

    def __init__(self, arena: PromptArena, inventor: Inventor, settings: SteerConfig) -> None:
        self.arena = arena
        self.inventor = inventor
        self.settings = settings
        self._manners = (arena.manners.options,) * arena.game.domain.players
        self._plays = settings.plays
        self.history: list[Iteration] = []
        self.closed = False
        self.stopped = ""

    @property
    def prompts(self) -> tuple[tuple[str, ...], ...]:
        """The prompts of every speaker in the last whole table."""
        return self.game.prompts

    def step(self, on_iteration: Callable[[int], None]) -> bool:
        """Make one iteration; return whether there is another one."""
        on_iteration(len(self.history))
        self._solve(self._plays)
        if len(self.history) == self.settings.iterations:
            self.history.append(Iteration(self._manners, self.solution))
            return False
        responses = self._respond(self.solution)
        if not _list_new(responses) and self._plays > self.settings.plays:
            rng = np.random.default_rng(split(self.settings.seed, "psro others", len(self.history)))
            for solution in find_plausible(self.game, self.settings.meta, _OTHERS, rng=rng):
                responses += self._respond(solution)
                if _list_new(responses):
                    break
            self.closed = not _list_new(responses)
        elif not _list_new(responses):
            self._plays *= 2
        self.history.append(Iteration(self._manners, self.solution, responses))
        self._manners = tuple(
            tuple(
                dict.fromkeys(
                    (
                        *known,
                        *(
                            m
                            for finder, m in _list_new(responses)
                            if self.arena.swap or finder == seat
                        ),
                    )
                )
            )
            for seat, known in enumerate(self._manners)
        )
        return not self.closed

    def _respond(self, solution: MetaSolution) -> tuple[Response, ...]:
        """Ask the oracle for every seat."""
        how = (self._plays, self.settings.candidates, self.settings.seed, len(self.history))
        return tuple(
            find_response(
                Oracle(self.arena, self.inventor, seat, self._manners, solution, *how),
                self.settings.oracle,
            )
            for seat in range(len(self._manners))
        )

    def cut_short(self, why: str) -> bool:
        """End with the present prompts if all their profiles were played, else with the table
        before, if any."""
        self.stopped = why
        whole = min(self.arena.count_whole_plays(list(product(*self._manners))), self._plays)
        if whole >= _FEWEST_PLAYS and (
            not self.history or self.history[-1].prompts != self._manners
        ):
            self._solve(whole)
            self.history.append(Iteration(self._manners, self.solution))
        return bool(self.history)

    def _solve(self, plays: int) -> None:
        self.game = estimate(self.arena, self._manners, plays)
        self.solution = solve_meta(self.game, self.settings.meta)


def _list_new(responses: tuple[Response, ...]) -> list[tuple[int, str]]:
    """List the manners that were found, each with the seat that found it."""
    return [
        (response.seat, response.best.manner) for response in responses if response.best is not None
    ]


def play_held_out(
    result: PsroResult, arena: PromptArena, numbers: Sequence[int], seed: int
) -> FreshPlays:
    """Play the solution in an arena of games that the search has not seen.

    A guided speaker draws a manner from its part of the solution and keeps to it, the others stay
    neutral; beside it stands the same talk with everybody neutral, on the same game, the same draws
    of the texts.
    """
    for manner in (manner for prompts in result.prompts for manner in prompts):
        arena.learn(manner)
    neutral = arena.manners.neutral
    seats = range(len(result.prompts))

    def draw_profile(seat: int, number: int) -> Profile:
        mix = result.solution.marginals[seat].clip(0)
        drawn = generator(seed, "held out", seat, number).choices(
            result.prompts[seat], mix.tolist()
        )[0]
        return tuple(drawn if speaker == seat else neutral for speaker in seats)

    guided = [
        arena.sample_many([(draw_profile(seat, number), number) for number in numbers])
        for seat in seats
    ]
    return FreshPlays(play_neutral(arena, numbers), np.array(guided))


def play_neutral(arena: PromptArena, numbers: Sequence[int]) -> Array:
    """Play the games with everybody in the neutral manner; of those held out this is done last."""
    profile = (arena.manners.neutral,) * arena.game.domain.players
    return arena.sample_many([(profile, number) for number in numbers])


def weigh_table(result: PsroResult) -> FreshPlays:
    """Compare the solution with neutral talk on the plays of the table, each manner weighted by its
    probability."""
    samples = result.game.samples
    alone = result.game.alone
    guided = []
    for seat, mix in enumerate(result.solution.marginals):
        rows = np.array(
            [
                samples[tuple(k if s == seat else a for s, a in enumerate(alone))]
                for k in range(len(mix))
            ]
        )
        used = mix > 1e-12
        guided.append(np.tensordot(mix[used] / mix[used].sum(), rows[used], axes=1))
    return FreshPlays(samples[alone], np.array(guided))


def count_missing_psro_calls(arena: PromptArena, inventor: Inventor, settings: SteerConfig) -> int:
    """Count the most calls that a search still takes: 0 where everything is on record.

    What is on record is not asked again, so the search is rehearsed with the record alone, and the
    answers that it uses come off.
    """
    most = count_most_psro_calls(arena.game, settings, arena.cast.referee_calls, arena.swap)
    answers = arena.answers.rehearse()
    try:
        finished = not psro(
            arena.rehearse(answers), replace(inventor, answers=answers), settings
        ).stopped
    except ModelError:
        finished = False
    return 0 if finished else most - sum(answers.recalled.values())


def count_most_psro_calls(
    game: DialogueGame, settings: SteerConfig, per_ruling: int, swap: bool = False
) -> int:
    """Count the most calls that a search from nothing takes.

    The largest table, every candidate played to the end, and the oracle's own questions; plays are
    doubled at the first iteration, as if no response had been new, and then every iteration
    responds to other solutions too; or they are never doubled, whichever costs more.
    """
    rounds = settings.iterations
    plays = settings.plays
    seats = game.domain.players
    # calls of an oracle for one seat at most, and candidates that it plays
    asked = 1
    tried = settings.candidates
    if settings.oracle == "better":
        asked = settings.candidates
    elif settings.oracle == "categorical":
        asked = 1 + _CATEGORIES
        tried = _CATEGORIES * settings.candidates

    def count_talk(first: int) -> int:
        """Count the calls of one play from message `first` on."""
        return sum(
            1 + per_ruling * game.rules_after(message)
            for message in range(first + 1, game.messages + 1)
        )

    def count(rounds: int, plays: int, candidates: int) -> int:
        """Count the calls of a table to which `rounds` have added, and of plays of candidates for
        every seat."""
        size = len(game.manners.options) + rounds * (seats if swap else 1)
        profiles = comb(size + seats - 1, seats) if swap else size**seats
        # A message depends on the manners of those who have spoken.
        table = sum(
            int(min(size ** min(message, seats), profiles))
            * (1 + per_ruling * game.rules_after(message))
            for message in range(1, game.messages + 1)
        )
        return plays * table + candidates * sum(
            count_talk(0 if swap else seat) for seat in range(seats)
        )

    once = count(rounds, plays, rounds * tried * plays)
    later = (1 + _OTHERS) * (rounds - 1) * tried * 2 * plays
    doubled = count(rounds - 1, 2 * plays, tried * plays + later)
    return max(once, doubled) + (1 + (rounds - 1) * (1 + _OTHERS)) * asked * seats
