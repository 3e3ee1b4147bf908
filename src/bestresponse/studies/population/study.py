"""Populations that learn: pairs of strategies are played, then agents imitate or reply, beside theory.

The plays of a run are the matches of every pair of strategies. What agents then do costs no call: it is drawn from
these matches by the seed when the run is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal, TypedDict

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
from bestresponse.report.metrics import Heads, list_metrics
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.inputs import ModelsSetting, NamedModel
from bestresponse.runs.reporting.answers import Answers, count_answers, make_answers_frame
from bestresponse.runs.seats import MatchSettings, check_players, estimate_plays, list_plays, make_player
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Measured, Study
from bestresponse.studies.population.agents import average_matches, predict_shares, run_agents
from bestresponse.theory.games.normal_form import Array, NormalForm

_NORMAL = 1.959964  # the 97.5 % quantile of the normal distribution: bands hold the mean with 95 %
_MOST_EQUILIBRIA = 6


@settings
class PopulationConfig(MatchSettings):
    """Let agents be matched, imitate or reply, and report which strategies and models spread, beside theory.

    Every pair of strategies plays matches; agents then earn what these matches earned, so a larger population costs no
    further call. In a symmetric game there is one population, elsewhere one for each role.
    """

    strategies: ModelsSetting = setting(default=(), kw_only=False)
    """What an agent can be: always:MOVE, tit-for-tat, any player of `simulate`, a model; every move of the game if
    none is named."""
    rule: Literal["imitation", "best-reply", "logit"] = setting(default="imitation", help="How agents revise.")
    agents: int = setting(default=100, ge=2, le=1_000_000, help="Agents of each population.")
    generations: int = setting(default=200, ge=1, le=1_000_000, help="How often all are matched.")
    revise: float = setting(default=0.2, gt=0, le=1, help="Probability that an agent revises in a generation.")
    precision: float = setting(default=1.0, ge=0, help="Of logit choice: how much a unit of payoff counts.")
    repetitions: int = setting(default=30, ge=2, le=1_000_000, help="How often the population starts anew.")
    start: Mapping[str, float] = setting(default_factory=dict, metavar="STRATEGY=SHARE")
    """Shares at the start, by strategy; equal ones if none is given."""

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
        object.__setattr__(self, "start", self.start or dict.fromkeys(map(str, self.strategies), 1.0))
        unknown = sorted(set(self.start) - set(self.strategies))
        if unknown:
            raise SettingError("start", f"{unknown[0]!r} is none of {', '.join(self.strategies)}")
        if min(self.start.values()) < 0 or not all(sum(map(self._weigh, names)) for names in self.populations):
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

    def _weigh(self, name: str) -> float:
        return self.start.get(name, 0.0)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the strategies."""
        game = self.make_game()
        named = [name for name in self.strategies if not name.startswith(ALWAYS)]
        return tuple(name for name in named if find_strategy(name, game, game.roles[0], 0) is None)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the populations are called."""
        return ("all",) if self.symmetric else self.roles

    @property
    def first_shares(self) -> tuple[Array, ...]:
        """The shares at the start, by population, as near to the settings as whole agents allow."""
        shares = []
        for _, names in zip(self.labels, self.populations, strict=False):
            wanted = np.array([self._weigh(name) for name in names])
            wanted *= self.agents / wanted.sum()
            counts = np.floor(wanted)
            counts[np.argsort(counts - wanted, kind="stable")[: self.agents - int(counts.sum())]] += 1
            shares.append(counts / self.agents)
        return tuple(shares)


def list_pair_matches(config: PopulationConfig) -> Iterator[JsonObject]:
    """Yield the matches of every pair of strategies, the first role first."""
    for pair in product(*config.populations):
        yield from list_plays(config, "population", dict(zip(config.roles, pair, strict=True)))


class StrategyShareRow(TypedDict):
    """The share of a strategy in one generation: the mean over repetitions with its 95 % interval, beside theory."""

    population: str
    generation: int
    strategy: str
    share: Annotated[float, column("share of agents", ".3f")]
    """mean over repetitions"""
    low: Annotated[float, column(format=".3f")]
    """lower end of the mean's 95 % interval"""
    high: Annotated[float, column(format=".3f")]
    """upper end of the mean's 95 % interval"""
    predicted: Annotated[float, column(format=".3f")]
    """what the dynamics expect"""


