"""A sentence is read, partly read or unread: what a reason, a comment or an aside says is never
dropped silently."""

from __future__ import annotations

import json

import pytest

from bestresponse.formal.claims import ModelTranslator, Review, Reviewer, RulesTranslator, Subject
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.theory.catalogue import tables
from bestresponse.theory.games.normal_form import NormalForm

# (cooperate, cooperate) pays 3, 3; (defect, cooperate) 5, 0; (defect, defect) 1, 1.
DILEMMA = tables.load("prisoners-dilemma")
# (hawk, hawk) pays -1, -1; (hawk, dove) 2, 0; (dove, dove) 1, 1.
HAWK_DOVE = tables.load("hawk-dove")
# The published protocol's table: R and B, (R, R) pays 1, 1; (R, B) 5, 0; (B, B) 3, 3.
PUBLISHED = NormalForm.bimatrix([[1, 5], [0, 3]], [[1, 0], [5, 3]], actions=(("R", "B"),) * 2)


def review(game: NormalForm, text: str) -> Review:
    return Reviewer(RulesTranslator()).review(text, Subject(game))


def tell(game: NormalForm, text: str) -> tuple[str, list[str], list[tuple[str, ...]]]:
    """The reading of a sentence, the verdicts of its claims, and what was left out."""
    found = review(game, text)
    assert found.passages is not None
    (passage,) = found.passages
    verdicts = [checked.verdict.value for checked in found.checked]
    return passage.reading.value, verdicts, list(passage.left_out)


@pytest.mark.parametrize(
    ("game", "text", "left_out"),
    [
        (
            DILEMMA,
            "If both defect, I get 1, which is the 3 that a cautious player hopes for.",
            "is the 3 that a cautious player hopes for",
        ),
        (
            DILEMMA,
            "I get 3 if we both cooperate, which is the most I can get.",
            "is the most I can get",
        ),
        (
            DILEMMA,
            "Defecting is dominant because the other player always cooperates.",
            "the other player always cooperates",
        ),
        (DILEMMA, "Defect guarantees me at least 1, and possibly 7.", "7"),
        (
            DILEMMA,
            (
                "(cooperate, cooperate) is not an equilibrium, since either of us would gain by"
                " switching."
            ),
            "either of us would gain by switching",
        ),
        (DILEMMA, "Because the game is symmetric, defect is dominant.", "the game is symmetric"),
        (
            DILEMMA,
            "Since both get 4 there, (cooperate, cooperate) is not an equilibrium.",
            "both get 4 there",
        ),
        (
            DILEMMA,
            "(defect, defect) is an equilibrium because each of us would get 0 by cooperating.",
            "each of us would get 0 by cooperating",
        ),
        (
            DILEMMA,
            "(defect, defect) is an equilibrium (a safe one for the two of us).",
            "a safe one for the two of us",
        ),
        (
            DILEMMA,
            "The payoff of defection is 9: if both defect, I get 1.",
            "The payoff of defection is 9",
        ),
        # "It" may be either of the two moves, and "which" may be the reply or what it replies to.
        (
            DILEMMA,
            "Defecting dominates cooperating since it pays me 0 against a defector.",
            "it pays me 0 against a defector",
        ),
        (HAWK_DOVE, "Dove is my best response to hawk, which gives me -1.", "gives me -1"),
    ],
)
def test_a_clause_with_an_amount_or_a_term_that_is_not_understood_is_told(
    game: NormalForm, text: str, left_out: str
) -> None:
    reading, verdicts, left = tell(game, text)
    assert (reading, left) == ("partly read", [left_out])
    assert set(verdicts) == {"proved"}


@pytest.mark.parametrize(
    "text",
    [
        "Defecting is dominant because I like it.",
        "Defecting is dominant, so I choose defect.",
        "(defect, defect) is an equilibrium, because we are like that.",
        "If both defect, I get 1 (as the story has it).",
        "If both defect, I get 1 as well.",
    ],
)
def test_a_clause_that_says_nothing_of_the_game_leaves_the_sentence_read(text: str) -> None:
    assert tell(DILEMMA, text) == ("read", ["proved"], [])


