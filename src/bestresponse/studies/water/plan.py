"""Which games a run of the water study consists of.

Every repeat has a seed of its own, which all settings share: the supplies of game 3 with and without personas are the
same days, and a dry year is dry in all ranges of supply. Comparisons between settings are therefore paired by repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from bestresponse.core.json import JsonObject
from bestresponse.core.seeds import split
from bestresponse.runs.agents import AGENT_SETTINGS
from bestresponse.runs.spec import Spec
from bestresponse.studies.water.config import Setting, WaterConfig

__all__ = ["game_seed", "spec_of", "specs"]


def game_seed(config: WaterConfig, repeat: int) -> int:
    """The seed of a repeat."""
    return split(config.seed, "water", repeat)


def specs(config: WaterConfig) -> Iterator[Spec]:
    """All games, repeats in the outer loop: a run that stops early has played all settings equally often."""
    for repeat in range(config.repeats):
        for setting in config.settings:
            yield spec_of(config, setting, repeat)


def spec_of(config: WaterConfig, setting: Setting, repeat: int) -> Spec:
    """Return the spec of one game."""
    data: JsonObject = {
        "study": "water",
        "persona": setting.persona,
        "abundance": setting.abundance,
        "repeat": repeat,
        "seed": game_seed(config, repeat),
        "rules": setting.rules.to_json(),
        "players": list(config.players),
        "seats": [[who.name, name] for who, name in zip(setting.rules.residents, config.players, strict=True)],
    }
    if config.models:
        data |= {name: getattr(config, name) for name in (*AGENT_SETTINGS, "policy")}
        told = setting.rules.residents if setting.persona else ()
        data["personas"] = {who.name: asdict(config.persona_texts[who.name]) for who in told}
    return Spec.of(data)
