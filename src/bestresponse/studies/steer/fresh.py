"""Guided against unguided on fresh draws: dialogues in words that the solver has not seen, many at the same time.

For every draw the same talk is held once with everybody unguided and once with each speaker guided in turn, on the
same game, the same private information and the same number of the draw for every text (common random numbers: as long
as the choices are the same, so are the words). What guidance earns here is an honest estimate, where the exact gain on
the recorded tree is optimistic, because the policy was fitted to just those texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.episode import play
from bestresponse.core.errors import NotCached, UsageError
from bestresponse.core.game import NATURE, REFEREE, Role, View
from bestresponse.core.player import Decision, Nature, Player
from bestresponse.core.seeds import generator, split
from bestresponse.games.dialogue.game import DialogueGame, prompt_key
from bestresponse.games.dialogue.recorded import Entry
from bestresponse.players.dialogue.speaker import Guided
from bestresponse.studies.steer.answers import AnswerStore
from bestresponse.studies.steer.building import Cast
from bestresponse.studies.steer.reading.nearest import Nearest
from bestresponse.theory.games.normal_form import Array

__all__ = ["FreshPlays", "Remembering", "Unguided", "fresh_on_record", "play_fresh"]


@dataclass(frozen=True, slots=True, eq=False)
class FreshPlays:
    """Payoffs of fresh dialogues; a row of NaN is a dialogue that could not be read.

    `unguided` has a row for each draw and a column for each seat; `guided` has such a table for each guided seat.
    `met` counts the situations in which the guided chose: known to the policy, decided as the nearest, or unknown.
    """

    unguided: Array
    guided: Array
    met: Counter[str] = field(default_factory=Counter)
    keys: frozenset[str] = frozenset()
    calls: int = 0

    @property
    def gains(self) -> Array:
        """For every draw, what the guided earn above staying unguided, mean over seats; NaN where all are void."""
        own = np.array([table[:, seat] - self.unguided[:, seat] for seat, table in enumerate(self.guided)])
        return _means(own)

    @property
    def margins(self) -> Array:
        """For every draw, what the guided earn above the others in the same dialogue, mean over seats."""
        others = [np.delete(table, seat, axis=1).mean(axis=1) for seat, table in enumerate(self.guided)]
        own = [table[:, seat] for seat, table in enumerate(self.guided)]
        return _means(np.array(own) - np.array(others))

    @property
    def wins(self) -> Array:
        """For every draw, the share of its dialogues in which the guided earn most, ties for half, mean over seats."""
        own = np.array([table[:, seat] for seat, table in enumerate(self.guided)])
        others = np.array([np.delete(table, seat, axis=1).max(axis=1) for seat, table in enumerate(self.guided)])
        return _means(np.where(np.isnan(own), np.nan, (np.sign(own - others) + 1) / 2))

    @property
    def plays(self) -> int:
        """The number of plays."""
        return len(self.unguided) * (1 + len(self.guided))

    @property
    def void(self) -> int:
        """Dialogues that could not be read."""
        return int(np.isnan(self.unguided[:, 0]).sum() + np.isnan(self.guided[..., 0]).sum())


def _means(by_seat: Array) -> Array:
    """Means over the seats whose dialogues could be read, for every draw."""
    count = np.isfinite(by_seat).sum(axis=0)
    return np.asarray(np.where(count, np.nansum(by_seat, axis=0) / np.maximum(count, 1), np.nan))


@dataclass(frozen=True, slots=True)
class Unguided:
    """`player` in the neutral manner, the addressee by chance."""

    player: Player
    neutral: tuple[str, ...]
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of the player."""
        return f"unguided {self.player.name}"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Choice):
            return self.player.decide(view, ask)
        return Decision(generator(self.seed, "unguided", view.key).choice(self.neutral))


