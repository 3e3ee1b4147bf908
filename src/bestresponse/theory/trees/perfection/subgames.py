"""Subgame perfect equilibria of trees with hidden or simultaneous moves, mixed ones included.

A node begins a subgame when no information set has nodes both below it and elsewhere (Selten 1965). Subgames are solved
from the last to the first: those inside one are replaced by what their equilibria earn, and of what is left, every
equilibrium of the reduced normal form is taken. Each choice of equilibria inside gives equilibria of its own.

With two players the equilibria of every such part are its extreme ones, with more those that `nash` finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from operator import mul

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.build import Chance, Leaf, Turn, build_tree
from bestresponse.theory.trees.normal_form import find_behaviour, to_normal_form
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.tree import CHANCE, LEAF, IntArray, Tree

__all__ = ["SubgameEquilibria", "find_subgames", "solve_subgames"]

_PART_LIMIT = 20_000
"""Payoffs of the reduced normal form of one part."""
_TIE = 1e-12
"""Of payoffs that are not known exactly."""

Payoffs = tuple[Fraction | float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SubgameEquilibria:
    """Subgame perfect equilibria: their policies and what they earn; `complete` says that every part was solved
    completely and no combination was left out, up to the sets that extreme equilibria span."""

    policies: tuple[Policy, ...]
    payoffs: tuple[Array, ...]
    num_subgames: int
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """What an equilibrium of a subgame earns, and its probabilities by information set."""

    payoffs: Payoffs
    choices: dict[int, Array]


def find_subgames(tree: Tree) -> IntArray:
    """Find the nodes that begin subgames, in preorder; leaves do not count.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> find_subgames(load_tree("kuhn-poker")).tolist()
    [0]
    """
    nodes = np.arange(tree.num_nodes)
    first, last = np.full(len(tree.infosets) + 1, tree.num_nodes), np.full(len(tree.infosets) + 1, -1)
    np.minimum.at(first, tree.infoset, nodes)
    np.maximum.at(last, tree.infoset, nodes)
    first[-1], last[-1] = tree.num_nodes, -1  # where no player moves
    low, high, end = first[tree.infoset], last[tree.infoset], nodes + 1
    for node in range(tree.num_nodes - 1, 0, -1):
        above = int(tree.parent[node])
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
        end[above] = max(end[above], end[node])
    return np.asarray(np.flatnonzero((tree.owner != LEAF) & (low >= nodes) & (high < end)), dtype=np.int64)


def solve_subgames(tree: Tree, limit: int = 200) -> SubgameEquilibria:
    """Find subgame perfect equilibria, at most `limit`; TooLarge where a part between subgames is too large to solve.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> found = solve_subgames(load_tree("entry-deterrence"))
    >>> found.policies[0].at("entrant", "market"), found.complete
    ({'out': 0.0, 'in': 1.0}, True)
    """
    roots = find_subgames(tree)
    solved: dict[int, list[_Solution]] = {}
    complete = True
    for root in reversed(roots.tolist()):
        solved[root], whole = _solve_part(tree, root, solved, limit)
        complete = complete and whole
    if not len(roots):
        solved[0] = [_Solution(tree.list_payoffs(0), {})]
    policies = tuple(_as_policy(tree, one) for one in solved[0])
    return SubgameEquilibria(
        policies, tuple(np.array(one.payoffs, np.float64) for one in solved[0]), len(roots), complete
    )


def _as_policy(tree: Tree, solution: _Solution) -> Policy:
    row = np.zeros(int(tree.first_move[-1]))
    for infoset, mix in solution.choices.items():
        row[tree.first_move[infoset] : tree.first_move[infoset + 1]] = mix
    return Policy(tree, row)


def _solve_part(tree: Tree, root: int, solved: dict[int, list[_Solution]], limit: int) -> tuple[list[_Solution], bool]:
    """Solve what lies between `root` and the subgames inside, for every combination of their equilibria."""
    inside = _find_inside(tree, root, solved)
    found: list[_Solution] = []
    complete = True
    combinations = product(*(solved[node] for node in inside))
    for chosen in combinations:
        given = dict(zip(inside, chosen, strict=True))
        below = {key: mix for one in chosen for key, mix in one.choices.items()}
        parts, whole = _solve_top(tree, root, given)
        complete = complete and whole
        found += [_Solution(part.payoffs, below | part.choices) for part in parts]
        if len(found) >= limit:
            complete = complete and len(found) == limit and not any(True for _ in islice(combinations, 1))
            break
    return found[:limit], complete


def _find_inside(tree: Tree, root: int, solved: dict[int, list[_Solution]]) -> list[int]:
    """The largest subgames properly inside the one at `root`."""
    inside, waiting = [], list(tree.children[root])
    while waiting:
        node = waiting.pop()
        if node in solved:
            inside.append(node)
        else:
            waiting += tree.children[node]
    return sorted(inside)


def _solve_top(tree: Tree, root: int, given: dict[int, _Solution]) -> tuple[list[_Solution], bool]:
    """Solve the part below `root` where subgames inside earn what is given."""
    below = tree.children[root]
    owner = int(tree.owner[root])
    if all(node in given or tree.owner[node] == LEAF for node in below):
        earned = [given[node].payoffs if node in given else tree.list_payoffs(node) for node in below]
        if owner == CHANCE:
            weights = [tree.find_probability(node) for node in below]
            return [_Solution(tuple(sum(map(mul, weights, own)) for own in zip(*earned, strict=True)), {})], True
        return list(_choose_best(tree, root, owner, earned)), True
    part = build_tree(tree.players, root, lambda node: _expand(tree, node, root, given), name=tree.name)
    try:
        table = to_normal_form(part, limit=_PART_LIMIT)
    except TooLarge as error:
        raise TooLarge(f"the part of the tree below {tree.path(root)} is too large to be solved: {error}") from None
    result = nash(table)
    places = [tree.infoset_index[tree.players[one.player], one.label] for one in part.infosets]
    found = []
    for e in result.equilibria:
        policy = find_behaviour(part, e.strategies)
        rows = np.split(policy.probabilities, part.first_move[1:-1])
        found.append(_Solution(e.exact_payoffs or tuple(e.payoffs.tolist()), dict(zip(places, rows, strict=True))))
    return found, result.complete


def _choose_best(tree: Tree, node: int, owner: int, earned: list[Payoffs]) -> Iterator[_Solution]:
    """One solution for every best move of a node where all is seen."""
    best = max(u[owner] for u in earned)
    for move, payoffs in enumerate(earned):
        loss = best - payoffs[owner]
        if loss == 0 or (isinstance(loss, float) and loss <= _TIE * max(1.0, abs(float(best)))):
            yield _Solution(payoffs, {int(tree.infoset[node]): np.eye(len(earned))[move]})


def _expand(tree: Tree, node: int, root: int, given: dict[int, _Solution]) -> Leaf | Chance | Turn:
    if node != root and node in given:
        return Leaf(given[node].payoffs)
    owner, below = int(tree.owner[node]), tree.children[node]
    if owner == LEAF:
        return Leaf(tree.list_payoffs(node))
    if owner == CHANCE:
        return Chance({tree.branch_labels[child]: (tree.find_probability(child), child) for child in below})
    infoset = tree.infosets[int(tree.infoset[node])]
    return Turn(tree.players[owner], infoset.label, dict(zip(infoset.moves, below, strict=True)), infoset.label)
