"""Ask models and strategies in the background, and keep the time limits of people.

A player that gives no usable answer, and a person whose time is up, are stood in for; the decision
says so and keeps what went wrong.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from bestresponse.core import Ask, Choice, Decision, Nature, Player, Reading, Status, Words
from bestresponse.core.ask import NO_WORDS
from bestresponse.core.errors import (
    BestResponseError,
    InvalidMove,
    NotAsked,
    StoreError,
    UsageError,
)
from bestresponse.core.game import NATURE, REFEREE, Game, Role, S, View
from bestresponse.core.player import find_forced
from bestresponse.games.dialogue.ruled import RuledDialogue
from bestresponse.players.lookup import OpenModel, check_strategy, find_strategy, seat_model
from bestresponse.web.sessions.session import Presence, Session
from bestresponse.web.sessions.setup import PERSON
from bestresponse.web.sessions.store import SessionStore


def make_seat(
    seat: str,
    game: Game[S],
    role: Role,
    seed: int,
    open_model: OpenModel,
) -> Player:
    """Make the player for the seat of `role`, or nature.

    The words `strategy:NAME` or `model:NAME` put it there.
    """
    if role == NATURE:
        return Nature(seed)
    kind, _, name = seat.partition(":")
    if kind == "model":
        return seat_model(name, open_model(name), game, role, seed)
    check_strategy(name, game)
    player = find_strategy(name, game, role, seed)
    if player is None:
        raise UsageError(f"the strategy {name} does not play {role} in {game.name}")
    return player


_TICK = 0.25
_LATE = "no answer within"
_RETRY = 2.0
_log = logging.getLogger("bestresponse.web")


class SeatWorker:
    """Answer for every seat without a person, with a few threads."""

    def __init__(self, store: SessionStore, open_model: OpenModel, threads: int = 8) -> None:
        self._store = store
        self._open_model = open_model
        self._inbox: queue.SimpleQueue[Session | None] = queue.SimpleQueue()
        self._timed: dict[str, Session] = {}
        self._again: dict[str, float] = {}
        self._looked = 0.0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="seat")
        self._thread = threading.Thread(target=self._serve, name="seat-worker", daemon=True)
        store.changed = self._inbox.put

    def start(self) -> None:
        """Begin, with every table that was left unfinished."""
        self._thread.start()
        self._pool.submit(self._reopen)

    def close(self) -> None:
        """End; questions to slow players are given up, and put again by the next worker."""
        self._inbox.put(None)
        self._thread.join()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _reopen(self) -> None:
        for name in self._store.list_unfinished():
            with suppress(BestResponseError):
                self._inbox.put(self._store.get_session(name))

    def _serve(self) -> None:
        while True:
            try:
                session = self._inbox.get(timeout=_TICK)
                if session is None:
                    return
                self._ask_players(session)
            except queue.Empty:
                pass
            self._keep_time()

    def _ask_players(self, session: Session) -> None:
        with session.lock:
            if not session.ended:
                self._timed[session.id] = session
            for role, ask in session.pending().items():
                occupant = session.setup.referee if role == REFEREE else role
                if role in session.roles:
                    occupant = session.setup.seats[session.roles.index(role)]
                if occupant != PERSON:
                    work = partial(
                        self._answer,
                        session,
                        session.turn(role),
                        session.episode.view(role),
                        ask,
                        occupant,
                    )
                    self._start(session, role, work)

    def _start(self, session: Session, role: Role, work: Callable[[], None]) -> None:
        """Have the question of a role answered in the background, once.

        Whoever answers first counts.
        """
        turn = session.turn(role)
        if (role, turn) not in session.thinking:
            session.thinking.add((role, turn))
            self._pool.submit(work).add_done_callback(partial(self._note_done, session, role, turn))

    def _answer(self, session: Session, turn: int, view: View, ask: Ask, occupant: str) -> None:
        player = make_seat(
            occupant,
            session.game,
            role=view.role,
            seed=session.seed,
            open_model=self._open_model,
        )
        try:
            decision = find_forced(ask) or player.decide(view, ask)
            if decision.action is not None:
                ask.check(decision.action)
        except InvalidMove as error:
            decision = Decision(None, "", Reading(Status(error.kind.value), str(error)))
        except BestResponseError as error:
            decision = Decision(None, "", Reading(Status.REFUSED, str(error)))
        if decision.action is None and view.role != REFEREE:
            decision = self._stand_in(session, view, ask, decision)
        self._store.submit(session, view.role, turn, decision)

    def _answer_for(self, session: Session, turn: int, view: View, ask: Ask, why: str) -> None:
        decision = self._stand_in(
            session, view, ask, Decision(None, "", Reading(Status.REFUSED, why))
        )
        self._store.submit(session, view.role, turn, decision, Presence(why.startswith(_LATE)))

    def _stand_in(self, session: Session, view: View, ask: Ask, failed: Decision) -> Decision:
        """Answer as the strategy of the setup does; words are not put into anybody's mouth."""
        name = session.setup.stand_in
        if isinstance(ask, Words):
            return replace(failed, action=NO_WORDS, stand_in=name)
        if isinstance(ask, Choice) and isinstance(session.game, RuledDialogue):
            # Whoever is silent does not object to a ruling.
            return replace(failed, action=ask.options[0], stand_in=name)
        player = make_seat(
            f"strategy:{name}", session.game, view.role, session.seed, self._open_model
        )
        return replace(failed, action=player.decide(view, ask).action, stand_in=name)

    def _keep_time(self) -> None:
        """Look after every table that is not over.

        This covers time limits, the waiting room, and answers to be tried again.
        """
        now = time.monotonic()
        if now - self._looked < _TICK:
            return
        self._looked = now
        for session in list(self._timed.values()):
            if self._again.get(session.id, now + 1) <= now:
                del self._again[session.id]
                self._ask_players(session)
            with session.lock:
                if session.ended:
                    del self._timed[session.id]
                else:
                    self._keep_limits(session)

    def _keep_limits(self, session: Session) -> None:
        if session.waited_too_long():
            self._store.begin_without(session)
        pending = session.pending()
        for seat in session.setup.persons:
            role = session.roles[seat]
            if role in pending and session.is_overdue(seat):
                question = session.turn(role), session.episode.view(role), pending[role]
                self._start(
                    session,
                    role,
                    partial(self._answer_for, session, *question, _explain(session, seat)),
                )

    def _note_done(self, session: Session, role: Role, turn: int, future: Future[None]) -> None:
        """Say beside the table why a seat does not go on, and try again later."""
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            session.trouble = ""
        elif not isinstance(error, NotAsked):
            _log.error("session %s, %s, answer %d: %r", session.id, role, turn, error)
            what = (
                "its answer could not be written to the disk"
                if isinstance(error, StoreError)
                else str(error)
            )
            session.trouble = (
                f"{role} cannot go on: {what}. It is asked again every {_RETRY:g} seconds."
            )
            session.thinking.discard((role, turn))
            self._again[session.id] = time.monotonic() + _RETRY


def _explain(session: Session, seat: int) -> str:
    """Say why a stand-in answers."""
    role = session.roles[seat]
    limit = session.setup.seconds
    if seat in session.standing.replaced:
        return "replaced by the experimenter"
    if seat in session.standing.absent:
        return "nobody had come"
    if (role, session.turn(role)) in session.advanced:
        return "advanced by the experimenter"
    return f"{_LATE} {limit} second{'s' * (limit != 1)}"
