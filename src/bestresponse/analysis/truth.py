"""What every legal answer is worth: the one place that all studies and reports get it from.

A truth values the answers of a role in a state of a game, `Truth.values(state, role)`: from a
payoff table, a tree, a graph of positions, a closed form, or the known strategies of the others
(`analysis.costs`). What is called lost, regret, gap or best is said of these values.

Against an equilibrium an answer is worth what it earns if everybody else plays it, however well one
goes on. Where several equilibria are listed, there is no single loss: it lies between the least and
the most over all of them, and 0 as the least says that the answer belongs to one. In a repeated
game this is an equilibrium of one round, which is one of all rounds too if it is played in each.

At an information set that the equilibrium never comes to, it decides how likely the nodes are there
that all others tremble: each chooses any move with probability `TREMBLE`, spread evenly, beside
what the equilibrium says. How the play goes on from each node is the equilibrium's.

Whoever mixes is indifferent, so that single moves say nothing about a mixture: always rock loses
nothing, move by move. `Truth.judges_moves` says where a regret per move means something; elsewhere
a policy is judged as a whole, by what a best reply gains (`studies.simulate.regrets`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bestresponse.analysis.solve.solution import SolvedTable
from bestresponse.analysis.theory import SameObject, Theory, describe_theory, find_infoset
from bestresponse.core.ask import Ask, Choice
from bestresponse.core.capabilities import (
    AnyPositions,
    KnownEquilibrium,
    measure_decision_cost,
)
from bestresponse.core.episode import Record
from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.core.game import NATURE, REFEREE, AnyGame, Game, Role, S
from bestresponse.core.player import find_forced
from bestresponse.games.capabilities import HasCourse
from bestresponse.games.matrix.game import as_strategy
from bestresponse.telling.render import write_history
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.regrets import deviation_payoffs
from bestresponse.theory.positions.solve import PositionSolution
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.trees.compile import list_answers
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, Policy, Tree

TREMBLE = 1e-6
"""The probability with which others leave an equilibrium, where it never comes."""
_NEVER = 1e-9
_ROUNDING = 1e-12
"""Differences of values up to this, times the largest payoff, are rounding."""
_MOST_LISTED = 1_000
"""Of more answers, such as amounts, only those that are asked about are valued."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What an answer loses, at least and at most over the equilibria that are listed.

    `best` is a best answer at the equilibrium that suits the answer most: the answer itself if
    nothing is better there. `stake` is the most that any answer loses, infinite where the answers
    cannot be listed: at a stake of 0 all are worth the same, and there is nothing to decide.
    """

    best: str
    least: float
    most: float
    stake: float = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What the answers of a role are worth: a row for each equilibrium, a column for each answer.

    A number is wrong by at most `bound`, or by the regret of an equilibrium that was approximated.
    """

    answers: tuple[str, ...]
    worths: Array
    bound: float = 0.0
    listed: bool = True
    """Whether no answer is missing."""

    @property
    def by_answer(self) -> dict[str, float]:
        """What each answer is worth in the first equilibrium."""
        return dict(zip(self.answers, self.worths[0].tolist(), strict=True))

    def cover(self, answer: object) -> bool:
        """Say whether an answer is among those that are valued; a mixture of them is."""
        return name_answer(answer) in self.answers or isinstance(answer, tuple | list)

    def lose(self, answer: object, equilibrium: int | None = None) -> Lost:
        """Say what an answer or a mixture loses, at one of the equilibria where one is named."""
        named = name_answer(answer)
        mix = as_strategy(named if named in self.answers else answer, self.answers)
        worths = self.worths if equilibrium is None else self.worths[[equilibrium]]
        largest = float(np.abs(worths).max())
        rounding = max(2 * self.bound, _ROUNDING * max(1.0, largest))
        lost = worths.max(axis=1) - worths @ mix
        lost = np.where(lost > rounding, lost, 0.0)
        suits = int(lost.argmin())
        best = int(mix.argmax() if lost[suits] == 0 else worths[suits].argmax())
        stake = math.inf
        if self.listed:
            apart = float(np.ptp(worths, axis=1).max())
            stake = apart if apart > rounding else 0.0
        return Lost(self.answers[best], float(lost[suits]), float(lost.max()), stake)


