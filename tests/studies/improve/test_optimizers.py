"""Muon: steps with equal singular values, whose state a checkpoint keeps."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("transformers", reason="the extra `train` is not installed")

from tiny_networks import make_model  # noqa: E402

from bestresponse.studies.improve.optimizers import (  # noqa: E402
    list_matrices,
    make_optimizer,
    orthogonalise,
)


@pytest.mark.parametrize("shape", [(3, 16, 40), (40, 16), (2, 2, 16, 24)])
def test_steps_of_muon_have_singular_values_near_one(shape):
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(0))
    steps = orthogonalise(drawn.reshape(-1, *shape[-2:])).reshape(shape)
    assert steps.shape == drawn.shape
    values = torch.linalg.svdvals(steps)
    assert float(values.min()) > 0.7
    assert float(values.max()) < 1.3


@pytest.mark.parametrize(
    ("family", "count"),
    # Llama: 7 matrices in each of 2 layers. GPT-2: 4. Mixture of experts: 4 of the attention and 2
    # of all experts; the router is no `Linear`. Mamba: 4, without the convolution.
    [("llama", 14), ("gpt2", 8), ("qwen3_moe", 12), ("mamba", 8)],
)
def test_muon_trains_the_matrices_of_layers(family, count):
    model = make_model(300, family)
    found = list_matrices(model)
    assert len(found) == count
    embedding = model.get_input_embeddings().weight
    assert all(value is not embedding for value in found)


def give_gradients(model, seed):
    drawn = torch.Generator().manual_seed(seed)
    for value in model.parameters():
        value.grad = torch.randn(value.shape, generator=drawn)


def test_a_first_step_of_muon_is_the_rate_times_an_orthogonal_matrix():
    model = make_model(300)
    matrix = model.model.layers[1].mlp.down_proj.weight
    before = matrix.detach().clone()
    optimizer = make_optimizer(model, "muon", 0.01)
    give_gradients(model, 0)
    optimizer.step()
    # 0.2 times the root of the longer side, 128, so that entries are as large as AdamW's
    values = torch.linalg.svdvals(before - matrix.detach())
    assert float(values.mean()) == pytest.approx(0.01 * 0.2 * 128**0.5, rel=0.2)


@pytest.mark.parametrize("name", ["muon", "adamw"])
def test_an_optimizer_goes_on_from_what_a_checkpoint_holds(name):
    straight = make_model(300)
    optimizer = make_optimizer(straight, name, 0.01)
    give_gradients(straight, 0)
    optimizer.step()
    resumed = copy.deepcopy(straight)
    other = make_optimizer(resumed, name, 0.01)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for model, one in ((straight, optimizer), (resumed, other)):
        give_gradients(model, 1)
        one.step()
    for value, same in zip(straight.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(value, same)


def test_experts_that_no_token_came_to_stay_as_they_are():
    model = make_model(300)
    optimizer = make_optimizer(model, "muon", 0.01)
    before = [value.detach().clone() for value in list_matrices(model)]
    optimizer.step()
    for value, same in zip(list_matrices(model), before, strict=True):
        assert torch.equal(value, same)
