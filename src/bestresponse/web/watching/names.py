"""Readable names of runs and plays, from what their manifests and specs say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.runs.store.folder import StoredPlay
from bestresponse.runs.store.manifest import Manifest

__all__ = ["name_play", "name_run"]

_COUNTS = {"num_games": "games", "count": "stories", "repeats": "repeats", "rounds": "rounds"}
_MOST_NAMES = 3


def name_run(manifest: Manifest) -> str:
    """Name a run by who plays what how often.

    >>> name_run(Manifest("9f", "bench", {"models": ["gpt-4o"], "family": "zero-sum", "num_games": 50}))
    'gpt-4o, zero-sum, 50 games'
    """
    config = manifest.config if isinstance(manifest.config, Mapping) else {}
    who = next((config[key] for key in ("models", "model", "entries", "players") if config.get(key)), "")
    what = next((config[key] for key in ("game", "domain", "family") if config.get(key)), "")
    sizes = [f"{config[key]:g} {word}" for key, word in _COUNTS.items() if isinstance(config.get(key), int)]
    parts = (_list_names(who), _read_name(what), *sizes[:1])
    return ", ".join(part for part in parts if part) or manifest.study


def name_play(play: StoredPlay) -> str:
    """Name a play by its game and by which of the games or repeats of the run it is."""
    data = play.data
    parts = [play.record.game]
    if isinstance(data.get("game"), int):
        parts.append(f"game {data['game'] + 1}")
    for key in ("variant", "condition", "abundance", "treatment"):
        if isinstance(data.get(key), str) and data[key] not in ("", "original", "base"):
            parts.append(data[key])
    for key in ("repeat", "repetition"):
        if isinstance(data.get(key), int):
            parts.append(f"repeat {data[key] + 1}")
    if isinstance(data.get("group"), int):
        parts.append(f"group {data['group']}")
    return ", ".join(parts)


def _list_names(given: Any) -> str:
    names = [_read_name(one) for one in given] if isinstance(given, list | tuple) else [_read_name(given)]
    found = list(dict.fromkeys(name for name in names if name))
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return " / ".join(found[:_MOST_NAMES]) + more


def _read_name(given: Any) -> str:
    if isinstance(given, Mapping):
        given = given.get("name", "")
    return given if isinstance(given, str) else ""
