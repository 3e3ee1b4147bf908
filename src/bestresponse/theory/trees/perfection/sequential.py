"""A sequential equilibrium of a tree, with its beliefs, as the exact limit of small mistakes.

Every move has a lowest term in eps: w * eps^k, with k = 0 for what is played and k > 0 for
mistakes. The limit of what these terms say of the nodes of an information set is a consistent
belief (Kreps and Wilson 1982).

Two players: in the perturbed game every sequence of k own moves has a weight of at least eps^k.
Limits of its equilibria are quasi-perfect (van Damme 1984), hence sequential, hence subgame perfect
and Nash. The perturbed game is a linear complementarity problem over realization plans in which eps
is on the right side only (Miltersen and Sorensen 2010): a ratio test that compares polynomials
by their lowest powers solves it for all small eps at once.

More players: subgames are solved from the last to the first, those inside one replaced by what they
earn; an equilibrium that is sequential in every part is sequential. A part in which at most two
players have a choice is solved as above. Otherwise single moves are changed for better ones, with
drawn orders of mistakes, until none is left to change, which finds pure equilibria. Where that
fails, it is said: nothing is returned that the certificate does not cover.

Certificate: at every information set, reached or not, what its player could still gain by changing
its move there, given the beliefs. Policy, beliefs and gains are computed in rationals, and the
gains must be exactly 0.

P. Miltersen and T. Sorensen, "Computing a quasi-perfect equilibrium of a two-player game", Economic
Theory 42, 2010.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from operator import add, mul
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.games.normal_form import Array, Rationals
from bestresponse.theory.trees.perfection.subgame_perfect import find_subgames, subgame_perfect
from bestresponse.theory.trees.sequence_form import SequenceForm, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import solve_for_small, write_problem
from bestresponse.theory.trees.tree import (
    CHANCE,
    LEAF,
    Chance,
    Leaf,
    Policy,
    Tree,
    Turn,
    as_tree,
    build_tree,
)

_MOST_SEQUENCES = 400
"""Of both players: 200 take seconds, this many up to about a minute."""

_SECONDS = 120.0  # twice what the largest tree allowed takes on a quiet machine
_PURE_TRIES = 60
_PURE_STEPS = 3
"""Changes of a pure policy for every information set, before another one is drawn."""
_MOST_MISTAKES = 3
"""The highest power of eps with which a drawn mistake is made."""


class Term(NamedTuple):
    """The lowest power of eps in what a move or a plan is made with, and its coefficient."""

    power: Fraction
    weight: Fraction


_SURE = Term(Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True, eq=False)
class SequentialEquilibrium:
    """A policy, for every node the belief in it at its information set, and the certificate.

    See above.

    `exact` are the probabilities of the policy as fractions: of the payoffs as given, or of the
    simplest fractions that their floats can stand for; `exact_beliefs` are the beliefs as
    fractions.
    """

    policy: Policy
    payoffs: dict[str, float]
    gap: float
    exact: tuple[Fraction, ...]
    exact_beliefs: tuple[Fraction, ...]
    method: str

    @property
    def beliefs(self) -> Array:
        """For every node the belief in it at its information set, 1 where no player moves."""
        return np.array(self.exact_beliefs, dtype=np.float64)


def find_sequential(tree: Tree | str | Path, *, seconds: float = _SECONDS) -> SequentialEquilibrium:
    """Find one sequential equilibrium.

    NotCertified where none could be proved to be one within `seconds`, TooLarge for large trees.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> entry = find_sequential(load_tree("entry-deterrence"))
    >>> entry.policy.at("incumbent", "entry")["share"], entry.payoffs, entry.gap
    (1.0, {'entrant': 2.0, 'incumbent': 2.0}, 0.0)
    """
    tree = as_tree(tree)
    deadline = Deadline.after(seconds)
    form = to_sequence_form(tree)
    if form.num_sequences > _MOST_SEQUENCES:
        raise TooLarge(
            f"the players have {form.num_sequences} sequences of moves, more than the"
            f" {_MOST_SEQUENCES} for which sequential equilibria are computed; solve_subgames finds"
            " subgame perfect ones"
        )
    if tree.num_players == 2:
        method = "quasi-perfect, sequence-form LCP"
        assessment = _certify(tree, [_solve_perturbed(form, deadline)])
    elif tree.is_perfect_information:
        method = "backward induction"
        assessment = _certify(tree, _induce_backward(tree))
    else:
        method = "subgame by subgame"
        assessment = _certify(tree, [_solve_parts(tree, deadline)])
    policy = Policy(tree, np.array(assessment.moves, dtype=np.float64))
    expected = form.expected(form.plans(policy)).tolist()
    return SequentialEquilibrium(
        policy=policy,
        payoffs=dict(zip(tree.players, expected, strict=True)),
        gap=0.0,
        exact=tuple(assessment.moves),
        exact_beliefs=tuple(assessment.beliefs),
        method=f"exact limit of small mistakes ({method})",
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Assessment:
    """The lowest terms of all moves, and the policy and beliefs that follow from them."""

    terms: list[Term]
    moves: list[Fraction]
    beliefs: list[Fraction]


def _certify(tree: Tree, candidates: Iterable[list[Term]]) -> _Assessment:
    """Give the first candidate that leaves nobody anything to gain.

    NotCertified where there is none.
    """
    for terms in candidates:
        beliefs = _find_beliefs(tree, terms)
        moves = _list_played(terms)
        if max(find_gaps(tree, moves, beliefs), default=Fraction(0)) == 0:
            return _Assessment(terms, moves, beliefs)
    raise NotCertified(
        "no limit of small mistakes could be proved to be a sequential equilibrium: those of more"
        " than two players are found only where they are pure; solve_subgames finds subgame perfect"
        " ones"
    )


def _list_played(terms: Sequence[Term]) -> list[Fraction]:
    """Give the probability of every move in the limit, in which mistakes are not made."""
    return [term.weight if term.power == 0 else Fraction(0) for term in terms]


def _solve_parts(tree: Tree, deadline: Deadline) -> list[Term]:
    """Solve subgames from last to first, those inside replaced by what they earn."""
    terms = [_SURE] * int(tree.first_move[-1])
    earned: dict[int, tuple[Fraction, ...]] = {}
    for root in reversed(find_subgames(tree).tolist()):
        part = _cut_part(tree, root, earned)
        found = _certify(part, _list_candidates(part, deadline))
        _carry_terms(part, found.terms, tree, terms)
        earned[root] = _find_values(part, found.moves)[0]
    return terms


def _carry_terms(
    part: Tree,
    found: Sequence[Term],
    whole: Tree,
    terms: list[Term],
) -> None:
    """Write the terms of a part's moves over those of the same information sets of the whole."""
    for index, infoset in enumerate(part.infosets):
        place = whole.infoset_index[part.players[infoset.player], infoset.key]
        low, high = part.first_move[index : index + 2]
        first, last = whole.first_move[place : place + 2]
        terms[first:last] = found[low:high]


