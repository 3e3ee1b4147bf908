"""The settings of the water study, and which games a run consists of.

Every repeat has a seed of its own, which all conditions share: the supplies of game 3 with and
without personas are the same days, and a dry year is dry in all ranges of supply. Comparisons
between conditions are therefore paired by repeat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import ClassVar, Literal

from bestresponse.core.errors import SettingError
from bestresponse.core.files import read_toml
from bestresponse.core.seeds import split
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import ABUNDANCE, OWN_SUPPLY, WaterRules, with_abundance
from bestresponse.players.llm.agent import published_personas
from bestresponse.runs import inputs, seats as seating
from bestresponse.runs.settings import setting, settings


class RulesSetting(inputs.Converted["str | Path | Mapping[str, object] | WaterRules", WaterRules]):
    """The rules of the town: the default, or a TOML file or mapping with other rules.

    A file or mapping may hold residents and any other rules.
    """

    files = True

    @classmethod
    def convert(
        cls,
        value: str | Path | Mapping[str, object] | WaterRules,
        stored: bool,
    ) -> WaterRules:
        """Read the rules."""
        if isinstance(value, WaterRules):
            return value
        if isinstance(value, Mapping):
            return WaterRules.from_json(value)
        if stored:
            raise SettingError("rules", f"expected a mapping, got {value!r}")
        return WaterRules.from_json(read_toml(Path(value)))

    @classmethod
    def to_json(cls, value: WaterRules) -> dict[str, object]:
        """Return every rule."""
        return value.to_json()


@dataclass(frozen=True, slots=True)
class WaterCondition:
    """One experimental condition."""

    persona: bool
    abundance: str
    rules: WaterRules

    @property
    def supply(self) -> str:
        """The name of the range of supply."""
        limits = f"{self.rules.low}-{self.rules.high}"
        return limits if self.abundance == OWN_SUPPLY else f"{self.abundance} ({limits})"

    @property
    def name(self) -> str:
        """The name of the condition."""
        return f"{self.supply}, {'with' if self.persona else 'without'} personas"


@settings
class WaterConfig(seating.AgentSettings, seating.ToolSettings):
    """Play the Water Allocation Challenge many times and report who survives."""

    model: inputs.OptionalModelSetting = setting(default=None, kw_only=False, short="-m")
    """The player of every seat that is not named: a model, or random, share:X, need, myopic
    or solver."""
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {"abundance": tuple(ABUNDANCE), "with_personas": "both", "repeats": 10}
    }
    alternatives: ClassVar[Mapping[str, tuple[str, ...]]] = {"abundance": ("low", "high")}
    """Settings by which the same can be said in another way."""
    seat: inputs.SeatsSetting = setting(default_factory=dict, metavar="RESIDENT=PLAYER")
    """Who bids for whom: a model or a bidder."""
    abundance: inputs.NamesSetting = setting(default=())
    """Range of the daily supply: low, medium or high [default: medium]."""
    with_personas: Literal["off", "on", "both"] | None = setting(default=None)
    """Give residents personas. [default: only if --personas is given]"""
    personas: inputs.PersonasSetting = setting(default_factory=dict, metavar="FILE")
    """TOML with a persona for each resident, under its name, instead of the published ones."""
    grid: bool = setting(default=False)
    """All six conditions of the published study, or those of them that other settings leave."""
    rules: RulesSetting = setting(default_factory=WaterRules, metavar="FILE")
    """TOML with residents and any other rules instead of the published ones."""
    days: int | None = setting(
        default=None,
        ge=1,
        le=10_000,
        help="Days of the drought. [default: 20]",
    )
    low: int | None = setting(
        default=None,
        ge=0,
        help="Smallest daily supply, instead of an abundance.",
    )
    high: int | None = setting(
        default=None,
        ge=0,
        help="Largest daily supply, instead of an abundance.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.abundance if name not in ABUNDANCE]
        if unknown:
            raise SettingError(
                "abundance", f"there is no {unknown[0]!r}; known: {', '.join(ABUNDANCE)}"
            )
        if self.has_supply and (self.abundance or self.grid):
            raise SettingError(
                "abundance", "the supply is given twice: by name, and by low and high or the rules"
            )
        seating.find_model_seats(self.make_game(), self.seats)  # refuses who cannot bid
        if not self.models:
            self.refuse_set(["tools", "tool_calls"], "this has no effect where no model plays")
        usual = "both" if self.grid else "on" if self.personas else "off"
        treatment = self.with_personas or usual
        object.__setattr__(self, "with_personas", treatment)
        if treatment != "off":
            object.__setattr__(self, "personas", self.personas or published_personas())
            missing = []
            for resident in self.town.residents:
                if resident.name not in self.personas:
                    missing.append(resident.name)
            if missing:
                raise SettingError(
                    "personas",
                    f"there is none for {', '.join(missing)}; write one for each resident",
                )

    @property
    def has_supply(self) -> bool:
        """Whether the supply is given by numbers."""
        has_limits = self.low is not None or self.high is not None
        return has_limits or (self.rules.low, self.rules.high) != ABUNDANCE["medium"]

    @cached_property
    def town(self) -> WaterRules:
        """The rules with the days and the supply that the settings say."""
        rules = self.rules
        return replace(
            rules,
            days=rules.days if self.days is None else self.days,
            low=rules.low if self.low is None else self.low,
            high=rules.high if self.high is None else self.high,
        )

    def make_game(self) -> Water:
        """Return the game of the town."""
        return Water(self.town)

    @cached_property
    def seats(self) -> Mapping[str, inputs.NamedModel]:
        """Who bids for whom, in the order of the residents."""
        return seating.assign_seats(self.make_game(), self.seat, self.model)

    @property
    def models(self) -> tuple[inputs.NamedModel, ...]:
        """The models among the players, each once."""
        roles = seating.find_model_seats(self.make_game(), self.seats)
        return inputs.list_once(self.seats[role] for role in roles)

    @cached_property
    def conditions(self) -> tuple[WaterCondition, ...]:
        """Every condition of the run."""
        personas = {"off": (False,), "on": (True,), "both": (False, True)}[
            self.with_personas or "off"
        ]
        if self.has_supply:
            return tuple(WaterCondition(persona, OWN_SUPPLY, self.town) for persona in personas)

        names = self.abundance or (tuple(ABUNDANCE) if self.grid else ("medium",))
        conditions = []
        for persona, name in product(personas, names):
            rules = with_abundance(self.town, name)
            conditions.append(WaterCondition(persona, name, rules))
        return tuple(conditions)


def describe_condition(config: WaterConfig, condition: WaterCondition) -> dict[str, object]:
    """Describe the games of a condition as plain data, all but the repeat and its seed."""
    personas = {seat: config.personas[seat] for seat in config.seats} if condition.persona else {}
    return {
        "study": "water",
        "persona": condition.persona,
        "abundance": condition.abundance,
        "rules": condition.rules.to_json(),
        **seating.describe_play(config, Water(condition.rules), config.seats, personas),
    }


def list_water_games(config: WaterConfig) -> Iterator[dict[str, object]]:
    """Yield all games, repeats in the outer loop.

    A run that stops early has thus played all conditions equally often.
    """
    games = [describe_condition(config, condition) for condition in config.conditions]
    for repeat in range(config.repeats):
        for data in games:
            yield {**data, "repeat": repeat, "seed": split(config.seed, "water", repeat)}
