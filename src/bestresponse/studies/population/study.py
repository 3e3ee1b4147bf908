"""Populations that learn: agents imitate or reply, and theory is shown beside them.

Pairs of strategies are played first.

The plays of a run are the matches of every pair of strategies. What agents then do costs no call:
it is drawn from these matches by the seed when the run is measured. Every generation each agent
meets one other, drawn at random, and earns what one of the recorded matches of their two strategies
earned. Then each revises with probability r:

    imitation    it looks at another agent of its population and takes over that one's strategy with
                 probability max(0, what that one earned - what it earned itself) / range of payoffs
    best-reply   it takes the strategy that earns most on average against the present shares, any of
                 them in a tie
    logit        it takes strategy a with probability proportional to exp(precision * what a earns
                 on average)

The expected change of the shares under imitation is that of the replicator dynamics with payoffs
divided by their range (K. Schlag, "Why imitate, and if so, how?", Journal of Economic Theory 78,
1998), under logit choice that of the logit dynamics, under best reply its limit for large
precision: one Euler step of length r a generation.

What matches earned is one array a population, `payoffs[p][a, b]`: what strategy a earned against b,
match by match. With one population both roles are pooled.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.core.files import read_toml
from bestresponse.core.seeds import split
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.players.lookup import find_strategy
from bestresponse.players.strategies import ALWAYS
from bestresponse.report.blocks import lines, metrics_table, pivot, table, text
from bestresponse.report.frames import Frame, Heads, column, list_metrics
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.inputs import ModelsSetting, NamedModel
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.seats import (
    MatchSettings,
    ToolSettings,
    check_players,
    estimate_plays,
    is_model,
    list_plays,
    make_player,
)
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.theory.dynamics.learning import logit_dynamics
from bestresponse.theory.dynamics.replicator import replicator
from bestresponse.theory.games.normal_form import Array, NormalForm

Agents = NDArray[np.int64]
"""The strategies that the agents of a population hold: a row for each repetition."""
_NORMAL = 1.959964  # the 97.5 % quantile of the normal distribution: bands hold the mean with 95 %
_MOST_EQUILIBRIA = 6
_TIE = (
    1e-9  # strategies whose means differ by less, relative to their size, are equally good replies
)
_SURE = 1e12
"""The precision at which logit choice is a best reply."""


@settings
class PopulationConfig(MatchSettings, ToolSettings):
    """Simulate a population of agents that learn, and compare the strategies that spread with
    theory.

    Agents are matched at random and imitate others or reply to them. Every pair of strategies first
    plays matches; agents then earn the payoffs of these matches, so a larger population needs no
    further calls. A symmetric game has one population, any other game one per role.
    """

    strategies: ModelsSetting = setting(default=(), kw_only=False)
    """What an agent can play: always:MOVE, tit-for-tat, any player of `simulate`, a model.
    [default: every move of the game]"""
    rule: Literal["imitation", "best-reply", "logit"] = setting(
        default="imitation", help="Revision rule of the agents."
    )
    agents: int = setting(
        default=100,
        ge=2,
        le=1_000_000,
        help="Agents per population.",
    )
    generations: int = setting(
        default=200,
        ge=1,
        le=1_000_000,
        help="Generations: how often all agents are matched.",
    )
    revise: float = setting(
        default=0.2,
        gt=0,
        le=1,
        help="Probability that an agent revises its strategy in a generation.",
    )
    precision: float = setting(
        default=1.0,
        ge=0,
        short="--lambda",
        help="Precision (lambda) of logit choice, per unit of payoff.",
    )
    repetitions: int = setting(
        default=30,
        ge=2,
        le=1_000_000,
        help="Independent repetitions of the population.",
    )
    start: Mapping[str, float] = setting(default_factory=dict, metavar="STRATEGY=SHARE")
    """Initial shares by strategy [default: equal shares]."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.strategies:
            moves = dict.fromkeys(
                f"{ALWAYS}{move}" for actions in self.form.actions for move in actions
            )
            object.__setattr__(self, "strategies", tuple(map(NamedModel, moves)))
        if len(set(self.strategies)) < len(self.strategies):
            raise SettingError("strategies", "a name occurs twice; give each once")
        for label, names in self.populations.items():
            if len(names) < 2:
                found = ", ".join(names) or "none"
                who = "" if label == "all" else f" for {label}"
                raise SettingError(
                    "strategies",
                    f"expected at least two strategies{who}, such as always:MOVE, random or a"
                    f" model; got {found}",
                )
        if not self.models:
            self.refuse_set(["tools", "tool_calls"], "this has no effect where no model plays")
        if not self.start:
            equal = dict.fromkeys(map(str, self.strategies), 1.0)
            object.__setattr__(self, "start", equal)
        unknown = sorted(set(self.start) - set(self.strategies))
        if unknown:
            raise SettingError(
                "start",
                f"there is no strategy {unknown[0]!r} here; expected one of"
                f" {', '.join(self.strategies)}",
            )
        empty = [
            names for names in self.populations.values() if not any(map(self.start.get, names))
        ]
        if empty or min(self.start.values()) < 0:
            raise SettingError(
                "start", "expected shares of at least 0, one of them above 0 in each population"
            )

    @property
    def form(self) -> NormalForm:
        """The payoff table of one round; UsageError where the game has none for two players."""
        form = find_stage_form(self.game.game())
        if form is None or form.num_players != 2:
            raise UsageError(
                f"{self.game.name} has no payoff table of two players, so nobody can be matched"
                " in it"
            )
        return form

    @cached_property
    def populations(self) -> Mapping[str, tuple[NamedModel, ...]]:
        """The strategies of `all` if both roles are the same, else those of each role.

        A role has the strategies that can take it.

        A move that only the other role has is left out.
        """
        game = self.make_game()
        form = self.form
        sides = {}
        moves = [{f"{ALWAYS}{move}" for move in actions} for actions in form.actions]
        for role, own, other in zip(game.roles, moves, reversed(moves), strict=True):
            sides[role] = tuple(name for name in self.strategies if name not in other - own)
            for name in sides[role]:
                find_strategy(name, game, role, 0)  # refuses who cannot play
        first, second = form.payoffs
        same_moves = form.actions[0] == form.actions[1]
        if same_moves and np.array_equal(first, second.T):
            return {"all": self.strategies}
        return sides

    @property
    def dynamics(self) -> str:
        """What theory expects of agents who revise by this rule."""
        return {"imitation": "replicator dynamics (payoffs divided by their range)"}.get(
            self.rule, f"{self.rule} dynamics"
        )

    @property
    def pairs(self) -> Iterator[dict[str, NamedModel]]:
        """Yield by role the strategies of every pair, the first role first."""
        first, *others = self.populations.values()
        for pair in product(first, *(others or [first])):
            yield dict(zip(self.make_game().roles, pair, strict=True))

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the strategies."""
        game = self.make_game()
        named = [name for name in self.strategies if not name.startswith(ALWAYS)]
        return tuple(name for name in named if is_model(name, game, game.roles[0]))

    @property
    def first_shares(self) -> tuple[Array, ...]:
        """The shares at the start, by population.

        They are those of the settings in whole agents, to less than one agent.
        """
        shares = []
        for names in self.populations.values():
            wanted = np.cumsum([self.start.get(name, 0.0) for name in names])
            agents = np.rint(wanted / wanted[-1] * self.agents)
            shares.append(np.diff(agents, prepend=0.0) / self.agents)
        return tuple(shares)


def average_matches(payoffs: Sequence[Array]) -> NormalForm:
    """Return the game between strategies, in mean payoffs."""
    first, second = (payoffs[number].mean(axis=2) for number in (0, -1))
    return NormalForm.bimatrix(first, second.T)


def predict_shares(config: PopulationConfig, payoffs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the shares that theory expects, by population: a row for each generation from 0 on."""
    start = list(config.first_shares)
    steps = config.generations
    form = average_matches(payoffs)
    both = [start[0], start[-1]]
    spread = np.array([np.ptp(payoffs[0]) or 1.0, np.ptp(payoffs[-1]) or 1.0])
    scaled = NormalForm(form.payoffs / spread[:, None, None])
    if config.rule == "imitation":
        single = len(payoffs) == 1
        path = replicator(
            scaled,
            start,
            steps=steps,
            size=config.revise,
            form="euler",
            one_population=single,
            stride=1,
        )
    else:
        precision = config.precision if config.rule == "logit" else _SURE
        path = logit_dynamics(
            form,
            precision,
            both,
            steps=steps,
            size=config.revise,
            stride=1,
        )
    return tuple(path.strategies[: len(start)])


