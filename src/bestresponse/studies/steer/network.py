"""A small network from rows of numbers to distributions, in numpy: two hidden layers, rectified, trained by Adam.

The published study (Gemp et al. 2024, appendix E) trains 10,000 steps on batches of 128 at a rate of 0.001. Here this
is the most: some rows are kept aside, the cross entropy on them is looked at every 50 steps, and the weights that did
best there are taken once eight looks in a row brought nothing better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.games.normal_form import Array

Layers = tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]
Marks = NDArray[np.bool_]
_LOOK = 50
_PATIENCE = 8


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained."""

    steps: int = 10_000
    batch: int = 128
    rate: float = 1e-3
    hidden: int = 256
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PolicyNetwork:
    """Weights and biases of the layers, and the number of steps that made them."""

    layers: Layers
    steps: int

    def __call__(self, rows: Array) -> Array:
        """Probabilities, one row each."""
        return np.asarray(_forward(self.layers, rows.astype(np.float32))[-1], dtype=np.float64)


def cross_entropy(guessed: Array, targets: Array) -> float:
    """The mean over rows of -sum target * log guess."""
    return float(-(targets * np.log(guessed + 1e-12)).sum(axis=1).mean())


def train_network(
    inputs: Array, targets: Array, how: Training | None = None, aside: Marks | None = None
) -> PolicyNetwork:
    """Fit distributions to inputs; the rows marked in `aside` only tell when to stop (None: train to the last step)."""
    how = how or Training()
    rng = np.random.default_rng(how.seed)
    rows, wanted = inputs.astype(np.float32), targets.astype(np.float32)
    seen = np.flatnonzero(~aside) if aside is not None else np.arange(len(rows))
    sizes = (rows.shape[1], how.hidden, how.hidden, wanted.shape[1])
    layers: Layers = tuple(
        (rng.normal(0, np.sqrt(2 / m), (m, n)).astype(np.float32), np.zeros(n, dtype=np.float32))
        for m, n in pairwise(sizes)
    )
    adam = _Adam(layers, how.rate)
    best, best_loss, looks = PolicyNetwork(layers, how.steps), np.inf, 0
    for step in range(1, how.steps + 1):
        chosen = seen[rng.integers(len(seen), size=min(how.batch, len(seen)))]
        adam.step(_slopes(layers, rows[chosen], wanted[chosen]))
        if aside is None or step % _LOOK:
            continue
        loss = cross_entropy(_forward(layers, rows[aside])[-1].astype(np.float64), targets[aside])
        looks = 0 if loss < best_loss else looks + 1
        if loss < best_loss:
            best, best_loss = (
                PolicyNetwork(tuple((weights.copy(), bias.copy()) for weights, bias in layers), step),
                loss,
            )
        if looks == _PATIENCE:
            break
    return best


class _Adam:
    """Steps down the slopes, each weight by its own pace (Kingma & Ba 2015)."""

    def __init__(self, layers: Layers, rate: float) -> None:
        self._arrays = [array for layer in layers for array in layer]
        self._means = [np.zeros_like(array) for array in self._arrays]
        self._squares = [np.zeros_like(array) for array in self._arrays]
        self._rate, self._steps = rate, 0

    def step(self, slopes: Sequence[NDArray[np.float32]]) -> None:
        self._steps += 1
        pace = self._rate * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        for array, slope, mean, square in zip(self._arrays, slopes, self._means, self._squares, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            array -= np.float32(pace) * mean / (np.sqrt(square) + np.float32(1e-8))


def _forward(layers: Layers, rows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The rows after every layer; the last are probabilities."""
    values = [rows]
    for weights, bias in layers[:-1]:
        values.append(np.maximum(values[-1] @ weights + bias, 0))
    weights, bias = layers[-1]
    scores = values[-1] @ weights + bias
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return [*values, scores / scores.sum(axis=1, keepdims=True)]


def _slopes(layers: Layers, rows: NDArray[np.float32], targets: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    values = _forward(layers, rows)
    back = (values[-1] - targets) / np.float32(len(rows))
    slopes: list[NDArray[np.float32]] = []
    for index in range(len(layers) - 1, -1, -1):
        slopes = [values[index].T @ back, back.sum(axis=0), *slopes]
        if index:
            back = (back @ layers[index][0].T) * (values[index] > 0)
    return slopes
