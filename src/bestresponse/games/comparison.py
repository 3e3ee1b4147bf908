"""Decide whether two games are the same, and say where they differ.

The relations:

equal        the same payoffs under the same names
renamed      the same payoffs once players and moves are renamed or reordered
equivalent   so too once each player's payoffs are multiplied by a positive number and shifted:
             preferences over lotteries, and with them best responses and equilibria, are the same
             (von Neumann and Morgenstern 1944)
ordinal      none of these, but every player ranks the ends alike
different    none of these

Names of players, and of moves of the same player, that occur in both games mean the same unless the
caller says otherwise. Trees that are built differently may still have the same reduced normal form,
in which plans with the same payoffs against everything count once (Kohlberg and Mertens 1986). That
is a verdict of its own: draws, orders and knowledge that change no expected payoff are gone there,
so that a long story with one decision that matters equals that decision alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.games.differences import find_cell_differences, find_tree_differences
from bestresponse.games.isomorphism import (
    Ends,
    Isomorphism,
    Scale,
    choose_folding,
    list_isomorphisms,
)
from bestresponse.games.statements import fold_draws
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_normal_form
from bestresponse.theory.trees.tree import CHANCE, Tree

Relation = Literal["equal", "renamed", "equivalent", "ordinal", "different"]
Basis = Literal["payoff tables", "trees", "reduced normal forms"]
Verdict = Literal[
    "same tree", "same reduced form, other tree", "same order of payoffs", "different"
]

_SCALES: dict[Scale, Relation] = {"payoffs": "renamed", "affine": "equivalent", "order": "ordinal"}
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two games are related; the maps lead from names of the first to names of the second.

    `basis` tells what was compared. `differences` are sentences in the names of the first game, a
    shortest play on which the games part first, at most ten; `num_differences` counts all. Maps are
    empty where there is no renaming.
    """

    relation: Relation
    basis: Basis
    players: Mapping[str, str]
    actions: Mapping[str, Mapping[str, str]]
    differences: tuple[str, ...] = ()
    num_differences: int = 0
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether the games are the same, so that `if compare(...)` means what it says."""
        return self.same

    @property
    def verdict(self) -> Verdict:
        """What the comparison comes to."""
        if self.relation == "different":
            return "different"
        if self.relation == "ordinal":
            return "same order of payoffs"
        if self.basis == "reduced normal forms":
            return "same reduced form, other tree"
        return "same tree"

    @property
    def same(self) -> bool:
        """Whether both are one tree up to names, order and positive affine payoffs.

        The order is that of simultaneous moves.
        """
        return self.verdict == "same tree"

    @property
    def exact(self) -> bool:
        """Whether both are one tree payoff for payoff, up to names and order.

        The order is that of simultaneous moves.
        """
        return self.same and self.relation != "equivalent"


def compare_games(
    first: NormalForm | Tree,
    second: NormalForm | Tree,
    *,
    any_names: bool = False,
) -> Comparison:
    """Compare two games; TooLarge where there are too many ends, or too many symmetries.

    With `any_names` a name that occurs in both games need not mean the same. Draws with a single
    outcome do not count.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> compare_games(dilemma, NormalForm.bimatrix([[4, -2], [8, 0]], [[3, 5], [0, 1]])).relation
    'equivalent'
    """
    if isinstance(first, NormalForm) and isinstance(second, NormalForm):
        return _compare_tables(first, second, any_names)

    first = fold_draws(first) if isinstance(first, Tree) else first
    second = fold_draws(second) if isinstance(second, Tree) else second
    comparison = _relate(Ends.of(first), Ends.of(second), "trees", any_names)
    if comparison.same:
        return comparison
    sentences: list[str] = []
    if isinstance(first, Tree) and isinstance(second, Tree):
        sentences = find_tree_differences(first, second, any_names)

    try:
        first_form = _reduce(first)
        second_form = _reduce(second)
        reduced = _relate(
            Ends.of(first_form),
            Ends.of(second_form),
            "reduced normal forms",
            any_names,
        )
    except (InvalidGame, TooLarge) as error:
        unknown = f"whether both have the same reduced normal form is not known: {error}"
        return _add_differences(replace(comparison, remarks=(unknown,)), sentences)
    if reduced.verdict == "same reduced form, other tree":
        return _add_differences(reduced, sentences)
    if not sentences:
        sentences = list(find_cell_differences(first_form, second_form))
    return _add_differences(comparison, sentences)


def _compare_tables(first: NormalForm, second: NormalForm, any_names: bool) -> Comparison:
    comparison = _relate(Ends.of(first), Ends.of(second), "payoff tables", any_names)
    if comparison.same:
        return comparison
    differences = list(find_cell_differences(first, second))
    return _add_differences(comparison, differences)


def _add_differences(comparison: Comparison, sentences: Sequence[str]) -> Comparison:
    return replace(
        comparison,
        differences=tuple(sentences[:_MOST_LISTED]),
        num_differences=len(sentences),
    )


def _relate(first: Ends, second: Ends, basis: Basis, any_names: bool) -> Comparison:
    """Return the closest relation of two games; one renaming that gives it is enough."""
    for scale, relation in _SCALES.items():
        found = list_isomorphisms(first, second, scale, any_names=any_names)
        isomorphism = next(found, None)
        if isomorphism is None:
            continue
        players, actions = _name_maps(first, second, isomorphism)
        if scale == "payoffs" and _keeps_names(first, second, [players, *actions.values()]):
            relation = "equal"
        return Comparison(relation, basis, players, actions)
    return Comparison("different", basis, {}, {})


def _keeps_names(first: Ends, second: Ends, maps: Sequence[Mapping[str, str]]) -> bool:
    """Tell whether every name becomes itself."""
    fold = choose_folding(first, second)
    for names in maps:
        for old, new in names.items():
            if fold(old) != fold(new):
                return False
    return True


def _name_maps(
    first: Ends,
    second: Ends,
    isomorphism: Isomorphism,
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    players = {
        name: second.players[seat]
        for name, seat in zip(first.players, isomorphism.players, strict=True)
    }
    actions: dict[str, dict[str, str]] = {name: {} for name in first.players}
    for move, other in enumerate(isomorphism.moves):
        owner = first.owners[first.infoset_of[move]]
        if owner != CHANCE:
            actions[first.players[owner]].setdefault(first.labels[move], second.labels[other])
    return players, actions


def _reduce(game: NormalForm | Tree) -> NormalForm:
    """Keep the first of actions that give everybody the same payoffs.

    The payoffs must be the same against everything. Plans are named by moves.
    """
    form = game if isinstance(game, NormalForm) else to_normal_form(game)
    flat = form.payoffs.reshape(form.num_players, -1)
    scale = np.maximum(np.ptp(flat, axis=1), 1.0)
    payoffs = form.payoffs
    actions: list[tuple[str, ...]] = []
    for player, names in enumerate(form.actions):
        axis = player + 1
        rows = np.moveaxis(payoffs, axis, 0).reshape(payoffs.shape[axis], len(payoffs), -1)
        plain = np.round(rows / scale[None, :, None], 12).reshape(len(rows), -1) + 0.0
        _, first_of_each = np.unique(plain, axis=0, return_index=True)
        kept = np.sort(first_of_each)
        payoffs = np.take(payoffs, kept, axis=axis)

        plans = tuple(names[k] for k in kept)
        moves = tuple(map(_drop_places, plans))
        actions.append(moves if len(set(moves)) == len(moves) else plans)
    return NormalForm(payoffs, form.players, tuple(actions), form.name)


def _drop_places(plan: str) -> str:
    """Name a plan by its moves alone.

    A plan is called `place: move; place: move`, and places bear other names in other trees.
    """
    parts = plan.split("; ")
    return "; ".join(re.sub(r"^.*: ", "", part) for part in parts)
