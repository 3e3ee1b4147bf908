"""Plays of a dialogue in which every speaker keeps to one manner: the payoffs of prompt-space response oracles.

Play `number` of any profile is on game `number % games` with draw `number // games` of every text, so all profiles
are compared on common games and common random numbers, and texts that profiles share are asked for once.

With `swap` the speakers change seats from play to play: whoever holds a manner speaks first as often as last. Such a
game is symmetric (who you are does not matter, only what you do), so profiles that differ in order only are one, and
are played once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np

from bestresponse.core.ask import Ask, Lottery
from bestresponse.core.errors import OverBudget
from bestresponse.core.game import REFEREE, View
from bestresponse.core.player import Player
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.domain import Actions
from bestresponse.games.dialogue.game import Dialogue, DialogueGame, prompt_key
from bestresponse.games.dialogue.recorded import Book, Entry
from bestresponse.studies.steer.building import Cast
from bestresponse.theory.games.normal_form import Array

__all__ = ["Arena", "Profile"]

Profile = tuple[str, ...]
"""The manner of every seat."""


class Arena:
    """Plays profiles of manners; every answer is asked for once and kept."""

    def __init__(
        self,
        games: Sequence[DialogueGame],
        cast: Cast,
        book: Book,
        *,
        keep: Callable[[Entry], None] = lambda entry: None,
        workers: int = 1,
        seed: int = 0,
        swap: bool = False,
    ) -> None:
        self.swap = swap
        self._games = list(games)
        self._cast, self._book, self._keep = cast, book, keep
        self._workers, self._seed = workers, seed
        self._payoffs: dict[tuple[Profile, int], tuple[float, ...] | None] = {}
        self._asking: dict[tuple[str, int], Future[Entry]] = {}
        self._lock = Lock()
        self._reached: dict[tuple[int, Profile], Dialogue | None] = {}
        self._reasons: Counter[str] = Counter()
        self._only_record = False
        self._recalled: dict[tuple[str, int], bool] = {}
        self.calls = 0

    def on_record(self) -> Arena:
        """An arena that knows the record only, and stops whoever asks for more."""
        quiet = Arena(self._games, self._cast, self._book, seed=self._seed, swap=self.swap)
        quiet._only_record = True
        return quiet

    @property
    def game(self) -> DialogueGame:
        """The first game, with all manners known by now."""
        return self._games[0]

    @property
    def manners(self) -> Actions:
        """The tones that can be chosen."""
        return self._games[0].manners

    @property
    def voids(self) -> int:
        """How many plays could not be read."""
        return sum(payoffs is None for payoffs in self._payoffs.values())

    @property
    def why_void(self) -> str:
        """The commonest reason why plays could not be read; empty where all could."""
        return self._reasons.most_common(1)[0][0] if self._reasons else ""

    @property
    def played(self) -> int:
        """The number of plays so far."""
        return len(self._payoffs)

    @property
    def messages_recalled(self) -> int:
        """How many different messages were found on record."""
        return len(self._recalled) - self.rulings_recalled

    @property
    def rulings_recalled(self) -> int:
        """How many different rulings were found on record."""
        return sum(self._recalled.values())

    def learn(self, manner: str) -> None:
        """Make a new manner known to all games."""
        self._games = [replace(game, manners=game.manners.with_manner(manner)) for game in self._games]

    def sample(self, profile: Profile, plays: range) -> Array:
        """One row of payoffs per play; NaN where the play is void."""
        return self.sample_many([(profile, number) for number in plays])

    def sample_many(self, wanted: Sequence[tuple[Profile, int]]) -> Array:
        """The payoffs of these plays, one row each; NaN where a play is void. What was played before a stop is kept."""
        missing = [pair for pair in dict.fromkeys(map(self._one_order, wanted)) if pair not in self._payoffs]
        if self._workers > 1 and len(missing) > 1:
            with ThreadPoolExecutor(self._workers, thread_name_prefix="play") as pool:
                list(pool.map(lambda pair: self._play(*pair), missing))
        else:
            for pair in missing:
                self._play(*pair)
        return np.array([self._earned(profile, number) for profile, number in wanted])

    def whole_plays(self, profiles: Sequence[Profile]) -> int:
        """How many plays, from the first on, are known of all these profiles."""
        number = 0
        while all(self._one_order((profile, number)) in self._payoffs for profile in profiles):
            number += 1
        return number

    def _one_order(self, wanted: tuple[Profile, int]) -> tuple[Profile, int]:
        """The play itself, or that of the same manners in the order in which they are played."""
        return (tuple(sorted(wanted[0])), wanted[1]) if self.swap else wanted

    def _earned(self, profile: Profile, number: int) -> tuple[float, ...]:
        payoffs = self._payoffs[self._one_order((profile, number))]
        if payoffs is None:
            return (float("nan"),) * len(profile)
        if not self.swap:
            return payoffs
        order = sorted(range(len(profile)), key=lambda place: profile[place])
        return tuple(payoffs[order.index(place)] for place in range(len(profile)))

    def _seats(self, draw: int) -> list[int]:
        """Which place of a profile sits in which seat: as it stands, or one order and its reverse in turn."""
        places = list(range(self.game.domain.players))
        if self.swap:
            generator(self._seed, "seats", draw // 2).shuffle(places)
        return places[::-1] if self.swap and draw % 2 else places

    def _play(self, profile: Profile, number: int) -> None:
        draw = number // len(self._games)
        seats = self._seats(draw)
        earned = self._talk(tuple(profile[place] for place in seats), number, draw)
        if earned is None:
            self._payoffs[profile, number] = None
            return
        payoffs = [earned[seats.index(place)] for place in range(len(seats))]
        self._payoffs[profile, number] = _alike(profile, payoffs) if self.swap else tuple(payoffs)

    def _talk(self, manners: Profile, number: int, draw: int) -> tuple[float, ...] | None:
        """What each seat earns in one play; None where it cannot be read."""
        game = self._games[number % len(self._games)]
        state: Dialogue | None = self._begin(game, number)
        while state is not None and not state.over:
            state = self._after_next(game, state, manners[game.turn(state)], number, draw)
        return None if state is None else tuple(game.payoffs(state).values())

    def _begin(self, game: DialogueGame, number: int) -> Dialogue:
        state = game.start()
        for role, ask in game.asks(state).items():
            if isinstance(ask, Lottery):
                cases = [case for case, _ in ask.chances]
                return game.apply(state, {role: generator(self._seed, "case", number).choice(cases)})
        return state

    def _after_next(self, game: DialogueGame, state: Dialogue, manner: str, number: int, draw: int) -> Dialogue | None:
        """The talk after its next message, and the ruling on it; plays that begin alike share it."""
        key = (number, (*(one.manner for one in state.said), manner))
        if key not in self._reached:
            self._reached[key] = self._say(game, state, manner, draw)
        return self._reached[key]

    def _say(self, game: DialogueGame, state: Dialogue, manner: str, draw: int) -> Dialogue | None:
        seat = game.turn(state)
        chosen = _choice(game, manner, seat)
        talk: Dialogue = game.apply(state, {game.roles[seat]: chosen})
        for expected in (game.roles[seat], REFEREE):
            for role, ask in game.asks(talk).items():
                if role != expected:
                    return talk
                player = self._cast.referee if role == REFEREE else self._cast.speaker(draw)
                answer = self._answer(game.view(talk, role), ask, player, 0 if role == REFEREE else draw)
                if answer.text is None:
                    self._reasons[answer.reading.how] += 1
                    return None
                talk = game.apply(talk, {role: answer.text})
        return talk

    def _answer(self, view: View, ask: Ask, player: Player, draw: int) -> Entry:
        key = (prompt_key(view), draw)
        known = self._book.get(*key)
        if known is not None:
            self._recalled[key] = view.role == REFEREE
            return known
        if self._only_record:
            raise OverBudget("this is not on record")
        with self._lock:
            asked = self._asking.get(key)
            mine = asked is None
            if asked is None:
                asked = self._asking[key] = Future()
        if mine:
            self._ask(asked, key, view, ask, player)
        return asked.result()

    def _ask(self, asked: Future[Entry], key: tuple[str, int], view: View, ask: Ask, player: Player) -> None:
        try:
            decision = player.decide(view, ask)
        except BaseException as error:
            with self._lock:
                del self._asking[key]
            asked.set_exception(error)
            raise
        entry = Entry(*key, decision.action, player.name, decision.reading, decision.reasoning)
        with self._lock:
            self.calls += len(decision.calls)
            self._book.add(entry)
        self._keep(entry)
        asked.set_result(entry)


def _alike(profile: Profile, payoffs: Sequence[float]) -> tuple[float, ...]:
    """The same for all who speak in the same manner: what they earn on average."""
    shared = {m: [u for other, u in zip(profile, payoffs, strict=True) if other == m] for m in profile}
    return tuple(sum(shared[manner]) / len(shared[manner]) for manner in profile)


def _choice(game: DialogueGame, manner: str, seat: int) -> str:
    """The choice of that manner; with three or more speakers it addresses the next one."""
    if game.domain.players == 2:
        return manner
    return f"{manner}, to {game.names[(seat + 1) % game.domain.players]}"
