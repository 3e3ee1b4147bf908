"""Statements and events as JSON, in which equal ones are equal texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import lru_cache

from bestresponse.core.json import JsonObject, canonical
from bestresponse.core.told import PrivateProse, Prose, Told


def told_to_json(told: Told) -> JsonObject:
    """Turn a statement or an event into plain data.

    >>> from bestresponse.core.told import Cell, Cells
    >>> told_to_json(Cells((Cell(("left",), (Fraction(1, 3), Fraction(2))),)))
    {'is': 'Cells', 'cells': [{'is': 'Cell', 'moves': ['left'], 'payoffs': ['1/3', 2]}]}
    """
    data: JsonObject = {"is": type(told).__name__}
    for field in fields(told):  # type: ignore[arg-type]
        value = getattr(told, field.name)
        if value != field.default:
            data[field.name] = _encode(value)
    return data


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
