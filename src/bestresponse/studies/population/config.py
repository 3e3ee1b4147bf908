"""What a run of a population is: the game, the strategies, how agents revise, and how models are asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, get_args

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.named_game import NamedGame
from bestresponse.players.lookup import find_strategy
from bestresponse.players.strategies.fixed import ALWAYS
from bestresponse.runs.checks import check_sizes
from bestresponse.studies.simulate.config import SimulateConfig, make_repeated
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["PopulationConfig", "Rule", "list_moves"]

Rule = Literal["imitation", "best-reply", "logit"]
_MOST = 1_000_000


@dataclass(frozen=True)
class PopulationConfig:
    """The settings of one run; two runs with equal settings are the same run.

    `strategies` are what agents can be: models and strategies by name, such as `always:MOVE`. In a symmetric game there
    is one population of `agents`, elsewhere one for each role. Every generation all agents are matched at random, and
    each revises with probability `revise`. `start` holds the shares of the strategies, equal ones where it is empty.
    The whole is repeated `repetitions` times. Each pair of strategies plays `repeats` matches of `rounds` rounds.
    """

    game: NamedGame
    strategies: tuple[str, ...]
    rule: Rule = "imitation"
    agents: int = 100
    generations: int = 200
    revise: float = 0.2
    precision: float = 1.0
    repetitions: int = 30
    start: tuple[float, ...] = ()
    repeats: int = 10
    seed: int = 0
    memory: str = "full"
    own_words: bool = True
    reasoning: str = "direct"
    reasons: bool = True
    attempts: int = 3
    style: Literal["auto", "line", "json"] = "auto"
    temperature: float = 0.7
    max_tokens: int = 512
    rounds: int = 1
    continuation: float = 1.0
    discount: float = 1.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise UsageError(f"--rule {self.rule!r}: expected one of {', '.join(get_args(Rule))}")
        check_sizes(
            ("--agents", self.agents, 2, _MOST),
            ("--generations", self.generations, 1, _MOST),
            ("--repetitions", self.repetitions, 2, _MOST),
        )
        if not 0 < self.revise <= 1:
            raise UsageError(f"--revise {self.revise:g}: expected a probability above 0")
        if not 0 <= self.precision < float("inf"):
            raise UsageError(f"--precision {self.precision:g}: expected a number that is not negative")
        self._check_strategies()
        self.pair(self.populations[0][0], self.populations[-1][-1])

    def _check_strategies(self) -> None:
        if len(set(self.strategies)) < len(self.strategies):
            raise UsageError("a strategy is named twice; expected different ones")
        for role, own in zip(self.roles, self.populations, strict=True):
            if len(own) < 2:
                raise UsageError(f"{role}: expected at least two strategies, found {', '.join(own) or 'none'}")
        if self.start and (len(self.start) != len(self.strategies) or min(self.start) < 0):
            raise UsageError(f"--start: expected a share of each strategy: {', '.join(self.strategies)}")
        if self.start and any(sum(self.share(one) for one in own) <= 0 for own in self.populations):
            raise UsageError("--start: expected at least one share above 0")

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
        alike = form.actions[0] == form.actions[1]
        return bool(alike and (form.payoffs[0] == form.payoffs[1].T).all())

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the game."""
        return self.make_game().roles

    @cached_property
    def populations(self) -> tuple[tuple[str, ...], ...]:
        """By role, the strategies that can take it: a move that only the other role has is left out."""
        self.form  # noqa: B018 - refuses games without a table
        return tuple(tuple(one for one in self.strategies if self._can_sit(one, role)) for role in self.roles)

    def _can_sit(self, name: str, role: str) -> bool:
        try:
            find_strategy(name, self.make_game(), role, 0)
        except UsageError:
            if self.symmetric or not name.startswith(ALWAYS):
                raise
            return False
        return True

    def share(self, strategy: str) -> float:
        """Return the share of a strategy at the start, before shares are made to sum to 1."""
        return self.start[self.strategies.index(strategy)] if self.start else 1.0

    def pair(self, first: str, second: str) -> SimulateConfig:
        """Return the settings of the matches between two strategies."""
        shared = {f.name: getattr(self, f.name) for f in fields(SimulateConfig) if hasattr(self, f.name)}
        return SimulateConfig(**shared, seats=tuple(zip(self.roles, (first, second), strict=True)))

    def make_game(self) -> AnyGame:
        """Return the game of a match, the same object each time."""
        return make_repeated(self.game, self.rounds, self.continuation, self.discount)

    @property
    def models(self) -> tuple[str, ...]:
        """The models among the strategies."""
        game, named = self.make_game(), dict.fromkeys(one for own in self.populations for one in own)
        known = [one for one in named if one.startswith(ALWAYS)]
        return tuple(one for one in named if one not in known and find_strategy(one, game, self.roles[0], 0) is None)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        named = {"strategies": list(self.strategies), "start": list(self.start)}
        return plain | named | {"game": self.game.to_json()}

    @classmethod
    def from_json(cls, data: JsonMapping) -> PopulationConfig:
        """Return the value that `to_json` wrote."""
        plain: JsonObject = {f.name: data[f.name] for f in fields(cls)}
        named = {"strategies": tuple(data["strategies"]), "start": tuple(data["start"])}
        return cls(**plain | named | {"game": NamedGame.from_json(data["game"])})


def list_moves(game: NamedGame) -> tuple[str, ...]:
    """List the moves of a game as strategies that never vary, those of the first role first."""
    form = find_stage_form(game.game())
    if form is None:
        raise UsageError(f"{game.name} has no payoff table, so nobody can be matched in it")
    return tuple(dict.fromkeys(f"{ALWAYS}{move}" for own in form.actions for move in own))
