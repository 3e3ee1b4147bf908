"""Building the tree of a dialogue: every question asked once, the answers kept in a book.

The live game is walked depth first, so that a build that is stopped (by a budget, an interrupt, a model that fails)
leaves whole dialogues; questions with the same words are one question; different ones are asked at the same time.
What the book already holds is not asked: a second run makes no call.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from heapq import heappop, heappush

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.errors import ModelError, OverBudget
from bestresponse.core.game import REFEREE, View
from bestresponse.core.player import Decision, Player
from bestresponse.games.dialogue.game import Dialogue, DialogueGame, prompt_key
from bestresponse.games.dialogue.recorded import Book, Entry

__all__ = ["Built", "Cast", "Size", "build", "missing_calls", "second_key", "size_of"]

_PATIENCE = 5


@dataclass(frozen=True, slots=True)
class Cast:
    """Who answers: `speaker(number)` voices draw `number`, `referee` rules, `second` rules too for comparison."""

    speaker: Callable[[int], Player]
    referee: Player
    second: Player | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """The most a tree can have: messages and rulings to ask for, and nodes."""

    messages: int
    rulings: int
    nodes: int


def size_of(game: DialogueGame, wordings: int) -> Size:
    """How large the tree is if all texts differ; identical texts and early ends make it smaller."""
    messages = rulings = 0
    positions = nodes = len(game.cases)
    for number in range(game.messages):
        choices = len(game.options(number % game.domain.players))
        spoken = positions * choices * wordings
        nodes += positions * choices + spoken
        messages += spoken
        positions = spoken
        if game.rules_after(number + 1):
            rulings += spoken
    return Size(messages, rulings, nodes + (len(game.cases) > 1))


def missing_calls(game: DialogueGame, cast: Cast, book: Book, wordings: int, per_ruling: int) -> int:
    """The most calls that building still takes: 0 where the book is complete."""
    builder = _Builder(game, cast, book, wordings)
    builder.explore(game.start())
    below = _calls_below(game, wordings, per_ruling)
    total = 0
    for question in builder.questions:
        if question.view.role == REFEREE:
            total += per_ruling
        else:
            depth = -question.rank[0]
            total += 1 + below[depth + 1] * max(1, builder.waiting(question.key))
    return total


def _calls_below(game: DialogueGame, wordings: int, per_ruling: int) -> list[int]:
    """The most calls after a message, by how many messages were said with it."""
    below = [0] * (game.messages + 2)
    for said in range(game.messages, -1, -1):
        options = len(game.options(said % game.domain.players)) * wordings
        after = 0 if said == game.messages else options * (1 + below[said + 1])
        below[said] = per_ruling * game.rules_after(said) + after
    return below


def second_key(second: Player, view: View) -> str:
    """Under which key another referee's ruling is kept."""
    return f"second:{second.name}:{prompt_key(view)}"


@dataclass(slots=True)
class Built:
    """What a build did: answers asked for, calls made, and why it stopped before the end (empty: it did not)."""

    asked: int = 0
    calls: int = 0
    failed: int = 0
    stopped: str = ""
    last_failure: str = ""
    keys: set[str] = field(default_factory=set)
    """The keys of all questions of the tree, asked now or before."""


@dataclass(order=True, slots=True)
class _Question:
    """Something to ask; deeper positions first, then in the order found."""

    rank: tuple[int, int]
    key: str = field(compare=False)
    number: int = field(compare=False)
    view: View = field(compare=False)
    ask: Ask = field(compare=False)
    player: Player = field(compare=False)


def build(
    game: DialogueGame,
    cast: Cast,
    book: Book,
    *,
    wordings: int = 1,
    workers: int = 1,
    keep: Callable[[Entry], None] = lambda entry: None,
    on_answer: Callable[[int], None] = lambda asked: None,
) -> Built:
    """Ask for everything that `game` needs and `book` lacks; each answer goes into the book and to `keep` at once."""
    builder = _Builder(game, cast, book, wordings)
    builder.explore(game.start())
    with ThreadPoolExecutor(workers, thread_name_prefix="ask") as pool:
        running: dict[Future[Decision], _Question] = {}
        while True:
            while builder.questions and len(running) < workers and not builder.done.stopped:
                question = heappop(builder.questions)
                running[pool.submit(question.player.decide, question.view, question.ask)] = question
            if not running:
                return builder.done
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                builder.settle(running.pop(future), future, keep)
                on_answer(builder.done.asked)


