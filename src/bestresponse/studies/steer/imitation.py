"""A small network that imitates the policies of CFR.

It leads from what a speaker knows to how it should speak, with no solver.

Every information set of the solved games becomes a row of 768 numbers, beside it the probabilities
that CFR found:

    384 numbers   what the speaker was told: its role, the task, its private information
    384 numbers   the messages so far

Each half is the embedding of a text (`building.HashedWords`, or MiniLM), of length 1, or 0 where
nothing was said yet. The network has two hidden layers of 256 rectified units and is trained by
10,000 steps of Adam on batches of 128 at a rate of 0.001, towards the least cross entropy (Gemp et
al. 2024, section 4 and appendix E). On games that it has not seen it is played against unguided
speakers, exactly on their recorded trees, and beside it

    CFR                 the policy of CFR on the held-out game itself, the only one that has seen
                        this game
    mean policy         the mean probabilities of the games learnt from, by who speaks after how
                        many messages
    nearest situation   the probabilities of the most similar situation learnt from: the largest
                        cosine of the 768

Figure 4 of the study, the game between policies, is one in which both speakers choose whom to
follow.

A run keeps the network in `network.json`, with a fingerprint of what it was trained on, so that a
report made again does not train it again.

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import gcd, prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.studies.steer.embedding import Embedding
from bestresponse.studies.steer.solving import EvaluatedPolicy, judge_policy, mixed_policy
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.theory.trees.tree import Policy

Singles = NDArray[np.float32]
Layers = tuple[tuple[Singles, Singles], ...]
Place = tuple[str, int]
"""Who speaks, and after how many messages."""

NETWORK_FILE = "network.json"
LEARNERS = ("imitation", "mean policy", "nearest situation")
"""What is learnt from other games, in the order in which it is reported."""
_MOST_WIDTH = 100_000
"""No layer of a stored network is larger; a file that says so is damaged."""
_BLOCK = (128, 32, 64)
"""Rows, inner numbers and columns of a block: OpenBLAS takes one thread up to 2^18 products."""
_WORTH_BLOCKS = 2**13
"""Below so many products a block is not worth its overhead."""
_SMALLEST = 1e-12
"""Keeps logarithms and divisions finite."""


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained; the defaults are the published ones."""

    steps: int = 10_000
    batch: int = 128
    rate: float = 1e-3
    hidden: int = 256
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PolicyNetwork:
    """Weights and biases of the layers."""

    layers: Layers

    def __call__(self, rows: Array) -> Array:
        """Return probabilities, one row for each row of numbers."""
        return np.asarray(_forward(self.layers, rows.astype(np.float32))[-1], dtype=np.float64)

    @property
    def width(self) -> int:
        """How many numbers it reads."""
        return int(self.layers[0][0].shape[0])

    def to_json(self) -> list[dict[str, object]]:
        """Return the layers as plain data, the numbers as little-endian bytes in base 64."""
        return [
            {"shape": list(weights.shape), "weights": _encode(weights), "bias": _encode(bias)}
            for weights, bias in self.layers
        ]

    @classmethod
    def from_json(cls, data: Sequence[object]) -> PolicyNetwork:
        """Return the network that `to_json` wrote; StoreError where its layers do not fit."""
        try:
            layers = tuple(_decode_layer(layer) for layer in data)
            widths = [weights.shape for weights, _ in layers]
            joints = [(before[1], after[0]) for before, after in pairwise(widths)]
            fit = all(out == into for out, into in joints)
            arrays = [array for layer in layers for array in layer]
            finite = all(np.isfinite(array).all() for array in arrays)
        except (TypeError, ValueError) as error:
            raise StoreError(f"the learnt policy cannot be read: {error}") from None
        if not layers or not fit or not finite:
            raise StoreError("the learnt policy cannot be read: its layers do not fit together")
        return cls(layers)


def _encode(array: Singles) -> str:
    raw = array.astype("<f4").tobytes()
    return b64encode(raw).decode("ascii")


def _decode_layer(layer: object) -> tuple[Singles, Singles]:
    match layer:
        case {"shape": [int(rows), int(columns)], "weights": str(weights), "bias": str(bias)}:
            pass
        case _:
            raise ValueError("a layer needs its shape, weights and bias")
    if not 0 < rows <= _MOST_WIDTH or not 0 < columns <= _MOST_WIDTH:
        raise ValueError(f"a layer of {rows} by {columns}")
    numbers = np.frombuffer(b64decode(weights, validate=True), dtype="<f4")
    offsets = np.frombuffer(b64decode(bias, validate=True), dtype="<f4")
    if len(offsets) != columns:
        raise ValueError(f"{len(offsets)} biases of {columns} units")
    return numbers.reshape(rows, columns).astype(np.float32), offsets.astype(np.float32)


