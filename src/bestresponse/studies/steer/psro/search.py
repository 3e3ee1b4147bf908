"""Prompt-space response oracles: grow every speaker's set of manners by best responses to the present solution.

Each iteration estimates the full joint payoff table over the prompts found so far, solves it, and asks an oracle for
a better response of every seat (Lanctot et al. 2017; Gemp et al. 2024, algorithm 5). It ends when no seat's response is
new, or after the given number of iterations. Because a table of few plays can show an equilibrium that is none, the
first time that no response is new is only believed after the plays of every profile were doubled. Then the oracles are
asked for responses to the other solutions that the plays do not rule out: only if these bring nothing new, it ends.

In an arena whose speakers swap seats the game is symmetric: all of them have the same prompts, and what one of them
finds is a prompt of all.

A search that is stopped (by a budget, by a model that fails) ends with the last whole table: the present one with fewer
plays, or the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from bestresponse.core.errors import ModelError, UsageError
from bestresponse.core.seeds import split
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.steer.psro.meta_game import MetaGame, MetaSolution, estimate, intervals, plausible, solve_meta
from bestresponse.studies.steer.psro.oracles import Inventor, Response, Search, respond
from bestresponse.studies.steer.psro.plays import Arena

__all__ = ["OTHERS", "Iteration", "Progress", "PsroResult", "PsroSettings", "psro", "search"]

OTHERS = 2
"""How many other plausible solutions are responded to before a search is closed."""

_FEWEST_PLAYS = 2


@dataclass(frozen=True, slots=True)
class PsroSettings:
    """How the search is made: iterations at most, plays a profile, candidates an oracle call, oracle, meta-solver."""

    iterations: int = 4
    plays: int = 20
    candidates: int = 3
    oracle: str = "shotgun"
    meta: str = "nash"
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """The prompts, their solution, and what the oracles answered to it (empty after the last table)."""

    prompts: tuple[tuple[str, ...], ...]
    solution: MetaSolution
    responses: tuple[Response, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PsroResult:
    """The last table with its solution and intervals, and the way there.

    `closed`: no response was new; `stopped`: why the search was cut short (empty: it was not).
    """

    game: MetaGame
    solution: MetaSolution
    values: tuple[Interval, ...]
    masses: tuple[tuple[Interval, ...], ...]
    history: tuple[Iteration, ...]
    closed: bool
    stopped: str = ""

    @property
    def prompts(self) -> tuple[tuple[str, ...], ...]:
        """The prompts of every speaker."""
        return self.game.prompts


def psro(
    arena: Arena,
    inventor: Inventor,
    settings: PsroSettings,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> PsroResult:
    """Search from the domain's own manners, and state how sure the solution is."""
    found = search(arena, inventor, settings, on_iteration)
    rng = np.random.default_rng(split(settings.seed, "psro intervals"))
    span = (arena.game.domain.low, arena.game.domain.high)
    values, masses = intervals(found.game, settings.meta, rng=rng, span=span)
    return PsroResult(found.game, found.solution, values, masses, tuple(found.history), found.closed, found.stopped)


def search(
    arena: Arena,
    inventor: Inventor,
    settings: PsroSettings,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> Progress:
    """Search until it is closed, used up or stopped; ModelError where it was stopped before there was a whole table."""
    if not arena.manners.new:
        raise UsageError(f"the actions {arena.manners.name!r} cannot be added to; choose others with --actions")
    progress = Progress(arena, inventor, settings)
    try:
        while progress.step(on_iteration):
            pass
    except ModelError as error:
        if not progress.cut_short(str(error)):
            raise
    return progress


class Progress:
    """A search on its way: the prompts so far, the last whole table with its solution, and how it came there."""

    game: MetaGame
    solution: MetaSolution

    def __init__(self, arena: Arena, inventor: Inventor, settings: PsroSettings) -> None:
        self.arena, self.inventor, self.settings = arena, inventor, settings
        self.prompts = (arena.manners.options,) * arena.game.domain.players
        self.plays = settings.plays
        self.history: list[Iteration] = []
        self.closed = False
        self.stopped = ""

    def step(self, on_iteration: Callable[[int], None]) -> bool:
        """One iteration; whether there is another one."""
        on_iteration(len(self.history))
        self._solve(self.plays)
        if len(self.history) == self.settings.iterations:
            self.history.append(Iteration(self.prompts, self.solution))
            return False
        responses = self._respond(self.solution)
        if not _new(responses) and self.plays > self.settings.plays:
            responses += self._respond_to_others()
            self.closed = not _new(responses)
        elif not _new(responses):
            self.plays *= 2
        self.history.append(Iteration(self.prompts, self.solution, responses))
        self.prompts = _grown(self.prompts, responses, self.arena.swap)
        return not self.closed

    def _respond(self, solution: MetaSolution) -> tuple[Response, ...]:
        """What the oracle answers for every seat."""
        how = (self.plays, self.settings.candidates, self.settings.seed, len(self.history))
        return tuple(
            respond(Search(self.arena, self.inventor, seat, self.prompts, solution, *how), self.settings.oracle)
            for seat in range(len(self.prompts))
        )

    def _respond_to_others(self) -> tuple[Response, ...]:
        """What it answers to the other plausible solutions, as far as the first to which something is new."""
        rng = np.random.default_rng(split(self.settings.seed, "psro others", len(self.history)))
        found: tuple[Response, ...] = ()
        for solution in plausible(self.game, self.settings.meta, OTHERS, rng=rng):
            found += self._respond(solution)
            if _new(found):
                break
        return found

    def cut_short(self, why: str) -> bool:
        """End with the present prompts if all their profiles were played, else with the table before, if any."""
        self.stopped = why
        whole = min(self.arena.whole_plays(list(product(*self.prompts))), self.plays)
        if whole >= _FEWEST_PLAYS and (not self.history or self.history[-1].prompts != self.prompts):
            self._solve(whole)
            self.history.append(Iteration(self.prompts, self.solution))
        return bool(self.history)

    def _solve(self, plays: int) -> None:
        self.game = estimate(self.arena, self.prompts, plays)
        self.solution = solve_meta(self.game, self.settings.meta)


def _new(responses: tuple[Response, ...]) -> bool:
    return any(response.best is not None for response in responses)


def _grown(
    prompts: tuple[tuple[str, ...], ...], responses: tuple[Response, ...], shared: bool
) -> tuple[tuple[str, ...], ...]:
    """The prompts and what was found for each seat; where they are shared, what was found for any."""
    best = [(one.seat, one.best.manner) for one in responses if one.best is not None]
    return tuple(
        tuple(dict.fromkeys((*own, *(manner for finder, manner in best if shared or finder == seat))))
        for seat, own in enumerate(prompts)
    )
