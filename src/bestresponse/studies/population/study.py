"""Populations that learn: pairs of strategies are played, then agents imitate or reply, beside theory.

The plays of a run are the matches of every pair of strategies. What agents then do costs no call: it is drawn from
these matches by the seed when the run is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.players.lookup import find_strategy
from bestresponse.players.strategies.fixed import ALWAYS
from bestresponse.report.blocks import lines, metrics_table, pivot, table, text
from bestresponse.report.frames import Frame, column
from bestresponse.report.metrics import Heads, Metric
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.inputs import ModelsSetting, NamedModel
from bestresponse.runs.reporting.answers import Answers, count_answers, make_answers_frame
from bestresponse.runs.seats import MatchSettings, check_players, estimate_plays, list_plays, make_player
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Measured, Study
from bestresponse.studies.population.agents import Dynamics, Matches, Rule, predict, run_agents
from bestresponse.theory.games.normal_form import Array, NormalForm

_NORMAL = 1.959964  # the 97.5 % quantile of the normal distribution: bands hold the mean with 95 %
_MOST_EQUILIBRIA = 6


@settings
class PopulationConfig(MatchSettings):
    """Let agents be matched, imitate or reply, and report which strategies and models spread, beside theory.

    Every pair of strategies plays matches; agents then earn what these matches earned, so a larger population costs no
    further call. In a symmetric game there is one population, elsewhere one for each role.
    """

    strategies: ModelsSetting = setting(
        default=(),
        kw_only=False,
        help="What an agent can be: always:MOVE, tit-for-tat, any player of `simulate`, a model; every move of the "
        "game if none is named.",
    )
    rule: Rule = setting(default="imitation", help="How agents revise.")
    agents: int = setting(default=100, ge=2, le=1_000_000, help="Agents of each population.")
    generations: int = setting(default=200, ge=1, le=1_000_000, help="How often all are matched.")
    revise: float = setting(default=0.2, gt=0, le=1, help="Probability that an agent revises in a generation.")
    precision: float = setting(default=1.0, ge=0, help="Of logit choice: how much a unit of payoff counts.")
    repetitions: int = setting(default=30, ge=2, le=1_000_000, help="How often the population starts anew.")
    start: Mapping[str, float] = setting(
        default_factory=dict,
        metavar="STRATEGY=SHARE",
        help="Shares at the start, by strategy; equal ones if none is given.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.strategies:
            moves = dict.fromkeys(f"{ALWAYS}{move}" for own in self.form.actions for move in own)
            object.__setattr__(self, "strategies", tuple(map(NamedModel, moves)))
        if len(set(self.strategies)) < len(self.strategies):
            raise SettingError("strategies", "one is named twice; expected different ones")
        for role, names in zip(self.roles, self.populations, strict=True):
            if len(names) < 2:
                raise UsageError(f"{role}: expected at least two strategies, found {', '.join(names) or 'none'}")
        unknown = sorted(set(self.start) - set(self.strategies))
        if unknown:
            raise SettingError("start", f"{unknown[0]!r} is none of {', '.join(self.strategies)}")
        if self.start and (min(self.start.values()) < 0 or not all(map(self.sum_start, self.populations))):
            raise SettingError("start", "expected shares of at least 0, one of them above 0 in each population")

    @property
    def form(self) -> NormalForm:
        """The payoff table of one round; UsageError where the game has none for two players."""
        form = find_stage_form(self.game.game())
        if form is None or form.num_players != 2:
            raise UsageError(f"{self.game.name} has no payoff table of two players, so nobody can be matched in it")
        return form

    @cached_property
    def symmetric(self) -> bool:
        """Whether both roles are the same, so that there is one population."""
        form = self.form
        return bool(form.actions[0] == form.actions[1] and (form.payoffs[0] == form.payoffs[1].T).all())

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the game."""
        return self.make_game().roles

    @cached_property
    def populations(self) -> tuple[tuple[NamedModel, ...], ...]:
        """By role, the strategies that can take it: a move that only the other role has is left out."""
        return tuple(tuple(name for name in self.strategies if self._can_sit(name, role)) for role in self.roles)

    def _can_sit(self, name: NamedModel, role: str) -> bool:
        try:
            find_strategy(name, self.make_game(), role, 0)
        except UsageError:
            if self.symmetric or not name.startswith(ALWAYS):
                raise
            return False
        return True

    def sum_start(self, names: tuple[str, ...]) -> float:
        """Add up the shares of strategies at the start, before they are made to sum to 1."""
        return sum(self.start.get(name, 0.0) if self.start else 1.0 for name in names)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the strategies."""
        game, role = self.make_game(), self.roles[0]
        named = [name for name in self.strategies if not name.startswith(ALWAYS)]
        return tuple(name for name in named if find_strategy(name, game, role, 0) is None)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the populations are called."""
        return ("all",) if self.symmetric else self.roles

    @property
    def dynamics(self) -> Dynamics:
        """How agents revise, from shares as near to the settings as whole agents allow."""
        start = []
        for names in self.populations[: len(self.labels)]:
            wanted = np.array([self.sum_start((name,)) for name in names]) / self.sum_start(names) * self.agents
            counts = np.floor(wanted).astype(np.int64)
            missing = np.argsort(counts - wanted, kind="stable")[: self.agents - counts.sum()]
            counts[missing] += 1
            start.append(counts / self.agents)
        return Dynamics(
            self.rule,
            self.agents,
            self.generations,
            self.repetitions,
            self.revise,
            self.precision,
            tuple(start),
        )


