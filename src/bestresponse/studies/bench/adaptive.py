"""Positions that are chosen by the answers so far: the next is where the next answer tells most.

A player of precision x makes a move with a probability proportional to exp(x w), where w is what
the move is worth less what the best one is, as a share of what the worst one loses (logit choice,
McKelvey & Palfrey, Games and Economic Behavior 10, 1995). Uniform play has precision 0, and best
play is the limit. So theory alone says how much an answer tells, before anybody has given one:
Fisher's information on log x, averaged over what the answers so far leave likely.

Who is asked about other positions than others has no mean that could be compared with theirs. The
precision can be: it is on one scale, wherever it was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bestresponse.core.ask import PASS, Ask, Choice
from bestresponse.core.game import Role, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Decision, Player
from bestresponse.models.base import ModelsByName
from bestresponse.report.stats.statistics import LEVEL, Floats, Interval
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.positions import PositionPlan

_PRECISIONS = np.geomspace(0.3, 300.0, 46)
"""From play that is hardly better than uniform to errors of a 300th of what there is to lose."""
_CHOOSE_FROM = 10
"""Positions to choose from, for each that is asked about."""
_OF_ONE_POSITION = ("decision", "player", "path", "moves")
Answers = tuple[tuple[int, str], ...]
"""The positions that were asked about, by number, and what was answered."""


@dataclass(frozen=True)
class AdaptivePlan(PositionPlan):
    """Every player answers in one play, at positions that its own answers lead to."""

    @property
    def _wanted(self) -> int:
        """Collect more positions than are asked about."""
        return _CHOOSE_FROM * self.config.games

    @property
    def num_asked(self) -> int:
        """At how many positions everybody is asked."""
        return min(self.config.games, len(self._found))

    @cached_property
    def _logs(self) -> Floats:
        """Logarithms of the chances of moves, by precision, position and move."""
        lost = np.full((len(self._found), max(len(one.moves) for one, _ in self._found)), np.inf)
        for number, (_, values) in enumerate(self._found):
            worths = values.worths[0]
            lost[number, : len(worths)] = (worths.max() - worths) / np.ptp(worths)
        logs = -_PRECISIONS[:, None, None] * lost
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=2, keepdims=True))

    @cached_property
    def _told(self) -> Floats:
        """Information on the logarithm of the precision, by precision and position."""
        chances = np.exp(self._logs)
        lost = np.where(chances > 0, self._logs - self._logs.max(axis=2, keepdims=True), 0.0)
        spread = (chances * lost**2).sum(axis=2) - (chances * lost).sum(axis=2) ** 2
        return np.asarray(spread)

    def _weigh(self, answers: Answers) -> Floats:
        """Return how likely every precision is; before the first answer all are alike."""
        logs = np.zeros(len(_PRECISIONS))
        for number, move in answers:
            moves = self.decisions[number].moves
            if move in moves:
                logs += self._logs[:, number, moves.index(move)]
        likely = np.exp(logs - logs.max())
        return np.asarray(likely / likely.sum())

    def choose(self, answers: Answers) -> int:
        """Return the position that is asked about next, each at most once."""
        told = self._weigh(answers) @ self._told
        told[[number for number, _ in answers]] = -1.0
        return int(told.argmax())

    def measure_skill(self, answers: Answers) -> Interval | None:
        """Estimate the precision of a player; the interval holds 95 % of what is likely."""
        if not answers:
            return None
        likely = self._weigh(answers)
        logs = np.log(_PRECISIONS)
        ends = np.interp([(1 - LEVEL) / 2, (1 + LEVEL) / 2], likely.cumsum(), logs)
        low, high = np.exp(ends).tolist()
        mean = float(np.exp(likely @ logs))
        return Interval(mean, low, high, level=LEVEL, method="posterior", n=len(answers))

    def list_plays(self) -> Iterator[JsonObject]:
        """Yield one play of many answers for every model in every way of asking."""
        for data in super().list_plays():
            if data["decision"] == 0:
                kept = {name: data[name] for name in data.keys() - {*_OF_ONE_POSITION}}
                yield {**kept, "samples": self.num_asked, "seed": self.config.seed}

    def make_game(self, data: JsonMapping) -> AdaptiveQuestions:
        """Return the questions as a game of one player."""
        return AdaptiveQuestions(self, self.game.name)

    def seat(self, data: JsonMapping, models: ModelsByName) -> Player:
        """Seat who is asked; whoever needs no model answers each position by itself."""

        def answer_alone(view: View, ask: Choice) -> Decision:
            number = self._numbers[view.question]
            alone = {**data, "decision": number, "moves": ask.options}
            return self.seat_without_model(alone).decide(view, ask)

        if data["model"] in models:
            player = super().seat(data, models)
            return _Answering(player.name, player.decide)
        return _Answering(data["model"], answer_alone)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {one.view.question: number for number, one in self.decisions.items()}

    def list_answers(self, play: StoredPlay) -> Iterator[tuple[int, Sequence[str], Decision]]:
        """Yield the answers in the order in which they were given."""
        answers: Answers = ()
        for submission in play.record.submissions:
            number = self.choose(answers)
            decided = submission.decision
            answers = (*answers, (number, str(decided.action)))
            read = replace(decided, action=None) if decided.stand_in else decided
            yield number, self.decisions[number].moves, read


@dataclass(frozen=True)
class AdaptiveQuestions:
    """A game of one player, whose questions follow from its answers."""

    plan: AdaptivePlan
    name: str
    version: int = 1
    roles: tuple[Role, ...] = ("player",)

    def start(self) -> Answers:
        """Begin before the first answer."""
        return ()

    def asks(self, state: Answers) -> Mapping[Role, Ask]:
        """Ask about the next position; every position has another move that is offered first."""
        if len(state) == self.plan.num_asked:
            return {}
        number = self.plan.choose(state)
        moves = self.plan.decisions[number].moves
        first = number % len(moves)
        return {self.roles[0]: Choice((*moves[first:], *moves[:first]), may_pass=True)}

    def view(self, state: Answers, role: Role) -> View:
        """Show the position alone, and none of the answers before."""
        return self.plan.decisions[self.plan.choose(state)].view

    def apply(self, state: Answers, moves: Mapping[Role, object]) -> Answers:
        """Keep the answer with its position."""
        return (*state, (self.plan.choose(state), str(moves[self.roles[0]])))

    def payoffs(self, state: Answers) -> Mapping[Role, float]:
        """Pay nothing."""
        return {}


@dataclass(frozen=True)
class _Answering:
    """Goes on to the next question where an answer could not be read."""

    name: str
    answer: Callable[[View, Choice], Decision]

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer, knowing of no way to pass."""
        assert isinstance(ask, Choice)
        decision = self.answer(view, Choice(ask.options))
        if decision.action is not None:
            return decision
        return replace(decision, action=PASS, stand_in="abstain")
