"""What a choice cost beside the best reply to the strategies of the others, where these are known.

The best reply counts later rounds, with noise and random ends as they are
(`theory.repeated.best_reply`). It is known where the others follow automata or always play the same
mixture. In a game of one round it is also known against somebody whose strategy is not: the best
reply to what they answered. Elsewhere there is no number, since what a choice brings later depends
on how the others would have replied.

A choice is what was meant: what noise makes of it is nobody's doing. Costs are valued in the round
in which the choice is made. What choices cost against an equilibrium is in `analysis.truth`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.analysis.theory import Theory
from bestresponse.analysis.truth import (
    Lost,
    Truth,
    Values,
    find_truth,
    iterate_decisions,
    judge_decisions,
    name_answer,
)
from bestresponse.core.episode import Record
from bestresponse.core.game import Game, Role, S
from bestresponse.games.capabilities import HasCourse, HasStage, find_stage_form
from bestresponse.games.matrix.game import as_strategy
from bestresponse.report.frames import Frame, column
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.regrets import contract
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.best_reply import find_slips, value_replies
from bestresponse.theory.repeated.repetition import Repetition

KnownStrategies = Mapping[Role, Automaton]
"""The strategies that are known, by seat; an automaton of one state always plays the same."""


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
        float | None,
        column(
            "cost in equilibrium",
            ".3g",
            "how much more that move earns; of several equilibria"
            " the one that suits the choice best counts",
        ),
    ]
    most_cost: Annotated[
        float | None,
        column("at most", ".3g", "the same at the equilibrium that suits the choice least"),
    ]


def price_choices(
    game: Game[S],
    record: Record,
    role: Role,
    known: KnownStrategies | None = None,
) -> Frame[ChoiceRow]:
    """List the choices of a seat with what they cost; empty where neither cost is known."""
    replies = price_against_strategies(record, game, known or {})
    in_equilibrium = judge_decisions(record, game, find_truth(game))
    rows: list[ChoiceRow] = []
    for number, _, decider, action in iterate_decisions(record, game):
        if decider != role or not (number in replies or number in in_equilibrium):
            continue
        reply = replies.get(number)
        expected = in_equilibrium.get(number)
        rows.append(
            ChoiceRow(
                number=len(rows) + 1,
                choice=name_answer(action),
                best_reply=None if reply is None else reply.best,
                cost=None if reply is None else reply.least,
                best_in_equilibrium=None if expected is None else expected.best,
                equilibrium_cost=None if expected is None else expected.least,
                most_cost=None if expected is None else expected.most,
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
    replies = _Replies.make(form, form.players.index(role), known, course)
    values = replies.value_moves(())
    if values is None:
        return None
    return replies.value_rest(()) / course.expected_weight


@dataclass(frozen=True, eq=False)
class ReplyTruth(Truth):
    """What moves are worth against strategies that are known, in a table or its repetition."""

    replies: Mapping[Role, "_Replies"]

    def name_place(self, state: object, role: Role) -> str:
        """Say what was made in the round before."""
        history = self.game.view(state, role).facts.get("history", ())
        return ", ".join(history[-1]) if history else ""

    def values(self, state: object, role: Role, answer: object = None) -> Values | None:
        """Return what meaning each move is worth after the rounds so far."""
        replies = self.replies.get(role)
        if replies is None:
            return None
        history = self.game.view(state, role).facts.get("history", ())
        worths = replies.value_moves(history)
        if worths is None:
            return None
        return Values(replies.form.actions[replies.seat], worths[None])

    def expect(self, place: object) -> Array:
        """Add what best replies would earn from a place on to what was earned."""
        earned = dict(self.game.payoffs(place))
        if self.game.asks(place):
            for role, replies in self.replies.items():
                history = self.game.view(place, role).facts.get("history", ())
                earned[role] += replies.value_rest(history)
        return np.array(list(earned.values()))


def price_against_strategies(
    record: Record,
    game: Game[S] | None,
    known: KnownStrategies,
) -> dict[int, Lost]:
    """Price the answers in games with a payoff table, of one round or repeated in a known way."""
    form = None if game is None else find_stage_form(game)
    if game is None or form is None:
        return {}
    course = _find_course(game)
    if course is not None and course.rounds == 1:
        known = {**_read_single_answers(record, form), **known}
    return judge_decisions(record, game, find_reply_truth(game, known))


def find_reply_truth(game: Game[S], known: KnownStrategies) -> ReplyTruth | None:
    """Value replies to strategies; None where it is not known how rounds go on."""
    form = find_stage_form(game)
    course = _find_course(game)
    if form is None or course is None:
        return None
    replies = {}
    for seat, role in enumerate(form.players):
        others = set(form.players) - {role}
        if others <= set(known):
            replies[role] = _Replies.make(form, seat, known, course)
    return ReplyTruth(game, Theory(method="best reply", complete=True), replies)


def _find_course(game: Game[S]) -> Repetition | None:
    if isinstance(game, HasCourse):
        return game.repetition
    return None if isinstance(game, HasStage) else Repetition(1)


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
class _Replies:
    """What the moves of one seat are worth; `values` has a row for each number of rounds left."""

    form: NormalForm
    seat: int
    course: Repetition
    values: Array
    automaton: Automaton | None

    @classmethod
    def make(
        cls,
        form: NormalForm,
        seat: int,
        known: KnownStrategies,
        course: Repetition,
    ) -> "_Replies":
        """Value every move in every state of the other, by backward induction.

        Against several others there is no answer unless each always plays the same.
        """
        others = [known[role] for number, role in enumerate(form.players) if number != seat]
        automaton = others[0] if len(others) == 1 else None
        if automaton is not None and automaton.states > 1:
            payoffs = form.payoffs[seat] if seat == 0 else form.payoffs[seat].T
            values = _value_once(automaton, payoffs.shape, payoffs.tobytes(), course)
            return cls(form, seat, course, values, automaton)
        if any(other.states > 1 for other in others):
            return cls(form, seat, course, np.empty((0, 0, 0)), None)
        # Nothing that is done now changes what the others do later: the round counts alone.
        mixes = []
        for role, actions in zip(form.players, form.shape, strict=True):
            if role == form.players[seat]:
                mixes.append(np.ones(0))
            else:
                mixes.append(known[role].mix[0] @ find_slips(course.noise, actions))
        of_made = contract(form.payoffs[seat], mixes, seat)
        of_meant = find_slips(course.noise, form.shape[seat]) @ of_made
        return cls(form, seat, course, of_meant[None, None], None)

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
        values: Array = self.values[self.course.rounds - len(history), state]
        return values

    def value_rest(self, history: Sequence[Sequence[str]]) -> float:
        """Return what the best reply earns after these rounds; 0 where it is not known."""
        worths = self.value_moves(history)
        left = self.course.rounds - len(history)
        if worths is None or left < 1:
            return 0.0
        rounds = 1.0 if self.automaton else replace(self.course, rounds=left).expected_weight
        return self.course.weigh(len(history)) * rounds * float(worths.max())


@lru_cache(maxsize=64)
def _value_once(
    automaton: Automaton,
    shape: tuple[int, ...],
    payoffs: bytes,
    course: Repetition,
) -> Array:
    """Value the replies once for all plays against the same automaton."""
    return value_replies(automaton, np.frombuffer(payoffs).reshape(shape), course)