def run_agents(
    config: PopulationConfig,
    payoffs: Sequence[Array],
    rng: np.random.Generator,
) -> tuple[Array, ...]:
    """Return the observed shares by population: repetition, generation from 0 on, strategy."""
    held: list[Agents] = []
    for first in config.first_shares:
        agents = np.rint(first * config.agents).astype(np.int64)
        row = np.repeat(np.arange(len(first)), agents)
        held.append(rng.permuted(np.tile(row, (config.repetitions, 1)), axis=1))
    paths: list[list[Array]] = [[] for _ in held]
    for _ in range(config.generations + 1):
        for path, agents, matrix in zip(paths, held, payoffs, strict=True):
            shares = [(agents == strategy).mean(axis=1) for strategy in range(len(matrix))]
            path.append(np.stack(shares, axis=1))
        earned = _meet(held, payoffs, rng)
        rivals = [path[-1] for path in reversed(paths)]
        revised = []
        for side in zip(payoffs, held, earned, rivals, strict=True):
            revised.append(_revise(config, *side, rng))
        held = revised
    return tuple(np.stack(path, axis=1) for path in paths)


def _meet(
    held: Sequence[Agents],
    payoffs: Sequence[Array],
    rng: np.random.Generator,
) -> list[Array]:
    """Match all agents at random and return what each earns."""
    shape = held[0].shape
    repetitions, agents = shape
    everybody = np.tile(np.arange(agents), (repetitions, 1))
    order = rng.permuted(everybody, axis=1)
    drawn = rng.integers(payoffs[0].shape[2], size=shape)
    if len(held) > 1:
        rivals = np.take_along_axis(held[1], order, axis=1)
        second = np.empty(shape)
        np.put_along_axis(second, order, payoffs[1][rivals, held[0], drawn], axis=1)
        return [payoffs[0][held[0], rivals, drawn], second]
    rivals = np.empty(shape, dtype=np.int64)
    before = np.roll(order, 1, axis=1)
    np.put_along_axis(
        rivals,
        order,
        np.take_along_axis(held[0], before, axis=1),
        axis=1,
    )
    return [payoffs[0][held[0], rivals, drawn]]


