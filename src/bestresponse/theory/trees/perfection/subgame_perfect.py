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

Ties are mixed too. Where a mover's best moves tie, every mixture of them is an equilibrium below,
and payoffs are linear in it: the corners of these mixtures, and the edges between them, describe
all. A mover above may be indifferent at a point inside: along an edge its best move changes where
two lines cross, and the equilibria there are listed as well. With two moves to choose between, or
along a single edge, that gives all corners of the sets in which a move is best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice, product
from operator import le, mul

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
    solved, _, _ = _solve_backwards(tree, listed, mixed=False)
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
    sets that extreme equilibria span. Ties that are mixed so that the mover above is indifferent
    are among them. It is False where such mixtures could not all be found: where several players
    move above a tie without seeing each other, where three moves above compete over several ties,
    and where a tie decides a mover above another such mixture.
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
    solved, subgames, complete = _solve_backwards(tree, limit, mixed=True)
    policies = []
    for solution in solved:
        row = np.zeros(int(tree.first_move[-1]))
        for infoset, mix in solution.choices.items():
            row[tree.first_move[infoset] : tree.first_move[infoset + 1]] = mix
        policies.append(Policy(tree, row))
    payoffs = tuple(np.array(solution.payoffs, np.float64) for solution in solved)
    return SubgameEquilibria(tuple(policies), payoffs, subgames, complete)


Edge = tuple[int, int]
"""Two solutions all of whose mixtures are equilibria."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """Equilibria of a subgame, and whether they are all.

    `varies` says that equilibria can be mixed into others which earn something else, as after a
    tie. `edges` lists which can, where `is_linear`: the solutions that edges connect are the
    corners of a product of simplices, all of it equilibria, on which payoffs are linear.
    """

    solutions: list[_Solution]
    complete: bool
    varies: bool = False
    edges: frozenset[Edge] = frozenset()
    is_linear: bool = True


def _solve_backwards(tree: Tree, limit: int, *, mixed: bool) -> tuple[list[_Solution], int, bool]:
    """Solve subgames from the last to the first: solutions, the number of subgames, and whether
    they are all. Ties of movers who see everything are mixed only where wanted."""
    roots = find_subgames(tree)
    solved: dict[int, _Solved] = {}
    for root in reversed(roots.tolist()):
        if all(node in solved or tree.owner[node] == LEAF for node in tree.children[root]):
            solved[root] = _solve_single(tree, root, solved, limit, mixed)
        else:
            solved[root] = _solve_several(tree, root, solved, limit)
    if not len(roots):
        return [_Solution(tree.read_payoffs(0), {})], 0, True
    complete = all(part.complete for part in solved.values())
    return solved[0].solutions, len(roots), complete


def _solve_several(tree: Tree, root: int, solved: dict[int, _Solved], limit: int) -> _Solved:
    """Solve what lies between `root` and the subgames inside, for every combination of their
    equilibria."""
    inside = _find_inside(tree, root, solved)
    solutions: list[_Solution] = []
    complete = True
    varies = any(solved[node].varies for node in inside)
    if varies:
        # Of a part with several movers it is not known what mixtures of a tie inside do to it.
        complete = False
    choices = product(*(solved[node].solutions for node in inside))
    for chosen in choices:
        fixed = dict(zip(inside, chosen, strict=True))
        below = {key: mix for solution in chosen for key, mix in solution.choices.items()}
        top = _solve_top(tree, root, fixed)
        complete = complete and top.complete
        varies = varies or top.varies
        for part in top.solutions:
            solutions.append(_Solution(part.payoffs, below | part.choices))
        if len(solutions) >= limit:
            # At the limit nothing is left out only if it is met exactly and no combination is still
            # to be tried.
            is_last = not any(True for _ in islice(choices, 1))
            complete = complete and len(solutions) == limit and is_last
            break
    return _Solved(solutions[:limit], complete, varies, is_linear=not varies)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """What each move of a mover who sees everything earns, and what is played below."""

    earned: list[Earned]
    below: dict[int, Array]


def _solve_single(
    tree: Tree, root: int, solved: dict[int, _Solved], limit: int, mixed: bool
) -> _Solved:
    """Solve a node below which everything is solved: a draw of chance, or one mover's choice."""
    # Where everything is seen, ties are exact: floats are taken as the simplest fractions they can
    # stand for.
    sure = tree.is_perfect_information
    read = tree.read_payoffs if sure else tree.list_payoffs
    below = tree.children[root]
    inside = [node for node in below if node in solved]
    numbers = product(*(range(len(solved[node].solutions)) for node in inside))
    chosen = list(islice(numbers, limit + 1))
    complete = len(chosen) <= limit
    points = []
    for combination in chosen[:limit]:
        fixed = {
            node: solved[node].solutions[k] for node, k in zip(inside, combination, strict=True)
        }
        earned = [fixed[node].payoffs if node in fixed else read(node) for node in below]
        choices: dict[int, Array] = {}
        for solution in fixed.values():
            choices |= solution.choices
        points.append(_Point(earned, choices))
    edges = _join_edges(chosen[:limit], [solved[node] for node in inside]) if mixed else frozenset()
    parts = _Solved(
        solutions=[],
        complete=complete,
        varies=any(solved[node].varies for node in inside),
        edges=edges,
        is_linear=all(solved[node].is_linear for node in inside),
    )
    if tree.owner[root] == CHANCE:
        weights = [
            tree.read_probability(node) if sure else tree.find_probability(node) for node in below
        ]
        solutions = []
        for point in points:
            means = tuple(sum(map(mul, weights, u)) for u in zip(*point.earned, strict=True))
            solutions.append(_Solution(means, point.below))
        return replace(parts, solutions=solutions)
    return _choose(tree, root, points, parts, limit, mixed)


