"""JSON schemas of replies.

They are translated on their way out for providers with a strict mode, and back on their way in.

OpenAI's strict mode takes a subset of JSON Schema: every property is required, no object is open,
and only some keywords may occur
(https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). An optional property
becomes a required one that may be null; limits on the length of texts and the like are left out.
Whether a value is within its bounds is for whoever reads the answer: no engine keeps every promise,
and llama.cpp leaves bounds out.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import Json, Reply, Request

_VALUES = ("type", "description", "enum", "const", "pattern", "format")
_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
)
_KEPT = frozenset(_VALUES + _BOUNDS)
_REMARKS = ("title", "default", "examples", "$schema", "$id", "$comment")
_LENGTHS = ("minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties")
_STRUCTURE = (
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "$ref",
)
_UNDERSTOOD = _KEPT.union(_REMARKS, _LENGTHS, _STRUCTURE)
_TYPE_NAMES = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
}


def schema_text(schema: object) -> str:
    """Write a schema as text for a request.

    Its properties keep their order: a model held to the schema answers in it.

    >>> schema_text({"properties": {"why": {}, "move": {}}})
    '{"properties":{"why":{},"move":{}}}'
    """
    return json.dumps(
        schema,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )


def read_schema(request: Request) -> JsonObject:
    """Return the request's schema as data."""
    try:
        schema = json.loads(request.schema or "")
    except ValueError as error:
        raise UsageError(f"the schema of the request is not JSON: {error}") from error
    if not isinstance(schema, dict):
        raise UsageError(f"a JSON schema must be an object, not {schema!r}")
    return schema


def finish_structured(request: Request, reply: Reply, *, plain: bool = False) -> Reply:
    """Translate a reply back to the request's own schema.

    Notes in `honoured` if it is not even JSON.

    Nulls that only `make_strict` allowed are taken out. With `plain` the provider was not held to
    JSON: a JSON object with text around it, such as a code fence, is taken out of that text. A
    reply that cannot be helped stays as it is.
    """
    if request.schema is None:
        return reply
    schema = read_schema(request)
    text = _extract_object(reply.text) if plain else reply.text
    try:
        value = json.loads(text)
        shorter = _remove_added_nulls(value, schema, schema.get("$defs", {}))
    except (ValueError, RecursionError):
        return replace(
            reply, honoured=(*reply.honoured, ("schema_violation", "the answer is not JSON"))
        )
    return replace(
        reply, text=text if shorter == value else json.dumps(shorter, ensure_ascii=False)
    )


def _extract_object(text: str) -> str:
    """Return the first JSON object in a text, or the text where there is none."""
    start = text.find("{")
    while start >= 0:
        try:
            _, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
        else:
            return text[start:end]
    return text


def _remove_added_nulls(value: Json, schema: object, named: JsonMapping) -> Json:
    """Leave out properties that are null because they were optional.

    In the schema as written they are just absent.
    """
    schema = _follow(schema, named)
    if isinstance(value, list):
        return [_remove_added_nulls(item, schema.get("items"), named) for item in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    required = schema.get("required", ())
    kept = {}
    for name, item in value.items():
        is_added = item is None and name in known and name not in required
        if not is_added or _takes_null(known[name], named):
            kept[name] = _remove_added_nulls(item, known.get(name), named)
    return kept


def _follow(schema: object, named: JsonMapping) -> JsonMapping:
    """Return the schema, or the definition that it names; an empty one where it says nothing."""
    if isinstance(schema, dict) and "$ref" in schema:
        reference = str(schema["$ref"])
        schema = named.get(reference.removeprefix("#/$defs/"))
    return schema if isinstance(schema, dict) else {}


def _takes_null(schema: object, named: JsonMapping) -> bool:
    schema = _follow(schema, named)
    if "anyOf" in schema:
        return any(_takes_null(part, named) for part in schema["anyOf"])
    return "null" in schema.get("type", "null") and None in schema.get(
        "enum", [schema.get("const")]
    )


class _NoStrictForm(Exception):
    """Some part of a schema cannot be said in strict mode."""


def make_strict(schema: JsonMapping) -> JsonObject | None:
    """Return the schema as strict mode takes it, or None where it has no strict form.

    There is none for an object with properties that are not listed, for a value of any type, and
    for combinations such as `allOf`. A schema beyond the limits of strict mode is refused by the
    server, and then asked for as plain JSON.

    >>> note = {"type": "string", "maxLength": 80}
    >>> make_strict({"type": "object", "properties": {"note": note}})["properties"]
    {'note': {'type': ['string', 'null']}}
    """
    if schema.get("type") != "object":
        return None
    named = schema.get("$defs", {})
    try:
        strict = _convert({name: value for name, value in schema.items() if name != "$defs"})
        if named:
            strict["$defs"] = {name: _convert(part) for name, part in named.items()}
    except (_NoStrictForm, RecursionError):
        return None
    return strict


def _convert(schema: object) -> dict[str, object]:
    if not isinstance(schema, dict) or schema.keys() - _UNDERSTOOD:
        raise _NoStrictForm
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    strict = {name: value for name, value in schema.items() if name in _KEPT}
    if "anyOf" in schema:
        return strict | {"anyOf": [_convert(part) for part in schema["anyOf"]]}
    if "type" not in strict:
        # Strict mode wants the type said of a schema that only lists its values.
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        named = [_TYPE_NAMES.get(type(value), "") for value in values]
        strict["type"] = list(dict.fromkeys(named))
        if not strict["type"] or "" in strict["type"]:
            raise _NoStrictForm
    types = _list_types(strict)
    strict["type"] = types[0] if len(types) == 1 else types
    if "object" in types:
        strict |= _convert_object(schema)
    if "array" in types:
        strict["items"] = _convert(schema.get("items"))
    return strict


def _convert_object(schema: JsonMapping) -> JsonObject:
    if schema.get("additionalProperties", False) is not False or "properties" not in schema:
        raise _NoStrictForm
    required = schema.get("required", ())
    converted = {name: _convert(part) for name, part in schema["properties"].items()}
    if set(required) - converted.keys():
        raise _NoStrictForm
    properties = {
        name: part if name in required else _allow_null(part) for name, part in converted.items()
    }
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def _allow_null(schema: JsonObject) -> dict[str, object]:
    if "anyOf" in schema:
        return schema | {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types_and_null = dict.fromkeys([*_list_types(schema), "null"])
    nullable = schema | {"type": list(types_and_null)}
    if "const" in schema:
        nullable["enum"] = [nullable.pop("const")]
    if "enum" in nullable and None not in nullable["enum"]:
        nullable["enum"] = [*nullable["enum"], None]
    return nullable


def _list_types(schema: Mapping[str, object]) -> list[object]:
    return schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
