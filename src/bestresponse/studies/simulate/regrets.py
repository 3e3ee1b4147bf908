"""How far the play was from best replies.

In a table the regret of a seat is, a play on average, what its best single move would have earned
against the others' moves as they were, less what it got; no equilibrium is assumed. It is negative
where varying moves earned more than any single one would have. In a repeated table it is the same
per round. In a tree it is what the best strategy would earn against the others' frequencies, less
what those of all earn. This is external regret: what others did is held fixed, although in a
repeated game they reply. Where the other follows a known strategy, `analysis.costs` says what the
best reply to it earns, replies included. The Nash gap is the sum over seats of what each could gain
by leaving the profile of frequencies alone (NashConv): 0 exactly at an equilibrium.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.theory import Predicted
from bestresponse.analysis.truth import name_answer
from bestresponse.core.errors import InvalidGame
from bestresponse.core.seeds import split
from bestresponse.report.stats.statistics import Floats, Interval, interval_of_draws
from bestresponse.studies.simulate.plays import MoveRow, Plays
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.trees.sequence_form import bin_sums, plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table, uniform_policy

_RESAMPLES = 1000
_RESAMPLES_OF_TREES = 300
_MOST_NODES_RESAMPLED = (
    5000  # each resample values the whole tree: regrets in larger ones have no interval
)


@dataclass(frozen=True, slots=True)
class JudgedSeats:
    """Regrets by seat and the Nash gap, with intervals but for large trees.

    `unseen` places were never reached.
    """

    regrets: Mapping[str, Interval | float]
    gap: Interval | float
    places: int = 1
    unseen: int = 0


def judge_seats(plays: Plays, nearest: Predicted | None = None) -> JudgedSeats | None:
    """Say how far the play was from best replies; None where theory has neither a table nor a tree.

    Where a tree has places that no play came to, the seats are taken to decide there as in the
    equilibrium `nearest`.
    """
    theory = plays.config.theory
    if theory.form is not None:
        return _judge_table(plays, theory.form)
    if theory.tree is not None:
        return _judge_tree(plays, theory.tree, nearest)
    return None


def _judge_table(plays: Plays, form: NormalForm) -> JudgedSeats:
    """Judge a table; whole plays are weighted anew, since the rounds of one are not independent.

    Weights and bounds are as in the interval of a payoff (`bound_mean`), so that both can be read
    alike: two plays without a regret are no proof that there is none.
    """
    cells, weights = _list_rounds(plays, form)
    n = len(plays.repeats)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    draws = np.vstack([np.ones(n), rng.standard_exponential((_RESAMPLES, n))])
    most_lost = [_find_most_lost(form, seat) for seat in range(form.num_players)]
    regrets = {}
    rounds = draws @ weights.sum(axis=1)
    for seat, role in enumerate(form.players):
        gains = _find_gains(form, cells, seat) * weights[:, :, None]
        by_move = draws @ gains.sum(axis=1)
        observed, *drawn = (by_move.max(axis=1) / rounds).tolist()
        # Below 0 only if moves follow the others' moves, as they may from round to round, or by
        # chance.
        least = -most_lost[seat] if plays.rounds > 1 else min(0.0, observed)
        bounds = least, max(most_lost[seat], observed)
        regrets[role] = interval_of_draws(observed, np.array(drawn), n, bounds)

    gaps = []
    for draw in draws:
        drawn_weights = (draw[:, None] * weights).ravel()
        mixes = []
        for seat, size in enumerate(form.shape):
            counts = bin_sums(cells[:, :, seat].ravel(), drawn_weights, size)
            mixes.append(counts / counts.sum())
        gap_drawn = regret(form, mixes).sum()
        gaps.append(float(gap_drawn))
    gap = interval_of_draws(gaps[0], np.array(gaps[1:]), n, (0.0, sum(most_lost)))
    return JudgedSeats(regrets, gap)


def _find_most_lost(form: NormalForm, seat: int) -> float:
    """Return the most that a move of a seat can lose to another one, whatever the others do."""
    ranges = np.ptp(form.payoffs[seat], axis=seat)
    return float(ranges.max())


def _list_rounds(plays: Plays, form: NormalForm) -> tuple[NDArray[np.int64], Floats]:
    """Return the moves by number (plays x rounds x seats), and the weight of every round.

    The weight is 0 if a round was not played.
    """
    cells = np.zeros((len(plays.repeats), plays.rounds, form.num_players), dtype=np.int64)
    weights = np.zeros(cells.shape[:2])
    for row in plays.moves:
        played = (plays.numbers[row["repeat"]], row["turn"] - 1)
        seat = form.players.index(row["seat"])
        cells[*played, seat] = form.actions[seat].index(str(row["move"]))
        weights[played] = plays.config.course.weigh(played[1])
    return cells, weights


def _find_gains(form: NormalForm, cells: NDArray[np.int64], seat: int) -> Floats:
    """For every round, what each move of the seat would have gained over its own.

    The gain is what the move would have earned there, less what the seat got.
    """
    earned = np.moveaxis(form.payoffs[seat], seat, -1)
    others = np.delete(cells, seat, axis=2)
    would: Floats = earned[tuple(np.moveaxis(others, 2, 0))]
    return would - np.take_along_axis(would, cells[:, :, [seat]], axis=2)


def _judge_tree(plays: Plays, tree: Tree, nearest: Predicted | None) -> JudgedSeats | None:
    try:
        form = to_sequence_form(tree)
    except InvalidGame:
        return None
    n = len(plays.repeats)
    numbers = np.array([plays.numbers[row["repeat"]] for row in plays.moves], dtype=np.int64)
    entries = np.array([_find_entry(tree, row) for row in plays.moves])
    assumed = uniform_policy(tree) if nearest is None else policy_from_table(tree, nearest.shares)
    size = len(assumed.probabilities)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    resamples = _RESAMPLES_OF_TREES if tree.num_nodes <= _MOST_NODES_RESAMPLED else 0

    rows = []
    for draw in [np.ones(n), *rng.standard_exponential((resamples, n))]:
        counts = bin_sums(entries, draw[numbers], size)
        frequencies = _find_frequencies(tree, counts, assumed.probabilities)
        rows.append(plan_regrets(form, form.plans(Policy(tree, frequencies))))
    regrets = np.array(rows)
    values = [*regrets.T, regrets.sum(axis=1)]

    ranges = np.ptp(tree.payoffs[tree.leaves], axis=0).tolist()
    metrics: list[Interval | float] = []
    for drawn, most in zip(values, [*ranges, sum(ranges)], strict=True):
        observed = float(drawn[0])
        if resamples:
            metrics.append(interval_of_draws(observed, drawn[1:], n, (0.0, most)))
        else:
            metrics.append(observed)
    *by_seat, gap = metrics

    visits = bin_sums(entries, np.ones(len(entries)), size)
    seen = np.add.reduceat(visits, tree.first_move[:-1])
    return JudgedSeats(
        regrets=dict(zip(tree.players, by_seat, strict=True)),
        gap=gap,
        places=len(tree.infosets),
        unseen=int((seen == 0).sum()),
    )


def _find_entry(tree: Tree, row: MoveRow) -> int:
    """Return the number of a move among all moves of all places of a tree."""
    place = tree.infoset_index[row["seat"], row["place"]]
    move = tree.infosets[place].moves.index(name_answer(row["move"]))
    return int(tree.first_move[place]) + move


def _find_frequencies(tree: Tree, counts: Floats, elsewhere: Floats) -> Floats:
    """Return the share of every move at its place, or what is assumed `elsewhere`.

    The assumed share is used if nobody has decided there yet.
    """
    by_place = np.add.reduceat(counts, tree.first_move[:-1])
    totals = np.repeat(by_place, np.diff(tree.first_move))
    return np.asarray(np.divide(counts, totals, out=elsewhere.copy(), where=totals > 0))
