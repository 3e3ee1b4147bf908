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
from fractions import Fraction
from itertools import product
from typing import TypeVar

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.arrays import find_denominator
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
    uniform_policy,
)

AnyArray = TypeVar("AnyArray", Array, Rationals)

CELL_LIMIT = 2_000_000
"""How many payoffs the normal form of a tree may have unless the caller says otherwise."""


def to_normal_form(game: TreeLike, *, limit: int = CELL_LIMIT) -> NormalForm:
    """Return the reduced normal form.

    TooLarge says how many payoffs it would have when that is more than `limit`.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> to_normal_form(kuhn_poker()).shape
    (27, 64)
    """
    tree = as_tree(game)
    if has_perfect_recall(tree):
        plexes = to_sequence_form(tree).plexes
        counts = list(map(count_plans, plexes))
        entries = [count * plex.num_sequences for count, plex in zip(counts, plexes, strict=True)]
        _check_size(counts, max(entries), limit)
    played = []
    actions = []
    for player in range(tree.num_players):
        pasts = _find_pasts(tree, player)
        plans = _list_plans(tree, player, pasts, limit)
        played.append(_find_played(tree, plans, pasts))
        actions.append(_name_plans(tree, player, pasts, plans))
    counts = list(map(len, actions))
    _check_size(counts, 0, limit)
    exact = None
    if tree.is_exact and tree.num_players * math.prod(counts) <= _EXACT_CELLS:
        exact = _compute_exactly(read_leaves(tree), played)
        payoffs = exact.astype(np.float64)
    else:
        reach = tree.reach[tree.leaves, None]
        weighted = tree.payoffs[tree.leaves] * reach
        payoffs = _payoffs(weighted.T, played)
    return NormalForm(payoffs, tree.players, tuple(actions), tree.name, exact)


def _find_played(tree: Tree, plans: IntArray, pasts: Sequence[frozenset[tuple[int, int]]]) -> Array:
    """Say for every plan of a player, one per row, to which leaves it leads if all others do."""
    leads = []
    for leaf in tree.leaves.tolist():
        past = np.array([*pasts[leaf]], dtype=np.int64).reshape(-1, 2)
        infosets, moves = past.T
        leads.append((plans[:, infosets] == moves).all(axis=1))
    return np.stack(leads, axis=1).astype(np.float64)


def count_plans(plex: Treeplex) -> int:
    """Count the reduced strategies: product over information sets of the sum over their moves."""
    ways = [1] * plex.num_sequences
    for i in range(len(plex.infosets) - 1, -1, -1):
        first = int(plex.first[i])
        last = first + int(plex.size[i])
        parent = int(plex.parent[i])
        ways[parent] *= sum(ways[first:last])
    return ways[0]


def _name_plans(
    tree: Tree,
    player: int,
    pasts: Sequence[frozenset[tuple[int, int]]],
    plans: IntArray,
) -> tuple[str, ...]:
    """Name plans by their moves, those made first in front."""
    nodes = np.flatnonzero(tree.owner == player)
    depths = {int(tree.infoset[node]): len(pasts[node]) for node in nodes[::-1]}
    order = sorted(depths, key=lambda i: (depths[i], i))
    names = []
    for plan in plans.tolist():
        chosen = [(tree.infosets[i], plan[i]) for i in order if plan[i] >= 0]
        moves = [f"{infoset.label}: {infoset.moves[move]}" for infoset, move in chosen]
        names.append("; ".join(moves) or "nothing to choose")
    return tuple(names)


def _find_pasts(tree: Tree, player: int) -> list[frozenset[tuple[int, int]]]:
    """Find for every node the moves that the player has made before it.

    They are given as (information set, number of the move).
    """
    pasts: list[frozenset[tuple[int, int]]] = [frozenset()]
    for node, above in enumerate(tree.parent.tolist()[1:], start=1):
        past = pasts[above]
        infoset = int(tree.infoset[above])
        if tree.owner[above] == player:
            if any(infoset == before for before, _ in past):
                raise InvalidGame(
                    f"{tree.players[player]} comes twice to its information set"
                    f" {tree.infosets[infoset].label!r} in one play ({tree.path(above)}); expected"
                    " at most once, since no plan can say what it does there; `simulate` and `play`"
                    " play such a game, but nothing here solves it"
                )
            past = past | {(infoset, int(tree.move[node]))}
        pasts.append(past)
    return pasts


