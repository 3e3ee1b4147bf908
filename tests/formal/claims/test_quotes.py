"""A claim of a model counts only where the words that it quotes say it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mutated_claims import keeps, mutate
from sentences import Example, read_claim, read_examples

from bestresponse.formal.claims import (
    Checker,
    Claim,
    ModelTranslator,
    Review,
    Reviewer,
    Subject,
)
from bestresponse.formal.claims.claim import FORMS
from bestresponse.formal.claims.form import Mix, Move
from bestresponse.logic import Verdict
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.theory.catalogue import load
from bestresponse.theory.catalogue.trees import load_tree

HERE = Path(__file__).parent
DILEMMA = Subject(load("prisoners-dilemma"))
FILES = ("translations", "later_translations", "reported_translations")
# The check was made with the first games of the first file and mended with what failed in the
# others; `unseen_translations` was written, and measured once, when all of that was done.
# So were the sentences of `mixed_forms`, with which forms were added, and of `held_out_forms`, which
# hardly anything was mended with: 4 of their 90 claims are lost. Of `everyday_translations`, with
# which the check was mended again, 7 of 107 were lost and one false sentence was proved at first;
# `held_out_translations` were written and measured after that: 1 of 71 is lost. The last two files
# say things in more ways: at first 15 of the 141 claims of the one were lost and none of its false
# sentences proved, and, after it was mended with, 26 of 143 lost and 3 proved of the other. Of the
# three that were written after that, each measured once before anything was mended with it, 10 of
# 86, 5 of 66 and 10 of 56 claims were lost at first, and 1 of 86, 2 of 79 and 0 of 55 false ones
# proved.
LATER = ("mixed_forms", "held_out_forms")
LATEST = ("everyday_translations", "held_out_translations")
FREE = tuple(
    f"{number}_translations" for number in ("fourth", "fifth", "sixth", "seventh", "eighth")
)
MOST_LOST = dict.fromkeys(LATER, 0.06) | dict.fromkeys(FREE, 0.13)
EXAMPLES = {
    name: list(read_examples(HERE / f"{name}.json"))
    for name in (*FILES, "unseen_translations", *LATER, *LATEST, *FREE)
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_good_translations_keep_their_verdict(name: str) -> None:
    good = [(claim, example) for example in EXAMPLES[name] for claim in example.claims]
    lost = [(str(claim), example.text) for claim, example in good if not keeps(claim, example)]
    assert len(good) > 25
    assert len(lost) / len(good) < MOST_LOST.get(name, 0.03), lost


@pytest.mark.parametrize("name", LATER + LATEST + FREE)
def test_sentences_are_judged_as_they_were_by_hand(name: str) -> None:
    for example in EXAMPLES[name]:
        verdicts = {one.verdict for one in map(Checker(example.subject).check, example.claims)}
        assert Verdict.UNKNOWN not in verdicts, example.text
        assert (Verdict.REFUTED not in verdicts) is example.true, example.text


@pytest.mark.parametrize(
    ("name", "least"),
    [*zip(EXAMPLES, (190, 130, 130, 50, 66, 68, 84, 101, 160, 171, 86, 79, 55), strict=True)],
)
def test_no_false_sentence_is_proved_by_a_translation_that_puts_it_right(
    name: str, least: int
) -> None:
    proved = []
    tried = 0
    for example in EXAMPLES[name]:
        checker = Checker(example.subject)
        for claim in example.claims:
            if checker.check(claim).verdict is Verdict.PROVED:
                continue
            for changed in mutate(claim, example.subject) - example.claims:
                if checker.check(changed).verdict is Verdict.PROVED:
                    tried += 1
                    if keeps(changed, example, claim):
                        proved.append((str(changed), example.text))
    assert tried >= least
    assert proved == []


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("(cooperate, cooperate) is a Nash equilibrium.", "pareto_optimal"),
        ("(defect, defect) is Pareto optimal.", "equilibrium"),
        ("Defect is a dominated strategy of mine.", "strictly_dominant"),
        ("Cooperate is a dominant strategy of mine.", "strictly_dominated"),
        ("The lowest possible payoff for me is 1.", "maximin_payoff"),
        ("The most that cooperate can pay me is 5.", "limited_payoff_for_choice"),
    ],
)
def test_a_term_of_theory_is_not_exchanged_for_another(text: str, form: str) -> None:
    actions = ("cooperate",) if "ooperate" in text else ("defect",)
    number = next((Fraction(sign) for sign in text if sign.isdigit()), Fraction(0))
    given = {
        "outcome": tuple(Move(who, actions[0]) for who in ("you", "them")),
        "action": actions[0],
        "value": number,
        "who": "you",
    }
    claim = Claim(form, tuple(given[name] for name in FORMS[form].names))
    assert Checker(DILEMMA).check(claim).verdict is Verdict.PROVED
    assert not keeps(claim, Example(text, DILEMMA, frozenset(), frozenset()))


D = ("defect", "defect")


@pytest.mark.parametrize(
    ("text", "form", "args"),
    [
        ("If we both defect, I get 3.", "equilibrium", [D]),
        ("If we both defect, I get 3.", "highest_guaranteed_payoff_choice", ["defect", "you"]),
        ("If we both defect, I get 3.", "best_response", ["defect", ["defect"], "you"]),
        ("If we both defect, I get 3.", "equal", [3, 3]),
        ("If I defect and they cooperate, I get 1.", "pure_equilibria", [1]),
        ("If I defect and they cooperate, I get 1.", "equilibria", [1]),
        ("If I defect and they cooperate, I get 1.", "maximin_payoff", [1, "you"]),
        ("If I defect and they cooperate, I get 1.", "survives_elimination", ["defect", "you"]),
        ("Cooperating, I get 5 on average if they defect.", "limited_payoff_for_choice", None),
        ("Facing defect, I prefer cooperate over defect.", "best_response", None),
        ("Against a random player, mutual defection averages 1.", "payoff", ["you", 1, D]),
    ],
)
def test_a_false_sentence_is_not_exchanged_for_another_claim_that_is_true(text, form, args):
    known: dict[str, list[Any]] = {
        "limited_payoff_for_choice": [5, "cooperate", "you"],
        "best_response": ["defect", ["defect"], "you"],
    }
    claim = read_claim([form, *(args or known[form])], DILEMMA)
    assert Checker(DILEMMA).check(claim).verdict is Verdict.PROVED
    assert not keeps(claim, Example(text, DILEMMA, frozenset(), frozenset()))


def review(text: str, *claims: dict[str, Any], subject: Subject = DILEMMA) -> Review:
    model = ScriptedModel([json.dumps({"claims": list(claims)})])
    return Reviewer(ModelTranslator(model)).review(text, subject)


def at(you: str, them: str) -> list[dict[str, str]]:
    return [{"who": "you", "action": you}, {"who": "them", "action": them}]


BOTH = at("cooperate", "cooperate")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "Mutual cooperation would hand me a nice 4 points.",
            {"form": "payoff", "value": 3, "outcome": BOTH},
        ),
        (
            "Sticking together is stable as an equilibrium.",
            {"form": "equilibrium", "negated": True, "outcome": BOTH},
        ),
        (
            "The move cooperate is what strict dominance singles out for me.",
            {"form": "strictly_dominant", "action": "defect"},
        ),
        (
            "(cooperate, cooperate) is where equilibrium leaves us.",
            {"form": "equilibrium", "outcome": at("defect", "defect")},
        ),
        (
            "Exploiting a cooperator nets him 5 and me 5 too.",
            {"form": "payoff", "value": 5, "outcome": at("defect", "cooperate")},
        ),
    ],
)
def test_a_translation_that_puts_a_sentence_right_has_no_verdict(text: str, claim: Any) -> None:
    found = review(text, claim | {"quote": text.rstrip(".")})
    assert {one.verdict for one in found.checked} == {Verdict.UNKNOWN}
    assert found.troubles == {"claim not in its quote": 1}
    assert found.unread == (text,)


def test_a_number_of_the_quote_that_no_claim_uses_is_told() -> None:
    text = "If both cooperate, I get 3 and they get 7."
    claim = {"form": "payoff", "value": 3, "outcome": BOTH, "quote": text}
    found = review(text, claim)
    assert [one.verdict for one in found.checked] == [Verdict.PROVED]
    assert found.summary.endswith("0 of 1 sentence unread, 1 partly read")
    assert found.partly_read is not None
    assert [one.left_out for one in found.partly_read] == [("the number 7",)]


def test_what_a_quote_leaves_to_the_sentence_before_it_counts() -> None:
    text = "Suppose we both cooperate. Then my payoff is 3."
    claim = {"form": "payoff", "value": 3, "outcome": BOTH, "quote": "my payoff is 3"}
    assert [one.verdict for one in review(text, claim).checked] == [Verdict.PROVED]
    far = f"Suppose we both cooperate. I like numbers. {text.split('. ')[1]}"
    assert [one.verdict for one in review(far, claim).checked] == [Verdict.UNKNOWN]


def test_a_denial_around_the_quote_counts() -> None:
    claim = {"form": "strictly_dominant", "action": "defect", "quote": "defect dominant"}
    assert review("By no means is defect dominant.", claim).state == "undecided"
    assert review("I find defect dominant.", claim).state == "unrefuted"


@pytest.mark.parametrize(
    ("quote", "trouble"),
    [
        ("", "quote not in the text"),
        ("...", "quote not in the text"),
        ("I get 9", "quote not in the text"),
        ("They cooperate", "claim not in its quote"),
    ],
)
def test_a_claim_without_its_words_has_no_verdict(quote: str, trouble: str) -> None:
    claim = {"form": "payoff", "value": 3, "outcome": BOTH, "quote": quote}
    found = review("They cooperate. What a day.", claim)
    assert [one.verdict for one in found.checked] == [Verdict.UNKNOWN]
    assert found.troubles == {trouble: 1}


def test_claims_about_moves_in_turn_are_compared_too() -> None:
    entry = Subject(load_tree("entry-deterrence"))
    claim = {
        "form": "will_play",
        "who": "them",
        "action": "share",
        "after": [{"who": "you", "action": "in"}],
    }
    false = "Once I go in, the incumbent will fight."
    assert review(false, claim | {"quote": false}, subject=entry).state == "undecided"
    true = "Once I go in, the incumbent will share."
    assert review(true, claim | {"quote": true}, subject=entry).state == "unrefuted"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("In equilibrium they play cooperate with 1/4 and zzz with 3/4.", False),
        ("In equilibrium they mix cooperate and defect with probabilities 1/4 and 3/4.", True),
        ("In equilibrium they mix defect and cooperate with probabilities 1/4 and 3/4.", False),
        ("In equilibrium the shares are 1/4 and 3/4 for their cooperate and defect.", True),
    ],
)
def test_a_probability_belongs_to_the_choice_that_it_is_said_of(text: str, kept: bool) -> None:
    mix = Mix("them", (("cooperate", Fraction(1, 4)), ("defect", Fraction(3, 4))))
    claim = Claim("mixed_equilibrium_part", ((mix,),))
    assert keeps(claim, Example(text, DILEMMA, frozenset({claim}), frozenset())) is kept


def test_whatever_they_do_is_said_by_claims_about_all_they_can_do() -> None:
    text = "If I cooperate I get 3, no matter what they do."
    claims = [
        {"form": "payoff", "value": 3, "outcome": at("cooperate", their), "quote": text}
        for their in ("cooperate", "defect")
    ]
    assert [one.verdict for one in review(text, claims[0]).checked] == [Verdict.UNKNOWN]
    assert {one.verdict for one in review(text, *claims).checked} == {
        Verdict.PROVED,
        Verdict.REFUTED,
    }