def _revise(
    config: PopulationConfig,
    payoffs: Array,
    held: Agents,
    earned: Array,
    rivals: Array,
    rng: np.random.Generator,
) -> Agents:
    """Return the strategies after those who revise have.

    `rivals` are the shares of those they meet.
    """
    revises = rng.random(held.shape) < config.revise
    if config.rule == "imitation":
        agents = held.shape[1]
        steps = rng.integers(1, agents, size=held.shape)
        others = (np.arange(agents) + steps) % agents
        better = np.take_along_axis(earned, others, axis=1) - earned
        chance = better / (np.ptp(payoffs) or 1.0)
        switches = revises & (rng.random(held.shape) < chance)
        return np.where(switches, np.take_along_axis(held, others, axis=1), held)
    values = rivals @ payoffs.mean(axis=2).T
    top = values.max(axis=1, keepdims=True)
    if config.rule == "best-reply":
        tie = _TIE * np.maximum(1.0, np.abs(top))
        weights = (values >= top - tie).astype(np.float64)
    else:
        weights = np.exp(config.precision * (values - top))
    chances = weights / weights.sum(axis=1, keepdims=True)
    bounds = chances.cumsum(axis=1)[:, None, :]
    passed = rng.random(held.shape)[:, :, None] > bounds
    last = chances.shape[1] - 1
    drawn = np.minimum(passed.sum(axis=2), last)
    return np.where(revises, drawn, held)


