"""Policies: what a model or a baseline would do at every information set, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.bench.sequential.arena import Arena, Ends, Partial, cut
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy, uniform_policy
from bestresponse.theory.trees.sequence_form import tree_best_response
from bestresponse.theory.trees.tree import Tree

_RESAMPLES = 400
_LEVEL = 0.95
_SAME = 1e-6
"""Probabilities that differ by less are those of the equilibrium: about what linear programs leave."""


@dataclass(frozen=True, slots=True)
class SeatFigures:
    """What a policy is worth in one seat; a figure is None where theory has none or the policy is not complete."""

    value: float | None
    gap: float | None
    exploitability: float | None
    regret: float | None
    gap_ends: Ends | None
    exploitability_ends: Ends | None


@dataclass(frozen=True)
class StatedPolicy:
    """A policy in an arena, known at some or all information sets of the seats; `counts` where moves were sampled."""

    arena: Arena
    seats: tuple[int, ...]
    partial: Partial
    counts: Mapping[int, Array]
    number: int = 0

    @cached_property
    def policy(self) -> Policy:
        """The policy, uniform where it is not known."""
        return Policy(self.arena.tree, self.partial.row)

    @cached_property
    def complete(self) -> bool:
        """Whether the policy is known at every information set of the seats."""
        return self.partial.is_complete(self.arena.tree, self.seats)

    @cached_property
    def seat_figures(self) -> tuple[SeatFigures, ...]:
        """What the policy is worth, seat by seat; there are regrets where it is known for all players."""
        arena, plans = self.arena, self.arena.form.plans(self.policy)
        regrets = arena.measure_regrets(plans) if self.partial.known.all() else None
        figures = []
        for seat in self.seats:
            if not self.partial.is_complete(arena.tree, (seat,)):
                ends = arena.bound_gap(seat, self.partial), arena.bound_exploitability(seat, self.partial)
                figures.append(SeatFigures(None, None, None, None, *ends))
                continue
            gap, taken = arena.measure_gap(seat, plans[seat]), arena.measure_exploitability(seat, plans[seat])
            value = None if gap is None else arena.earn(seat, plans[seat])
            regret = None if regrets is None else float(regrets[seat])
            ends = None if gap is None else (gap, gap), None if taken is None else (taken, taken)
            figures.append(SeatFigures(value, gap, taken, regret, *ends))
        return tuple(figures)

    @cached_property
    def figures(self) -> dict[str, float | None]:
        """NashConv, and the means over the seats of exploitability and gap, also as shares of the payoff range."""
        ranges = [float(self.arena.ranges[seat]) or 1.0 for seat in self.seats]
        regrets = [seat.regret for seat in self.seat_figures]
        taken, gaps = ([getattr(seat, name) for seat in self.seat_figures] for name in ("exploitability", "gap"))
        regret = average(regrets) if len(self.seats) == self.arena.tree.num_players else None
        return {
            "nash_conv": None if regret is None else regret * len(regrets),
            "exploitability": average(taken),
            "exploitability_normalised": average(taken, ranges),
            "nash_gap": average(gaps),
            "gap_normalised": average(gaps, ranges),
        }

    @cached_property
    def losses(self) -> dict[int, float | None]:
        """By information set what is lost there against equilibrium opponents; nothing where none was found."""
        known = self.arena.equilibrium
        return {} if known is None else self.arena.split_losses(self.partial, known)

    @cached_property
    def nearest(self) -> Array:
        """The equilibrium nearest to the policy, of all there are where the game is zero-sum, in a row."""
        return self.arena.find_nearest(self.policy).probabilities

    @cached_property
    def excesses(self) -> dict[int, float]:
        """By information set the exploitability that goes once this set alone is as in the nearest equilibrium.

        Nothing where there is no exploitability. Sets that are wrong together may add up to more than the whole, or to
        less: one is 0 where putting it right alone does not help.
        """
        excesses = {}
        for seat, figures in zip(self.seats, self.seat_figures, strict=True):
            sets = [k for k, infoset in enumerate(self.arena.tree.infosets) if infoset.player == seat]
            for k in sets if figures.exploitability is not None else ():
                row = self.partial.row.copy()
                cut(self.arena.tree, row, k)[:] = cut(self.arena.tree, self.nearest, k)
                excesses[k] = 0.0
                if np.abs(row - self.partial.row).max() > _SAME:
                    plan = self.arena.form.plans(Policy(self.arena.tree, row))[seat]
                    excesses[k] = (figures.exploitability or 0.0) - (
                        self.arena.measure_exploitability(seat, plan) or 0.0
                    )
        return excesses

    @cached_property
    def regrets(self) -> dict[int, float | None]:
        """By information set what is lost there if all follow the policy; nothing where it is not known for all."""
        return self.arena.split_losses(self.partial, self.policy) if self.partial.known.all() else {}

    def estimate(self, name: str) -> Interval | None:
        """Return one figure with the interval that the sampling of moves leaves; a point where none were sampled."""
        figure = self.figures[name]
        if figure is None:
            return None
        if not self.counts:
            return Interval(figure, figure, figure, _LEVEL, "exact", 1)
        low, high = np.quantile(self._draw(0.0)[name], ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2))
        least = max(0.0, min(low, 2 * figure - high, self._bound_below(name, figure)))
        samples = min(int(counts.sum()) for counts in self.counts.values())
        return Interval(figure, float(least), float(max(high, 2 * figure - low)), _LEVEL, "sampled moves", samples)

    def _bound_below(self, name: str, figure: float) -> float:
        """Return the least figure that the samples leave, by inverting a test.

        Samples of an equilibrium look exploitable by chance, so that all percentiles lie above its figure, 0. Instead
        we go from the sampled policy towards the nearest equilibrium, as far as a sample with such a figure or a
        larger one keeps a probability of 2.5 %.
        """
        if self.arena.equilibrium is None:
            return figure

        def is_plausible(way: float) -> bool:
            return float(np.mean(self._draw(way)[name] >= figure - 1e-12)) >= (1 - _LEVEL) / 2

        near, far = (1.0, 1.0) if is_plausible(1.0) else (0.0, 1.0)
        while far - near > 1 / 16:
            middle = (near + far) / 2
            near, far = (middle, far) if is_plausible(middle) else (near, middle)
        return float(self._replace(self._move(near)).figures[name] or 0.0)

    @cached_property
    def _drawn(self) -> dict[float, dict[str, Array]]:
        return {}

    def _draw(self, way: float) -> dict[str, Array]:
        """Draw samples as large as the one at hand from a policy on the way to an equilibrium; return their figures."""
        if way not in self._drawn:
            rng = np.random.default_rng(split(self.number, f"resampled policy {way:g}"))
            true, row = self._move(way), self.partial.row.copy()
            drawn: dict[str, list[float]] = {}
            for _ in range(_RESAMPLES):
                for infoset, counts in self.counts.items():
                    moves = slice(*self.arena.tree.first_move[infoset : infoset + 2])
                    total = int(counts.sum())
                    row[moves] = rng.multinomial(total, true[moves] / true[moves].sum()) / total
                for name, figure in self._replace(row.copy()).figures.items():
                    if figure is not None:
                        drawn.setdefault(name, []).append(figure)
            self._drawn[way] = {name: np.array(figures) for name, figures in drawn.items()}
        return self._drawn[way]

    def _move(self, way: float) -> Array:
        """Return the policy that lies so far on the straight way to the nearest equilibrium, 0 being this one."""
        row: Array = (1 - way) * self.partial.row + way * self.nearest
        return row

    def _replace(self, row: Array) -> StatedPolicy:
        return StatedPolicy(self.arena, self.seats, Partial(row, self.partial.known), {})


def average(figures: Sequence[float | None], ranges: Sequence[float] = ()) -> float | None:
    """Average figures, as shares of `ranges` where there are some; None where one is not known."""
    known = [figure for figure in figures if figure is not None]
    if not known or len(known) < len(figures):
        return None
    return float(np.mean(np.divide(known, ranges) if ranges else known))


def make_baselines(arena: Arena, seats: tuple[int, ...]) -> dict[str, StatedPolicy]:
    """Return simple policies to stand beside the models.

    uniform       every move equally often
    first, last   always the move that is listed first, or last
    level-1       a best response to uniform play; level-2 one to level-1
    equilibrium   an equilibrium, where one was found
    """
    tree = arena.tree
    policies = {"uniform": uniform_policy(tree)}
    for name, moves in (("first", tree.first_move[:-1]), ("last", tree.first_move[1:] - 1)):
        row = np.zeros(int(tree.first_move[-1]))
        row[moves] = 1.0
        policies[name] = Policy(tree, row)
    policies["level-1"] = _respond(tree, policies["uniform"])
    policies["level-2"] = _respond(tree, policies["level-1"])
    if arena.equilibrium is not None:
        policies["equilibrium"] = arena.equilibrium
    everywhere = np.ones(len(tree.infosets), dtype=bool)
    return {
        name: StatedPolicy(arena, seats, Partial(policy.probabilities, everywhere), {})
        for name, policy in policies.items()
    }


def _respond(tree: Tree, policy: Policy) -> Policy:
    """Return the policy in which every player plays a best response to `policy`."""
    row = np.zeros(int(tree.first_move[-1]))
    moves = {player: tree_best_response(tree, policy, player).moves for player in tree.players}
    for index, infoset in enumerate(tree.infosets):
        chosen = moves[tree.players[infoset.player]][infoset.label]
        row[tree.first_move[index] + infoset.moves.index(chosen)] = 1.0
    return Policy(tree, row)
