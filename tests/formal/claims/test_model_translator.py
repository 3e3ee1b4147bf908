"""A model as translator: a strict schema, a prompt that defines every field, and replies that are
cut off."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from plugins import lay_package

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.formal.claims import Malformed, ModelTranslator, Reviewer, Subject, parse_json
from bestresponse.formal.claims.claim import FORMS, claims_schema
from bestresponse.models.base import Abilities, Finish, Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.models.schema import make_strict
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.games.normal_form import NormalForm

MARKET = NormalForm.bimatrix(
    [[1, 5], [0, 3]], [[1, 0], [5, 3]], players=("Firm A", "Firm B"), actions=(("Low", "High"),) * 2
)
FIRST = {
    "form": "higher",
    "negated": False,
    "quote": "5 beats 3",
    "first": 5,
    "second": 3,
    "value": None,
}
SECOND = {
    "form": "strictly_dominant",
    "negated": True,
    "quote": "Low is not  dominant",
    "who": None,
    "action": "Low",
}


def objects(schema: Any) -> list[dict[str, Any]]:
    inside = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    )
    found = [one for part in inside for one in objects(part)]
    return (
        [*found, schema]
        if isinstance(schema, dict) and "object" in (schema.get("type") or ())
        else found
    )


@pytest.mark.parametrize("actions", [("Low", "High"), tuple(f"bid {n}" for n in range(2_000))])
def test_the_schema_is_strict_as_it_stands(actions: tuple[str, ...]) -> None:
    schema = claims_schema(tuple(FORMS), ("you", "them"), actions)
    assert objects(schema)
    for one in objects(schema):
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert make_strict(schema) == schema


def test_nulls_denials_and_mixes_of_an_answer_are_read() -> None:
    mixed = [
        {
            "who": "them",
            "weights": [
                {"action": "Low", "probability": 0.5},
                {"action": "High", "probability": 0.5},
            ],
        }
    ]
    average = {
        "form": "expected_payoff",
        "who": None,
        "value": 3,
        "action": "Low",
        "mixed": mixed,
        "other": None,
    }
    assert [
        str(claim) for claim in parse_json(json.dumps({"claims": [FIRST, SECOND, average]}))
    ] == [
        "higher(5, 3).",
        "not(strictly_dominant('Low')).",
        "expected_payoff(you, 3, 'Low', [mix(them, ['Low'-0.5, 'High'-0.5])]).",
    ]


def test_complete_claims_of_a_cut_reply_are_kept_and_the_rest_is_asked_for() -> None:
    cut = json.dumps({"claims": [FIRST, SECOND]})[:-40]
    model = ScriptedModel([Reply(cut, Finish.LENGTH), json.dumps({"claims": [SECOND]})])
    translation = ModelTranslator(model).translate(
        "5 beats 3. Low is not dominant.", Subject(MARKET)
    )
    assert [str(claim) for claim in translation.claims] == [
        "higher(5, 3).",
        "not(strictly_dominant('Low')).",
    ]
    assert len(translation.calls) == 2
    kept, more = model.asked[1].messages[-2:]
    assert json.loads(kept.content) == {"claims": [FIRST]}
    assert "cut off" in more.content


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("I know: **5** beats _3_.", "5 beats 3"),
        ("It isn’t close, 5 beats 3.", "it isn't close, 5 beats 3"),
        ("5, as everybody sees, beats 3.", "5 ... beats 3"),
    ],
)
def test_a_quote_has_its_place_whatever_its_marks_and_gaps(text: str, quote: str) -> None:
    model = ScriptedModel([json.dumps({"claims": [FIRST | {"quote": quote}]})])
    review = Reviewer(ModelTranslator(model)).review(text, Subject(MARKET))
    assert review.summary == "nothing refuted; 1 claim read, 0 of 1 sentence unread"


def test_a_quote_stands_wherever_its_words_are_said() -> None:
    model = ScriptedModel([json.dumps({"claims": [FIRST]})])
    review = Reviewer(ModelTranslator(model)).review(
        "5 beats 3. So I say: 5 beats 3.", Subject(MARKET)
    )
    assert review.summary == "nothing refuted; 1 claim read, 0 of 2 sentences unread"


def test_what_a_translator_invents_is_not_refuted() -> None:
    # The text says nothing of 3 beating 5, which would be false.
    invented = FIRST | {"quote": "3 beats 5", "first": 3, "second": 5}
    model = ScriptedModel([json.dumps({"claims": [FIRST, invented]})])
    review = Reviewer(ModelTranslator(model)).review("5 beats 3.", Subject(MARKET))
    assert review.state == "unrefuted"
    assert [checked.verdict.value for checked in review.checked] == ["proved", "unknown"]
    assert review.troubles == {"quote not in the text": 1}


@pytest.mark.parametrize("negated", ["true", 1, "no"])
def test_a_denial_is_true_or_false_and_never_guessed(negated: object) -> None:
    (only,) = parse_json(json.dumps({"claims": [SECOND | {"negated": negated}]}))
    assert isinstance(only, Malformed)
    assert only.why == "negated is true or false"


def test_a_player_of_three_who_is_called_i_is_not_the_writer() -> None:
    # Player k gets 8k + 4a + 2b + c where the choices are a, b, c: where all choose 0, I gets 0 and
    # II gets 8.
    game = NormalForm(np.arange(24.0).reshape(3, 2, 2, 2), ("I", "II", "III"), (("x", "y"),) * 3)
    outcome = [{"who": who, "action": "x"} for who in ("you", "I", "III")]
    said = {
        "form": "payoff",
        "negated": False,
        "quote": "I gets 0",
        "who": "I",
        "value": 0,
        "outcome": outcome,
    }
    model = ScriptedModel([json.dumps({"claims": [said]})])
    review = Reviewer(ModelTranslator(model)).review(
        "If all choose x, Player I gets 0.", Subject(game, seat=1)
    )
    assert [checked.verdict.value for checked in review.checked] == ["proved"]


def test_replies_that_are_cut_off_again_and_again_say_that_claims_are_missing() -> None:
    model = ScriptedModel(lambda request: Reply('{"claims": [{"form"', Finish.LENGTH))
    (only,) = ModelTranslator(model).translate("5 beats 3.", Subject(MARKET)).claims
    assert isinstance(only, Malformed)
    assert only.why == "the reply was cut off 3 times; claims are missing"


def test_json_among_words_is_read_and_gone_on_with_where_it_is_cut_off() -> None:
    first = json.dumps({"form": "higher", "first": 5, "second": 3, "quote": "5 beats 3"})
    second = json.dumps({"form": "equal", "first": 1, "second": 1, "quote": "1 equals 1"})
    cut = f'Here: ```json\n{{"claims": [{first}, {{"form": "eq'
    rest = f'{{"claims": [{second}]}}\n```'
    model = ScriptedModel([Reply(cut, Finish.LENGTH), rest], abilities=Abilities())
    text = "5 beats 3. 1 equals 1."
    claims = ModelTranslator(model).translate(text, Subject(MARKET)).claims
    assert [str(claim) for claim in claims] == ["higher(5, 3).", "equal(1, 1)."]


def test_quotes_say_where_a_refuted_claim_stands_and_what_was_not_read() -> None:
    text = "5 beats 3.\nLow is not\ndominant. I get 7 somehow. Is High dominant?"
    model = ScriptedModel([json.dumps({"claims": [FIRST, SECOND]})])
    review = Reviewer(ModelTranslator(model)).review(text, Subject(MARKET))
    (one,) = review.refutations
    assert [text[p.start : p.end].strip() for p in one.passages] == ["Low is not", "dominant."]
    assert review.summary == "1 refuted; 2 claims read, 1 of 5 sentences unread, 1 not asserted"


def test_the_translator_has_its_own_token_limit_and_is_told_who_is_who() -> None:
    model = ScriptedModel([json.dumps({"claims": []})])
    ModelTranslator(model).translate("Hm.", Subject(MARKET, seat=1))
    (asked,) = model.asked
    assert asked.max_tokens == 4096
    prompt = asked.messages[-1].content
    assert (
        "- you: the writer of the text, also called I, me, my, Firm B, Player 2, the column player"
        in prompt
    )
    assert (
        "- them: also called Firm A, Player 1, the row player, they, he, she, the other player"
        in prompt
    )
    names = {name for form in FORMS.values() for name in form.names} - {"who"}
    defined = prompt[prompt.index("The fields:") : prompt.index("An example")]
    assert {name for name in names if name not in defined} == set()


def test_in_a_tree_the_order_of_moves_is_explained() -> None:
    model = ScriptedModel([json.dumps({"claims": []})])
    ModelTranslator(model).translate("Hm.", Subject(load_tree("entry-deterrence")))
    assert (
        "the moves are in the order in which they are made, the first one first"
        in model.asked[0].messages[-1].content
    )


def test_a_translator_of_a_package_finds_the_claims_by_its_name(tmp_path, monkeypatch):
    source = """
from fractions import Fraction
from bestresponse.formal.claims import Claim
from bestresponse.formal.claims.translation import Translation

class Lucky:
    name = "lucky"
    def translate(self, text, subject):
        return Translation((Claim("higher", (Fraction(3), Fraction(1))),))

def hollow():
    return 1
"""
    group = "bestresponse.translators"
    entries = ((group, "lucky", "Lucky"), (group, "hollow", "hollow"))
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_translator", source, *entries))
    review = br.verify("prisoners-dilemma", "Whatever I say.", translator="lucky")
    assert [(checked.text, checked.verdict.value) for checked in review.checked] == [
        ("higher(3, 1).", "proved")
    ]
    config = VerifyConfig("smollm2", "prisoners-dilemma", translator="lucky")
    assert config.models == ("smollm2",)
    with pytest.raises(
        UsageError, match="the translator 'hollow' of the package plugged-translator cannot be used"
    ):
        br.verify("prisoners-dilemma", "Whatever I say.", translator="hollow")
