"""The sequence form of a tree: own sequences per player, and payoffs.

Each player has a tree of own sequences, and payoffs are on pairs (tuples) of sequences.

Definition (von Stengel 1996): under perfect recall a player's sequence is the list of own moves on
the way to a node; sequence 0 is the empty one. A realization plan gives each sequence a weight: 1
to the empty one, and at each information set the weights of the moves sum to the weight of the
sequence that leads there. The expected payoff is the sum over leaves of chance probability x payoff
x the product of the players' weights; leaves with the same tuple of sequences (different draws of
chance) are merged.

B. von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior 14,
1996.

Best responses in a tree, expected payoffs, and NashConv: how far a policy is from an equilibrium.

Definition: the regret of player i at policy s is max over i's strategies of u_i(., s_-i) - u_i(s);
NashConv is the sum of the regrets over all players (Lanctot et al. 2017), 0 exactly at a Nash
equilibrium. In a two-player zero-sum game exploitability is NashConv / 2.

M. Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning", NeurIPS
2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import (
    CHANCE,
    IntArray,
    Policy,
    PolicyTable,
    Tree,
    policy_from_table,
)


@dataclass(frozen=True, slots=True, eq=False)
class Treeplex:
    """One player's sequences.

    Its information sets are ordered by level: those before the first own move, then ...

    `infosets`: their indices in the tree; `parent`: the sequence that leads to each; `first` and
    `size`: its sequences are first, ..., first + size - 1; `levels`: level k is
    infosets[levels[k]:levels[k + 1]]; `moves`: for sequences 1, 2, ... the place of the move in a
    policy's row.
    """

    infosets: IntArray
    parent: IntArray
    first: IntArray
    size: IntArray
    levels: IntArray
    moves: IntArray

    @property
    def num_sequences(self) -> int:
        """How many sequences the player has, the empty one included."""
        return len(self.moves) + 1

    def behaviour(self, policy: Policy) -> Array:
        """Return the policy's probability of each sequence's last move (1 for the empty one)."""
        return np.concatenate([[1.0], policy.probabilities[self.moves]])

    def plan(self, behaviour: Array) -> Array:
        """Return the realization plan of a behaviour."""
        plan = behaviour.copy()
        for low, high in zip(self.levels[:-1], self.levels[1:], strict=True):
            start, stop = self.span(low, high)
            plan[start:stop] *= np.repeat(plan[self.parent[low:high]], self.size[low:high])
        return plan

    def span(self, low: int, high: int) -> tuple[int, int]:
        """Return the first and one past the last sequence of information sets low to high - 1."""
        last = high - 1
        return int(self.first[low]), int(self.first[last] + self.size[last])

    def normalise(self, weights: Array) -> Array:
        """Return the behaviour proportional to `weights` at each information set.

        It is uniform if all weights are 0.
        """
        behaviour = np.ones(self.num_sequences)
        if len(self.infosets):
            positive = np.maximum(weights[1:], 0.0)
            totals = np.repeat(np.add.reduceat(positive, self.first - 1), self.size)
            uniform = np.repeat(1.0 / self.size, self.size)
            safe = np.where(totals > 0, totals, 1.0)
            behaviour[1:] = np.where(totals > 0, positive / safe, uniform)
        return behaviour


@dataclass(frozen=True, slots=True, eq=False)
class SequenceForm:
    """The sequences and payoffs of all players at merged leaves.

    `sequences[p, l]` is player p's sequence at merged leaf l, `payoffs[p, l]` its payoff times
    chance.

    `merged_leaves` says to which merged leaf each leaf of the tree belongs.
    """

    tree: Tree
    plexes: tuple[Treeplex, ...]
    sequences: IntArray
    payoffs: Array
    merged_leaves: IntArray

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return len(self.plexes)

    @property
    def num_sequences(self) -> int:
        """How many sequences of at least one move all players have."""
        return sum(plex.num_sequences - 1 for plex in self.plexes)

    def read_payoffs(self) -> list[list[Fraction]]:
        """Give `payoffs` as fractions, exact or of the numbers meant.

        They are exact if the tree is, else of the numbers that its floats mean.
        """
        merged = [[Fraction(0)] * self.payoffs.shape[1] for _ in range(self.num_players)]
        for sums, payoffs in zip(merged, read_leaves(self.tree), strict=True):
            for leaf, payoff in zip(self.merged_leaves.tolist(), payoffs, strict=True):
                sums[leaf] += payoff
        return merged

    def plans(self, policy: Policy) -> list[Array]:
        """Turn a policy into every player's realization plan."""
        return [plex.plan(plex.behaviour(policy)) for plex in self.plexes]

    def policy(self, behaviours: Sequence[Array]) -> Policy:
        """Turn every player's behaviour into a policy."""
        row = np.zeros(int(self.tree.first_move[-1]))
        for plex, behaviour in zip(self.plexes, behaviours, strict=True):
            row[plex.moves] = behaviour[1:]
        return Policy(self.tree, row)

    def values(self, player: int, plans: Sequence[Array]) -> Array:
        """Say what each sequence of `player` earns at its end leaves, given the others' plans."""
        weights = self.payoffs[player].copy()
        for other, plan in enumerate(plans):
            if other != player:
                weights *= plan[self.sequences[other]]
        return bin_sums(self.sequences[player], weights, self.plexes[player].num_sequences)

    def expected(self, plans: Sequence[Array]) -> Array:
        """Return every player's expected payoff."""
        weights = np.ones(self.sequences.shape[1])
        for plan, sequences in zip(plans, self.sequences, strict=True):
            weights *= plan[sequences]
        return self.payoffs @ weights