class StrategyShareRow(TypedDict):
    """The share of a strategy in one generation, beside theory.

    The share is the mean over repetitions with its 95 % interval.
    """

    population: str
    generation: int
    strategy: str
    share: Annotated[Interval, column("share of agents", ".3f")]
    """mean over repetitions with its 95 % interval"""
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


class StrategyFigures(TypedDict):
    """The figures of a strategy."""

    start: Annotated[float, column(format=".3f")]
    """share of agents at the start"""
    end: Annotated[Interval, column(format=".3f")]
    """mean share of agents at the end over repetitions, 95 % interval"""
    expected: Annotated[float, column(format=".3f")]
    """share at the end by the replicator, best-reply or logit dynamics from the same start"""
    died_out: Annotated[float, column(format=".3f")]
    """share of repetitions that end with nobody using the strategy"""
    farthest: Annotated[float, column("farthest from theory", ".3f")]
    """largest distance between the mean share and the theoretical dynamics"""


def measure_population(config: PopulationConfig, folder: RunFolder) -> Measured:
    """Read the matches and let the agents meet.

    Without a match of every pair nobody can be matched.
    """
    sides = list(config.populations.items())
    earned: dict[tuple[str, str, str], list[float]] = {}
    for (label, names), (_, rivals) in zip(sides, reversed(sides), strict=True):
        for own, other in product(names, rivals):
            earned[label, str(own), str(other)] = []
    readings = Readings()
    plays = sorted(folder.sorted_plays(), key=lambda play: int(play.data["repeat"]))
    for play in readings.list_finished(plays):
        for (role, own), (_, other) in permutations(play.data["seats"]):
            label = role if role in config.populations else "all"
            earned[label, own, other].append(play.record.payoffs[role])
    frames: dict[str, Frame[Any]] = {}
    groups: dict[Heads, StrategyFigures] = {}
    equilibria: list[StrategyEquilibriumRow] = []
    payoffs = _stack_payoffs(config, earned)
    if payoffs:
        shares, groups = _compare_shares(config, payoffs)
        frames["shares"] = Frame(StrategyShareRow, shares)
        equilibria += _list_equilibria(config, payoffs)
    frames["matches"] = Frame(PairRow, list(_list_pairs(earned)))
    frames["equilibria"] = Frame(StrategyEquilibriumRow, equilibria)
    return Measured(
        {**frames, **readings.frames},
        answered=len(plays) - len(readings.voids),
        labels=("population", "strategy"),
        groups=groups,
    )


def _list_pairs(earned: Mapping[tuple[str, str, str], Sequence[float]]) -> Iterator[PairRow]:
    for (label, own, other), paid in earned.items():
        yield PairRow(
            population=label,
            strategy=own,
            against=other,
            matches=len(paid),
            mean=fmean(paid) if paid else None,
        )


def _stack_payoffs(
    config: PopulationConfig, earned: Mapping[tuple[str, str, str], Sequence[float]]
) -> list[Array]:
    """Return by population what own strategy (rows) earned against which (columns) in each match.

    Of every pair as many matches count as there are of the rarest; nothing where a pair has none.
    """
    least = min(map(len, earned.values()))
    if not least:
        return []
    payoffs = []
    for label, names in config.populations.items():
        values = []
        for (population, _, _), paid in earned.items():
            if population == label:
                values.append(paid[:least])
        payoffs.append(np.array(values).reshape(len(names), -1, least))
    return payoffs


