"""What each answer of a play cost: against what the others really did, and against the equilibrium.

Against the others: what the best answer to their answers of the same round would have earned more; for games with a
payoff table. Against the equilibrium: what the answer loses if everybody else plays it, however well one goes on; where
there are several, the smallest loss counts, so that an answer that belongs to any of them costs nothing.

`price_choices` shows the choices of one seat with their costs; there the first equilibrium is taken, so that the best
move can be named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable
from bestresponse.analysis.theory import Theory, describe_theory, find_infoset
from bestresponse.core.capabilities import measure_decision_cost
from bestresponse.core.episode import AnyEpisode, Episode, Record
from bestresponse.core.game import NATURE, REFEREE, Action, AnyGame, Role
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.games.matrix.repeated import Rounds
from bestresponse.report.frames import Frame, column
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, Policy, Tree

Costs = dict[int, float]
"""By number of the answer, from 1."""

_MOST_EQUILIBRIA = 20
_NEVER = 1e-9


class ChoiceRow(TypedDict):
    """One choice, the best reply to what the others did, and what the choice cost."""

    number: Annotated[int, column("#")]
    choice: str
    best_reply: Annotated[str | None, column("best reply", help="to what the others did")]
    cost: Annotated[float | None, column("cost", ".3g", "what the best reply would have earned more")]
    best_in_equilibrium: Annotated[str | None, column("best in equilibrium", help="if the others play an equilibrium")]
    equilibrium_cost: Annotated[float | None, column("cost in equilibrium", ".3g", "what that move earns more")]


def price_choices(game: AnyGame, record: Record, role: Role) -> Frame[ChoiceRow]:
    """List the choices of a seat with what they cost; empty where the game is neither a table nor a small tree.

    In a tree only the cost in equilibrium is known.
    """
    theory = describe_theory(game)
    rows: list[ChoiceRow] = []
    if theory.form is not None:
        form, seat = theory.form, theory.form.players.index(role)
        state = Episode(game, record.submissions).state
        played = state.played if isinstance(state, Rounds) else [tuple(state)]
        # A choice is what was meant: what noise made of it is not the seat's doing.
        choices = [moves[seat] for moves in (state.meant if isinstance(state, Rounds) and state.meant else played)]
        expected = next((values[seat] for values in _list_deviations(theory)), None)
        for joint, choice in zip(played, choices, strict=True):
            mixes = [as_strategy(action, moves) for action, moves in zip(joint, form.actions, strict=True)]
            rows.append(_price(len(rows), form.actions[seat], choice, deviation_payoffs(form, mixes)[seat], expected))
    elif theory.tree is not None and theory.policies:
        tree, values = theory.tree, compute_move_values(theory.tree, theory.policies[0])
        for _, state, decider, action in iterate_decisions(record, game):
            if decider == role:
                index = find_infoset(tree, game.view(state, role))
                rows.append(_price(len(rows), tree.infosets[index].moves, str(action), None, values.get(index)))
    return Frame(ChoiceRow, rows)


def _price(done: int, moves: Sequence[str], choice: str, earned: Array | None, expected: Array | None) -> ChoiceRow:
    """Compare a choice with the best move, by what moves earn against the others and against the equilibrium."""
    chosen = moves.index(choice)
    return ChoiceRow(
        number=done + 1,
        choice=choice,
        best_reply=None if earned is None else moves[int(np.argmax(earned))],
        cost=None if earned is None else float(earned.max() - earned[chosen]),
        best_in_equilibrium=None if expected is None else moves[int(np.argmax(expected))],
        equilibrium_cost=None if expected is None else float(expected.max() - expected[chosen]),
    )


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
    costs: Costs = {}
    waiting: dict[Role, tuple[int, Action]] = {}
    for number, submission in enumerate(record.submissions, 1):
        if submission.role not in form.players or submission.decision.action is None:
            continue
        waiting[submission.role] = (number, submission.decision.action)
        if len(waiting) == len(form.players):
            mixes = [as_strategy(waiting[who][1], moves) for who, moves in zip(form.players, form.actions, strict=True)]
            for role, values, mix in zip(form.players, deviation_payoffs(form, mixes), mixes, strict=True):
                costs[waiting[role][0]] = max(0.0, float(values.max() - values @ mix))
            waiting = {}
    return costs


def measure_against_equilibrium(record: Record, game: AnyGame | None) -> Costs:
    """Measure answers wherever the game is solved; nothing elsewhere."""
    if game is None:
        return {}
    theory = describe_theory(game)
    decisions = iterate_decisions(record, game)
    costs: Costs = {}
    if theory.form is not None:
        deviations = _list_deviations(theory)
        for number, _, role, action in decisions if deviations else ():
            seat = theory.form.players.index(role)
            mix = as_strategy(action, theory.form.actions[seat])
            costs[number] = max(0.0, min(float(values[seat].max() - values[seat] @ mix) for values in deviations))
    elif theory.tree is not None:
        tables = [compute_move_values(theory.tree, policy) for policy in theory.policies[:_MOST_EQUILIBRIA]]
        for number, state, role, action in decisions:
            index = find_infoset(theory.tree, game.view(state, role))
            moves = theory.tree.infosets[index].moves
            rows = [table[index] for table in tables if index in table]
            move = action if isinstance(action, str) else f"{action:g}"
            if rows and move in moves:
                costs[number] = max(0.0, min(float(row.max() - row[moves.index(move)]) for row in rows))
    else:
        for number, state, role, action in decisions:
            cost = measure_decision_cost(game, state, role, action)
            if cost is not None:
                costs[number] = cost
    return costs


def _list_deviations(theory: Theory) -> list[tuple[Array, ...]]:
    """List for the first equilibria of a table what every action of every seat earns against the others."""
    if theory.form is None or not isinstance(theory.solution, SolvedTable):
        return []
    form, equilibria = theory.form, theory.solution.nash.equilibria[:_MOST_EQUILIBRIA]
    return [deviation_payoffs(form, equilibrium.strategies) for equilibrium in equilibria]


def compute_move_values(tree: Tree, policy: Policy) -> Mapping[int, Array]:
    """Compute for every information set what each move earns its player, who goes on as well as possible.

    The nodes of an information set count as often as chance and the others make them likely. Where these never come, a
    set of one node is valued by what the policy says of the play from there; of a larger one it is not known which node
    it would be, and it is left out.
    """
    chances, reach = np.ones(tree.num_nodes), np.ones((tree.num_nodes, tree.num_players))
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        owner = int(tree.owner[parent])
        if owner == CHANCE:
            chances[node] = tree.probability[node]
        else:
            chances[node] = policy.probabilities[tree.first_move[tree.infoset[parent]] + tree.move[node]]
        reach[node] = reach[parent] * chances[node]
        if owner != CHANCE:
            reach[node, owner] = reach[parent, owner]
    values = np.array(tree.payoffs, dtype=np.float64)
    for node in range(tree.num_nodes - 1, 0, -1):
        values[tree.parent[node]] += chances[node] * values[node]
    asked = np.flatnonzero(tree.infoset >= 0)
    infosets, count = tree.infoset[asked], len(tree.infosets)
    sizes = np.bincount(infosets, minlength=count)
    likely = np.bincount(infosets, reach[asked, tree.owner[asked]], minlength=count)
    table = {k: row / likely[k] for k, row in counterfactual_values(tree, policy).items() if likely[k] > _NEVER}
    for node in asked.tolist():
        index, owner = int(tree.infoset[node]), int(tree.owner[node])
        if index not in table and sizes[index] == 1:
            table[index] = np.array([values[child][owner] for child in tree.children[node]])
    return table
