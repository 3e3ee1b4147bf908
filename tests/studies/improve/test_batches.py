"""Batches: only answers are scored, no conversation sees another, and their shape is fixed."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("transformers", reason="the extra `train` is not installed")

from tiny_networks import write_model  # noqa: E402
from torch.utils.data import default_convert  # noqa: E402

from bestresponse.core.errors import UsageError  # noqa: E402
from bestresponse.models.students.causal import open_causal  # noqa: E402
from bestresponse.studies.improve import batches, training  # noqa: E402
from bestresponse.studies.improve.batches import (  # noqa: E402
    IGNORED,
    Batches,
    Place,
    Shape,
    TokenBatch,
    choose_shape,
    encode_examples,
    fill,
    pack,
)
from bestresponse.studies.improve.data import draw_pools, open_data  # noqa: E402
from bestresponse.studies.improve.rehearsal import Rehearsal  # noqa: E402

FLAT = Shape(tokens=1024, scored=512, conversations=20, longest=512, flat=True)
ROWS = Shape(tokens=1024, scored=1024, conversations=1024, longest=512, flat=False)
NOTHING = np.zeros((0, 0), np.int64)


@pytest.fixture(scope="module")
def student(base):
    return open_causal(base, "cpu", torch.float32)


@pytest.fixture(scope="module")
def opened(data):
    return open_data([str(data)])


@pytest.fixture(scope="module")
def pairs(student, opened):
    return encode_examples(student, next(draw_pools(opened, 1, 0))[:64])


def fill_all(pairs, shape, kept=NOTHING):
    """Return tensors of all batches of some examples."""
    groups = pack(pairs, shape, np.random.default_rng(0))
    return [TokenBatch(**default_convert(fill(group, shape, kept).to_json())) for group in groups]


def make_session(student, shape, base=None, kept=NOTHING):
    """Return what computes losses of batches of a shape."""
    recipe = training.Recipe(60, 1, 0.1, 1024, 0, "cpu")
    plan = training.TrainingPlan(base=None, data=None, recipe=recipe, work=None)
    return training.TrainingSession(plan, student, base, shape, Rehearsal(kept, len(kept)), "sdpa")


def find_loss(session, batch):
    with session.apart(), torch.no_grad():
        return session.find_loss(batch).item()


@pytest.mark.parametrize("shape", [FLAT, ROWS], ids=["one row", "rows"])
def test_only_answers_are_scored_and_no_conversation_sees_another(student, opened, pairs, shape):
    two = pairs[:2]
    (both,) = fill_all(two, shape)
    learnt = [target for target in both.targets.tolist() if target != IGNORED]
    assert sorted(learnt) == sorted(two[0].answer + two[1].answer)
    text = student.tokenizer.decode(two[0].answer, skip_special_tokens=False)
    assert text.startswith("ANSWER:")
    assert text.endswith("<|im_end|>")
    session = make_session(student, shape)
    losses = []
    for pair in two:
        with torch.no_grad():
            scores = student.model(torch.tensor([pair.asked + pair.answer])).logits[0]
        answered = scores[len(pair.asked) - 1 : -1].log_softmax(-1)
        weights = answered.gather(1, torch.tensor(pair.answer)[:, None])
        losses += (-weights[:, 0]).tolist()
    assert find_loss(session, both) == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize("shape", [FLAT, ROWS], ids=["one row", "rows"])
def test_a_student_is_held_to_its_base_on_its_texts(student, base, pairs, shape):
    kept = np.random.default_rng(0).integers(300, size=(2, 32))
    alone, with_texts = fill_all(pairs[:2], shape)[0], fill_all(pairs[:2], shape, kept)[0]
    other = open_causal(base, "cpu", torch.float32)
    session = make_session(student, shape, other, kept)
    games = find_loss(session, alone)
    # The base itself is as far from itself as nothing.
    assert find_loss(session, with_texts) == pytest.approx(games, abs=1e-6)
    with torch.no_grad():
        other.model.get_input_embeddings().weight.mul_(3.0)
        tokens = torch.from_numpy(kept)
        said = student.model(tokens).logits[:, :-1].log_softmax(-1)
        told = other.model(tokens).logits[:, :-1].log_softmax(-1)
    apart = (told.exp() * (told - said)).sum(-1).mean().item()
    assert apart > 0.01
    assert find_loss(session, with_texts) == pytest.approx(games + apart, rel=1e-4)


def test_batches_have_one_shape_and_what_fills_them_is_no_longer_than_expected(pairs):
    small = Shape(tokens=1024, scored=200, conversations=3, longest=256, flat=True)
    kept = np.zeros((2, 50), np.int64)
    made = fill_all(pairs, small, kept)
    # 3 conversations, 4 of 256 tokens and what is left, 2 texts, and where the first begins
    assert {(batch.tokens.shape, batch.starts.shape, batch.scored.shape) for batch in made} == {
        ((1, 1124), (11,), (200,))
    }
    for batch in made:
        starts = batch.starts.tolist()
        lengths = [b - a for a, b in pairwise(starts)]
        assert starts[0] == 0
        assert starts[-1] == 1124
        assert starts[-3] == 1024
        assert batch.real in starts
        assert min(lengths) >= 0
        assert max(lengths) <= batch.longest == 256


def test_the_shape_of_batches_follows_the_conversations(student, opened):
    shape = choose_shape(student, opened, 4096, flat=True)
    assert shape.tokens == 4096
    pairs = encode_examples(student, next(draw_pools(opened, 1, 0)))
    assert max(pair.size for pair in pairs) <= shape.longest
    made = fill_all(pairs, shape)
    assert np.mean([batch.real for batch in made]) > 0.9 * 4096


def test_rows_are_of_about_equal_length(student, opened):
    shape = choose_shape(student, opened, 4096, flat=False)
    pairs = encode_examples(student, next(draw_pools(opened, 1, 0)))
    made = fill_all(pairs, shape)
    assert max(batch.tokens.numel() for batch in made) <= 4096
    assert np.mean([batch.real / batch.tokens.numel() for batch in made]) > 0.9


def test_examples_that_do_not_fit_are_refused_where_nothing_is_left(opened, tokenizer, tmp_path):
    write_model(tmp_path / "short", tokenizer, max_position_embeddings=16)
    short = open_causal(tmp_path / "short", "cpu", torch.float32)
    with pytest.raises(UsageError, match="no example fits into 16 tokens: the shortest has"):
        choose_shape(short, opened, 4096, flat=True)


def test_another_process_makes_the_same_batches(student, opened):
    shape = choose_shape(student, opened, 1024, flat=True)
    kept = Rehearsal.make(np.arange(300), 100, 4096)
    made = Batches(student.chat, opened, shape, 3, kept.draw, Place())
    here = list(islice(made.load("cpu"), 3))
    there = list(islice(made.load("mps"), 3))
    for batch, other in zip(here, there, strict=True):
        assert batch.keys() == other.keys()
        for name, value in batch.items():
            same = (
                torch.equal(value, other[name]) if torch.is_tensor(value) else value == other[name]
            )
            assert same, name


def test_batches_go_on_where_they_were(student, opened):
    shape = choose_shape(student, opened, 4096, flat=True)
    made = Batches(student.chat, opened, shape, 3, Rehearsal(NOTHING, 0).draw, Place())
    batches = list(islice(iter(made), 12))
    made.place = Place(batches[4]["pool"], batches[4]["number"])
    following = next(iter(made))
    assert np.array_equal(following["tokens"], batches[5]["tokens"])
    made.place = Place(1, 0)
    assert next(iter(made))["pool"] == 1


def test_longer_examples_than_the_first_ones_are_kept(student, opened, monkeypatch):
    monkeypatch.setattr(batches, "_BLOCK", 1)
    shape = choose_shape(student, opened, 4096, flat=True)
    pairs = encode_examples(student, next(draw_pools(opened, 0, 0)))
    assert shape.longest == 2 * max(pair.size for pair in pairs)
    twice = pairs[0]._replace(asked=pairs[0].asked * 1 + pairs[0].asked[: pairs[0].size // 2])
    assert pack([twice], replace(shape, scored=4096), np.random.default_rng(0)) == [[twice]]
