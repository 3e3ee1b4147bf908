"""What a run of the water study is: every setting that can change a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Literal

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.water.bidders import BIDDERS, bidder
from bestresponse.games.water.rules import ABUNDANCE, WaterRules, with_abundance
from bestresponse.players.llm.agent import Policy
from bestresponse.players.llm.persona import Persona, published_personas
from bestresponse.runs.agents import check_agents

__all__ = ["Setting", "WaterConfig", "is_bidder"]

OWN_SUPPLY = "own"
"""The name of the abundance when the supply is given by the rules and not by one of the published ranges."""

_MOST_GAMES = 1_000_000


def is_bidder(player: str) -> bool:
    """Whether a name is that of a bidder without a model."""
    return player.partition(":")[0] in BIDDERS


@dataclass(frozen=True, slots=True)
class Setting:
    """One experimental condition."""

    persona: bool
    abundance: str
    rules: WaterRules

    @property
    def name(self) -> str:
        """The name of the condition."""
        supply = f"{self.rules.low}-{self.rules.high}"
        shown = supply if self.abundance == OWN_SUPPLY else f"{self.abundance} ({supply})"
        return f"{shown}, {'with' if self.persona else 'without'} personas"


@dataclass(frozen=True)
class WaterConfig:
    """The settings of one run; two runs with equal settings are the same run. `players` names one a seat."""

    players: tuple[str, ...]
    abundances: tuple[str, ...] = ("medium",)
    personas: tuple[bool, ...] = (False,)
    repeats: int = 10
    seed: int = 0
    rules: WaterRules = field(default_factory=WaterRules)
    persona_texts: Mapping[str, Persona] = field(default_factory=published_personas)
    memory: str = "full"
    own_words: bool = True
    reasoning: str = "direct"
    reasons: bool = True
    attempts: int = 3
    policy: Policy = "abstain"
    style: Literal["auto", "line", "json"] = "auto"
    temperature: float = 0.7
    max_tokens: int = 512

    def __post_init__(self) -> None:
        seats = len(self.rules.residents)
        if len(self.players) != seats:
            raise UsageError(f"{seats} residents need as many players, got {len(self.players)}")
        for name in self.players:
            if is_bidder(name):
                bidder(name)
        check_agents(self, _MOST_GAMES)
        for name in self.abundances:
            if name not in (*ABUNDANCE, OWN_SUPPLY):
                raise UsageError(f"there is no abundance {name!r}; known: {', '.join(ABUNDANCE)}")
        self._check_personas()

    def _check_personas(self) -> None:
        if not any(self.personas):
            return
        missing = [r.name for r in self.rules.residents if r.name not in self.persona_texts]
        if missing:
            raise UsageError(
                f"there is no persona for {', '.join(missing)}; write one for each resident and give the file "
                "with --persona-file"
            )

    @property
    def models(self) -> tuple[str, ...]:
        """The models among the players, each once."""
        return tuple(dict.fromkeys(name for name in self.players if not is_bidder(name)))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting of the run."""
        return tuple(
            Setting(persona, name, self.rules if name == OWN_SUPPLY else with_abundance(self.rules, name))
            for persona in self.personas
            for name in self.abundances
        )

    @property
    def games(self) -> int:
        """The number of games."""
        return self.repeats * len(self.settings)

    def with_seed(self, seed: int) -> WaterConfig:
        """Return the same settings with another seed."""
        return replace(self, seed=seed)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain |= {name: list(plain[name]) for name in ("players", "abundances", "personas")}
        plain["rules"] = self.rules.to_json()
        plain["persona_texts"] = (
            {name: asdict(text) for name, text in self.persona_texts.items()} if any(self.personas) else {}
        )
        return plain

    @classmethod
    def from_json(cls, data: JsonMapping) -> WaterConfig:
        """Return the value that `to_json` wrote."""
        known = {f.name for f in fields(cls)}
        plain: JsonObject = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items() if name in known}
        plain["rules"] = WaterRules.from_json(data["rules"])
        plain["persona_texts"] = {name: Persona(**text) for name, text in data["persona_texts"].items()}
        return cls(**plain)
