"""The reduced normal form of a tree: one action per reduced strategy of each player.

A reduced strategy names a move at every information set that the player's own earlier moves leave reachable (Kuhn
1953); strategies that differ only elsewhere are the same. The number of reduced strategies is exponential in the
information sets, so the size is counted before anything is listed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.core.game import Game
from bestresponse.theory.games.normal_form import Array, NormalForm, Rationals
from bestresponse.theory.trees.compile import as_tree
from bestresponse.theory.trees.policy import Policy, SequenceForm, Treeplex, to_sequence_form
from bestresponse.theory.trees.tree import Tree

__all__ = ["find_behaviour", "to_normal_form"]

AnyArray = TypeVar("AnyArray", Array, Rationals)

CELL_LIMIT = 2_000_000
"""How many payoffs the normal form of a tree may have unless the caller says otherwise."""


def to_normal_form(game: Tree | Game[Any], *, limit: int = CELL_LIMIT) -> NormalForm:
    """Return the reduced normal form; TooLarge says how many payoffs it would have when that is more than `limit`.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> to_normal_form(kuhn_poker()).shape
    (27, 64)
    """
    tree = as_tree(game)
    form = to_sequence_form(tree)
    counts = [_count(plex) for plex in form.plexes]
    cells = tree.num_players * math.prod(counts)
    listed = max(count * plex.num_sequences for count, plex in zip(counts, form.plexes, strict=True))
    if max(cells, listed // _ENTRIES_PER_CELL) > limit or tree.num_players > _MAX_PLAYERS:
        sizes = " x ".join(map(_written, counts))
        raise TooLarge(
            f"the normal form has {_written(cells)} payoffs ({sizes} reduced strategies, {tree.num_players} players); "
            f"the limit is {limit}; solve the tree itself: cfr, or solve_tree for two-player zero-sum games"
        )
    strategies = [_strategies(plex) for plex in form.plexes]
    actions = tuple(
        tuple(_label(tree, plex, row) for row in rows) for plex, rows in zip(form.plexes, strategies, strict=True)
    )
    payoffs, exact = _payoffs(form.payoffs, form, strategies), None
    if tree.is_exact and cells <= _EXACT_CELLS:
        exact = _compute_exactly(form, strategies)
        payoffs = exact.astype(np.float64)
    return NormalForm(payoffs, tree.players, actions, tree.name, exact)


def find_behaviour(tree: Tree, profile: Sequence[Array]) -> Policy:
    """Return the policy that plays like mixed strategies of the reduced normal form (Kuhn 1953).

    At information sets that a strategy never reaches, all moves are equally likely.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> first = np.eye(27)[0], np.eye(64)[0]
    >>> find_behaviour(kuhn_poker(), first).at("player 1", "J")
    {'pass': 1.0, 'bet': 0.0}
    """
    form = to_sequence_form(tree)
    mixes = zip(form.plexes, profile, strict=True)
    return form.policy([plex.normalise(mix @ _strategies(plex)) for plex, mix in mixes])


_MAX_PLAYERS = 30
_ENTRIES_PER_CELL = 20
_EXACT_CELLS = 20_000
"""Of the largest table that is computed in whole numbers."""
_LARGEST_WHOLE = 2**53


def _written(count: int) -> str:
    return str(count) if count < 10**15 else f"about 10^{int(count.bit_length() * math.log10(2))}"


def _count(plex: Treeplex) -> int:
    """How many reduced strategies there are: product over information sets of the sum over their moves."""
    ways = [1] * plex.num_sequences
    for i in range(len(plex.infosets) - 1, -1, -1):
        first = int(plex.first[i])
        ways[int(plex.parent[i])] *= sum(ways[first : first + int(plex.size[i])])
    return ways[0]


def _strategies(plex: Treeplex) -> Array:
    """One row per reduced strategy: 1 at the sequences it plays, 0 elsewhere."""
    after: list[list[int]] = [[] for _ in range(plex.num_sequences)]
    for i, parent in enumerate(plex.parent.tolist()):
        after[parent].append(i)
    plans: list[list[tuple[int, ...]]] = [[] for _ in range(plex.num_sequences)]
    for sequence in range(plex.num_sequences - 1, -1, -1):
        at_sets = [
            [plan for s in range(int(plex.first[i]), int(plex.first[i] + plex.size[i])) for plan in plans[s]]
            for i in after[sequence]
        ]
        plans[sequence] = [(sequence, *(s for part in parts for s in part)) for parts in product(*at_sets)]
    rows = np.zeros((len(plans[0]), plex.num_sequences))
    for row, plan in zip(rows, plans[0], strict=True):
        row[list(plan)] = 1.0
    return rows


def _label(tree: Tree, plex: Treeplex, row: Array) -> str:
    parts = []
    for i, infoset in enumerate(plex.infosets.tolist()):
        first = int(plex.first[i])
        played = np.flatnonzero(row[first : first + int(plex.size[i])])
        if played.size:
            parts.append(f"{tree.infosets[infoset].label}: {tree.infosets[infoset].moves[int(played[0])]}")
    return "; ".join(parts) or "nothing to choose"


def _compute_exactly(form: SequenceForm, strategies: list[Array]) -> Rationals:
    """Payoffs of all profiles as fractions: whole numbers over the common denominator of the leaves."""
    leaves = form.read_payoffs()
    unit = math.lcm(*(u.denominator for row in leaves for u in row))
    whole = np.array([[int(u * unit) for u in row] for row in leaves], dtype=object)
    if np.abs(whole).sum() < _LARGEST_WHOLE:
        whole = whole.astype(np.float64)
    table = _payoffs(whole, form, strategies)
    return np.array([Fraction(int(u), unit) for u in table.ravel()], dtype=object).reshape(table.shape)


def _payoffs(leaves: AnyArray, form: SequenceForm, strategies: list[Array]) -> AnyArray:
    """Payoffs of all profiles; the last player's axis is one matrix product per profile of the others."""
    shape = tuple(len(rows) for rows in strategies)
    at_leaves = [rows[:, sequences] for rows, sequences in zip(strategies, form.sequences, strict=True)]
    last = at_leaves[-1].astype(np.int64).astype(leaves.dtype)
    table = np.empty((math.prod(shape[:-1]), form.num_players, shape[-1]), dtype=leaves.dtype)
    for index, profile in enumerate(product(*(range(count) for count in shape[:-1]))):
        reached = np.ones(form.sequences.shape[1])
        for rows, choice in zip(at_leaves, profile, strict=False):
            reached = reached * rows[choice]
        kept = np.flatnonzero(reached)
        table[index] = leaves[:, kept] @ last[:, kept].T
    return np.moveaxis(table, 1, 0).reshape(form.num_players, *shape)
