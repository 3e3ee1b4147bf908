"""Feedback is said only of refuted claims and is never false."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import pytest
from deciding import prove
from drawn_claims import KINDS, TREE_FORMS, table_claims, tables, tree_claims, trees
from hypothesis import given, settings, strategies as st

from bestresponse.formal.claims import Checker, Claim, RulesTranslator, Subject, parse, say
from bestresponse.formal.claims.feedback import Tone, correct, deny
from bestresponse.formal.claims.logic_check import LogicCheck
from bestresponse.logic import EmbeddedEngine, Verdict
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = Subject(
    NormalForm.bimatrix([[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(("R", "B"), ("R", "B")))
)
FLAT = Subject(
    NormalForm.bimatrix([[2, 2], [2, 2]], [[1, 1], [1, 1]], actions=(("R", "B"), ("R", "B")))
)


def said(subject: Subject, query: str, tone: Tone = "positive") -> list[str]:
    checker = Checker(subject)
    checked = checker.check_all(parse(query))
    return [sentence.text for one in correct(checked, checker, tone) for sentence in one.sentences]


def check_sentences(subject: Subject, claims: Iterable[Claim]) -> None:
    """Every sentence about a claim states what logic proves or denies what logic refutes."""
    checker = Checker(subject)
    logic = LogicCheck(subject, EmbeddedEngine())
    for claim in claims:
        checked = checker.check(claim)
        for tone in get_args(Tone):
            sentences = [
                sentence for one in correct((checked,), checker, tone) for sentence in one.sentences
            ]
            assert bool(sentences) == (checked.verdict is Verdict.REFUTED)
            for sentence in sentences:
                wanted = Verdict.REFUTED if sentence.denies else Verdict.PROVED
                assert prove(logic, sentence.claim).verdict is wanted, sentence.text
                assert sentence.text == (
                    deny(sentence.claim) if sentence.denies else say(sentence.claim)
                )


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_every_sentence_about_a_table_is_true(kind: str, data: st.DataObject) -> None:
    subject = data.draw(tables(KINDS[kind][0]))
    check_sentences(subject, [data.draw(table_claims(subject, form)) for form in KINDS[kind]])


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_sentence_about_a_tree_is_true(data: st.DataObject) -> None:
    subject = data.draw(trees())
    check_sentences(subject, [data.draw(tree_claims(subject, form)) for form in TREE_FORMS])


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (
            "finally(goal(you, 3), do(choice(you, 'R'), do(choice(them, 'B'), s0)))",
            ["If you choose R and the other player chooses B, you get 5."],
        ),
        ("higher(5, 5)", ["5 and 5 are equal."]),
        ("higher_guaranteed_payoff('R', 'R')", ["R and R have the same worst case for you."]),
        (
            "highest_guaranteed_payoff_choice('B')",
            ["No choice of yours has a better worst case than R."],
        ),
        (
            "lowest_individual_payoff_for_choice(1, 'B')",
            ["The least you can get by choosing B is 0."],
        ),
        (
            "highest_mutual_payoff('R', 'R')",
            ["No outcome has a higher sum of payoffs than (B, B)."],
        ),
        (
            "equilibrium(do(choice(you, 'B'), do(choice(them, 'R'), s0)))",
            ["If the other player chooses R, R earns you more than B."],
        ),
        (
            "strictly_dominates('B', 'R')",
            [
                "If you choose B and the other player chooses R, you get 0.",
                "If you choose R and the other player chooses R, you get 1.",
            ],
        ),
        ("no_dominant_choice", ["R is strictly dominant for you."]),
        (
            "pure_equilibria(2)",
            [
                "The number of pure Nash equilibria is 1.",
                (
                    "The outcome in which you choose R and the other player chooses R is a Nash"
                    " equilibrium."
                ),
            ],
        ),
        ("not(strictly_dominant('R'))", ["R is strictly dominant for you."]),
        ("higher(5, 3)", []),
        ("higher(5, X)", []),
    ],
)
def test_the_positive_form_gives_the_true_values(query: str, wanted: list[str]) -> None:
    assert said(DILEMMA, query) == wanted


def test_the_negative_form_gives_the_negation() -> None:
    assert said(DILEMMA, "lowest_payoff(1)", "negative") == ["The least anybody can get is not 1."]


def test_a_correction_names_the_claim_that_was_wrong() -> None:
    checker = Checker(DILEMMA)
    (one,) = correct(checker.check_all(parse("weakly_dominant('B')")), checker)
    assert (
        one.text == "You say that B is weakly dominant for you. "
        "In fact, if you choose B and the other player chooses R, you get 0; "
        "if you choose R and the other player chooses R, you get 1."
    )


def test_ties_are_stated_as_ties() -> None:
    assert said(FLAT, "better_response('R', 'B', do(choice(them, 'R'), s0))") == [
        "If the other player chooses R, R earns you the same as B."
    ]
    assert said(FLAT, "higher_guaranteed_payoff('R', 'B')") == [
        "R and B have the same worst case for you."
    ]


@pytest.mark.parametrize("who", ["you", "them"])
@pytest.mark.parametrize("own", ["R", "B"])
@pytest.mark.parametrize("other", ["R", "B"])
def test_what_is_said_about_payoffs_reads_back_as_said(who: str, own: str, other: str) -> None:
    (claim,) = parse(
        f"finally(goal({who}, -2.5), do(choice(you, '{own}'), do(choice(them, '{other}'), s0)))"
    )
    assert isinstance(claim, Claim)
    assert RulesTranslator().translate(say(claim), DILEMMA).claims == (claim,)
