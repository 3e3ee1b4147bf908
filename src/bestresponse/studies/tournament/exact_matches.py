"""The matches that need nobody to be asked: every pair of automata, worked out or played in bulk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.entrants import Entrant
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.reduce import behave_alike
from bestresponse.theory.repeated.round_robin import TournamentResult, exact_round_robin, play_round_robin

__all__ = ["Computed", "compute"]


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """`totals[i, j]` (first, second) of i in the first seat and j in the second; NaN where somebody must be asked.
    `spread` is the standard deviation over repetitions, None for expected values."""

    totals: Array
    spread: Array | None
    method: str


def compute(config: TournamentConfig, entrants: Sequence[Entrant]) -> Computed:
    """Every match between automata."""
    count = len(entrants)
    places = [place for place, entrant in enumerate(entrants) if entrant.automata is not None]
    totals = np.full((count, count, 2), np.nan)
    if not places:
        return Computed(totals, None, "played")
    pairs = [entrant.automata for entrant in entrants if entrant.automata is not None]
    found = _round_robin(config, pairs)
    grid = np.ix_(places, places)
    totals[grid] = found.totals
    spread = None
    if found.spread is not None:
        spread = np.full_like(totals, np.nan)
        spread[grid] = found.spread
    return Computed(totals, spread, found.method)


def _round_robin(config: TournamentConfig, pairs: list[tuple[Automaton, Automaton]]) -> TournamentResult:
    """Where a strategy differs by seat, all of both seats meet, and the matches first against second are kept."""
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    if all(behave_alike(a, b) for a, b in pairs):
        return _matches(config, first)
    found = _matches(config, first + second)
    part = (slice(None, len(first)), slice(len(first), None))
    spread = None if found.spread is None else found.spread[part]
    return TournamentResult(
        found.names[: len(first)], found.totals[part], spread, found.rules, found.repetitions, found.method
    )


def _matches(config: TournamentConfig, automata: list[Automaton]) -> TournamentResult:
    form = config.game.form
    if config.repetitions is None:
        return exact_round_robin(automata, form, config.rules)
    seed = split(config.seed, "matches")
    return play_round_robin(automata, form, config.rules, repetitions=config.repetitions, seed=seed)
