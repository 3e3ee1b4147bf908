"""Prompt-space response oracles: grow every speaker's set of manners by best responses to the present solution.

Each iteration estimates the full joint payoff table over the prompts so far, solves it, and asks an oracle for a better
response of every seat (Lanctot et al. 2017; Gemp et al. 2024, algorithm 5):

    shotgun       `candidates` new manners at once, the best is taken                              (algorithm 1)
    better        one new manner after another until one beats the present value                  (algorithm 2)
    trajectory    the manners so far are shown ranked by score, new ones asked for in rising order (algorithm 3)
    categorical   new categories of manners, ranked by their mean score; the best one of the best  (algorithm 4)

Candidates are played against the others' present mixture on common plays, in rounds: whoever is surely worse than the
leader drops out and costs no further play. Manners that are known already are rejected before they cost anything.

The search ends when no seat's response is new, or after the given number of iterations. Because a table of few plays
can show an equilibrium that is none, the first time that no response is new is only believed after the plays of every
profile were doubled. Then the oracles are asked for responses to the other solutions that the plays do not rule out:
only if these bring nothing new, it ends. In an arena whose speakers swap seats all of them have the same prompts, and
what one of them finds is a prompt of all. A search that is stopped (by a budget, by a model that fails) ends with the
last whole table: the present one with fewer plays, or the one before.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix H.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb

import numpy as np

from bestresponse.core.errors import ModelError, UsageError
from bestresponse.core.player import Reading
from bestresponse.core.seeds import generator, split
from bestresponse.games.dialogue.game import DialogueGame
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Request
from bestresponse.studies.steer.building import AnswerStore
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.fresh import FreshPlays
from bestresponse.studies.steer.meta_game import (
    MetaGame,
    MetaSolution,
    Profile,
    PromptArena,
    estimate,
    find_plausible,
    solve_meta,
)
from bestresponse.theory.games.normal_form import Array

_OTHERS = 2
"""How many other plausible solutions are responded to before a search is closed."""
_FEWEST_PLAYS = 2
_LONGEST = 40
_FIRST_ROUND = 5
_CATEGORIES = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A manner and what it earned against the others' mixture: mean, standard error, plays it got."""

    manner: str
    score: float
    error: float
    plays: int
    category: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What an oracle found for one seat: the best candidate (None: nothing beats the present value), and all tried."""

    seat: int
    best: Candidate | None
    tried: tuple[Candidate, ...]
    rejected: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """The prompts, their solution, and what the oracles answered to it (empty after the last table)."""

    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    responses: tuple[Response, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PsroResult:
    """The last table with its solution, and the way there.

    `closed`: no response was new; `stopped`: why the search was cut short (empty: it was not).
    """

    game: MetaGame
    solution: MetaSolution
    history: tuple[Iteration, ...]
    closed: bool
    stopped: str = ""

    @property
    def prompts(self) -> tuple[tuple[str, ...], ...]:
        """The prompts of every speaker."""
        return self.game.prompts


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
        count: int,
        known: list[str],
        *,
        what: str = "manners",
        ranked: bool = False,
        purpose: str = "",
        draw: int = 0,
    ) -> list[str]:
        """Return up to `count` proposals, as the model wrote them."""
        content = TEXTS.fill(
            "dialogue_invent",
            task=self.task,
            manners="\n".join(f"- {manner}" for manner in known),
            ranked=", from the worst to the best" if ranked else "",
            order=" Order them from the worst to the best." if ranked else "",
            count=count,
            what=what,
            purpose=purpose,
        )
        prompt = (Message("system", TEXTS.text("dialogue_inventor")), Message("user", content))
        request = Request(prompt, max_tokens=200, temperature=self.temperature, replicate=draw)
        entry = self.answers.ask_model("invent", self.model, request, lambda reply: (reply.text[:5000], Reading()))
        return _list_names(entry.text or "")[:count]


def _list_names(text: str) -> list[str]:
    """List the names in a JSON list, or one per line where there is no list."""
    listed = re.search(r"\[.*?\]", text, re.S)
    if listed:
        try:
            return [str(name) for name in json.loads(listed[0])]
        except ValueError:
            pass
    return [re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line) for line in text.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True, eq=False)
class Oracle:
    """One oracle call: for which seat, against what, and how many plays and candidates it may take."""

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
        """Play the candidates against the others' mixture, dropping those that are surely behind."""
        for manner in manners:
            self.arena.learn(manner)
        rows: dict[str, Array] = {manner: np.zeros(0) for manner in manners}
        alive, done, step = list(manners), 0, min(_FIRST_ROUND, self.plays)
        while alive and done < self.plays:
            numbers = range(done, min(self.plays, done + step))
            for manner in alive:
                wanted = [(self._draw_profile(manner, number), number) for number in numbers]
                earned = self.arena.sample_many(wanted)[:, self.seat]
                rows[manner] = np.concatenate([rows[manner], earned[np.isfinite(earned)]])
            done, step = numbers.stop, 2 * step
            alive = _drop_losers({manner: rows[manner] for manner in alive})
        return [replace(_rate(manner, values), category=category) for manner, values in rows.items() if len(values)]

    def propose_and_score(
        self, known: list[str], offered: list[str], category: str = ""
    ) -> tuple[list[Candidate], list[str]]:
        """Score the offers that are new, in one spelling, and return the others: duplicates, empty, overlong ones."""
        taken = {tidy(manner) for manner in known}
        fresh, rejected = [], []
        for offer in offered:
            name = tidy(offer)
            if not name or name in taken or len(name) > _LONGEST:
                rejected.append(offer)
                continue
            taken.add(name)
            fresh.append(name)
        return self.score(fresh, category), rejected

    def _draw_profile(self, manner: str, number: int) -> Profile:
        """Seat `manner` here and draw the others from the solution: the same draw for every candidate."""
        others = self.solution.joint.sum(axis=self.seat, keepdims=True)
        flat = others.ravel().clip(0)
        drawn = generator(self.seed, "others", self.round, number).choices(range(flat.size), flat.tolist())[0]
        places = np.unravel_index(drawn, others.shape)
        return tuple(
            manner if seat == self.seat else self.prompts[seat][int(place)] for seat, place in enumerate(places)
        )


