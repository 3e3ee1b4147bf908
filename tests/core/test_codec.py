"""What is written to disk, field by field, and that it comes back as it was."""

import pytest

from bestresponse.core.ask import Amount, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.codec import ask_to_json, submission_from_json, submission_to_json
from bestresponse.core.episode import Submission
from bestresponse.core.player import Decision, Reading, Status

ASKS = [
    (
        Choice(("a", "b"), may_pass=True),
        {"kind": "choice", "options": ["a", "b"], "may_pass": True},
    ),
    (
        Amount(0, 9, whole=True),
        {"kind": "amount", "low": 0, "high": 9, "whole": True, "may_pass": False},
    ),
    (Words(), {"kind": "words", "limit": 2000}),
    (Mixture(("a", "b")), {"kind": "mixture", "options": ["a", "b"]}),
    (
        Form((("bid", Amount(0.5, 2)), ("why", Words(5)))),
        {
            "kind": "form",
            "fields": [
                [
                    "bid",
                    {"kind": "amount", "low": 0.5, "high": 2, "whole": False, "may_pass": False},
                ],
                ["why", {"kind": "words", "limit": 5}],
            ],
        },
    ),
    (Lottery(((1, 0.25), ("x", 0.75))), {"kind": "lottery", "chances": [[1, 0.25], ["x", 0.75]]}),
]


@pytest.mark.parametrize(("ask", "written"), ASKS, ids=lambda case: type(case).__name__)
def test_an_ask_is_written_in_plain_words(ask, written):
    assert ask_to_json(ask) == written


def test_a_plain_answer_is_its_action_and_status_alone():
    written = {"role": "row", "action": "A", "status": "valid"}
    assert submission_to_json(Submission("row", Decision("A"))) == written
    assert submission_from_json(written) == Submission("row", Decision("A"))


def test_everything_that_is_known_of_an_answer_is_written_and_comes_back():
    decision = Decision(
        "B",
        "because",
        Reading(Status.ILLEGAL, "9 is too much"),
        (),
        "random",
        ({"review": "weak"},),
    )
    written = {
        "role": "row",
        "action": "B",
        "status": "illegal",
        "how": "9 is too much",
        "reasoning": "because",
        "stand_in": "random",
        "remarks": [{"review": "weak"}],
    }
    assert submission_to_json(Submission("row", decision)) == written
    assert submission_from_json(written) == Submission("row", decision)


def test_a_mixture_comes_back_as_a_tuple():
    answer = submission_from_json({"role": "row", "action": [0.25, 0.75], "status": "repaired"})
    assert answer.decision.action == (0.25, 0.75)
