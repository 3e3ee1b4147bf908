"""One dialogue game solved: advice, certificate, and earnings beside unguided talk.

Two policies are worked out on the recorded tree, without a further call:

    cfr          the average policy of counterfactual regret minimisation after so many iterations,
                 as in the published study; near an equilibrium as far as its NashConv says, and
                 uniform where it never leads
    credible     sequentially rational: at every information set, reached or not, no other move
                 earns more against the policy itself, whatever was said before

    loss         at an information set: what its speaker could still gain by another move there, the
                 others and all later moves as advised. Beliefs about what is hidden are those of a
                 talk in which everybody errs with probability 1 in a million at every move, as in a
                 sequential equilibrium (Kreps and Wilson 1982)
    NashConv     what all speakers together could gain by deviating alone (0 at an equilibrium)
    gain         what a speaker gains by switching from the unguided manner to the policy while the
                 others stay unguided, mean over speakers; of the policy of CFR it is the published
                 study's "CFR gain"
    margin       what the guided speaker earns minus what the unguided others earn on average in the
                 same dialogue, mean over the seats of the guided one
    won          the share of dialogues in which the guided speaker earns most, a tie for half, mean
                 over its seats

D. Kreps and R. Wilson, "Sequential equilibria", Econometrica 50, 1982.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, TypedDict, get_args

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.games.dialogue.game import RecordedDialogue
from bestresponse.report.frames import Value, ValueColumn, column
from bestresponse.studies.steer.config import PolicyName, Variant
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees import sequence_form
from bestresponse.theory.trees.cfr import cfr
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.mccfr import mccfr_tree
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.tree import IntArray, Policy, Tree, uniform_policy

_ERROR = 1e-6
"""How often a move goes wrong in the talk that beliefs are taken from: rare against every stated
probability."""
_TIE = 1e-9
"""Moves whose worth differs by less, as a share of the range of payoffs, are equally good."""
_PASSES = 40
"""Replies settle from the last message to the first, one a pass; more than this go round in a
circle."""
_MATCHES = 2_000
"""Steps of regret matching where replies go round in a circle: the loss is then below 1 % of the
range."""
_MOST_SEQUENCES = 200
"""Up to this size an exact sequential equilibrium takes about a second."""


class GuidanceMetrics(TypedDict, total=False):
    """Every metric of an evaluation, in the order of the columns."""

    gain: ValueColumn
    """what a speaker gains from guidance while the others stay unguided, mean over speakers"""
    margin: ValueColumn
    """how much more the guided speaker earns than the unguided ones in the same dialogue"""
    relative_gain: Annotated[Value, column("guided earns more by", ".1%")]
    """the gain as a share of what unguided speakers earn"""
    won: Annotated[Value, column("dialogues won", ".3f")]
    """share of dialogues in which the guided speaker earns most; a tie counts as half"""
    cfr_gain: Annotated[Value, column("CFR gain", ".3f")]
    """the gain of the policy of counterfactual regret minimisation after the iterations of the
    run"""
    credible_gain: ValueColumn
    """the gain of the policy that is a best reply in every situation"""
    best_reply_gain: Annotated[Value, column("best reply", ".3f")]
    """what best replies to unguided partners gain, in equilibrium or not"""
    loss: Annotated[Value, column("largest loss", ".4f")]
    """the largest loss from a recommendation, as a share of the payoff range"""
    cfr_nash_conv: Annotated[Value, column("NashConv of CFR", ".3f")]
    """sum over speakers of the gain from a unilateral deviation from the policy of counterfactual
    regret minimisation"""
    nash_conv: Annotated[Value, column("NashConv of the policy", ".3f")]
    """sum over speakers of the gain from a unilateral deviation; 0 at an equilibrium"""
    unguided_nash_conv: Annotated[Value, column("NashConv of unguided talk", ".3f")]
    """sum over speakers of the gain from a unilateral deviation; 0 at an equilibrium"""


@dataclass(frozen=True, slots=True, eq=False)
class Earned:
    """What a policy earns its speaker among unguided ones: by seat, and as means over seats.

    See above.
    """

    payoffs: tuple[float, ...]
    gain: float
    margin: float
    won: float


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPolicy:
    """A policy, what all speakers together could gain by leaving it, and what it earns."""

    policy: Policy
    nash_conv: float
    earned: Earned


@dataclass(frozen=True, slots=True, eq=False)
class SolvedDialogue:
    """A solved dialogue; payoffs are by seat, in the order of the players.

    `policies` are all that were worked out and `policy` the one that is followed; `losses` is what
    that loses at each information set as a share of the range of payoffs.
    """

    tree: Tree
    unguided: Policy
    policies: Mapping[PolicyName, EvaluatedPolicy]
    policy: Policy
    losses: Array
    unguided_payoffs: tuple[float, ...]
    guided_payoffs: tuple[float, ...]
    equilibrium_payoffs: tuple[float, ...]
    metrics: GuidanceMetrics


def solve_dialogue(
    game: RecordedDialogue,
    iterations: int = 1000,
    *,
    follow: PolicyName = "credible",
    variant: Variant = "cfr+",
) -> SolvedDialogue:
    """Solve the recorded tree and compare the policy that is followed with unguided talk."""
    tree = compile_game(game)
    return find_guidance(
        unguided_policy(game, tree),
        iterations,
        follow=follow,
        variant=variant,
    )


def find_guidance(
    unguided: Policy,
    iterations: int = 1000,
    *,
    follow: PolicyName = "credible",
    variant: Variant = "cfr+",
) -> SolvedDialogue:
    """Solve the tree of `unguided` and compare the policy that is followed with it."""
    if follow not in get_args(PolicyName):
        expected = ", ".join(get_args(PolicyName))
        raise UsageError(f"{follow!r} is not a policy that is computed; expected one of {expected}")
    tree = unguided.tree
    policies: dict[PolicyName, EvaluatedPolicy] = {
        "cfr": judge_policy(unguided, learn_policy(tree, iterations, variant)),
        "credible": judge_policy(unguided, find_credible_policy(unguided)),
    }
    chosen = policies[follow]
    before = tuple(sequence_form.policy_value(tree, unguided).values())
    losses = find_losses(chosen.policy)
    conv = sequence_form.nash_conv(tree, unguided)
    metrics = GuidanceMetrics(
        gain=chosen.earned.gain,
        margin=chosen.earned.margin,
        relative_gain=compare_earnings(chosen.earned.payoffs, before),
        won=chosen.earned.won,
        cfr_gain=policies["cfr"].earned.gain,
        credible_gain=policies["credible"].earned.gain,
        best_reply_gain=conv / tree.num_players,
        loss=float(losses.max()),
        cfr_nash_conv=policies["cfr"].nash_conv,
        nash_conv=chosen.nash_conv,
        unguided_nash_conv=conv,
    )
    return SolvedDialogue(
        tree=tree,
        unguided=unguided,
        policies=policies,
        policy=chosen.policy,
        losses=losses,
        unguided_payoffs=before,
        guided_payoffs=chosen.earned.payoffs,
        equilibrium_payoffs=tuple(sequence_form.policy_value(tree, chosen.policy).values()),
        metrics=metrics,
    )


def judge_policy(unguided: Policy, policy: Policy) -> EvaluatedPolicy:
    """Say how far a policy is from an equilibrium, and what it earns among unguided speakers."""
    conv = sequence_form.nash_conv(policy.tree, policy)
    return EvaluatedPolicy(policy, conv, evaluate_policy(unguided, policy))


def learn_policy(tree: Tree, iterations: int, variant: Variant) -> Policy:
    """Return the average policy of so many iterations of regret minimisation.

    Samples have the seed 0.
    """
    if variant == "external-sampling":
        return mccfr_tree(tree, iterations=iterations)
    return cfr(tree, iterations, variant).policy


def compare_earnings(guided: Sequence[float], unguided: Sequence[float]) -> float | None:
    """Say by which share the guided earn more than the unguided; None where those earn nothing."""
    if sum(unguided) <= 0:
        return None
    ratio = np.mean(guided) / np.mean(unguided)
    return float(ratio) - 1


def evaluate_policy(unguided: Policy, policy: Policy) -> Earned:
    """Say what one speaker earns by following `policy` while the others stay unguided.

    This is exact on the tree.
    """
    tree = policy.tree
    before = tuple(sequence_form.policy_value(tree, unguided).values())
    payoffs = []
    margins = []
    wins = []
    ends = tree.payoffs[tree.leaves]
    for seat in range(len(tree.players)):
        guided = mixed_policy(unguided, {seat: policy})
        values = tuple(sequence_form.policy_value(tree, guided).values())
        payoffs.append(values[seat])
        of_others = np.delete(values, seat)
        margins.append(values[seat] - float(np.mean(of_others)))

        best_other = np.delete(ends, seat, axis=1).max(axis=1)
        won = (np.sign(ends[:, seat] - best_other) + 1) / 2
        chances = find_reach(guided)[tree.leaves]
        wins.append(float(chances @ won))
    gain = float(np.mean(np.subtract(payoffs, before)))
    return Earned(tuple(payoffs), gain, float(np.mean(margins)), float(np.mean(wins)))


def find_credible_policy(unguided: Policy) -> Policy:
    """Find a sequentially rational policy.

    Among equally good moves it takes those that suit unguided partners.

    Where best replies settle, every loss is 0. Which of several equally good replies a speaker
    gives decides what others do before, so three ways are tried: any, the one that is best for the
    others, the one that is worst for them.
    """
    tree = unguided.tree
    settled = []
    for kindness in (0, 1, -1):
        row = _settle_replies(unguided, kindness)
        if row is not None:
            settled.append(Policy(tree, row))
    if settled:
        return max(settled, key=lambda policy: evaluate_policy(unguided, policy).gain)

    mixed = [Policy(tree, _match_regrets(tree))]
    if tree.num_players == 2:
        sequences = sequence_form.to_sequence_form(tree).num_sequences
        if sequences <= _MOST_SEQUENCES:
            mixed.append(find_sequential(tree).policy)

    def find_sure_gain(policy: Policy) -> float:
        # What is gained by an error is none: regret matching ends near an equilibrium, not at it.
        gain = evaluate_policy(unguided, policy).gain
        return gain - sequence_form.nash_conv(tree, policy)

    return max(mixed, key=find_sure_gain)


def _settle_replies(unguided: Policy, kindness: int) -> Array | None:
    """Let everybody reply best at every information set until nobody changes.

    Returns None where that never ends.
    """
    tree = unguided.tree
    row = unguided.probabilities
    scale = _find_scale(tree)
    welfare = tree.payoffs.sum(axis=1, keepdims=True) - tree.payoffs
    for _ in range(_PASSES):
        worth = _value_moves(tree, row, row, tree.payoffs) / scale
        among_unguided = (
            _value_moves(
                tree,
                row,
                unguided.probabilities,
                tree.payoffs,
            )
            / scale
        )
        to_others = _value_moves(tree, row, row, welfare) / scale
        best = np.maximum.reduceat(worth, tree.first_move[:-1])
        best_there = np.repeat(best, np.diff(tree.first_move))
        tied = worth >= best_there - _TIE
        # The worth to others counts so little that it only decides where everything else is equal.
        suits = np.round(among_unguided + 1e-6 * kindness * to_others, 9)
        score = np.where(tied, suits, -np.inf)
        replies = np.zeros_like(row)
        for first, last in pairwise(tree.first_move.tolist()):
            chosen = first + int(np.argmax(score[first:last]))
            replies[chosen] = 1.0
        if np.array_equal(replies, row):
            return row
        row = replies
    return None


def _find_scale(tree: Tree) -> float:
    """Return the range of all payoffs, 1 where there is none."""
    return float(np.ptp(tree.payoffs[tree.leaves])) or 1.0


def _match_regrets(tree: Tree) -> Array:
    """Let every information set match its regrets, and return the average behaviour.

    Each set matches them at its own beliefs.
    """
    starts = tree.first_move[:-1]
    sizes = np.diff(tree.first_move)
    uniform = uniform_policy(tree).probabilities

    def normalise(weights: Array) -> Array:
        totals = np.repeat(np.add.reduceat(weights, starts), sizes)
        known = totals > 0
        shares = weights / np.where(known, totals, 1.0)
        return np.where(known, shares, uniform)

    regrets = np.zeros(int(tree.first_move[-1]))
    total = np.zeros_like(regrets)
    for step in range(1, _MATCHES + 1):
        row = normalise(regrets)
        worth = _value_moves(tree, row, row, tree.payoffs)
        expected = np.repeat(np.add.reduceat(row * worth, starts), sizes)
        regrets = np.maximum(regrets + worth - expected, 0.0)
        total += step * row
    return normalise(total)


def find_losses(policy: Policy) -> Array:
    """Compute what the policy loses at every information set, as a share of the range of payoffs.

    See above.
    """
    tree = policy.tree
    row = policy.probabilities
    worth = _value_moves(tree, row, row, tree.payoffs) / _find_scale(tree)
    starts = tree.first_move[:-1]
    best = np.maximum.reduceat(worth, starts)
    expected = np.add.reduceat(row * worth, starts)
    return np.asarray(best - expected)


def _value_moves(tree: Tree, row: Array, others: Array, payoffs: Array) -> Array:
    """Compute what each move is worth at its place.

    Its player goes on as `row` says, everybody else as `others`.

    `payoffs` has a column for each player; nodes of an information set are weighted by how likely
    errors of `others` lead there.
    """
    moves = _index_moves(tree)
    shaken = (1 - _ERROR) * others + _ERROR * uniform_policy(tree).probabilities
    worth = np.zeros(len(row))
    for player in range(tree.num_players):
        by_player = (moves >= 0) & (tree.owner[tree.parent] == player)
        played = np.where(by_player, row[moves], others[moves])
        chances = np.where(moves < 0, tree.probability, played)
        by_others = np.where(by_player, 1.0, shaken[moves])
        reach = np.where(moves < 0, tree.probability, by_others)
        for nodes in tree.levels[1:]:
            reach[nodes] *= reach[tree.parent[nodes]]
        values = payoffs[:, player].copy()
        for nodes in tree.levels[:0:-1]:
            np.add.at(values, tree.parent[nodes], chances[nodes] * values[nodes])
        decides = np.flatnonzero(tree.owner == player)
        totals = np.bincount(tree.infoset[decides], reach[decides], len(tree.infosets))
        made = np.flatnonzero(by_player)
        above = tree.parent[made]
        beliefs = reach[above] / totals[tree.infoset[above]]
        np.add.at(worth, moves[made], beliefs * values[made])
    return worth


def value_moves(policy: Policy, others: Policy) -> Array:
    """Compute what each move earns its player at its place.

    The player goes on by `policy` among players of `others`.
    """
    tree = policy.tree
    return _value_moves(tree, policy.probabilities, others.probabilities, tree.payoffs)


def _index_moves(tree: Tree) -> IntArray:
    """Find for each node the index (in a policy's row) of the move that leads to it.

    -1 where no player moved.
    """
    deciding = tree.infoset[tree.parent]
    moves = np.where(deciding >= 0, tree.first_move[deciding] + tree.move, -1)
    moves[0] = -1
    return moves


def find_reach(policy: Policy) -> Array:
    """Return how likely each node is when all follow `policy`, chance included."""
    tree = policy.tree
    moves = _index_moves(policy.tree)
    reach = np.where(moves < 0, tree.probability, policy.probabilities[moves])
    for nodes in tree.levels[1:]:
        reach[nodes] *= reach[tree.parent[nodes]]
    return np.asarray(reach)


def unguided_policy(game: RecordedDialogue, tree: Tree) -> Policy:
    """Always the neutral manner, the addressee by chance.

    Any choice where no neutral one is on record.
    """
    row = np.zeros(int(tree.first_move[-1]))
    for index, infoset in enumerate(tree.infosets):
        neutral = game.live.neutral(infoset.player)
        chosen = [k for k, move in enumerate(infoset.moves) if move in neutral]
        if not chosen:
            chosen = list(range(len(infoset.moves)))
        row[tree.first_move[index] + np.array(chosen)] = 1 / len(chosen)
    return Policy(tree, row)


def mixed_policy(base: Policy, others: Mapping[int, Policy]) -> Policy:
    """Return `base` with the seats of `others` following their own policies."""
    row = base.probabilities.copy()
    for index, infoset in enumerate(base.tree.infosets):
        if infoset.player in others:
            part = slice(base.tree.first_move[index], base.tree.first_move[index + 1])
            row[part] = others[infoset.player].probabilities[part]
    return Policy(base.tree, row)
