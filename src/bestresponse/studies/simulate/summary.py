"""The run in numbers: payoffs, frequencies and amounts by seat, with intervals over plays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.analysis.theory import Predicted, Theory
from bestresponse.core.seeds import split
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.rates import Bounds, missing_bounds
from bestresponse.report.stats.statistics import cluster_bootstrap, wilson
from bestresponse.studies.simulate.measure import Floats, Made, Measured
from bestresponse.studies.simulate.regrets import Judged, judge

__all__ = ["Amounts", "Share", "Summary"]


@dataclass(frozen=True, slots=True)
class Share:
    """How often a seat made a move at a place, of all times it decided there; `turn` is 0 for all rounds together."""

    seat: str
    place: str
    part: str
    turn: int
    move: str
    count: int
    share: Interval


@dataclass(frozen=True, slots=True)
class Amounts:
    """The amounts that a seat named; `turn` is 0 for all rounds together."""

    seat: str
    part: str
    turn: int
    count: int
    mean: Interval
    least: float
    median: float
    most: float


@dataclass(frozen=True)
class Summary:
    """All of it, from what was measured; at least one play must count."""

    measured: Measured

    @cached_property
    def payoffs(self) -> Mapping[str, Interval]:
        """By seat, the mean over plays."""
        columns = self.measured.payoffs.T
        return {seat: self._mean(values, seat) for seat, values in zip(self.measured.seats, columns, strict=True)}

    @cached_property
    def bounds(self) -> Mapping[str, Bounds]:
        """By seat, what the mean payoff could be had void plays counted; empty without any, or where nobody knows."""
        theory, void = self.measured.theory, len(self.measured.voids)
        if not void or (theory.form is None and theory.tree is None):
            return {}
        ends = _all_payoffs(theory)
        return {
            seat: missing_bounds(values, void, float(own.min()), float(own.max()))
            for seat, values, own in zip(self.measured.seats, self.measured.payoffs.T, ends, strict=True)
        }

    @cached_property
    def welfare(self) -> Interval:
        """The mean sum of all payoffs."""
        return self._mean(self.measured.welfare, "welfare")

    @cached_property
    def judged(self) -> Judged | None:
        """The regret of every seat, where theory has a table or a tree."""
        return judge(self.measured, self.nearest)

    @cached_property
    def losses(self) -> Mapping[str, Interval]:
        """By seat, what its answers lose in a play against others who play the equilibrium that is known in words."""
        if self.measured.theory.known is None:
            return {}
        lost = np.zeros_like(self.measured.payoffs)
        for one in self.measured.made:
            lost[one.play, self.measured.seats.index(one.seat)] += one.cost or 0.0
        return {seat: self._mean(own, f"lost {seat}") for seat, own in zip(self.measured.seats, lost.T, strict=True)}

    @cached_property
    def nearest(self) -> Predicted | None:
        """The equilibrium whose probabilities differ least from the frequencies, the first among equals."""
        seen = {(one.seat, one.place, one.move): one.share.estimate for one in self.shares}

        def distance(one: Predicted) -> float:
            return round(sum(abs(share - one.shares[s][p].get(m, 0.0)) for (s, p, m), share in seen.items()), 9)

        return min(self.measured.theory.predicted, key=distance, default=None)

    @cached_property
    def price_of_anarchy(self) -> float | None:
        """The most that all could have, by what they had; None where either is not positive or not known."""
        optimum, seen = self.measured.theory.optimum, self.welfare.estimate
        return None if optimum is None or optimum <= 0 or seen <= 0 else optimum / seen

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """Every move at every place, all rounds together."""
        return tuple(self._shares(by_round=False))

    @cached_property
    def shares_by_round(self) -> tuple[Share, ...]:
        """How often each move was made, round by round."""
        return tuple(self._shares(by_round=True)) if self.measured.rounds > 1 else ()

    @cached_property
    def amounts(self) -> tuple[Amounts, ...]:
        """Every kind of amount, all rounds together."""
        return tuple(self._amounts(by_round=False))

    @cached_property
    def amounts_by_round(self) -> tuple[Amounts, ...]:
        """The amounts that were named, round by round."""
        return tuple(self._amounts(by_round=True)) if self.measured.rounds > 1 else ()

    def _shares(self, *, by_round: bool) -> Iterator[Share]:
        in_tree = self.measured.theory.tree is not None
        groups: dict[tuple[str, str, str, int], list[Made]] = {}
        for one in self.measured.made:
            if in_tree or isinstance(one.value, str):
                groups.setdefault((one.seat, one.place, one.part, one.turn if by_round else 0), []).append(one)
        for key in sorted(groups, key=lambda key: (self.measured.seats.index(key[0]), self._order(*key[:2]), key[3])):
            moves = [_text(one.value) for one in groups[key]]
            plays = [one.play for one in groups[key]]
            for move in dict.fromkeys([*self._options(key[0], key[1], groups[key]), *moves]):
                hits = np.array([other == move for other in moves], dtype=np.float64)
                yield Share(*key, move, int(hits.sum()), self._share(hits, plays))

    def _order(self, seat: str, place: str) -> int:
        """Places of a tree in the order of the tree."""
        tree = self.measured.theory.tree
        return 0 if tree is None else tree.infoset_index[seat, place]

    def _options(self, seat: str, place: str, made: Sequence[Made]) -> list[str]:
        tree = self.measured.theory.tree
        if tree is not None:
            return list(tree.infosets[tree.infoset_index[(seat, place)]].moves)
        return list(dict.fromkeys(option for one in made for option in one.options))

    def _share(self, hits: Floats, plays: Sequence[int]) -> Interval:
        """Answers of one play are not independent: where there are several, plays are drawn and not answers."""
        if len(set(plays)) == len(plays):
            return wilson(int(hits.sum()), len(plays))
        return self._mean(hits, "share", plays)

    def _amounts(self, *, by_round: bool) -> Iterator[Amounts]:
        groups: dict[tuple[str, str, int], list[Made]] = {}
        for one in self.measured.made:
            if self.measured.theory.tree is None and isinstance(one.value, float):
                groups.setdefault((one.seat, one.part, one.turn if by_round else 0), []).append(one)
        for key in sorted(groups, key=lambda key: (self.measured.seats.index(key[0]), key[2])):
            values = np.array([one.value for one in groups[key]], dtype=np.float64)
            low, middle, high = map(float, np.quantile(values, [0, 0.5, 1]))
            mean = self._mean(values, "amount", [one.play for one in groups[key]])
            yield Amounts(*key, values.size, mean, low, middle, high)

    def _mean(self, values: Floats, what: str, plays: Sequence[int] | None = None) -> Interval:
        rng = np.random.default_rng(split(self.measured.config.seed, "playground", what))
        return cluster_bootstrap(values, plays, rng=rng)


def _all_payoffs(theory: Theory) -> Floats:
    """Every payoff that the game can give, one row a seat."""
    if theory.form is not None:
        return theory.form.payoffs.reshape(theory.form.num_players, -1)
    if theory.tree is None:
        raise ValueError("without a table or a tree, payoffs cannot be listed")
    return theory.tree.payoffs[theory.tree.leaves].T


def _text(value: str | float) -> str:
    """A move as trees name it: whole amounts without a point."""
    return value if isinstance(value, str) else f"{value:g}"
