"""Prompt-space response oracles: grow every speaker's set of manners by best responses to the present solution.

Each iteration estimates the full joint payoff table over the prompts found so far, solves it, and asks an oracle for
a better response of every seat (Lanctot et al. 2017; Gemp et al. 2024, algorithm 5). It ends when no seat's response is
new, or after the given number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    closed = False
    for number in range(settings.iterations + 1):
        on_iteration(number)
        game = estimate(arena, prompts, settings.plays)
        solution = solve_meta(game, settings.meta)
        if number == settings.iterations:
            history.append(Iteration(prompts, solution))
            break
        responses = tuple(
            respond(_search(arena, inventor, settings, seat, prompts, solution, number), settings.oracle)
            for seat in range(len(prompts))
        )
        history.append(Iteration(prompts, solution, responses))
        if all(response.best is None for response in responses):
            closed = True
            break
        prompts = tuple(
            own if response.best is None else (*own, response.best.manner)
            for own, response in zip(prompts, responses, strict=True)
        )
    rng = np.random.default_rng(split(settings.seed, "psro intervals"))
    values, masses = intervals(game, settings.meta, rng=rng)
    return PsroResult(game, solution, values, masses, tuple(history), closed)


def _search(
    arena: Arena,
    inventor: Inventor,
    settings: PsroSettings,
    seat: int,
    prompts: tuple[tuple[str, ...], ...],
    solution: MetaSolution,
    number: int,
) -> Search:
    return Search(
        arena,
        inventor,
        seat,
        prompts,
        solution,
        settings.plays,
        settings.candidates,
        settings.seed,
        number,
    )
