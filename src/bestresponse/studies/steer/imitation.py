"""A small network that imitates equilibria: from what a speaker sees to how it should speak, without a solver.

The dataset pairs the embedded words of every information set of solved games with the equilibrium probabilities there.
Two hidden layers of 256 units are trained by Adam on the cross entropy (Gemp et al. 2024, appendix E: 10,000 steps,
batches of 128, rate 0.001), here in numpy. Played against unguided speakers on games it has not seen, it tells whether
what the solver found carries over.

`HashedWords` embeds a text as counts of its words and pairs of words in 384 hashed places: no package and no download,
but no meaning beyond words either. Any function from texts to vectors can stand in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.studies.steer.playing import GameResult
from bestresponse.studies.steer.solving import Solved, mixed_policy
from bestresponse.theory.normal_form import Array
from bestresponse.theory.tree_policy import Policy
from bestresponse.theory.tree_response import policy_value

__all__ = ["Embedding", "HashedWords", "Imitation", "Network", "Training", "imitate", "train"]

Embedding = Callable[[Sequence[str]], Array]
"""Texts to one row of numbers each."""


@dataclass(frozen=True, slots=True)
class HashedWords:
    """Counts of words and of pairs of words, hashed into `size` places with signs, scaled to length 1."""

    size: int = 384

    def __call__(self, texts: Sequence[str]) -> Array:
        rows = np.zeros((len(texts), self.size))
        for row, text in zip(rows, texts, strict=True):
            words = re.findall(r"\w+", text.casefold())
            for token in (*words, *(f"{a} {b}" for a, b in pairwise(words))):
                code = crc32(token.encode())
                row[code % self.size] += 1 if code & 0x80000000 else -1
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


@dataclass(frozen=True, slots=True)
class Training:
    """How the network is trained."""

    steps: int = 10_000
    batch: int = 128
    rate: float = 1e-3
    hidden: int = 256
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Weights and biases of the layers; `loss` is the mean cross entropy over the dataset after training."""

    layers: tuple[tuple[Array, Array], ...]
    loss: float

    def __call__(self, rows: Array) -> Array:
        """Probabilities, one row each."""
        return _forward(self.layers, rows)[-1]


def train(inputs: Array, targets: Array, how: Training | None = None) -> Network:
    """Fit distributions over actions to inputs."""
    how = how or Training()
    rng = np.random.default_rng(how.seed)
    sizes = (inputs.shape[1], how.hidden, how.hidden, targets.shape[1])
    parts = [_layer(rng, m, n) for m, n in pairwise(sizes)]
    flat = [array for layer in parts for array in layer]
    moments = [(np.zeros_like(a), np.zeros_like(a)) for a in flat]
    for step in range(1, how.steps + 1):
        chosen = rng.integers(len(inputs), size=min(how.batch, len(inputs)))
        slopes = _slopes(parts, inputs[chosen], targets[chosen])
        for array, slope, (mean, square) in zip(flat, slopes, moments, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            array -= how.rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    layers = tuple(parts)
    guessed = _forward(layers, inputs)[-1]
    return Network(layers, float(-(targets * np.log(guessed + 1e-12)).sum(axis=1).mean()))


def _layer(rng: np.random.Generator, inputs: int, outputs: int) -> tuple[Array, Array]:
    return rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs)), np.zeros(outputs)


def _forward(layers: Sequence[tuple[Array, Array]], rows: Array) -> list[Array]:
    """The rows after every layer; the last are probabilities."""
    values = [rows]
    for weights, bias in layers[:-1]:
        values.append(np.maximum(values[-1] @ weights + bias, 0))
    weights, bias = layers[-1]
    scores = values[-1] @ weights + bias
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return [*values, scores / scores.sum(axis=1, keepdims=True)]


def _slopes(layers: Sequence[tuple[Array, Array]], rows: Array, targets: Array) -> list[Array]:
    values = _forward(layers, rows)
    back = (values[-1] - targets) / len(rows)
    found: list[Array] = []
    for index in range(len(layers) - 1, -1, -1):
        found = [values[index].T @ back, back.sum(axis=0), *found]
        back = (back @ layers[index][0].T) * (values[index] > 0)
    return found


@dataclass(frozen=True, slots=True)
class Imitation:
    """What the network gains over unguided speech on games it has not seen, beside what the solver's policy gains."""

    trained_on: int
    information_sets: int
    loss: float
    gains: tuple[float, ...]
    solver_gains: tuple[float, ...]


def imitate(games: Sequence[GameResult], held_out: int, embed: Embedding, how: Training | None = None) -> Imitation:
    """Train on all but the last `held_out` solved games and play those."""
    solved = [one.solved for one in games if one.solved is not None]
    if not 0 < held_out < len(solved):
        raise UsageError(f"--imitate {held_out}: expected 1 to {len(solved) - 1} of the {len(solved)} solved games")
    if games[0].game.domain.players != 2:
        raise UsageError("imitation needs the same actions in every game, so two speakers")
    actions = games[0].game.manners.options
    early, late = solved[:-held_out], solved[-held_out:]
    inputs = np.vstack([embed(_texts(one)) for one in early])
    network = train(inputs, np.vstack([_targets(one, actions) for one in early]), how)
    gains = tuple(_gain(one, network, embed, actions) for one in late)
    return Imitation(len(early), len(inputs), network.loss, gains, tuple(one.gain for one in late))


def _texts(solved: Solved) -> list[str]:
    """What the speaker is told and has read at every information set."""
    parts = (json.loads(infoset.key) for infoset in solved.tree.infosets)
    return [f"{role}\n{briefing}\n{situation}" for role, briefing, situation, *_ in parts]


def _targets(solved: Solved, actions: tuple[str, ...]) -> Array:
    rows = np.zeros((len(solved.tree.infosets), len(actions)))
    for index, infoset in enumerate(solved.tree.infosets):
        first = solved.tree.first_move[index]
        for k, move in enumerate(infoset.moves):
            rows[index, actions.index(move)] = solved.cfr.policy.probabilities[first + k]
    return rows


def _gain(solved: Solved, network: Network, embed: Embedding, actions: tuple[str, ...]) -> float:
    """What a speaker gains by following the network while the other stays unguided, mean over both."""
    guessed = network(embed(_texts(solved)))
    row = np.zeros_like(solved.cfr.policy.probabilities)
    for index, infoset in enumerate(solved.tree.infosets):
        chances = guessed[index, [actions.index(move) for move in infoset.moves]]
        first = solved.tree.first_move[index]
        row[first : first + len(infoset.moves)] = chances / chances.sum()
    policy = Policy(solved.tree, row)
    gains = []
    for seat, player in enumerate(solved.tree.players):
        earned = policy_value(solved.tree, mixed_policy(solved.unguided, {seat: policy}))[player]
        gains.append(earned - solved.unguided_payoffs[seat])
    return float(np.mean(gains))
