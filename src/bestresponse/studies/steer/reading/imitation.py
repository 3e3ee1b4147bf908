"""A small network that imitates equilibria: from what a speaker sees to how it should speak, without a solver.

The dataset pairs every information set of solved games with the equilibrium probabilities there. What a speaker sees
is embedded in three parts (what it was told, the last message, everything before it), so that a long briefing cannot
drown the words it has to answer. Played against unguided speakers on games that it has not seen, the network tells
whether what the solver found carries over (Gemp et al. 2024, section 5). Beside it stand

    the average    each speaker's mean equilibrium probabilities over the same training games, whatever was said
    the solver     the equilibrium of the held-out game itself, which knows the texts that it is judged on

All three are valued exactly on the recorded tree of the held-out game; only the solver has seen that tree.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.seeds import split
from bestresponse.studies.steer.playing import GameResult
from bestresponse.studies.steer.reading.embedding import Embedding
from bestresponse.studies.steer.reading.network import Marks, Network, Training, cross_entropy, train
from bestresponse.studies.steer.solving import Solved, mixed_policy
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import policy_value

__all__ = ["Earned", "Imitation", "Network", "Training", "earned", "imitate", "observation", "train"]


@dataclass(frozen=True, slots=True)
class Earned:
    """What a policy earns its speaker among unguided ones, mean over seats.

    `gain` is the payoff above that of staying unguided, `margin` the payoff above that of the others in the dialogue.
    """

    gain: float
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class Imitation:
    """What network, average and solver earn on the games held out, one entry a game; `losses` are cross entropies."""

    trained_on: int
    information_sets: int
    steps: int
    losses: tuple[float, float]
    network: tuple[Earned, ...]
    average: tuple[Earned, ...]
    solver: tuple[Earned, ...]
    policies: tuple[Policy, ...] = ()
    """The network's policy in each held-out game."""
    elsewhere: Played | None = None
    """The same on games of another domain."""

    @property
    def held_out(self) -> int:
        """The number of games that were held out."""
        return len(self.network)


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """What network, average and solver earn on some games, one entry a game, and the policies of the network there."""

    network: tuple[Earned, ...]
    average: tuple[Earned, ...]
    solver: tuple[Earned, ...]
    policies: tuple[Policy, ...]


def imitate(
    learned: Sequence[GameResult],
    held_out: Sequence[GameResult],
    embed: Embedding,
    how: Training | None = None,
    elsewhere: Sequence[GameResult] = (),
) -> Imitation:
    """Train on the solved games of `learned`, and play the solved ones of `held_out` and of another domain."""
    early, late, other = (
        [one.solved for one in some if one.solved is not None] for some in (learned, held_out, elsewhere)
    )
    if not early or not late:
        raise UsageError(
            f"imitation needs solved games to learn from and to be judged on, got {len(early)}, {len(late)}"
        )
    game = learned[0].game
    if game.domain.players != 2:
        raise UsageError("imitation needs the same actions in every game, so two speakers")
    actions, how = game.manners.options, how or Training()
    inputs = [observed(one, embed) for one in early]
    targets = [_targets(one, actions) for one in early]
    network = train(np.vstack(inputs), np.vstack(targets), how, _aside([len(rows) for rows in inputs], how.seed))
    average = _average(early, actions)

    def play(games: Sequence[Solved]) -> Played:
        policies = tuple(_policy(one, network(observed(one, embed)), actions) for one in games)
        return Played(
            tuple(earned(one, policy) for one, policy in zip(games, policies, strict=True)),
            tuple(earned(one, _policy(one, _rows(one, average), actions)) for one in games),
            tuple(Earned(one.gain, one.margin) for one in games),
            policies,
        )

    here = play(late)
    guesses = [network(observed(one, embed)) for one in late]
    return Imitation(
        len(early),
        sum(map(len, inputs)),
        network.steps,
        (
            cross_entropy(network(np.vstack(inputs)), np.vstack(targets)),
            cross_entropy(np.vstack(guesses), np.vstack([_targets(one, actions) for one in late])),
        ),
        here.network,
        here.average,
        here.solver,
        here.policies,
        play(other) if other else None,
    )