@pytest.mark.parametrize(
    ("game", "right", "wrong"),
    [
        (
            HAWK_DOVE,
            "Against a hawk, I get 0 by playing dove, so dove is the better reply.",
            "Against a hawk, I get 0 by playing dove, so hawk is the better reply.",
        ),
        (
            DILEMMA,
            "If both cooperate, I get 3 points, which is more than 1 point.",
            "If both cooperate, I get 3 points, which is less than 1 point.",
        ),
        (
            PUBLISHED,
            "If I choose B and they choose R, I get $0, which is less than $1.",
            "If I choose B and they choose R, I get $0, which is better than $1.",
        ),
        (
            DILEMMA,
            "Because 5 is more than 3, defect is my best response to cooperate.",
            "Because 5 is less than 3, defect is my best response to cooperate.",
        ),
        (
            DILEMMA,
            "There is one pure equilibrium, namely (defect, defect).",
            "There is one pure equilibrium, namely (cooperate, cooperate).",
        ),
    ],
)
def test_a_clause_is_a_claim_of_its_own_where_it_is_clear_of_what(
    game: NormalForm, right: str, wrong: str
) -> None:
    reading, verdicts, _ = tell(game, right)
    assert (reading, set(verdicts)) == ("read", {"proved"})
    reading, verdicts, _ = tell(game, wrong)
    assert (reading, verdicts[0], verdicts[-1]) == (
        "read",
        "proved",
        "proved" if "instead" in wrong else "refuted",
    )
    assert "refuted" in verdicts


def test_the_examples_of_wrong_reasoning_in_the_published_protocol_are_never_approved() -> None:
    wrong = [
        "Me choosing R and them choosing B will result in payoff $3 for me.",
        "Action B is safer, because it maximizes my minimal gain.",
        "If I choose B and they choose R, I get $0, which is better than $1.",
    ]
    assert [tell(PUBLISHED, text)[:2] for text in wrong] == [
        ("unread", []),
        ("unread", []),
        ("read", ["proved", "refuted"]),
    ]


def test_a_number_that_is_a_move_is_not_judged_as_an_amount() -> None:
    priced = NormalForm.bimatrix([[3, 1], [4, 2]], [[3, 4], [1, 2]], actions=(("2", "1"),) * 2)
    # 1 is the dominant price: that it is better than 2 is true of the moves, and false of the
    # numbers.
    assert tell(priced, "1 is better than 2.") == ("unread", [], [])
    assert tell(DILEMMA, "1 is better than 0.") == ("read", ["proved"], [])


def test_partly_read_sentences_are_counted_and_listed_with_what_was_left_out() -> None:
    text = (
        "If both defect, I get 1. If both defect, I get 1, which is the 3 that a fool hopes for."
        " I like 7."
    )
    found = review(DILEMMA, text)
    assert found.summary == "nothing refuted; 1 claim read, 1 of 3 sentences unread, 1 partly read"
    told = found.to_json()
    assert told["partly_read"] == [
        {
            "start": 25,
            "end": 87,
            "text": "If both defect, I get 1, which is the 3 that a fool hopes for",
            "left_out": ["is the 3 that a fool hopes for"],
        }
    ]
    assert [passage["text"] for passage in told["unread"]] == ["I like 7"]


@pytest.mark.parametrize(
    "text",
    [
        "If both cooperate, I get 3, which beats the 5 I could get from defecting.",
        "If both defect, I get 1, more than the 3 that everybody hopes for.",
        "If both defect, I get 1 (less than the 0 of a lone cooperator).",
    ],
)
def test_a_comparison_with_an_amount_is_never_left_aside(text: str) -> None:
    # Each states a true payoff, and beside it a comparison that is false.
    found = review(DILEMMA, text)
    assert found.state.value in ("refuted", "unchecked")
    assert tell(DILEMMA, text)[1] in ([], ["proved", "refuted"])


def test_what_a_model_does_not_quote_of_a_sentence_is_told_too() -> None:
    claim = {
        "form": "strictly_dominant",
        "quote": "Defecting is dominant",
        "action": "defect",
        "who": "you",
    }
    model = ScriptedModel([json.dumps({"claims": [claim]})])
    text = "Defecting is dominant, since it pays me 7 against a cooperator."
    found = Reviewer(ModelTranslator(model)).review(text, Subject(DILEMMA))
    assert found.summary == "nothing refuted; 1 claim read, 0 of 1 sentence unread, 1 partly read"
    assert found.partly_read is not None
    assert [passage.left_out for passage in found.partly_read] == [
        ("since it pays me 7 against a cooperator",)
    ]


def test_a_sentence_of_nothing_but_reasons_is_left_in_no_time() -> None:
    text = "Defect is dominant" + " because it gives 1" * 29
    assert tell(DILEMMA, text)[0] in ("unread", "partly read")