def bin_sums(bins: IntArray, weights: Array, length: int) -> Array:
    """Return the sum of the weights in each bin; fractions stay fractions."""
    if weights.dtype != np.object_:
        return np.asarray(np.bincount(bins, weights, length), dtype=np.float64)
    sums = np.array([Fraction(0)] * length, dtype=object)
    np.add.at(sums, bins, weights)
    return sums


def read_leaves(tree: Tree) -> list[list[Fraction]]:
    """Give every player's payoffs at the leaves times the probability of chance, as fractions."""
    reach = read_reach(tree)
    rows = []
    for leaf in tree.leaves.tolist():
        rows.append([payoff * reach[leaf] for payoff in tree.read_payoffs(leaf)])
    return [list(column) for column in zip(*rows, strict=True)]


def read_reach(tree: Tree) -> list[Fraction]:
    """Give the probability that chance alone lets the play come to each node, as fractions."""
    reach = [Fraction(1)] * tree.num_nodes
    for node, above in enumerate(tree.parent.tolist()[1:], start=1):
        reach[node] = reach[above]
        if tree.owner[above] == CHANCE:
            reach[node] *= tree.read_probability(node)
    return reach


def has_perfect_recall(tree: Tree) -> bool:
    """Say whether every information set tells its player's own earlier moves."""
    try:
        _moves_before(tree)
    except InvalidGame:
        return False
    return True


def to_sequence_form(tree: Tree) -> SequenceForm:
    """Return the sequence form of `tree`.

    InvalidGame names the information set at which a player forgets.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> [plex.num_sequences for plex in to_sequence_form(kuhn_poker()).plexes]
    [13, 13]
    """
    owner_of = np.array([infoset.player for infoset in tree.infosets], dtype=np.int64)
    before = _moves_before(tree)
    plexes = []
    numbers = []
    for player in range(tree.num_players):
        plex, number = _treeplex(tree, np.flatnonzero(owner_of == player), before)
        plexes.append(plex)
        numbers.append(number)
    sequences = []
    for player, number in enumerate(numbers):
        last = _last_move(tree, player)
        sequences.append(number[last[tree.leaves]])
    merged, inverse = np.unique(np.stack(sequences), axis=1, return_inverse=True)
    merged_leaves = inverse.ravel()
    weighted = tree.payoffs[tree.leaves] * tree.reach[tree.leaves, None]
    payoffs = [bin_sums(merged_leaves, row, merged.shape[1]) for row in weighted.T]
    return SequenceForm(
        tree=tree,
        plexes=tuple(plexes),
        sequences=np.ascontiguousarray(merged),
        payoffs=np.stack(payoffs),
        merged_leaves=merged_leaves,
    )


