"""Which plays a benchmark run consists of.

A run has one or more conditions (other sizes, scales or temperatures; one in the standard suite). In each, every game
is put to every model in every way of asking, format, theme, seat and variant, games in the outermost loop: a run that
stops early has put the same games to all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from bestresponse.core.seeds import split
from bestresponse.games.matrix.presentation import theme
from bestresponse.runs.spec import Spec
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.drawn import Drawn, draw
from bestresponse.studies.bench.given import OWN
from bestresponse.studies.bench.variants import VARIANTS, Variant, variant

__all__ = ["BASE", "Condition", "Plan"]

BASE = "base"
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
        return draw(self.config)


@dataclass(frozen=True)
class Plan:
    """All plays of a run, in order."""

    config: BenchConfig

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        if self.config.suite != "sensitivity":
            return (Condition(BASE, self.config),)
        return tuple(_sensitivity(self.config))

    @property
    def variants(self) -> tuple[str, ...]:
        return VARIANTS if self.config.suite == "invariance" else ()

    @cached_property
    def total(self) -> int:
        """How many plays there are: every game has the same."""
        return sum(c.config.num_games * sum(1 for _ in self._specs_of(0, c)) for c in self.conditions)

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

    def find_opponent(self, data: Mapping[str, Any]) -> tuple[float, ...]:
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
            told = [original, *(variant(name, original, c, game) for name in self.variants)]
            for tale, model, elicit in product(told, c.models, c.elicit):
                if elicit == "logprobs" and not _one_letter(tale.theme):
                    continue
                yield Spec.of(_data(game, condition, tale, model, elicit) | _names(game, condition, tale))


def _names(game: int, condition: Condition, tale: Variant) -> dict[str, Any]:
    """The game's own names, where it is shown under these."""
    given = condition.config.given
    if given is None or tale.theme != OWN:
        return {}
    return {"names": given.names(condition.drawn.orders[game])}


def _one_letter(name: str) -> bool:
    """Whether the theme's labels can be told apart by one token."""
    return name != OWN and all(len(label) == 1 for labels in theme(name).actions for label in labels)


def _data(game: int, condition: Condition, tale: Variant, model: str, elicit: str) -> dict[str, Any]:
    c = condition.config
    carried = {"opponent_back": list(tale.opponent_back)} if tale.opponent_back is not None else {}
    return carried | {
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
        "temperature": _choose_temperature(c.temperature, elicit),
        "max_tokens": c.max_tokens,
        "attempts": c.attempts,
        "samples": c.samples if elicit == "sampled" else 1,
        "llm_seed": c.llm_seed if c.llm_seed is not None else split(c.seed, "llm") % 2**31,
    }


def _choose_temperature(wanted: float | None, elicit: str) -> float:
    """Return the temperature that is sent: probabilities of tokens are read, and samples drawn, at 1."""
    if elicit == "logprobs":
        return 1.0
    return wanted if wanted is not None else 1.0 if elicit == "sampled" else 0.0


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