@dataclass(frozen=True, slots=True, eq=False)
class Remembering:
    """`player` as number `number` of the draws: it is asked only what the book does not know, and the book keeps it."""

    player: Player
    kept: AnswerStore
    number: int
    lock: Lock = field(default_factory=Lock)
    asked: dict[str, int] = field(default_factory=dict)
    """The keys that were needed, with the calls that each took."""

    @property
    def name(self) -> str:
        """The name of the player."""
        return self.player.name

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        key = prompt_key(view)
        entry, calls = self.kept.book.get(key, self.number), 0
        if entry is None:
            decision = self.player.decide(view, ask)
            calls = len(decision.calls)
            entry = Entry(key, self.number, decision.action, self.name, decision.reading, decision.reasoning)
            with self.lock:
                if self.kept.book.get(key, self.number) is None:
                    self.kept.book.add(entry)
                    self.kept.keep(entry)
        self.asked[key] = self.asked.get(key, 0) + calls
        return Decision(entry.text, entry.why, entry.reading)


@dataclass(frozen=True, slots=True)
class _Draw:
    """What one dialogue of a draw earned, seat by seat."""

    earned: tuple[float, ...]
    met: Counter[str]
    asked: dict[str, int]


def play_fresh(
    game: DialogueGame,
    policy: Callable[[], Nearest],
    cast: Cast,
    kept: AnswerStore,
    draws: Sequence[int],
    *,
    seed: int = 0,
    workers: int = 1,
) -> FreshPlays:
    """Play every draw; `policy` makes the one to follow, anew for each draw."""
    if not draws:
        raise UsageError("fresh dialogues need at least one draw")
    lock = Lock()

    def hold(wanted: tuple[int, Role | None]) -> _Draw:
        number, guided = wanted
        return _Table(game, cast, kept, number, split(seed, "fresh", number), lock).play(policy(), guided)

    guided = [(number, role) for role in game.roles for number in draws]
    with ThreadPoolExecutor(workers, thread_name_prefix="fresh") as pool:
        # Unguided talks come last: once one of them is on record, so are the others of its draw.
        found = [*pool.map(hold, guided), *pool.map(hold, [(number, None) for number in draws])]
    rows = np.array([draw.earned for draw in found]).reshape(len(game.roles) + 1, len(draws), -1)
    met = sum((draw.met for draw in found), Counter[str]())
    asked = [item for draw in found for item in draw.asked.items()]
    keys = frozenset(key for key, _ in asked)
    return FreshPlays(rows[-1], rows[:-1], met, keys, sum(calls for _, calls in asked))


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Where the dialogues of one draw are held."""

    game: DialogueGame
    cast: Cast
    kept: AnswerStore
    number: int
    seed: int
    lock: Lock

    def play(self, policy: Nearest, guided: Role | None) -> _Draw:
        """Hold the dialogue in which that seat is guided; nobody is where it is None."""
        voice = Remembering(self.cast.speaker(self.number), self.kept, self.number, self.lock)
        referee = Remembering(self.cast.referee, self.kept, 0, self.lock)
        seated = self._seated(voice, referee)
        if guided is not None:
            seated[guided] = Guided(seated[guided], policy, self.seed)
        return _Draw(self._payoffs(seated), policy.met, {**voice.asked, **referee.asked})

    def unguided(self) -> None:
        """Only the talk with everybody unguided."""
        voice, referee = self.cast.speaker(self.number), self.cast.referee
        self._payoffs(self._seated(Remembering(voice, self.kept, self.number), Remembering(referee, self.kept, 0)))

    def _seated(self, voice: Player, referee: Player) -> dict[str, Player]:
        seated: dict[str, Player] = {NATURE: Nature(self.seed), REFEREE: referee}
        for seat, role in enumerate(self.game.roles):
            seated[role] = Unguided(voice, self.game.neutral(seat), self.seed)
        return seated

    def _payoffs(self, players: dict[str, Player]) -> tuple[float, ...]:
        """What every seat earns in one dialogue; NaN where it could not be read."""
        record = play(self.game, players)
        return tuple(record.payoffs.get(role, float("nan")) for role in self.game.roles)


@dataclass(frozen=True, slots=True)
class _Nobody:
    """Stands where only the record may answer."""

    name: str = "nobody"

    def decide(self, view: View, ask: Ask) -> Decision:
        raise NotCached("this is not on record")


def fresh_on_record(game: DialogueGame, kept: AnswerStore, number: int, seed: int = 0) -> bool:
    """Whether the talk of that draw with everybody unguided is on record to its end."""
    nobody = _Nobody()
    try:
        _Table(game, Cast(lambda draw: nobody, nobody), kept, number, split(seed, "fresh", number), Lock()).unguided()
    except NotCached:
        return False
    return True