def _last_move(tree: Tree, player: int) -> IntArray:
    """For each node the place (in a policy's row) of the player's last move before it.

    -1 where there is none.
    """
    last = np.full(tree.num_nodes, -1, dtype=np.int64)
    for nodes in tree.levels[1:]:
        parents = tree.parent[nodes]
        moved = tree.owner[parents] == player
        entries = tree.first_move[tree.infoset[parents]] + tree.move[nodes]
        last[nodes] = np.where(moved, entries, last[parents])
    return last


def _moves_before(tree: Tree) -> IntArray:
    """For each information set, its player's last move before it.

    By perfect recall it is the same at all of its nodes.
    """
    before = np.full(len(tree.infosets), -1, dtype=np.int64)
    for player in range(tree.num_players):
        nodes = np.flatnonzero(tree.owner == player)
        last = _last_move(tree, player)[nodes]
        sets = tree.infoset[nodes]
        numbers, firsts = np.unique(sets, return_index=True)
        before[numbers] = last[firsts]
        wrong = np.flatnonzero(last != before[sets])
        if wrong.size:
            place = wrong[0]
            same_set = nodes[sets == sets[place]]
            raise _forgets(tree, int(nodes[place]), int(same_set[0]))
    return before


def _forgets(tree: Tree, node: int, first: int) -> InvalidGame:
    infoset = tree.find_infoset(node)
    return InvalidGame(
        f"no perfect recall: {tree.players[infoset.player]} has made different moves of its own"
        f" before two nodes of its information set {infoset.label!r} ({tree.path(first)};"
        f" {tree.path(node)}); expected every information set to tell its player's own earlier"
        " moves"
    )


def _treeplex(tree: Tree, infosets: IntArray, before: IntArray) -> tuple[Treeplex, IntArray]:
    """A player's treeplex, and the sequence number of each place in a policy's row.

    Place -1 is sequence 0.
    """
    sizes = np.diff(tree.first_move)
    infoset_of = np.repeat(np.arange(len(tree.infosets)), sizes)
    depth = np.zeros(len(tree.infosets), dtype=np.int64)
    # In preorder, so the information set of the move before comes first.
    for infoset in infosets.tolist():
        last = before[infoset]
        if last >= 0:
            depth[infoset] = depth[infoset_of[last]] + 1
    infosets = infosets[np.argsort(depth[infosets], kind="stable")]
    size = sizes[infosets]
    first = 1 + np.cumsum(size) - size
    sequences = np.arange(1, int(size.sum()) + 1)
    moves = np.repeat(tree.first_move[infosets] - first, size) + sequences
    number = np.zeros(int(tree.first_move[-1]) + 1, dtype=np.int64)
    number[moves] = sequences
    by_depth = np.bincount(depth[infosets])
    levels = np.cumsum([0, *by_depth], dtype=np.int64)
    return Treeplex(
        infosets=infosets,
        parent=number[before[infosets]],
        first=first,
        size=size,
        levels=levels,
        moves=moves,
    ), number


@dataclass(frozen=True, slots=True)
class TreeBestResponse:
    """A pure best response, what it earns, and the gain.

    `moves` is the response (information set label -> move), `value` what it earns, `regret` the
    gain.
    """

    player: str
    moves: dict[str, str]
    value: float
    regret: float


def policy_value(tree: Tree, policy: Policy | PolicyTable) -> dict[str, float]:
    """Return every player's expected payoff when all follow `policy`."""
    form = to_sequence_form(tree)
    values = form.expected(form.plans(_as_policy(tree, policy)))
    return dict(zip(tree.players, values.tolist(), strict=True))


