"""Which plays a benchmark run consists of.

A run has one or more conditions (other sizes, scales or temperatures; one in the standard suite). In each, every game
is put to every model in every way of asking, format, theme, seat and variant, games in the outermost loop: a run that
stops early has put the same games to all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.seeds import split
from bestresponse.games.matrix.presentation import theme
from bestresponse.runs.spec import Spec
from bestresponse.studies.bench.config import BenchConfig, choose_temperature
from bestresponse.studies.bench.games.drawn import Drawn, draw
from bestresponse.studies.bench.games.given import OWN, UserGame
from bestresponse.studies.bench.games.variants import PADDED, VARIANTS, Variant, variant
from bestresponse.theory.catalogue.tables import load

__all__ = ["ANONYMOUS", "BASE", "NAMED", "SIZE", "Condition", "Plan"]

BASE = "base"
GENERAL_SIZES = (2, 3, 4, 5, 6, 8, 10)
"""The sizes of the generalisation suite."""
CLASSICS = (
    "matching-pennies",
    "bismarck-sea",
    "two-finger-morra",
    "rock-paper-scissors",
    "rock-paper-scissors-lizard-spock",
    "oneill",
)
"""Zero-sum games that models have read about."""
SIZE, NAMED, ANONYMOUS = "size ", "named ", "anonymous "
"""What the names of conditions begin with."""
_MOST_ORDERS = 8
_SIZES = (2, 3, 4, 6)
_SCALES = (0.01, 1.0, 100.0)
_TEMPERATURES = (0.0, 0.7, 1.0)


@dataclass(frozen=True)
class Condition:
    """A name and the settings under which its games are drawn and asked."""

    name: str
    config: BenchConfig

    @cached_property
    def drawn(self) -> Drawn:
        """The games, drawn once."""
        return draw(self.config)

    @cached_property
    def llm_seed(self) -> int:
        """The seed that is sent to models."""
        given = self.config.llm_seed
        return given if given is not None else split(self.config.seed, "llm") % 2**31


@dataclass(frozen=True)
class Plan:
    """All plays of a run, in order."""

    config: BenchConfig

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the suite."""
        match self.config.suite:
            case "sensitivity":
                return tuple(_sensitivity(self.config))
            case "generalisation":
                return tuple(_generalisation(self.config))
            case _:
                return (Condition(BASE, self.config),)

    @property
    def variants(self) -> tuple[str, ...]:
        """How every game of the base settings is also told."""
        match self.config.suite:
            case "invariance":
                return VARIANTS
            case "generalisation":
                return (PADDED,)
            case _:
                return ()

    def _list_variants(self, condition: Condition) -> tuple[str, ...]:
        return self.variants if condition.name == BASE else ()

    @cached_property
    def total(self) -> int:
        """How many plays there are: every game has the same."""
        return sum(count for _, count in self.count_by_first())

    def count_by_first(self) -> Iterator[tuple[Spec, int]]:
        """Yield the plays of every condition's first game, each with the number of games it is made for."""
        for condition in self.conditions:
            for spec in self._specs_of(0, condition):
                yield spec, condition.config.num_games

    @cached_property
    def _by_name(self) -> dict[str, Condition]:
        return {condition.name: condition for condition in self.conditions}

    def condition(self, name: str) -> Condition:
        """Return the condition of that name."""
        return self._by_name[name]

    def specs(self) -> Iterator[Spec]:
        """Yield every play as plain data."""
        for game, condition in product(range(self.config.num_games), self.conditions):
            if game < condition.config.num_games:
                yield from self._specs_of(game, condition)

    def find_opponent(self, data: JsonMapping) -> tuple[float, ...]:
        """Return the strategy of the opponent in a play: that of the drawn game, carried over to the game as told."""
        drawn = self.condition(data["condition"]).drawn
        seat = 1 - data["seat"] if data["variant"] == "swapped" else data["seat"]
        mix = drawn.get_opponent(data["game"], seat)
        if "opponent_back" not in data:
            return mix
        return tuple(mix[k] if k < len(mix) else 0.0 for k in data["opponent_back"])

    def _specs_of(self, game: int, condition: Condition) -> Iterator[Spec]:
        c = condition.config
        payoffs = condition.drawn.payoffs[game]
        for shown_as, dress, seat in product(c.formats, c.themes, c.seats):
            own = 0 if seat == "row" else 1
            original = Variant("original", payoffs, own, tuple(range(payoffs.shape[1 + own])), shown_as, dress)
            told = [original, *(variant(name, original, c, game) for name in self._list_variants(condition))]
            for tale, model, elicit in product(told, c.models, c.elicit):
                if elicit == "logprobs" and not _one_letter(tale.theme):
                    continue
                yield Spec.of(_data(game, condition, tale, model, elicit) | _names(game, condition, tale))


def _names(game: int, condition: Condition, tale: Variant) -> JsonObject:
    """The game's own names, where it is shown under these."""
    given = condition.config.given
    if given is None or tale.theme != OWN:
        return {}
    return {"names": given.names(condition.drawn.orders[game])}


def _one_letter(name: str) -> bool:
    """Whether the theme's labels can be told apart by one token."""
    return name != OWN and all(len(label) == 1 for labels in theme(name).actions for label in labels)


def _data(game: int, condition: Condition, tale: Variant, model: str, elicit: str) -> JsonObject:
    c = condition.config
    carried = {"opponent_back": list(tale.opponent_back)} if tale.opponent_back is not None else {}
    thinking = {"think": True} if c.think else {}
    return (
        carried
        | thinking
        | {
            "study": "bench",
            "condition": condition.name,
            "game": game,
            "payoffs": tale.payoffs.tolist(),
            "variant": tale.name,
            "seat": tale.seat,
            "back": list(tale.back),
            "format": tale.shown_as,
            "theme": tale.theme,
            "model": model,
            "elicit": elicit,
            "style": c.style,
            "temperature": choose_temperature(c.temperature, elicit),
            "max_tokens": c.reply_tokens,
            "attempts": c.attempts,
            "samples": c.samples if elicit == "sampled" else 1,
            "llm_seed": condition.llm_seed,
        }
    )


def _generalisation(config: BenchConfig) -> Iterator[Condition]:
    """Yield the base settings, other sizes, and well-known games under their own names and without names."""
    yield Condition(BASE, config)
    for size in GENERAL_SIZES:
        if (size, size) != config.shape:
            yield Condition(f"{SIZE}{size}x{size}", replace(config, num_rows=size, num_cols=size))
    for name in CLASSICS:
        game = UserGame.from_form(name, load(name))
        count = min(config.num_games, game.most_orders, _MOST_ORDERS)
        settings = replace(config, given=game, num_games=count, suite="standard")
        yield Condition(NAMED + name, replace(settings, themes=(OWN,)))
        yield Condition(ANONYMOUS + name, settings)


def _sensitivity(config: BenchConfig) -> Iterator[Condition]:
    """The base settings, then one setting changed at a time."""
    yield Condition(BASE, config)
    for size in _SIZES:
        if (size, size) != config.shape:
            yield Condition(f"size {size}x{size}", replace(config, num_rows=size, num_cols=size))
    for factor in _SCALES:
        if factor != 1.0:
            decimals = config.decimals + (2 if factor < 1 else 0)
            scaled = replace(config, scale=config.scale * factor, decimals=decimals)
            yield Condition(f"payoffs x{factor:g}", scaled)
    for temperature in _TEMPERATURES:
        if temperature != (config.temperature or 0.0):
            yield Condition(f"temperature {temperature:g}", replace(config, temperature=temperature))
