"""Answers that are asked for once, in memory or in a folder that runs share.

    answers.jsonl   every answer as it was read (see `games.dialogue.game.Entry`)
    calls.jsonl     every call of a model, as it went out and came back: {"model", "request",
                    "reply"}

Both are only appended to, so a run that is killed goes on from them, and one with other settings of
the solver starts from them. The calls are there for an audit: from them alone every answer can be
read again (`replay_answers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from bestresponse.core.ask import Ask
from bestresponse.core.errors import (
    NotCached,
    StoreError,
)
from bestresponse.core.files import read_json
from bestresponse.core.game import NATURE, REFEREE, Role, View
from bestresponse.core.json import digest
from bestresponse.core.player import Decision, Nature, Player, Reading
from bestresponse.games.dialogue.game import (
    Book,
    DialogueGame,
    Entry,
    prompt_key,
)
from bestresponse.models.base import Model, ModelsByName, Reply, Request, Wrapper
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.players.dialogue.speaker import Arbiter, Unguided, Voices
from bestresponse.players.llm.player import PlayerWrapper
from bestresponse.report.files import write_text
from bestresponse.runs.store.folder import FolderLock, Lines, read_lines

_LONGEST = 20_000  # characters that are kept of a reply that could not be read


@dataclass(frozen=True, slots=True)
class Cast:
    """Who answers: `speaker(number)` voices draw `number`, and `referee` rules.

    `second` rules too, for comparison.

    The numbers are the calls that a ruling takes.
    """

    speaker: Callable[[int], Player]
    referee: Player
    second: Player | None = None
    referee_calls: int = 1
    second_calls: int = 0


@dataclass(eq=False)
class AnswerStore:
    """A book of answers, and whoever gives those that it lacks; nobody does `offline`.

    `calls` counts the calls that were made, `used` holds the keys of all answers that were needed,
    and `recalled` how many calls those that were on record have saved.
    """

    book: Book = field(default_factory=Book)
    keep: Callable[[Entry], None] = lambda entry: None
    offline: bool = False
    calls: int = 0

    def __post_init__(self) -> None:
        self.used: set[str] = set()
        self.recalled: dict[tuple[str, int], int] = {}
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

    def ask(
        self,
        key: str,
        number: int,
        question: Callable[[], tuple[Entry, int]],
        cost: int = 1,
    ) -> Entry:
        """Return the answer on record, or else ask `question` once.

        The answer comes with the calls that it took.
        """
        entry = self.find(key, number, cost)
        if entry is not None:
            return entry
        if self.offline:
            raise NotCached(
                "not every answer is on record; the command of the run, given again, asks for the"
                " others"
            )
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
                self.keep(entry)
            asked.set_result(entry)
        return asked.result()

    def ask_model(
        self,
        purpose: str,
        model: Model,
        request: Request,
        read: Callable[[Reply], tuple[str | None, Reading]],
    ) -> Entry:
        """Let `model` answer as draw `request.replicate`, unless its answer is on record.

        An answer counts only if it was to these words.
        """
        key = f"{purpose}:{model.id}:{digest(request.messages[-1].content, 24)}"

        def question() -> tuple[Entry, int]:
            reply = model.complete(request)
            text, reading = read(reply)
            why = "" if text is not None else reply.text[:_LONGEST]
            return Entry(
                key,
                request.replicate,
                text=text,
                by=model.id,
                reading=reading,
                why=why,
            ), 1

        return self.ask(key, request.replicate, question)

    def has_all_of(self, talk: Callable[[AnswerStore], object]) -> bool:
        """Say whether everything that a talk asks for is on record."""
        try:
            talk(self.rehearse())
        except NotCached:
            return False
        return True

    def decide(
        self,
        player: Player,
        view: View,
        ask: Ask,
        number: int = 0,
        *,
        key: str = "",
        cost: int = 1,
    ) -> Entry:
        """Let `player` answer `ask` as draw `number`, unless the answer is on record.

        An answer counts only if it was to these words.
        """
        key = key or prompt_key(view)

        def question() -> tuple[Entry, int]:
            speaker = player.choose(view) if isinstance(player, Voices | Arbiter) else player
            decision = speaker.decide(view, ask)
            entry = Entry(
                key,
                number,
                text=decision.action,
                by=speaker.name,
                reading=decision.reading,
                why=decision.reasoning,
            )
            return entry, len(decision.calls)

        return self.ask(key, number, question, cost)


@dataclass(frozen=True, slots=True, eq=False)
class Remembering(PlayerWrapper):
    """`player` as draw `number`, who is asked only what is not on record."""

    answers: AnswerStore
    number: int = 0
    cost: int = 1

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        entry = self.answers.decide(self.player, view, ask, self.number, cost=self.cost)
        return Decision(entry.text, entry.why, entry.reading)


def seat_players(
    game: DialogueGame,
    cast: Cast,
    answers: AnswerStore,
    draw: int,
    manners: Sequence[tuple[str, ...]],
    seed: int,
) -> dict[Role, Player]:
    """Seat everybody for draw `draw` of a talk in which each speaker keeps to its manners."""
    voice = Remembering(cast.speaker(draw), answers, draw)
    speakers = {}
    for role, allowed in zip(game.roles, manners, strict=True):
        speakers[role] = Unguided(voice, allowed, seed=seed)
    referee = Remembering(cast.referee, answers, cost=cast.referee_calls)
    return {NATURE: Nature(seed), REFEREE: referee, **speakers}


@contextmanager
def open_answers(
    path: Path,
    models: ModelsByName,
    prompts: Mapping[str, str],
) -> Iterator[tuple[AnswerStore, dict[str, Model]]]:
    """Open the answers of a folder, and the models with every call written down there.

    Only one process at a time may open them.

    StoreError where they answer other prompts than those with these hashes.
    """
    path.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(path)
    lines = Lines(path / "answers.jsonl")
    calls = Lines(path / "calls.jsonl")
    try:
        kept = path / "prompts.json"
        if kept.exists() and read_json(kept) != prompts:
            raise StoreError(f"{path} holds answers to other prompts; choose another output folder")
        hashes = json.dumps(dict(prompts))
        write_text(kept, f"{hashes}\n")
        recording: dict[str, Model] = {}
        for name, model in models.items():
            recording[name] = _RecordedCalls(model, calls)

        def keep(entry: Entry) -> None:
            lines.append(entry.to_json())

        yield AnswerStore(read_answers(path), keep), recording
    finally:
        lines.close()
        calls.close()
        lock.release()


def read_answers(path: Path) -> Book:
    """Read the answers in a folder; return an empty book where there is none."""
    rows = read_lines(path / "answers.jsonl", _is_by_person)
    return Book(map(Entry.from_json, rows))


def _is_by_person(line: bytes) -> bool:
    """Tell whether a line is a person's, who wrote it by hand and without a hash of its own."""
    return re.search(rb'"by":\s*"person"', line) is not None


class _RecordedCalls(Wrapper):
    """Write down every call of a model."""

    def __init__(self, model: Model, lines: Lines) -> None:
        super().__init__(model)
        self._lines = lines

    def complete(self, request: Request) -> Reply:
        reply = self._model.complete(request)
        row = {
            "model": self.id,
            "request": request_to_json(request),
            "reply": reply_to_json(reply),
        }
        self._lines.append(row)
        return reply
