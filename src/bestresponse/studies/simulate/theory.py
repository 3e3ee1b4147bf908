"""What theory predicts for a game of the playground: its equilibria, seat by seat, and the most that all could have.

A place is where a seat decides: an information set of a tree, by its label; a table has one place, "". Equilibria are
looked for in tables and in trees of at most `MOST_NODES` nodes, which other rules are compiled to where their answers
can be listed; for the rest `games.known_equilibria` may know one in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTree
from bestresponse.analysis.solve.tables import solve_table
from bestresponse.analysis.solve.trees import solve_any_tree
from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.core.game import Game, View
from bestresponse.games.economic.blotto import Blotto
from bestresponse.games.economic.known_equilibria import Known, known_equilibrium
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.source import Source
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.normal_form import behaviour_of
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["MOST_NODES", "Predicted", "Theory", "theory_of"]

MOST_NODES = 20_000

Shares = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Seat -> place -> move -> probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """One equilibrium: what every seat does at every place, and what that earns."""

    kind: str
    shares: Shares
    payoffs: Mapping[str, float]
    regret: float

    @property
    def welfare(self) -> float:
        return sum(self.payoffs.values())


@dataclass(frozen=True, slots=True, eq=False)
class Theory:
    """`predicted` is empty where no equilibrium was computed; `optimum` is the most that all can earn together."""

    form: NormalForm | None = None
    tree: Tree | None = None
    known: Known | None = None
    predicted: tuple[Predicted, ...] = ()
    method: str = ""
    complete: bool = False
    optimum: float | None = None

    def place(self, view: View) -> str:
        """Where the seat of this view decides."""
        if self.tree is None:
            return ""
        known = self.tree.infoset_index
        key = view.key if (view.role, view.key) in known else view.facts["infoset"]
        return self.tree.infosets[known[view.role, key]].label


@lru_cache(maxsize=16)
def theory_of(source: Source) -> Theory:
    """What is known of the game.

    >>> theory_of(Source.of("prisoners-dilemma")).predicted[0].kind
    'pure'
    """
    game = source.game()
    match game:
        case MatrixGame() | Blotto():
            return _of_table(game.form)
        case TreeGame():
            return _of_tree(game.tree)
        case _:
            known = known_equilibrium(game)
            return _of_known(known) if known else _of_rules(game)


def _of_known(known: Known) -> Theory:
    best = known.payoffs if known.better_payoffs is None else known.better_payoffs
    return Theory(known=known, method=known.concept, optimum=sum(best.values()) if best else None)


def _of_rules(game: Game[Any]) -> Theory:
    try:
        return _of_tree(compile_game(game, limit=MOST_NODES))
    except (InvalidGame, TooLarge):
        return Theory()


def _of_table(form: NormalForm) -> Theory:
    optimum = float(form.payoffs.sum(axis=0).max())
    try:
        found = solve_table(form).nash
    except (TooLarge, NotCertified):
        return Theory(form, optimum=optimum)
    predicted = tuple(_from_table(form, one) for one in found.equilibria)
    return Theory(form, None, None, predicted, found.method, found.complete, optimum)


def _from_table(form: NormalForm, found: Equilibrium) -> Predicted:
    shares = {
        role: {"": dict(zip(actions, map(float, mix), strict=True))}
        for role, actions, mix in zip(form.players, form.actions, found.strategies, strict=True)
    }
    payoffs = dict(zip(form.players, map(float, found.payoffs), strict=True))
    return Predicted(found.kind, shares, payoffs, found.regret)


def _of_tree(tree: Tree) -> Theory:
    """A player who forgets, or a tree that is too large, leaves the game without an equilibrium."""
    optimum = _most_welfare(tree)
    if tree.num_nodes > MOST_NODES:
        return Theory(None, tree, optimum=optimum)
    try:
        solved = solve_any_tree(tree)
    except (InvalidGame, TooLarge, NotCertified):
        return Theory(None, tree, optimum=optimum)
    return Theory(None, tree, None, _from_tree(solved), solved.method, solved.complete, optimum)


def _from_tree(solved: SolvedTree) -> tuple[Predicted, ...]:
    if solved.table is None:
        return tuple(Predicted(e.kind, e.policy.table(), e.payoffs, e.regret) for e in solved.equilibria)
    return tuple(_from_plans(solved.tree, e) for e in solved.table.nash.equilibria)


def _from_plans(tree: Tree, found: Equilibrium) -> Predicted:
    policy: Policy = behaviour_of(tree, found.strategies)
    payoffs = dict(zip(tree.players, map(float, found.payoffs), strict=True))
    return Predicted(found.kind, policy.table(), payoffs, found.regret)


def _most_welfare(tree: Tree) -> float:
    """What all would have together if everybody knew everything and worked for it."""
    welfare = tree.payoffs.sum(axis=1)
    values = np.where(tree.owner == LEAF, welfare, np.where(tree.owner == CHANCE, 0.0, -np.inf))
    for node in range(tree.num_nodes - 1, 0, -1):
        parent = int(tree.parent[node])
        if tree.owner[parent] == CHANCE:
            values[parent] += tree.probability[node] * values[node]
        else:
            values[parent] = max(values[parent], values[node])
    return float(values[0])
