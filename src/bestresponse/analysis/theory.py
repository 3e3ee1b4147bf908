"""What theory says of a game: its equilibria, seat by seat, and the most that all could have.

Tables are solved, and trees of at most `MOST_NODES` nodes, to which rules are compiled whose
answers can be listed, or `_MOST_UNFOLDED` where they unfold by themselves; a game may also know its
equilibrium in closed form (`core.capabilities.KnownEquilibrium`). Of a repeated game this is about
one round.

An information set is named by its label; a table has one for each seat, "".

Where moves go wrong, equilibria are those of what is meant: of the table whose payoffs are expected
over the noise that everybody is told of.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Wish
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.core.capabilities import (
    AnyPositions,
    EquilibriumSummary,
    HasPositions,
    find_known_equilibrium,
)
from bestresponse.core.errors import InvalidGame, NotCertified
from bestresponse.core.game import NATURE, AnyGame, Game, S, View
from bestresponse.games.capabilities import (
    HasCourse,
    HasNormalForm,
    HasTree,
    Unfolds,
    find_stage,
    find_stage_form,
)
from bestresponse.telling.render import write_history
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import PositionSolution, solve_positions
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.normal_form import find_behaviour
from bestresponse.theory.trees.tree import CHANCE, LEAF, Policy, Tree

MOST_NODES = 20_000
"""Larger trees are not solved unasked."""
_MOST_UNFOLDED = 300_000
"""Nor larger ones of games for two with a constant sum that unfold by themselves."""
_ITERATIONS = 2_000
"""Of CFR+, for trees of more than `MOST_NODES` nodes: they leave less than 1e-4 to be gained."""
MOST_POSITIONS = 250_000
"""Games with more positions neither: these take some ten seconds."""
_MOST_PAYOFFS = 200_000
"""Larger tables neither."""
_USUAL_WISH = Wish(seconds=3.0)
"""For mixed equilibria of several players: pages and reports wait for them."""

Shares = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Seat -> information set -> move -> probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """One equilibrium: what every seat does at every information set, and what that earns."""

    kind: str
    shares: Shares
    payoffs: Mapping[str, float]
    regret: float

    @property
    def welfare(self) -> float:
        """What all earn together."""
        return sum(self.payoffs.values())


@dataclass(frozen=True, slots=True, eq=False)
class Theory:
    """What is known; of `form`, `tree` and `positions` at most one is there.

    `predicted` is empty where no equilibrium was computed, `policies` hold the same for trees;
    `optimum` is the most that all can earn together. Where moves go wrong, `form` is the table of
    the moves that are made, and all else is about what is meant.
    """

    form: NormalForm | None = None
    tree: Tree | None = None
    known: EquilibriumSummary | None = None
    solution: SolvedTable | SolvedTree | None = None
    predicted: tuple[Predicted, ...] = ()
    policies: tuple[Policy, ...] = ()
    positions: PositionSolution | None = None
    method: str = ""
    complete: bool = False
    optimum: float | None = None

    def name_infoset(self, view: View) -> str:
        """Name the information set in which the role of `view` decides."""
        return "" if self.tree is None else self.tree.infosets[find_infoset(self.tree, view)].label


def find_infoset(tree: Tree, view: View) -> int:
    """Return the number of the information set of `view` in its game's tree.

    The tree is that of the game or the one compiled from it.
    """
    known = tree.infoset_index
    return known[view.role, view.key if (view.role, view.key) in known else view.facts["infoset"]]


@dataclass(frozen=True, slots=True, eq=False)
class SameObject:
    """A game as a key of a cache: the same object is the same key."""

    game: AnyGame

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.game is other.game

    def __hash__(self) -> int:
        return id(self.game)


def describe_theory(game: Game[S]) -> Theory:
    """Solve `game` where its size allows; the same object is solved once.

    >>> from bestresponse.games.lookup import find_game
    >>> describe_theory(find_game("prisoners-dilemma").playable()).predicted[0].kind
    'pure'
    """
    if isinstance(game, HasCourse) and game.repetition.noise:
        return replace(_describe_intended(game.intended_form), form=find_stage_form(game))
    return _describe(SameObject(find_stage(game)))


@lru_cache(maxsize=64)
def _describe(key: SameObject) -> Theory:
    game = key.game
    if isinstance(game, HasPositions):
        return _describe_positions(game)
    if isinstance(game, HasNormalForm):
        return _describe_table(game.normal_form)
    if isinstance(game, HasTree):
        return _describe_tree(game.tree)
    known = find_known_equilibrium(game)
    first = game.asks(game.start())
    # Where one player moves first, and alone, a tree says more than words.
    if known is None or (len(first) == 1 and NATURE not in first):
        with suppress(InvalidGame):
            if isinstance(game, Unfolds):
                return _describe_tree(game.unfold(_MOST_UNFOLDED), _MOST_UNFOLDED)
            compiled = compile_game(game, limit=MOST_NODES, label=write_history)
            return replace(_describe_tree(compiled), known=known)
    if known is None:
        return Theory()
    best = known.payoffs if known.better_payoffs is None else known.better_payoffs
    return Theory(known=known, method=known.concept, optimum=sum(best.values()) if best else None)


def _describe_positions(game: AnyPositions) -> Theory:
    graph = explore(game, most=MOST_POSITIONS)
    if not graph.is_complete:
        return Theory()
    solution = solve_positions(graph)
    optimum = graph.total
    return Theory(positions=solution, method="backward induction over positions", optimum=optimum)


@lru_cache(maxsize=64)
def _describe_intended(form: NormalForm) -> Theory:
    """Solve the table of what is meant; the same object is solved once."""
    return _describe_table(form)


def may_have_equilibrium(game: Game[S]) -> bool:
    """Say whether `describe_theory` is likely to find an equilibrium.

    Neither a table nor a tree is solved for this.
    """
    stage = find_stage(game)
    if isinstance(stage, HasNormalForm):
        return bool(stage.normal_form.payoffs.size <= _MOST_PAYOFFS)
    if isinstance(stage, HasTree):
        return stage.tree.num_nodes <= MOST_NODES
    theory = describe_theory(stage)
    return bool(theory.known or theory.positions or theory.predicted)


def _describe_table(form: NormalForm) -> Theory:
    optimum = float(form.payoffs.sum(axis=0).max())
    solved = _solve(form) if form.payoffs.size <= _MOST_PAYOFFS else None
    if not isinstance(solved, SolvedTable):
        return Theory(form, optimum=optimum)
    predicted = []
    for equilibrium in solved.nash:
        seats = zip(form.players, form.actions, equilibrium.strategies, strict=True)
        shares = {}
        for role, actions, mix in seats:
            shares[role] = {"": dict(zip(actions, mix.tolist(), strict=True))}
        predicted.append(_predict(form.players, equilibrium, shares))
    method = solved.nash.method
    complete = solved.nash.complete
    return Theory(
        form=form,
        tree=None,
        known=None,
        solution=solved,
        predicted=tuple(predicted),
        policies=(),
        method=method,
        complete=complete,
        optimum=optimum,
    )


def _solve(form: NormalForm | Tree, wish: Wish = _USUAL_WISH) -> SolvedTable | SolvedTree | None:
    """Solve the game if a method is sure of its answer.

    Returns None if a player forgets, payoffs are out of range, or no method is sure of its answer.
    """
    try:
        return solve_form(form, wish)
    except (InvalidGame, NotCertified):
        return None


def _predict(players: Sequence[str], equilibrium: Equilibrium, shares: Shares) -> Predicted:
    payoffs = dict(zip(players, equilibrium.payoffs.tolist(), strict=True))
    return Predicted(equilibrium.kind, shares, payoffs, equilibrium.regret)


def _describe_tree(tree: Tree, most: int = MOST_NODES) -> Theory:
    optimum = _find_most_welfare(tree)
    solved = None
    if tree.num_nodes <= MOST_NODES:
        solved = _solve(tree)
    elif tree.num_nodes <= most and tree.num_players == 2 and tree.is_constant_sum:
        solved = _solve(tree, Wish(method="cfr+", iterations=_ITERATIONS))
    if not isinstance(solved, SolvedTree):
        return Theory(None, tree, optimum=optimum)
    if solved.table is None:
        policies = [e.policy for e in solved.equilibria]
        predicted = [
            Predicted(
                e.kind,
                e.policy.table(),
                e.payoffs,
                e.regret,
            )
            for e in solved.equilibria
        ]
    else:
        equilibria = solved.table.nash.equilibria
        policies = [find_behaviour(tree, e.strategies) for e in equilibria]
        pairs = zip(equilibria, policies, strict=True)
        predicted = [_predict(tree.players, e, policy.table()) for e, policy in pairs]
    known = tuple(predicted), tuple(policies)
    return Theory(
        None,
        tree,
        None,
        solved,
        *known,
        method=solved.method,
        complete=solved.complete,
        optimum=optimum,
    )


def _find_most_welfare(tree: Tree) -> float:
    """Return what all would have together if everybody knew everything and worked for it."""
    welfare = tree.payoffs.sum(axis=1)
    values = np.where(tree.owner == LEAF, welfare, np.where(tree.owner == CHANCE, 0.0, -np.inf))
    for node in range(tree.num_nodes - 1, 0, -1):
        parent = int(tree.parent[node])
        if tree.owner[parent] == CHANCE:
            values[parent] += tree.probability[node] * values[node]
        else:
            values[parent] = max(values[parent], values[node])
    return float(values[0])
