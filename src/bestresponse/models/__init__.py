"""Language models: requests, replies, providers, and wrappers that cache, retry, limit and meter.

Names are loaded on first use, so that importing this package costs next to nothing.
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "Abilities": "base",
    "Finish": "base",
    "Message": "base",
    "Model": "base",
    "Reply": "base",
    "Request": "base",
    "ScriptedModel": "scripted",
    "TokenChances": "base",
    "Usage": "base",
    "ask": "base",
    "effective_seed": "base",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
