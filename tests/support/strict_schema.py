"""The rules of OpenAI's strict mode, as a server applies them to a schema it is sent; and what
breaks a schema.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
"""

from jsonschema import Draft202012Validator

TYPES = {"string", "number", "boolean", "integer", "object", "array", "null"}
KEYWORDS = {
    "string": {"pattern", "format"},
    "number": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"},
    "integer": {"multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
    "boolean": set(),
    "null": set(),
}
ANYWHERE = {"type", "description", "enum", "const"}
MOST_PROPERTIES, MOST_LEVELS, MOST_ENUM, MOST_CHARACTERS = 5000, 10, 1000, 120_000


def complain(schema):
    """Return the first rule the schema breaks, in words, or None."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "schema must be a JSON Schema of 'type: \"object\"'"
    counts = {"properties": 0, "enum": 0, "characters": 0}
    wrong = next(_complaints(schema, (), 1, counts), None)
    if wrong:
        return wrong
    limits = {"properties": MOST_PROPERTIES, "enum": MOST_ENUM, "characters": MOST_CHARACTERS}
    return next(
        (
            f"too many {name}: {counts[name]}"
            for name, most in limits.items()
            if counts[name] > most
        ),
        None,
    )


def _complaints(schema, place, level, counts):
    if level > MOST_LEVELS:
        yield f"In context={place}, nested deeper than {MOST_LEVELS} levels"
    if "anyOf" in schema:
        if extra := sorted(schema.keys() - {"anyOf", "description"}):
            yield f"In context={place}, {extra[0]!r} is not permitted beside 'anyOf'"
        for number, one in enumerate(schema["anyOf"]):
            yield from _complaints(one, (*place, "anyOf", str(number)), level, counts)
        return
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if not types or set(types) - TYPES:
        yield f"In context={place}, schema must have a 'type' key"
    for keyword in schema.keys() - ANYWHERE - set().union(*(KEYWORDS[one] for one in types)):
        yield f"In context={place}, {keyword!r} is not permitted"
    values = [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]
    counts["enum"] += len(values)
    counts["characters"] += sum(len(value) for value in values if isinstance(value, str))
    if "object" in types:
        yield from _object_complaints(schema, place, level, counts)
    if "array" in types:
        if not isinstance(schema.get("items"), dict):
            yield f"In context={place}, array schema missing items"
        else:
            yield from _complaints(schema["items"], (*place, "items"), level + 1, counts)


def _object_complaints(schema, place, level, counts):
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is not False:
        yield (
            f"In context={place}, 'additionalProperties' is required to be supplied and to be"
            " false."
        )
    missing = [name for name in properties if name not in schema.get("required", [])]
    if missing or "required" not in schema:
        yield (
            f"In context={place}, 'required' is required to be supplied and to be an array"
            f" including every key in properties. Missing {(missing or ['required'])[0]!r}."
        )
    if extra := sorted(set(schema.get("required", [])) - properties.keys()):
        yield f"In context={place}, Extra required key {extra[0]!r} supplied."
    counts["properties"] += len(properties)
    counts["characters"] += sum(map(len, properties))
    for name, one in properties.items():
        yield from _complaints(one, (*place, "properties", name), level + 1, counts)


def find_violations(value, schema):
    """List in words in what a value breaks a JSON schema."""
    return [error.message for error in Draft202012Validator(schema).iter_errors(value)]
