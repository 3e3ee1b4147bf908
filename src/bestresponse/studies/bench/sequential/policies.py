"""From answers to policies: what a model would do at every information set, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.core.player import Decision
from bestresponse.core.seeds import split
from bestresponse.players.llm.verified import make_label
from bestresponse.report.stats.interval import Interval
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.sequential.arena import Arena, Ends, Partial
from bestresponse.studies.bench.sequential.plan import Plan
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy, uniform_policy
from bestresponse.theory.trees.response import tree_best_response
from bestresponse.theory.trees.tree import Tree

__all__ = ["BASELINE", "Answer", "PolicyKey", "SeatFigures", "StatedPolicy", "collect_policies", "make_baselines"]

BASELINE = "baseline"
"""What stands for the way of asking where nobody was asked."""
_RESAMPLES = 400
_LEVEL = 0.95

PolicyKey = tuple[str, str, int]
"""A player, how it was asked, and the number of the policy."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the information set, the mixture over its moves in the game's order, and the stored play."""

    infoset: int
    mix: Array | None
    play: StoredPlay

    @property
    def decision(self) -> Decision:
        """What the model said, and how that was read."""
        return self.play.record.submissions[-1].decision


@dataclass(frozen=True, slots=True)
class SeatFigures:
    """What a policy is worth in one seat; a figure is None where theory has none or the policy is not complete."""

    seat: int
    value: float | None
    gap: float | None
    exploitability: float | None
    regret: float | None
    gap_ends: Ends | None
    exploitability_ends: Ends | None


@dataclass(frozen=True)
class StatedPolicy:
    """A policy in an arena, known at some or all information sets of the seats; `counts` where moves were sampled."""

    player: str
    way: str
    number: int
    arena: Arena
    seats: tuple[int, ...]
    partial: Partial
    counts: Mapping[int, Array]

    @cached_property
    def policy(self) -> Policy:
        """The policy, uniform where it is not known."""
        return Policy(self.arena.tree, self.partial.row)

    @cached_property
    def complete(self) -> bool:
        """Whether the policy is known at every information set of the seats."""
        return self.partial.is_complete(self.arena.tree, self.seats)

    @property
    def everywhere(self) -> bool:
        """Whether it is known for all players, so that they can be thought to play against each other."""
        return bool(self.partial.known.all())

    @cached_property
    def seat_figures(self) -> tuple[SeatFigures, ...]:
        """What the policy is worth, seat by seat."""
        plans = self.arena.form.plans(self.policy)
        regrets = self.arena.measure_regrets(plans) if self.everywhere else None
        found = []
        for seat in self.seats:
            if not self.partial.is_complete(self.arena.tree, (seat,)):
                ends = self.arena.bound_gap(seat, self.partial), self.arena.bound_exploitability(seat, self.partial)
                found.append(SeatFigures(seat, None, None, None, None, *ends))
                continue
            gap = self.arena.measure_gap(seat, plans[seat])
            taken = self.arena.measure_exploitability(seat, plans[seat])
            regret = None if regrets is None else float(regrets[seat])
            ends = None if gap is None else (gap, gap), None if taken is None else (taken, taken)
            found.append(SeatFigures(seat, self.arena.earn(seat, plans[seat]), gap, taken, regret, *ends))
        return tuple(found)

    @cached_property
    def figures(self) -> dict[str, float | None]:
        """NashConv, and the means over the seats of exploitability and gap, also as shares of the payoff range."""
        return _summarise(self.arena, self.seat_figures, len(self.seats) == self.arena.tree.num_players)

    @cached_property
    def _drawn(self) -> dict[float, dict[str, Array]]:
        return {}

    def _draw(self, way: float) -> dict[str, Array]:
        """Draw samples as large as the one at hand from a policy on the way to an equilibrium; return their figures."""
        if way not in self._drawn:
            rng = np.random.default_rng(split(self.number, f"resampled policy {way:g}"))
            true, row = self._move(way), self.partial.row.copy()
            found: dict[str, list[float]] = {}
            for _ in range(_RESAMPLES):
                for infoset, counts in self.counts.items():
                    place = slice(*self.arena.tree.first_move[infoset : infoset + 2])
                    total = int(counts.sum())
                    row[place] = rng.multinomial(total, true[place] / true[place].sum()) / total
                for name, figure in self._replace(row.copy()).figures.items():
                    if figure is not None:
                        found.setdefault(name, []).append(figure)
            self._drawn[way] = {name: np.array(figures) for name, figures in found.items()}
        return self._drawn[way]

    def _move(self, way: float) -> Array:
        """Return the policy that lies so far on the straight way to the nearest equilibrium, 0 being this one."""
        row: Array = (1 - way) * self.partial.row + way * self._equilibrium
        return row

    @cached_property
    def _equilibrium(self) -> Array:
        return self.arena.find_nearest(self.policy).probabilities

    def _replace(self, row: Array) -> StatedPolicy:
        return StatedPolicy("", "", 0, self.arena, self.seats, Partial(row, self.partial.known), {})

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
        near, far = 0.0, 1.0
        if self._is_plausible(far, name, figure):
            near = far
        while far - near > 1 / 16:
            middle = (near + far) / 2
            near, far = (middle, far) if self._is_plausible(middle, name, figure) else (near, middle)
        return float(self._replace(self._move(near)).figures[name] or 0.0)

    def _is_plausible(self, way: float, name: str, figure: float) -> bool:
        return float(np.mean(self._draw(way)[name] >= figure - 1e-12)) >= (1 - _LEVEL) / 2