def _compare_shares(
    config: PopulationConfig, payoffs: Sequence[Array]
) -> tuple[list[StrategyShareRow], dict[Heads, StrategyFigures]]:
    """Let the agents meet, and compare their mean shares with those theory expects.

    Both are given for every generation.
    """
    rng = np.random.default_rng(split(config.seed, "population"))
    observed = run_agents(config, payoffs, rng)
    shares: list[StrategyShareRow] = []
    groups: dict[Heads, StrategyFigures] = {}
    for (label, names), seen, path in zip(
        config.populations.items(),
        observed,
        predict_shares(config, payoffs),
        strict=True,
    ):
        mean = seen.mean(axis=0)
        reach = _NORMAL * seen.std(axis=0, ddof=1) / np.sqrt(len(seen))
        low = np.maximum(mean - reach, 0.0)
        high = np.minimum(mean + reach, 1.0)
        for generation, k in np.ndindex(mean.shape):
            name = str(names[k])
            expected = float(path[generation, k])
            share = Interval(
                float(mean[generation, k]),
                float(low[generation, k]),
                high=float(high[generation, k]),
                level=0.95,
                method="normal",
                n=len(seen),
            )
            row = StrategyShareRow(
                population=label,
                generation=generation,
                strategy=name,
                share=share,
                predicted=expected,
            )
            shares.append(row)
            died_out = seen[:, -1, k] == 0
            apart = np.abs(mean[:, k] - path[:, k])
            groups[label, name] = StrategyFigures(  # that of the last generation stays
                start=float(path[0, k]),
                end=share,
                expected=expected,
                died_out=float(died_out.mean()),
                farthest=float(apart.max()),
            )
    return shares, groups


def _list_equilibria(
    config: PopulationConfig, payoffs: Sequence[Array]
) -> Iterator[StrategyEquilibriumRow]:
    """Yield the equilibria of the game between the strategies.

    The strategies are its moves, and the mean payoffs its payoffs.
    """
    predicted = describe_theory(MatrixGame(average_matches(payoffs))).predicted
    sides = list(config.populations.values())
    for number, equilibrium in enumerate(predicted[:_MOST_EQUILIBRIA], 1):
        for names, (role, infosets) in zip(
            (sides[0], sides[-1]),
            equilibrium.shares.items(),
            strict=True,
        ):
            for name, share in zip(names, infosets[""].values(), strict=True):
                if share > 1e-9:  # what a solver leaves of 0
                    yield StrategyEquilibriumRow(
                        equilibrium=number,
                        role=role,
                        strategy=str(name),
                        probability=float(share),
                    )


def estimate_pairs(config: PopulationConfig) -> Estimate:
    """Count the calls of all matches at most."""
    parts = [
        estimate_plays(
            config,
            config.make_game(),
            pair,
            config.rounds,
        )
        for pair in config.pairs
    ]
    what = (
        f"{config.repeats * len(parts):,} matches of {config.game.name}, {len(parts)} pairs of"
        " strategies"
    )
    return Estimate.add(parts, what)


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

population = Study(
    "population",
    PopulationConfig,
    specs=lambda config: (
        play for pair in config.pairs for play in list_plays(config, "population", pair)
    ),
    play=lambda config, models: make_player(
        lambda spec: config.make_game(), config.offer_tools(models)
    ),
    measure=measure_population,
    metrics=list_metrics(StrategyFigures),
    title="A population in {{ config.game.name }}",
    subtitle=_PROSE["subtitle"],
    command="simulate population",
    unit="matches",
    tables=2,
    game=lambda config, data: config.make_game(),
    prepare=check_players,
    estimate_calls=estimate_pairs,
    report=(
        text(_PROSE["missing"], kind="warning"),
        metrics_table(
            "How the shares changed", "Theory: the {{ config.dynamics }} from the same start."
        ),
        lines(
            "shares",
            "generation",
            "share",
            "strategy",
            expected="predicted",
            split="population",
            caption=_PROSE["shares"],
        ),
        pivot(
            "matches",
            "strategy",
            "against",
            "mean",
            split="population",
            title="What strategies earn against each other",
            caption=_PROSE["matches"],
        ),
        table(
            "equilibria",
            title="Equilibria between the strategies",
            caption=_PROSE["equilibria"],
        ),
        table(
            "voids",
            title="Void matches",
            caption="These matches have no result and are not part of any figure.",
            most=20,
        ),
    ),
)
"""Which strategies and models spread when agents imitate or reply."""