def earned(solved: Solved, policy: Policy) -> Earned:
    """What one speaker earns by following `policy` while the others stay unguided, exactly on the recorded tree."""
    gains, margins = [], []
    for seat, player in enumerate(solved.tree.players):
        values = policy_value(solved.tree, mixed_policy(solved.unguided, {seat: policy}))
        others = [values[other] for other in solved.tree.players if other != player]
        gains.append(values[player] - solved.unguided_payoffs[seat])
        margins.append(values[player] - float(np.mean(others)))
    return Earned(float(np.mean(gains)), float(np.mean(margins)))


def observation(key: str) -> tuple[str, str, str]:
    """An information set in words: what the speaker was told, the last message, and what it did and read before."""
    _, briefing, _, facts, *_ = json.loads(key)
    said = [text for _, _, text in facts["said"]]
    return briefing, said[-1] if said else "", "\n".join([*facts["own"], *said[:-1]])


def observed(solved: Solved, embed: Embedding) -> Array:
    """One row for every information set: its three parts embedded, who speaks, and how many messages were said."""
    keys = [infoset.key for infoset in solved.tree.infosets]
    parts = [embed(list(texts)) for texts in zip(*map(observation, keys), strict=True)]
    places = np.zeros((len(keys), len(solved.tree.players) + 1))
    for row, (infoset, key) in enumerate(zip(solved.tree.infosets, keys, strict=True)):
        places[row, infoset.player] = 1
        places[row, -1] = len(json.loads(key)[3]["said"])
    return np.hstack([*parts, places])


def _aside(sizes: Sequence[int], seed: int) -> Marks | None:
    """The rows of a tenth of the games, to tell when to stop; None where there is no game to spare."""
    if len(sizes) < 2:
        return None
    chosen = np.random.default_rng(split(seed, "aside")).permutation(len(sizes))[: max(1, len(sizes) // 10)]
    return np.repeat(np.isin(np.arange(len(sizes)), chosen), sizes)


def _targets(solved: Solved, actions: tuple[str, ...]) -> Array:
    rows = np.zeros((len(solved.tree.infosets), len(actions)))
    for index, infoset in enumerate(solved.tree.infosets):
        first = solved.tree.first_move[index]
        for k, move in enumerate(infoset.moves):
            rows[index, actions.index(move)] = solved.policy.probabilities[first + k]
    return rows


def _place(key: str) -> tuple[str, int]:
    """Who speaks, and after how many messages."""
    role, _, _, facts, *_ = json.loads(key)
    return role, len(facts["said"])


def _average(solved: Sequence[Solved], actions: tuple[str, ...]) -> dict[tuple[str, int], Array]:
    """The mean probabilities by who speaks after how many messages, every game counted once."""
    found: dict[tuple[str, int], list[Array]] = {}
    for one in solved:
        own: dict[tuple[str, int], list[Array]] = {}
        for infoset, row in zip(one.tree.infosets, _targets(one, actions), strict=True):
            own.setdefault(_place(infoset.key), []).append(row)
        for place, rows in own.items():
            found.setdefault(place, []).append(np.mean(rows, axis=0))
    return {place: np.mean(rows, axis=0) for place, rows in found.items()}


def _rows(solved: Solved, average: dict[tuple[str, int], Array]) -> Array:
    anywhere = np.mean(list(average.values()), axis=0)
    return np.array([average.get(_place(infoset.key), anywhere) for infoset in solved.tree.infosets])


def _policy(solved: Solved, chances: Array, actions: tuple[str, ...]) -> Policy:
    """Rows of probabilities of `actions` as a policy of the tree; moves that are not open share nothing."""
    row = np.zeros_like(solved.policy.probabilities)
    for index, infoset in enumerate(solved.tree.infosets):
        open_to = chances[index, [actions.index(move) for move in infoset.moves]] + 1e-9
        first = solved.tree.first_move[index]
        row[first : first + len(infoset.moves)] = open_to / open_to.sum()
    return Policy(solved.tree, row)
