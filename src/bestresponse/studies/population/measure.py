"""What the matches of a run earned, and the shares of the strategies that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

import numpy as np

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.seeds import split
from bestresponse.report.metrics import Figures, Heads, Metric, compute_figures
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.reporting.answers import Answers, count_answers
from bestresponse.studies.population.agents import Matches, predict, run_agents
from bestresponse.studies.population.config import PopulationConfig
from bestresponse.theory.games.normal_form import Array

__all__ = ["METRICS", "PopulationResults", "ShareRow", "measure"]

_NORMAL = 1.959964


class ShareRow(TypedDict):
    """The share of a strategy in one generation: the mean over repetitions with its 95 % interval, beside theory."""

    population: str
    generation: int
    strategy: str
    share: float
    low: float
    high: float
    predicted: float


@dataclass(frozen=True, eq=False)
class PopulationResults:
    """The matches of a run by pair of strategies, and what agents do with them; `voids` have no result."""

    config: PopulationConfig
    earned: Mapping[tuple[str, str], Array]
    voids: tuple[str, ...]
    answers: Mapping[str, Answers]

    @property
    def answered(self) -> int:
        """How many matches count."""
        return sum(len(own) for own in self.earned.values())

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """The pairs of which no match counts; without them nobody can be matched."""
        first, second = self.config.populations
        return tuple((a, b) for a in first for b in second if not len(self.earned.get((a, b), ())))

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """By population, the strategies."""
        return self.config.populations[:1] if self.config.symmetric else self.config.populations

    @property
    def labels(self) -> tuple[str, ...]:
        """What the populations are called."""
        return ("all",) if self.config.symmetric else self.config.roles

    @cached_property
    def matches(self) -> Matches:
        """What matches earned, as many of each pair as there are of all; with one population both roles are pooled."""
        first, second = self.config.populations
        least = min(len(self.earned[a, b]) for a in first for b in second)
        rows = np.array([[self.earned[a, b][:least, 0] for b in second] for a in first])
        columns = np.array([[self.earned[a, b][:least, 1] for a in first] for b in second])
        return Matches((np.concatenate([rows, columns], axis=2),) if self.config.symmetric else (rows, columns))

    @cached_property
    def observed(self) -> tuple[Array, ...]:
        """By population, the shares in every repetition, generation and strategy."""
        rng = np.random.default_rng(split(self.config.seed, "population"))
        return run_agents(self.config, self.matches, rng)

    @cached_property
    def predicted(self) -> tuple[Array, ...]:
        """By population, the shares that theory expects in every generation."""
        return predict(self.config, self.matches)

    def bands(self, population: int) -> tuple[Array, Array, Array]:
        """Return mean, low and high end of the mean's 95 % interval, by generation and strategy."""
        seen = self.observed[population]
        mean, error = seen.mean(axis=0), seen.std(axis=0, ddof=1) / np.sqrt(len(seen))
        return mean, np.maximum(mean - _NORMAL * error, 0.0), np.minimum(mean + _NORMAL * error, 1.0)

    @cached_property
    def rows(self) -> tuple[ShareRow, ...]:
        """One row for each population, generation and strategy; none where a pair has no match."""
        return () if self.missing else tuple(self._list_rows())

    def _list_rows(self) -> Iterable[ShareRow]:
        for number, (label, names) in enumerate(zip(self.labels, self.names, strict=True)):
            mean, low, high = self.bands(number)
            for generation in range(self.config.generations + 1):
                for k, name in enumerate(names):
                    yield ShareRow(
                        population=label,
                        generation=generation,
                        strategy=name,
                        share=float(mean[generation, k]),
                        low=float(low[generation, k]),
                        high=float(high[generation, k]),
                        predicted=float(self.predicted[number][generation, k]),
                    )

    @cached_property
    def figures(self) -> Figures:
        """The metrics of every strategy in its population; none where a pair has no match."""
        places = [] if self.missing else [(p, k) for p, names in enumerate(self.names) for k in range(len(names))]
        groups: dict[Heads, Holders] = {(self.labels[p], self.names[p][k]): Holders(self, p, k) for p, k in places}
        return compute_figures(METRICS, ("population", "strategy"), groups)

    def final(self, population: int, strategy: int) -> Interval:
        """Return the share of a strategy at the end, with its interval over repetitions."""
        rng = np.random.default_rng(split(self.config.seed, "final", population, strategy))
        return cluster_bootstrap(self.observed[population][:, -1, strategy], rng=rng)

    def extinct(self, population: int, strategy: int) -> float:
        """Return the share of repetitions at whose end nobody holds the strategy."""
        return float((self.observed[population][:, -1, strategy] == 0).mean())

    @cached_property
    def distances(self) -> tuple[float, ...]:
        """By population, how far the mean share of any strategy ever was from what theory expects."""
        return tuple(
            float(np.abs(seen.mean(axis=0) - path).max())
            for seen, path in zip(self.observed, self.predicted, strict=True)
        )

    @cached_property
    def summary(self) -> JsonObject:
        """The figures as plain data."""
        config = self.config
        about: JsonObject = {
            "game": config.game.name,
            "rule": config.rule,
            "agents": config.agents,
            "generations": config.generations,
            "repetitions": config.repetitions,
            "matches": self.answered,
            "void": len(self.voids),
            "answers": {name: read.to_json() for name, read in self.answers.items()},
        }
        if self.missing:
            return about | {"missing_pairs": [list(pair) for pair in self.missing]}
        return about | {
            "farthest_from_theory": dict(zip(self.labels, self.distances, strict=True)),
            "payoffs": {label: own.tolist() for label, own in zip(self.labels, self.matches.means, strict=True)},
        }


@dataclass(frozen=True, slots=True)
class Holders:
    """Those who hold one strategy of one population."""

    results: PopulationResults
    population: int
    strategy: int

    @property
    def path(self) -> Array:
        """The shares that theory expects, generation by generation."""
        return self.results.predicted[self.population][:, self.strategy]


METRICS: tuple[Metric[Holders], ...] = (
    Metric("start", "start", "share of agents at the start", "", ".3f", lambda one: float(one.path[0])),
    Metric(
        "end",
        "end",
        "mean share of agents at the end over repetitions, 95 % interval",
        "",
        ".3f",
        lambda one: one.results.final(one.population, one.strategy),
    ),
    Metric(
        "expected",
        "expected",
        "share at the end by the replicator, best-reply or logit dynamics from the same start",
        "",
        ".3f",
        lambda one: float(one.path[-1]),
    ),
    Metric(
        "died_out",
        "died out",
        "share of repetitions at whose end nobody holds the strategy",
        "",
        ".3f",
        lambda one: one.results.extinct(one.population, one.strategy),
    ),
)
"""Every figure of a strategy, in the order of the columns."""


def measure(config: PopulationConfig, plays: Iterable[JsonMapping]) -> PopulationResults:
    """Read the matches; `plays` are the lines of a run's records, as plain data."""
    earned: dict[tuple[str, str], dict[int, list[float]]] = {}
    voids: list[str] = []
    answers: dict[str, Answers] = {}
    for line in plays:
        seats, record = dict(line["data"]["seats"]), line["record"]
        count_answers(answers, record["submissions"], seats)
        if record["void"]:
            voids.append(f"{' against '.join(seats.values())}: {record['void']['why']}")
            continue
        first, second = seats.values()
        own = [record["payoffs"][role] for role in config.roles]
        earned.setdefault((first, second), {})[line["data"]["repeat"]] = own
    tables = {pair: np.array([own for _, own in sorted(found.items())]) for pair, found in earned.items()}
    return PopulationResults(config, tables, tuple(voids), answers)