@dataclass(frozen=True, eq=False)
class Truth(ABC):
    """What is known of a game. `theory` says how it was found, and lists the equilibria.

    A place is a point of a play that `begin` and `advance` lead to: a state by default.
    """

    game: AnyGame
    theory: Theory

    @property
    def complete(self) -> bool:
        """Whether no equilibrium is missing, so that least and most are over all."""
        return self.theory.complete

    @property
    def judges_moves(self) -> bool:
        """Whether a regret per move means something: nothing is hidden, or nobody ever mixes."""
        return self.complete and all(one.kind == "pure" for one in self.theory.predicted)

    @abstractmethod
    def values(self, state: object, role: Role, answer: object = None) -> Values | None:
        """Return what the answers of a role are worth in a state; None where nobody knows.

        Where the answers cannot be listed, those of the equilibrium and `answer` are valued.
        """

    def name_place(self, state: object, role: Role) -> str:
        """Say where a role decides, in the words in which it is told."""
        return write_history(self.game.view(state, role))

    def begin(self) -> Any:
        """Return the place of a play before anybody has moved."""
        return self.game.start()

    def advance(self, place: Any, moves: Mapping[Role, Any]) -> Any:
        """Return the place after what was answered at the same time."""
        return self.game.apply(place, moves)

    def expect(self, place: Any) -> Array | None:
        """Return what each role earns if everybody plays the first equilibrium from a place on."""
        return None


def find_truth(game: Game[S]) -> Truth | None:
    """Return what is known of a game; None where it is too large or nobody knows.

    The same object is looked at once.

    >>> from bestresponse.games.lookup import find_game
    >>> dilemma = find_game("prisoners-dilemma").playable()
    >>> find_truth(dilemma).values((), "row").lose("cooperate")
    Lost(best='defect', least=1.0, most=1.0, stake=1.0)
    """
    return _find_truth(SameObject(game))


@lru_cache(maxsize=64)
def _find_truth(key: SameObject) -> Truth | None:
    game = key.game
    theory = describe_theory(game)
    if isinstance(theory.solution, SolvedTable):
        return TableTruth(game, theory) if theory.predicted else None
    if theory.tree is not None:
        return TreeTruth(game, theory) if theory.policies else None
    if theory.positions is not None:
        return PositionTruth(game, theory)
    if theory.known is not None:
        return KnownTruth(game, theory)
    return None


class TableTruth(Truth):
    """A payoff table, once or round after round."""

    @property
    def judges_moves(self) -> bool:
        """Whether nobody ever mixes; without a last round much else is an equilibrium."""
        endless = isinstance(self.game, HasCourse) and self.game.repetition.continuation < 1
        return super().judges_moves and not endless

    def name_place(self, state: object, role: Role) -> str:
        """Leave the place without a name: every round is the same."""
        return ""

    @cached_property
    def _worths(self) -> Mapping[Role, Values]:
        solved = self.theory.solution
        assert isinstance(solved, SolvedTable)
        form = solved.game
        rows = [deviation_payoffs(form, one.strategies) for one in solved.nash.equilibria]
        bound = max(one.regret for one in solved.nash.equilibria)
        found = {}
        for seat, role in enumerate(form.players):
            worths = np.array([row[seat] for row in rows])
            found[role] = Values(form.actions[seat], worths, bound)
        return found

    def values(self, state: object, role: Role, answer: object = None) -> Values | None:
        """Return what the actions earn against each equilibrium, the same in every round."""
        return self._worths.get(role)

    def expect(self, place: Any) -> Array | None:
        """Add up what was earned and what the rounds that are left earn in equilibrium."""
        earned = np.fromiter(self.game.payoffs(place).values(), float)
        if not self.game.asks(place):
            return earned
        each = np.fromiter(self.theory.predicted[0].payoffs.values(), float)
        if not isinstance(self.game, HasCourse):
            return each
        course = self.game.repetition
        done = len(self.game.view(place, self.game.roles[0]).facts["history"])
        left = Repetition(
            max(1, course.rounds - done),
            continuation=course.continuation,
            discount=course.discount,
        )
        return np.asarray(earned + course.weigh(done) * left.expected_weight * each)


