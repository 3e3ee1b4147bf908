"""What every choice of a seat cost in one play: against what the others did, and against an equilibrium.

In a table, or a round of a repeated one, the first cost is what the best reply to the others' moves would have earned
more; the second is what the best reply to their equilibrium strategies earns more than the chosen move does against
them. In a tree only the second is known: what the best move at the information set earns more than the chosen one, if
the others follow the equilibrium and the seat plays best from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.analysis.theory import Theory, describe_theory, find_infoset
from bestresponse.core.episode import Episode, Record
from bestresponse.core.game import AnyGame, Role
from bestresponse.games.matrix.repeated import Rounds
from bestresponse.report.frames import Frame, column
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, Tree


class ChoiceRow(TypedDict):
    """One choice, the best reply to what the others did, and what the choice cost."""

    number: Annotated[int, column("#")]
    choice: str
    best_reply: Annotated[str | None, column("best reply", help="to what the others did")]
    cost: Annotated[float | None, column("cost", ".3g", "what the best reply would have earned more")]
    best_in_equilibrium: Annotated[str | None, column("best in equilibrium", help="if the others play an equilibrium")]
    equilibrium_cost: Annotated[float | None, column("cost in equilibrium", ".3g", "what that move earns more")]


def price_choices(game: AnyGame, record: Record, role: Role) -> Frame[ChoiceRow]:
    """List the choices of a seat with what they cost; empty where the game is neither a table nor a small tree."""
    theory = describe_theory(game)
    if theory.form is not None:
        state = Episode(game, record.submissions).state
        played = state.played if isinstance(state, Rounds) else [tuple(state)]
        seat = theory.form.players.index(role)
        # a choice is what was meant: what noise made of it is not the seat's doing
        choices = [moves[seat] for moves in (state.meant if isinstance(state, Rounds) and state.meant else played)]
        return Frame(ChoiceRow, list(_price_rounds(theory, theory.form, seat, played, choices)))
    if theory.tree is not None and theory.policies:
        return Frame(ChoiceRow, list(_price_path(game, theory.tree, theory.policies[0], record, role)))
    return Frame(ChoiceRow, [])


def _price_rounds(
    theory: Theory, form: NormalForm, seat: int, played: Sequence[Sequence[str]], choices: Sequence[str]
) -> Iterator[ChoiceRow]:
    moves = form.actions[seat]
    payoffs = np.moveaxis(np.asarray(form.payoffs[seat], dtype=float), seat, -1)
    others = [player for player in range(form.num_players) if player != seat]
    in_equilibrium = _mix_others(theory, form, payoffs, others)
    for number, (joint, choice) in enumerate(zip(played, choices, strict=True), 1):
        chosen = moves.index(choice)
        earned = payoffs[tuple(form.actions[player].index(joint[player]) for player in others)]
        best = int(np.argmax(earned))
        best_mixed = None if in_equilibrium is None else int(np.argmax(in_equilibrium))
        yield ChoiceRow(
            number=number,
            choice=moves[chosen],
            best_reply=moves[best],
            cost=float(earned[best] - earned[chosen]),
            best_in_equilibrium=None if best_mixed is None else moves[best_mixed],
            equilibrium_cost=None if in_equilibrium is None else float(max(in_equilibrium) - in_equilibrium[chosen]),
        )


def _mix_others(theory: Theory, form: NormalForm, payoffs: Array, others: Sequence[int]) -> Array | None:
    """Return what each move earns if the others play the first equilibrium; None where none is known."""
    if not theory.predicted:
        return None
    values = payoffs
    for player in others:
        shares = theory.predicted[0].shares[form.players[player]][""]
        values = np.tensordot([shares[action] for action in form.actions[player]], values, axes=1)
    return values


def _price_path(game: AnyGame, tree: Tree, policy: Policy, record: Record, role: Role) -> Iterator[ChoiceRow]:
    values = counterfactual_values(tree, policy)
    reach = _reach_without(tree, policy, tree.players.index(role))
    number = 0
    for done, submission in enumerate(record.submissions):
        if submission.role != role:
            continue
        number += 1
        state = Episode(game, record.submissions[:done]).state
        index = find_infoset(tree, game.view(state, role))
        moves = tree.infosets[index].moves
        chosen = moves.index(str(submission.decision.action))
        weight = float(reach[tree.infoset == index].sum())
        best = int(np.argmax(values[index]))
        # an equilibrium that never lets the play come here says nothing of what a move is worth
        known = weight > 0
        yield ChoiceRow(
            number=number,
            choice=moves[chosen],
            best_reply=None,
            cost=None,
            best_in_equilibrium=moves[best] if known else None,
            equilibrium_cost=float(values[index][best] - values[index][chosen]) / weight if known else None,
        )


def _reach_without(tree: Tree, policy: Policy, player: int) -> Array:
    """Return how likely chance and the others let the play come to each node."""
    reach = np.ones(tree.num_nodes)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        owner = int(tree.owner[parent])
        step = 1.0
        if owner == CHANCE:
            step = float(tree.probability[node])
        elif owner != player:
            step = float(policy.probabilities[tree.first_move[tree.infoset[parent]] + tree.move[node]])
        reach[node] = reach[parent] * step
    return reach
