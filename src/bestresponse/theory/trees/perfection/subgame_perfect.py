"""Subgame perfect equilibria: by backward induction, or subgame by subgame where moves are hidden.

Subgame perfect equilibria of trees with perfect information, ties included.

Definition (Selten 1965): a strategy profile that is a Nash equilibrium in every subgame. With
perfect information backward induction finds the pure ones: at each node its owner takes a best
branch. Where branches tie, each choice gives its own equilibria, and they are counted exactly:
every node keeps how many equilibria of its subgame lead to each payoff vector. Ties are exact too:
payoffs and probabilities are taken as the rationals that were given, floats as those they stand for
(0.1 as 1/10, 0.333... as 1/3).

R. Selten, "Spieltheoretische Behandlung eines Oligopolmodells mit Nachfrageträgheit", Z. f. d.
gesamte Staatswissenschaft 121, 1965.

The subgame that begins at a node of a tree, as a tree of its own.

Definition (Selten 1965): a node and all that comes after it, where no information set has nodes
both inside and outside. With perfect information every inner node begins one.

Subgame perfect equilibria of trees with hidden or simultaneous moves, mixed ones included.

A node begins a subgame when no information set has nodes both below it and elsewhere (Selten 1965).
Subgames are solved from the last to the first: those inside one are replaced by what their
equilibria earn, and of what is left, every equilibrium of the reduced normal form is taken. Each
choice of equilibria inside gives equilibria of its own.

With two players the equilibria of every such part are its extreme ones, with more those that `nash`
finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from operator import mul

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.normal_form import find_behaviour, to_normal_form
from bestresponse.theory.trees.tree import (
    CHANCE,
    LEAF,
    IntArray,
    Leaf,
    Policy,
    Tree,
    TreeLike,
    as_tree,
    build_tree,
)


def cut_subgame(tree: Tree, node: int) -> Tree:
    """Return the tree below `node`, with the players, moves and labels of the whole.

    >>> from bestresponse.theory.catalogue.trees import centipede
    >>> cut_subgame(centipede(), 2)
    Tree('centipede', players=['player 1', 'player 2'], 7 nodes, 4 leaves, 3 information sets)
    """
    if node not in find_subgames(tree):
        raise InvalidGame(
            f"{tree.name or 'the tree'} hides moves: no subgame begins at {tree.path(node)}"
        )
    return build_tree(tree.players, node, tree.describe, name=tree.name)


Payoffs = tuple[Fraction, ...]
Earned = tuple[Fraction | float, ...]

_COMBINATIONS = 100_000


@dataclass(frozen=True, slots=True)
class SubgamePerfectEquilibrium:
    """One pure equilibrium: each player's move at every own information set, and what it earns."""

    moves: dict[str, dict[str, str]]
    payoffs: dict[str, float]
    exact: dict[str, Fraction] | None


@dataclass(frozen=True, slots=True)
class SubgamePerfect:
    """All pure subgame perfect equilibria (`count` of them) if they are few, else the first one
    alone.

    `outcomes` holds every payoff vector that one of them reaches, in any case.
    """

    count: int
    equilibria: tuple[SubgamePerfectEquilibrium, ...]
    outcomes: tuple[dict[str, float], ...]

    @property
    def complete(self) -> bool:
        """Whether all of them are listed."""
        return self.count == len(self.equilibria)


def subgame_perfect(game: TreeLike, limit: int = 1000) -> SubgamePerfect:
    """Backward induction; lists all pure equilibria if there are at most `limit`, else the first
    and their number.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> subgame_perfect(load_tree("entry-deterrence")).equilibria[0].moves
    {'entrant': {'market': 'in'}, 'incumbent': {'entry': 'share'}}
    """
    tree = as_tree(game)
    if not tree.is_perfect_information:
        sizes = np.bincount(tree.infoset[tree.infoset >= 0])
        infoset = tree.infosets[int(np.argmax(sizes))]
        raise InvalidGame(
            f"{tree.name or 'the tree'} has an information set of {int(sizes.max())} nodes"
            f" ({infoset.label!r} of {tree.players[infoset.player]}); backward induction needs"
            " perfect information"
        )
    reachable = _count(tree)
    count = sum(reachable[0].values())
    listed = count if count <= limit else 1
    solved, _, _ = _solve_backwards(tree, listed)
    equilibria = tuple(_describe_pure(tree, solution) for solution in solved)
    outcomes = tuple(_named(tree, payoffs) for payoffs in sorted(reachable[0], reverse=True))
    return SubgamePerfect(count, equilibria, outcomes)