class TreeTruth(Truth):
    """A game in extensive form, or one that was compiled to it; a place is a node of the tree."""

    @property
    def tree(self) -> Tree:
        """The tree."""
        assert self.theory.tree is not None
        return self.theory.tree

    @property
    def judges_moves(self) -> bool:
        """Whether nothing is hidden, or nobody mixes in any equilibrium."""
        return self.tree.is_perfect_information or super().judges_moves

    def values(self, state: object, role: Role, answer: object = None) -> Values | None:
        """Return what the moves earn at the information set of a state."""
        return self.values_at(find_infoset(self.tree, self.game.view(state, role)))

    def values_at(self, infoset: int) -> Values:
        """Return what the moves of an information set earn."""
        tables = value_policies(self.theory)
        worths = np.array([table.worths[infoset] for table in tables])
        bound = max(one.regret for one in self.theory.predicted)
        if any(infoset in table.trembled for table in tables):
            bound += TREMBLE * len(self.tree.levels) * float(np.ptp(worths))
        return Values(self.tree.infosets[infoset].moves, worths, bound)

    def begin(self) -> int:
        """Begin at the root."""
        return 0

    def advance(self, place: int, moves: Mapping[Role, Any]) -> int:
        """Follow the moves; those made at once come one after another in the tree."""
        for _ in moves:
            owner = int(self.tree.owner[place])
            named = name_answer(moves[NATURE if owner == CHANCE else self.tree.players[owner]])
            below = self.tree.children[place]
            place = next(node for node in below if self.tree.branch_labels[node] == named)
        return place

    def expect(self, place: int) -> Array | None:
        """Look up what everybody earns from a node on."""
        found: Array = _expect_nodes(self.theory)[place]
        return found


class PositionTruth(Truth):
    """A game of perfect information, solved by its positions."""

    game: AnyPositions

    @property
    def solution(self) -> PositionSolution:
        """What the positions are worth."""
        assert self.theory.positions is not None
        return self.theory.positions

    @property
    def complete(self) -> bool:
        """Whether ties of the mover are ties for everybody, so that values are unique."""
        return not len(self.solution.forks)

    @property
    def judges_moves(self) -> bool:
        """Nothing is hidden."""
        return True

    def values(self, state: object, role: Role, answer: object = None) -> Values | None:
        """Return what the moves lead to."""
        try:
            worths = self.solution.list_worths(self.game, self.game.find_position(state))
        except TooLarge:
            return None
        return Values(tuple(worths), np.array([list(worths.values())]), self.solution.bound)

    def expect(self, place: Any) -> Array | None:
        """Look up what a position is worth, and what a play that is over or stopped pays."""
        if not self.game.asks(place):
            return np.fromiter(self.game.payoffs(place).values(), float)
        number = self.solution.graph.known[self.game.find_key(self.game.find_position(place))]
        found: Array = self.solution.values[number]
        return found