def list_matches(config: PopulationConfig) -> Iterator[JsonObject]:
    """Yield the matches of every pair of strategies, the first role first."""
    for pair in product(*config.populations):
        yield from list_plays(config, "population", dict(zip(config.roles, pair, strict=True)))


class ShareRow(TypedDict):
    """The share of a strategy in one generation: the mean over repetitions with its 95 % interval, beside theory."""

    population: str
    generation: int
    strategy: str
    share: Annotated[float, column("share of agents", ".3f", "mean over repetitions")]
    low: Annotated[float, column(format=".3f", help="lower end of the mean's 95 % interval")]
    high: Annotated[float, column(format=".3f", help="upper end of the mean's 95 % interval")]
    predicted: Annotated[float, column(format=".3f", help="what the dynamics expect")]


class MatchRow(TypedDict):
    """What a strategy earned against another."""

    population: str
    strategy: Annotated[str, column("own strategy")]
    against: str
    matches: int
    mean: Annotated[float | None, column("mean payoff", ".3f", "of a match")]


class EquilibriumRow(TypedDict):
    """A strategy that is played in an equilibrium between the strategies."""

    equilibrium: int
    role: str
    strategy: str
    probability: Annotated[float, column(format=".3f")]


class PopulationRow(TypedDict):
    """How a population did as a whole."""

    population: str
    farthest: Annotated[float, column(format=".3f", help="farthest any mean share was from what the dynamics expect")]


class VoidRow(TypedDict):
    """A match without a result."""

    first: str
    second: str
    why: str


@dataclass(frozen=True, slots=True)
class Holders:
    """The agents who hold one strategy: shares at the end by repetition, and expected shares by generation."""

    final: Array
    expected: Array
    seed: int


METRICS: tuple[Metric[Holders], ...] = (
    Metric("start", "start", "share of agents at the start", "", ".3f", lambda held: float(held.expected[0])),
    Metric(
        "end",
        "end",
        "mean share of agents at the end over repetitions, 95 % interval",
        "",
        ".3f",
        lambda held: cluster_bootstrap(held.final, rng=np.random.default_rng(held.seed)),
    ),
    Metric(
        "expected",
        "expected",
        "share at the end by the replicator, best-reply or logit dynamics from the same start",
        "",
        ".3f",
        lambda held: float(held.expected[-1]),
    ),
    Metric(
        "died_out",
        "died out",
        "share of repetitions at whose end nobody holds the strategy",
        "",
        ".3f",
        lambda held: float((held.final == 0).mean()),
    ),
)
"""Every figure of a strategy, in the order of the columns."""


