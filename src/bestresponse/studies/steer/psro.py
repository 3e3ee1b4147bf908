"""Prompt-space response oracles: grow every speaker's set of manners by best responses to the present solution.

Each iteration estimates the full joint payoff table over the prompts found so far, solves it, and asks an oracle for
a better response of every seat (Lanctot et al. 2017; Gemp et al. 2024, algorithm 5). It ends when no seat's response is
new, or after the given number of iterations. Because a table of few plays can show an equilibrium that is none, the
first time that no response is new is only believed after the plays of every profile were doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.seeds import split
from bestresponse.report.interval import Interval
from bestresponse.studies.steer.psro_meta import MetaGame, MetaSolution, estimate, intervals, solve_meta
from bestresponse.studies.steer.psro_oracles import Inventor, Response, Search, respond
from bestresponse.studies.steer.psro_plays import Arena

__all__ = ["Iteration", "PsroResult", "PsroSettings", "psro"]


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
    """The last table with its solution and intervals, and the way there; `closed`: no response was new."""

    game: MetaGame
    solution: MetaSolution
    values: tuple[Interval, ...]
    masses: tuple[tuple[Interval, ...], ...]
    history: tuple[Iteration, ...]
    closed: bool

    @property
    def prompts(self) -> tuple[tuple[str, ...], ...]:
        return self.game.prompts


def psro(
    arena: Arena,
    inventor: Inventor,
    settings: PsroSettings,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> PsroResult:
    """Search from the domain's own manners."""
    if not arena.manners.new:
        raise UsageError(f"the actions {arena.manners.name!r} cannot be added to; choose others with --actions")
    prompts = (arena.manners.options,) * arena.game.domain.players
    history: list[Iteration] = []
    closed, plays = False, settings.plays
    while True:
        on_iteration(len(history))
        game = estimate(arena, prompts, plays)
        solution = solve_meta(game, settings.meta)
        if len(history) == settings.iterations:
            history.append(Iteration(prompts, solution))
            break
        responses = _responses(arena, inventor, replace(settings, plays=plays), prompts, solution, len(history))
        history.append(Iteration(prompts, solution, responses))
        if any(response.best is not None for response in responses):
            prompts = _grown(prompts, responses)
        elif plays == settings.plays:
            plays *= 2
        else:
            closed = True
            break
    rng = np.random.default_rng(split(settings.seed, "psro intervals"))
    values, masses = intervals(game, settings.meta, rng=rng)
    return PsroResult(game, solution, values, masses, tuple(history), closed)


def _responses(
    arena: Arena,
    inventor: Inventor,
    settings: PsroSettings,
    prompts: tuple[tuple[str, ...], ...],
    solution: MetaSolution,
    number: int,
) -> tuple[Response, ...]:
    """What the oracle answers for every seat."""
    how = (settings.plays, settings.candidates, settings.seed, number)
    seats = range(len(prompts))
    return tuple(respond(Search(arena, inventor, seat, prompts, solution, *how), settings.oracle) for seat in seats)


def _grown(prompts: tuple[tuple[str, ...], ...], responses: tuple[Response, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        own if response.best is None else (*own, response.best.manner)
        for own, response in zip(prompts, responses, strict=True)
    )
