"""How good the play of every seat was against what the others really did.

In a table the regret of a seat is, a play on average, what its best single move would have earned against the others'
moves as they were, less what it got; no equilibrium is assumed. It is negative where varying moves earned more than any
single one would have. In a repeated table it is the same a round, and `regret_by_round` tells it for the rounds up to
each. In a tree it is what the best strategy would earn
against the others' frequencies, less what the frequencies of all earn. The Nash gap is the sum over seats of what each
could gain by leaving the profile of frequencies alone (NashConv): 0 exactly at an equilibrium.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.theory import Predicted
from bestresponse.core.errors import InvalidGame
from bestresponse.core.seeds import split
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.studies.simulate.measure import Floats, Measured
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.trees.policy import Policy, policy_from_table, uniform_policy
from bestresponse.theory.trees.response import plan_regrets
from bestresponse.theory.trees.sequence_form import bin_sums, to_sequence_form
from bestresponse.theory.trees.tree import Tree

__all__ = ["Judged", "judge", "regret_by_round"]

_RESAMPLES = 300
_MOST_NODES_RESAMPLED = 5000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Judged:
    """Regrets by seat and the Nash gap, with intervals but for large trees; `unseen` places were never reached."""

    regrets: Mapping[str, Interval | float]
    gap: Interval | float
    places: int = 1
    unseen: int = 0


def judge(measured: Measured, nearest: Predicted | None = None) -> Judged | None:
    """How far the play was from best replies; None where theory has neither a table nor a tree.

    Where a tree has places that no play came to, the seats are taken to decide there as in the equilibrium `nearest`.
    """
    if measured.theory.form is not None:
        return _in_table(measured, measured.theory.form)
    if measured.theory.tree is not None:
        return _in_tree(measured, measured.theory.tree, nearest)
    return None


def _in_table(measured: Measured, form: NormalForm) -> Judged:
    """Judge a table; whole plays are resampled, since the rounds of one are not independent."""
    table, n = _list_rounds(measured, form), measured.plays
    rng = np.random.default_rng(split(measured.config.seed, "playground regrets"))
    draws = np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES)])
    found = {}
    for seat, role in enumerate(form.players):
        gains = table.sum_by_play(_gains(form, table.cells, seat), n)
        found[role] = _interval((draws @ gains).max(axis=1) / n, n)
    counts = draws[:, table.plays] * table.weights
    gaps = np.array([regret(form, _profile(form, table.cells, row)).sum() for row in counts])
    return Judged(found, _interval(gaps, n))


@dataclass(frozen=True, slots=True, eq=False)
class _RoundTable:
    """The moves of every round by number, the play and the round (from 1) of each, and its weight within its play."""

    cells: NDArray[np.int64]
    plays: NDArray[np.int64]
    rounds: NDArray[np.int64]
    weights: Floats

    def sum_by_play(self, gains: Floats, plays: int) -> Floats:
        """Add up weighted gains (rows: rounds, columns: moves) play by play."""
        return np.stack([bin_sums(self.plays, column * self.weights, plays) for column in gains.T], axis=1)


def _list_rounds(measured: Measured, form: NormalForm) -> _RoundTable:
    rounds: dict[tuple[int, int], list[int]] = {}
    for one in measured.made:
        seat = form.players.index(one.seat)
        row = rounds.setdefault((one.play, one.turn), [0] * form.num_players)
        row[seat] = form.actions[seat].index(str(one.value))
    keys = np.array(list(rounds), dtype=np.int64).reshape(-1, 2)
    weights = np.power(measured.config.discount, keys[:, 1] - 1, dtype=np.float64)
    totals = bin_sums(keys[:, 0], weights, measured.plays)
    cells = np.array(list(rounds.values()), dtype=np.int64)
    return _RoundTable(cells, keys[:, 0], keys[:, 1], weights / totals[keys[:, 0]])


def regret_by_round(measured: Measured) -> Mapping[str, tuple[Interval, ...]]:
    """Return, by seat, the regret a round of the rounds up to each, mean over plays that lasted so long.

    Here the best single move is that of the play, up to that round. Empty where no table was repeated.
    """
    form = measured.theory.form
    if form is None or measured.rounds == 1:
        return {}
    table = _list_rounds(measured, form)
    rng = np.random.default_rng(split(measured.config.seed, "playground regret by round"))
    found: dict[str, list[Interval]] = {role: [] for role in form.players}
    for seat, role in enumerate(form.players):
        gains = _gains(form, table.cells, seat)
        for last in range(1, measured.rounds + 1):
            within = table.rounds <= last
            part = _RoundTable(table.cells[within], table.plays[within], table.rounds[within], table.weights[within])
            shares = bin_sums(part.plays, part.weights, measured.plays)
            long = np.unique(table.plays[table.rounds == last])
            best = (part.sum_by_play(gains[within], measured.plays)[long] / shares[long, None]).max(axis=1)
            found[role].append(cluster_bootstrap(best, rng=rng, resamples=_RESAMPLES))
    return {role: tuple(rows) for role, rows in found.items()}


def _gains(form: NormalForm, cells: NDArray[np.int64], seat: int) -> Floats:
    """For every cell, what each move of the seat would have earned there in place of its own, less what it got."""
    own = np.moveaxis(form.payoffs[seat], seat, -1)
    others = tuple(np.delete(cells, seat, axis=1).T)
    would: Floats = own[others].reshape(len(cells), -1)
    return would - np.take_along_axis(would, cells[:, [seat]], axis=1)


def _profile(form: NormalForm, cells: NDArray[np.int64], weights: Floats) -> list[Floats]:
    sums = [bin_sums(cells[:, seat], weights, size) for seat, size in enumerate(form.shape)]
    return [one / one.sum() for one in sums]


def _interval(values: Floats, n: int) -> Interval:
    """The first value with the percentiles of the others; a single play tells nothing about the spread."""
    if n == 1:
        return Interval(float(values[0]), -np.inf, np.inf, _LEVEL, "none", n)
    low, high = np.quantile(values[1:], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(float(values[0]), float(low), float(high), _LEVEL, "percentile", n)


def _in_tree(measured: Measured, tree: Tree, nearest: Predicted | None) -> Judged | None:
    try:
        form = to_sequence_form(tree)
    except InvalidGame:
        return None
    places, plays = _answers(measured, tree)
    elsewhere = _prescribed(tree, nearest)
    rng = np.random.default_rng(split(measured.config.seed, "playground regrets"))
    resamples = _RESAMPLES if tree.num_nodes <= _MOST_NODES_RESAMPLED else 0
    draws = [np.ones(measured.plays), *(_drawn(measured.plays, rng) for _ in range(resamples))]
    rows = [_frequencies(tree, bin_sums(places, draw[plays], len(elsewhere)), elsewhere) for draw in draws]
    regrets = np.array([plan_regrets(form, form.plans(Policy(tree, row))) for row in rows])
    told = [_interval(column, measured.plays) if resamples else float(column[0]) for column in regrets.T]
    gap = _interval(regrets.sum(axis=1), measured.plays) if resamples else float(regrets.sum())
    seen = np.add.reduceat(bin_sums(places, np.ones(len(places)), len(elsewhere)), tree.first_move[:-1])
    return Judged(dict(zip(tree.players, told, strict=True)), gap, len(tree.infosets), int((seen == 0).sum()))


def _answers(measured: Measured, tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every answer its place in a policy's row, and the play it was given in."""
    places = []
    for one in measured.made:
        index = tree.infoset_index[one.seat, one.place]
        places.append(int(tree.first_move[index]) + tree.infosets[index].moves.index(_label(one.value)))
    return np.array(places, dtype=np.int64), np.array([one.play for one in measured.made], dtype=np.int64)


def _prescribed(tree: Tree, nearest: Predicted | None) -> Floats:
    """What is assumed where nobody has decided yet: the nearest equilibrium, or all moves equally often."""
    if nearest is None:
        return uniform_policy(tree).probabilities
    return policy_from_table(tree, nearest.shares).probabilities


def _drawn(plays: int, rng: np.random.Generator) -> Floats:
    """How often every play is drawn when as many are drawn with replacement."""
    return bin_sums(rng.integers(plays, size=plays), np.ones(plays), plays)


def _frequencies(tree: Tree, counts: Floats, elsewhere: Floats) -> Floats:
    """The share of every move at its place."""
    sizes = np.diff(tree.first_move)
    totals = np.repeat(np.add.reduceat(counts, tree.first_move[:-1]), sizes)
    row: Floats = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), elsewhere)
    return row


def _label(value: str | float) -> str:
    """A move as the tree names it: whole amounts without a point."""
    return value if isinstance(value, str) else f"{value:g}"
