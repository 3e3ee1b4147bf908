"""What each answer of a play cost: against what the others really did, and against the equilibrium.

Against the others: what the best answer to their answers of the same round would have earned more; for games with a
payoff table. Against the equilibrium: what the answer loses if everybody else plays it, however well one goes on; where
there are several, the smallest loss counts, so that an answer that belongs to any of them costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree
from bestresponse.analysis.solve.solve import solve_found
from bestresponse.core.episode import Episode, Record
from bestresponse.core.errors import BestResponseError
from bestresponse.core.game import NATURE, REFEREE, Action, Game, Role
from bestresponse.games.economic.known_equilibria import cost_of
from bestresponse.games.logic.game import LogicGame
from bestresponse.games.matrix.game import as_strategy
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.normal_form import behaviour_of
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.response import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree
from bestresponse.web.sessions.games import found_of, stage_form

__all__ = ["Costs", "against_equilibrium", "against_others", "decisions", "infoset_of", "policies_of", "solution_of"]

Costs = dict[int, float]
"""By number of the answer, from 1."""

_MOST_CELLS = 50_000
_MOST_NODES = 20_000
_MOST_EQUILIBRIA = 20
_NEVER = 1e-9


def decisions(record: Record, game: Game[Any]) -> Iterator[tuple[int, Any, Role, Action]]:
    """Every answer of a seat with its number and the state in which it was given; what nature does is left out."""
    episode: Episode[Any] = Episode(game)
    for number, submission in enumerate(record.submissions, 1):
        state, action = episode.state, submission.decision.action
        if submission.role not in (NATURE, REFEREE) and action is not None:
            yield number, state, submission.role, action
        episode.submit(submission.role, submission.decision)


def against_others(record: Record, game: Game[Any] | None) -> Costs:
    """In games with a payoff table, round by round."""
    form = stage_form(game) if game is not None else None
    if form is None:
        return {}
    found: Costs = {}
    waiting: dict[Role, tuple[int, Action]] = {}
    for number, submission in enumerate(record.submissions, 1):
        if submission.role not in form.players or submission.decision.action is None:
            continue
        waiting[submission.role] = (number, submission.decision.action)
        if len(waiting) == len(form.players):
            mixes = [as_strategy(waiting[who][1], moves) for who, moves in zip(form.players, form.actions, strict=True)]
            for seat, role in enumerate(form.players):
                values = _values(form, seat, mixes)
                found[waiting[role][0]] = max(0.0, float(values.max() - values @ mixes[seat]))
            waiting = {}
    return found


def against_equilibrium(record: Record, game: Game[Any] | None) -> Costs:
    """Wherever the game is solved; nothing elsewhere."""
    if game is None:
        return {}
    solution = solution_of(game)
    match solution:
        case SolvedTable():
            return {
                number: _table_cost(solution, solution.game.players.index(role), action)
                for number, _, role, action in decisions(record, game)
            }
        case SolvedTree():
            return _tree_costs(record, game, solution)
        case _:
            costs = {n: cost_of(game, state, role, action) for n, state, role, action in decisions(record, game)}
            return {number: cost for number, cost in costs.items() if cost is not None}


def solution_of(game: Game[Any]) -> SolvedTable | SolvedTree | None:
    """The solution of a table or a tree of moderate size; None where there is none."""
    found = found_of(game)
    if found is None:
        return None
    try:
        solvable = found.solvable()
        if isinstance(solvable, NormalForm) and solvable.payoffs.size > _MOST_CELLS:
            return None
        if isinstance(solvable, Tree) and solvable.num_nodes > _MOST_NODES:
            return None
        return solve_found(found)
    except BestResponseError:
        return None


def policies_of(solved: SolvedTree) -> list[Policy]:
    """How every equilibrium of a solved tree is played, those of its reduced normal form too."""
    if solved.table is None:
        return [one.policy for one in solved.equilibria]
    return [behaviour_of(solved.tree, one.strategies) for one in solved.table.nash.equilibria]


def _values(form: NormalForm, seat: int, mixes: Sequence[Array]) -> Array:
    """What each own action earns against the mixes of the others."""
    values: Array = form.payoffs[seat]
    for other in reversed(range(len(mixes))):
        if other != seat:
            values = np.asarray(np.tensordot(values, mixes[other], axes=(other, 0)))
    return values


def _table_cost(solved: SolvedTable, seat: int, action: Action) -> float:
    own = as_strategy(action, solved.game.actions[seat])
    losses = []
    for equilibrium in solved.nash.equilibria[:_MOST_EQUILIBRIA]:
        values = _values(solved.game, seat, equilibrium.strategies)
        losses.append(float(values.max() - values @ own))
    return max(0.0, min(losses, default=0.0))


def _tree_costs(record: Record, game: Game[Any], solved: SolvedTree) -> Costs:
    tree = solved.tree
    tables = [_move_values(tree, policy) for policy in policies_of(solved)[:_MOST_EQUILIBRIA]]
    found: Costs = {}
    for number, state, role, action in decisions(record, game):
        infoset = infoset_of(tree, game, state, role)
        if infoset is not None and action in tree.infosets[infoset].moves:
            move = tree.infosets[infoset].moves.index(action)
            rows = [table[infoset] for table in tables if infoset in table]
            if rows:
                found[number] = max(0.0, min(float(row.max() - row[move]) for row in rows))
    return found


def infoset_of(tree: Tree, game: Game[Any], state: Any, role: Role) -> int | None:
    """The information set in which `role` is asked in `state`."""
    if isinstance(game, TreeGame):
        return int(tree.infoset[state])
    if not isinstance(game, LogicGame):
        return None
    node = 0
    for move in state:
        node = next(child for child in tree.children[node] if tree.branch_labels[child] == move)
    while tree.owner[node] not in (LEAF, tree.players.index(role)):
        node = tree.children[node][0]
    return None if tree.owner[node] == LEAF else int(tree.infoset[node])


def _move_values(tree: Tree, policy: Policy) -> Mapping[int, Array]:
    """For every information set what each move earns its player if the others follow `policy` and it goes on well.

    Nodes of a set count as chance and the others make them likely. Where these never come, a set of one node is valued
    by what the policy says of the play from there; of a larger one it is not known which node it would be, and it is
    left out.
    """
    chances = _branch_chances(tree, policy)
    values = np.array(tree.payoffs, dtype=np.float64)
    for node in range(tree.num_nodes - 1, 0, -1):
        values[tree.parent[node]] += chances[node] * values[node]
    asked = np.flatnonzero(tree.infoset >= 0)
    sizes = np.bincount(tree.infoset[asked], minlength=len(tree.infosets))
    likely = np.bincount(tree.infoset[asked], _reach_of_others(tree, chances)[asked], minlength=len(tree.infosets))
    found = {k: row / likely[k] for k, row in counterfactual_values(tree, policy).items() if likely[k] > _NEVER}
    for node in asked.tolist():
        index, owner = int(tree.infoset[node]), int(tree.owner[node])
        if index not in found and sizes[index] == 1:
            found[index] = np.array([values[child][owner] for child in tree.children[node]])
    return found


def _branch_chances(tree: Tree, policy: Policy) -> Array:
    """How likely each branch is at its parent."""
    chances = np.ones(tree.num_nodes)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        if tree.owner[parent] == CHANCE:
            chances[node] = tree.probability[node]
        else:
            chances[node] = policy.probabilities[tree.first_move[tree.infoset[parent]] + tree.move[node]]
    return chances


def _reach_of_others(tree: Tree, chances: Array) -> Array:
    """For every node how likely chance and the others than its owner let the play come there."""
    each = np.ones((tree.num_nodes, tree.num_players))
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        each[node] = each[parent] * chances[node]
        owner = int(tree.owner[parent])
        if owner >= 0:
            each[node, owner] = each[parent, owner]
    return np.array([each[node, max(0, int(tree.owner[node]))] for node in range(tree.num_nodes)])
