"""Answers that are asked for once, in memory or in a folder that runs share, and the trees that are built of them.

    answers.jsonl   every answer as it was read (see `games.dialogue.game.Entry`)
    calls.jsonl     every call of a model, as it went out and came back: {"model", "request", "reply"}

Both are only appended to, so a run that is killed goes on from them, and one with other settings of the solver starts
from them. The calls are there for an audit: from them alone every answer can be read again (`replay_answers`).

To build the tree of a dialogue the live game is walked depth first, so that a build that is stopped (by a budget, an
interrupt, a model that fails) leaves whole dialogues; questions with the same words are one question; different ones
are asked at the same time. What the book already holds is not asked: a second run makes no call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from threading import Lock

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.errors import ModelError, NotCached, OverBudget
from bestresponse.core.game import NATURE, REFEREE, Role, View
from bestresponse.core.json import digest
from bestresponse.core.player import Decision, Nature, Player, Reading
from bestresponse.games.dialogue.game import Book, Dialogue, DialogueGame, Entry, prompt_key
from bestresponse.models.base import Model, Reply, Request, Wrapper
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.players.dialogue.speaker import Unguided
from bestresponse.runs.store.folder import FolderLock, Lines, read_lines

_LONGEST = 20_000
_PATIENCE = 5
"""So many failed calls in a row end a build: the model cannot be used."""


class AnswerStore:
    """A book of answers, and whoever gives those that it lacks; nobody does `offline`.

    `calls` counts the calls that were made, `used` holds the keys of all answers that were needed, and `recalled` how
    many calls those that were on record have saved.
    """

    def __init__(
        self, book: Book | None = None, keep: Callable[[Entry], None] = lambda entry: None, *, offline: bool = False
    ) -> None:
        self.book = Book() if book is None else book
        self.offline = offline
        self.calls = 0
        self.used: set[str] = set()
        self.recalled: dict[tuple[str, int], int] = {}
        self._keep = keep
        self._asking: dict[tuple[str, int], Future[Entry]] = {}
        self._lock = Lock()

    def rehearse(self) -> AnswerStore:
        """Return the same book for whoever may only use what is on record."""
        return AnswerStore(self.book, offline=True)

    def find(self, key: str, number: int = 0, cost: int = 1) -> Entry | None:
        """Return the answer on record, which took `cost` calls; None where there is none."""
        self.used.add(key)
        entry = self.book.get(key, number)
        if entry is not None:
            self.recalled[key, number] = cost
        return entry

    def ask(self, key: str, number: int, question: Callable[[], tuple[Entry, int]], cost: int = 1) -> Entry:
        """Return the answer on record, or that to `question` (and the calls that it took), which is asked once."""
        entry = self.find(key, number, cost)
        if entry is not None:
            return entry
        if self.offline:
            raise NotCached("not every answer is on record; the command of the run, given again, asks for the others")
        with self._lock:
            asked = self._asking.get((key, number))
            mine = asked is None
            if asked is None:
                asked = self._asking[key, number] = Future()
        if mine:
            try:
                entry, calls = question()
            except BaseException as error:
                with self._lock:
                    del self._asking[key, number]
                asked.set_exception(error)
                raise
            with self._lock:
                self.calls += calls
                self.book.add(entry)
                self._keep(entry)
            asked.set_result(entry)
        return asked.result()

    def ask_model(
        self, purpose: str, model: Model, request: Request, read: Callable[[Reply], tuple[str | None, Reading]]
    ) -> Entry:
        """Let `model` answer as draw `request.replicate`, unless its answer to these words is on record."""
        key = f"{purpose}:{model.id}:{digest(request.messages[-1].content, 24)}"

        def question() -> tuple[Entry, int]:
            reply = model.complete(request)
            text, reading = read(reply)
            why = "" if text is not None else reply.text[:_LONGEST]
            return Entry(key, request.replicate, text, model.id, reading, why), 1

        return self.ask(key, request.replicate, question)

    def has_all_of(self, talk: Callable[[AnswerStore], object]) -> bool:
        """Say whether everything that a talk asks for is on record."""
        try:
            talk(self.rehearse())
        except NotCached:
            return False
        return True

    def decide(self, player: Player, view: View, ask: Ask, number: int = 0, *, key: str = "", cost: int = 1) -> Entry:
        """Let `player` answer `ask` as draw `number`, unless the answer to these words is on record."""
        key = key or prompt_key(view)

        def question() -> tuple[Entry, int]:
            decision = player.decide(view, ask)
            entry = Entry(key, number, decision.action, player.name, decision.reading, decision.reasoning)
            return entry, len(decision.calls)

        return self.ask(key, number, question, cost)


@dataclass(frozen=True, slots=True, eq=False)
class Remembering:
    """`player` as draw `number`, who is asked only what is not on record."""

    player: Player
    answers: AnswerStore
    number: int = 0
    cost: int = 1

    @property
    def name(self) -> str:
        """The name of the player."""
        return self.player.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        entry = self.answers.decide(self.player, view, ask, self.number, cost=self.cost)
        return Decision(entry.text, entry.why, entry.reading)


def seat_players(
    game: DialogueGame, cast: Cast, answers: AnswerStore, draw: int, manners: Sequence[tuple[str, ...]], seed: int
) -> dict[Role, Player]:
    """Seat everybody for draw `draw` of a talk in which each speaker keeps to its manners."""
    voice = Remembering(cast.speaker(draw), answers, draw)
    speakers = {role: Unguided(voice, own, seed=seed) for role, own in zip(game.roles, manners, strict=True)}
    referee = Remembering(cast.referee, answers, cost=cast.referee_calls)
    return {NATURE: Nature(seed), REFEREE: referee, **speakers}


@contextmanager
def open_answers(path: Path, models: Mapping[str, Model]) -> Iterator[tuple[AnswerStore, dict[str, Model]]]:
    """Open the answers of a folder, for one process at a time, and the models with every call written down there."""
    path.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(path)
    lines, calls = Lines(path / "answers.jsonl"), Lines(path / "calls.jsonl")
    try:
        recording: dict[str, Model] = {name: _RecordedCalls(model, name, calls) for name, model in models.items()}
        yield AnswerStore(read_answers(path), lambda entry: lines.append(entry.to_json())), recording
    finally:
        lines.close()
        calls.close()
        lock.release()


def read_answers(path: Path) -> Book:
    """Read the answers in a folder; return an empty book where there is none."""
    return Book(Entry.from_json(row) for row in read_lines(path / "answers.jsonl"))


class _RecordedCalls(Wrapper):
    """Write down every call of a model."""

    def __init__(self, model: Model, name: str, lines: Lines) -> None:
        super().__init__(model)
        self._name, self._lines = name, lines

    def complete(self, request: Request) -> Reply:
        reply = self._model.complete(request)
        row = {"model": self._name, "request": request_to_json(request), "reply": reply_to_json(reply)}
        self._lines.append(row)
        return reply


@dataclass(frozen=True, slots=True)
class Cast:
    """Who answers: `speaker(number)` voices draw `number`, `referee` rules, `second` rules too for comparison.

    The numbers are the calls that a ruling takes.
    """

    speaker: Callable[[int], Player]
    referee: Player
    second: Player | None = None
    referee_calls: int = 1
    second_calls: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """The most a tree can have: messages and rulings to ask for, and nodes."""

    messages: int
    rulings: int
    nodes: int


def size_of(game: DialogueGame, wordings: int) -> Size:
    """Say how large the tree is if all texts differ; identical texts and early ends make it smaller."""
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


def count_missing_calls(game: DialogueGame, cast: Cast, answers: AnswerStore, wordings: int) -> int:
    """Count the most calls that building still takes: 0 where everything is on record."""
    builder = _Builder(game, cast, answers.rehearse(), wordings)
    builder.explore(game.start())
    size = size_of(game, wordings)
    most = size.messages + size.rulings * (cast.referee_calls + cast.second_calls)
    return most - sum(builder.answers.recalled.values()) if builder.questions else 0


def second_key(second: Player, view: View) -> str:
    """Return the key under which another referee's ruling is kept."""
    return f"second:{second.name}:{prompt_key(view)}"