class _Builder:
    """The walk over the live game while answers come in."""

    def __init__(self, game: DialogueGame, cast: Cast, book: Book, wordings: int) -> None:
        self.game, self.cast, self.book, self.wordings = game, cast, book, wordings
        self.questions: list[_Question] = []
        self.done = Built()
        self._waiting: dict[str, list[Dialogue]] = {}
        self._open: dict[str, set[int]] = {}
        self._in_a_row = 0

    def explore(self, state: Dialogue) -> None:
        """Go on from `state` as far as the book tells, and note what has to be asked."""
        stack = [state]
        while stack:
            stack.extend(reversed(self._next(stack.pop())))

    def waiting(self, key: str) -> int:
        """How many positions wait for the answers to one question."""
        return len(self._waiting.get(key, ()))

    def settle(self, question: _Question, future: Future[Decision], keep: Callable[[Entry], None]) -> None:
        """Take one answer, or note that there is none; then go on where this answer was missing."""
        try:
            decision = future.result()
        except OverBudget as error:
            self.done.stopped = str(error)
        except ModelError as error:
            self._fail(error)
        else:
            self._in_a_row = 0
            self.done.asked += 1
            self.done.calls += len(decision.calls)
            entry = Entry(
                question.key,
                question.number,
                decision.action,
                question.player.name,
                decision.reading,
                decision.reasoning,
            )
            self.book.add(entry)
            keep(entry)
        missing = self._open[question.key]
        missing.discard(question.number)
        if not missing:
            for state in self._waiting.pop(question.key, ()):
                self.explore(state)

    def _fail(self, error: ModelError) -> None:
        self.done.failed += 1
        self._in_a_row += 1
        self.done.last_failure = str(error)
        if self._in_a_row >= _PATIENCE:
            self.done.stopped = f"{self._in_a_row} calls in a row failed: {error}"

    def _next(self, state: Dialogue) -> list[Dialogue]:
        for role, ask in self.game.asks(state).items():
            match ask:
                case Lottery(chances):
                    return [self.game.apply(state, {role: case}) for case, _ in chances]
                case Choice(options):
                    return [self.game.apply(state, {role: option}) for option in options]
            view = self.game.view(state, role)
            key = prompt_key(view)
            if role == REFEREE:
                self._second_opinion(state, view, ask)
                if self._lacks(state, key, view, ask, [self.cast.referee]):
                    return []
                texts = [entry.text] if (entry := self.book.get(key)) and entry.text is not None else []
            else:
                if self._lacks(state, key, view, ask, [self.cast.speaker(k) for k in range(self.wordings)]):
                    return []
                texts = list(self.book.wordings(key, self.wordings))
            return [self.game.apply(state, {role: text}) for text in texts]
        return []

    def _lacks(self, state: Dialogue, key: str, view: View, ask: Ask, players: list[Player]) -> bool:
        """Whether answers are still missing here; asks for those that nobody was asked for yet."""
        if key not in self._open:
            self.done.keys.add(key)
            missing = [number for number in range(len(players)) if self.book.get(key, number) is None]
            self._open[key] = set(missing)
            for number in missing:
                self._push(state, _Question((0, 0), key, number, view, ask, players[number]))
        if self._open[key]:
            self._waiting.setdefault(key, []).append(state)
        return bool(self._open[key])

    def _second_opinion(self, state: Dialogue, view: View, ask: Ask) -> None:
        if self.cast.second is None:
            return
        key = second_key(self.cast.second, view)
        self.done.keys.add(key)
        if key not in self._open and self.book.get(key) is None:
            self._open[key] = {0}
            self._push(state, _Question((0, 0), key, 0, view, ask, self.cast.second))

    def _push(self, state: Dialogue, question: _Question) -> None:
        question.rank = (-len(state.said), len(self._open) * self.wordings + question.number)
        heappush(self.questions, question)
