"""Policies of models and baselines, whole or in part: what each is worth beside an equilibrium.

For a player i with policy s_i, an equilibrium e of value v_i and best responses of the others:

    gap_i              max over i's policies of u_i(., e_-i) - u_i(s_i, e_-i): lost against
                       equilibrium opponents
    exploitability_i   v_i - min over the other's policies of u_i(s_i, .): what a best-responding
                       opponent takes (two players, constant sum)
    regret_i           max over i's policies of u_i(., s_-i) - u_i(s): what i gains by deviating
                       when all follow s
    NashConv           the sum of all regrets; in a two-player constant-sum game also the sum of
                       both exploitabilities

By information set I, with Q(I, a) the counterfactual value of move a (weighted by chance and the
others, i playing best afterwards) and r_i(I) the probability that i's own moves lead to I,

    loss(I) = r_i(I) * (max_a Q(I, a) - sum_a s(I, a) Q(I, a)),

and the losses of a player's information sets sum to its gap (others play e) or to its regret
(others play s).

Where a policy is known at some information sets only, gap and exploitability lie between bounds:
the best and the worst completion. All are attained, except that the upper bound of the
exploitability lets opponents and missing moves know the whole history, which makes it too large
rather than too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.seeds import split
from bestresponse.report.stats.statistics import LEVEL, Interval, open_interval
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees import sequence_form
from bestresponse.theory.trees.sequence_form_lp import find_nearest_plan, optimise_plans, turn_form
from bestresponse.theory.trees.tree import (
    CHANCE,
    LEAF,
    Policy,
    Tree,
    policy_from_table,
    uniform_policy,
)

_NOISE = 1e-9  # of the largest payoff: smaller metrics are rounding errors
# A smaller weight is an error of the linear program: its moves would be divided by it.
_REACHED = 1e-7
Ends = tuple[float, float]
"""The least and the most that a metric can be."""


def cut(tree: Tree, row: Array, infoset: int) -> Array:
    """Return the probabilities at one information set of a policy in a row."""
    return row[tree.first_move[infoset] : tree.first_move[infoset + 1]]


@dataclass(frozen=True)
class Arena:
    """A tree in sequence form, and an equilibrium of it where one was found."""

    form: sequence_form.SequenceForm
    equilibrium: Policy | None = None

    @property
    def tree(self) -> Tree:
        """The game tree."""
        return self.form.tree

    @cached_property
    def is_zero_sum(self) -> bool:
        """Whether exploitability is defined.

        This takes two players, payoffs of constant sum, and a known value.
        """
        return (
            self.tree.num_players == 2
            and self.tree.is_constant_sum
            and self.equilibrium is not None
        )

    @cached_property
    def ranges(self) -> Array:
        """The range of every player's payoffs."""
        return np.asarray(np.ptp(self.tree.payoffs[self.tree.leaves], axis=0))

    @property
    def total(self) -> float:
        """What both have together, where the game has a constant sum."""
        return float(self.tree.payoffs[self.tree.leaves[0]].sum())

    @cached_property
    def plans(self) -> list[Array]:
        """The equilibrium's realization plans."""
        return [] if self.equilibrium is None else self.form.plans(self.equilibrium)

    @cached_property
    def worths(self) -> list[Array]:
        """By player, what each of its sequences earns against the equilibrium."""
        return [self.form.values(seat, self.plans) for seat in range(self.tree.num_players)]

    @cached_property
    def bests(self) -> list[float]:
        """What the best response of every player to the equilibrium earns."""
        return [
            sequence_form.best_response_value(self.form, seat, self.plans)
            for seat in range(self.tree.num_players)
        ]

    @cached_property
    def values(self) -> Array:
        """What the equilibrium earns every player."""
        return self.form.expected(self.plans)

    def clean(self, figure: float) -> float:
        """Set negative metrics and rounding errors to 0."""
        largest = float(np.abs(self.tree.payoffs).max())
        return figure if figure > _NOISE * largest else 0.0

    @cached_property
    def worst(self) -> StatedPolicy:
        """A policy that is known nowhere: its bounds are the worst that the game allows."""
        nowhere = np.zeros(len(self.tree.infosets), dtype=bool)
        seats = tuple(range(self.tree.num_players))
        return StatedPolicy(
            self,
            seats,
            uniform_policy(self.tree).probabilities,
            nowhere,
        )

    @cached_property
    def most_gaps(self) -> Array:
        """The most that a policy of every player can lose against the equilibrium."""
        if self.equilibrium is None:
            return self.ranges
        gaps = []
        for seat, best in enumerate(self.bests):
            gaps.append(best - self.worst.complete_by(seat, np.minimum))
        return np.array(gaps)

    @cached_property
    def most_taken(self) -> Array:
        """The most that opponents can take from a policy of every player."""
        if not self.is_zero_sum:
            return self.ranges
        taken = []
        for seat, value in enumerate(self.values):
            taken.append(value - self.worst.find_worst(seat))
        return np.array(taken)

    def bound_figures(self, seats: Sequence[int]) -> dict[str, float]:
        """Return the most that each metric of a policy for these seats can be.

        It is much less than the range of payoffs: who plays badly still wins some deals. In a game
        of constant sum the regrets of both add up to both exploitabilities.
        """
        chosen = list(seats)
        ranges = np.where(self.ranges[chosen] > 0, self.ranges[chosen], 1.0)
        gaps = self.most_gaps[chosen]
        taken = self.most_taken[chosen]
        return {
            "nash_conv": float(taken.sum()),
            "exploitability": float(taken.mean()),
            "exploitability_normalised": float((taken / ranges).mean()),
            "nash_gap": float(gaps.mean()),
            "gap_normalised": float((gaps / ranges).mean()),
        }

    def find_nearest(self, policy: Policy) -> Policy:
        """Return the equilibrium nearest to a policy.

        Where the game is not zero-sum, the one that is known.
        """
        if not self.is_zero_sum or self.equilibrium is None:
            return self.equilibrium or policy
        plans = self.form.plans(policy)
        row = policy.probabilities.copy()
        for seat, plex in enumerate(self.form.plexes):
            # What the known equilibrium secures: all of the value, but for what CFR leaves.
            secured = self.total - self.bests[1 - seat]
            plan = find_nearest_plan(turn_form(self.form, seat), plans[seat], secured)
            for index, first, size, before in zip(
                plex.infosets, plex.first, plex.size, plex.parent, strict=True
            ):
                if plan[before] > _REACHED:
                    start = self.tree.first_move[int(index)]
                    moves = np.maximum(plan[first : first + size], 0.0)
                    row[start : start + size] = moves / moves.sum()
        return Policy(self.tree, row)

    def measure_exploitability(self, seat: int, plan: Array) -> float:
        """Return what a best-responding opponent takes from a plan, where the game is zero-sum."""
        taken = sequence_form.best_response_value(self.form, 1 - seat, [plan, plan])
        return self.clean(float(self.values[seat]) - self.total + taken)


