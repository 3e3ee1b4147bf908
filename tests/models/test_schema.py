"""The JSON schemas of asks, checked by us."""

import json
from dataclasses import replace

import pytest
import strict_schema

from bestresponse.core.errors import UsageError
from bestresponse.formal.formalize.table_json import TABLE_SCHEMA
from bestresponse.games.dialogue.domain import load_domain
from bestresponse.games.dialogue.scenario import scenario_schema
from bestresponse.models import Reply, ask, find_violations, make_strict
from bestresponse.models.schema import finish_structured, schema_text

MIX = {
    "type": "object",
    "properties": {name: {"type": "number", "minimum": 0, "maximum": 1} for name in "AB"},
    "required": ["A", "B"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ({"A": 0.5, "B": 0}, MIX, []),
        ({"A": 1.5, "B": -1}, MIX, ["the answer.A is 1.5, more than 1", "the answer.B is -1, less than 0"]),
        ({"A": 1}, MIX, ["the answer lacks 'B'"]),
        ({"A": 1, "B": 0, "C": 0}, MIX, ["the answer has 'C', which was not asked for"]),
        ({"A": "1", "B": 0}, MIX, ['the answer.A is "1", expected number']),
        ([], MIX, ["the answer is [], expected object"]),
        (True, {"type": "number"}, ["the answer is true, expected number"]),
        (3.0, {"type": "integer"}, []),
        (3.5, {"type": "integer"}, ["the answer is 3.5, expected integer"]),
        (None, {"type": ["string", "null"]}, []),
        (1, {"type": ["string", "null"]}, ["the answer is 1, expected string or null"]),
        ("A", {"enum": ["A", "B"]}, []),
        ("C", {"enum": ["A", "B"]}, ['the answer is "C", expected one of ["A", "B"]']),
        (1, {"enum": [True]}, ["the answer is 1, expected one of [true]"]),
        (2, {"const": 1}, ["the answer is 2, expected one of [1]"]),
        ([1, "x"], {"type": "array", "items": {"type": "number"}}, ['the answer[1] is "x", expected number']),
        ([1], {"type": "array", "minItems": 2}, ["the answer has 1 items"]),
        ({"x": 1}, {"additionalProperties": {"type": "string"}}, ["the answer.x is 1, expected string"]),
        ({"x": 1}, {"title": "anything"}, []),
        ("abcd", {"type": "string", "maxLength": 3}, ["the answer has 4 characters"]),
        ("ab", {"pattern": "^a.$"}, []),
        ("b", {"pattern": "^a"}, ['the answer is "b", which does not match ^a']),
        (None, {"anyOf": [{"type": "string"}, {"type": "null"}]}, []),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, ["the answer is 1, which fits none of 2 possibilities"]),
        (10**400, {"maximum": 1}, [f"the answer is 1{'0' * 56}..., more than 1"]),
    ],
)
def test_what_breaks_a_schema_is_said_in_words(value, schema, expected):
    assert list(find_violations(value, schema)) == expected


CHAIN = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/link"}},
    "required": ["next"],
    "additionalProperties": False,
    "$defs": {
        "link": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"next": {"$ref": "#/$defs/link"}},
                    "required": ["next"],
                    "additionalProperties": False,
                },
            ]
        }
    },
}


def test_a_definition_may_name_itself():
    assert list(find_violations({"next": {"next": {"next": "end"}}}, CHAIN)) == []
    assert list(find_violations({"next": {"next": {"next": 3}}}, CHAIN)) == [
        'the answer.next is {"next": {"next": 3}}, which fits none of 2 possibilities'
    ]
    assert make_strict(CHAIN) == CHAIN
    request = replace(ask("?"), schema=schema_text(CHAIN))
    deep = '{"next":' * 400 + '"end"' + "}" * 400
    assert finish_structured(request, Reply(deep)).text == deep
    with pytest.raises(UsageError, match=r"\$ref cannot be checked"):
        list(find_violations({}, {"$ref": "#/$defs/nowhere", "$defs": {}}))


@pytest.mark.parametrize("schema", [{"not": {}}, {"type": "colour"}, {"pattern": "("}, [], True])
def test_a_schema_that_cannot_be_checked_is_refused_not_ignored(schema):
    with pytest.raises(UsageError):
        list(find_violations("x", schema))