def _count(tree: Tree) -> list[dict[Payoffs, int]]:
    """For each node: the payoff vectors of its subgame's equilibria, and how many equilibria give
    each."""
    tables: list[dict[Payoffs, int]] = [{} for _ in range(tree.num_nodes)]
    for node in range(tree.num_nodes - 1, -1, -1):
        owner = int(tree.owner[node])
        below = [tables[child] for child in tree.children[node]]
        if owner == LEAF:
            tables[node] = {tree.read_payoffs(node): 1}
        elif owner == CHANCE:
            tables[node] = _drawn(tree, node, below)
        else:
            tables[node] = _chosen(owner, below)
    return tables


def _chosen(owner: int, below: list[dict[Payoffs, int]]) -> dict[Payoffs, int]:
    """A move and its payoffs are best in all profiles in which every other branch gives the owner
    no more."""
    least = max(min(payoffs[owner] for payoffs in table) for table in below)
    values = sorted(
        {payoffs[owner] for table in below for payoffs in table if payoffs[owner] >= least},
        reverse=True,
    )
    counts: dict[Payoffs, int] = {}
    for value in values:
        no_more = [
            sum(ways for payoffs, ways in table.items() if payoffs[owner] <= value)
            for table in below
        ]
        profiles = math.prod(no_more)
        for table, allowed in zip(below, no_more, strict=True):
            for payoffs, ways in table.items():
                if payoffs[owner] == value:
                    counts[payoffs] = counts.get(payoffs, 0) + ways * (profiles // allowed)
    return counts


def _drawn(tree: Tree, node: int, below: list[dict[Payoffs, int]]) -> dict[Payoffs, int]:
    """The mean payoffs of every combination of the branches' equilibria."""
    combined: dict[Payoffs, int] = {(Fraction(0),) * tree.num_players: 1}
    for child, table in zip(tree.children[node], below, strict=True):
        if len(combined) * len(table) > _COMBINATIONS:
            raise TooLarge(
                f"the ties below {tree.path(node)} combine in more than {_COMBINATIONS} ways"
            )
        share = tree.read_probability(child)
        sums: dict[Payoffs, int] = {}
        for (before, many), (payoffs, ways) in product(combined.items(), table.items()):
            total = tuple(sum_ + share * u for sum_, u in zip(before, payoffs, strict=True))
            sums[total] = sums.get(total, 0) + many * ways
        combined = sums
    return combined


def _describe_pure(tree: Tree, solution: _Solution) -> SubgamePerfectEquilibrium:
    moves: dict[str, dict[str, str]] = {player: {} for player in tree.players}
    for index, infoset in enumerate(tree.infosets):
        moves[tree.players[infoset.player]][infoset.label] = infoset.moves[
            int(solution.choices[index].argmax())
        ]
    exact = {player: Fraction(u) for player, u in zip(tree.players, solution.payoffs, strict=True)}
    return SubgamePerfectEquilibrium(
        moves, _named(tree, solution.payoffs), exact if tree.is_exact else None
    )


def _named(tree: Tree, payoffs: Earned) -> dict[str, float]:
    return dict(zip(tree.players, map(float, payoffs), strict=True))


_PART_LIMIT = 20_000
"""Earned of the reduced normal form of one part."""
_TIE = 1e-12
"""Of payoffs that are not known exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class SubgameEquilibria:
    """Subgame perfect equilibria: their policies and what they earn.

    `complete` says that every part was solved completely and no combination was left out, up to the
    sets that extreme equilibria span. It is False where a tie inside could be mixed so that
    somebody above becomes indifferent: those equilibria are not listed.
    """

    policies: tuple[Policy, ...]
    payoffs: tuple[Array, ...]
    num_subgames: int
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """What an equilibrium of a subgame earns, and its probabilities by information set."""

    payoffs: Earned
    choices: dict[int, Array]


def find_subgames(tree: Tree) -> IntArray:
    """Find the nodes that begin subgames, in preorder; leaves do not count.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> find_subgames(load_tree("kuhn-poker")).tolist()
    [0]
    """
    nodes = np.arange(tree.num_nodes)
    first = np.full(len(tree.infosets) + 1, tree.num_nodes)
    last = np.full(len(tree.infosets) + 1, -1)
    np.minimum.at(first, tree.infoset, nodes)
    np.maximum.at(last, tree.infoset, nodes)
    # where no player moves
    first[-1] = tree.num_nodes
    last[-1] = -1
    low = first[tree.infoset]
    high = last[tree.infoset]
    end = nodes + 1
    for node in range(tree.num_nodes - 1, 0, -1):
        above = int(tree.parent[node])
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
        end[above] = max(end[above], end[node])
    return np.asarray(
        np.flatnonzero((tree.owner != LEAF) & (low >= nodes) & (high < end)), dtype=np.int64
    )


def solve_subgames(tree: Tree, limit: int = 200) -> SubgameEquilibria:
    """Find subgame perfect equilibria, at most `limit`; TooLarge where a part between subgames is
    too large to solve.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> found = solve_subgames(load_tree("entry-deterrence"))
    >>> found.policies[0].at("entrant", "market"), found.complete
    ({'out': 0.0, 'in': 1.0}, True)
    """
    solved, subgames, complete = _solve_backwards(tree, limit)
    policies = []
    for solution in solved:
        row = np.zeros(int(tree.first_move[-1]))
        for infoset, mix in solution.choices.items():
            row[tree.first_move[infoset] : tree.first_move[infoset + 1]] = mix
        policies.append(Policy(tree, row))
    payoffs = tuple(np.array(solution.payoffs, np.float64) for solution in solved)
    return SubgameEquilibria(tuple(policies), payoffs, subgames, complete)


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """Equilibria of a subgame, and whether they are all.

    `varies` says that equilibria can be mixed into others which earn something else, as after a
    tie: those in between are not listed.
    """

    solutions: list[_Solution]
    complete: bool
    varies: bool = False


def _solve_backwards(tree: Tree, limit: int) -> tuple[list[_Solution], int, bool]:
    """Solve subgames from the last to the first: solutions, the number of subgames, and whether
    they are all."""
    roots = find_subgames(tree)
    solved: dict[int, _Solved] = {}
    for root in reversed(roots.tolist()):
        solved[root] = _solve_part(tree, root, solved, limit)
    if not len(roots):
        return [_Solution(tree.read_payoffs(0), {})], 0, True
    complete = all(part.complete for part in solved.values())
    return solved[0].solutions, len(roots), complete


def _solve_part(tree: Tree, root: int, solved: dict[int, _Solved], limit: int) -> _Solved:
    """Solve what lies between `root` and the subgames inside, for every combination of their
    equilibria."""
    inside = _find_inside(tree, root, solved)
    inside_varies = any(solved[node].varies for node in inside)
    solutions: list[_Solution] = []
    answers: set[tuple[tuple[int, bytes], ...]] = set()
    complete = True
    varies = inside_varies
    combinations = product(*(solved[node].solutions for node in inside))
    for chosen in combinations:
        fixed = dict(zip(inside, chosen, strict=True))
        below = {key: mix for solution in chosen for key, mix in solution.choices.items()}
        top = _solve_top(tree, root, fixed)
        complete = complete and top.complete
        varies = varies or top.varies
        for part in top.solutions:
            solutions.append(_Solution(part.payoffs, below | part.choices))
        moves = [
            (key, mix.tobytes()) for part in top.solutions for key, mix in part.choices.items()
        ]
        answers.add(tuple(moves))
        if len(solutions) >= limit:
            # At the limit nothing is left out only if it is met exactly and no combination is still
            # to be tried.
            is_last = not any(True for _ in islice(combinations, 1))
            complete = complete and len(solutions) == limit and is_last
            break
    # Payoffs are linear in how a tie is mixed: a single mover's best moves stay best in between
    # where they are the same at both ends. Of a part with several movers that is not known.
    is_single = all(node in solved or tree.owner[node] == LEAF for node in tree.children[root])
    if inside_varies and not (is_single and len(answers) == 1):
        complete = False
    return _Solved(solutions[:limit], complete, varies)


def _find_inside(tree: Tree, root: int, solved: dict[int, _Solved]) -> list[int]:
    """The largest subgames properly inside the one at `root`."""
    inside = []
    waiting = list(tree.children[root])
    while waiting:
        node = waiting.pop()
        if node in solved:
            inside.append(node)
        else:
            waiting += tree.children[node]
    return sorted(inside)


def _solve_top(tree: Tree, root: int, fixed: dict[int, _Solution]) -> _Solved:
    """Solve the part below `root` where subgames inside earn what is given."""
    below = tree.children[root]
    owner = int(tree.owner[root])
    if all(node in fixed or tree.owner[node] == LEAF for node in below):
        # Where everything is seen, ties are exact: floats are taken as the simplest fractions they
        # can stand for.
        sure = tree.is_perfect_information
        read = tree.read_payoffs if sure else tree.list_payoffs
        earned = [fixed[node].payoffs if node in fixed else read(node) for node in below]
        if owner == CHANCE:
            weights = [
                tree.read_probability(node) if sure else tree.find_probability(node)
                for node in below
            ]
            means = tuple(sum(map(mul, weights, u)) for u in zip(*earned, strict=True))
            return _Solved([_Solution(means, {})], complete=True)
        best = list(_choose_best(tree, root, owner, earned))
        varies = any(solution.payoffs != best[0].payoffs for solution in best)
        return _Solved(best, complete=True, varies=varies)
    solved = {node: Leaf(solution.payoffs) for node, solution in fixed.items() if node != root}
    part = build_tree(
        tree.players, root, lambda node: solved.get(node) or tree.describe(node), name=tree.name
    )
    try:
        table = to_normal_form(part, limit=_PART_LIMIT)
    except TooLarge as error:
        raise TooLarge(
            f"the part of the tree below {tree.path(root)} is too large to be solved: {error}"
        ) from None
    result = nash(table)
    indices = [
        tree.infoset_index[tree.players[infoset.player], infoset.label] for infoset in part.infosets
    ]
    solutions = []
    for e in result.equilibria:
        policy = find_behaviour(part, e.strategies)
        rows = np.split(policy.probabilities, part.first_move[1:-1])
        solutions.append(
            _Solution(
                e.exact_payoffs or tuple(e.payoffs.tolist()), dict(zip(indices, rows, strict=True))
            )
        )
    mixes = any(e.in_continuum for e in result.equilibria)
    varies = mixes and any(solution.payoffs != solutions[0].payoffs for solution in solutions)
    return _Solved(solutions, result.complete, varies)


def _choose_best(tree: Tree, node: int, owner: int, earned: list[Earned]) -> Iterator[_Solution]:
    """One solution for every best move of a node where all is seen."""
    best = max(u[owner] for u in earned)
    for move, payoffs in enumerate(earned):
        loss = best - payoffs[owner]
        if loss == 0 or (
            isinstance(loss, float) and loss <= _TIE * float(np.abs(tree.payoffs).max())
        ):
            yield _Solution(payoffs, {int(tree.infoset[node]): np.eye(len(earned))[move]})
