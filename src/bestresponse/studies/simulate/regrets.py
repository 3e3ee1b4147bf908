"""How good the play of every seat was against what the others really did.

In a table the regret of a seat is, a play on average, what its best single move would have earned against the others'
moves as they were, less what it got; no equilibrium is assumed. It is negative where varying moves earned more than any
single one would have. In a repeated table it is the same a round, and `list_regrets` tells it for the rounds so far. In
a tree it is what the best strategy would earn against the others' frequencies, less what those of all earn. This is
external regret: what others did is held fixed, although in a repeated game they reply. Where the other player of two is
an automaton, `find_best_reply` says what the best reply to it earns, replies included. The Nash
gap is the sum over seats of what each could gain by leaving the profile of frequencies alone (NashConv): 0 exactly at
an equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.theory import Predicted
from bestresponse.core.errors import InvalidGame
from bestresponse.core.seeds import split
from bestresponse.players.lookup import find_strategy
from bestresponse.players.strategies.automaton import AutomatonPlayer
from bestresponse.report.frames import column
from bestresponse.report.stats.interval import Floats, Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.studies.simulate.plays import Plays, SimulateConfig, name_move
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import regret
from bestresponse.theory.trees.sequence_form import bin_sums, plan_regrets, to_sequence_form
from bestresponse.theory.trees.tree import Policy, Tree, policy_from_table, uniform_policy

_RESAMPLES = 300
_MOST_NODES_RESAMPLED = 5000
_LEVEL = 0.95


class RegretRow(TypedDict):
    """The regret of a seat a round for the rounds up to one, mean over the plays that lasted so long."""

    seat: str
    turn: Annotated[int, column("round")]
    regret: Annotated[Interval, column("regret a round", ".3f")]


@dataclass(frozen=True, slots=True)
class JudgedSeats:
    """Regrets by seat and the Nash gap, with intervals but for large trees; `unseen` places were never reached."""

    regrets: Mapping[str, Interval | float]
    gap: Interval | float
    places: int = 1
    unseen: int = 0


def judge_seats(plays: Plays, nearest: Predicted | None = None) -> JudgedSeats | None:
    """Say how far the play was from best replies; None where theory has neither a table nor a tree.

    Where a tree has places that no play came to, the seats are taken to decide there as in the equilibrium `nearest`.
    """
    theory = plays.config.theory
    if theory.form is not None:
        return _judge_table(plays, theory.form)
    return None if theory.tree is None else _judge_tree(plays, theory.tree, nearest)


def _judge_table(plays: Plays, form: NormalForm) -> JudgedSeats:
    """Judge a table; whole plays are resampled, since the rounds of one are not independent."""
    cells, weights = _list_rounds(plays, form)
    n, shares = len(plays.repeats), weights / weights.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    draws = np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES)])
    regrets = {}
    for seat, role in enumerate(form.players):
        gains = (_find_gains(form, cells, seat) * shares[:, :, None]).sum(axis=1)
        regrets[role] = _make_interval((draws @ gains).max(axis=1) / n, n)
    gaps = []
    for draw in draws:
        drawn = (draw[:, None] * shares).ravel()
        sums = [bin_sums(cells[:, :, seat].ravel(), drawn, size) for seat, size in enumerate(form.shape)]
        gaps.append(regret(form, [counts / counts.sum() for counts in sums]).sum())
    return JudgedSeats(regrets, _make_interval(np.array(gaps), n))


def list_regrets(plays: Plays) -> Iterator[RegretRow]:
    """Yield the regrets of every seat; nothing where no table was repeated.

    Here the best single move is that of the play, up to that round.
    """
    form = plays.config.theory.form
    if form is None or plays.rounds == 1:
        return
    cells, weights = _list_rounds(plays, form)
    rng = np.random.default_rng(split(plays.config.seed, "playground regret by round"))
    for seat, role in enumerate(form.players):
        gains = np.cumsum(_find_gains(form, cells, seat) * weights[:, :, None], axis=1)
        regrets = gains.max(axis=2) / np.cumsum(weights, axis=1)
        for number in range(plays.rounds):
            lasted = weights[:, number] > 0
            regret_so_far = cluster_bootstrap(regrets[lasted, number], rng=rng, resamples=_RESAMPLES)
            yield RegretRow(seat=role, turn=number + 1, regret=regret_so_far)


def find_best_reply(config: SimulateConfig, seat: int) -> float | None:
    """Compute what the best reply to the automaton in the other seat earns a round; None where there is no automaton.

    Going back from the last round, exactly: what each move earns now, and then from the state that it leads to.
    """
    game, form = config.make_game(), config.theory.form
    if form is None or form.num_players != 2 or config.rounds == 1:
        return None
    other = game.roles[1 - seat]
    player = find_strategy(config.seats[other], game, other, 0)
    if not isinstance(player, AutomatonPlayer):
        return None
    automaton, payoffs = player.automaton, form.payoffs[seat] if seat == 0 else form.payoffs[seat].T
    count, others = payoffs.shape
    slip = np.array([[1.0 - config.noise if a == b else config.noise / max(count - 1, 1) for b in range(count)]
                     for a in range(count)])  # fmt: skip
    theirs = automaton.mix * (1 - config.noise) + (1 - automaton.mix) * config.noise / max(others - 1, 1)
    weight = config.continuation * config.discount
    values = np.zeros(automaton.states)
    for _ in range(config.rounds):
        # By state, the other's move and the own move that are made.
        later = payoffs.T[None] + weight * values[automaton.step]
        values = ((theirs[:, :, None] * later).sum(axis=1) @ slip.T).max(axis=1)
    return float(values[0] / sum(weight**number for number in range(config.rounds)))


def _list_rounds(plays: Plays, form: NormalForm) -> tuple[NDArray[np.int64], Floats]:
    """Return the moves by number (plays x rounds x seats), and the weight of every round, 0 where it was not played."""
    cells = np.zeros((len(plays.repeats), plays.rounds, form.num_players), dtype=np.int64)
    weights = np.zeros(cells.shape[:2])
    for row in plays.moves:
        played, seat = (plays.numbers[row["repeat"]], row["turn"] - 1), form.players.index(row["seat"])
        cells[*played, seat] = form.actions[seat].index(str(row["move"]))
        weights[played] = plays.config.discount ** played[1]
    return cells, weights


def _find_gains(form: NormalForm, cells: NDArray[np.int64], seat: int) -> Floats:
    """For every round, what each move of the seat would have earned there in place of its own, less what it got."""
    earned = np.moveaxis(form.payoffs[seat], seat, -1)
    would: Floats = earned[tuple(np.moveaxis(np.delete(cells, seat, axis=2), 2, 0))]
    return would - np.take_along_axis(would, cells[:, :, [seat]], axis=2)


def _make_interval(values: Floats, n: int) -> Interval:
    """Take the first value with the percentiles of the others; a single play tells nothing about the spread."""
    if n == 1:
        return Interval(float(values[0]), -np.inf, np.inf, _LEVEL, "none", n)
    low, high = np.quantile(values[1:], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(float(values[0]), float(low), float(high), _LEVEL, "percentile", n)


def _judge_tree(plays: Plays, tree: Tree, nearest: Predicted | None) -> JudgedSeats | None:
    try:
        form = to_sequence_form(tree)
    except InvalidGame:
        return None
    n = len(plays.repeats)
    numbers = np.array([plays.numbers[row["repeat"]] for row in plays.moves], dtype=np.int64)
    sets = [tree.infoset_index[row["seat"], row["place"]] for row in plays.moves]
    moves = [tree.infosets[k].moves.index(name_move(row["move"])) for k, row in zip(sets, plays.moves, strict=True)]
    entries = np.array([int(tree.first_move[k]) + move for k, move in zip(sets, moves, strict=True)])
    assumed = uniform_policy(tree) if nearest is None else policy_from_table(tree, nearest.shares)
    size = len(assumed.probabilities)
    rng = np.random.default_rng(split(plays.config.seed, "playground regrets"))
    resamples = _RESAMPLES if tree.num_nodes <= _MOST_NODES_RESAMPLED else 0
    draws = [np.ones(n), *(bin_sums(rng.integers(n, size=n), np.ones(n), n) for _ in range(resamples))]
    rows = [_find_frequencies(tree, bin_sums(entries, draw[numbers], size), assumed.probabilities) for draw in draws]
    regrets = np.array([plan_regrets(form, form.plans(Policy(tree, row))) for row in rows])
    values = [*regrets.T, regrets.sum(axis=1)]
    *by_seat, gap = [_make_interval(column, n) if resamples else float(column[0]) for column in values]
    seen = np.add.reduceat(bin_sums(entries, np.ones(len(entries)), size), tree.first_move[:-1])
    return JudgedSeats(dict(zip(tree.players, by_seat, strict=True)), gap, len(tree.infosets), int((seen == 0).sum()))


def _find_frequencies(tree: Tree, counts: Floats, elsewhere: Floats) -> Floats:
    """Return the share of every move at its place, what is assumed `elsewhere` where nobody has decided yet."""
    totals = np.repeat(np.add.reduceat(counts, tree.first_move[:-1]), np.diff(tree.first_move))
    row: Floats = np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), elsewhere)
    return row
