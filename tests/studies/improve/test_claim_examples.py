"""Examples for translators: texts about drawn games, with the claims they make."""

import json

import numpy as np
import pytest

from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.formal.claims.claim import parse, parse_json
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import write_translation_prompt
from bestresponse.studies.improve.answers import make_told_examples
from bestresponse.studies.improve.claims import WordedClaim, draw_text
from bestresponse.studies.improve.examples import Telling
from bestresponse.studies.improve.export import ExportConfig, export
from bestresponse.studies.improve.rewards import score_reply
from bestresponse.theory.catalogue import load

GAMES = np.random.default_rng(3).integers(-9, 10, (40, 2, 2, 3)).astype(float)


@pytest.fixture(scope="module")
def examples():
    telling = Telling(("prose",), ("neutral", "market"), kind="claims")
    return list(make_told_examples(GAMES, telling, np.random.default_rng(5)))


def test_every_answer_is_read_as_the_claims_of_its_text_and_quotes_it(examples):
    for example in examples:
        assert [str(claim) for claim in parse_json(example.answer)] == example.task["claims"]
        for row in json.loads(example.answer)["claims"]:
            assert row["quote"] in example.task["text"]
        assert score_reply(example.task, example.answer) == 1.0


def test_a_question_is_what_the_translator_of_verify_asks(examples):
    example = examples[0]
    seat = example.task["seat"]
    assert example.task["text"] in example.question
    # Everything but the text and the names of the game is the prompt of `verify`.
    prompt = write_translation_prompt("TEXT", Subject(load("prisoners-dilemma"), seat))
    assert example.question.splitlines()[-1] == prompt.splitlines()[-1]


def test_a_claim_is_written_as_the_schema_wants_it():
    (claim,) = parse("finally(goal(them, 5), do(choice(you, 'B'), do(choice(them, 'R'), s0)))")
    assert WordedClaim(claim, "They get 5").to_json() == {
        "form": "payoff",
        "negated": False,
        "quote": "They get 5",
        "who": "them",
        "value": 5,
        "outcome": [{"who": "them", "action": "R"}, {"who": "you", "action": "B"}],
    }


def test_half_a_text_understood_scores_by_precision_and_recall(examples):
    task = {"kind": "claims", "claims": ["higher(5, 3).", "lower(1, 2)."]}
    one = '{"claims": [{"form": "higher", "first": 5, "second": 3}]}'
    # One of one is right, one of two is found: 2 * 1 / (1 + 2).
    assert score_reply(task, one) == pytest.approx(2 / 3)
    assert score_reply(task, '{"claims": []}') == 0.0
    assert score_reply({"kind": "claims", "claims": []}, '{"claims": []}') == 1.0
    with pytest.raises(InvalidMove, match="no list of claims"):
        score_reply(task, "I do not know.")


def test_amounts_are_true_about_half_of_the_time_or_more():
    game = load("prisoners-dilemma")
    rng = np.random.default_rng(0)
    claims = [worded.claim for _ in range(200) for worded in draw_text(game, 0, rng)[1]]
    payoffs = [claim for claim in claims if claim.form == "payoff"]
    index = {"cooperate": 0, "defect": 1}
    true = 0
    for claim in payoffs:
        moves = {move.who: index[move.action] for move in claim["outcome"]}
        seat = 0 if claim["who"] == "you" else 1
        true += game.payoffs[seat, moves["you"], moves["them"]] == claim["value"]
    # Half are taken from the cell, and the drawn amounts hit it in one of four on average: 5/8.
    assert 0.5 < true / len(payoffs) < 0.75


def test_files_of_claims_are_written_and_formats_are_refused(tmp_path):
    exported = export(ExportConfig(tmp_path / "claims", games="claims", count=30, workers=1))
    assert sum(exported.counts.values()) == 30
    rows = [
        json.loads(line) for path in (tmp_path / "claims").glob("*.jsonl") for line in path.open()
    ]
    assert {json.loads(row["task"])["kind"] for row in rows} == {"claims"}
    with pytest.raises(UsageError, match="formats: has no effect on claims"):
        ExportConfig(tmp_path / "x", games="claims", formats=("table",))
