"""The reduced normal form of a tree: one action per reduced strategy of each player.

A reduced strategy names a move at every information set that the player's own earlier moves leave
reachable (Kuhn 1953); strategies that differ only elsewhere are the same. The number of reduced
strategies is exponential in the information sets, so the size is counted before anything is listed.

A tree without perfect recall has such a table too: a plan names a move at every information set
that the plan's own moves may lead to. What is lost is the way back: a mixture of plans draws one
plan before the play, which a player who forgets could not do move by move, so its equilibria need
not be those in behaviour policies. Where the play can come twice to one information set (an
absent-minded player, Piccione and Rubinstein 1997), there is no such table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import mul
from typing import TypeVar

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.games.normal_form import Array, NormalForm, Rationals
from bestresponse.theory.trees.sequence_form import (
    Treeplex,
    has_perfect_recall,
    read_leaves,
    to_sequence_form,
)
from bestresponse.theory.trees.tree import (
    IntArray,
    Leaf,
    Policy,
    Tree,
    TreeLike,
    Turn,
    as_tree,
    build_tree,
)

AnyArray = TypeVar("AnyArray", Array, Rationals)

CELL_LIMIT = 2_000_000
"""How many payoffs the normal form of a tree may have unless the caller says otherwise."""


def to_normal_form(game: TreeLike, *, limit: int = CELL_LIMIT) -> NormalForm:
    """Return the reduced normal form; TooLarge says how many payoffs it would have when that is
    more than `limit`.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> to_normal_form(kuhn_poker()).shape
    (27, 64)
    """
    tree = as_tree(game)
    if has_perfect_recall(tree):
        plexes = to_sequence_form(tree).plexes
        counts = [count_plans(plex) for plex in plexes]
        _check_size(counts, max(map(mul, counts, (plex.num_sequences for plex in plexes))), limit)
    plans = []
    played = []
    actions = []
    for player in range(tree.num_players):
        pasts = _find_pasts(tree, player)
        plans.append(_list_plans(tree, player, pasts, limit))
        leaves = [
            np.array([*pasts[leaf]], dtype=np.int64).reshape(-1, 2).T
            for leaf in tree.leaves.tolist()
        ]
        played.append(
            np.stack([(plans[-1][:, sets] == moves).all(axis=1) for sets, moves in leaves], axis=1)
            * 1.0
        )
        actions.append(_name_plans(tree, player, pasts, plans[-1]))
    _check_size([len(strategies) for strategies in plans], 0, limit)
    if tree.is_exact and tree.num_players * math.prod(map(len, plans)) <= _EXACT_CELLS:
        return NormalForm(*_compute_exactly(read_leaves(tree), played, tree, tuple(actions)))
    weighted = (tree.payoffs[tree.leaves] * tree.reach[tree.leaves, None]).T
    return NormalForm(_payoffs(weighted, played), tree.players, tuple(actions), tree.name)


@dataclass(frozen=True, slots=True, eq=False)
class PlanList:
    """A player's plans: for every one a row with a move at each information set of the tree, -1
    where the plan's own moves do not lead, and its name."""

    moves: IntArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)


def list_plans(tree: Tree, player: int, *, limit: int = CELL_LIMIT) -> PlanList:
    """List a player's plans in the order of the reduced normal form; TooLarge past `limit`."""
    pasts = _find_pasts(tree, player)
    moves = _list_plans(tree, player, pasts, limit)
    return PlanList(moves, _name_plans(tree, player, pasts, moves))


def count_plans(plex: Treeplex) -> int:
    """Count the reduced strategies: product over information sets of the sum over their moves."""
    ways = [1] * plex.num_sequences
    for i in range(len(plex.infosets) - 1, -1, -1):
        first = int(plex.first[i])
        ways[int(plex.parent[i])] *= sum(ways[first : first + int(plex.size[i])])
    return ways[0]


