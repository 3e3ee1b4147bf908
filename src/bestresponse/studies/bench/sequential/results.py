"""All answers of a run as rows, the policies they make up, and the figures of every player beside the baselines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.json import JsonObject
from bestresponse.report.metrics import Figures, Metric, Value, figures_to_json
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.sequential.arena import Arena, Ends
from bestresponse.studies.bench.sequential.plan import Plan
from bestresponse.studies.bench.sequential.policies import (
    BASELINE,
    Answer,
    PolicyKey,
    StatedPolicy,
    collect_policies,
    make_baselines,
)
from bestresponse.studies.bench.sequential.rows import SequentialRow
from bestresponse.theory.games.normal_form import Array

__all__ = ["METRICS", "Group", "SequentialResults", "bound_figure"]

_SEED = 20
Group = tuple[str, str]
"""A player and how it was asked."""


def _average(name: str) -> Any:
    """Average a figure over the complete policies of a group; a single one has the interval of its samples."""

    def compute(policies: Sequence[StatedPolicy]) -> Value:
        known = [one for one in policies if one.figures[name] is not None]
        if len(known) == 1:
            return known[0].estimate(name)
        values = [one.figures[name] for one in known]
        return cluster_bootstrap(values, rng=np.random.default_rng(_SEED)) if values else None  # type: ignore[arg-type]

    return compute


def _count_complete(policies: Sequence[StatedPolicy]) -> int:
    return sum(one.complete for one in policies)


def _share_known(policies: Sequence[StatedPolicy]) -> float:
    """Return the share of the seats' information sets at which something is known."""
    sets = policies[0].arena.tree.infosets
    asked = [k for k, one in enumerate(sets) if one.player in policies[0].seats]
    return float(np.mean([one.partial.known[asked].mean() for one in policies]))


METRICS: tuple[Metric[Sequence[StatedPolicy]], ...] = (
    Metric("policies", "policies", "policies that were asked for", "", "", lambda policies: len(policies)),
    Metric("complete", "complete", "policies known at every information set", "", "", _count_complete),
    Metric("known", "sets known", "share of the information sets with a readable answer", "", ".3f", _share_known),
    Metric(
        "exploitability",
        "exploitability",
        "what a best-responding opponent takes, mean of the seats; two players, constant sum",
        "",
        ".4f",
        _average("exploitability"),
    ),
    Metric(
        "exploitability_normalised",
        "exploitability / range",
        "the same as a share of the range of payoffs",
        "",
        ".3f",
        _average("exploitability_normalised"),
    ),
    Metric(
        "nash_conv",
        "NashConv",
        "what all players together gain by deviating alone when everybody follows the policy; 0 at an equilibrium",
        "",
        ".4f",
        _average("nash_conv"),
    ),
    Metric(
        "nash_gap",
        "Nash gap",
        "lost against equilibrium opponents, mean of the seats",
        "",
        ".4f",
        _average("nash_gap"),
    ),
    Metric(
        "gap_normalised",
        "gap / range",
        "the Nash gap as a share of the range of payoffs",
        "",
        ".3f",
        _average("gap_normalised"),
    ),
)
"""Every figure of a policy, in the order of the columns."""