def cross_entropy(guessed: Array, targets: Array) -> float:
    """Return the mean over rows of -sum target * log guess."""
    logarithms = np.log(guessed + _SMALLEST)
    by_row = (targets * logarithms).sum(axis=1)
    return float(-by_row.mean())


def train_network(inputs: Array, targets: Array, how: Training | None = None) -> PolicyNetwork:
    """Fit distributions to rows of numbers."""
    how = how or Training()
    rng = np.random.default_rng(how.seed)
    rows = inputs.astype(np.float32)
    wanted = targets.astype(np.float32)
    sizes = (rows.shape[1], how.hidden, how.hidden, wanted.shape[1])
    made = []
    for inputs_of, outputs in pairwise(sizes):
        spread = np.sqrt(2 / inputs_of)
        weights = rng.normal(0, spread, (inputs_of, outputs)).astype(np.float32)
        made.append((weights, np.zeros(outputs, dtype=np.float32)))
    layers: Layers = tuple(made)
    adam = _Adam(layers, how.rate)
    for _ in range(how.steps):
        chosen = rng.integers(len(rows), size=min(how.batch, len(rows)))
        adam.step(_find_slopes(layers, rows[chosen], wanted[chosen]))
    return PolicyNetwork(layers)


Trainer = Callable[[Array, Array, Training], PolicyNetwork]
"""Whoever makes a network of situations, the distributions wanted there, and how it is trained."""


def fingerprint(inputs: Array, targets: Array, how: Training) -> str:
    """Return what is the same only for the same data and training, to six decimals."""
    hashed = hashlib.sha256(repr((how, inputs.shape, targets.shape)).encode())
    for table in (inputs, targets):
        rounded = np.round(table * 1e6).astype("<i8")
        hashed.update(rounded.tobytes())
    return hashed.hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class KeptNetwork:
    """The network in a file, or a new one where the file is of other data or cannot be read."""

    path: Path

    def __call__(self, inputs: Array, targets: Array, how: Training) -> PolicyNetwork:
        """Return the network that was trained on this."""
        try:
            stored = parse_json(read_text_file(self.path))
            if stored["fingerprint"] == fingerprint(inputs, targets, how):
                return PolicyNetwork.from_json(stored["network"])
        except (OSError, ValueError, KeyError, TypeError, StoreError):
            pass  # it is trained again: the file only saves time
        return train_network(inputs, targets, how)


class _Adam:
    """Steps down the slopes, each weight at its own pace (Kingma & Ba 2015)."""

    def __init__(self, layers: Layers, rate: float) -> None:
        self._arrays = [array for layer in layers for array in layer]
        self._means = [np.zeros_like(array) for array in self._arrays]
        self._squares = [np.zeros_like(array) for array in self._arrays]
        self._rate = rate
        self._steps = 0

    def step(self, slopes: Sequence[Singles]) -> None:
        """Move every weight once."""
        self._steps += 1
        of_squares = np.sqrt(1 - 0.999**self._steps)
        of_means = 1 - 0.9**self._steps
        pace = self._rate * of_squares / of_means
        moved = zip(self._arrays, slopes, self._means, self._squares, strict=True)
        for array, slope, mean, square in moved:
            mean += np.float32(0.1) * (slope - mean)
            square += np.float32(0.001) * (slope * slope - square)
            array -= np.float32(pace) * mean / (np.sqrt(square) + np.float32(1e-8))


def _multiply(left: Singles, right: Singles) -> Singles:
    """Multiply two matrices in blocks that a BLAS library works out on one thread.

    So the result is the same on any number of cores, and nobody waits for cores that others keep
    busy: with threads a step took 160 ms beside other work on two cores, in blocks 30 ms.
    """
    rows, inner = left.shape
    columns = right.shape[1]
    high = gcd(rows, _BLOCK[0])
    deep = gcd(inner, _BLOCK[1])
    wide = gcd(columns, _BLOCK[2])
    fits_in_one = rows * inner * columns <= prod(_BLOCK)
    if fits_in_one or high * deep * wide < _WORTH_BLOCKS:
        return left @ right
    first = left.reshape(
        rows // high,
        1,
        high,
        inner // deep,
        deep,
    ).transpose(
        0,
        1,
        3,
        2,
        4,
    )
    second = right.reshape(
        1,
        inner // deep,
        deep,
        columns // wide,
        wide,
    ).transpose(
        0,
        3,
        1,
        2,
        4,
    )
    blocks = np.matmul(first, second).sum(axis=2)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3).reshape(rows, columns))