def _cut_part(tree: Tree, root: int, earned: dict[int, tuple[Fraction, ...]]) -> Tree:
    """Build the tree between a node and the subgames inside, which earn what is given."""

    def expand(node: int) -> Leaf | Chance | Turn:
        if node in earned:
            return Leaf(earned[node])
        if tree.owner[node] == LEAF:
            return Leaf(tree.read_payoffs(node))
        return tree.describe(node)

    return build_tree(tree.players, root, expand, name=tree.name)


def _list_candidates(part: Tree, deadline: Deadline) -> Iterator[list[Term]]:
    """Guess the terms of one part, by what is surest first."""
    choosing = {infoset.player for infoset in part.infosets if len(infoset.moves) > 1}
    if len(choosing) > 2:
        yield from _improve_pure(part, deadline)
        return
    others = [player for player in range(part.num_players) if player not in choosing]
    missing = 2 - len(choosing)
    pair = sorted([*choosing, *others[:missing]])
    restricted = _restrict(part, pair)
    found = _solve_perturbed(to_sequence_form(restricted), deadline)
    terms = [_SURE] * int(part.first_move[-1])
    _carry_terms(restricted, found, part, terms)
    yield terms


def _restrict(tree: Tree, players: list[int]) -> Tree:
    """Leave some players alone with each other.

    All others have one move wherever they move, which becomes a sure draw.
    """

    def expand(node: int) -> Leaf | Chance | Turn:
        if tree.owner[node] == LEAF:
            payoffs = tree.read_payoffs(node)
            return Leaf([payoffs[player] for player in players])
        owner = int(tree.owner[node])
        if owner != CHANCE and owner not in players:
            child = tree.children[node][0]
            return Chance({tree.branch_labels[child]: (1, child)})
        return tree.describe(node)

    return build_tree([tree.players[player] for player in players], 0, expand)


