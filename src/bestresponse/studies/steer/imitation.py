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
from bestresponse.studies.steer.embedding import Embedding
from bestresponse.studies.steer.network import Training, cross_entropy, train_network
from bestresponse.studies.steer.solving import Earned, SolvedDialogue, evaluate_policy
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """What network, average and solver earn on some games, one entry a game, and the policies of the network there."""

    network: tuple[Earned, ...]
    average: tuple[Earned, ...]
    solver: tuple[Earned, ...]
    policies: tuple[Policy, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Imitation:
    """What was learned from how much, and what it earns on the games held out and on those of another domain.

    `losses` are the cross entropies on the games learned from and on those held out.
    """

    trained_on: int
    information_sets: int
    steps: int
    losses: tuple[float, float]
    held_out: Evaluated
    elsewhere: Evaluated | None = None


def imitate(
    learned: Sequence[SolvedDialogue],
    held_out: Sequence[SolvedDialogue],
    actions: tuple[str, ...],
    embed: Embedding,
    how: Training | None = None,
    elsewhere: Sequence[SolvedDialogue] = (),
) -> Imitation:
    """Train on the games of `learned`, and play those of `held_out` and of another domain."""
    if not learned or not held_out:
        counts = f"{len(learned)}, {len(held_out)}"
        raise UsageError(f"imitation needs solved games to learn from and to be judged on, got {counts}")
    if learned[0].tree.num_players != 2:
        raise UsageError("imitation needs the same actions in every game, so two speakers")
    how = how or Training()
    inputs = [_embed_situations(solved, embed) for solved in learned]
    targets = [_list_targets(solved, actions) for solved in learned]
    aside = None
    if len(learned) > 1:  # a tenth of the games tells when to stop
        order = np.random.default_rng(split(how.seed, "aside")).permutation(len(learned))
        chosen = order[: max(1, len(learned) // 10)]
        aside = np.repeat(np.isin(np.arange(len(learned)), chosen), [len(rows) for rows in inputs])
    network = train_network(np.vstack(inputs), np.vstack(targets), how, aside)
    average = _average_games(learned, targets)

    def play(games: Sequence[SolvedDialogue]) -> Evaluated:
        anywhere = np.mean(list(average.values()), axis=0)
        policies = [_make_policy(solved, network(_embed_situations(solved, embed)), actions) for solved in games]
        means = [np.array([average.get(_place(one.key), anywhere) for one in solved.tree.infosets]) for solved in games]
        plain = [_make_policy(solved, rows, actions) for solved, rows in zip(games, means, strict=True)]
        return Evaluated(
            tuple(evaluate_policy(solved.unguided, policy) for solved, policy in zip(games, policies, strict=True)),
            tuple(evaluate_policy(solved.unguided, policy) for solved, policy in zip(games, plain, strict=True)),
            tuple(solved.earned for solved in games),
            tuple(policies),
        )

    guesses = np.vstack([network(_embed_situations(solved, embed)) for solved in held_out])
    wanted = np.vstack([_list_targets(solved, actions) for solved in held_out])
    return Imitation(
        len(learned),
        sum(map(len, inputs)),
        network.steps,
        (cross_entropy(network(np.vstack(inputs)), np.vstack(targets)), cross_entropy(guesses, wanted)),
        play(held_out),
        play(elsewhere) if elsewhere else None,
    )


def observation(key: str) -> tuple[str, str, str]:
    """Put an information set in words: what the speaker was told, the last message, and what was before it."""
    _, briefing, _, facts, *_ = json.loads(key)
    said = [text for _, _, text in facts["said"]]
    return briefing, said[-1] if said else "", "\n".join([*facts["own"], *said[:-1]])


def _embed_situations(solved: SolvedDialogue, embed: Embedding) -> Array:
    """Make a row for every information set: its three parts embedded, who speaks, and after how many messages."""
    infosets = solved.tree.infosets
    parts = [embed(list(texts)) for texts in zip(*(observation(infoset.key) for infoset in infosets), strict=True)]
    places = np.zeros((len(infosets), len(solved.tree.players) + 1))
    for row, infoset in zip(places, infosets, strict=True):
        row[infoset.player] = 1
        row[-1] = _place(infoset.key)[1]
    return np.hstack([*parts, places])


def _list_targets(solved: SolvedDialogue, actions: tuple[str, ...]) -> Array:
    rows = np.zeros((len(solved.tree.infosets), len(actions)))
    for index, infoset in enumerate(solved.tree.infosets):
        first = solved.tree.first_move[index]
        for k, move in enumerate(infoset.moves):
            rows[index, actions.index(move)] = solved.policy.probabilities[first + k]
    return rows


def _place(key: str) -> tuple[str, int]:
    """Say who speaks, and after how many messages."""
    role, _, _, facts, *_ = json.loads(key)
    return role, len(facts["said"])


def _average_games(games: Sequence[SolvedDialogue], targets: Sequence[Array]) -> dict[tuple[str, int], Array]:
    """Average the probabilities by who speaks after how many messages, every game counted once."""
    means: dict[tuple[str, int], list[Array]] = {}
    for solved, probabilities in zip(games, targets, strict=True):
        here: dict[tuple[str, int], list[Array]] = {}
        for infoset, row in zip(solved.tree.infosets, probabilities, strict=True):
            here.setdefault(_place(infoset.key), []).append(row)
        for place, rows in here.items():
            means.setdefault(place, []).append(np.mean(rows, axis=0))
    return {place: np.mean(rows, axis=0) for place, rows in means.items()}


def _make_policy(solved: SolvedDialogue, chances: Array, actions: tuple[str, ...]) -> Policy:
    """Make a policy of rows of probabilities of `actions`; moves that are not open share nothing."""
    row = np.zeros_like(solved.policy.probabilities)
    for index, infoset in enumerate(solved.tree.infosets):
        open_to = chances[index, [actions.index(move) for move in infoset.moves]] + 1e-9
        first = solved.tree.first_move[index]
        row[first : first + len(infoset.moves)] = open_to / open_to.sum()
    return Policy(solved.tree, row)