_RESAMPLES = 400
_SAME = 1e-6
"""Probabilities that differ by less are those of the equilibrium: about what linear programs
leave."""


@dataclass(frozen=True, slots=True)
class SeatMetrics:
    """What a policy loses in one seat; None where theory has no such metric.

    Gap and exploitability are the least and the most that they can be, which is the same where the
    policy is `known`.
    """

    known: bool
    gap: Ends | None
    exploitability: Ends | None
    regret: float | None

    def settle(self, ends: Ends | None) -> float | None:
        """Return a metric where it is known exactly."""
        return ends[0] if ends is not None and self.known else None


@dataclass(frozen=True)
class StatedPolicy:
    """A policy in a row, as in `Policy`, and the information sets at which it is known.

    Elsewhere it is uniform.

    `counts` hold the moves drawn by information set where moves were sampled.
    """

    arena: Arena
    seats: tuple[int, ...]
    row: Array
    known: NDArray[np.bool_]
    counts: Mapping[int, Array] = field(default_factory=dict)
    number: int = 0
    is_baseline: bool = False

    @cached_property
    def policy(self) -> Policy:
        """The policy, uniform where it is not known."""
        return Policy(self.arena.tree, self.row)

    def list_infosets(self, seat: int) -> list[int]:
        """List the information sets of a seat."""
        return [k for k, infoset in enumerate(self.arena.tree.infosets) if infoset.player == seat]

    def is_known(self, seat: int) -> bool:
        """Say whether the policy is known at every information set of a seat."""
        known = self.known[self.list_infosets(seat)]
        return bool(known.all())

    @property
    def share_known(self) -> float:
        """The share of the seats' information sets with a choice at which it is known."""
        asked = []
        for k, infoset in enumerate(self.arena.tree.infosets):
            if infoset.player in self.seats and len(infoset.moves) > 1:
                asked.append(self.known[k])
        return float(np.mean(asked))

    @cached_property
    def complete(self) -> bool:
        """Whether the policy is known at every information set of the seats."""
        return all(map(self.is_known, self.seats))

    @cached_property
    def plans(self) -> list[Array]:
        """The realization plans of the policy."""
        return self.arena.form.plans(self.policy)

    @cached_property
    def seat_metrics(self) -> tuple[SeatMetrics, ...]:
        """What the policy loses, seat by seat.

        There are regrets where it is known for all players.
        """
        regrets: Sequence[float | None] = [None] * self.arena.tree.num_players
        if self.known.all():
            found = sequence_form.plan_regrets(self.arena.form, self.plans)
            regrets = [self.arena.clean(float(regret)) for regret in found]

        metrics = []
        for seat in self.seats:
            of_seat = SeatMetrics(
                known=self.is_known(seat),
                gap=self.bound_gap(seat),
                exploitability=self.bound_exploitability(seat),
                regret=regrets[seat],
            )
            metrics.append(of_seat)
        return tuple(metrics)

    def bound_gap(self, seat: int) -> Ends | None:
        """Return the least and the most that the policy loses against the equilibrium."""
        if self.arena.equilibrium is None:
            return None
        best = self.arena.bests[seat]
        least = self.arena.clean(best - self.complete_by(seat, np.maximum))
        if self.is_known(seat):
            return least, least
        return least, self.arena.clean(best - self.complete_by(seat, np.minimum))

    def complete_by(self, seat: int, pick: np.ufunc) -> float:
        """Return what the policy earns against the equilibrium.

        `pick` chooses where the policy is not known.
        """
        values = self.arena.worths[seat].copy()
        plex = self.arena.form.plexes[seat]
        behaviour = plex.behaviour(self.policy)
        for level in range(len(plex.levels) - 2, -1, -1):
            low = int(plex.levels[level])
            high = int(plex.levels[level + 1])
            start, stop = plex.span(low, high)
            offsets = plex.first[low:high] - start
            mean = np.add.reduceat(values[start:stop] * behaviour[start:stop], offsets)
            chosen = pick.reduceat(values[start:stop], offsets)
            known = self.known[plex.infosets[low:high]]
            worth = np.where(known, mean, chosen)
            values += sequence_form.bin_sums(plex.parent[low:high], worth, len(values))
        return float(values[0])

    def bound_exploitability(self, seat: int) -> Ends | None:
        """Return bounds of what a best-responding opponent takes."""
        arena = self.arena
        if not arena.is_zero_sum:
            return None
        if self.is_known(seat):
            taken = arena.measure_exploitability(seat, self.plans[seat])
            return taken, taken
        fixed = {k: cut(arena.tree, self.row, k) for k in self.list_infosets(seat) if self.known[k]}
        plan, _ = optimise_plans(turn_form(arena.form, seat), fixed)
        value = float(arena.values[seat])
        most = arena.clean(value - self.find_worst(seat))
        return min(arena.measure_exploitability(seat, plan), most), most

    def find_worst(self, seat: int) -> float:
        """Return what is left to a seat if all opponents know all and work against it.

        Its own missing moves do so too.
        """
        tree = self.arena.tree
        payoffs = tree.payoffs[:, seat]
        above = np.where(tree.owner == CHANCE, 0.0, np.inf)
        values = np.where(tree.owner == LEAF, payoffs, above)
        settled = (tree.owner == seat) & (tree.infoset >= 0)
        settled[settled] = self.known[tree.infoset[settled]]
        values[settled] = 0.0
        for node in range(tree.num_nodes - 1, 0, -1):
            parent = int(tree.parent[node])
            if tree.owner[parent] == CHANCE:
                values[parent] += tree.probability[node] * values[node]
            elif settled[parent]:
                first = tree.first_move[tree.infoset[parent]]
                values[parent] += self.row[first + tree.move[node]] * values[node]
            else:
                values[parent] = min(values[parent], values[node])
        return float(values[0])

    @cached_property
    def metrics(self) -> dict[str, float | None]:
        """NashConv, and the means over the seats of exploitability and gap.

        They are also given as shares of the payoff range.
        """
        ranges = self.seat_ranges
        taken = [seat.settle(seat.exploitability) for seat in self.seat_metrics]
        gaps = [seat.settle(seat.gap) for seat in self.seat_metrics]
        regret = average([seat.regret for seat in self.seat_metrics])
        everybody = len(self.seats) == self.arena.tree.num_players
        return {
            "nash_conv": regret * len(self.seats) if regret is not None and everybody else None,
            "exploitability": average(taken),
            "exploitability_normalised": average(taken, ranges),
            "nash_gap": average(gaps),
            "gap_normalised": average(gaps, ranges),
        }

    def split_losses(self, others: Policy) -> dict[int, float | None]:
        """Return by known information set its loss against `others`.

        It is None where it is not known how likely the player's own moves lead there.
        """
        losses: dict[int, float | None] = {}
        values = sequence_form.counterfactual_values(self.arena.tree, others)
        for plex, reach in zip(self.arena.form.plexes, self.plans, strict=True):
            sure = np.ones(plex.num_sequences, dtype=bool)
            for index, first, size, before in zip(
                plex.infosets, plex.first, plex.size, plex.parent, strict=True
            ):
                k = int(index)
                reached = float(reach[before])
                sure[first : first + size] = (sure[before] and self.known[k]) or reached == 0
                if not self.known[k]:
                    continue
                losses[k] = None
                if sure[before]:
                    expected = values[k] @ cut(self.arena.tree, self.row, k)
                    losses[k] = self.arena.clean(float(values[k].max() - expected)) * reached
        return losses

    @cached_property
    def losses(self) -> dict[int, float | None]:
        """By information set what is lost there against equilibrium opponents.

        Returns nothing where none was found.
        """
        return {} if self.arena.equilibrium is None else self.split_losses(self.arena.equilibrium)

    @cached_property
    def nearest(self) -> Array:
        """The equilibrium nearest to the policy, in a row.

        It is the nearest of all there are if the game is zero-sum.
        """
        return self.arena.find_nearest(self.policy).probabilities

    @cached_property
    def excesses(self) -> dict[int, float]:
        """The exploitability that goes if one information set is corrected, by set.

        That set alone is then as in the nearest equilibrium.

        Nothing where there is no exploitability. Sets that are wrong together may add up to more
        than the whole, or to less: one is 0 where putting it right alone does not help.
        """
        excesses = {}
        for seat, metrics in zip(self.seats, self.seat_metrics, strict=True):
            whole = metrics.settle(metrics.exploitability)
            if whole is None:
                continue
            for k in self.list_infosets(seat):
                row = self.row.copy()
                cut(self.arena.tree, row, k)[:] = cut(self.arena.tree, self.nearest, k)
                excesses[k] = 0.0
                changed = np.abs(row - self.row)
                if changed.max() > _SAME:
                    plan = self.arena.form.plans(Policy(self.arena.tree, row))[seat]
                    excesses[k] = whole - self.arena.measure_exploitability(seat, plan)
        return excesses

    @cached_property
    def regrets(self) -> dict[int, float | None]:
        """By information set what is lost there if all follow the policy.

        Returns nothing where it is not known for all.
        """
        return self.split_losses(self.policy) if self.known.all() else {}

    def bound(self, figure: str, end: int) -> float | None:
        """Return the least or the most that a metric can be, as a share of the range of payoffs."""
        ends = [getattr(seat, figure) for seat in self.seat_metrics]
        return average([None if pair is None else pair[end] for pair in ends], self.seat_ranges)

    @property
    def seat_ranges(self) -> list[float]:
        """The ranges of payoffs of the seats."""
        return [float(self.arena.ranges[seat]) or 1.0 for seat in self.seats]

    def estimate(self, name: str) -> float | Interval | None:
        """Return one metric with the interval that the sampling of moves leaves.

        With none where the policy was stated, since one policy does not tell how policies of its
        player vary. A baseline is known.
        """
        figure = self.metrics[name]
        if figure is None or self.is_baseline:
            return figure
        if not self.counts:
            return open_interval(figure, 1)
        low, high = np.quantile(self._draw(0.0)[name], ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        tested = self._bound_below(name, figure)
        least = max(0.0, min(low, 2 * figure - high, tested))
        most = max(high, 2 * figure - low)
        samples = [int(counts.sum()) for counts in self.counts.values()]
        return Interval(
            figure,
            float(least),
            high=float(most),
            level=LEVEL,
            method="sampled moves",
            n=min(samples),
        )

    def _bound_below(self, name: str, figure: float) -> float:
        """Return the least metric that the samples leave, by inverting a test.

        Samples of an equilibrium look exploitable by chance, so that all percentiles lie above its
        metric, 0. Instead we go from the sampled policy towards the nearest equilibrium, as far as
        a sample with such a metric or a larger one keeps a probability of 2.5 %.
        """
        if self.arena.equilibrium is None:
            return figure

        def is_plausible(way: float) -> bool:
            # 10 of 400 samples are 2.5 %, but for rounding.
            as_large = self._draw(way)[name] >= figure - 1e-12
            return float(np.mean(as_large)) >= (1 - LEVEL) / 2 - 1e-12

        far = 1.0
        near = 1.0 if is_plausible(far) else 0.0
        while far - near > 1 / 16:
            middle = (near + far) / 2
            if is_plausible(middle):
                near = middle
            else:
                far = middle
        reached = self._move(near)
        return float(reached.metrics[name] or 0.0)

    @cached_property
    def _drawn(self) -> dict[float, dict[str, Array]]:
        return {}

    def _draw(self, way: float) -> dict[str, Array]:
        """Draw samples as large as the one at hand from a policy on the way to an equilibrium.

        Return their metrics.
        """
        if way not in self._drawn:
            rng = np.random.default_rng(split(self.number, f"resampled policy {way:g}"))
            true = self._move(way).row
            row = self.row.copy()
            drawn: dict[str, list[float]] = {}
            for _ in range(_RESAMPLES):
                for infoset, counts in self.counts.items():
                    moves = slice(*self.arena.tree.first_move[infoset : infoset + 2])
                    total = int(counts.sum())
                    chances = true[moves] / true[moves].sum()
                    row[moves] = rng.multinomial(total, chances) / total
                sampled = StatedPolicy(self.arena, self.seats, row.copy(), self.known)
                for name, figure in sampled.metrics.items():
                    if figure is not None:
                        drawn.setdefault(name, []).append(figure)
            self._drawn[way] = {name: np.array(metrics) for name, metrics in drawn.items()}
        return self._drawn[way]

    def _move(self, way: float) -> StatedPolicy:
        """Return the policy that lies so far on the straight way to the equilibrium.

        The equilibrium is the nearest one, and 0 is this policy.
        """
        row = (1 - way) * self.row + way * self.nearest
        return StatedPolicy(self.arena, self.seats, row, self.known)


def average(metrics: Sequence[float | None], ranges: Sequence[float] = ()) -> float | None:
    """Average metrics, as shares of `ranges` where there are some; None where one is not known."""
    known = [figure for figure in metrics if figure is not None]
    if not known or len(known) < len(metrics):
        return None
    shares = np.divide(known, ranges) if ranges else known
    return float(np.mean(shares))


def make_baselines(arena: Arena, seats: tuple[int, ...]) -> dict[str, StatedPolicy]:
    """Return simple policies to be next to the models.

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
        name: StatedPolicy(
            arena,
            seats,
            policy.probabilities,
            everywhere,
            is_baseline=True,
        )
        for name, policy in policies.items()
    }


def _respond(tree: Tree, policy: Policy) -> Policy:
    """Return the policy in which every player plays a best response to `policy`."""
    sure = {}
    for player in tree.players:
        plan = sequence_form.tree_best_response(tree, policy, player).moves
        sure[player] = {label: {move: 1.0} for label, move in plan.items()}
    return policy_from_table(tree, sure)