class PairRow(TypedDict):
    """What a strategy earned against another."""

    population: str
    strategy: Annotated[str, column("own strategy")]
    against: str
    matches: int
    mean: Annotated[float | None, column("mean payoff", ".3f")]
    """of a match"""


class StrategyEquilibriumRow(TypedDict):
    """A strategy that is played in an equilibrium between the strategies."""

    equilibrium: int
    role: str
    strategy: str
    probability: Annotated[float, column(format=".3f")]


class PopulationRow(TypedDict):
    """How a population did as a whole."""

    population: str
    farthest: Annotated[float, column(format=".3f")]
    """farthest any mean share was from what the dynamics expect"""


class VoidMatchRow(TypedDict):
    """A match without a result."""

    first: str
    second: str
    why: str


class StrategyFigures(TypedDict):
    """The figures of a strategy."""

    start: Annotated[float, column(format=".3f")]
    """share of agents at the start"""
    end: Annotated[Interval, column(format=".3f")]
    """mean share of agents at the end over repetitions, 95 % interval"""
    expected: Annotated[float, column(format=".3f")]
    """share at the end by the replicator, best-reply or logit dynamics from the same start"""
    died_out: Annotated[float, column(format=".3f")]
    """share of repetitions at whose end nobody holds the strategy"""


def measure_population(config: PopulationConfig, folder: RunFolder) -> Measured:
    """Read the matches and let the agents meet; without a match of every pair nobody can be matched."""
    earned: dict[tuple[str, str], list[list[float]]] = {(a, b): [] for a, b in product(*config.populations)}
    voids: list[VoidMatchRow] = []
    answers: dict[str, Answers] = {}
    for line in sorted(folder.sorted_records(), key=lambda line: int(line["data"]["repeat"])):
        seats, record = dict(line["data"]["seats"]), line["record"]
        first, second = seats.values()
        count_answers(answers, record["submissions"], seats)
        if record.get("void"):
            voids.append(VoidMatchRow(first=first, second=second, why=record["void"][1]))
        else:
            earned[first, second].append([record["payoffs"][role] for role in config.roles])
    pooled = _pool_matches(config, {pair: np.array(rows).reshape(-1, 2) for pair, rows in earned.items()})
    matches = [
        PairRow(
            population=label,
            strategy=str(own),
            against=str(other),
            matches=values.size,
            mean=float(values.mean()) if values.size else None,
        )
        for label, by_pair in zip(config.labels, pooled, strict=True)
        for (own, other), values in by_pair.items()
    ]
    frames: dict[str, Frame[Any]] = {}
    groups: dict[Heads, StrategyFigures] = {}
    least = min(row["matches"] for row in matches)
    if least:
        payoffs = [
            np.array([values[:least] for values in by_pair.values()]).reshape(len(names), -1, least)
            for names, by_pair in zip(config.populations, pooled, strict=False)
        ]
        frames, groups = _let_agents_meet(config, payoffs)
        frames["equilibria"] = Frame(StrategyEquilibriumRow, list(_list_equilibria(config, payoffs)))
    return Measured(
        {
            **frames,
            "matches": Frame(PairRow, matches),
            "voids": Frame(VoidMatchRow, voids),
            "answers": make_answers_frame(answers),
        },
        sum(map(len, earned.values())),
        ("population", "strategy"),
        groups,
    )


