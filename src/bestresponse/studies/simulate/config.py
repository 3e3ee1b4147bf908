"""What a run of the playground is: the game, who sits where, and how models are asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Literal

from bestresponse.core.capabilities import AdjustableRounds
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, find_first_asks
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.games.capabilities import HasNormalForm, HasSpeakers
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.games.named_game import NamedGame
from bestresponse.players.llm.agent import Policy, lets_pass
from bestresponse.players.llm.persona import Persona
from bestresponse.players.lookup import SIMULATED, find_strategy
from bestresponse.runs.agents import check_agents
from bestresponse.runs.checks import check_sizes

__all__ = ["SimulateConfig", "make_repeated", "usual_policy"]

_MOST_PLAYS = 100_000
_MOST_ROUNDS = 10_000


@dataclass(frozen=True)
class SimulateConfig:
    """The settings of one run; two runs with equal settings are the same run.

    `seats` names who sits where, in the order of the game's roles; `personas` are by seat, for those that have one. A
    game with a payoff table may be played for several `rounds`, each followed by another with probability
    `continuation`, payoffs weighted by `discount`. With probability `noise` another move is made than was meant.
    `referee` says what was agreed in a dialogue.
    """

    game: NamedGame
    seats: tuple[tuple[str, str], ...]
    repeats: int = 10
    seed: int = 0
    personas: Mapping[str, Persona] = field(default_factory=dict)
    memory: str = "full"
    own_words: bool = True
    reasoning: str = "direct"
    reasons: bool = True
    attempts: int = 3
    policy: Policy = "void"
    style: Literal["auto", "line", "json"] = "auto"
    temperature: float = 0.7
    max_tokens: int = 512
    rounds: int = 1
    continuation: float = 1.0
    discount: float = 1.0
    noise: float = 0.0
    referee: str = ""

    def __post_init__(self) -> None:
        check_agents(self, _MOST_PLAYS)
        self._check_rounds()
        roles = self.make_game().roles
        if tuple(role for role, _ in self.seats) != roles:
            raise UsageError(f"{self.game.name} has the seats {', '.join(roles)}; name a player for each")
        if self.policy == "abstain" and usual_policy(self.make_game()) != "abstain":
            raise UsageError(f"--on-failure abstain: {self.game.name} lets nobody pass; use void")
        if isinstance(self.make_game(), HasSpeakers):
            self._check_dialogue()
        elif self.referee:
            raise UsageError(f"--referee: nobody rules in {self.game.name}; it belongs to dialogues")
        models = self.models
        for name in self.personas:
            if name not in roles:
                raise UsageError(f"there is a persona for {name!r}, which is no seat.{did_you_mean(name, list(roles))}")
            if dict(self.seats)[name] not in models:
                raise UsageError(f"there is a persona for {name!r}, but no model sits there")

    def _check_dialogue(self) -> None:
        if self.personas or self.noise:
            raise UsageError("--persona-file and --noise belong to games with moves; people in a dialogue have parts")
        if not self.referee:
            spoken = [who for _, who in self.seats if who != SIMULATED]
            object.__setattr__(self, "referee", spoken[0] if spoken else SIMULATED)

    def _check_rounds(self) -> None:
        check_sizes(("--rounds", self.rounds, 1, _MOST_ROUNDS))
        if not 0 <= self.noise < 1:
            raise UsageError(f"--noise {self.noise:g}: expected a probability below 1")
        if self.rounds == 1 and (self.continuation, self.discount) != (1.0, 1.0):
            raise UsageError(
                "--continuation and --discount are about several rounds; give --rounds, the most there are"
            )

    def make_game(self) -> AnyGame:
        """Return the game to be played, repeated where the settings say so; the same object each time."""
        return make_repeated(self.game, self.rounds, self.continuation, self.discount, self.noise)

    @property
    def models(self) -> tuple[str, ...]:
        """The models among the players, each once; UsageError where a player cannot take its seat."""
        asked = [who for role, who in self.seats if find_strategy(who, self.make_game(), role, 0) is None]
        asked += [self.referee] if self.referee not in ("", SIMULATED) else []
        return tuple(dict.fromkeys(asked))

    @property
    def model_seats(self) -> tuple[str, ...]:
        """The seats in which models sit."""
        models = self.models
        return tuple(role for role, who in self.seats if who in models)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain["game"] = self.game.to_json()
        plain["seats"] = [list(seat) for seat in self.seats]
        plain["personas"] = {name: asdict(text) for name, text in self.personas.items()}
        return plain

    @classmethod
    def from_json(cls, data: JsonMapping) -> SimulateConfig:
        """Return the value that `to_json` wrote."""
        known = {f.name for f in fields(cls)}
        plain: JsonObject = {name: value for name, value in data.items() if name in known}
        plain["game"] = NamedGame.from_json(data["game"])
        plain["seats"] = tuple((role, who) for role, who in data["seats"])
        plain["personas"] = {name: Persona(**text) for name, text in data["personas"].items()}
        return cls(**plain)


@lru_cache(maxsize=16)
def make_repeated(source: NamedGame, rounds: int, continuation: float, discount: float, noise: float = 0.0) -> AnyGame:
    """Make the game, repeated where there are several rounds or moves can go wrong; UsageError where it cannot be."""
    game = source.game()
    if rounds == 1 and (not noise or isinstance(game, HasSpeakers)):
        return game
    if not isinstance(game, HasNormalForm):
        why = "it has rounds of its own" if isinstance(game, AdjustableRounds) else "it has no payoff table"
        if rounds == 1:
            raise UsageError(f"--noise belongs to games with a payoff table, and {source.name} has none")
        raise UsageError(f"--rounds: {source.name} cannot be repeated, because {why}")
    return RepeatedGame(game.normal_form, rounds, continuation, discount=discount, noise=noise)


def usual_policy(game: AnyGame) -> Policy:
    """What becomes of a seat without a usable answer: it passes where the game lets it, else the play is void."""
    return "abstain" if lets_pass(find_first_asks(game)) else "void"
