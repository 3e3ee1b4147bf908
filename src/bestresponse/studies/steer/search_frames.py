"""The frames of a search in prompt space: its solution, and how it came there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.report.frames import Frame, Row, column
from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.steer import session
from bestresponse.studies.steer.meta_game import find_intervals
from bestresponse.studies.steer.oracles import Candidate
from bestresponse.studies.steer.psro import PsroResult


class SolutionRow(TypedDict):
    """How often a player uses a manner at the solution of the search."""

    player: str
    manner: str
    probability: Annotated[Interval, column("", ".3f")]
    payoff: Annotated[Interval, column("payoff of the player", ".3f")]


class IterationRow(TypedDict):
    """What one iteration brought a player."""

    iteration: int
    player: str
    gain: Annotated[float, column("gain over the neutral manner", ".3f")]
    new_prompt_mass: Annotated[float, column("equilibrium mass of new prompts", ".3f")]


class MannerRow(TypedDict):
    """How often a player uses a manner at the equilibrium of one iteration.

    The equilibrium is over all manners that were known then.
    """

    iteration: int
    player: str
    manner: str
    probability: Annotated[float, column("", ".3f")]
    entered: Annotated[int, column(help="the iteration in which the manner was first in the table")]


class ProfileRow(TypedDict):
    """The mean payoff of one player in one profile of manners."""

    player: str
    first: Annotated[str, column("player 1 \\ player 2")]
    others: str
    plays: int
    payoff: Annotated[float, column("", ".3f")]
    error: Annotated[float | None, column("standard error", ".3f")]
    shown: str


class CandidateRow(TypedDict):
    """A manner that was tried or rejected."""

    iteration: int
    player: str
    manner: str
    score: Annotated[float | None, column("", ".3f")]
    plays: int
    outcome: str


def measure_psro(results: session.SteerResults, psro: PsroResult) -> dict[str, Frame[Row]]:
    """Build the frames of a search in prompt space."""
    players = [f"player {seat + 1}" for seat in range(len(psro.prompts))]
    return {
        "solution": Frame(SolutionRow, list(_list_solution(results, psro, players))),
        "iterations": Frame(IterationRow, list(_list_iterations(psro, players))),
        "manners": Frame(MannerRow, list(_list_manners(psro, players))),
        "profiles": Frame(ProfileRow, list(_list_profiles(psro, players))),
        "candidates": Frame(CandidateRow, list(_list_candidates(psro, players))),
    }


def _list_solution(
    results: session.SteerResults,
    psro: PsroResult,
    players: Sequence[str],
) -> Iterator[SolutionRow]:
    rng = np.random.default_rng(split(results.config.seed, "psro intervals"))
    span = (results.domain.low, results.domain.high)
    values, masses = find_intervals(psro.game, results.config.meta, rng=rng, span=span)
    for seat, player in enumerate(players):
        for manner, mass in zip(psro.prompts[seat], masses[seat], strict=True):
            yield SolutionRow(
                player=player,
                manner=manner,
                probability=mass,
                payoff=values[seat],
            )


def _list_iterations(psro: PsroResult, players: Sequence[str]) -> Iterator[IterationRow]:
    """Say what every solution on the way earns among neutral partners, by the last table."""
    alone = psro.game.alone
    for number, step in enumerate(psro.history):
        for seat, player in enumerate(players):
            start = psro.history[0].prompts[seat]
            own_manners = (*alone[:seat], slice(None), *alone[seat + 1 :])
            payoffs = psro.game.means[seat][own_manners]
            earned = 0.0
            new = 0.0
            mix = step.solution.marginals[seat].tolist()
            for manner, chance in zip(step.prompts[seat], mix, strict=True):
                earned += chance * payoffs[psro.prompts[seat].index(manner)]
                if manner not in start:
                    new += chance
            gain = float(earned - payoffs[alone[seat]])
            yield IterationRow(
                iteration=number,
                player=player,
                gain=gain,
                new_prompt_mass=new,
            )


def _list_candidates(psro: PsroResult, players: Sequence[str]) -> Iterator[CandidateRow]:
    """List every manner that an oracle tried or rejected."""
    for number, step in enumerate(psro.history):
        for response in step.responses:
            rejected = [Candidate(name, math.nan, math.nan, 0) for name in response.rejected]
            for candidate in (*response.tried, *rejected):
                outcome = "not better" if candidate.plays else "rejected"
                if candidate == response.best:
                    outcome = "added"
                yield CandidateRow(
                    iteration=number,
                    player=players[response.seat],
                    manner=candidate.manner,
                    score=candidate.score if candidate.plays else None,
                    plays=candidate.plays,
                    outcome=outcome,
                )


def _list_manners(psro: PsroResult, players: Sequence[str]) -> Iterator[MannerRow]:
    """List every iteration's equilibrium over all manners, as in the published figure 3."""
    entered: dict[tuple[str, str], int] = {}
    for number, step in enumerate(psro.history):
        seats = zip(players, step.prompts, step.solution.marginals, strict=True)
        for player, manners, mix in seats:
            for manner, probability in zip(manners, mix.tolist(), strict=True):
                yield MannerRow(
                    iteration=number,
                    player=player,
                    manner=manner,
                    probability=probability,
                    entered=entered.setdefault((player, manner), number),
                )


def _list_profiles(psro: PsroResult, players: Sequence[str]) -> Iterator[ProfileRow]:
    errors = psro.game.errors
    counts = psro.game.counts
    for seat, player in enumerate(players):
        for profile in np.ndindex(psro.game.means.shape[1:]):
            mean = float(psro.game.means[seat][profile])
            error = float(errors[seat][profile])
            first, *others = (prompts[k] for prompts, k in zip(psro.prompts, profile, strict=True))
            shown = f"{mean:.2f} ± {error:.2f}" if math.isfinite(error) else f"{mean:.2f}"
            yield ProfileRow(
                player=player,
                first=first,
                others=", ".join(others),
                plays=int(counts[profile]),
                payoff=mean,
                error=error if math.isfinite(error) else None,
                shown=shown,
            )
