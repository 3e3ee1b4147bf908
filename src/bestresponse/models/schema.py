"""JSON schemas: made strict for providers that demand it, and checked by us, because engines do not keep every promise.

OpenAI's strict mode takes a subset of JSON Schema: every property is required, no object is open, and only some
keywords may occur (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). llama.cpp turns a
schema into a grammar and leaves out the bounds of numbers. So a schema is translated on its way out (`make_strict`),
and a reply is translated back and checked on its way in (`finish_structured`).
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import Reply, Request
from bestresponse.models.strict_schema import make_strict

__all__ = ["find_violations", "finish_structured", "make_strict", "read_schema", "schema_text"]

_TYPES: dict[str, tuple[type[Any], ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_CHECKED = frozenset(
    [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "enum",
        "const",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
    ]
)
_REMARKS = frozenset(["title", "description", "default", "examples", "$schema", "$id", "$comment"])


def schema_text(schema: object) -> str:
    """Write a schema as text for a request. Its properties keep their order: a model held to the schema answers in it.

    >>> schema_text({"properties": {"why": {}, "move": {}}})
    '{"properties":{"why":{},"move":{}}}'
    """
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


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
    """Translate a reply back to the request's own schema, and note in `honoured` where it breaks it.

    Nulls that only `make_strict` allowed are taken out. With `plain` the provider was not held to JSON: a JSON object
    with text around it, such as a code fence, is taken out of that text. A reply that cannot be helped stays as it is.
    """
    if request.schema is None:
        return reply
    schema = _resolve(read_schema(request))
    text = _extract_object(reply.text) if plain else reply.text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return replace(reply, honoured=(*reply.honoured, ("schema_violation", "the answer is not JSON")))
    try:
        shorter = _without_added_nulls(value, schema)
        text = text if shorter == value else json.dumps(shorter, ensure_ascii=False)
        wrong = next(find_violations(shorter, schema), None)
    except (UsageError, RecursionError):
        wrong = None
    broken = () if wrong is None else (("schema_violation", wrong),)
    return replace(reply, text=text, honoured=(*reply.honoured, *broken))


def find_violations(value: object, schema: object, place: str = "the answer") -> Iterator[str]:
    """Say everything in which the value breaks the schema (JSON Schema draft 2020-12).

    A keyword that would restrict something and is not understood here is a `UsageError`, not ignored.

    >>> list(find_violations({"p": 1.5}, {"properties": {"p": {"type": "number", "maximum": 1}}}))
    ['the answer.p is 1.5, more than 1']
    """
    if not isinstance(schema, dict):
        raise UsageError(f"a JSON schema must be an object, not {schema!r}")
    schema = _resolve(schema)
    if unknown := sorted(schema.keys() - _CHECKED - _REMARKS):
        raise UsageError(f"JSON schemas with {', '.join(unknown)} cannot be checked")
    if "type" in schema and not _is_type(value, schema["type"]):
        yield f"{place} is {_show(value)}, expected {_name_types(schema['type'])}"
        return
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and not any(_is_same(value, one) for one in allowed):
        yield f"{place} is {_show(value)}, expected one of {_show(allowed)}"
    if "anyOf" in schema and all(any(find_violations(value, one, place)) for one in schema["anyOf"]):
        yield f"{place} is {_show(value)}, which fits none of {len(schema['anyOf'])} possibilities"
    if isinstance(value, str):
        yield from _check_text(value, schema, place)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _check_bounds(value, schema, place)
    elif isinstance(value, list):
        yield from _check_items(value, schema, place)
    elif isinstance(value, dict):
        yield from _check_properties(value, schema, place)


def _resolve(schema: JsonObject) -> JsonObject:
    """Put what `$defs` defines where `$ref` names it; a definition that names itself becomes a cycle."""
    if "$defs" not in schema:
        return schema
    made: dict[str, JsonObject] = {f"#/$defs/{name}": {} for name in schema["$defs"]}

    def copy(part: object) -> Any:
        if isinstance(part, list):
            return [copy(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return made.get(part["$ref"], part)
        return {name: copy(one) for name, one in part.items()}

    for name, one in schema["$defs"].items():
        made[f"#/$defs/{name}"] |= copy(one)
    return {name: copy(one) for name, one in schema.items() if name != "$defs"}


def _check_text(value: str, schema: JsonMapping, place: str) -> Iterator[str]:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
        yield f"{place} has {len(value)} characters"
    if "pattern" in schema and not _matches(schema["pattern"], value):
        yield f"{place} is {_show(value)}, which does not match {schema['pattern']}"


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error as error:
        raise UsageError(f"the pattern {pattern!r} of a JSON schema cannot be read: {error}") from None


def _check_bounds(value: float, schema: JsonMapping, place: str) -> Iterator[str]:
    if value < schema.get("minimum", -math.inf):
        yield f"{place} is {_show(value)}, less than {schema['minimum']:g}"
    if value > schema.get("maximum", math.inf):
        yield f"{place} is {_show(value)}, more than {schema['maximum']:g}"


def _check_items(value: list[Any], schema: JsonMapping, place: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
        yield f"{place} has {len(value)} items"
    for number, item in enumerate(value):
        yield from find_violations(item, schema.get("items", {}), f"{place}[{number}]")


def _check_properties(value: JsonObject, schema: JsonMapping, place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{place} lacks {name!r}" for name in schema.get("required", ()) if name not in value)
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            yield from find_violations(item, known[name], f"{place}.{name}")
        elif others is False:
            yield f"{place} has {name!r}, which was not asked for"
        elif others is not True:
            yield from find_violations(item, others, f"{place}.{name}")


def _without_added_nulls(value: object, schema: object) -> Any:
    """Leave out properties that are null because they were optional: in the schema as written they are just absent."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [_without_added_nulls(item, schema.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    known, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: _without_added_nulls(item, known.get(name))
        for name, item in value.items()
        if item is not None or name in required or name not in known or _takes_null(known[name])
    }


def _takes_null(schema: object) -> bool:
    try:
        return not any(find_violations(None, schema))
    except UsageError:
        return True


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


def _is_type(value: Any, wanted: Any) -> bool:
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if name not in _TYPES:
            raise UsageError(f"{name!r} is no type of a JSON schema")
        if isinstance(value, bool) and name in ("number", "integer"):
            continue
        if isinstance(value, _TYPES[name]) and (name != "integer" or value % 1 == 0):
            return True
    return False


def _is_same(value: object, other: object) -> bool:
    """Compare as JSON does: 1 is 1.0, and true is not 1."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _name_types(wanted: Any) -> str:
    return str(wanted) if isinstance(wanted, str) else " or ".join(wanted)


def _show(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:
        text = "a number of more than 4,300 digits"
    return text if len(text) <= 60 else text[:57] + "..."
