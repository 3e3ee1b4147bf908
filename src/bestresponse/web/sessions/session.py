"""One table: an episode, who is ready, and how long everybody has been asked.

The episode is rebuilt from its submissions whenever the server starts; everything else here is either an event in the
journal (who was seated, is ready, never came) or forgotten on purpose (when a question was put: after a restart
everybody has the full time again).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from bestresponse.core.ask import Ask
from bestresponse.core.episode import Episode, Submission
from bestresponse.core.game import Game, Role
from bestresponse.core.seeds import split
from bestresponse.web.sessions.setup import PERSON, Setup

__all__ = ["Phase", "Session", "Table"]

Phase = Literal["welcome", "gathering", "turn", "waiting", "over"]
_SHORT = 5.0


@dataclass(frozen=True, slots=True)
class Table:
    """A session as the journal knows it: its place among the groups of a lobby, and its setup."""

    id: str
    lobby: str
    group: int
    setup: Setup
    created: str


@dataclass
class Session:
    """A table in play. Whoever reads or changes `episode` holds `lock`.

    `stamp` counts everything that happened since the server knows the table.
    """

    table: Table
    game: Game[Any]
    episode: Episode[Any]
    ready: set[int] = field(default_factory=set)
    absent: set[int] = field(default_factory=set)
    lock: threading.RLock = field(default_factory=threading.RLock)
    asked: dict[Role, tuple[int, float]] = field(default_factory=dict)
    seen: dict[int, float] = field(default_factory=dict)
    thinking: set[tuple[Role, int]] = field(default_factory=set)
    quiz_tries: dict[int, int] = field(default_factory=dict)
    trouble: str = ""
    stamp: int = 0

    @classmethod
    def restore(
        cls,
        table: Table,
        game: Game[Any],
        submissions: Iterable[Submission],
        ready: Iterable[int] = (),
        absent: set[int] | None = None,
    ) -> Session:
        """Rebuild the session from its answers; `absent` is shared with the store."""
        session = cls(table, game, Episode(game, submissions), set(ready), set() if absent is None else absent)
        session.note_asked()
        return session

    @property
    def id(self) -> str:
        return self.table.id

    @property
    def setup(self) -> Setup:
        return self.table.setup

    @property
    def roles(self) -> tuple[Role, ...]:
        return self.game.roles

    @property
    def begun(self) -> bool:
        """Whether every person is ready, or the table was begun without those who are not."""
        return all(seat in self.ready or seat in self.absent for seat in self.setup.persons)

    @property
    def over(self) -> bool:
        return self.episode.over

    @property
    def seed(self) -> int:
        """The seed of nature and of the strategies at this table."""
        return split(self.setup.seed, self.id)

    @property
    def settled(self) -> int:
        """How many answers have changed the state; those of a round that is not complete have not."""
        asked = self.game.asks(self.episode.state)
        return len(self.episode.submissions) - len(asked) + len(self.episode.pending)

    def pending(self) -> dict[Role, Ask]:
        """Who is asked now; nobody before everybody is ready."""
        return self.episode.pending if self.begun else {}

    def turn(self, role: Role) -> int:
        """How many answers of that role count so far: the number of the answer it is asked for next."""
        return sum(submission.role == role for submission in self.episode.submissions)

    def answer(self, role: Role, turn: int) -> Submission | None:
        """The answer of that number, where there is one."""
        given = [submission for submission in self.episode.submissions if submission.role == role]
        return given[turn] if 0 <= turn < len(given) else None

    def stand_ins(self, role: Role) -> int:
        """How often somebody stood in for that role."""
        return sum(bool(s.decision.stand_in) for s in self.episode.submissions if s.role == role)

    def phase(self, seat: int) -> Phase:
        if seat not in self.ready and self.setup.seats[seat] == PERSON and not self.over:
            return "welcome"
        if not self.begun:
            return "gathering"
        if self.over:
            return "over"
        return "turn" if self.roles[seat] in self.episode.pending else "waiting"

    def state(self, seat: int) -> str:
        """How far the seat is, in words for whoever watches the table."""
        if seat in self.absent:
            return "absent"
        if self.setup.seats[seat] == PERSON and seat not in self.ready:
            return "not here yet"
        if not self.begun:
            return "ready"
        if self.over:
            return "done"
        return "is asked" if self.roles[seat] in self.episode.pending else "waits"

    def version(self, seat: int) -> str:
        """Changes exactly when the page of that seat does; the same after a restart."""
        return f"{self.phase(seat)}.{self.turn(self.roles[seat])}.{len(self.ready)}.{self.settled}"

    def note_asked(self) -> None:
        """Start the clock of every question that is new; something has happened."""
        self.stamp += 1
        now = time.monotonic()
        pending = self.pending()
        self.asked = {
            role: self.asked[role] if self.asked.get(role, (-1, 0.0))[0] == self.turn(role) else (self.turn(role), now)
            for role in pending
        }

    def seconds_left(self, seat: int) -> float | None:
        """Until a stand-in answers for the person in that seat; None where there is no limit or no question.

        Whoever has missed a question and was not seen since gets a short time only, whoever never came none.
        """
        role = self.roles[seat]
        if seat in self.absent and role in self.asked:
            return 0.0
        if not self.setup.seconds or role not in self.asked or self.setup.seats[seat] != PERSON:
            return None
        turn, since = self.asked[role]
        missed = self.answer(role, turn - 1)
        gone = missed is not None and missed.decision.stand_in and self.seen.get(seat, 0.0) < since
        limit = min(_SHORT, self.setup.seconds) if gone else self.setup.seconds
        return max(0.0, since + limit - time.monotonic())

    def touch(self, seat: int) -> None:
        """Note that the person in that seat was here."""
        self.seen[seat] = time.monotonic()
