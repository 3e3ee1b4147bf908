"""Conversations in one row: each is computed as it is alone, or the model says that it cannot."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("transformers", reason="the extra `train` is not installed")

from tiny_networks import FAMILIES, make_model  # noqa: E402

from bestresponse.models.students import flat  # noqa: E402

NOT_FLAT = {"gemma2", "mamba"}
"""Scores that are capped, which no kernel for rows knows, and a state that runs along the row."""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_is_flat_unless_its_attention_or_its_state_forbids_it(family):
    assert flat.is_flat(make_model(300, family)) == (family not in NOT_FLAT)


def compute(model, sizes, tokens):
    """Return the scores of conversations in one row."""
    starts = torch.tensor([0, *torch.tensor(sizes).cumsum(0).tolist()], dtype=torch.int32)
    places = torch.cat([torch.arange(size) for size in sizes])[None]
    with torch.no_grad(), flat.computed_by(model, flat.APART):
        row = model(tokens, position_ids=places, **flat.write_starts(starts, None))
    return row.logits[0].split(sizes)


@pytest.mark.parametrize("window", [None, 5])
def test_each_conversation_of_a_row_is_computed_as_alone(window):
    options = {"sliding_window": window} if window else {}
    model = make_model(300, "gemma3" if window else "llama", **options)
    sizes = [11, 1, 24]
    tokens = torch.randint(300, (1, sum(sizes)), generator=torch.Generator().manual_seed(1))
    for scores, alone in zip(compute(model, sizes, tokens), tokens.split(sizes, 1), strict=True):
        with torch.no_grad():
            expected = model(alone).logits[0]
        assert torch.allclose(scores, expected, atol=1e-5)
    assert model.config._attn_implementation == "sdpa"


def test_a_model_whose_attention_sees_the_whole_row_is_not_flat(monkeypatch):
    model = make_model(300)
    monkeypatch.setattr(flat, "write_starts", lambda starts, longest: {})
    assert not flat.is_flat(model)


def test_a_model_that_loses_its_positions_is_not_flat(monkeypatch):
    model = make_model(300, "gpt2")
    assert flat.is_flat(model)
    embed = model.transformer.wpe.forward
    monkeypatch.setattr(
        model.transformer.wpe, "forward", lambda places: embed(torch.arange(places.shape[-1])[None])
    )
    assert not flat.is_flat(model)