def _list_plans(
    tree: Tree,
    player: int,
    pasts: Sequence[frozenset[tuple[int, int]]],
    limit: int,
) -> IntArray:
    """List the player's plans, the first moves first.

    A plan has a move wherever its own moves may lead, else -1.
    """
    ways: dict[int, set[frozenset[tuple[int, int]]]] = {}
    for node in np.flatnonzero(tree.owner == player).tolist():
        ways.setdefault(int(tree.infoset[node]), set()).add(pasts[node])
    # What later moves lead to is decided before what is beside them.
    depths = {infoset: max(map(len, pasts_there)) for infoset, pasts_there in ways.items()}
    order = sorted(ways, key=lambda infoset: (-depths[infoset], infoset))
    plans: list[dict[int, int]] = []
    waiting: list[dict[int, int]] = [{}]
    while waiting:
        plan = waiting.pop()
        infoset = _find_open(plan, order, ways)
        if infoset is None:
            plans.append(plan)
        else:
            moves = range(len(tree.infosets[infoset].moves))
            waiting += [plan | {infoset: move} for move in reversed(moves)]
        if len(plans) + len(waiting) > limit:
            raise TooLarge(
                f"{tree.players[player]} has more than {limit} plans; the table of the tree would"
                " not fit"
            )
    table = np.full((len(plans), len(tree.infosets)), -1)
    for row, plan in zip(table, plans, strict=True):
        row[list(plan)] = list(plan.values())
    return table


def _find_open(
    plan: dict[int, int],
    order: Sequence[int],
    ways: dict[int, set[frozenset[tuple[int, int]]]],
) -> int | None:
    """Find the first information set that a plan may lead to and has no move for.

    Returns None where it is finished.
    """
    made = plan.items()
    for infoset in order:
        if infoset not in plan and any(past <= made for past in ways[infoset]):
            return infoset
    return None


def _check_size(counts: Sequence[int], listed: int, limit: int) -> None:
    """Refuse a table that is larger than `limit`.

    `listed` counts the entries of the longest list of strategies.
    """
    cells = len(counts) * math.prod(counts)
    largest = max(cells, listed // _ENTRIES_PER_CELL)
    if largest > limit or len(counts) > _MAX_PLAYERS:
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
    row = uniform_policy(tree).probabilities.copy()
    for player, mix in enumerate(profile):
        plans = _list_plans(tree, player, _find_pasts(tree, player), CELL_LIMIT)
        is_used = (plans >= 0).any(axis=0)
        for index in np.flatnonzero(is_used):
            first, last = tree.first_move[index : index + 2]
            # A plan that does not come here has -1 for its move, and is counted in front.
            weights = np.bincount(plans[:, index] + 1, mix, last - first + 1)[1:]
            if weights.sum() > 0:
                row[first:last] = weights / weights.sum()
    return Policy(tree, row)


_MAX_PLAYERS = 30
_ENTRIES_PER_CELL = 20
_EXACT_CELLS = 20_000
"""Of the largest table that is computed in whole numbers."""
_LARGEST_WHOLE = 2**53  # up to here floats add whole numbers exactly


def _written(count: int) -> str:
    if count < 10**15:
        return str(count)
    digits = count.bit_length() * math.log10(2)
    return f"about 10^{int(digits)}"


def _compute_exactly(leaves: list[list[Fraction]], played: list[Array]) -> Rationals:
    """Compute the payoffs of a game whose payoffs are fractions.

    They are whole numbers over the leaves' common denominator.
    """
    fractions = np.array(leaves, dtype=object)
    unit = find_denominator(fractions)
    whole = np.asarray(np.frompyfunc(int, 1, 1)(fractions * unit))
    if np.abs(whole).sum() < _LARGEST_WHOLE:
        whole = whole.astype(np.float64)
    table = _payoffs(whole, played)
    exact = np.array([Fraction(int(u), unit) for u in table.ravel()], dtype=object)
    return exact.reshape(table.shape)


def _payoffs(leaves: AnyArray, played: list[Array]) -> AnyArray:
    """Payoffs of all profiles.

    The last player's axis is one matrix product per profile of the others.
    """
    shape = tuple(map(len, played))
    last = played[-1].astype(np.int64).astype(leaves.dtype)
    table = np.empty((math.prod(shape[:-1]), len(played), shape[-1]), dtype=leaves.dtype)
    profiles = product(*map(range, shape[:-1]))
    for index, profile in enumerate(profiles):
        reached = np.ones(leaves.shape[1])
        for rows, choice in zip(played, profile, strict=False):
            reached = reached * rows[choice]
        kept = np.flatnonzero(reached)
        table[index] = leaves[:, kept] @ last[:, kept].T
    return np.moveaxis(table, 1, 0).reshape(len(played), *shape)


def to_tree(form: NormalForm) -> Tree:
    """Return the tree in which players choose in turn without seeing others' choices.

    >>> to_tree(NormalForm.zero_sum([[1, -1], [-1, 1]]))
    Tree('', players=['row', 'col'], 7 nodes, 4 leaves, 2 information sets)
    """

    def expand(chosen: tuple[int, ...]) -> Leaf | Turn:
        seat = len(chosen)
        if seat == form.num_players:
            return Leaf([table[chosen] for table in form.given])
        player = form.players[seat]
        moves = {name: (*chosen, k) for k, name in enumerate(form.actions[seat])}
        return Turn(player, player, moves)

    # As many nodes as there are cells, or fewer, stand before every player's move and at the end.
    return build_tree(
        form.players,
        (),
        expand,
        limit=(form.num_players + 1) * form.payoffs[0].size,
        name=form.name,
    )