def _improve_pure(tree: Tree, deadline: Deadline) -> Iterator[list[Term]]:
    """Change single moves for better ones until none is left.

    The search starts from drawn policies and orders of mistakes.
    """
    rng = Random(0)
    count = int(tree.first_move[-1])
    spans = [range(low, high) for low, high in pairwise(tree.first_move.tolist())]
    for _ in range(_PURE_TRIES):
        powers = [rng.randint(1, _MOST_MISTAKES) for _ in range(count)]
        chosen = list(map(rng.choice, spans))
        for _ in range(_PURE_STEPS * len(spans)):
            deadline.check("a sequential equilibrium")
            terms = [Term(Fraction(power), Fraction(1)) for power in powers]
            for move in chosen:
                terms[move] = _SURE
            moves = _list_played(terms)
            earned = _earn_moves(tree, moves, _find_beliefs(tree, terms))
            better = []
            for k, span in enumerate(spans):
                best = max(span, key=earned.__getitem__)
                if earned[best] > earned[chosen[k]]:
                    better.append((k, best))
            if not better:
                yield terms
                break
            changed, best = rng.choice(better)
            chosen[changed] = best


def _induce_backward(tree: Tree) -> Iterator[list[Term]]:
    """Give a subgame perfect equilibrium; where everything is seen, every mistake will do."""
    best = subgame_perfect(tree, limit=1).equilibria[0].moves
    terms = []
    for infoset in tree.infosets:
        played = best[tree.players[infoset.player]][infoset.label]
        for move in infoset.moves:
            terms.append(_SURE if move == played else Term(Fraction(1), Fraction(1)))
    yield terms


def _solve_perturbed(form: SequenceForm, deadline: Deadline) -> list[Term]:
    """Find the lowest terms of all moves of two players in an equilibrium of the perturbed game."""
    row, col = (_read_whole(form, payoffs) for payoffs in form.read_payoffs())
    degree = max(len(plex.levels) for plex in form.plexes)
    problem = write_problem(form, (row, col.T), degree)
    unknowns, slacks = solve_for_small(
        matrix=problem.matrix.tolist(),
        cover=problem.cover.tolist(),
        right=problem.right.tolist(),
        deadline=deadline,
    )
    floors = np.concatenate(problem.floors).tolist()
    terms = []
    for k, floor in enumerate(floors):
        added = slacks[k] if problem.is_first[k] else unknowns[k]
        weight = list(map(add, added, floor))
        lowest = next(power for power, coefficient in enumerate(weight) if coefficient)
        terms.append(Term(Fraction(lowest), Fraction(weight[lowest])))
    count = form.plexes[0].num_sequences
    moves: dict[int, Term] = {}
    for plex, plan in zip(form.plexes, (terms[:count], terms[count:]), strict=True):
        parents = np.repeat(plex.parent, plex.size).tolist()
        for move, here, parent in zip(plex.moves.tolist(), plan[1:], parents, strict=True):
            above = plan[parent]
            moves[move] = Term(here.power - above.power, here.weight / above.weight)
    return [moves[move] for move in range(len(moves))]