def _drop_losers(rows: dict[str, Array]) -> list[str]:
    """List those whose mean is not more than three standard errors (of the difference) behind the best."""
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
    propose, count, draw = oracle.inventor.propose, oracle.candidates, oracle.round
    tried: list[Candidate] = []
    rejected: list[str] = []
    match kind:
        case "shotgun":
            tried, rejected = oracle.propose_and_score(known, propose(count, known, draw=draw))
        case "trajectory":
            order = [candidate.manner for candidate in sorted(present, key=lambda candidate: candidate.score)]
            tried, rejected = oracle.propose_and_score(known, propose(count, order, ranked=True, draw=draw))
        case "better":
            for attempt in range(count):
                seen = known + [candidate.manner for candidate in tried]
                scored, refused = oracle.propose_and_score(seen, propose(1, seen, draw=draw * count + attempt))
                tried, rejected = tried + scored, rejected + refused
                if tried and tried[-1].score > value:
                    break
        case "categorical":
            categories = propose(_CATEGORIES, [oracle.arena.manners.name], what="categories of manners", draw=draw)
            for category in dict.fromkeys(map(tidy, categories)):
                seen = known + [candidate.manner for candidate in tried]
                offered = propose(count, seen, purpose=f" of the category {category}", draw=draw)
                scored, refused = oracle.propose_and_score(seen, offered, category)
                tried, rejected = tried + scored, rejected + refused
        case _:
            raise UsageError(f"there is no oracle named {kind!r}")
    groups: dict[str, list[Candidate]] = {}  # by category; all together where there are none
    for candidate in tried:
        groups.setdefault(candidate.category, []).append(candidate)
    group = max(groups.values(), key=lambda group: float(np.mean([one.score for one in group])), default=[])
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
        raise UsageError(f"the actions {arena.manners.name!r} cannot be added to; choose others with --actions")
    progress = _Progress(arena, inventor, settings)
    try:
        while progress.step(on_iteration):
            pass
    except ModelError as error:
        if not progress.cut_short(str(error)):
            raise
    return PsroResult(progress.game, progress.solution, tuple(progress.history), progress.closed, progress.stopped)


