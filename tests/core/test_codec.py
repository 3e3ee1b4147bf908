"""What is written to disk, field by field, and that it comes back as it was."""

import json

import pytest

from bestresponse.core.ask import Amount, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.codec import ask_from_json, ask_to_json, decision_from_json, decision_to_json
from bestresponse.core.player import Decision, Reading, Status

ASKS = [
    (Choice(("a", "b"), may_pass=True), {"kind": "choice", "options": ["a", "b"], "may_pass": True}),
    (Amount(0, 9, whole=True), {"kind": "amount", "low": 0, "high": 9, "whole": True, "may_pass": False}),
    (Words(), {"kind": "words", "limit": 2000}),
    (Mixture(("a", "b")), {"kind": "mixture", "options": ["a", "b"]}),
    (
        Form((("bid", Amount(0.5, 2)), ("why", Words(5)))),
        {
            "kind": "form",
            "fields": [
                ["bid", {"kind": "amount", "low": 0.5, "high": 2, "whole": False, "may_pass": False}],
                ["why", {"kind": "words", "limit": 5}],
            ],
        },
    ),
    (Lottery(((1, 0.25), ("x", 0.75))), {"kind": "lottery", "chances": [[1, 0.25], ["x", 0.75]]}),
]


@pytest.mark.parametrize(("ask", "written"), ASKS, ids=lambda case: type(case).__name__)
def test_an_ask_is_written_in_plain_words_and_comes_back(ask, written):
    assert ask_to_json(ask) == written
    assert ask_from_json(json.loads(json.dumps(written))) == ask


def test_an_ask_of_no_known_kind_is_named():
    with pytest.raises(ValueError, match="'riddle' is no kind of ask"):
        ask_from_json({"kind": "riddle"})


def test_a_plain_decision_is_its_action_and_status_alone():
    assert decision_to_json(Decision("A")) == {"action": "A", "status": "valid"}
    assert decision_from_json({"action": "A", "status": "valid"}) == Decision("A")


def test_everything_that_is_known_of_a_decision_is_written_and_comes_back():
    decision = Decision("B", "because", Reading(Status.ILLEGAL, "9 is too much"), (), "random", ({"review": "weak"},))
    written = {
        "action": "B",
        "status": "illegal",
        "how": "9 is too much",
        "reasoning": "because",
        "stand_in": "random",
        "remarks": [{"review": "weak"}],
    }
    assert decision_to_json(decision) == written
    assert decision_from_json(written) == decision


def test_a_mixture_comes_back_as_a_tuple():
    assert decision_from_json({"action": [0.25, 0.75], "status": "repaired"}).action == (0.25, 0.75)