@dataclass(slots=True)
class Built:
    """What a build did: calls that were made and that failed, why it stopped before the end, if it did, and the keys
    of all questions of the tree, asked now or before."""

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
    game: DialogueGame, cast: Cast, answers: AnswerStore, *, wordings: int = 1, workers: int = 1
) -> Built:
    """Ask for everything that `game` needs and is not on record."""
    builder, before = _Builder(game, cast, answers, wordings), answers.calls
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

    def __init__(self, game: DialogueGame, cast: Cast, answers: AnswerStore, wordings: int) -> None:
        self.game, self.cast, self.answers, self.wordings = game, cast, answers, wordings
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
            key, cost = prompt_key(view), 1
            speakers = [self.cast.speaker(number) for number in range(self.wordings)]
            if role == REFEREE:
                if self.cast.second is not None:
                    other = second_key(self.cast.second, view)
                    self._require(len(state.said), other, view, ask, [self.cast.second], self.cast.second_calls)
                speakers, cost = [self.cast.referee], self.cast.referee_calls
            if self._require(len(state.said), key, view, ask, speakers, cost):
                self._waiting.setdefault(key, []).append(state)
                return []
            return [self.game.apply(state, {role: text}) for text in self.answers.book.wordings(key, len(speakers))]
        return []

    def _require(self, said: int, key: str, view: View, ask: Ask, players: list[Player], cost: int) -> bool:
        """Ask for those answers that nobody was asked for yet; return whether some are still missing."""
        if key not in self.opened:
            numbers = range(len(players))
            self.opened[key] = {number for number in numbers if self.answers.find(key, number, cost) is None}
            for number in sorted(self.opened[key]):
                rank = (-said, len(self.opened) * self.wordings + number)

                def decide(player: Player = players[number], number: int = number) -> Entry:
                    return self.answers.decide(player, view, ask, number, key=key, cost=cost)

                heappush(self.questions, _Question(rank, key, number, decide))
        return bool(self.opened[key])
