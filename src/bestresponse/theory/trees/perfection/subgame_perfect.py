"""Subgame perfect equilibria: by backward induction, or subgame by subgame where moves are hidden.

Definition (Selten 1965): a strategy profile that is a Nash equilibrium in every subgame. A subgame
is a node and all that comes after it, where no information set has nodes both inside and outside.
With perfect information every inner node begins one.

With perfect information backward induction finds the pure equilibria: at each node its owner takes
a best branch. Where branches tie, each choice gives its own equilibria, and they are counted
exactly: every node keeps how many equilibria of its subgame lead to each payoff vector. Ties are
exact too: payoffs and probabilities are taken as the rationals that were given, floats as those
they stand for (0.1 as 1/10, 0.333... as 1/3).

With hidden or simultaneous moves subgames are solved from the last to the first: those inside one
are replaced by what their equilibria earn, and of what is left, every equilibrium of the reduced
normal form is taken. Each choice of equilibria inside gives equilibria of its own. With two players
the equilibria of every such part are its extreme ones, with more those that `nash` finds.

Where a mover's best moves tie, every mixture of them is an equilibrium below, and each of the moves
is listed. Where what a mover above does best depends on how such a tie is broken, some mixture may
leave it indifferent, and the list is not called complete.

R. Selten, "Spieltheoretische Behandlung eines Oligopolmodells mit Nachfrageträgheit", Z. f. d.
gesamte Staatswissenschaft 121, 1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from operator import add, mul
from pathlib import Path

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.many_players.budget import SECONDS
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.normal_form import find_behaviour, to_normal_form
from bestresponse.theory.trees.tree import (
    CHANCE,
    LEAF,
    Chance,
    IntArray,
    Leaf,
    Policy,
    Tree,
    TreeLike,
    Turn,
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
_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class SubgamePerfectEquilibrium:
    """One pure equilibrium: each player's move at every own information set, and what it earns."""

    moves: dict[str, dict[str, str]]
    payoffs: dict[str, float]
    exact: dict[str, Fraction] | None


@dataclass(frozen=True, slots=True)
class SubgamePerfect:
    """All pure subgame perfect equilibria (`count`) if they are few, else only the first.

    `outcomes` holds every payoff vector that one of them reaches, in any case.
    """

    count: int
    equilibria: tuple[SubgamePerfectEquilibrium, ...]
    outcomes: tuple[dict[str, float], ...]

    @property
    def complete(self) -> bool:
        """Whether all of them are listed."""
        return self.count == len(self.equilibria)


def subgame_perfect(
    game: TreeLike,
    limit: int = 1000,
    *,
    seconds: float = _SECONDS,
) -> SubgamePerfect:
    """Find pure equilibria by backward induction.

    Lists all if there are at most `limit`, else the first and their number. Raises NotCertified if
    that takes longer than `seconds`.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> subgame_perfect(load_tree("entry-deterrence")).equilibria[0].moves
    {'entrant': {'market': 'in'}, 'incumbent': {'entry': 'share'}}
    """
    deadline = Deadline.after(seconds)
    tree = as_tree(game)
    if not tree.is_perfect_information:
        sizes = np.bincount(tree.infoset[tree.infoset >= 0])
        infoset = tree.infosets[int(np.argmax(sizes))]
        raise InvalidGame(
            f"{tree.name or 'the tree'} has an information set of {int(sizes.max())} nodes"
            f" ({infoset.label!r} of {tree.players[infoset.player]}); backward induction needs"
            " perfect information"
        )
    reachable = _count(tree, deadline)
    count = sum(reachable[0].values())
    listed = count if count <= limit else 1
    solved = _solve_backwards(tree, _Wish(listed, deadline))
    equilibria = tuple(_describe_pure(tree, solution) for solution in solved.solutions)
    best_first = sorted(reachable[0], reverse=True)
    outcomes = tuple(_named(tree, payoffs) for payoffs in best_first)
    return SubgamePerfect(count, equilibria, outcomes)


