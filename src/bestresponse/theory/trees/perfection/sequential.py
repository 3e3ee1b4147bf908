"""A sequential equilibrium of a two-player tree, with its beliefs, as the exact limit of small mistakes.

In the perturbed game every sequence of k own moves has a weight of at least eps^k. Limits of its equilibria are
quasi-perfect (van Damme 1984), hence sequential (Kreps and Wilson 1982), hence subgame perfect and Nash. The perturbed
game is a linear complementarity problem over realization plans in which eps stands on the right side only (Miltersen
and Sorensen 2010): a ratio test that compares polynomials by their lowest powers solves it for all small eps at once.

Certificate: at every information set, reached or not, what its player could still gain by changing its move there,
given the beliefs. Policy, beliefs and gains are computed in rationals, and the gains must be exactly 0.

P. Miltersen and T. Sorensen, "Computing a quasi-perfect equilibrium of a two-player game", Economic Theory 42, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from operator import add

import numpy as np

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.theory.games.normal_form import Array, Rationals
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import SequenceForm, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_for_small, write_problem
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

_MOST_SEQUENCES = 400
"""Of both players: 200 take seconds, this many up to about a minute."""

Term = tuple[int, Fraction]
"""The lowest power of eps in a polynomial, and its coefficient."""


@dataclass(frozen=True, slots=True, eq=False)
class SequentialEquilibrium:
    """A policy, for every node the belief in it at its information set, and the certificate; see above.

    `exact` are the probabilities of the policy as fractions: of the payoffs as given, or of the simplest fractions
    that their floats can stand for; `exact_beliefs` are the beliefs as fractions.
    """

    policy: Policy
    payoffs: dict[str, float]
    gap: float
    exact: tuple[Fraction, ...]
    exact_beliefs: tuple[Fraction, ...]

    @property
    def beliefs(self) -> Array:
        """For every node the belief in it at its information set, 1 where no player moves."""
        return np.array(self.exact_beliefs, dtype=np.float64)


def find_sequential(tree: Tree) -> SequentialEquilibrium:
    """Find one sequential equilibrium of two players; TooLarge where they have more than 400 sequences of moves.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> entry = find_sequential(load_tree("entry-deterrence"))
    >>> entry.policy.at("incumbent", "entry")["share"], entry.payoffs, entry.gap
    (1.0, {'entrant': 2.0, 'incumbent': 2.0}, 0.0)
    """
    if tree.num_players != 2:
        raise InvalidGame(f"sequential equilibria are computed for two players; this tree has {tree.num_players}")
    form = to_sequence_form(tree)
    if form.num_sequences > _MOST_SEQUENCES:
        raise TooLarge(
            f"the players have {form.num_sequences} sequences of moves, more than the {_MOST_SEQUENCES} for which "
            "sequential equilibria are computed; solve_subgames finds subgame perfect ones"
        )
    plans = _solve_perturbed(form)
    moves = [Fraction(0)] * int(tree.first_move[-1])
    for plex, plan in zip(form.plexes, plans, strict=True):
        before = np.repeat(plex.parent, plex.size).tolist()
        for move, (power, weight), above in zip(plex.moves.tolist(), plan[1:], before, strict=True):
            if power == plan[above][0]:
                moves[move] = weight / plan[above][1]
    beliefs = _find_beliefs(form, plans)
    gap = max(find_gaps(tree, moves, beliefs), default=Fraction(0))
    if gap > 0:
        raise NotCertified(f"the limit of small mistakes leaves a gain of {float(gap):.3g}: it is no equilibrium")
    policy = Policy(tree, np.array(moves, dtype=np.float64))
    payoffs = dict(zip(tree.players, form.expected(form.plans(policy)).tolist(), strict=True))
    return SequentialEquilibrium(policy, payoffs, float(gap), tuple(moves), tuple(beliefs))


def _solve_perturbed(form: SequenceForm) -> list[list[Term]]:
    """Find the lowest terms of both players' realization plans in an equilibrium of the perturbed game."""
    row, col = (_read_whole(form, payoffs) for payoffs in form.read_payoffs())
    problem = write_problem(form, (row, col.T), max(len(plex.levels) for plex in form.plexes))
    unknowns, slacks = solve_for_small(problem.matrix.tolist(), problem.cover.tolist(), problem.right.tolist())
    rows = zip(problem.is_first.tolist(), unknowns, slacks, np.concatenate(problem.floors).tolist(), strict=True)
    weights = [map(add, slack if first else unknown, floor) for first, unknown, slack, floor in rows]
    terms = [next((power, Fraction(u)) for power, u in enumerate(weight) if u) for weight in weights]
    count = form.plexes[0].num_sequences
    return [terms[:count], terms[count:]]


