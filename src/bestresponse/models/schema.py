"""JSON schemas, as far as asks use them: checked by us, because engines do not keep every promise.

llama.cpp, for one, turns a schema into a grammar and leaves out the bounds of numbers. The subset understood here is
`type`, `properties`, `required`, `additionalProperties`, `items`, `minItems`, `maxItems`, `enum`, `const`, `minimum`
and `maximum` (JSON Schema draft 2020-12); any other keyword that would restrict something is an error, not ignored.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

from bestresponse.core.errors import Flaw, InvalidMove, UsageError
from bestresponse.models.base import Request

__all__ = ["read_json", "schema_of", "schema_text", "violations"]

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
    ]
)
_REMARKS = frozenset(["title", "description", "default", "examples", "$schema", "$id", "$comment"])


def schema_text(schema: Any) -> str:
    """A schema as text for a request. Its properties keep their order: a model held to the schema answers in it.

    >>> schema_text({"properties": {"why": {}, "move": {}}})
    '{"properties":{"why":{},"move":{}}}'
    """
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def schema_of(request: Request) -> Any:
    """The request's schema as data."""
    try:
        return json.loads(request.schema or "")
    except ValueError as error:
        raise UsageError(f"the schema of the request is not JSON: {error}") from error


def read_json(text: str, schema: Any) -> Any:
    """The value in a reply that should follow the schema; `InvalidMove` says what is wrong with it.

    >>> read_json('{"p": 0.25}', {"type": "object", "properties": {"p": {"type": "number", "maximum": 1}}})
    {'p': 0.25}
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidMove(f"the answer is not JSON: {error}", Flaw.UNPARSEABLE) from error
    wrong = next(violations(value, schema), None)
    if wrong is not None:
        raise InvalidMove(f"the answer does not follow its schema: {wrong}", Flaw.ILLEGAL)
    return value


def violations(value: Any, schema: Any, place: str = "the answer") -> Iterator[str]:
    """Everything in which the value breaks the schema, in words."""
    if not isinstance(schema, dict):
        raise UsageError(f"a JSON schema must be an object, not {schema!r}")
    if unknown := sorted(schema.keys() - _CHECKED - _REMARKS):
        raise UsageError(f"JSON schemas with {', '.join(unknown)} cannot be checked")
    if "type" in schema and not _is_type(value, schema["type"]):
        yield f"{place} is {_shown(value)}, expected {_types(schema['type'])}"
        return
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and not any(_same(value, one) for one in allowed):
        yield f"{place} is {_shown(value)}, expected one of {_shown(allowed)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _bounds(value, schema, place)
    elif isinstance(value, list):
        yield from _items(value, schema, place)
    elif isinstance(value, dict):
        yield from _properties(value, schema, place)


def _bounds(value: float, schema: dict[str, Any], place: str) -> Iterator[str]:
    if value < schema.get("minimum", -math.inf):
        yield f"{place} is {value:g}, less than {schema['minimum']:g}"
    if value > schema.get("maximum", math.inf):
        yield f"{place} is {value:g}, more than {schema['maximum']:g}"


def _items(value: list[Any], schema: dict[str, Any], place: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
        yield f"{place} has {len(value)} items"
    for number, item in enumerate(value):
        yield from violations(item, schema.get("items", {}), f"{place}[{number}]")


def _properties(value: dict[str, Any], schema: dict[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{place} lacks {name!r}" for name in schema.get("required", ()) if name not in value)
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            yield from violations(item, known[name], f"{place}.{name}")
        elif others is False:
            yield f"{place} has {name!r}, which was not asked for"
        elif others is not True:
            yield from violations(item, others, f"{place}.{name}")


def _is_type(value: Any, wanted: Any) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    for name in names:
        if name not in _TYPES:
            raise UsageError(f"{name!r} is no type of a JSON schema")
        if isinstance(value, bool) and name in ("number", "integer"):
            continue
        if isinstance(value, _TYPES[name]) and (name != "integer" or float(value).is_integer()):
            return True
    return False


def _same(value: Any, other: Any) -> bool:
    """Equal as JSON: 1 is 1.0, and true is not 1."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _types(wanted: Any) -> str:
    return str(wanted) if isinstance(wanted, str) else " or ".join(wanted)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