def _pool_matches(
    config: PopulationConfig, earned: Mapping[tuple[str, str], Array]
) -> list[dict[tuple[str, str], Array]]:
    """By population, list what a strategy earned against another; with one population both roles are pooled."""
    first, second = config.populations
    rows: dict[tuple[str, str], Array] = {
        (own, other): earned[own, other][:, 0] for own, other in product(first, second)
    }
    columns: dict[tuple[str, str], Array] = {
        (own, other): earned[other, own][:, 1] for own, other in product(second, first)
    }
    if not config.symmetric:
        return [rows, columns]
    return [{pair: np.concatenate([rows[pair], columns[pair]]) for pair in rows}]


def _let_agents_meet(
    config: PopulationConfig, payoffs: Sequence[Array]
) -> tuple[dict[str, Frame[Any]], dict[Heads, StrategyFigures]]:
    observed = run_agents(config, payoffs, np.random.default_rng(split(config.seed, "population")))
    shares: list[StrategyShareRow] = []
    distances: list[PopulationRow] = []
    groups: dict[Heads, StrategyFigures] = {}
    for number, (seen, path) in enumerate(zip(observed, predict_shares(config, payoffs), strict=True)):
        label, names = config.labels[number], config.populations[number]
        mean, reach = seen.mean(axis=0), _NORMAL * seen.std(axis=0, ddof=1) / np.sqrt(len(seen))
        distances.append(PopulationRow(population=label, farthest=float(np.abs(mean - path).max())))
        for generation, k in np.ndindex(mean.shape):
            share, around = float(mean[generation, k]), float(reach[generation, k])
            shares.append(
                StrategyShareRow(
                    population=label,
                    generation=generation,
                    strategy=str(names[k]),
                    share=share,
                    low=max(share - around, 0.0),
                    high=min(share + around, 1.0),
                    predicted=float(path[generation, k]),
                )
            )
        for k, name in enumerate(names):
            rng = np.random.default_rng(split(config.seed, "final", number, k))
            groups[label, str(name)] = sum_up_shares(seen[:, -1, k], path[:, k], rng)
    return {"shares": Frame(StrategyShareRow, shares), "populations": Frame(PopulationRow, distances)}, groups


def sum_up_shares(final: Array, expected: Array, rng: np.random.Generator) -> StrategyFigures:
    """Compute the figures of a strategy from its shares at the end of repetitions and the expected ones over time."""
    return StrategyFigures(
        start=float(expected[0]),
        end=cluster_bootstrap(final, rng=rng),
        expected=float(expected[-1]),
        died_out=float((final == 0).mean()),
    )


def _list_equilibria(config: PopulationConfig, payoffs: Sequence[Array]) -> Iterator[StrategyEquilibriumRow]:
    """Yield the equilibria of the game in which the strategies are the moves and mean payoffs the payoffs."""
    predicted = describe_theory(MatrixGame(average_matches(payoffs))).predicted
    for number, equilibrium in enumerate(predicted[:_MOST_EQUILIBRIA], 1):
        for names, (role, infosets) in zip(config.populations, equilibrium.shares.items(), strict=True):
            for name, share in zip(names, infosets[""].values(), strict=True):
                if share > 1e-9:  # what a solver leaves of 0
                    yield StrategyEquilibriumRow(
                        equilibrium=number, role=role, strategy=str(name), probability=float(share)
                    )


def estimate_pairs(config: PopulationConfig) -> Estimate:
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
    specs=list_pair_matches,
    play=lambda config, models: make_player(lambda data: config.make_game(), models),
    measure=measure_population,
    metrics=list_metrics(StrategyFigures),
    title="A population in {{ config.game.name }}",
    subtitle="{{ config.agents }} agents, {{ config.generations }} generations, {{ config.rule }}, "
    "{{ config.repetitions }} repetitions, seed {{ config.seed }}",
    command="simulate population",
    unit="matches",
    tables=2,
    game=lambda config, data: config.make_game(),
    prepare=check_players,
    estimate_calls=estimate_pairs,
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