def measure(config: PopulationConfig, folder: RunFolder) -> Measured:
    """Read the matches and let the agents meet; without a match of every pair nobody can be matched."""
    earned: dict[tuple[str, str], dict[int, list[float]]] = {}
    voids: list[VoidRow] = []
    answers: dict[str, Answers] = {}
    for line in folder.sorted_records():
        seats, record = dict(line["data"]["seats"]), line["record"]
        first, second = seats.values()
        count_answers(answers, record["submissions"], seats)
        if record.get("void"):
            voids.append(VoidRow(first=first, second=second, why=record["void"][1]))
            continue
        payoffs = [record["payoffs"][role] for role in config.roles]
        earned.setdefault((first, second), {})[line["data"]["repeat"]] = payoffs
    pairs = [(str(first), str(second)) for first, second in product(*config.populations)]
    payoffs_of = {
        pair: np.array([row for _, row in sorted(earned.get(pair, {}).items())]).reshape(-1, 2) for pair in pairs
    }
    frames: dict[str, Frame[Any]] = {}
    groups: dict[Heads, Holders] = {}
    if all(len(rows) for rows in payoffs_of.values()):
        matches = _pool_matches(config, payoffs_of)
        frames, groups = _let_agents_meet(config, matches)
        frames["equilibria"] = Frame(EquilibriumRow, list(_list_equilibria(config, matches)))
    return Measured(
        {
            **frames,
            "matches": Frame(MatchRow, list(_list_matches(config, payoffs_of))),
            "voids": Frame(VoidRow, voids),
            "answers": make_answers_frame(answers),
        },
        sum(len(rows) for rows in payoffs_of.values()),
        ("population", "strategy"),
        groups,
    )


def _pool_matches(config: PopulationConfig, payoffs: Mapping[tuple[str, str], Array]) -> Matches:
    """Take as many matches of each pair as there are of all; with one population both roles are pooled."""
    first, second = config.populations
    least = min(len(rows) for rows in payoffs.values())
    rows = np.array([[payoffs[a, b][:least, 0] for b in second] for a in first])
    columns = np.array([[payoffs[a, b][:least, 1] for a in first] for b in second])
    return Matches((np.concatenate([rows, columns], axis=2),) if config.symmetric else (rows, columns))


def _let_agents_meet(config: PopulationConfig, matches: Matches) -> tuple[dict[str, Frame[Any]], dict[Heads, Holders]]:
    observed = run_agents(config.dynamics, matches, np.random.default_rng(split(config.seed, "population")))
    shares: list[ShareRow] = []
    distances: list[PopulationRow] = []
    groups: dict[Heads, Holders] = {}
    expected = predict(config.dynamics, matches)
    for number, (label, names, seen, path) in enumerate(
        zip(config.labels, config.populations, observed, expected, strict=False)
    ):
        mean, error = seen.mean(axis=0), seen.std(axis=0, ddof=1) / np.sqrt(len(seen))
        low, high = np.maximum(mean - _NORMAL * error, 0.0), np.minimum(mean + _NORMAL * error, 1.0)
        distances.append(PopulationRow(population=label, farthest=float(np.abs(mean - path).max())))
        for generation, k in np.ndindex(mean.shape):
            shares.append(
                ShareRow(
                    population=label,
                    generation=generation,
                    strategy=str(names[k]),
                    share=float(mean[generation, k]),
                    low=float(low[generation, k]),
                    high=float(high[generation, k]),
                    predicted=float(path[generation, k]),
                )
            )
        for k, name in enumerate(names):
            groups[label, str(name)] = Holders(seen[:, -1, k], path[:, k], split(config.seed, "final", number, k))
    return {"shares": Frame(ShareRow, shares), "populations": Frame(PopulationRow, distances)}, groups


