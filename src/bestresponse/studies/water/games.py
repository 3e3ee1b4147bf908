"""The settings of the water study, which games a run consists of, and many games of bidders at once.

Every repeat has a seed of its own, which all conditions share: the supplies of game 3 with and without personas are the
same days, and a dry year is dry in all ranges of supply. Comparisons between conditions are therefore paired by repeat.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bestresponse.core.ask import PASS
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import SettingError
from bestresponse.core.files import read_toml
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision, Nature
from bestresponse.core.seeds import split
from bestresponse.games.water.bidders import BIDDERS, Trace, is_bidder, play_many
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import ABUNDANCE, WaterRules, with_abundance
from bestresponse.players.llm.agent import published_personas
from bestresponse.runs.execution import Execution, Outcome, Progress
from bestresponse.runs.inputs import (
    Converted,
    NamedModel,
    NamesSetting,
    OptionalModelSetting,
    PersonasSetting,
    SeatsSetting,
)
from bestresponse.runs.seats import AgentSettings, assign_seats, describe_play, find_model_seats
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay, encode_plays

OWN_SUPPLY = "own"
"""The name of the abundance where the supply is given by the rules and is none of the published ranges."""
_AT_ONCE = 250


class RulesSetting(Converted["str | Path | Mapping[str, Any] | WaterRules", WaterRules]):
    """The rules of the town: as they are, or a TOML file or mapping with residents and any other rules."""

    @classmethod
    def convert(cls, value: Any, stored: bool) -> WaterRules:
        """Read the rules."""
        if isinstance(value, WaterRules):
            return value
        if isinstance(value, Mapping):
            return WaterRules.from_json(value)
        if stored:
            raise SettingError("rules", f"expected a mapping, got {value!r}")
        return WaterRules.from_json(read_toml(Path(value)))

    @classmethod
    def to_json(cls, value: WaterRules) -> JsonObject:
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
class WaterConfig(AgentSettings):
    """Play the Water Allocation Challenge many times and report who survives."""

    model: OptionalModelSetting = setting(default=None, kw_only=False, short="-m")
    """The player of every seat that is not named."""
    bidder: str | None = setting(default=None)
    """Instead of a model: random, share:X, need, myopic, no-regret or solver."""
    seat: SeatsSetting = setting(default_factory=dict, metavar="RESIDENT=PLAYER")
    """Who bids for whom: a model or a bidder."""
    abundance: NamesSetting = setting(default=())
    """Ranges of the daily supply: low, medium or high; medium if none is named."""
    with_personas: Literal["off", "on", "both"] | None = setting(default=None)
    """Whether residents have personas; on where personas are given, else off."""
    personas: PersonasSetting = setting(default_factory=dict, metavar="FILE")
    """TOML with a persona for each resident, under its name, instead of the published ones."""
    grid: bool = setting(default=False, help="All six conditions of the published study.")
    rules: RulesSetting = setting(default_factory=WaterRules, metavar="FILE")
    """TOML with residents and any other rules instead of the published ones."""
    days: int | None = setting(default=None, ge=1, le=10_000, help="Days the drought lasts; 20 if not said.")
    low: int | None = setting(default=None, ge=0, help="Smallest daily supply, instead of an abundance.")
    high: int | None = setting(default=None, ge=0, help="Largest daily supply, instead of an abundance.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidder is not None and self.model is not None:
            raise SettingError("bidder", "the model fills all seats already; name single seats for the other")
        if self.bidder is not None and not is_bidder(self.bidder):
            raise SettingError("bidder", f"expected one of {', '.join(BIDDERS)}, got {self.bidder!r}")
        unknown = [name for name in self.abundance if name not in ABUNDANCE]
        if unknown:
            raise SettingError("abundance", f"there is no {unknown[0]!r}; known: {', '.join(ABUNDANCE)}")
        if self.has_supply and (self.abundance or self.grid):
            raise SettingError("abundance", "the supply is given twice: by name, and by low and high or the rules")
        find_model_seats(self.make_game(), self.seats)  # refuses who cannot bid
        treatment = "both" if self.grid else self.with_personas or ("on" if self.personas else "off")
        object.__setattr__(self, "with_personas", treatment)
        if treatment != "off":
            object.__setattr__(self, "personas", self.personas or published_personas())
            missing = [resident.name for resident in self.town.residents if resident.name not in self.personas]
            if missing:
                raise SettingError("personas", f"there is none for {', '.join(missing)}; write one for each resident")

    @property
    def has_supply(self) -> bool:
        """Whether the supply is given by numbers."""
        given = self.low is not None or self.high is not None
        return given or (self.rules.low, self.rules.high) != ABUNDANCE["medium"]

    @cached_property
    def town(self) -> WaterRules:
        """The rules with the days and the supply that the settings say."""
        changes = {name: getattr(self, name) for name in ("days", "low", "high") if getattr(self, name) is not None}
        return replace(self.rules, **changes)

    def make_game(self) -> Water:
        """Return the game of the town."""
        return Water(self.town)

    @cached_property
    def seats(self) -> Mapping[str, NamedModel]:
        """Who bids for whom, in the order of the residents."""
        bidder = None if self.bidder is None else NamedModel(self.bidder)
        return assign_seats(self.make_game(), self.seat, self.model or bidder)

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models among the players, each once."""
        return tuple(dict.fromkeys(self.seats[role] for role in find_model_seats(self.make_game(), self.seats)))

    @cached_property
    def conditions(self) -> tuple[WaterCondition, ...]:
        """Every condition of the run."""
        personas = {"off": (False,), "on": (True,), "both": (False, True)}[self.with_personas or "off"]
        if self.has_supply:
            return tuple(WaterCondition(persona, OWN_SUPPLY, self.town) for persona in personas)
        names = tuple(ABUNDANCE) if self.grid else self.abundance or ("medium",)
        return tuple(
            WaterCondition(persona, name, with_abundance(self.town, name)) for persona in personas for name in names
        )


