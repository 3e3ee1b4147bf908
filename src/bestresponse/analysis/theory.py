"""What theory says of a game: its equilibria, seat by seat, and the most that all could have.

Tables are solved, and trees of at most `MOST_NODES` nodes, to which rules are compiled whose
answers can be listed; a game may also know its equilibrium in closed form
(`core.capabilities.KnownEquilibrium`). Of a repeated game this is about one round.

An information set is named by its label; a table has one for each seat, "".

What each answer of a play cost is told against what the others really did, and against the
equilibrium.

Against the others: what the best answer to their answers of the same round would have earned more;
for games with a payoff table. Against the equilibrium: what the answer loses if everybody else
plays it, however well one goes on; where there are several, the smallest loss counts, so that an
answer that belongs to any of them costs nothing.

`price_choices` shows the choices of one seat with their costs; there the first equilibrium is
taken, so that the best move can be named.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, TypedDict

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable, SolvedTree, Wish
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.core.capabilities import (
    EquilibriumSummary,
    find_known_equilibrium,
    measure_decision_cost,
)
from bestresponse.core.episode import Episode, Record
from bestresponse.core.errors import InvalidGame, NotCertified
from bestresponse.core.game import NATURE, REFEREE, Action, AnyGame, Game, Role, S, View
from bestresponse.games.capabilities import HasNormalForm, HasTree, find_stage, find_stage_form
from bestresponse.games.matrix.game import Rounds, as_strategy
from bestresponse.report.frames import Frame, column
from bestresponse.telling.render import write_history
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.normal_form import find_behaviour
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, LEAF, Policy, Tree

MOST_NODES = 20_000
"""Larger trees are not solved unasked."""
_MOST_PAYOFFS = 200_000
"""Larger tables neither."""
_SECONDS = 3.0
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
    """What is known; at most one of `form`, `tree` and `known` is there.

    `predicted` is empty where no equilibrium was computed, `policies` hold the same for trees;
    `optimum` is the most that all can earn together.
    """

    form: NormalForm | None = None
    tree: Tree | None = None
    known: EquilibriumSummary | None = None
    solution: SolvedTable | SolvedTree | None = None
    predicted: tuple[Predicted, ...] = ()
    policies: tuple[Policy, ...] = ()
    method: str = ""
    complete: bool = False
    optimum: float | None = None

    def name_infoset(self, view: View) -> str:
        """Name the information set in which the role of `view` decides."""
        return "" if self.tree is None else self.tree.infosets[find_infoset(self.tree, view)].label


def find_infoset(tree: Tree, view: View) -> int:
    """Return the number of the information set of `view`, in the tree of its game or in the one
    compiled from it."""
    known = tree.infoset_index
    return known[view.role, view.key if (view.role, view.key) in known else view.facts["infoset"]]


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """A game as a key of a cache: the same object is the same key."""

    game: AnyGame

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.game is other.game

    def __hash__(self) -> int:
        return id(self.game)


def describe_theory(game: Game[S]) -> Theory:
    """Solve `game` where its size allows; the same object is solved once.

    >>> from bestresponse.games.lookup import find_game
    >>> describe_theory(find_game("prisoners-dilemma").playable()).predicted[0].kind
    'pure'
    """
    return _describe(_Identity(find_stage(game)))


@lru_cache(maxsize=64)
def _describe(key: _Identity) -> Theory:
    game = key.game
    if isinstance(game, HasNormalForm):
        return _describe_table(game.normal_form)
    if isinstance(game, HasTree):
        return _describe_tree(game.tree)
    known = find_known_equilibrium(game)
    if known is None:
        with suppress(InvalidGame):
            return _describe_tree(compile_game(game, limit=MOST_NODES, label=write_history))
        return Theory()
    best = known.payoffs if known.better_payoffs is None else known.better_payoffs
    return Theory(known=known, method=known.concept, optimum=sum(best.values()) if best else None)


def may_have_equilibrium(game: Game[S]) -> bool:
    """Say whether `describe_theory` is likely to find an equilibrium, without solving a table or a
    tree for it."""
    stage = find_stage(game)
    if isinstance(stage, HasNormalForm):
        return bool(stage.normal_form.payoffs.size <= _MOST_PAYOFFS)
    if isinstance(stage, HasTree):
        return stage.tree.num_nodes <= MOST_NODES
    theory = describe_theory(stage)
    return theory.known is not None or bool(theory.predicted)


def _describe_table(form: NormalForm) -> Theory:
    optimum = float(form.payoffs.sum(axis=0).max())
    solved = _solve(form) if form.payoffs.size <= _MOST_PAYOFFS else None
    if not isinstance(solved, SolvedTable):
        return Theory(form, optimum=optimum)
    predicted = []
    for equilibrium in solved.nash:
        seats = zip(form.players, form.actions, equilibrium.strategies, strict=True)
        shares = {
            role: {"": dict(zip(actions, mix.tolist(), strict=True))}
            for role, actions, mix in seats
        }
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


def _solve(form: NormalForm | Tree) -> SolvedTable | SolvedTree | None:
    """Solve it; None where a player forgets, payoffs are out of range, or no method is sure of its
    answer."""
    try:
        return solve_form(form, Wish(seconds=_SECONDS))
    except (InvalidGame, NotCertified):
        return None


def _predict(players: Sequence[str], equilibrium: Equilibrium, shares: Shares) -> Predicted:
    payoffs = dict(zip(players, equilibrium.payoffs.tolist(), strict=True))
    return Predicted(equilibrium.kind, shares, payoffs, equilibrium.regret)


def _describe_tree(tree: Tree) -> Theory:
    optimum = _find_most_welfare(tree)
    solved = _solve(tree) if tree.num_nodes <= MOST_NODES else None
    if not isinstance(solved, SolvedTree):
        return Theory(None, tree, optimum=optimum)
    if solved.table is None:
        policies = [e.policy for e in solved.equilibria]
        predicted = [
            Predicted(e.kind, e.policy.table(), e.payoffs, e.regret) for e in solved.equilibria
        ]
    else:
        equilibria = solved.table.nash.equilibria
        policies = [find_behaviour(tree, e.strategies) for e in equilibria]
        pairs = zip(equilibria, policies, strict=True)
        predicted = [_predict(tree.players, e, policy.table()) for e, policy in pairs]
    known = tuple(predicted), tuple(policies)
    return Theory(None, tree, None, solved, *known, solved.method, solved.complete, optimum)


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


Costs = dict[int, float]
"""By number of the answer, from 1."""

_MOST_EQUILIBRIA = 20
_NEVER = 1e-9


class ChoiceRow(TypedDict):
    """One choice, the best reply to what the others did, and what the choice cost."""

    number: Annotated[int, column("#")]
    choice: str
    best_reply: Annotated[str | None, column("best reply", help="to what the others did")]
    cost: Annotated[
        float | None, column("cost", ".3g", "what the best reply would have earned more")
    ]
    best_in_equilibrium: Annotated[
        str | None, column("best in equilibrium", help="if the others play an equilibrium")
    ]
    equilibrium_cost: Annotated[
        float | None, column("cost in equilibrium", ".3g", "what that move earns more")
    ]


def price_choices(game: Game[S], record: Record, role: Role) -> Frame[ChoiceRow]:
    """List the choices of a seat with what they cost; empty where the game is neither a table nor a
    small tree.

    In a tree only the cost in equilibrium is known.
    """
    theory = describe_theory(game)
    rows: list[ChoiceRow] = []
    if theory.form is not None:
        form = theory.form
        seat = theory.form.players.index(role)
        state: Any = Episode(game, record.submissions).state
        played = state.played if isinstance(state, Rounds) else [tuple(state)]
        # A choice is what was meant: what noise made of it is not the seat's doing.
        choices = [
            moves[seat]
            for moves in (state.meant if isinstance(state, Rounds) and state.meant else played)
        ]
        expected = next((values[seat] for values in _list_deviations(theory)), None)
        for joint, choice in zip(played, choices, strict=True):
            mixes = [
                as_strategy(action, moves)
                for action, moves in zip(joint, form.actions, strict=True)
            ]
            rows.append(
                _price(
                    len(rows),
                    form.actions[seat],
                    choice,
                    deviation_payoffs(form, mixes)[seat],
                    expected,
                )
            )
    elif theory.tree is not None and theory.policies:
        tree = theory.tree
        values = compute_move_values(theory.tree, theory.policies[0])
        for _, state, decider, action in iterate_decisions(record, game):
            if decider == role:
                index = find_infoset(tree, game.view(state, role))
                rows.append(
                    _price(
                        len(rows), tree.infosets[index].moves, str(action), None, values.get(index)
                    )
                )
    return Frame(ChoiceRow, rows)


def _price(
    done: int, moves: Sequence[str], choice: str, earned: Array | None, expected: Array | None
) -> ChoiceRow:
    """Compare a choice with the best move, by what moves earn against the others and against the
    equilibrium."""
    chosen = moves.index(choice)
    return ChoiceRow(
        number=done + 1,
        choice=choice,
        best_reply=None if earned is None else moves[int(np.argmax(earned))],
        cost=None if earned is None else float(earned.max() - earned[chosen]),
        best_in_equilibrium=None if expected is None else moves[int(np.argmax(expected))],
        equilibrium_cost=None if expected is None else float(expected.max() - expected[chosen]),
    )


def iterate_decisions(record: Record, game: Game[S]) -> Iterator[tuple[int, S, Role, object]]:
    """Yield every answer of a seat with its number and the state in which it was given, without
    those of nature."""
    episode = Episode(game)
    for number, submission in enumerate(record.submissions, 1):
        state = episode.state
        action = submission.decision.action
        if submission.role not in (NATURE, REFEREE) and action is not None:
            yield number, state, submission.role, action
        episode.submit(submission.role, submission.decision)


def measure_against_others(record: Record, game: Game[S] | None) -> Costs:
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
            mixes = [
                as_strategy(waiting[seat][1], moves)
                for seat, moves in zip(form.players, form.actions, strict=True)
            ]
            for role, values, mix in zip(
                form.players, deviation_payoffs(form, mixes), mixes, strict=True
            ):
                costs[waiting[role][0]] = max(0.0, float(values.max() - values @ mix))
            waiting = {}
    return costs


def measure_against_equilibrium(record: Record, game: Game[S] | None) -> Costs:
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
            costs[number] = max(
                0.0, min(float(values[seat].max() - values[seat] @ mix) for values in deviations)
            )
    elif theory.tree is not None:
        tables = [
            compute_move_values(theory.tree, policy)
            for policy in theory.policies[:_MOST_EQUILIBRIA]
        ]
        for number, state, role, action in decisions:
            index = find_infoset(theory.tree, game.view(state, role))
            moves = theory.tree.infosets[index].moves
            rows = [table[index] for table in tables if index in table]
            move = action if isinstance(action, str) else f"{action:g}"
            if rows and move in moves:
                costs[number] = max(
                    0.0, min(float(row.max() - row[moves.index(move)]) for row in rows)
                )
    else:
        for number, state, role, action in decisions:
            cost = measure_decision_cost(game, state, role, action)
            if cost is not None:
                costs[number] = cost
    return costs


def _list_deviations(theory: Theory) -> list[tuple[Array, ...]]:
    """List for the first equilibria of a table what every action of every seat earns against the
    others."""
    if theory.form is None or not isinstance(theory.solution, SolvedTable):
        return []
    form = theory.form
    equilibria = theory.solution.nash.equilibria[:_MOST_EQUILIBRIA]
    return [deviation_payoffs(form, equilibrium.strategies) for equilibrium in equilibria]


def compute_move_values(tree: Tree, policy: Policy) -> Mapping[int, Array]:
    """Compute for every information set what each move earns its player, who goes on as well as
    possible.

    The nodes of an information set count as often as chance and the others make them likely. Where
    these never come, a set of one node is valued by what the policy says of the play from there; of
    a larger one it is not known which node it would be, and it is left out.
    """
    chances = np.ones(tree.num_nodes)
    reach = np.ones((tree.num_nodes, tree.num_players))
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        owner = int(tree.owner[parent])
        if owner == CHANCE:
            chances[node] = tree.probability[node]
        else:
            chances[node] = policy.probabilities[
                tree.first_move[tree.infoset[parent]] + tree.move[node]
            ]
        reach[node] = reach[parent] * chances[node]
        if owner != CHANCE:
            reach[node, owner] = reach[parent, owner]
    values = np.array(tree.payoffs, dtype=np.float64)
    for node in range(tree.num_nodes - 1, 0, -1):
        values[tree.parent[node]] += chances[node] * values[node]
    asked = np.flatnonzero(tree.infoset >= 0)
    infosets = tree.infoset[asked]
    count = len(tree.infosets)
    sizes = np.bincount(infosets, minlength=count)
    likely = np.bincount(infosets, reach[asked, tree.owner[asked]], minlength=count)
    table = {
        k: row / likely[k]
        for k, row in counterfactual_values(tree, policy).items()
        if likely[k] > _NEVER
    }
    for node in asked.tolist():
        index = int(tree.infoset[node])
        owner = int(tree.owner[node])
        if index not in table and sizes[index] == 1:
            table[index] = np.array([values[child][owner] for child in tree.children[node]])
    return table