def _name_plans(
    tree: Tree, player: int, pasts: Sequence[frozenset[tuple[int, int]]], plans: IntArray
) -> tuple[str, ...]:
    """Name plans by their moves, those made first in front."""
    depths = {
        int(tree.infoset[node]): len(pasts[node])
        for node in np.flatnonzero(tree.owner == player)[::-1]
    }
    order = sorted(depths, key=lambda i: (depths[i], i))
    names = []
    for plan in plans.tolist():
        chosen = [(tree.infosets[i], plan[i]) for i in order if plan[i] >= 0]
        moves = [f"{infoset.label}: {infoset.moves[move]}" for infoset, move in chosen]
        names.append("; ".join(moves) or "nothing to choose")
    return tuple(names)


def _find_pasts(tree: Tree, player: int) -> list[frozenset[tuple[int, int]]]:
    """Find for every node the moves that the player has made before it, as (information set, number
    of the move)."""
    pasts: list[frozenset[tuple[int, int]]] = [frozenset()]
    for node, above in enumerate(tree.parent.tolist()[1:], start=1):
        past = pasts[above]
        infoset = int(tree.infoset[above])
        if tree.owner[above] == player:
            if any(infoset == before for before, _ in past):
                raise InvalidGame(
                    f"{tree.players[player]} comes twice to its information set"
                    f" {tree.infosets[infoset].label!r} in one play ({tree.path(above)}); expected"
                    " at most once, since no plan can say what it does there"
                )
            past = past | {(infoset, int(tree.move[node]))}
        pasts.append(past)
    return pasts


def _list_plans(
    tree: Tree, player: int, pasts: Sequence[frozenset[tuple[int, int]]], limit: int
) -> IntArray:
    """List the player's plans, the first moves first: a move wherever the plan's own moves may
    lead, else -1."""
    ways: dict[int, set[frozenset[tuple[int, int]]]] = {}
    for node in np.flatnonzero(tree.owner == player).tolist():
        ways.setdefault(int(tree.infoset[node]), set()).add(pasts[node])
    # What later moves lead to is decided before what is beside them.
    order = sorted(ways, key=lambda i: (-max(map(len, ways[i])), i))
    plans: list[dict[int, int]] = []
    waiting: list[dict[int, int]] = [{}]
    while waiting:
        plan = waiting.pop()
        reached = (
            i for i in order if i not in plan and any(past <= plan.items() for past in ways[i])
        )
        infoset = next(reached, None)
        if infoset is None:
            plans.append(plan)
        else:
            waiting += [
                plan | {infoset: move}
                for move in reversed(range(len(tree.infosets[infoset].moves)))
            ]
        if len(plans) + len(waiting) > limit:
            raise TooLarge(
                f"{tree.players[player]} has more than {limit} plans; the table of the tree would"
                " not fit"
            )
    table = np.full((len(plans), len(tree.infosets)), -1)
    for row, plan in zip(table, plans, strict=True):
        row[list(plan)] = list(plan.values())
    return table


