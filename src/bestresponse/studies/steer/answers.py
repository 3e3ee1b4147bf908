"""Keep answers in a folder beside the runs, shared by all runs that ask the same of the same models.

    answers.jsonl   every answer as it was read (see `games.dialogue_recorded.Entry`)
    calls.jsonl     every call of a model, as it went out and came back: {"model", "request", "reply"}

Both are only appended to, so a run that is killed goes on from them, and one with other settings of the solver starts
from them. The calls are there for an audit: from them alone every answer can be read again (see `replaying`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol

from bestresponse.core.json import JsonMapping, digest
from bestresponse.games.dialogue.recorded import Book, Entry
from bestresponse.models.base import Abilities, Model, Reply, Request, Wrapper
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.models.providers.recorded import RecordedModel
from bestresponse.runs.store.lines import Lines, read_lines
from bestresponse.runs.store.lock import FolderLock
from bestresponse.studies.steer.config import SteerConfig

__all__ = ["AnswerFolder", "AnswerStore", "MemoryAnswers", "answers_path", "make_offline_model", "read_answers"]


class AnswerStore(Protocol):
    """A book of answers, and where a new answer is kept."""

    @property
    def book(self) -> Book:
        """The answers so far."""
        ...

    def keep(self, entry: Entry) -> None:
        """Keep one answer."""
        ...


class MemoryAnswers:
    """A book of answers in memory only."""

    def __init__(self, book: Book | None = None) -> None:
        self.book = book or Book()

    def keep(self, entry: Entry) -> None:
        """Do nothing: the book holds the answer already."""


class AnswerFolder:
    """A book of answers in a folder, written answer by answer, by one process at a time."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = FolderLock(path)
        self._answers = Lines(path / "answers.jsonl")
        self._calls = Lines(path / "calls.jsonl")
        self.book = read_answers(path)

    def keep(self, entry: Entry) -> None:
        """Append one answer to the file."""
        self._answers.append(entry.to_json())

    def record_calls(self, models: Mapping[str, Model]) -> dict[str, Model]:
        """Return the same models with every call written down."""
        return {name: _RecordedCalls(model, name, self._calls) for name, model in models.items()}

    def __enter__(self) -> AnswerFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._answers.close()
        self._calls.close()
        self._lock.release()


def read_answers(path: Path) -> Book:
    """Read the answers in a folder; return an empty book where there is none."""
    return Book(Entry.from_json(row) for row in read_lines(path / "answers.jsonl"))


def answers_path(output_dir: Path, config: SteerConfig, who: Mapping[str, JsonMapping]) -> Path:
    """Return the folder shared by everything that asks the same of the same models, whatever is done with the answers.

    `who` is the identity of each model.
    """
    domain = config.read_domain()
    asked = [config.model, config.judge, config.payoffs, config.temperature, config.max_tokens]
    own = digest([domain.digest, {name: dict(who[name]) for name in config.models}, asked], 12)
    return output_dir / f"dialogues-{domain.name}-{own}"


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


def make_offline_model(name: str, entry: JsonMapping) -> Model:
    """Make a model of a stored run, by its entry in the manifest, that cannot be asked."""
    why = "not every answer is on record; the command of the run, given again, asks for the others"
    return RecordedModel(name, entry["identity"], Abilities(**entry["abilities"]), why=why)