def _forward(layers: Layers, rows: Singles) -> list[Singles]:
    """Return the rows after every layer; the last are probabilities."""
    values = [rows]
    for weights, bias in layers[:-1]:
        sums = _multiply(values[-1], weights) + bias
        values.append(np.maximum(sums, 0))
    weights, bias = layers[-1]
    scores = values[-1] @ weights + bias
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return [*values, scores / scores.sum(axis=1, keepdims=True)]


def _find_slopes(layers: Layers, rows: Singles, targets: Singles) -> list[Singles]:
    """Return the slope of the mean cross entropy along every weight and bias, layer by layer."""
    values = _forward(layers, rows)
    back = (values[-1] - targets) / np.float32(len(rows))
    slopes: list[Singles] = []
    for index in range(len(layers) - 1, -1, -1):
        slopes = [_multiply(values[index].T, back), back.sum(axis=0), *slopes]
        if index:
            weights, _ = layers[index]
            back = _multiply(back, weights.T) * (values[index] > 0)
    return slopes


@dataclass(frozen=True, slots=True, eq=False)
class LearntGame:
    """A recorded game with its unguided policy and that of CFR."""

    unguided: Policy
    solved: EvaluatedPolicy


@dataclass(frozen=True, slots=True, eq=False)
class Imitation:
    """What was learnt, from how much, and what it earns on games that were held out.

    `trained_on` is the fingerprint of what was learnt; `losses` are the cross entropies on the
    games learnt from and on those held out; `evaluated` has for each guide one policy for each
    held-out game.
    """

    network: PolicyNetwork
    trained_on: str
    games: int
    situations: int
    losses: tuple[float, float]
    evaluated: Mapping[str, tuple[EvaluatedPolicy, ...]]
    unguided: tuple[Policy, ...]

    def network_as_json(self) -> str:
        """Return the network as the text of a file that `KeptNetwork` reads."""
        data = {"fingerprint": self.trained_on, "network": self.network.to_json()}
        return json.dumps(data) + "\n"

    def build_game(self) -> NormalForm:
        """Build the game of choosing whom to follow, from mean payoffs over held-out games.

        The payoffs are exact.
        """
        guides = {}
        for name in ("imitation", "CFR"):
            guides[name] = [one.policy for one in self.evaluated[name]]
        return build_choice_game(self.unguided, guides)


def imitate(
    learnt: Sequence[LearntGame],
    held_out: Sequence[LearntGame],
    actions: tuple[str, ...],
    embed: Embedding,
    how: Training | None = None,
    train: Trainer = train_network,
) -> Imitation:
    """Train on the games of `learnt` and play on those of `held_out`."""
    if not learnt or not held_out:
        counts = f"{len(learnt)} and {len(held_out)}"
        raise UsageError(
            f"imitation needs solved games to learn from and to be judged on, got {counts}"
        )
    if learnt[0].unguided.tree.num_players != 2:
        raise UsageError("imitation needs the same actions in every game: a domain of two speakers")
    learnt_rows = [embed_situations(list_keys(game), embed) for game in learnt]
    rows = np.vstack(learnt_rows)
    targets = np.vstack([list_targets(game.solved.policy, actions) for game in learnt])
    how = how or Training()
    network = train(rows, targets, how)
    means = _average_by_place(learnt, actions)
    anywhere = np.mean(list(means.values()), axis=0)
    seen = [embed_situations(list_keys(game), embed) for game in held_out]

    def follow_network(game: LearntGame, inputs: Array) -> Array:
        return network(inputs)

    def follow_mean(game: LearntGame, inputs: Array) -> Array:
        places = map(find_place, list_keys(game))
        return np.array([means.get(place, anywhere) for place in places])

    def follow_nearest(game: LearntGame, inputs: Array) -> Array:
        return np.asarray(targets[find_most_similar(inputs, rows)])

    def play(choose: Callable[[LearntGame, Array], Array]) -> tuple[EvaluatedPolicy, ...]:
        played = []
        for game, inputs in zip(held_out, seen, strict=True):
            policy = make_policy(game.unguided, choose(game, inputs), actions)
            played.append(judge_policy(game.unguided, policy))
        return tuple(played)

    guesses = np.vstack([network(inputs) for inputs in seen])
    wanted = np.vstack([list_targets(game.solved.policy, actions) for game in held_out])
    learners = (follow_network, follow_mean, follow_nearest)
    evaluated = {"CFR": tuple(game.solved for game in held_out)}
    for name, choose in zip(LEARNERS, learners, strict=True):
        evaluated[name] = play(choose)
    return Imitation(
        network=network,
        trained_on=fingerprint(rows, targets, how),
        games=len(learnt),
        situations=len(rows),
        losses=(cross_entropy(network(rows), targets), cross_entropy(guesses, wanted)),
        evaluated=evaluated,
        unguided=tuple(game.unguided for game in held_out),
    )


