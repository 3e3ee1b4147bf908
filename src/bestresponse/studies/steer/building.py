"""The tree of a dialogue, built of answers.

The live game is walked depth first, so that a build that is stopped (by a budget, an interrupt, a
model that fails) leaves whole dialogues; questions with the same words are one question; different
ones are asked at the same time. What the book already holds is not asked: a second run makes no
call.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from heapq import heappop, heappush

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.errors import (
    ModelError,
    OverBudget,
)
from bestresponse.core.game import REFEREE, View
from bestresponse.core.player import Player
from bestresponse.games.dialogue.game import (
    Dialogue,
    DialogueGame,
    Entry,
    prompt_key,
)
from bestresponse.players.dialogue.speaker import is_summary
from bestresponse.studies.steer.answers import AnswerStore, Cast

_PATIENCE = 5
"""So many failed calls in a row end a build: the model cannot be used."""


@dataclass(frozen=True, slots=True)
class Size:
    """The most a tree can have: messages, rulings and summaries to ask for, and nodes."""

    messages: int
    rulings: int
    nodes: int
    summaries: int = 0


def size_of(game: DialogueGame, wordings: int) -> Size:
    """Say how large the tree is if all texts differ.

    Identical texts and early ends make it smaller.
    """
    messages = rulings = summaries = 0
    positions = nodes = len(game.cases)
    for number in range(game.messages):
        choices = len(game.options(number % game.domain.players))
        spoken = positions * choices * wordings
        nodes += positions * choices + spoken
        messages += spoken
        positions = spoken
        if game.rules_after(number + 1):
            rulings += spoken
        if game.summaries and number + 1 < game.messages:
            summaries += spoken
    if len(game.cases) > 1:
        nodes += 1  # the draw of the case
    return Size(messages, rulings, nodes, summaries)


def count_missing_calls(
    game: DialogueGame,
    cast: Cast,
    answers: AnswerStore,
    wordings: int,
) -> int:
    """Count the most calls that building still takes: 0 where everything is on record."""
    builder = _Builder(game, cast, answers.rehearse(), wordings)
    builder.explore(game.start())
    size = size_of(game, wordings)
    most = size.messages + size.rulings * (cast.referee_calls + cast.second_calls)
    most += size.summaries
    if not builder.questions:
        return 0
    return most - sum(builder.answers.recalled.values())


def second_key(second: Player, view: View) -> str:
    """Return the key under which another referee's ruling is kept."""
    return f"second:{second.name}:{prompt_key(view)}"


@dataclass(slots=True)
class Built:
    """What a build did: the calls made and failed, and why it stopped early, if it did.

    It also has the keys of all questions of the tree, asked now or before.
    """

    calls: int = 0
    failed: int = 0
    stopped: str = ""
    last_failure: str = ""
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, order=True, slots=True)
class _Question:
    """Something to ask: deeper positions first, then in the order of discovery."""

    rank: tuple[int, int]
    key: str
    number: int
    ask: Callable[[], Entry]


def build_dialogue(
    game: DialogueGame,
    cast: Cast,
    answers: AnswerStore,
    *,
    wordings: int = 1,
    workers: int = 1,
) -> Built:
    """Ask for everything that `game` needs and is not on record."""
    builder = _Builder(game, cast, answers, wordings)
    before = answers.calls
    builder.explore(game.start())
    with ThreadPoolExecutor(workers, thread_name_prefix="ask") as pool:
        running: dict[Future[Entry], _Question] = {}
        while True:
            while builder.questions and len(running) < workers and not builder.done.stopped:
                question = heappop(builder.questions)
                running[pool.submit(question.ask)] = question
            if not running:
                builder.done.calls = answers.calls - before
                builder.done.keys = frozenset(builder.opened)
                return builder.done
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                builder.settle(running.pop(future), future)


class _Builder:
    """The walk over the live game while answers come in."""

    def __init__(
        self,
        game: DialogueGame,
        cast: Cast,
        answers: AnswerStore,
        wordings: int,
    ) -> None:
        self.game = game
        self.cast = cast
        self.answers = answers
        self.wordings = wordings
        self.questions: list[_Question] = []
        self.done = Built()
        self._waiting: dict[str, list[Dialogue]] = {}
        self.opened: dict[str, set[int]] = {}
        self._in_a_row = 0

    def explore(self, state: Dialogue) -> None:
        """Go on from `state` as far as the book tells, and note what has to be asked."""
        stack = [state]
        while stack:
            stack.extend(reversed(self._list_next(stack.pop())))

    def settle(self, question: _Question, future: Future[Entry]) -> None:
        """Take one answer, or note that there is none; then go on where this answer was missing."""
        try:
            future.result()
            self._in_a_row = 0
        except OverBudget as error:
            self.done.stopped = str(error)
        except ModelError as error:
            self.done.failed += 1
            self._in_a_row += 1
            self.done.last_failure = str(error)
            if self._in_a_row >= _PATIENCE:
                self.done.stopped = f"{self._in_a_row} calls in a row failed: {error}"
        missing = self.opened[question.key]
        missing.discard(question.number)
        if not missing:
            for state in self._waiting.pop(question.key, ()):
                self.explore(state)

    def _list_next(self, state: Dialogue) -> list[Dialogue]:
        for role, ask in self.game.asks(state).items():
            match ask:
                case Lottery(chances):
                    return [self.game.apply(state, {role: case}) for case, _ in chances]
                case Choice(options):
                    return [self.game.apply(state, {role: option}) for option in options]
            view = self.game.view(state, role)
            key = prompt_key(view)
            cost = 1
            speakers = [self.cast.speaker(number) for number in range(self.wordings)]
            if is_summary(view):
                speakers = [self.cast.referee]
            elif role == REFEREE:
                if self.cast.second is not None:
                    other = second_key(self.cast.second, view)
                    self._require(
                        len(state.said),
                        other,
                        view=view,
                        ask=ask,
                        players=[self.cast.second],
                        cost=self.cast.second_calls,
                    )
                speakers = [self.cast.referee]
                cost = self.cast.referee_calls
            if self._require(
                len(state.said),
                key,
                view=view,
                ask=ask,
                players=speakers,
                cost=cost,
            ):
                self._waiting.setdefault(key, []).append(state)
                return []
            return [
                self.game.apply(state, {role: text})
                for text in self.answers.book.wordings(key, len(speakers))
            ]
        return []

    def _require(
        self,
        messages: int,
        key: str,
        view: View,
        ask: Ask,
        players: list[Player],
        cost: int,
    ) -> bool:
        """Ask for those answers that nobody was asked for yet.

        Return whether some are still missing.
        """
        if key not in self.opened:
            numbers = range(len(players))
            self.opened[key] = {
                number for number in numbers if self.answers.find(key, number, cost) is None
            }
            for number in sorted(self.opened[key]):
                rank = (-messages, len(self.opened) * self.wordings + number)

                def decide(player: Player = players[number], number: int = number) -> Entry:
                    return self.answers.decide(
                        player,
                        view,
                        ask,
                        number,
                        key=key,
                        cost=cost,
                    )

                heappush(self.questions, _Question(rank, key, number, decide))
        return bool(self.opened[key])
