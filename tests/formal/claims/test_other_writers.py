"""Whole texts in the styles of fourteen writers: rules were made from the first half of them, not from the second.

Even places are the half that rules were made from, odd ones are kept aside: change rules for the first half only.
"""

from pathlib import Path

import pytest
from sentences import read_by, read_examples, score

from bestresponse.formal.claims.by_theory import TheoryCheck
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.translators.rules import RulesTranslator
from bestresponse.logic.engine import Verdict

EXAMPLES = list(read_examples(Path(__file__).parent / "other_writers.json"))


@pytest.mark.parametrize(("half", "recall"), [(0, 0.65), (1, 0.38)], ids=["made from", "kept aside"])
def test_so_many_claims_of_other_writers_are_found(half, recall):
    assert score(RulesTranslator(), EXAMPLES[half::2]).recall >= recall


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.text[:30])
def test_nothing_is_refuted_that_the_writer_did_not_get_wrong(example):
    check = TheoryCheck(example.subject)
    said = {claim for claim in example.claims | example.also if _decide(check, claim) is Verdict.REFUTED}
    found = {claim for claim in read_by(RulesTranslator(), example) if _decide(check, claim) is Verdict.REFUTED}
    assert found <= said


def _decide(check, claim):
    return check.decide(ground(claim, check.subject)).verdict
