"""Schemas for OpenAI's strict mode: every property required, no open objects, only the keywords it takes.

An optional property becomes a required one that may be null. Limits on the length of texts and the like, which strict
mode does not take, are left out; they are checked when the reply comes (`schema.find_violations`). Rules and limits:
https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""

from collections.abc import Iterator

from bestresponse.core.json import JsonMapping, JsonObject

__all__ = ["make_strict"]

_MOST_LEVELS = 10
_MOST_PROPERTIES = 5000
_MOST_ENUM = 1000
_MOST_CHARACTERS = 120_000
_KEPT = frozenset(
    [
        "type",
        "description",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "pattern",
        "format",
    ]
)
_DROPPED = frozenset(
    [
        "title",
        "default",
        "examples",
        "$schema",
        "$id",
        "$comment",
        "minLength",
        "maxLength",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    ]
)
_STRUCTURE = frozenset(["properties", "required", "additionalProperties", "items", "anyOf", "$ref"])
_TYPE_NAMES = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}


class _NoStrictForm(Exception):
    """Some part of a schema cannot be said in strict mode."""


def make_strict(schema: JsonMapping) -> JsonObject | None:
    """Return the schema as strict mode takes it, or None where it has no strict form.

    There is none for an object with properties that are not listed, for a value of any type, for combinations such as
    `allOf`, and for schemas beyond the limits of strict mode.

    >>> make_strict({"type": "object", "properties": {"note": {"type": "string", "maxLength": 80}}})["properties"]
    {'note': {'type': ['string', 'null']}}
    """
    if schema.get("type") != "object":
        return None
    named = schema.get("$defs", {})
    try:
        strict = _convert({name: value for name, value in schema.items() if name != "$defs"}, 1)
        if named:
            strict["$defs"] = {name: _convert(one, 1) for name, one in named.items()}
    except _NoStrictForm:
        return None
    return strict if _is_small(strict) else None


def _convert(schema: object, level: int) -> JsonObject:
    if not isinstance(schema, dict) or schema.keys() - _KEPT - _DROPPED - _STRUCTURE or level > _MOST_LEVELS:
        raise _NoStrictForm
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    strict = {name: value for name, value in schema.items() if name in _KEPT}
    if "anyOf" in schema:
        return strict | {"anyOf": [_convert(one, level) for one in schema["anyOf"]]}
    if "type" not in strict:
        strict["type"] = _infer_type(schema)
    types = strict["type"] if isinstance(strict["type"], list) else [strict["type"]]
    if "object" in types:
        strict |= _convert_object(schema, level)
    if "array" in types:
        strict["items"] = _convert(schema.get("items"), level + 1)
    return strict


def _convert_object(schema: JsonMapping, level: int) -> JsonObject:
    if schema.get("additionalProperties", False) is not False or "properties" not in schema:
        raise _NoStrictForm
    required = schema.get("required", ())
    converted = {name: _convert(one, level + 1) for name, one in schema["properties"].items()}
    if set(required) - converted.keys():
        raise _NoStrictForm
    properties = {name: one if name in required else _allow_null(one) for name, one in converted.items()}
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def _allow_null(schema: JsonObject) -> JsonObject:
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    if "const" in schema:
        schema = {name: value for name, value in schema.items() if name != "const"} | {"enum": [schema["const"]]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    nullable = schema | {"type": list(dict.fromkeys([*types, "null"]))}
    if "enum" in schema and None not in schema["enum"]:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def _infer_type(schema: JsonMapping) -> str | list[str]:
    """Name the type of a schema that only lists its values; strict mode wants it said."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    names = list(dict.fromkeys(_TYPE_NAMES.get(type(value), "") for value in values))
    if not names or "" in names:
        raise _NoStrictForm
    return names[0] if len(names) == 1 else names


def _is_small(schema: JsonObject) -> bool:
    """Tell whether a schema keeps the limits of strict mode on its size."""
    parts = list(_walk(schema))
    names = [name for part in parts for name in part.get("properties", ())]
    values = [value for part in parts for value in part.get("enum", [part["const"]] if "const" in part else [])]
    characters = sum(map(len, names)) + sum(len(value) for value in values if isinstance(value, str))
    return len(names) <= _MOST_PROPERTIES and len(values) <= _MOST_ENUM and characters <= _MOST_CHARACTERS


def _walk(schema: JsonObject) -> Iterator[JsonObject]:
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("$defs", {}).values()]
    for one in [*inner, schema["items"]] if "items" in schema else inner:
        yield from _walk(one)