OPTIONAL = {
    "type": "object",
    "title": "Claim",
    "properties": {
        "form": {"enum": ["higher", "lower"]},
        "text": {"type": "string", "maxLength": 80},
        "which": {"type": "integer", "minimum": 0},
        "side": {"type": "string", "enum": ["left", "right"]},
        "sure": {"const": True},
        "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "none": {"type": ["string", "null"]},
        "inner": {"type": "object", "properties": {"a": {"type": "number"}}},
    },
    "required": ["form"],
}


def test_optional_properties_become_required_and_may_be_null():
    assert make_strict(OPTIONAL) == {
        "type": "object",
        "properties": {
            "form": {"enum": ["higher", "lower"], "type": "string"},
            "text": {"type": ["string", "null"]},
            "which": {"type": ["integer", "null"], "minimum": 0},
            "side": {"type": ["string", "null"], "enum": ["left", "right", None]},
            "sure": {"type": ["boolean", "null"], "enum": [True, None]},
            "either": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
            "none": {"type": ["string", "null"]},
            "inner": {
                "type": ["object", "null"],
                "properties": {"a": {"type": ["number", "null"]}},
                "required": ["a"],
                "additionalProperties": False,
            },
        },
        "required": ["form", "text", "which", "side", "sure", "either", "none", "inner"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        OPTIONAL,
        MIX,
        json.loads(TABLE_SCHEMA),
        scenario_schema(load_domain("fruit"), 3),
    ],
)
def test_what_is_made_strict_passes_the_rules_of_a_strict_server(schema):
    assert strict_schema.complain(make_strict(schema)) is None


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        (OPTIONAL, "In context=(), 'title' is not permitted"),
        (scenario_schema(load_domain("meeting"), 3), "including every key in properties. Missing 'Monday'."),
    ],
)
def test_the_rules_refuse_these_schemas_as_they_are(schema, rule):
    assert strict_schema.complain(schema).endswith(rule)


def nest(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "number"}},
        {"type": "object", "properties": {"a": {"allOf": [{"type": "string"}]}}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"enum": [[1]]}}},
        {"type": "object", "properties": {"a": {"enum": [str(n) for n in range(1001)]}}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
        nest(10),
    ],
)
def test_a_schema_that_strict_mode_cannot_say_has_no_strict_form(schema):
    assert make_strict(schema) is None


def test_the_deepest_schema_that_strict_mode_takes():
    assert make_strict(nest(9)) == nest(9)
    assert strict_schema.complain(nest(9)) is None
    assert "deeper than 10" in strict_schema.complain(nest(10))


def structured(schema):
    return replace(ask("x"), schema=schema_text(schema))


def test_nulls_that_only_strict_mode_allowed_are_taken_out_again():
    text = '{"form": "higher", "text": null, "which": 1, "none": null, "inner": {"a": null}}'
    reply = finish_structured(structured(OPTIONAL), Reply(text))
    assert json.loads(reply.text) == {"form": "higher", "which": 1, "none": None, "inner": {}}
    assert reply.honoured == ()


def test_a_reply_that_follows_its_schema_keeps_every_character():
    text = '{ "A": 0.5,\n"B":0.5 }'
    assert finish_structured(structured(MIX), Reply(text)) == Reply(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('{"A": 2, "B": 0}', "the answer.A is 2, more than 1"),
        ('{"A": 0.5', "the answer is not JSON"),
        ("[" * 100_000, "the answer is not JSON"),
    ],
)
def test_a_reply_that_breaks_its_schema_says_so_beside_its_text(text, wrong):
    reply = finish_structured(structured(MIX), Reply(text, honoured=(("schema", "sent"),)))
    assert reply == Reply(text, honoured=(("schema", "sent"), ("schema_violation", wrong)))


def test_a_schema_we_cannot_check_is_no_reason_to_lose_a_reply():
    assert finish_structured(structured({"not": {}}), Reply("{}")) == Reply("{}")


@pytest.mark.parametrize(
    "text", ['{"A":1,"B":0}', '```json\n{"A":1,"B":0}\n```', 'Let {me} think.\n{"A":1,"B":0} That is it.']
)
def test_an_answer_in_words_is_searched_for_its_object(text):
    assert finish_structured(structured(MIX), Reply(text), plain=True) == Reply('{"A":1,"B":0}')
