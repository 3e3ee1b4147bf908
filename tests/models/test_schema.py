"""The JSON schemas of asks, checked by us."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestresponse.core.errors import Flaw, InvalidMove, UsageError
from bestresponse.models import read_json, violations

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
    ],
)
def test_what_breaks_a_schema_is_said_in_words(value, schema, expected):
    assert list(violations(value, schema)) == expected


@pytest.mark.parametrize("schema", [{"pattern": "a"}, {"type": "colour"}, {"anyOf": []}, [], True])
def test_a_schema_that_cannot_be_checked_is_refused_not_ignored(schema):
    with pytest.raises(UsageError):
        list(violations("x", schema))


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("half of it", Flaw.UNPARSEABLE, "not JSON"),
        ('{"A": NaN, "B": 1}', Flaw.UNPARSEABLE, "NaN is no number"),
        ("[" * 100_000, Flaw.UNPARSEABLE, "not JSON"),
        ('{"A": 2, "B": 0}', Flaw.ILLEGAL, "the answer.A is 2, more than 1"),
    ],
)
def test_an_answer_that_breaks_its_schema_is_an_invalid_move_of_its_kind(text, kind, says):
    with pytest.raises(InvalidMove) as caught:
        read_json(text, MIX)
    assert caught.value.kind is kind
    assert says in str(caught.value)


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_bounds_hold_for_all_numbers(a, b):
    text = json.dumps({"A": a, "B": b})
    if 0 <= a <= 1 and 0 <= b <= 1:
        assert read_json(text, MIX) == {"A": a, "B": b}
    else:
        with pytest.raises(InvalidMove):
            read_json(text, MIX)