def _summarise(arena: Arena, seats: Sequence[SeatFigures], whole: bool) -> dict[str, float | None]:
    ranges = [float(arena.ranges[one.seat]) or 1.0 for one in seats]
    regrets = [one.regret for one in seats]
    taken, gaps = [one.exploitability for one in seats], [one.gap for one in seats]
    return {
        "nash_conv": _add(regrets) if whole else None,
        "exploitability": _average(taken),
        "exploitability_normalised": _average(_share(taken, ranges)),
        "nash_gap": _average(gaps),
        "gap_normalised": _average(_share(gaps, ranges)),
    }


def _share(figures: Sequence[float | None], ranges: Sequence[float]) -> list[float | None]:
    return [None if one is None else one / spread for one, spread in zip(figures, ranges, strict=True)]


def _add(figures: Sequence[float | None]) -> float | None:
    known = [one for one in figures if one is not None]
    return sum(known) if known and len(known) == len(figures) else None


def _average(figures: Sequence[float | None]) -> float | None:
    total = _add(figures)
    return None if total is None else total / len(figures)


def read_answer(tree: Tree, play: StoredPlay) -> Answer:
    """Read a stored play as an answer, its moves put back into the order of the game."""
    data = play.data
    index = tree.infoset_index[data["player"], data["infoset"]]
    action = play.record.submissions[-1].decision.action
    if action is None:
        return Answer(index, None, play)
    offered = list(data["moves"])
    given = [float(move == action) for move in offered] if isinstance(action, str) else list(action)
    by_move = dict(zip(offered, given, strict=True))
    mix = np.array([by_move[move] for move in tree.infosets[index].moves], dtype=np.float64)
    return Answer(index, mix / mix.sum(), play)


def collect_policies(
    plan: Plan, arena: Arena, plays: Iterable[StoredPlay]
) -> tuple[dict[PolicyKey, StatedPolicy], dict[PolicyKey, list[Answer]]]:
    """Put the answers of a run together to policies, in the order of the settings."""
    answers: dict[PolicyKey, list[Answer]] = {}
    for play in plays:
        key = make_label(play.data["model"]), play.data["way"], int(play.data["policy"])
        answers.setdefault(key, []).append(read_answer(plan.tree, play))
    labels, ways = plan.config.labels, plan.config.elicit
    ordered = sorted(answers, key=lambda key: (labels.index(key[0]), ways.index(key[1]), key[2]))
    return {key: _put_together(plan, arena, key, answers[key]) for key in ordered}, answers


def _put_together(plan: Plan, arena: Arena, key: PolicyKey, answers: Sequence[Answer]) -> StatedPolicy:
    """Average the readable answers at every information set."""
    row, known = uniform_policy(plan.tree).probabilities.copy(), np.zeros(len(plan.tree.infosets), dtype=bool)
    sums: dict[int, Array] = {}
    for one in answers:
        if one.mix is not None:
            sums[one.infoset] = sums.get(one.infoset, np.zeros(len(one.mix))) + one.mix
    for infoset, total in sums.items():
        start = plan.tree.first_move[infoset]
        row[start : start + len(total)] = total / total.sum()
        known[infoset] = True
    counts = sums if key[1] == "sampled" else {}
    return StatedPolicy(*key, arena, plan.seats, Partial(row, known), counts)


def make_baselines(plan: Plan, arena: Arena) -> dict[str, StatedPolicy]:
    """Return simple policies to stand beside the models.

    uniform       every move equally often
    first, last   always the move that is listed first, or last
    level-1       a best response to uniform play; level-2 one to level-1
    equilibrium   an equilibrium, where one was found
    """
    tree = plan.tree
    uniform = uniform_policy(tree)
    first, last = (_play_always(tree, place) for place in (0, -1))
    level_1 = _respond(tree, uniform)
    found = {"uniform": uniform, "first": first, "last": last, "level-1": level_1, "level-2": _respond(tree, level_1)}
    if arena.equilibrium is not None:
        found["equilibrium"] = arena.equilibrium
    everywhere = np.ones(len(tree.infosets), dtype=bool)
    return {
        name: StatedPolicy(name, BASELINE, 0, arena, plan.seats, Partial(policy.probabilities, everywhere), {})
        for name, policy in found.items()
    }


def _play_always(tree: Tree, place: int) -> Policy:
    row = np.zeros(int(tree.first_move[-1]))
    row[tree.first_move[:-1] if place == 0 else tree.first_move[1:] - 1] = 1.0
    return Policy(tree, row)


def _respond(tree: Tree, policy: Policy) -> Policy:
    """Return the policy in which every player plays a best response to `policy`."""
    row = np.zeros(int(tree.first_move[-1]))
    moves = {player: tree_best_response(tree, policy, player).moves for player in tree.players}
    for index, infoset in enumerate(tree.infosets):
        chosen = moves[tree.players[infoset.player]][infoset.label]
        row[tree.first_move[index] + infoset.moves.index(chosen)] = 1.0
    return Policy(tree, row)
