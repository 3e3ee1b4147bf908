"""Numbers as people type them in English and in German: one reading, two that are asked back, or none."""

import pytest

from bestresponse.core.capabilities import Question
from bestresponse.core.numbers import list_readings


@pytest.mark.parametrize(
    ("typed", "english", "german"),
    [
        ("1000", (1000,), (1000,)),
        ("1.000", (1,), (1000, 1)),
        ("1,000", (1000, 1), (1,)),
        ("30.500", (30.5,), (30500, 30.5)),
        ("-1,250", (-1250, -1.25), (-1.25,)),
        ("1,5", (1.5,), (1.5,)),
        ("1.5", (1.5,), (1.5,)),
        ("18,50", (18.5,), (18.5,)),
        ("1.2345", (1.2345,), (1.2345,)),
        ("1234,567", (1234.567,), (1234.567,)),
        ("0,125", (0.125,), (0.125,)),
        ("0.125", (0.125,), (0.125,)),
        ("1,000.50", (1000.5,), ()),
        ("1.000,50", (), (1000.5,)),
        ("1,000,000", (1_000_000,), ()),
        ("1.000.000", (), (1_000_000,)),
        (" 7 ", (7,), (7,)),
        ("+7", (7,), (7,)),
        (".5", (0.5,), (0.5,)),
        (",5", (0.5,), (0.5,)),
        ("5.", (5,), (5,)),
        ("1e3", (1000,), (1000,)),
        ("1e999", (), ()),
        ("1_000", (), ()),
        ("1 000", (), ()),
        ("1,00,000", (), ()),
        ("nan", (), ()),
        ("inf", (), ()),
        ("-", (), ()),
        (",", (), ()),
        ("ten", (), ()),
        ("", (), ()),
    ],
)
def test_a_number_is_read_by_the_decimal_mark_of_the_language(typed, english, german):
    assert list_readings(typed, decimal=".") == english
    assert list_readings(typed, decimal=",") == german


def test_a_decimal_mark_of_another_script_is_read_too():
    assert list_readings("2\u066b5", decimal="\u066b") == (2.5,)
    assert list_readings("2.5", decimal="\u066b") == (2.5,)
    assert list_readings("2.5", decimal="") == (2.5,)


def test_a_quiz_takes_a_thousand_however_it_is_written():
    """A mark before three digits is no misunderstanding of the rules, so that either reading is right."""
    question = Question("How much?", 1000)
    assert [question.accepts(typed, ",") for typed in ("1000", "1.000", "1,000", "100")] == [True, True, False, False]
    assert [question.accepts(typed, ".") for typed in ("1000", "1,000", "1.000")] == [True, True, False]