@dataclass(frozen=True)
class SequentialResults:
    """The measured answers of a run."""

    plan: Plan
    arena: Arena
    method: str
    policies: dict[PolicyKey, StatedPolicy]
    answers: dict[PolicyKey, list[Answer]]

    @classmethod
    def measure(cls, plan: Plan, plays: Iterable[StoredPlay]) -> SequentialResults:
        """Measure the answers of `plan`."""
        theory = describe_theory(plan.game)
        arena = Arena(plan.form, theory.policies[0] if theory.policies else None)
        return cls(plan, arena, theory.method, *collect_policies(plan, arena, plays))

    @property
    def answered(self) -> int:
        """How many answers could be read."""
        return sum(one.mix is not None for answers in self.answers.values() for one in answers)

    @property
    def asked(self) -> int:
        """How many answers there are."""
        return sum(map(len, self.answers.values()))

    @property
    def unfinished(self) -> int:
        """How many planned questions are missing."""
        return max(self.plan.total - self.asked, 0)

    @cached_property
    def rows(self) -> tuple[SequentialRow, ...]:
        """One row an answer, by policy and information set."""
        found = []
        for key, policy in self.policies.items():
            losses, regrets = self.split(policy)
            for one in sorted(self.answers[key], key=lambda a: (a.infoset, a.play.data["sample"])):
                found.append(self._describe(key, policy, one, losses, regrets))
        return tuple(found)

    def split(self, policy: StatedPolicy) -> tuple[dict[int, float | None], dict[int, float | None]]:
        """Split gap and regret of a policy by information set."""
        arena = self.arena
        losses = {} if arena.equilibrium is None else arena.split_losses(policy.partial, arena.equilibrium)
        regrets = arena.split_losses(policy.partial, policy.policy) if policy.everywhere else {}
        return {k: lost for k, (_, lost) in losses.items()}, {k: lost for k, (_, lost) in regrets.items()}

    def _describe(
        self,
        key: PolicyKey,
        policy: StatedPolicy,
        one: Answer,
        losses: dict[int, float | None],
        regrets: dict[int, float | None],
    ) -> SequentialRow:
        infoset, reading = self.plan.tree.infosets[one.infoset], one.decision.reading
        solution = self.arena.equilibrium
        return {
            "spec": one.play.spec,
            "model": key[0],
            "way": key[1],
            "policy": key[2],
            "sample": one.play.data["sample"],
            "player": self.plan.tree.players[infoset.player],
            "infoset": infoset.label,
            "moves": list(infoset.moves),
            "temperature": one.play.data["temperature"],
            "status": reading.status.value,
            "how": reading.how,
            "strategy": None if one.mix is None else one.mix.tolist(),
            "loss": losses.get(one.infoset),
            "regret": regrets.get(one.infoset),
            "mixture": self.cut(policy.partial.row, one.infoset) if policy.partial.known[one.infoset] else None,
            "equilibrium": None if solution is None else self.cut(solution.probabilities, one.infoset),
        }

    def cut(self, row: Array, infoset: int) -> list[float]:
        """Return the probabilities at one information set."""
        first = self.plan.tree.first_move
        return [float(p) for p in row[first[infoset] : first[infoset + 1]]]

    @cached_property
    def groups(self) -> dict[Group, list[StatedPolicy]]:
        """The policies of every player in every way of asking."""
        found: dict[Group, list[StatedPolicy]] = {}
        for (player, way, _), policy in self.policies.items():
            found.setdefault((player, way), []).append(policy)
        return found

    @cached_property
    def baselines(self) -> dict[str, StatedPolicy]:
        """Simple policies on the same game and seats."""
        return make_baselines(self.plan, self.arena)

    @cached_property
    def figures(self) -> dict[Group, dict[str, Value]]:
        """The metrics of every player in every way of asking."""
        return {
            group: {metric.name: metric.compute(policies) for metric in METRICS}
            for group, policies in self.groups.items()
        }

    def list_figures(self) -> Figures:
        """List every metric of players and baselines."""
        baselines = {(name, BASELINE): own for name, own in self.baseline_figures.items()}
        return Figures(METRICS, ("player", "asked for"), [*self.figures.items(), *baselines.items()])

    @cached_property
    def baseline_figures(self) -> dict[str, dict[str, Value]]:
        """The metrics of every baseline, which is known exactly and has no interval."""
        counted: dict[str, float | None] = {"policies": 1, "complete": 1, "known": 1.0}
        return {name: {**counted, **policy.figures} for name, policy in self.baselines.items()}

    @property
    def summary(self) -> JsonObject:
        """The figures of every player and baseline, bounds where answers are missing, and the equilibrium's values."""
        players = {
            " / ".join(group): figures_to_json(figures) | self._bound(group) for group, figures in self.figures.items()
        }
        baselines = {name: figures_to_json(figures) for name, figures in self.baseline_figures.items()}
        solved = self.arena.equilibrium is not None
        values = dict(zip(self.plan.tree.players, self.arena.values.tolist(), strict=True)) if solved else None
        about = {"game": self.plan.game.name, "infosets": len(self.plan.candidates), "asked": len(self.plan.infosets)}
        return about | {"players": players, "baselines": baselines, "method": self.method, "values": values}

    def _bound(self, group: Group) -> JsonObject:
        policies = self.groups[group]
        if all(one.complete for one in policies):
            return {}
        ends = {name: bound_figure(policies, name) for name in ("exploitability", "nash_gap")}
        return {f"{name}_bounds": list(pair) for name, pair in ends.items() if pair is not None}


def bound_figure(policies: Sequence[StatedPolicy], name: str) -> Ends | None:
    """Return the least and the most that the mean `exploitability` or `nash_gap` can be, whatever is not known."""
    field = "gap_ends" if name == "nash_gap" else "exploitability_ends"
    pairs = [getattr(seat, field) for one in policies for seat in one.seat_figures]
    if not pairs or None in pairs:
        return None
    low, high = np.mean(pairs, axis=0)
    return float(low), float(high)
