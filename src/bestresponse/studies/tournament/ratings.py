"""Ratings of those who took part, beside the mean payoff, which depends on who else was entered.

A task is an opponent in one of the games; scores are payoffs per round, as shares of the range of
payoffs of the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.report.frames import Value, column
from bestresponse.report.stats.ratings import average_by_nash, count_wins, rate_wins
from bestresponse.report.stats.statistics import Floats, interval_of_draws
from bestresponse.studies.tournament.standings import Standings
from bestresponse.theory.dynamics.alpha_rank import alpha_rank
from bestresponse.theory.games.normal_form import NormalForm

_MOST_RATED = 100
_DRAWS = 300


class RatingRow(TypedDict):
    """One who took part, rated in three ways; those who lack matches are left out."""

    strategy: str
    bradley_terry: Annotated[Value, column("Bradley-Terry", ".0f")]
    """Elo rating by who earns more against the same opponent; where plays are sampled, with 95 %
    interval"""
    nash_averaging: Annotated[float, column("Nash averaging", ".3f")]
    """what is earned less than by the best against the same opponent, a share of the range of
    payoffs; opponents weigh as they separate best, and a copy of a player changes nothing"""
    alpha_rank: Annotated[float | None, column("alpha-Rank", ".1%")]
    """time that an evolving population spends at the strategy; one game only"""


def list_ratings(found: Sequence[Standings]) -> Iterator[RatingRow]:
    """Yield everybody who met all others in every game, the best by Bradley-Terry first."""
    names = found[0].names
    for one in found:
        complete, _ = one.complete
        names = [name for name in names if name in complete]
    if not 2 <= len(names) <= _MOST_RATED:
        return
    scores = np.hstack([_score(one, names) for one in found])
    ratings = rate_wins(count_wins(scores).sum(axis=0))
    errors = np.hstack([_find_errors(one, names) for one in found])
    drawn = None
    if errors.any() and np.isfinite(errors).all():
        rng = np.random.default_rng(split(found[0].config.seed, "ratings"))
        sampled = scores + errors * rng.standard_normal((_DRAWS, *scores.shape))
        wins = [count_wins(one).sum(axis=0) for one in sampled]
        drawn = rate_wins(np.array(wins))
    averaged = average_by_nash(scores)
    shares: list[float | None] = [None] * len(names)
    if len(found) == 1:
        ranked = alpha_rank(NormalForm.bimatrix(scores, scores.T), one_population=True)
        shares = ranked.probabilities.tolist()
    plays = sum(int(one.plays.sum()) for one in found)
    for place in np.argsort(-ratings, kind="stable"):
        rating: Value = float(ratings[place])
        if drawn is not None:
            rating = interval_of_draws(float(ratings[place]), drawn[:, place], plays)
        yield RatingRow(
            strategy=names[place],
            bradley_terry=rating,
            nash_averaging=float(averaged[place]),
            alpha_rank=shares[place],
        )


def _score(standings: Standings, names: Sequence[str]) -> Floats:
    """Return what everybody earned against everybody as a share of the range of payoffs."""
    places = [standings.names.index(name) for name in names]
    payoffs = standings.config.stage.form.payoffs
    earned = standings.between[np.ix_(places, places)]
    return np.asarray((earned - payoffs.min()) / (np.ptp(payoffs) or 1.0))


def _find_errors(standings: Standings, names: Sequence[str]) -> Floats:
    """Return the standard errors of these scores."""
    places = [standings.names.index(name) for name in names]
    first = standings.errors[..., 0, 0]
    second = standings.errors[..., 1, 1].T
    variances = first if standings.config.seats == "first" else (first + second) / 4
    errors = np.sqrt(variances[np.ix_(places, places)])
    return np.asarray(errors / (np.ptp(standings.config.stage.form.payoffs) or 1.0))