def _list_matches(config: PopulationConfig, payoffs: Mapping[tuple[str, str], Array]) -> Iterator[MatchRow]:
    """Yield what every strategy earned against every other, in each population."""
    for number, label in enumerate(config.labels):
        for own, other in product(config.populations[number], config.populations[-1 - number]):
            rows = [payoffs[own, other][:, 0] if number == 0 else payoffs[other, own][:, 1]]
            if config.symmetric:
                rows.append(payoffs[other, own][:, 1])
            values = np.concatenate([row for row in rows if row.size] or [np.empty(0)])
            yield MatchRow(
                population=label,
                strategy=str(own),
                against=str(other),
                matches=values.size,
                mean=float(values.mean()) if values.size else None,
            )


def _list_equilibria(config: PopulationConfig, matches: Matches) -> Iterator[EquilibriumRow]:
    """Yield the equilibria of the game in which the strategies are the moves and mean payoffs the payoffs."""
    for number, predicted in enumerate(describe_theory(MatrixGame(matches.form)).predicted[:_MOST_EQUILIBRIA], 1):
        for names, (role, places) in zip(config.populations, predicted.shares.items(), strict=True):
            for name, probability in zip(names, places[""].values(), strict=True):
                if probability > 1e-9:  # what a solver leaves of 0
                    yield EquilibriumRow(
                        equilibrium=number, role=role, strategy=str(name), probability=float(probability)
                    )


def estimate_matches(config: PopulationConfig) -> Estimate:
    """Count the calls of all matches at most."""
    pairs = [dict(zip(config.roles, pair, strict=True)) for pair in product(*config.populations)]
    return Estimate.add(
        [estimate_plays(config, config.make_game(), pair, config.rounds) for pair in pairs],
        f"{config.repeats * len(pairs):,} matches of {config.game.name}, {len(pairs)} pairs of strategies",
    )


_DYNAMICS = """{{ {"imitation": "replicator dynamics (payoffs divided by their range)",
"best-reply": "best-reply dynamics", "logit": "logit dynamics"}[config.rule] }}"""

population = Study(
    "population",
    PopulationConfig,
    specs=list_matches,
    play=lambda config, models: make_player(lambda data: config.make_game(), models),
    measure=measure,
    metrics=METRICS,
    title="A population in {{ config.game.name }}",
    subtitle="{{ config.agents }} agents, {{ config.generations }} generations, {{ config.rule }}, "
    "{{ config.repetitions }} repetitions, seed {{ config.seed }}",
    command="simulate population",
    unit="matches",
    tables=2,
    game=lambda config, data: config.make_game(),
    prepare=check_players,
    estimate_calls=estimate_matches,
    report=(
        text(
            "{% set missing = frame('matches').select(matches=0) %}{% if missing|length %}{{ missing|length }} pairs "
            "of strategies have no match that counts ({{ missing[0].strategy }} against {{ missing[0].against }}), so "
            "agents cannot be matched; the same command plays what is missing.{% endif %}",
            kind="warning",
        ),
        text(
            "{% for row in frame('populations') %}{% if row.population != 'all' %}In the population of "
            "{{ row.population }}: {% endif %}The mean share of every strategy stayed within "
            "{{ '%.3f'|format(row.farthest) }} of the " + _DYNAMICS + ". {% endfor %}"
        ),
        metrics_table("How the shares changed"),
        lines(
            "shares",
            x="generation",
            y="share",
            by="strategy",
            band=("low", "high"),
            expected="predicted",
            split="population",
            caption="mean over {{ config.repetitions }} repetitions with its 95 % interval; dotted: what the "
            + _DYNAMICS
            + " expects from the same start.",
        ),
        pivot(
            "matches",
            rows="strategy",
            columns="against",
            value="mean",
            split="population",
            title="What strategies earn against each other",
            caption="mean payoff of a match against each",
        ),
        table(
            "equilibria",
            title="Equilibria between the strategies",
            caption="The game in which the strategies above are the moves and mean payoffs the payoffs.",
        ),
        table("voids", title="Void matches", caption="These matches have no result and enter no figure.", most=20),
    ),
)
"""Which strategies and models spread when agents imitate or reply."""
