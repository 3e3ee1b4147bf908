"""Texts of the base on which a student is kept as it was."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("transformers", reason="the extra `train` is not installed")

from bestresponse.models.students.causal import open_causal  # noqa: E402
from bestresponse.studies.improve import rehearsal  # noqa: E402
from bestresponse.studies.improve.abilities import read_abilities  # noqa: E402
from bestresponse.studies.improve.rehearsal import Rehearsal, Wanted  # noqa: E402


@pytest.fixture
def few(monkeypatch):
    """Beginnings and texts that take no time."""
    monkeypatch.setattr(rehearsal, "_WRITTEN", 12)
    monkeypatch.setattr(rehearsal, "LENGTH", 64)


def test_no_beginning_is_a_question_or_a_passage_that_is_measured():
    measured = read_abilities()
    texts = [question.text for question in measured.questions] + list(measured.passages)
    for _, beginning in rehearsal.read_beginnings():
        asked = beginning.removeprefix("Question: ").partition("\n")[0].lower()
        assert all(asked not in text.lower() for text in texts), beginning


def test_the_base_goes_on_with_chats_in_its_format_and_with_prose_as_it_is(base):
    student = open_causal(base, "cpu", torch.float32)
    texts = [
        student.tokenizer.decode(tokens, skip_special_tokens=False)
        for tokens in rehearsal.encode_beginnings(student)
    ]
    kinds = [kind for kind, _ in rehearsal.read_beginnings()]
    assert set(kinds) == {"chats", "questions", "prose"}
    for kind, text in zip(kinds, texts, strict=True):
        assert text.endswith("<|im_start|>assistant\n") == (kind == "chats")


def test_equal_seeds_give_equal_texts_and_other_seeds_others(base, few):
    student = open_causal(base, "cpu", torch.float32)
    first, again, other = (
        rehearsal.write_texts(student, Wanted(100, None), seed) for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert 100 <= len(first) < 1000


def test_the_clock_ends_the_writing_where_there_are_no_steps(base, few):
    student = open_causal(base, "cpu", torch.float32)
    assert len(rehearsal.write_texts(student, Wanted(10**9, 0.0), 0)) < 1000
    assert Wanted.choose(0.1, 600.0, 0, 4096).seconds == 30
    # 0.1 of 800 steps of 4,096 tokens, each read eight times
    assert Wanted.choose(0.1, 600.0, 800, 4096) == Wanted(40961, None)


def test_all_that_was_written_together_is_kept_although_it_came_late(base, few, monkeypatch):
    monkeypatch.setattr(rehearsal, "_TOGETHER", {"cpu": 40})
    student = open_causal(base, "cpu", torch.float32)
    # each of the 40 texts has a beginning, an end and between them up to 12 tokens
    assert len(rehearsal.write_texts(student, Wanted(10**9, 0.0), 0)) > 40 * 4


def test_a_batch_has_rows_of_texts_with_its_share_of_tokens():
    stream = np.arange(1000)
    kept = Rehearsal.make(stream, 600, 4096)
    assert kept.texts.shape == (5, 200)
    assert kept.draw(np.random.default_rng(0)).shape == (3, 200)
    assert Rehearsal.make(stream, 100, 4096).texts.shape == (10, 100)
    assert Rehearsal.make(stream, 600, 50).texts.shape == (20, 50)
    for nothing in (Rehearsal.make(stream, 0, 4096), Rehearsal.make(stream[:3], 600, 4096)):
        assert nothing.rows == nothing.texts.size == 0
