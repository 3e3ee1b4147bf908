"""The rules read everyday sentences about any game, and say what they left unread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn_claims import TABLE_FORMS, VALUES, table_claims
from hypothesis import given, settings, strategies as st
from sentences import read_by, read_examples, score

from bestresponse.formal.claims import Claim, Reviewer, RulesTranslator, Subject, TheoryCheck, say
from bestresponse.formal.claims.wording import deny
from bestresponse.logic import Verdict
from bestresponse.studies.verify.agreement import Recorded, Stand
from bestresponse.theory.catalogue.trees import tree_entry
from bestresponse.theory.games.normal_form import NormalForm

NAMES = (
    (("R", "B"), ("R", "B")),
    (("Up", "Down"), ("Left", "Right")),
    (("Cooperate", "Defect"), ("Cooperate", "Defect")),
    (("A", "B", "C"), ("P", "Q", "R")),
    (("Low", "Medium", "High"), ("Low", "Medium", "High")),
)
HERE = Path(__file__).parent
DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("Cooperate", "Defect"),) * 2)
SILENCE = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("Stay Silent", "Confess"),) * 2)
CORNER = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]], actions=(("Up", "Down"), ("Left", "Right")))


def read(game: NormalForm, text: str, seat: int = 0) -> list[str]:
    return [str(claim) for claim in RulesTranslator().translate(text, Subject(game, seat)).claims]


def pays(who: str, value: str, mine: str, theirs: str) -> str:
    return f"finally(goal({who}, {value}), do(choice(you, '{mine}'), do(choice(them, '{theirs}'), s0)))."


PAIR = [pays("you", "5", "Defect", "Cooperate"), pays("them", "0", "Defect", "Cooperate")]
STABLE = "equilibrium(do(choice(you, 'Up'), do(choice(them, 'Left'), s0)))."


def test_what_is_read_in_everyday_sentences_is_what_they_say() -> None:
    found = score(RulesTranslator(), list(read_examples(HERE / "everyday.json")))
    assert found.precision == 1.0
    assert found.recall > 0.85


def test_sentences_that_the_rules_were_not_written_for_are_read_rightly_or_not_at_all() -> None:
    found = score(RulesTranslator(), list(read_examples(HERE / "held_out.json")))
    assert found.precision >= 0.95
    assert found.recall > 0.6


def test_sentences_without_a_claim_give_none() -> None:
    examples = [*read_examples(HERE / "everyday.json"), *read_examples(HERE / "held_out.json")]
    silent = [one for one in examples if not one.claims and not one.also]
    assert len(silent) == 16
    assert [one.text for one in silent if read_by(RulesTranslator(), one)] == []


@pytest.mark.parametrize(
    ("game", "text", "claims"),
    [
        (SILENCE, "If both stay Silent, each gets 3", [pays(w, "3", *("Stay Silent",) * 2) for w in ("you", "them")]),
        (DILEMMA, "Mutual cooperation gives 3 each", [pays(w, "3", *("Cooperate",) * 2) for w in ("you", "them")]),
        (DILEMMA, "Defect is dominant", ["weakly_dominant('Defect')."]),
        (DILEMMA, "- (Defect, Cooperate): 5, 0", PAIR),
        (DILEMMA, "If we both defect I'd lose 1/2 a point", [pays("you", "-0.5", "Defect", "Defect")]),
        (CORNER, "my best response to Left is Up", ["best_response('Up', do(choice(them, 'Left'), s0))."]),
        (CORNER, "(Up, Left) is a Nash equilibrium", [STABLE]),
        (CORNER, "there is no pure equilibrium", ["pure_equilibria(0)."]),
        (CORNER, "I have no dominant strategy.", ["no_dominant_choice."]),
    ],
)  # fmt: skip
def test_everyday_sentences(game: NormalForm, text: str, claims: list[str]) -> None:
    assert read(game, text) == claims


def test_you_are_the_other_player_where_i_speak_to_you() -> None:
    assert read(DILEMMA, "If I defect and you cooperate, I get 5 and you get 0.") == [
        pays("you", "5", "Defect", "Cooperate"),
        pays("them", "0", "Defect", "Cooperate"),
    ]
    assert read(DILEMMA, "If you defect and they cooperate, you get 5.") == [pays("you", "5", "Defect", "Cooperate")]


def test_moves_that_you_and_i_make_are_read_one_after_the_other() -> None:
    subject = Subject(tree_entry("centipede").make())
    text = "If I pass, you will take. If I pass, you take. If I pass, you should take. If I take, I get 4."
    assert [str(claim) for claim in RulesTranslator().translate(text, subject).claims] == [
        "will_play(them, 'take', do(choice(you, 'pass'), s0)).",
        "finally(goal(you, 4), do(choice(you, 'take'), s0)).",
    ]


def test_a_pair_that_does_not_say_whose_is_whose_is_not_read() -> None:
    assert read(CORNER, "(Up, Left) pays (2, 1).", seat=1) == []
    assert read(CORNER, "(Up, Right) pays (0, 0).", seat=1) == [
        pays("you", "0", "Right", "Up"),
        pays("them", "0", "Right", "Up"),
    ]
    assert read(CORNER, "If I play Left and row plays Up, I get 1.", seat=1) == [pays("you", "1", "Left", "Up")]
    assert read(DILEMMA, "(Defect, Cooperate) is a Nash equilibrium.", seat=1) == []


def test_a_sentence_with_an_amount_from_which_nothing_is_read_is_told() -> None:
    text = "If we both defect, I get 1. Somehow 7 is in the air. I trust them. Is Defect part of an equilibrium?"
    translation = RulesTranslator().translate(text, Subject(DILEMMA))
    assert len(translation.claims) == 1
    assert translation.unread == ("Somehow 7 is in the air",)
    assert translation.passages is not None
    assert [one.reading.value for one in translation.passages] == ["read", "unread", "silent", "not asserted"]


@pytest.mark.parametrize(
    ("text", "stand"),
    [
        ("If I cooperate and they defect, I get 0.", Stand.SAME),
        ("If I cooperate and they defect, I get 4.", Stand.CONTRADICTS),
        ("If I defect and they cooperate, I get 5.", Stand.OPEN),
        ("My worst payoff from cooperating is 0.", Stand.FOLLOWS),
        ("My worst payoff from cooperating is 3.", Stand.CONTRADICTS),
        ("My worst payoff from defecting is 1.", Stand.OPEN),
        ("3 is less than 5.", Stand.SAME),
        ("Defect is dominant.", Stand.NO_FORM),
    ],
)
def test_how_a_claim_stands_to_the_recorded_ones(text: str, stand: Stand) -> None:
    subject = Subject(DILEMMA)
    told = "If we both cooperate, I get 3. If I cooperate and they defect, I get 0. 5 is more than 3."
    recorded, (claim,) = (RulesTranslator().translate(one, subject).claims for one in (told, text))
    known = Recorded([one for one in recorded if isinstance(one, Claim)], subject)
    assert isinstance(claim, Claim)
    assert known.stand(claim) is stand


@pytest.mark.parametrize("form", TABLE_FORMS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_a_true_sentence_is_never_refuted(form: str, data: st.DataObject) -> None:
    names = data.draw(st.sampled_from(NAMES))
    size = 2 * len(names[0]) * len(names[1])
    payoffs = data.draw(st.lists(st.sampled_from(VALUES), min_size=size, max_size=size))
    table = np.array(payoffs).reshape(2, len(names[0]), len(names[1]))
    subject = Subject(NormalForm(table, ("Ann", "Bob"), names), data.draw(st.integers(0, 1)))
    claim = data.draw(table_claims(subject, form))
    true = TheoryCheck(subject).prove(claim).verdict is Verdict.PROVED
    text = say(claim) if true else deny(claim)
    assert Reviewer(RulesTranslator()).review(text, subject).refuted == (), text