def describe_condition(config: WaterConfig, condition: WaterCondition) -> JsonObject:
    """Describe the games of a condition as plain data, all but the repeat and its seed."""
    personas = {seat: config.personas[seat] for seat in config.seats} if condition.persona else {}
    return {
        "study": "water",
        "persona": condition.persona,
        "abundance": condition.abundance,
        "rules": condition.rules.to_json(),
        **describe_play(config, Water(condition.rules), config.seats, personas),
    }


def find_seed(seed: int, repeat: int) -> int:
    """Return the seed of a repeat of the run with that seed."""
    return split(seed, "water", repeat)


def list_water_games(config: WaterConfig) -> Iterator[JsonObject]:
    """Yield all games, repeats in the outer loop: a run that stops early has played all conditions equally often."""
    games = [describe_condition(config, condition) for condition in config.conditions]
    for repeat in range(config.repeats):
        for data in games:
            yield {**data, "repeat": repeat, "seed": find_seed(config.seed, repeat)}


@dataclass(frozen=True, slots=True)
class _Block:
    """Games of one condition that are played together; `data` is what their specs have in common."""

    data: JsonObject
    seed: int
    repeats: tuple[int, ...]

    def make_spec(self, repeat: int) -> Spec:
        """Return the spec of one of the games."""
        return Spec.of({**self.data, "repeat": repeat, "seed": find_seed(self.seed, repeat)})


def play_bidders(config: WaterConfig, folder: RunFolder, how: Execution, total: int | None) -> Outcome:
    """Play what is missing of games in which no seat holds a model, many at a time."""
    finished = folder.finished()
    outcome = Outcome(found=len(finished))

    def list_blocks() -> Iterator[_Block]:
        for condition in config.conditions:
            whole = _Block(describe_condition(config, condition), config.seed, tuple(range(config.repeats)))
            repeats = iter(whole.repeats)
            if finished or how.shard is not None:  # all of them need no ids to be told apart
                specs = how.choose(map(whole.make_spec, whole.repeats))
                repeats = (spec.data["repeat"] for spec in specs if spec.id not in finished)
            while block := tuple(islice(repeats, _AT_ONCE)):
                yield replace(whole, repeats=block)

    for lines in how.executor.map(_play_block, list_blocks(), how.workers if how.workers > 1 else None):
        folder.finish_encoded(lines)
        outcome.played += lines.count(b"\n")
        how.on_progress(Progress(total, outcome.found, outcome.played, 0))
    return outcome


def _play_block(block: _Block) -> bytes:
    """Plan and play the games and encode their records, so that whoever writes them has little else to do."""
    specs = list(map(block.make_spec, block.repeats))
    bidders = [name for _, name in block.data["seats"]]
    trace = play_many(WaterRules.from_json(block.data["rules"]), bidders, [spec.data["seed"] for spec in specs])
    records = list_records(trace, bidders)
    return encode_plays(StoredPlay(spec.id, spec.data, record) for spec, record in zip(specs, records, strict=True))


def list_records(trace: Trace, bidders: Sequence[str]) -> Iterator[Record]:
    """Yield the records of games that were played many at once: the same as if each had been played on its own."""
    game = Water(trace.rules)
    names = {**dict(zip(game.roles, bidders, strict=True)), NATURE: Nature(0).name}
    for row in range(len(trace.supply)):
        submissions = []
        supplies, present = trace.supply[row].astype(int).tolist(), trace.present[row].tolist()
        bids, passed = trace.bids[row].tolist(), np.isnan(trace.bids[row]).tolist()
        for day in range(trace.rules.days):
            if not any(present[day]):
                break
            submissions.append(Submission(NATURE, Decision(supplies[day])))
            for role, here, bid, none in zip(game.roles, present[day], bids[day], passed[day], strict=True):
                if here:
                    submissions.append(Submission(role, Decision(PASS if none else bid)))
        payoffs = dict(zip(game.roles, trace.survived[row].astype(float).tolist(), strict=True))
        yield Record(game.name, game.version, dict(names), tuple(submissions), payoffs)
