"""The forms of what is written about a dialogue, as JSON schemas.

Makes them, describes them to a writer, and reads what was written.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, JsonObject

Schema = dict[str, object]
"""A JSON schema."""

_PLACES = {
    "boolean": "true or false",
    "integer": "<whole number>",
    "number": "<number>",
    "string": '"<text>"',
    "null": "null",
}


def make_object(properties: Mapping[str, object], *, required: bool = True) -> Schema:
    """Return the JSON schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties) if required else [],
        "additionalProperties": False,
    }


def add_text(schema: Schema, name: str) -> Schema:
    """Return the JSON schema of an object with one more text."""
    properties: Any = schema["properties"]
    return make_object({**properties, name: {"type": "string"}})


def make_numbers(names: Sequence[str], span: Sequence[int], **more: int) -> Schema:
    """Return the JSON schemas of one whole number for each name.

    Numbers go from the first to the second of `span`.
    """
    low, high = span
    number = {"type": "integer", "minimum": low, "maximum": high, **more}
    return dict.fromkeys(names, number)


def make_choice(items: Sequence[str]) -> Schema:
    """Return the JSON schema of one of the items or null."""
    return {"type": ["string", "null"], "enum": [*items, None]}


def describe_form(schema: JsonMapping) -> str:
    """Describe what a value of a schema looks like.

    Every value in it has a place in angle brackets.
    """
    match schema:
        case {"enum": values}:
            return " or ".join(json.dumps(value, ensure_ascii=False) for value in values)
        case {"type": "integer", "minimum": low, "maximum": high}:
            return f"<whole number from {low} to {high}>"
        case {"type": "object", "properties": parts}:
            described = [f'"{name}": {describe_form(part)}' for name, part in parts.items()]
            form = "{" + ", ".join(described) + "}"
            if "minProperties" not in schema:
                return form
            return f"{form} with {schema['minProperties']} to {schema['maxProperties']} of these"
    kind = schema["type"]
    kinds = kind if isinstance(kind, list) else [kind]
    return " or ".join(_PLACES[kind] for kind in kinds)


def read_by_schema(answer: object, schema: JsonMapping, name: str) -> Any:
    """Return what somebody wrote by a schema, in its spelling and order.

    InvalidGame says where it differs.
    """
    match schema:
        case {"enum": options}:
            option = _find_spelling(answer, options)
            if option is None:
                raise InvalidGame(f"{name} is {shorten(answer)}, expected {' or '.join(options)}")
            return option
        case {"type": "integer", "minimum": low, "maximum": high}:
            is_whole = isinstance(answer, int) and not isinstance(answer, bool)
            if not is_whole or not low <= answer <= high:
                raise InvalidGame(f"{name} is {shorten(answer)}, expected {low} to {high}")
            return answer
    if not isinstance(answer, Mapping):
        raise InvalidGame(f"{name} is {shorten(answer)}, expected an object")
    return _read_object(answer, schema, name)


def _find_spelling(answer: object, options: Iterable[str]) -> str | None:
    """Return the option that is meant, however it is written; None where none is."""
    written = str(answer).strip().casefold()
    for option in options:
        if option.casefold() == written:
            return option
    return None


def _read_object(answer: Mapping[object, object], schema: JsonMapping, name: str) -> JsonObject:
    """Return an object by its schema, with defaults where the answer leaves something out."""
    parts = schema["properties"]
    written = {key: part["default"] for key, part in parts.items() if "default" in part}
    for key, value in answer.items():
        part = _find_spelling(key, parts)
        if part is None:
            raise InvalidGame(f"{name} has {key!r}, expected only {', '.join(parts)}")
        written[part] = value

    fewest = schema.get("minProperties", len(parts))
    most = schema.get("maxProperties", len(parts))
    if not fewest <= len(written) <= most:
        expected = f"{fewest} to {most}" if fewest < most else f"{most}"
        raise InvalidGame(
            f"{name} has {len(written)} entries, expected {expected}: {', '.join(parts)}"
        )

    read = {}
    for key, part in parts.items():
        if key in written:
            read[key] = read_by_schema(written[key], part, f"{key} of {name}")
    return read


def shorten(value: object) -> str:
    """Return a value as a short text for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
