"""What a choice cost: the one place where `play`, `simulate`, `serve` and replays get it from.

Two costs are told of every choice, each with the move that would have been best.

Against the strategies of the others: what the best reply to them earns more, later rounds included,
with noise and random ends as they are (`theory.repeated.best_reply`). It is known where the others
follow automata or always play the same mixture. In a game of one round it is also known against
somebody whose strategy is not: the best reply to what they answered. Elsewhere there is no number,
since what a choice brings later depends on how the others would have replied.

Against the equilibrium: what the choice loses if everybody else plays it, however well one goes on;
where there are several, the smallest loss counts, so that a choice that belongs to any of them
costs nothing. In a repeated game this is an equilibrium of one round, which is one of all rounds
too if it is played in each.

A choice is what was meant: what noise makes of it is nobody's doing. Costs are valued in the round
in which the choice is made.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable
from bestresponse.analysis.theory import Theory, describe_theory, find_infoset
from bestresponse.core.capabilities import (
    AnyPositions,
    HasPositions,
    KnownEquilibrium,
    measure_decision_cost,
)
from bestresponse.core.episode import Episode, Record
from bestresponse.core.game import NATURE, REFEREE, Game, Role, S
from bestresponse.core.player import find_forced
from bestresponse.games.capabilities import HasCourse, HasStage, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.report.frames import Frame, column
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import contract, deviation_payoffs
from bestresponse.theory.positions.solve import PositionSolution, list_best
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.best_reply import find_slips, value_replies
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, Policy, Tree

_MOST_EQUILIBRIA = 20
_NEVER = 1e-9
_ROUNDING = 1e-12
"""Differences of values up to this, times the largest payoff, are rounding."""

KnownStrategies = Mapping[Role, Automaton]
"""The strategies that are known, by seat; an automaton of one state always plays the same."""


@dataclass(frozen=True, slots=True)
class Priced:
    """The best move in place of a choice and what the choice cost.

    The best move is the choice itself if nothing is better.
    """

    best: str | None
    cost: float


ChoicePrices = dict[int, Priced]
"""By number of the answer in the record, from 1."""


class ChoiceRow(TypedDict):
    """One choice, the best reply to the others, and what the choice cost."""

    number: Annotated[int, column("#")]
    choice: str
    best_reply: Annotated[
        str | None,
        column("best reply", help="to the others' strategies, or in one round to what they did"),
    ]
    cost: Annotated[
        float | None,
        column("cost", ".3g", "how much more the best reply earns, later rounds included"),
    ]
    best_in_equilibrium: Annotated[
        str | None, column("best in equilibrium", help="if the others play an equilibrium")
    ]
    equilibrium_cost: Annotated[
        float | None, column("cost in equilibrium", ".3g", "how much more that move earns")
    ]


def price_choices(
    game: Game[S],
    record: Record,
    role: Role,
    known: KnownStrategies | None = None,
) -> Frame[ChoiceRow]:
    """List the choices of a seat with what they cost; empty where neither cost is known."""
    replies = price_against_strategies(record, game, known or {})
    in_equilibrium = price_against_equilibrium(record, game)
    rows: list[ChoiceRow] = []
    for number, _, decider, action in iterate_decisions(record, game):
        if decider != role or not (number in replies or number in in_equilibrium):
            continue
        reply = replies.get(number)
        expected = in_equilibrium.get(number)
        rows.append(
            ChoiceRow(
                number=len(rows) + 1,
                choice=_name(action),
                best_reply=None if reply is None else reply.best,
                cost=None if reply is None else reply.cost,
                best_in_equilibrium=None if expected is None else expected.best,
                equilibrium_cost=None if expected is None else expected.cost,
            )
        )
    return Frame(ChoiceRow, rows)


def value_best_reply(game: Game[S], role: Role, known: KnownStrategies) -> float | None:
    """Compute what the best reply to the known strategy of the other earns per round, exactly.

    Returns None where it is not known or there is one round only.
    """
    form = find_stage_form(game)
    if form is None or not isinstance(game, HasCourse) or game.repetition.rounds == 1:
        return None
    if any(other not in known for other in form.players if other != role):
        return None
    course = game.repetition
    pricer = _Pricer.make(form, form.players.index(role), known, course)
    values = pricer.value_moves(())
    if values is None:
        return None
    if pricer.automaton is None:  # every round is worth the same
        return float(values.max())
    return float(values.max()) / course.expected_weight


def iterate_decisions(record: Record, game: Game[S]) -> Iterator[tuple[int, S, Role, object]]:
    """Yield every answer of a seat with its number and the state it was given in.

    Those of nature and those without a choice are left out.
    """
    episode = Episode(game)
    for number, submission in enumerate(record.submissions, 1):
        state = episode.state
        action = submission.decision.action
        is_choice = action is not None and not find_forced(episode.pending[submission.role])
        if submission.role not in (NATURE, REFEREE) and is_choice:
            yield number, state, submission.role, action
        episode.submit(submission.role, submission.decision)


def price_against_strategies(
    record: Record,
    game: Game[S] | None,
    known: KnownStrategies,
) -> ChoicePrices:
    """Price the answers in games with a payoff table, of one round or repeated in a known way."""
    form = None if game is None else find_stage_form(game)
    if game is None or form is None:
        return {}
    if isinstance(game, HasCourse):
        course = game.repetition
    elif isinstance(game, HasStage):  # how it goes on is not known
        return {}
    else:
        course = Repetition(1)
    if course.rounds == 1:
        known = {**_read_single_answers(record, form), **known}
    pricers = {}
    for seat, role in enumerate(form.players):
        others = set(form.players) - {role}
        if others <= set(known):
            pricers[role] = _Pricer.make(form, seat, known, course)
    prices: ChoicePrices = {}
    for number, state, role, action in iterate_decisions(record, game):
        pricer = pricers.get(role)
        if pricer is None:
            continue
        history = game.view(state, role).facts.get("history", ())
        values = pricer.value_moves(history)
        if values is not None:
            prices[number] = _price(form.actions[pricer.seat], action, values)
    return prices


def _read_single_answers(record: Record, form: NormalForm) -> dict[Role, Automaton]:
    """Take what each seat answered in a game of one round for its strategy."""
    answers: dict[Role, Automaton] = {}
    for submission in record.submissions:
        action = submission.decision.action
        if submission.role in form.players and action is not None:
            seat = form.players.index(submission.role)
            mix = as_strategy(action, form.actions[seat])
            answers[submission.role] = always_mixing(submission.role, mix)
    return answers


def always_mixing(name: str, mix: Array, other_actions: int | None = None) -> Automaton:
    """Return a one-state automaton that always plays `mix`.

    The other player of the game has the given number of actions.
    """
    others = len(mix) if other_actions is None else other_actions
    return Automaton(name, mix[None], np.zeros((1, len(mix), others), dtype=np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class _Pricer:
    """Values the moves of one seat; `values` has a row for each number of rounds left."""

    form: NormalForm
    seat: int
    rounds: int
    values: Array
    automaton: Automaton | None

    @classmethod
    def make(
        cls,
        form: NormalForm,
        seat: int,
        known: KnownStrategies,
        course: Repetition,
    ) -> "_Pricer":
        """Value every move in every state of the other, by backward induction.

        Against several others there is no answer unless each always plays the same.
        """
        others = [known[role] for number, role in enumerate(form.players) if number != seat]
        automaton = others[0] if len(others) == 1 else None
        if automaton is not None and automaton.states > 1:
            payoffs = form.payoffs[seat] if seat == 0 else form.payoffs[seat].T
            values = _value_once(automaton, payoffs.shape, payoffs.tobytes(), course)
            return cls(form, seat, course.rounds, values, automaton)
        if any(other.states > 1 for other in others):
            return cls(form, seat, course.rounds, np.empty((0, 0, 0)), None)
        # Nothing that is done now changes what the others do later: the round counts alone.
        mixes = []
        for role, actions in zip(form.players, form.shape, strict=True):
            if role == form.players[seat]:
                mixes.append(np.ones(0))
            else:
                mixes.append(known[role].mix[0] @ find_slips(course.noise, actions))
        of_made = contract(form.payoffs[seat], mixes, seat)
        of_meant = find_slips(course.noise, form.shape[seat]) @ of_made
        return cls(form, seat, course.rounds, of_meant[None, None], None)

    def value_moves(self, history: Sequence[Sequence[str]]) -> Array | None:
        """Return what meaning each move is worth after these rounds; None where it is not known."""
        if not self.values.size:
            return None
        if self.automaton is None:
            steady: Array = self.values[0, 0]
            return steady
        own = self.form.actions[self.seat]
        other = self.form.actions[1 - self.seat]
        state = 0
        for moves in history:
            theirs = other.index(moves[1 - self.seat])
            mine = own.index(moves[self.seat])
            state = int(self.automaton.step[state, theirs, mine])
        values: Array = self.values[self.rounds - len(history), state]
        return values


@lru_cache(maxsize=64)
def _value_once(
    automaton: Automaton,
    shape: tuple[int, ...],
    payoffs: bytes,
    course: Repetition,
) -> Array:
    """Value the replies once for all plays against the same automaton."""
    return value_replies(automaton, np.frombuffer(payoffs).reshape(shape), course)


def _price(moves: Sequence[str], action: object, values: Array) -> Priced:
    """Compare a choice, or a mixture, with the best move."""
    mix = as_strategy(action, tuple(moves))
    cost = float(values.max() - values @ mix)
    largest = float(np.abs(values).max())
    if cost <= _ROUNDING * max(1.0, largest):
        likeliest = int(np.argmax(mix))
        chosen = action if isinstance(action, str) else moves[likeliest]
        return Priced(chosen, 0.0)
    best = int(np.argmax(values))
    return Priced(moves[best], cost)


def price_against_equilibrium(record: Record, game: Game[S] | None) -> ChoicePrices:
    """Price the answers wherever the game is solved; nothing elsewhere."""
    if game is None:
        return {}
    theory = describe_theory(game)
    if theory.form is not None:
        return _price_in_table(record, game, theory)
    if theory.tree is not None:
        return _price_in_tree(record, game, theory)
    if theory.positions is not None and isinstance(game, HasPositions):
        return _price_at_positions(record, game, theory.positions)
    prices: ChoicePrices = {}
    for number, state, role, action in iterate_decisions(record, game):
        cost = measure_decision_cost(game, state, role, action)
        if cost is not None:
            prices[number] = Priced(_choose_known(game, state, role), cost)
    return prices


def _price_in_table(record: Record, game: Game[S], theory: Theory) -> ChoicePrices:
    if not isinstance(theory.solution, SolvedTable):
        return {}
    form = theory.solution.game
    equilibria = theory.solution.nash.equilibria[:_MOST_EQUILIBRIA]
    deviations = [deviation_payoffs(form, equilibrium.strategies) for equilibrium in equilibria]
    prices: ChoicePrices = {}
    for number, _, role, action in iterate_decisions(record, game):
        seat = form.players.index(role)
        priced = [_price(form.actions[seat], action, values[seat]) for values in deviations]
        if priced:
            prices[number] = min(priced, key=lambda one: one.cost)
    return prices


def _price_at_positions(
    record: Record, game: AnyPositions, solution: PositionSolution
) -> ChoicePrices:
    prices: ChoicePrices = {}
    for number, state, _, action in iterate_decisions(record, game):
        worths = solution.list_worths(game, game.find_position(state))
        best = list_best(worths)
        lost = max(worths.values()) - worths[_name(action)]
        is_best = action in best
        prices[number] = Priced(_name(action), 0.0) if is_best else Priced(best[0], lost)
    return prices


def _price_in_tree(record: Record, game: Game[S], theory: Theory) -> ChoicePrices:
    tree = theory.tree
    if tree is None:
        return {}
    tables = _value_tree_moves(theory)
    prices: ChoicePrices = {}
    for number, state, role, action in iterate_decisions(record, game):
        index = find_infoset(tree, game.view(state, role))
        moves = tree.infosets[index].moves
        move = _name(action)
        known = [table[index] for table in tables if index in table]
        if known and move in moves:
            priced = [_price(moves, move, values) for values in known]
            prices[number] = min(priced, key=lambda one: one.cost)
    return prices


@lru_cache(maxsize=16)
def _value_tree_moves(theory: Theory) -> list[Mapping[int, Array]]:
    """Value the moves in every equilibrium once for all plays of a tree."""
    if theory.tree is None:
        return []
    policies = theory.policies[:_MOST_EQUILIBRIA]
    return [compute_move_values(theory.tree, policy) for policy in policies]


def _choose_known(game: Game[S], state: S, role: Role) -> str | None:
    """Name what the equilibrium that a game knows in closed form says; None where it does not."""
    ask = game.asks(state).get(role)
    if ask is None or not isinstance(game, KnownEquilibrium):
        return None
    return _name(game.choose_equilibrium(game.view(state, role), ask))


def _name(action: object) -> str:
    """Name a move as trees do: whole amounts without a point."""
    if isinstance(action, str):
        return action
    if isinstance(action, int | float):
        return f"{action:g}"
    if isinstance(action, tuple | list):
        return ", ".join(map(_name, action))
    if isinstance(action, Mapping):
        return ", ".join(f"{part} {_name(value)}" for part, value in action.items())
    return str(action)


def compute_move_values(tree: Tree, policy: Policy) -> Mapping[int, Array]:
    """Compute what each move at every information set earns its player.

    The player is assumed to continue as well as possible.

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
            first = tree.first_move[tree.infoset[parent]]
            chances[node] = policy.probabilities[first + tree.move[node]]
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
    table = {}
    for k, row in counterfactual_values(tree, policy).items():
        if likely[k] > _NEVER:
            table[k] = row / likely[k]
    for node in asked.tolist():
        index = int(tree.infoset[node])
        owner = int(tree.owner[node])
        if index not in table and sizes[index] == 1:
            children = tree.children[node]
            table[index] = np.array([values[child][owner] for child in children])
    return table
