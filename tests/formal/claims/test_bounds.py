"""Bounds that are true but not tight: "at least" and "guarantees" say no more than that."""

import numpy as np
import pytest

from bestresponse.formal.claims.review import Reviewer, State
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import RulesTranslator
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = Subject(
    NormalForm(np.array([[[1, 5], [0, 3]], [[1, 0], [5, 3]]]), actions=(("R", "B"), ("R", "B")))
)


def review(text):
    return Reviewer(RulesTranslator(), EmbeddedEngine).review(text, DILEMMA)


@pytest.mark.parametrize(
    "text",
    [
        "Choosing R guarantees me at least 0.",
        "R guarantees me at least 1.",
        "R guarantees me 0.",
        "B never gives me less than 0.",
        "B never gives me more than 4.",
        "With B I get at most 4.",
        "With R I get at least 0.",
    ],
)
def test_a_bound_that_holds_is_proved_however_loose_it_is(text):
    assert [one.verdict.value for one in review(text).checked] == ["proved"]


@pytest.mark.parametrize(
    ("text", "correction"),
    [
        (
            "R guarantees me at least 2.",
            (
                "You say that R guarantees you at least 2. In fact, the least you can get by"
                " choosing R is 1."
            ),
        ),
        (
            "With B I get at most 2.",
            (
                "You say that B never earns you more than 2. In fact, the most you can get by"
                " choosing B is 3."
            ),
        ),
    ],
)
def test_a_bound_that_does_not_hold_is_refuted_with_the_extreme_itself(text, correction):
    found = review(text)
    assert found.state is State.REFUTED
    assert [one.text for one in found.corrections] == [correction]


def test_the_worst_case_itself_is_still_exact():
    assert review("The worst case of R is 0.").state is State.REFUTED