def _read_whole(form: SequenceForm, payoffs: Sequence[Fraction]) -> Rationals:
    """Give payoffs by both players' sequences in whole multiples of a unit."""
    unit = lcm(*(u.denominator for u in payoffs))
    table = np.zeros([plex.num_sequences for plex in form.plexes], dtype=object)
    table[tuple(form.sequences)] = [int(u * unit) for u in payoffs]
    return table


def _find_beliefs(form: SequenceForm, plans: Sequence[Sequence[Term]]) -> list[Fraction]:
    """Find the limit of the probability of every node given its information set; 1 where no player moves."""
    tree = form.tree
    terms = [
        dict(zip(plex.moves.tolist(), plan[1:], strict=True)) for plex, plan in zip(form.plexes, plans, strict=True)
    ]
    # By node: the lowest term of each player's plan on the way to it, and the probability of chance.
    ways: list[tuple[Term, Term, Fraction]] = [((0, Fraction(1)), (0, Fraction(1)), Fraction(1))]
    for node in range(1, tree.num_nodes):
        above = int(tree.parent[node])
        owner, (first, second, chance) = int(tree.owner[above]), ways[above]
        if owner == CHANCE:
            ways.append((first, second, chance * tree.read_probability(node)))
            continue
        term = terms[owner][int(tree.first_move[tree.infoset[above]] + tree.move[node])]
        ways.append((term, second, chance) if owner == 0 else (first, term, chance))
    beliefs = [Fraction(1)] * tree.num_nodes
    for index, infoset in enumerate(tree.infosets):
        nodes = np.flatnonzero(tree.infoset == index).tolist()
        likely = [node for node in nodes if ways[node][2] > 0]
        if not likely:
            raise NotCertified(
                f"{tree.players[infoset.player]}'s information set {infoset.label!r} is reached only by draws of "
                "chance that have probability 0: no belief follows there"
            )
        lowest = min(ways[node][0][0] + ways[node][1][0] for node in likely)
        weights = [
            first[1] * second[1] * chance * (first[0] + second[0] == lowest)
            for first, second, chance in (ways[node] for node in nodes)
        ]
        for node, weight in zip(nodes, weights, strict=True):
            beliefs[node] = weight / sum(weights)
    return beliefs


def find_gaps(tree: Tree, policy: Sequence[Fraction], beliefs: Sequence[Fraction]) -> list[Fraction]:
    """Compute at every information set what the best move earns more than the policy, given the beliefs."""
    values = [(Fraction(0),) * tree.num_players] * tree.num_nodes
    earned = [Fraction(0)] * len(policy)
    for node in range(tree.num_nodes - 1, -1, -1):
        owner, below = int(tree.owner[node]), tree.children[node]
        if owner == LEAF:
            values[node] = tree.read_payoffs(node)
            continue
        first = 0 if owner == CHANCE else int(tree.first_move[tree.infoset[node]])
        weights = [tree.read_probability(k) for k in below] if owner == CHANCE else policy[first : first + len(below)]
        values[node] = tuple(
            sum((p * values[k][player] for p, k in zip(weights, below, strict=True)), Fraction(0))
            for player in range(tree.num_players)
        )
        if owner != CHANCE:
            for move, k in enumerate(below, start=first):
                earned[move] += beliefs[node] * values[k][owner]
    spans = [slice(*span) for span in zip(tree.first_move[:-1].tolist(), tree.first_move[1:].tolist(), strict=True)]
    expected = [sum(map(prod, zip(policy[span], earned[span], strict=True)), Fraction(0)) for span in spans]
    return [max(earned[span]) - mean for span, mean in zip(spans, expected, strict=True)]
