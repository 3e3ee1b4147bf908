"""What becomes of the strategies when they multiply by their payoffs: ecological dynamics and the Moran process.

Ecological: generation after generation a strategy's share grows in proportion to what it earns against all shares
(Axelrod, The Evolution of Cooperation, 1984, chapter 2), that is the discrete replicator. Moran: a finite population,
see `theory.moran`. Both use the mean payoff a round of row against column over both seats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.studies.tournament.standings import Standings
from bestresponse.theory.dynamics.moran import count_takeovers
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["Ecology", "MoranRuns", "ecology", "moran_runs"]

GENERATIONS = 1_000
RUNS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Ecology:
    """Shares of every strategy after each recorded generation."""

    names: tuple[str, ...]
    generations: Array
    shares: Array


@dataclass(frozen=True, slots=True)
class MoranRuns:
    """How often each strategy took over a population that began with equal numbers of all; `undecided` runs ended
    before anyone had."""

    names: tuple[str, ...]
    wins: tuple[int, ...]
    runs: int
    population: int
    undecided: int


def complete(standings: Standings) -> tuple[tuple[str, ...], Array]:
    """The strategies whose matches against each other were all played, and their payoffs."""
    known = ~np.isnan(standings.between)
    places = [place for place in range(len(known)) if known[place, place]]
    while places:
        gaps = [(~known[np.ix_([place], places)]).sum() for place in places]
        if not any(gaps):
            break
        places.pop(int(np.argmax(gaps)))
    names = tuple(standings.config.entries[place].name for place in places)
    return names, standings.between[np.ix_(places, places)]


def ecology(standings: Standings, generations: int = GENERATIONS) -> Ecology | None:
    """From equal shares; None where fewer than two strategies have met."""
    names, payoffs = complete(standings)
    if len(names) < 2:
        return None
    game = NormalForm.bimatrix(payoffs, payoffs.T)
    path = replicator(game, steps=generations, form="discrete", one_population=True, stride=max(1, generations // 100))
    return Ecology(names, np.asarray(path.times), np.asarray(path.strategies[0]))


def moran_runs(standings: Standings, runs: int = RUNS) -> MoranRuns | None:
    """The process from equal numbers (the first strategies get those that are over), `runs` times."""
    names, payoffs = complete(standings)
    population = standings.config.moran
    if len(names) < 2 or not population:
        return None
    counts = [population // len(names) + (k < population % len(names)) for k in range(len(names))]
    seed = split(standings.config.seed, "moran")
    found = count_takeovers(payoffs, counts, runs=runs, seed=seed)
    return MoranRuns(names, found.wins, runs, population, found.undecided)
