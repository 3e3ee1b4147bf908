"""Statements and events as JSON, and back again from files that nobody vouches for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from functools import cache, lru_cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject, canonical
from bestresponse.core.special import (
    Points,
    ResidentNeed,
)
from bestresponse.core.told import (
    Cell,
    Decides,
    Draw,
    Event,
    Odds,
    Options,
    PlayEnd,
    PrivateProse,
    Prose,
    Statement,
    TextPlace,
    Told,
    TurnCount,
)

_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *get_args(Statement),
        *get_args(Event),
        Options,
        Cell,
        Decides,
        Odds,
        Draw,
        PlayEnd,
        TextPlace,
        TurnCount,
        Points,
        ResidentNeed,
    )
}


def told_to_json(told: Told) -> JsonObject:
    """Turn a statement or an event into plain data.

    >>> from bestresponse.core.told import Cells
    >>> told_to_json(Cells((Cell(("left",), (Fraction(1, 3), Fraction(2))),)))
    {'is': 'Cells', 'cells': [{'is': 'Cell', 'moves': ['left'], 'payoffs': ['1/3', 2]}]}
    """
    data: JsonObject = {"is": type(told).__name__}
    for field in fields(told):
        value = getattr(told, field.name)
        if value != field.default:
            data[field.name] = _encode(value)
    return data


def told_from_json(data: object) -> Told:
    """Turn plain data into a statement or an event; InvalidGame says what is wrong with it.

    >>> told_from_json({"is": "Players", "names": ["Ann", "Bob"]})
    Players(names=('Ann', 'Bob'))
    """
    told: Told = _decode_object(data, (*get_args(Statement), *get_args(Event)), "a statement")
    return told


def list_json(told: Iterable[Told]) -> list[JsonObject]:
    """Turn several statements or events into plain data."""
    return [told_to_json(one) for one in told]


@lru_cache(maxsize=256)
def spell_told(told: tuple[Told, ...]) -> str:
    """Write statements or events as one text, equal for equal ones.

    Nothing but texts is what they say.

    >>> from bestresponse.core.told import Over, prose
    >>> spell_told(prose("Bid.")), spell_told((Over(),))
    ('Bid.', '[{"is":"Over"}]')
    """
    texts = [one.text for one in told if isinstance(one, Prose | PrivateProse)]
    return "\n\n".join(texts) if len(texts) == len(told) else canonical(list_json(told))


def _encode(value: object) -> object:
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if is_dataclass(value):
        return told_to_json(value)  # type: ignore[arg-type]
    return value


@cache
def _find_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode_object(data: object, kinds: tuple[type, ...], what: str) -> Any:
    if not isinstance(data, dict):
        raise InvalidGame(f"expected {what} as an object, got {_show(data)}")
    kind = _KINDS.get(str(data.get("is")))
    if kind not in kinds:
        listed = ", ".join(kind.__name__ for kind in kinds)
        raise InvalidGame(
            f'expected {what} with "is" as one of {listed}, got {_show(data.get("is"))}'
        )
    parts = {field.name: field for field in fields(kind)}
    unknown = [name for name in data if name not in parts and name != "is"]
    if unknown:
        raise InvalidGame(
            f"{kind.__name__} has no {_show(unknown[0])}; it has {', '.join(parts) or 'nothing'}"
        )
    values = {}
    for name, field in parts.items():
        if name in data:
            values[name] = _decode(
                data[name],
                _find_hints(kind)[name],
                f"{name} of {kind.__name__}",
            )
        elif field.default is MISSING:
            raise InvalidGame(f"{kind.__name__} lacks {name}")
    return kind(**values)


def _decode(data: object, hint: Any, what: str) -> object:
    if get_origin(hint) is tuple:
        if not isinstance(data, list):
            raise InvalidGame(f"expected {what} as a list, got {_show(data)}")
        entry_hint = get_args(hint)[0]
        return tuple(_decode(item, entry_hint, f"an entry of {what}") for item in data)
    if hint is Fraction:
        return _decode_number(data, what)
    if hint in (str, int, bool):
        if type(data) is not hint:
            raise InvalidGame(f"expected {what} as {_PLAIN_KINDS[hint]}, got {_show(data)}")
        return data
    if get_origin(hint) is Literal:
        if data not in get_args(hint):
            listed = ", ".join(get_args(hint))
            raise InvalidGame(f"expected {what} as one of {listed}, got {_show(data)}")
        return data
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if str in kinds and type(data) is str:
        return data
    return _decode_object(data, kinds, what)


def _decode_number(data: object, what: str) -> Fraction:
    try:
        if type(data) is int:
            return Fraction(data)
        if isinstance(data, str) and len(data) <= _LONGEST_NUMBER:
            return Fraction(data)
    except (ValueError, ZeroDivisionError):
        pass
    raise InvalidGame(
        f'expected {what} as a whole number or a text such as "1/3", got {_show(data)}'
    )


_PLAIN_KINDS: dict[type, str] = {str: "text", int: "a whole number", bool: "true or false"}
_LONGEST_NUMBER = 4_000
"""Characters of a fraction; Python reads no whole number of more than 4,300 digits."""


def _show(data: object) -> str:
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:60]}..."
