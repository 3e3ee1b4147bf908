"""What each answer of a play cost: against what the others really did, and against the equilibrium.

Against the others: what the best answer to their answers of the same round would have earned more; for games with a
payoff table. Against the equilibrium: what the answer loses if everybody else plays it, however well one goes on; where
there are several, the smallest loss counts, so that an answer that belongs to any of them costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bestresponse.analysis.move_values import compute_move_values
from bestresponse.analysis.solve.solution import SolvedTable
from bestresponse.analysis.theory import Theory, describe_theory, find_infoset
from bestresponse.core.capabilities import measure_decision_cost
from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.game import NATURE, REFEREE, Action, AnyGame, Role
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.tree import Tree

Costs = dict[int, float]
"""By number of the answer, from 1."""

_MOST_EQUILIBRIA = 20


def iterate_decisions(record: Record, game: AnyGame) -> Iterator[tuple[int, Any, Role, Action]]:
    """Yield every answer of a seat with its number and the state in which it was given, without those of nature."""
    episode: AnyEpisode = Episode(game)
    for number, submission in enumerate(record.submissions, 1):
        state, action = episode.state, submission.decision.action
        if submission.role not in (NATURE, REFEREE) and action is not None:
            yield number, state, submission.role, action
        episode.submit(submission.role, submission.decision)


def measure_against_others(record: Record, game: AnyGame | None) -> Costs:
    """Measure answers round by round, in games with a payoff table."""
    form = find_stage_form(game) if game is not None else None
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
            for role, values, own in zip(form.players, deviation_payoffs(form, mixes), mixes, strict=True):
                found[waiting[role][0]] = max(0.0, float(values.max() - values @ own))
            waiting = {}
    return found


def measure_against_equilibrium(record: Record, game: AnyGame | None) -> Costs:
    """Measure answers wherever the game is solved; nothing elsewhere."""
    if game is None:
        return {}
    theory = describe_theory(game)
    if theory.form is not None:
        return _measure_in_table(record, game, theory)
    if theory.tree is not None:
        return _measure_in_tree(record, game, theory, theory.tree)
    costs = {n: measure_decision_cost(game, state, role, a) for n, state, role, a in iterate_decisions(record, game)}
    return {number: cost for number, cost in costs.items() if cost is not None}


def _measure_in_table(record: Record, game: AnyGame, theory: Theory) -> Costs:
    form = theory.form
    if form is None or not isinstance(theory.solution, SolvedTable) or not theory.predicted:
        return {}
    equilibria = theory.solution.nash.equilibria[:_MOST_EQUILIBRIA]
    return {
        number: _measure_in_cell(form, equilibria, form.players.index(role), action)
        for number, _, role, action in iterate_decisions(record, game)
    }


def _measure_in_cell(form: NormalForm, equilibria: tuple[Equilibrium, ...], seat: int, action: Action) -> float:
    own = as_strategy(action, form.actions[seat])
    rows = (deviation_payoffs(form, one.strategies)[seat] for one in equilibria)
    return max(0.0, min(float(values.max() - values @ own) for values in rows))


def _measure_in_tree(record: Record, game: AnyGame, theory: Theory, tree: Tree) -> Costs:
    tables = [compute_move_values(tree, policy) for policy in theory.policies[:_MOST_EQUILIBRIA]]
    found: Costs = {}
    for number, state, role, action in iterate_decisions(record, game):
        index = find_infoset(tree, game.view(state, role))
        moves = tree.infosets[index].moves
        rows = [table[index] for table in tables if index in table]
        move = action if isinstance(action, str) else f"{action:g}"
        if rows and move in moves:
            found[number] = max(0.0, min(float(row.max() - row[moves.index(move)]) for row in rows))
    return found
