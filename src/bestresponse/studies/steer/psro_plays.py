"""Plays of a dialogue in which every speaker keeps to one manner: the payoffs of prompt-space response oracles.

Play `number` of any profile is on game `number % games` with draw `number // games` of every text, so all profiles
are compared on common games and common random numbers, and texts that profiles share are asked for once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np

from bestresponse.core.ask import Ask, Choice, Lottery
from bestresponse.core.errors import ModelError
from bestresponse.core.game import REFEREE, View
from bestresponse.core.player import Player
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue import DialogueGame, prompt_key
from bestresponse.games.dialogue_domain import Actions
from bestresponse.games.dialogue_recorded import Book, Entry
from bestresponse.studies.steer.building import Cast
from bestresponse.theory.normal_form import Array

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
    ) -> None:
        self._games = list(games)
        self._cast, self._book, self._keep = cast, book, keep
        self._workers, self._seed = workers, seed
        self._payoffs: dict[tuple[Profile, int], tuple[float, ...] | None] = {}
        self._asking: dict[tuple[str, int], Future[Entry]] = {}
        self._lock = Lock()
        self.calls = 0

    @property
    def game(self) -> DialogueGame:
        """The first game, with all manners known by now."""
        return self._games[0]

    @property
    def manners(self) -> Actions:
        return self._games[0].manners

    @property
    def voids(self) -> int:
        """How many plays could not be read."""
        return sum(payoffs is None for payoffs in self._payoffs.values())

    @property
    def played(self) -> int:
        return len(self._payoffs)

    def learn(self, manner: str) -> None:
        """Make a new manner known to all games."""
        self._games = [replace(game, manners=game.manners.with_manner(manner)) for game in self._games]

    def sample(self, profile: Profile, plays: range) -> Array:
        """One row of payoffs per play; NaN where the play is void."""
        return self.sample_many([(profile, number) for number in plays])

    def sample_many(self, wanted: Sequence[tuple[Profile, int]]) -> Array:
        """The payoffs of these plays, one row each; NaN where a play is void."""
        missing = [pair for pair in dict.fromkeys(wanted) if pair not in self._payoffs]
        if self._workers > 1 and len(missing) > 1:
            with ThreadPoolExecutor(self._workers, thread_name_prefix="play") as pool:
                found = list(pool.map(lambda pair: self._play(*pair), missing))
        else:
            found = [self._play(*pair) for pair in missing]
        self._payoffs.update(zip(missing, found, strict=True))
        nothing = (float("nan"),) * self.game.domain.players
        return np.array([self._payoffs[pair] or nothing for pair in wanted])

    def _play(self, profile: Profile, number: int) -> tuple[float, ...] | None:
        game, draw = self._games[number % len(self._games)], number // len(self._games)
        state = game.start()
        while asks := game.asks(state):
            ((role, ask),) = asks.items()
            match ask:
                case Lottery(chances):
                    cases = [case for case, _ in chances]
                    move = generator(self._seed, "case", number).choice(cases)
                case Choice(options):
                    seat = game.turn(state)
                    move = _choice(game, options, profile[seat], seat)
                case _:
                    player = self._cast.referee if role == REFEREE else self._cast.speaker(draw)
                    answer = self._answer(game.view(state, role), ask, player, 0 if role == REFEREE else draw)
                    if answer.text is None:
                        return None
                    move = answer.text
            state = game.apply(state, {role: move})
        return tuple(game.payoffs(state).values())

    def _answer(self, view: View, ask: Ask, player: Player, draw: int) -> Entry:
        key = (prompt_key(view), draw)
        known = self._book.get(*key)
        if known is not None:
            return known
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
        except ModelError as error:
            asked.set_exception(error)
            return
        entry = Entry(*key, decision.action, player.name, decision.reading, decision.reasoning)
        with self._lock:
            self.calls += len(decision.calls)
            self._book.add(entry)
        self._keep(entry)
        asked.set_result(entry)


def _choice(game: DialogueGame, options: tuple[str, ...], manner: str, seat: int) -> str:
    """The choice of that manner; with three or more speakers it addresses the next one."""
    if game.domain.players == 2:
        return manner
    following = game.names[(seat + 1) % game.domain.players]
    return next(option for option in options if option == f"{manner}, to {following}")