def policy_regrets(tree: Tree, policy: Policy | PolicyTable) -> dict[str, float]:
    """Say what every player could gain by deviating alone from `policy`."""
    form = to_sequence_form(tree)
    regrets = plan_regrets(form, form.plans(_as_policy(tree, policy)))
    return dict(zip(tree.players, regrets.tolist(), strict=True))


def nash_conv(tree: Tree, policy: Policy | PolicyTable) -> float:
    """Return the sum of all players' regrets; 0 at a Nash equilibrium.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> from bestresponse.theory.trees.tree import uniform_policy
    >>> round(nash_conv(kuhn_poker(), uniform_policy(kuhn_poker())), 12)  # 11/12
    0.916666666667
    """
    return sum(policy_regrets(tree, policy).values())


def tree_best_response(tree: Tree, policy: Policy | PolicyTable, player: str) -> TreeBestResponse:
    """Find a pure best response of `player` to the others' policies.

    The first move among equally good ones.
    """
    if player not in tree.players:
        raise UsageError(f"{player!r} does not play; expected one of {', '.join(tree.players)}")
    index = tree.players.index(player)
    form = to_sequence_form(tree)
    plans = form.plans(_as_policy(tree, policy))
    values = find_best_values(form, index, plans)
    plex = form.plexes[index]
    moves = {}
    for infoset, first, size in zip(
        plex.infosets.tolist(), plex.first.tolist(), plex.size.tolist(), strict=True
    ):
        own = values[first : first + size]
        chosen = tree.infosets[infoset]
        moves[chosen.label] = chosen.moves[int(own.argmax())]
    value = float(values[0])
    earned = float(form.expected(plans)[index])
    return TreeBestResponse(player, moves, value, regret=max(0.0, value - earned))


def counterfactual_values(tree: Tree, policy: Policy | PolicyTable) -> dict[int, Array]:
    """Compute what each move of an information set earns if its player plays best after.

    The others follow `policy`.

    The values are weighted by how likely the others and chance let the play come to the set at all;
    where they never do, all are 0.
    """
    form = to_sequence_form(tree)
    plans = form.plans(_as_policy(tree, policy))
    by_infoset: dict[int, Array] = {}
    for player, plex in enumerate(form.plexes):
        values = find_best_values(form, player, plans)
        for infoset, first, size in zip(
            plex.infosets.tolist(), plex.first.tolist(), plex.size.tolist(), strict=True
        ):
            by_infoset[infoset] = values[first : first + size].copy()
    return by_infoset


def plan_regrets(form: SequenceForm, plans: Sequence[Array]) -> Array:
    """Return every player's regret at realization plans; rounding below 0 is cut off."""
    best = np.array(
        [best_response_value(form, player, plans) for player in range(form.num_players)]
    )
    return np.maximum(best - form.expected(plans), 0.0)


def best_response_value(form: SequenceForm, player: int, plans: Sequence[Array]) -> float:
    """Say what `player` earns at most against the others' plans."""
    return float(find_best_values(form, player, plans)[0])


def find_best_values(form: SequenceForm, player: int, plans: Sequence[Array]) -> Array:
    """Say what every own sequence earns when all later own moves are best.

    This takes one pass, last level first.
    """
    values = form.values(player, plans)
    plex = form.plexes[player]
    for level in range(len(plex.levels) - 2, -1, -1):
        low = int(plex.levels[level])
        high = int(plex.levels[level + 1])
        start, stop = plex.span(low, high)
        best = np.maximum.reduceat(values[start:stop], plex.first[low:high] - start)
        values += bin_sums(plex.parent[low:high], best, len(values))
    return values


def _as_policy(tree: Tree, policy: Policy | PolicyTable) -> Policy:
    return policy if isinstance(policy, Policy) else policy_from_table(tree, policy)
