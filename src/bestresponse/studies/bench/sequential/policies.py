"""Policies of models and baselines in the game of a run: what one, whole or in part, is worth beside an equilibrium.

For a player i with policy s_i, an equilibrium e of value v_i and best responses of the others:

    gap_i              max over i's policies of u_i(., e_-i) - u_i(s_i, e_-i): lost against equilibrium opponents
    exploitability_i   v_i - min over the other's policies of u_i(s_i, .): what a best-responding opponent takes (two
                       players, constant sum)
    regret_i           max over i's policies of u_i(., s_-i) - u_i(s): what i gains by deviating when all follow s
    NashConv           the sum of all regrets; in a two-player constant-sum game also the sum of both exploitabilities

By information set I, with Q(I, a) the counterfactual value of move a (weighted by chance and the others, i playing best
afterwards) and r_i(I) the probability that i's own moves lead to I,

    loss(I) = r_i(I) * (max_a Q(I, a) - sum_a s(I, a) Q(I, a)),

and the losses of a player's information sets sum to its gap (others play e) or to its regret (others play s).

Where a policy is known at some information sets only, gap and exploitability lie between bounds: the best and the worst
completion. All are attained, except that the upper bound of the exploitability lets opponents and missing moves know
the whole history, which makes it too large rather than too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.seeds import split
from bestresponse.report.stats.interval import Interval
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    best_response_value,
    bin_sums,
    counterfactual_values,
    plan_regrets,
    tree_best_response,
)
from bestresponse.theory.trees.sequence_form_lp import find_nearest_plan, optimise_plans, turn_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Policy, Tree, uniform_policy

_NOISE = 1e-9
_REACHED = 1e-7

Ends = tuple[float, float]
"""The least and the most that a figure can be."""


def cut(tree: Tree, row: Array, infoset: int) -> Array:
    """Return the probabilities at one information set of a policy in a row."""
    return row[tree.first_move[infoset] : tree.first_move[infoset + 1]]


@dataclass(frozen=True, slots=True)
class Partial:
    """A policy in a row, as in `Policy`, and the information sets at which it is known; elsewhere it is uniform."""

    row: Array
    known: NDArray[np.bool_]

    def is_complete(self, tree: Tree, seats: Sequence[int]) -> bool:
        """Say whether it is known at every information set of these players."""
        return all(self.known[k] for k, infoset in enumerate(tree.infosets) if infoset.player in seats)


@dataclass(frozen=True)
class Arena:
    """A tree in sequence form, and an equilibrium of it where one was found."""

    form: SequenceForm
    equilibrium: Policy | None = None

    @property
    def tree(self) -> Tree:
        """The game tree."""
        return self.form.tree

    @cached_property
    def is_zero_sum(self) -> bool:
        """Whether exploitability is defined: two players, payoffs of constant sum, a known value."""
        return self.tree.num_players == 2 and self.tree.is_constant_sum and self.equilibrium is not None

    @cached_property
    def ranges(self) -> Array:
        """The range of every player's payoffs."""
        spread: Array = np.ptp(self.tree.payoffs[self.tree.leaves], axis=0)
        return spread

    @cached_property
    def _opponents(self) -> list[Array]:
        """The equilibrium's realization plans."""
        return [] if self.equilibrium is None else self.form.plans(self.equilibrium)

    @cached_property
    def _worths(self) -> list[Array]:
        """By player, what each of its sequences earns against the equilibrium."""
        return [self.form.values(seat, self._opponents) for seat in range(self.tree.num_players)]

    @cached_property
    def _bests(self) -> list[float]:
        """What the best response of every player to the equilibrium earns."""
        return [best_response_value(self.form, seat, self._opponents) for seat in range(self.tree.num_players)]

    @cached_property
    def values(self) -> Array:
        """What the equilibrium earns every player."""
        return self.form.expected(self._opponents)

    def _clean(self, figure: float) -> float:
        """Set negative figures and rounding errors to 0."""
        return figure if figure > _NOISE * float(np.abs(self.tree.payoffs).max()) else 0.0

    def find_nearest(self, policy: Policy) -> Policy:
        """Return the equilibrium nearest to a policy; where the game is not zero-sum, the one that is known."""
        if not self.is_zero_sum or self.equilibrium is None:
            return self.equilibrium or policy
        plans = self.form.plans(policy)
        row = policy.probabilities.copy()
        for seat, plex in enumerate(self.form.plexes):
            plan = find_nearest_plan(turn_form(self.form, seat), plans[seat], float(self.values[seat]))
            for index, first, size, before in zip(plex.infosets, plex.first, plex.size, plex.parent, strict=True):
                if plan[before] > _REACHED:
                    start = self.tree.first_move[int(index)]
                    moves = np.maximum(plan[first : first + size], 0.0)
                    row[start : start + size] = moves / moves.sum()
        return Policy(self.tree, row)

    def earn(self, seat: int, plan: Array) -> float:
        """Return what a plan earns against the equilibrium."""
        return float(self._worths[seat] @ plan)

    def measure_gap(self, seat: int, plan: Array) -> float | None:
        """Return what a plan loses against the equilibrium."""
        return None if self.equilibrium is None else self._clean(self._bests[seat] - self.earn(seat, plan))

    def measure_exploitability(self, seat: int, plan: Array) -> float | None:
        """Return what a best-responding opponent takes from a plan."""
        if not self.is_zero_sum:
            return None
        total = float(self.tree.payoffs[self.tree.leaves[0]].sum())
        taken = best_response_value(self.form, 1 - seat, [plan, plan])
        return self._clean(float(self.values[seat]) - total + taken)

    def measure_regrets(self, plans: Sequence[Array]) -> Array:
        """Return what every player gains by deviating when all follow these plans."""
        return np.array([self._clean(float(regret)) for regret in plan_regrets(self.form, plans)])

    def split_losses(self, partial: Partial, others: Policy) -> dict[int, float | None]:
        """Return by known information set its loss against `others`.

        It is None where it is not known how likely the player's own moves lead there.
        """
        losses: dict[int, float | None] = {}
        values = counterfactual_values(self.tree, others)
        policy = Policy(self.tree, partial.row)
        for plex in self.form.plexes:
            reach, sure = plex.plan(plex.behaviour(policy)), np.ones(plex.num_sequences, dtype=bool)
            for index, first, size, before in zip(plex.infosets, plex.first, plex.size, plex.parent, strict=True):
                k = int(index)
                sure[first : first + size] = (sure[before] and partial.known[k]) or reach[before] == 0
                if partial.known[k]:
                    lost = self._clean(float(values[k].max() - values[k] @ cut(self.tree, partial.row, k)))
                    losses[k] = lost * float(reach[before]) if sure[before] else None
        return losses

    def bound_gap(self, seat: int, partial: Partial) -> Ends | None:
        """Return the least and the most that a policy of which only a part is known loses against the equilibrium."""
        if self.equilibrium is None:
            return None
        best = self._bests[seat]
        least, most = (best - self._complete(seat, partial, pick) for pick in (np.maximum, np.minimum))
        return self._clean(least), self._clean(most)

    def _complete(self, seat: int, partial: Partial, pick: np.ufunc) -> float:
        """Return what a policy earns against the equilibrium if `pick` chooses where it is not known."""
        values, plex = self.form.values(seat, self._opponents), self.form.plexes[seat]
        behaviour = plex.behaviour(Policy(self.tree, partial.row))
        for level in range(len(plex.levels) - 2, -1, -1):
            low, high = int(plex.levels[level]), int(plex.levels[level + 1])
            start, stop = plex.span(low, high)
            places = plex.first[low:high] - start
            mean = np.add.reduceat(values[start:stop] * behaviour[start:stop], places)
            chosen = pick.reduceat(values[start:stop], places)
            known = partial.known[plex.infosets[low:high]]
            values += bin_sums(plex.parent[low:high], np.where(known, mean, chosen), len(values))
        return float(values[0])

    def bound_exploitability(self, seat: int, partial: Partial) -> Ends | None:
        """Return bounds of what a best-responding opponent takes from a policy of which only a part is known."""
        if not self.is_zero_sum:
            return None
        sets = [k for k, infoset in enumerate(self.tree.infosets) if infoset.player == seat and partial.known[k]]
        plan, _ = optimise_plans(turn_form(self.form, seat), {k: cut(self.tree, partial.row, k) for k in sets})
        least = self.measure_exploitability(seat, plan) or 0.0
        most = self._clean(float(self.values[seat]) - self._find_worst(seat, partial))
        return min(least, most), most

    def _find_worst(self, seat: int, partial: Partial) -> float:
        """Return what is left to a seat if all opponents and its missing moves know everything and work against it."""
        tree = self.tree
        own = tree.payoffs[:, seat]
        values = np.where(tree.owner == LEAF, own, np.where(tree.owner == CHANCE, 0.0, np.inf))
        settled = (tree.owner == seat) & (tree.infoset >= 0)
        settled[settled] = partial.known[tree.infoset[settled]]
        values[settled] = 0.0
        for node in range(tree.num_nodes - 1, 0, -1):
            parent = int(tree.parent[node])
            if tree.owner[parent] == CHANCE:
                values[parent] += tree.probability[node] * values[node]
            elif settled[parent]:
                values[parent] += partial.row[tree.first_move[tree.infoset[parent]] + tree.move[node]] * values[node]
            else:
                values[parent] = min(values[parent], values[node])
        return float(values[0])


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