def _check_size(counts: Sequence[int], listed: int, limit: int) -> None:
    """Refuse a table that is larger than `limit`; `listed` counts the entries of the longest list
    of strategies."""
    cells = len(counts) * math.prod(counts)
    if max(cells, listed // _ENTRIES_PER_CELL) > limit or len(counts) > _MAX_PLAYERS:
        sizes = " x ".join(map(_written, counts))
        raise TooLarge(
            f"the normal form has {_written(cells)} payoffs ({sizes} reduced strategies,"
            f" {len(counts)} players); the limit is {limit}; solve the tree itself: cfr, or"
            " solve_tree for two-player zero-sum games"
        )


def find_behaviour(tree: Tree, profile: Sequence[Array]) -> Policy:
    """Return the policy that plays like mixed strategies of the reduced normal form (Kuhn 1953).

    At information sets that a strategy never reaches, all moves are equally likely.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> first = np.eye(27)[0], np.eye(64)[0]
    >>> find_behaviour(kuhn_poker(), first).at("player 1", "J")
    {'pass': 1.0, 'bet': 0.0}
    """
    to_sequence_form(tree)  # which refuses trees without perfect recall
    row = np.concatenate(
        [np.full(len(infoset.moves), 1.0 / len(infoset.moves)) for infoset in tree.infosets]
    )
    for player, mix in enumerate(profile):
        plans = _list_plans(tree, player, _find_pasts(tree, player), CELL_LIMIT)
        for index in np.flatnonzero((plans >= 0).any(axis=0)):
            span = slice(tree.first_move[index], tree.first_move[index + 1])
            weights = np.bincount(plans[:, index] + 1, mix, len(row[span]) + 1)[1:]
            if weights.sum() > 0:
                row[span] = weights / weights.sum()
    return Policy(tree, row)


_MAX_PLAYERS = 30
_ENTRIES_PER_CELL = 20
_EXACT_CELLS = 20_000
"""Of the largest table that is computed in whole numbers."""
_LARGEST_WHOLE = 2**53  # up to here floats add whole numbers exactly


def _written(count: int) -> str:
    return str(count) if count < 10**15 else f"about 10^{int(count.bit_length() * math.log10(2))}"


def _compute_exactly(
    leaves: list[list[Fraction]],
    played: list[Array],
    tree: Tree,
    actions: tuple[tuple[str, ...], ...],
) -> tuple[Array, tuple[str, ...], tuple[tuple[str, ...], ...], str, Rationals]:
    """Compute what describes a game whose payoffs are fractions: whole numbers over the leaves'
    common denominator."""
    unit = math.lcm(*(u.denominator for row in leaves for u in row))
    whole = np.array([[int(u * unit) for u in row] for row in leaves], dtype=object)
    if np.abs(whole).sum() < _LARGEST_WHOLE:
        whole = whole.astype(np.float64)
    table = _payoffs(whole, played)
    exact = np.array([Fraction(int(u), unit) for u in table.ravel()], dtype=object).reshape(
        table.shape
    )
    return exact.astype(np.float64), tree.players, actions, tree.name, exact


def _payoffs(leaves: AnyArray, played: list[Array]) -> AnyArray:
    """Payoffs of all profiles; the last player's axis is one matrix product per profile of the
    others."""
    shape = tuple(len(rows) for rows in played)
    last = played[-1].astype(np.int64).astype(leaves.dtype)
    table = np.empty((math.prod(shape[:-1]), len(played), shape[-1]), dtype=leaves.dtype)
    for index, profile in enumerate(product(*(range(count) for count in shape[:-1]))):
        reached = np.ones(leaves.shape[1])
        for rows, choice in zip(played, profile, strict=False):
            reached = reached * rows[choice]
        kept = np.flatnonzero(reached)
        table[index] = leaves[:, kept] @ last[:, kept].T
    return np.moveaxis(table, 1, 0).reshape(len(played), *shape)


def to_tree(form: NormalForm) -> Tree:
    """Return the tree in which the players choose one after another without seeing the others'
    choices.

    >>> to_tree(NormalForm.zero_sum([[1, -1], [-1, 1]]))
    Tree('', players=['row', 'col'], 7 nodes, 4 leaves, 2 information sets)
    """

    def expand(chosen: tuple[int, ...]) -> Leaf | Turn:
        seat = len(chosen)
        if seat == form.num_players:
            return Leaf([table[chosen] for table in form.given])
        player = form.players[seat]
        return Turn(
            player, player, {name: (*chosen, k) for k, name in enumerate(form.actions[seat])}
        )

    # As many nodes as there are cells, or fewer, stand before every player's move and at the end.
    return build_tree(
        form.players,
        (),
        expand,
        limit=(form.num_players + 1) * form.payoffs[0].size,
        name=form.name,
    )
