"""Muon for the matrices of layers and AdamW for everything else, or AdamW alone.

Steps of Muon have equal singular values (Jordan et al., "Muon: an optimizer for hidden layers in
neural networks", 2024). Matrices of one shape are treated together: one by one they take most of
the time of a step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.pytorch_utils import Conv1D

_NEWTON_SCHULZ = (
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
)
"""Coefficients of a quintic iteration towards the nearest orthogonal matrix (You Jiacheng, 2025, in
modded-nanogpt)."""
_MOMENTUM = 0.95
_ADAM_BETAS = (0.9, 0.95)
_EXPERTS = 3  # axes of the matrices of all experts of a layer in one parameter


def list_layers(model: nn.Module) -> list[nn.Module]:
    """Return the layers of a model of `transformers`."""
    return [part for part in model.modules() if isinstance(part, GradientCheckpointingLayer)]


def list_matrices(model: nn.Module) -> list[nn.Parameter]:
    """Return the matrices of all layers that turn one vector into another."""
    found: list[nn.Parameter] = []
    for layer in list_layers(model):
        for part in layer.modules():
            is_linear = isinstance(part, nn.Linear | Conv1D)
            for value in part.parameters(recurse=False):
                if value.ndim == _EXPERTS or (is_linear and value.ndim > 1):
                    found.append(value)
    return [value for value in found if value.requires_grad and min(value.shape[-2:]) > 1]


def make_optimizer(model: nn.Module, name: str, rate: float) -> torch.optim.Optimizer:
    """Return the optimizer of a name for what is trained of a model."""
    trained = [value for value in model.parameters() if value.requires_grad]
    matrices = list_matrices(model) if name == "muon" else []
    known = set(map(id, matrices))
    rest = [value for value in trained if id(value) not in known]
    return MuonAndAdam(matrices, rest, rate)


class MuonAndAdam(torch.optim.Optimizer):  # type: ignore[misc]
    """Muon for matrices, perhaps none, and AdamW for the rest."""

    def __init__(self, matrices: Sequence[Tensor], rest: Sequence[Tensor], rate: float) -> None:
        groups = [{"params": list(values)} for values in (matrices, rest) if values]
        super().__init__(groups, {"lr": rate})
        fused = all(value.device.type == "cuda" for value in rest)
        self._adam = torch.optim.AdamW(
            rest, lr=rate, betas=_ADAM_BETAS, weight_decay=0.0, fused=fused
        )
        self._shapes: dict[tuple[int, ...], list[Tensor]] = {}
        for matrix in matrices:
            self._shapes.setdefault(tuple(matrix.shape), []).append(matrix)
        self._momenta = {
            shape: torch.zeros(len(values), *shape, device=values[0].device)
            for shape, values in self._shapes.items()
        }

    @torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
    def step(self, closure: None = None) -> None:
        """Change everything by its gradient."""
        rate = self.param_groups[0]["lr"]
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        for shape, matrices in self._shapes.items():
            gradient = torch.stack([_read_gradient(matrix) for matrix in matrices])
            momentum = self._momenta[shape]
            momentum.lerp_(gradient, 1 - _MOMENTUM)
            change = orthogonalise(gradient.lerp(momentum, _MOMENTUM))
            # A step of AdamW has entries of about this size, so both share one learning rate.
            size = rate * 0.2 * math.sqrt(max(shape[-2:]))
            torch._foreach_add_(matrices, list(change.unbind(0)), alpha=-size)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of everything."""
        super().zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint needs of both."""
        return {"adam": self._adam.state_dict(), "momenta": list(self._momenta.values())}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take up what a checkpoint holds."""
        self._adam.load_state_dict(dict(state_dict["adam"]))
        for mine, kept in zip(self._momenta.values(), state_dict["momenta"], strict=True):
            mine.copy_(kept)


def _read_gradient(matrix: Tensor) -> Tensor:
    """Return a gradient in full precision; experts that no token came to have none."""
    return torch.zeros_like(matrix) if matrix.grad is None else matrix.grad.float()


def orthogonalise(matrices: Tensor) -> Tensor:
    """Return matrices with about the same singular vectors and singular values near 1.

    They have shape (..., rows, columns). A GPU computes in half precision.
    """
    wide = matrices.to(torch.bfloat16 if matrices.is_cuda else matrices.dtype)
    wide = wide.flatten(0, -3)
    tall = wide.shape[-2] > wide.shape[-1]
    wide = wide.mT if tall else wide
    wide = wide / (wide.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for a, b, c in _NEWTON_SCHULZ:
        square = wide @ wide.mT
        wide = torch.baddbmm(
            wide,
            torch.baddbmm(square, square, square, beta=b, alpha=c),
            wide,
            beta=a,
        )
    wide = wide.mT if tall else wide
    return wide.reshape(matrices.shape).to(matrices.dtype)