class _Progress:
    """A search on its way: the prompts so far, the last whole table with its solution, and how it came there."""

    game: MetaGame
    solution: MetaSolution

    def __init__(self, arena: PromptArena, inventor: Inventor, settings: SteerConfig) -> None:
        self.arena, self.inventor, self.settings = arena, inventor, settings
        self.prompts = (arena.manners.options,) * arena.game.domain.players
        self.plays = settings.plays
        self.history: list[Iteration] = []
        self.closed = False
        self.stopped = ""

    def step(self, on_iteration: Callable[[int], None]) -> bool:
        """Make one iteration; return whether there is another one."""
        on_iteration(len(self.history))
        self._solve(self.plays)
        if len(self.history) == self.settings.iterations:
            self.history.append(Iteration(self.prompts, self.solution))
            return False
        responses = self._respond(self.solution)
        if not _list_new(responses) and self.plays > self.settings.plays:
            rng = np.random.default_rng(split(self.settings.seed, "psro others", len(self.history)))
            for solution in find_plausible(self.game, self.settings.meta, _OTHERS, rng=rng):
                responses += self._respond(solution)
                if _list_new(responses):
                    break
            self.closed = not _list_new(responses)
        elif not _list_new(responses):
            self.plays *= 2
        self.history.append(Iteration(self.prompts, self.solution, responses))
        self.prompts = tuple(
            tuple(
                dict.fromkeys((*own, *(m for finder, m in _list_new(responses) if self.arena.swap or finder == seat)))
            )
            for seat, own in enumerate(self.prompts)
        )
        return not self.closed

    def _respond(self, solution: MetaSolution) -> tuple[Response, ...]:
        """Ask the oracle for every seat."""
        how = (self.plays, self.settings.candidates, self.settings.seed, len(self.history))
        return tuple(
            find_response(Oracle(self.arena, self.inventor, seat, self.prompts, solution, *how), self.settings.oracle)
            for seat in range(len(self.prompts))
        )

    def cut_short(self, why: str) -> bool:
        """End with the present prompts if all their profiles were played, else with the table before, if any."""
        self.stopped = why
        whole = min(self.arena.count_whole_plays(list(product(*self.prompts))), self.plays)
        if whole >= _FEWEST_PLAYS and (not self.history or self.history[-1].prompts != self.prompts):
            self._solve(whole)
            self.history.append(Iteration(self.prompts, self.solution))
        return bool(self.history)

    def _solve(self, plays: int) -> None:
        self.game = estimate(self.arena, self.prompts, plays)
        self.solution = solve_meta(self.game, self.settings.meta)


def _list_new(responses: tuple[Response, ...]) -> list[tuple[int, str]]:
    """List the manners that were found, each with the seat that found it."""
    return [(response.seat, response.best.manner) for response in responses if response.best is not None]


def play_held_out(result: PsroResult, arena: PromptArena, numbers: Sequence[int], seed: int) -> FreshPlays:
    """Play the solution in an arena of games that the search has not seen.

    A guided speaker draws a manner from its part of the solution and keeps to it, the others stay neutral; beside it
    stands the same talk with everybody neutral, on the same game, the same draws of the texts.
    """
    for manner in (manner for prompts in result.prompts for manner in prompts):
        arena.learn(manner)
    neutral, seats = arena.manners.neutral, range(len(result.prompts))

    def draw_profile(seat: int, number: int) -> Profile:
        mix = result.solution.marginals[seat].clip(0)
        drawn = generator(seed, "held out", seat, number).choices(result.prompts[seat], mix.tolist())[0]
        return tuple(drawn if place == seat else neutral for place in seats)

    guided = [arena.sample_many([(draw_profile(seat, number), number) for number in numbers]) for seat in seats]
    return FreshPlays(play_neutral(arena, numbers), np.array(guided))