def _read_whole(form: SequenceForm, payoffs: Sequence[Fraction]) -> Rationals:
    """Give payoffs by both players' sequences in whole multiples of a unit."""
    unit = lcm(*(u.denominator for u in payoffs))
    table = np.zeros([plex.num_sequences for plex in form.plexes], dtype=object)
    table[tuple(form.sequences)] = [int(u * unit) for u in payoffs]
    return table


def _find_beliefs(tree: Tree, terms: Sequence[Term]) -> list[Fraction]:
    """Find the limit of the probability of every node given its information set.

    1 where no player moves.
    """
    ways = [_SURE]
    for node in range(1, tree.num_nodes):
        above = int(tree.parent[node])
        if int(tree.owner[above]) == CHANCE:
            term = Term(Fraction(0), tree.read_probability(node))
        else:
            first = tree.first_move[tree.infoset[above]]
            term = terms[int(first + tree.move[node])]
        before = ways[above]
        ways.append(Term(before.power + term.power, before.weight * term.weight))
    beliefs = [Fraction(1)] * tree.num_nodes
    for index, infoset in enumerate(tree.infosets):
        nodes = np.flatnonzero(tree.infoset == index).tolist()
        lowest = min((ways[node].power for node in nodes if ways[node].weight), default=None)
        if lowest is None:
            raise NotCertified(
                f"{tree.players[infoset.player]}'s information set {infoset.label!r} is reached"
                " only by draws of chance that have probability 0: no belief follows there"
            )
        weights = [ways[node].weight * (ways[node].power == lowest) for node in nodes]
        total = sum(weights)
        for node, weight in zip(nodes, weights, strict=True):
            beliefs[node] = weight / total
    return beliefs


def find_gaps(
    tree: Tree,
    policy: Sequence[Fraction],
    beliefs: Sequence[Fraction],
) -> list[Fraction]:
    """Compute what the best move earns more than the policy, given the beliefs.

    This is done at every information set.
    """
    earned = _earn_moves(tree, policy, beliefs)
    gaps = []
    for low, high in pairwise(tree.first_move.tolist()):
        mean = sum(map(mul, policy[low:high], earned[low:high]), Fraction(0))
        gaps.append(max(earned[low:high]) - mean)
    return gaps


def _earn_moves(
    tree: Tree,
    policy: Sequence[Fraction],
    beliefs: Sequence[Fraction],
) -> list[Fraction]:
    """Compute what every move earns its player, given the beliefs at its information set."""
    values = _find_values(tree, policy)
    earned = [Fraction(0)] * len(policy)
    for node in np.flatnonzero(tree.infoset >= 0).tolist():
        owner = int(tree.owner[node])
        first = int(tree.first_move[tree.infoset[node]])
        for move, child in enumerate(tree.children[node], start=first):
            earned[move] += beliefs[node] * values[child][owner]
    return earned


def _find_values(tree: Tree, policy: Sequence[Fraction]) -> list[tuple[Fraction, ...]]:
    """Compute what the policy earns everybody from every node on."""
    values = [(Fraction(0),) * tree.num_players] * tree.num_nodes
    for node in range(tree.num_nodes - 1, -1, -1):
        owner = int(tree.owner[node])
        below = tree.children[node]
        if owner == LEAF:
            values[node] = tree.read_payoffs(node)
            continue
        if owner == CHANCE:
            weights = list(map(tree.read_probability, below))
        else:
            first = int(tree.first_move[tree.infoset[node]])
            weights = list(policy[first : first + len(below)])
        totals = [Fraction(0)] * tree.num_players
        for weight, child in zip(weights, below, strict=True):
            if weight:
                totals = [u + weight * v for u, v in zip(totals, values[child], strict=True)]
        values[node] = tuple(totals)
    return values
