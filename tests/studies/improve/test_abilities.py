"""What a model can do besides games, measured with networks whose probabilities are known."""

import math
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("transformers", reason="the extra `train` is not installed")

import bestresponse as br
from bestresponse.studies.improve.abilities import (
    AbilityQuestion,
    AbilityTest,
    measure_abilities,
    measure_perplexity,
    read_abilities,
    weigh_answers,
)


class Words:
    """A writer whose tokens are words, each as likely as `chances` says, else 1/8."""

    def __init__(self, **chances):
        self.chances = chances
        self.tokenizer = SimpleNamespace(encode=self.encode)

    def encode(self, text, add_special_tokens):
        assert add_special_tokens is False
        return SimpleNamespace(ids=text.split())

    def weigh_tokens(self, texts):
        return [[math.log(self.chances.get(token, 1 / 8)) for token in text[1:]] for text in texts]


def test_the_questions_have_four_different_answers():
    questions = read_abilities().questions
    assert len(questions) == 60
    assert len({question.text for question in questions}) == 60
    assert all(len(set(question.answers)) == 4 for question in questions)
    assert len(read_abilities().passages) == 8


def test_an_answer_is_weighed_per_character():
    writer = Words(honey=1 / 2)
    question = AbilityQuestion("What do bees make?", ("honey", "sweet honey"))
    one_word, two_words = weigh_answers(writer, question)
    assert one_word == pytest.approx(-math.log(2) / 5)
    assert two_words == pytest.approx(-(math.log(8) + math.log(2)) / 11)


def test_perplexity_is_that_of_a_die_with_eight_faces():
    assert measure_perplexity(Words(), ["one two three", "four five"]) == pytest.approx(8.0)
    # the first word of a passage is given: two and three are weighed, at 1/2 and 1/8
    assert measure_perplexity(Words(two=1 / 2), ["one two three"]) == pytest.approx(4.0)
    assert measure_perplexity(Words(), ["alone"]) is None


def test_only_the_likeliest_answer_is_right_and_a_tie_is_none(monkeypatch):
    asked = AbilityTest(
        (
            AbilityQuestion("first", ("aa", "bb", "cc", "dd")),
            AbilityQuestion("second", ("bb", "aa", "cc", "dd")),
            AbilityQuestion("third", ("cc", "dd", "ee", "ff")),
            AbilityQuestion("fourth", ("aa", "cc", "dd", "ee")),
        ),
        ("one two three",),
    )
    monkeypatch.setattr("bestresponse.studies.improve.abilities.read_abilities", lambda: asked)
    row = measure_abilities(Words(aa=1 / 2, bb=1 / 4), "before")
    assert row == {
        "when": "before",
        "asked": 4,
        "right": 0.5,
        "perplexity": pytest.approx(8.0),
    }


def test_a_training_measures_what_it_forgets(data, base, tmp_path):
    run = br.train(
        base,
        data=[str(data)],
        output=tmp_path / "student",
        minutes=60,
        steps=2,
        batch_tokens=1024,
        held_out=2,
        tests=0,
        device="cpu",
        output_dir=tmp_path,
    )
    rows = run.frame("abilities")
    assert [row["when"] for row in rows] == ["before", "after"]
    assert [row["asked"] for row in rows] == [60, 60]