def list_keys(game: LearntGame) -> list[str]:
    """List the keys of all information sets."""
    return [infoset.key for infoset in game.unguided.tree.infosets]


def embed_situations(keys: Sequence[str], embed: Embedding) -> Array:
    """Make a row of numbers for every situation.

    It encodes what the speaker was told, and the messages so far.
    """
    told, said = zip(*map(describe_situation, keys), strict=True)
    return embed_texts(told, said, embed)


def embed_texts(told: Sequence[str], said: Sequence[str], embed: Embedding) -> Array:
    """Put the embeddings of both texts side by side, each text embedded once; silence is 0."""
    texts = list(dict.fromkeys([*told, *said]))
    vectors = dict(zip(texts, embed(texts), strict=True))

    vectors[""] = np.zeros_like(vectors[texts[0]])
    first = [vectors[text] for text in told]
    second = [vectors[text] for text in said]
    return np.hstack([first, second])


def describe_situation(key: str) -> tuple[str, str]:
    """Return what the speaker at an information set was told, and the messages so far.

    The last message comes first.

    The last message comes first because a sentence model reads only the beginning of a long text.
    """
    _, briefing, _, facts, *_ = json.loads(key)
    messages = [text for _, _, text in reversed(facts["said"])]
    return briefing, "\n".join(messages)


def find_most_similar(inputs: Array, known: Array) -> NDArray[np.int64]:
    """Return for every row the index of the most similar known one."""
    lengths = np.maximum(np.linalg.norm(known, axis=1), _SMALLEST)
    similarities = inputs @ known.T / lengths
    return np.asarray(np.argmax(similarities, axis=1), dtype=np.int64)


def list_targets(policy: Policy, actions: tuple[str, ...]) -> Array:
    """List the probabilities of all actions at every information set.

    0 for what is not open there.
    """
    tree = policy.tree
    rows = np.zeros((len(tree.infosets), len(actions)))
    for index, infoset in enumerate(tree.infosets):
        first = tree.first_move[index]
        for k, move in enumerate(infoset.moves):
            rows[index, actions.index(move)] = policy.probabilities[first + k]
    return rows


def make_policy(unguided: Policy, chances: Array, actions: tuple[str, ...]) -> Policy:
    """Make a policy of rows of probabilities.

    Where an action is not open, the others share what it had.
    """
    tree = unguided.tree
    row = np.zeros_like(unguided.probabilities)
    for index, infoset in enumerate(tree.infosets):
        columns = [actions.index(move) for move in infoset.moves]
        open_to = chances[index, columns] + _SMALLEST
        first = tree.first_move[index]
        row[first : first + len(infoset.moves)] = open_to / open_to.sum()
    return Policy(tree, row)


def find_place(key: str) -> Place:
    """Say who speaks, and after how many messages."""
    role, _, _, facts, *_ = json.loads(key)
    return role, len(facts["said"])


def _average_by_place(games: Sequence[LearntGame], actions: tuple[str, ...]) -> dict[Place, Array]:
    """Average the probabilities by who speaks after how many messages, every game counted once."""
    means: dict[Place, list[Array]] = {}
    for game in games:
        here: dict[Place, list[Array]] = {}
        targets = list_targets(game.solved.policy, actions)
        for key, row in zip(list_keys(game), targets, strict=True):
            here.setdefault(find_place(key), []).append(row)
        for place, rows in here.items():
            means.setdefault(place, []).append(np.mean(rows, axis=0))
    return {place: np.mean(rows, axis=0) for place, rows in means.items()}


def build_choice_game(
    unguided: Sequence[Policy], guides: Mapping[str, Sequence[Policy]]
) -> NormalForm:
    """Build the game in which speakers choose whom to follow.

    Its payoffs are exact on the recorded trees, and are the mean over games.
    """
    players = unguided[0].tree.players
    choices = ("unguided", *guides)
    payoffs: Array = np.zeros((len(players), *(len(choices),) * len(players)))
    for number, base in enumerate(unguided):
        for choice in product(range(len(choices)), repeat=len(players)):
            followed = {}
            for seat, k in enumerate(choice):
                if k:
                    followed[seat] = guides[choices[k]][number]
            values = policy_value(base.tree, mixed_policy(base, followed))
            for seat, player in enumerate(players):
                payoffs[seat][choice] += values[player] / len(unguided)
    return NormalForm(payoffs, players, (choices,) * len(players))