def play_neutral(arena: PromptArena, numbers: Sequence[int]) -> Array:
    """Play the games with everybody in the neutral manner; of those held out this is done last."""
    profile = (arena.manners.neutral,) * arena.game.domain.players
    return arena.sample_many([(profile, number) for number in numbers])


def weigh_table(result: PsroResult) -> FreshPlays:
    """Compare the solution with neutral talk on the plays of the table, each manner weighted by its probability."""
    samples = result.game.samples
    alone = result.game.alone or ()
    guided = []
    for seat, mix in enumerate(result.solution.marginals):
        rows = np.array([samples[tuple(k if s == seat else a for s, a in enumerate(alone))] for k in range(len(mix))])
        used = mix > 1e-12
        guided.append(np.tensordot(mix[used] / mix[used].sum(), rows[used], axes=1))
    return FreshPlays(samples[alone], np.array(guided))


def count_missing_psro_calls(arena: PromptArena, inventor: Inventor, settings: SteerConfig) -> int:
    """Count the most calls that a search still takes: 0 where everything is on record.

    What is on record is not asked again, so the search is rehearsed with the record alone, and the answers that it uses
    come off.
    """
    most = count_most_psro_calls(arena.game, settings, arena.cast.referee_calls, arena.swap)
    answers = arena.answers.rehearse()
    try:
        finished = not psro(arena.rehearse(answers), replace(inventor, answers=answers), settings).stopped
    except ModelError:
        finished = False
    return 0 if finished else most - sum(answers.recalled.values())


def count_most_psro_calls(game: DialogueGame, settings: SteerConfig, per_ruling: int, swap: bool = False) -> int:
    """Count the most calls that a search from nothing takes.

    The largest table, every candidate played to the end, and the oracle's own questions; plays are doubled at the first
    iteration, as if no response had been new, and then every iteration responds to other solutions too; or they are
    never doubled, whichever costs more.
    """
    rounds, plays, seats = settings.iterations, settings.plays, game.domain.players
    asked, tried = 1, settings.candidates  # calls of an oracle for one seat at most, and candidates that it plays
    if settings.oracle == "better":
        asked = settings.candidates
    elif settings.oracle == "categorical":
        asked, tried = 1 + _CATEGORIES, _CATEGORIES * settings.candidates

    def count_talk(first: int) -> int:
        """Count the calls of one play from message `first` on."""
        return sum(1 + per_ruling * game.rules_after(said) for said in range(first + 1, game.messages + 1))

    def count(rounds: int, plays: int, candidates: int) -> int:
        """Count the calls of a table to which `rounds` have added, and of plays of candidates for every seat."""
        size = len(game.manners.options) + rounds * (seats if swap else 1)
        profiles = comb(size + seats - 1, seats) if swap else size**seats
        # A message depends on the manners of those who have spoken.
        table = sum(
            int(min(size ** min(said, seats), profiles)) * (1 + per_ruling * game.rules_after(said))
            for said in range(1, game.messages + 1)
        )
        return plays * table + candidates * sum(count_talk(0 if swap else seat) for seat in range(seats))

    once = count(rounds, plays, rounds * tried * plays)
    later = (1 + _OTHERS) * (rounds - 1) * tried * 2 * plays
    doubled = count(rounds - 1, 2 * plays, tried * plays + later)
    return max(once, doubled) + (1 + (rounds - 1) * (1 + _OTHERS)) * asked * seats