class KnownTruth(Truth):
    """A game that knows its equilibrium in closed form: worths are less what an answer costs."""

    @property
    def complete(self) -> bool:
        """One equilibrium is known, and not whether it is the only one."""
        return False

    @property
    def judges_moves(self) -> bool:
        """Nobody mixes in an equilibrium that is given as answers."""
        return True

    def values(self, state: object, role: Role, answer: object = None) -> Values | None:
        """Return what answers cost beside that of the equilibrium, which is worth 0."""
        ask = self.game.asks(state).get(role)
        if ask is None or not isinstance(self.game, KnownEquilibrium):
            return None
        valued = [self.game.choose_equilibrium(self.game.view(state, role), ask)]
        if answer is not None:
            valued.append(answer)
        listed = False
        with suppress(InvalidGame, TooLarge):
            if isinstance(ask, Choice) or len(valued) == 1:
                valued += list_answers(self.game, role, ask, _MOST_LISTED).values()
                listed = True
        costs: dict[str, float] = {}
        for one in valued:
            cost = measure_decision_cost(self.game, state, role, one)
            if cost is None:
                return None
            costs.setdefault(name_answer(one), cost)
        return Values(tuple(costs), -np.array([list(costs.values())]), listed=listed)


def name_answer(answer: object) -> str:
    """Name an answer as trees do: whole amounts without a point."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, int | float):
        return f"{answer:g}"
    if isinstance(answer, tuple | list):
        return ", ".join(map(name_answer, answer))
    if isinstance(answer, Mapping):
        return ", ".join(f"{part} {name_answer(value)}" for part, value in answer.items())
    return str(answer)


@dataclass(frozen=True, slots=True)
class AnsweredStage:
    """Answers given at the same time: what was asked, and each with its number in the record."""

    state: Any
    asks: Mapping[Role, Ask]
    answers: Mapping[Role, tuple[int, object]]

    @property
    def moves(self) -> dict[Role, object] | None:
        """What was answered; None where the play broke off."""
        if len(self.answers) < len(self.asks):
            return None
        return {role: action for role, (_, action) in self.answers.items()}


def trace_stages(record: Record, game: Game[S]) -> Iterator[AnsweredStage]:
    """Yield the answers of a record stage by stage; an answer that could not be read is left out.

    The answers are taken to be legal, as those of a record are.
    """
    state = game.start()
    asks = game.asks(state)
    answers: dict[Role, tuple[int, object]] = {}
    for number, submission in enumerate(record.submissions, 1):
        if submission.decision.action is not None:
            answers[submission.role] = (number, submission.decision.action)
        if len(answers) < len(asks):
            continue
        stage = AnsweredStage(state, asks, answers)
        yield stage
        state = game.apply(state, stage.moves or {})
        asks = game.asks(state)
        answers = {}
    if answers:
        yield AnsweredStage(state, asks, answers)


def iterate_decisions(record: Record, game: Game[S]) -> Iterator[tuple[int, S, Role, object]]:
    """Yield every answer of a seat with its number and the state it was given in.

    Those of nature and those without a choice are left out.
    """
    for stage in trace_stages(record, game):
        for role, (number, action) in stage.answers.items():
            if role not in (NATURE, REFEREE) and not find_forced(stage.asks[role]):
                yield number, stage.state, role, action


def judge_moves(
    record: Record,
    game: Game[S],
    truth: Truth,
) -> Iterator[tuple[int, S, Role, object, Lost]]:
    """Yield every answer that a truth values, as `iterate_decisions` does, with what it lost."""
    for number, state, role, action in iterate_decisions(record, game):
        values = truth.values(state, role, action)
        if values is not None and values.cover(action):
            yield number, state, role, action, values.lose(action)


def judge_decisions(record: Record, game: Game[S] | None, truth: Truth | None) -> dict[int, Lost]:
    """Say what every answer lost that a truth values, by its number in the record, from 1."""
    if game is None or truth is None:
        return {}
    return {number: lost for number, _, _, _, lost in judge_moves(record, game, truth)}


@dataclass(frozen=True, slots=True, eq=False)
class ValuedPolicy:
    """What moves earn against a policy, by information set.

    At those in `trembled` the others have to tremble for the play to come there.
    """

    worths: Mapping[int, Array]
    trembled: frozenset[int]


@lru_cache(maxsize=16)
def value_policies(theory: Theory) -> Sequence[ValuedPolicy]:
    """Value the moves in every equilibrium of a tree, once for all plays of it."""
    assert theory.tree is not None
    return [value_moves(theory.tree, policy) for policy in theory.policies]


@lru_cache(maxsize=16)
def _expect_nodes(theory: Theory) -> Array:
    """Return what every node is worth to all under the first equilibrium."""
    assert theory.tree is not None
    return _follow(theory.tree, find_chances(theory.tree, theory.policies[0].probabilities))


def value_moves(tree: Tree, policy: Policy) -> ValuedPolicy:
    """Say what each move at every information set earns its player against a policy.

    The player goes on as well as possible.
    """
    row = policy.probabilities
    sizes = np.diff(tree.first_move)
    trembling = (1 - TREMBLE) * row + TREMBLE / np.repeat(sizes, sizes)
    nodes = np.flatnonzero(tree.infoset >= 0)
    infosets = tree.infoset[nodes]
    owners = tree.owner[nodes]
    chances = find_chances(tree, row)
    reach = find_reach(tree, chances)[nodes, owners]
    likely = np.bincount(infosets, reach, len(tree.infosets))
    trembled = frozenset(np.flatnonzero(likely <= _NEVER).tolist())

    exact = counterfactual_values(tree, policy)
    if trembled:
        shaken = counterfactual_values(tree, Policy(tree, trembling))
        exact |= {infoset: shaken[infoset] for infoset in trembled}
        far = find_reach(tree, find_chances(tree, trembling))[nodes, owners]
        reach = np.where(likely[infosets] <= _NEVER, far, reach)
    replying = find_chances(tree, _reply_best(exact, tree))

    totals = np.bincount(infosets, reach, len(tree.infosets))
    table: dict[int, Array] = {}
    for player in range(tree.num_players):
        is_own = np.append(False, tree.owner[tree.parent[1:]] == player)
        worths = _follow(tree, np.where(is_own, replying, chances))[:, player]
        for k in np.flatnonzero(owners == player):
            infoset = int(infosets[k])
            below = reach[k] / totals[infoset] * worths[list(tree.children[nodes[k]])]
            table[infoset] = table.get(infoset, 0.0) + below
    return ValuedPolicy(table, trembled)


def _reply_best(values: Mapping[int, Array], tree: Tree) -> Array:
    """Return the policy of all best replies, as a row."""
    row = np.zeros(int(tree.first_move[-1]))
    for infoset, worths in values.items():
        row[tree.first_move[infoset] + int(worths.argmax())] = 1.0
    return row


def find_chances(tree: Tree, row: Array) -> Array:
    """Return how likely each node follows the one before."""
    chances = tree.probability.copy()
    chosen = 1 + np.flatnonzero(tree.infoset[tree.parent[1:]] >= 0)
    places = tree.first_move[tree.infoset[tree.parent[chosen]]] + tree.move[chosen]
    chances[chosen] = row[places]
    return chances


def find_reach(tree: Tree, chances: Array) -> Array:
    """Return how likely all but one player let the play come to each node, by player."""
    reach = np.ones((tree.num_nodes, tree.num_players))
    seats = np.arange(tree.num_players)
    for nodes in tree.levels[1:]:
        above = tree.parent[nodes]
        is_own = tree.owner[above][:, None] == seats
        reach[nodes] = reach[above] * np.where(is_own, 1.0, chances[nodes, None])
    return reach


def _follow(tree: Tree, chances: Array) -> Array:
    """Return what each node is worth to everybody if the play goes on so."""
    values = np.array(tree.payoffs, dtype=np.float64)
    for nodes in reversed(tree.levels[1:]):
        np.add.at(values, tree.parent[nodes], chances[nodes, None] * values[nodes])
    return values