def _join_edges(chosen: list[tuple[int, ...]], inside: list[_Solved]) -> frozenset[Edge]:
    """Find the edges between combinations: along an edge of one subgame, all others the same."""
    place = {combination: k for k, combination in enumerate(chosen)}
    edges = set()
    for at, part in enumerate(inside):
        for first, second in part.edges:
            for combination, k in place.items():
                if combination[at] == first:
                    other = place.get((*combination[:at], second, *combination[at + 1 :]))
                    if other is not None:
                        edges.add((k, other))
    return frozenset(edges)


def _choose(
    tree: Tree, root: int, points: list[_Point], parts: _Solved, limit: int, mixed: bool
) -> _Solved:
    """Let a mover choose at every point, and at those between them where its best move changes."""
    owner = int(tree.owner[root])
    best = [_find_best_moves(tree, owner, point) for point in points]
    groups = _connect(len(points), parts.edges)
    changing = [group for group in groups if len({best[k] for k in group}) > 1]
    complete = parts.complete
    between: list[_Point] = []
    if parts.varies and not parts.is_linear:
        complete = complete and len(set(best)) == 1
    elif mixed:
        for first, second in sorted(parts.edges):
            between += _find_crossings(tree, owner, points[first], points[second])
        for group in groups:
            competing = _list_competing([points[k].earned for k in group], owner)
            if len(group) > 2 and len(competing) > 2:
                complete = False
    solutions = []
    numbers: dict[tuple[int, int], int] = {}
    infoset = int(tree.infoset[root])
    for k, point in enumerate([*points, *between]):
        for move in best[k] if k < len(points) else _find_best_moves(tree, owner, point):
            numbers[k, move] = len(solutions)
            played = np.eye(len(point.earned))[move]
            solutions.append(_Solution(point.earned[move], point.below | {infoset: played}))
    ties = any(
        solutions[a].payoffs != solutions[b].payoffs
        for (at, _), a in numbers.items()
        for (other, _), b in numbers.items()
        if at == other
    )
    is_constant = all(
        points[k].earned[move] == points[group[0]].earned[move]
        for group in groups
        for k in group
        for move in best[group[0]]
    )
    one_best = all(len(moves) == 1 for moves in best)
    return _Solved(
        solutions=solutions[:limit],
        complete=complete and len(solutions) <= limit,
        varies=parts.varies or ties,
        edges=_list_edges(numbers, parts.edges),
        is_linear=parts.is_linear and not between and not changing and (one_best or is_constant),
    )


def _list_edges(numbers: dict[tuple[int, int], int], edges: frozenset[Edge]) -> frozenset[Edge]:
    """Find the edges between solutions: between tied moves at one point, and along an edge below
    with the same move."""
    found = set()
    moves: dict[int, list[int]] = {}
    for point, move in numbers:
        moves.setdefault(point, []).append(move)
    for point, tied in moves.items():
        for first, second in combinations(tied, 2):
            found.add((numbers[point, first], numbers[point, second]))
    for first, second in edges:
        for move in moves[first]:
            if (second, move) in numbers:
                found.add((numbers[first, move], numbers[second, move]))
    return frozenset(found)


def _connect(count: int, edges: frozenset[Edge]) -> list[list[int]]:
    """Gather the points that edges connect."""
    group = list(range(count))
    for first, second in edges:
        old, new = group[second], group[first]
        group = [new if k == old else k for k in group]
    return [[k for k in range(count) if group[k] == one] for one in dict.fromkeys(group)]


def _list_competing(earned: list[list[Earned]], owner: int) -> list[int]:
    """List the moves that are not everywhere at most as good as another one listed."""
    kept: list[int] = []
    for move in range(len(earned[0])):
        column = [row[move][owner] for row in earned]
        others = [[row[other][owner] for row in earned] for other in kept]
        if any(all(map(le, column, other)) for other in others):
            continue
        kept = [k for k, other in zip(kept, others, strict=True) if not all(map(le, other, column))]
        kept.append(move)
    return kept


def _find_crossings(tree: Tree, owner: int, first: _Point, second: _Point) -> list[_Point]:
    """Find the points between two at which the best move changes, by where its lines cross."""
    start = [u[owner] for u in first.earned]
    end = [u[owner] for u in second.earned]
    shares = set()
    for i, j in combinations(range(len(start)), 2):
        before = start[i] - start[j]
        after = end[i] - end[j]
        if before * after < 0:
            shares.add(before / (before - after))
    found = []
    for share in sorted(shares):
        point = _mix_points(first, second, share)
        if len(_find_best_moves(tree, owner, point)) > 1:
            found.append(point)
    return found


def _mix_points(first: _Point, second: _Point, share: Fraction | float) -> _Point:
    """Give the point that is this share of the way from the first to the second."""
    earned = []
    for u, v in zip(first.earned, second.earned, strict=True):
        earned.append(tuple((1 - share) * a + share * b for a, b in zip(u, v, strict=True)))
    below = {}
    for infoset, mix in first.below.items():
        other = second.below[infoset]
        same = mix is other or bool((mix == other).all())
        below[infoset] = mix if same else float(1 - share) * mix + float(share) * other
    return _Point(earned, below)


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


def _find_best_moves(tree: Tree, owner: int, point: _Point) -> tuple[int, ...]:
    """List the best moves of somebody who sees everything; floats tie up to rounding."""
    most = max(u[owner] for u in point.earned)
    best = []
    for move, payoffs in enumerate(point.earned):
        loss = most - payoffs[owner]
        is_rounding = isinstance(loss, float) and loss <= _TIE * float(np.abs(tree.payoffs).max())
        if loss == 0 or is_rounding:
            best.append(move)
    return tuple(best)