def _count(tree: Tree, deadline: Deadline) -> list[dict[Payoffs, int]]:
    """For each node, its subgame's equilibrium payoff vectors, and how many give each."""
    tables: list[dict[Payoffs, int]] = [{} for _ in range(tree.num_nodes)]
    for node in range(tree.num_nodes - 1, -1, -1):
        deadline.check(_WANTED)
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
    """Find the best moves, with payoffs and counts.

    A move and its payoffs are best in all profiles in which every other branch gives the owner no
    more.
    """
    by_branch = [{payoffs[owner] for payoffs in table} for table in below]
    least = max(map(min, by_branch))
    values = [value for value in set().union(*by_branch) if value >= least]
    counts: dict[Payoffs, int] = {}
    for value in sorted(values, reverse=True):
        no_more = []
        for table in below:
            allowed = [ways for payoffs, ways in table.items() if payoffs[owner] <= value]
            no_more.append(sum(allowed))
        profiles = math.prod(no_more)
        for table, own in zip(below, no_more, strict=True):
            others = profiles // own
            for payoffs, ways in table.items():
                if payoffs[owner] == value:
                    counts[payoffs] = counts.get(payoffs, 0) + ways * others
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
            added = [share * u for u in payoffs]
            total = tuple(map(add, before, added))
            sums[total] = sums.get(total, 0) + many * ways
        combined = sums
    return combined


def _describe_pure(tree: Tree, solution: _Solution) -> SubgamePerfectEquilibrium:
    moves: dict[str, dict[str, str]] = {player: {} for player in tree.players}
    for index, infoset in enumerate(tree.infosets):
        player = tree.players[infoset.player]
        chosen = int(solution.choices[index].argmax())
        moves[player][infoset.label] = infoset.moves[chosen]
    exact = None
    if tree.is_exact:
        fractions = [Fraction(u) for u in solution.payoffs]
        exact = dict(zip(tree.players, fractions, strict=True))
    return SubgamePerfectEquilibrium(moves, _named(tree, solution.payoffs), exact)


def _named(tree: Tree, payoffs: Earned) -> dict[str, float]:
    return dict(zip(tree.players, map(float, payoffs), strict=True))


_WANTED = "all subgame perfect equilibria"
_PART_LIMIT = 20_000
"""Cells of the reduced normal form of one part."""
_TIE = 1e-12
"""Of payoffs that are not known exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class SubgameEquilibria:
    """Subgame perfect equilibria: their policies and what they earn.

    `complete` says that every part was solved completely and no combination was left out, up to the
    sets that extreme equilibria span. It is False where a mixture of tied moves could leave a mover
    above indifferent: where the tie decides what is best there, or several players move above it
    without seeing each other.
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
        low[above] = min(low[above], low[node])
        high[above] = max(high[above], high[node])
        end[above] = max(end[above], end[node])
    is_closed = (low >= nodes) & (high < end)
    begins = (tree.owner != LEAF) & is_closed
    return np.asarray(np.flatnonzero(begins), dtype=np.int64)


