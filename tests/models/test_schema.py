"""The JSON schemas of asks, made strict and taken back."""

import json
from dataclasses import replace

import pytest
import strict_schema

from bestresponse.games.dialogue.domain import load_domain, scenario_schema
from bestresponse.games.dialogue.schemas import make_object
from bestresponse.models import Reply, ask, make_strict
from bestresponse.models.schema import finish_structured, schema_text

MIX = {
    "type": "object",
    "properties": {name: {"type": "number", "minimum": 0, "maximum": 1} for name in "AB"},
    "required": ["A", "B"],
    "additionalProperties": False,
}


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
    assert make_strict(CHAIN) == CHAIN
    request = replace(ask("?"), schema=schema_text(CHAIN))
    deep = '{"next":' * 400 + '"end"' + "}" * 400
    assert finish_structured(request, Reply(deep)).text == deep


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
        scenario_schema(load_domain("fruit"), 3),
        scenario_schema(load_domain("meeting"), 3),
    ],
)
def test_what_is_made_strict_passes_the_rules_of_a_strict_server(schema):
    assert strict_schema.complain(make_strict(schema)) is None


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        (OPTIONAL, "In context=(), 'title' is not permitted"),
        (
            make_object({"Monday": {"type": "integer"}}, required=False),
            "every key in properties. Missing 'Monday'.",
        ),
    ],
)
def test_the_rules_refuse_these_schemas_as_they_are(schema, rule):
    assert strict_schema.complain(schema).endswith(rule)


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
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
    ],
)
def test_a_schema_that_strict_mode_cannot_say_has_no_strict_form(schema):
    assert make_strict(schema) is None


def structured(schema):
    return replace(ask("x"), schema=schema_text(schema))


def test_nulls_that_only_strict_mode_allowed_are_taken_out_again():
    text = '{"form": "higher", "text": null, "which": 1, "none": null, "inner": {"a": null}}'
    reply = finish_structured(structured(OPTIONAL), Reply(text))
    assert json.loads(reply.text) == {"form": "higher", "which": 1, "none": None, "inner": {}}
    assert reply.honoured == ()


def test_a_null_stays_where_a_definition_that_is_named_allows_it():
    point = {"anyOf": [{"type": "number"}, {"type": "null"}]}
    properties = {"free": {"$ref": "#/$defs/point"}, "bound": {"$ref": "#/$defs/line"}}
    schema = {
        "type": "object",
        "properties": properties,
        "$defs": {"point": point, "line": {"type": "string"}},
    }
    assert (
        finish_structured(structured(schema), Reply('{"free": null, "bound": null}')).text
        == '{"free": null}'
    )


def test_a_reply_that_follows_its_schema_keeps_every_character():
    text = '{ "A": 0.5,\n"B":0.5 }'
    assert finish_structured(structured(MIX), Reply(text)) == Reply(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('{"A": 0.5', "the answer is not JSON"),
        ("[" * 100_000, "the answer is not JSON"),
    ],
)
def test_a_reply_that_is_not_json_says_so_beside_its_text(text, wrong):
    reply = finish_structured(structured(MIX), Reply(text, honoured=(("schema", "sent"),)))
    assert reply == Reply(text, honoured=(("schema", "sent"), ("schema_violation", wrong)))


def test_a_schema_we_do_not_understand_is_no_reason_to_lose_a_reply():
    assert finish_structured(structured({"not": {}}), Reply("{}")) == Reply("{}")


@pytest.mark.parametrize(
    "text",
    ['{"A":1,"B":0}', '```json\n{"A":1,"B":0}\n```', 'Let {me} think.\n{"A":1,"B":0} That is it.'],
)
def test_an_answer_in_words_is_searched_for_its_object(text):
    assert finish_structured(structured(MIX), Reply(text), plain=True) == Reply('{"A":1,"B":0}')
