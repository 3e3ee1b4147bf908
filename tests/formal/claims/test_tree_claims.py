"""Claims about games played move by move, read by the rules and decided by looking ahead."""

import pytest

from bestresponse.formal.claims.review import Reviewer
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import RulesTranslator
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.theory.catalogue.trees import load_tree

ENTRY = Subject(load_tree("entry-deterrence"))


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("If I choose in, the incumbent's best response is to share.", ["proved"]),
        ("If I choose in, their best response is to fight.", ["refuted"]),
        ("If I choose in, their optimal move would be to share.", ["proved"]),
        ("By backward induction I choose in.", ["proved"]),
        ("By backward induction I choose out.", ["refuted"]),
        ("By backward induction one might say that I choose out.", []),
    ],
)
def test_best_replies_and_backward_induction_are_decided(text, verdicts):
    found = Reviewer(RulesTranslator(), EmbeddedEngine).review(text, ENTRY)
    assert [one.verdict.value for one in found.checked] == verdicts