def solve_subgames(
    tree: Tree | str | Path, limit: int = 200, *, seconds: float = _SECONDS
) -> SubgameEquilibria:
    """Find subgame perfect equilibria, at most `limit`.

    Raises TooLarge where a part between subgames is too large to solve, NotCertified where that
    takes longer than `seconds`.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> found = solve_subgames(load_tree("entry-deterrence"))
    >>> found.policies[0].at("entrant", "market"), found.complete
    ({'out': 0.0, 'in': 1.0}, True)
    """
    tree = as_tree(tree)
    solved = _solve_backwards(tree, _Wish(limit, Deadline.after(seconds)))
    policies = []
    for solution in solved.solutions:
        row = np.zeros(int(tree.first_move[-1]))
        for infoset, mix in solution.choices.items():
            row[tree.first_move[infoset] : tree.first_move[infoset + 1]] = mix
        policies.append(Policy(tree, row))
    payoffs = tuple(np.array(solution.payoffs, np.float64) for solution in solved.solutions)
    return SubgameEquilibria(
        policies=tuple(policies),
        payoffs=payoffs,
        num_subgames=len(find_subgames(tree)),
        complete=solved.complete,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """Equilibria of a subgame, and whether they are all.

    `varies` says that equilibria can be mixed into others which earn something else, as after a
    tie.
    """

    solutions: list[_Solution]
    complete: bool
    varies: bool = False


@dataclass(frozen=True, slots=True)
class _Wish:
    """How many solutions to keep at most, and until when."""

    limit: int
    deadline: Deadline


def _solve_backwards(tree: Tree, wish: _Wish) -> _Solved:
    """Solve subgames from the last to the first; give the solutions of the whole."""
    roots = find_subgames(tree)
    if not len(roots):
        return _Solved([_Solution(tree.read_payoffs(0), {})], complete=True)
    solved: dict[int, _Solved] = {}
    for root in reversed(roots.tolist()):
        wish.deadline.check(_WANTED)
        is_open = [node not in solved and tree.owner[node] != LEAF for node in tree.children[root]]
        if not any(is_open):
            solved[root] = _solve_single(tree, root, solved, wish)
        else:
            solved[root] = _solve_several(tree, root, solved, wish)
    complete = all(part.complete for part in solved.values())
    return replace(solved[0], complete=complete)


def _solve_several(
    tree: Tree,
    root: int,
    solved: dict[int, _Solved],
    wish: _Wish,
) -> _Solved:
    """Solve what lies between `root` and the subgames inside.

    This is done for every combination of their equilibria.
    """
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
        wish.deadline.check(_WANTED)
        top = _solve_top(tree, root, fixed, wish.deadline)
        complete = complete and top.complete
        varies = varies or top.varies
        for part in top.solutions:
            solutions.append(_Solution(part.payoffs, below | part.choices))
        if len(solutions) >= wish.limit:
            # At the limit nothing is left out only if it is met exactly and no combination is still
            # to be tried.
            is_last = next(choices, None) is None
            complete = complete and len(solutions) == wish.limit and is_last
            break
    return _Solved(solutions[: wish.limit], complete, varies)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """What each move of a mover who sees everything earns, and what is played below."""

    earned: list[Earned]
    below: dict[int, Array]


def _solve_single(
    tree: Tree,
    root: int,
    solved: dict[int, _Solved],
    wish: _Wish,
) -> _Solved:
    """Solve a node below which everything is solved: a draw of chance, or one mover's choice."""
    below = [node for node in tree.children[root] if node in solved]
    inside = [solved[node] for node in below]
    counts = [len(part.solutions) for part in inside]
    numbers = product(*map(range, counts))
    numbered = list(islice(numbers, wish.limit + 1))
    kept = numbered[: wish.limit]
    points = []
    for combination in kept:
        chosen = [part.solutions[k] for part, k in zip(inside, combination, strict=True)]
        fixed = dict(zip(below, chosen, strict=True))
        points.append(_make_point(tree, root, fixed))
    parts = _Solved(
        solutions=[],
        complete=len(numbered) <= wish.limit,
        varies=any(part.varies for part in inside),
    )
    if tree.owner[root] == CHANCE:
        return replace(parts, solutions=_draw(tree, root, points))
    return _choose(tree, root, points, parts, wish)


def _make_point(tree: Tree, root: int, fixed: dict[int, _Solution]) -> _Point:
    """Say what every branch of a node earns where subgames below are played as given."""
    # Where everything is seen, ties are exact: floats are taken as the simplest fractions they can
    # stand for.
    read = tree.read_payoffs if tree.is_perfect_information else tree.list_payoffs
    earned: list[Earned] = []
    for node in tree.children[root]:
        earned.append(fixed[node].payoffs if node in fixed else read(node))
    choices: dict[int, Array] = {}
    for solution in fixed.values():
        choices |= solution.choices
    return _Point(earned, choices)


def _draw(tree: Tree, root: int, points: list[_Point]) -> list[_Solution]:
    """Take the means of what the branches of a draw of chance earn."""
    sure = tree.is_perfect_information
    read = tree.read_probability if sure else tree.find_probability
    weights = list(map(read, tree.children[root]))
    solutions = []
    for point in points:
        means = []
        for earned in zip(*point.earned, strict=True):
            means.append(sum(map(mul, weights, earned)))
        solutions.append(_Solution(tuple(means), point.below))
    return solutions


def _choose(
    tree: Tree,
    root: int,
    points: list[_Point],
    parts: _Solved,
    wish: _Wish,
) -> _Solved:
    """Let a mover choose at every point."""
    owner = int(tree.owner[root])
    infoset = int(tree.infoset[root])
    best = [_find_best_moves(tree, owner, point) for point in points]
    solutions: list[_Solution] = []
    varies = parts.varies
    for point, moves in zip(points, best, strict=True):
        varies = varies or len({point.earned[move] for move in moves}) > 1
        for move in moves:
            played = np.eye(len(point.earned))[move]
            solutions.append(_Solution(point.earned[move], point.below | {infoset: played}))
    # Between points at which the same moves are best they are best as well.
    is_settled = not parts.varies or len(set(best)) == 1
    return _Solved(
        solutions=solutions[: wish.limit],
        complete=parts.complete and is_settled and len(solutions) <= wish.limit,
        varies=varies,
    )


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


def _solve_top(
    tree: Tree,
    root: int,
    fixed: dict[int, _Solution],
    deadline: Deadline,
) -> _Solved:
    """Solve the part below `root` where subgames inside earn what is given."""
    leaves = {node: Leaf(solution.payoffs) for node, solution in fixed.items() if node != root}

    def expand(node: int) -> Leaf | Chance | Turn:
        return leaves.get(node) or tree.describe(node)

    part = build_tree(tree.players, root, expand, name=tree.name)
    try:
        table = to_normal_form(part, limit=_PART_LIMIT)
    except TooLarge as error:
        raise TooLarge(
            f"the part of the tree below {tree.path(root)} is too large to be solved: {error}"
        ) from None
    # Of more than two players a part may have more equilibria than there is time to look for.
    seconds = deadline.left if table.num_players == 2 else min(SECONDS, deadline.left)
    result = nash(table, seconds=seconds)
    indices = []
    for infoset in part.infosets:
        player = tree.players[infoset.player]
        indices.append(tree.infoset_index[player, infoset.label])
    solutions = []
    for e in result.equilibria:
        policy = find_behaviour(part, e.strategies)
        rows = np.split(policy.probabilities, part.first_move[1:-1])
        payoffs = e.exact_payoffs or tuple(e.payoffs.tolist())
        choices = dict(zip(indices, rows, strict=True))
        solutions.append(_Solution(payoffs, choices))
    mixes = any(e.in_continuum for e in result.equilibria)
    outcomes = {solution.payoffs for solution in solutions}
    varies = mixes and len(outcomes) > 1
    return _Solved(solutions, result.complete, varies)


def _find_best_moves(tree: Tree, owner: int, point: _Point) -> tuple[int, ...]:
    """List the best moves of somebody who sees everything; floats tie up to rounding."""
    most = max(u[owner] for u in point.earned)
    rounding = _TIE * float(np.abs(tree.payoffs).max())
    best = []
    for move, payoffs in enumerate(point.earned):
        loss = most - payoffs[owner]
        is_rounding = isinstance(loss, float) and loss <= rounding
        if loss == 0 or is_rounding:
            best.append(move)
    return tuple(best)
