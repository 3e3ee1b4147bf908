"""Answers that are asked for once: a book of them, in memory or in a folder that runs share.

    answers.jsonl   every answer as it was read (see `games.dialogue.recorded.Entry`)
    calls.jsonl     every call of a model, as it went out and came back: {"model", "request", "reply"}

Both are only appended to, so a run that is killed goes on from them, and one with other settings of the solver starts
from them. The calls are there for an audit: from them alone every answer can be read again (`replay_answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from bestresponse.core.ask import Ask
from bestresponse.core.errors import NotCached
from bestresponse.core.game import View
from bestresponse.core.player import Decision, Player
from bestresponse.games.dialogue.game import prompt_key
from bestresponse.games.dialogue.recorded import Book, Entry
from bestresponse.models.base import Model, Reply, Request, Wrapper
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.runs.store.folder import FolderLock
from bestresponse.runs.store.lines import Lines, read_lines


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
