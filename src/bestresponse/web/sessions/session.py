"""One table: an episode, who holds its seats and is ready, and how long everybody has been asked.

The episode is rebuilt from its submissions whenever the server starts; everything else here is
either in the journal (who was seated, is ready, never came, was replaced) or forgotten on purpose
(when a question was put: after a restart everybody has the full time again).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from bestresponse.core.ask import Ask
from bestresponse.core.episode import Episode, Record, Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame, Game, Role, S
from bestresponse.core.json import JsonMapping
from bestresponse.core.seeds import split
from bestresponse.runs.reporting.steps import round_amount
from bestresponse.web.sessions.setup import PERSON, Setup
from bestresponse.web.texts import Cause, PageTexts

if TYPE_CHECKING:
    from bestresponse.web.experiments.model import Part

Phase = Literal["welcome", "gathering", "turn", "waiting", "over", "closed", "replaced"]
PHASES: dict[Phase, tuple[str, str]] = {
    "welcome": ("not here yet", "reads the rules"),
    "gathering": ("ready", "waiting room"),
    "turn": ("is asked", "question"),
    "waiting": ("waits", "waits for others"),
    "over": ("done", "result"),
    "closed": ("closed", "closed"),
    "replaced": ("replaced by a bot", "replaced"),
}
"""For whoever watches a table: how far the seat is, and the page that the person sees."""
# seconds for a person who missed the last answer and was not seen since: the others wait no longer
_SHORT = 5.0
_GRACE = 2.0
"""Seconds after the time-out in which the form of a person who is still there arrives with what was
typed."""


@dataclass(frozen=True, slots=True)
class SessionTable:
    """A session as the journal knows it: its group number in a lobby, and what is played.

    In an experiment people have a seat at a table of each part; `number` counts these from 1. Where
    it is `grouped_by_quiz`, people are put into their groups once they have passed the quiz.
    """

    id: str
    lobby: str
    group: int
    part: Part
    created: str
    number: int = 1
    treatment: str = ""
    grouped_by_quiz: bool = False

    @property
    def setup(self) -> Setup:
        """What the table is made of."""
        return self.part.setup

    @property
    def texts(self) -> PageTexts:
        """The texts that people at this table read."""
        return self.part.texts


@dataclass(frozen=True, slots=True)
class Presence:
    """What is known about a person while a question was open.

    It says whether the time was up when the answer came.

    `away_times` and `away_seconds` say how often and how long the page was out of sight; None where
    nobody noted it. `key` marks the page that sent the answer.
    """

    timed_out: bool = False
    away_times: int | None = None
    away_seconds: int | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: the time that people read (UTC), and seconds by the steady clock of
    a machine since one of its starts."""

    at: str
    clock: float | None
    boot: str | None

    @classmethod
    def of(cls, event: JsonMapping) -> Moment:
        """Return when an event of the journal happened."""
        return cls(event["at"], event.get("clock"), event.get("boot"))

    def seconds_until(self, later: Moment) -> float | None:
        """Return the seconds from here to a later moment.

        Returns None where the machine was started between them, so that its clock began anew.
        """
        if self.clock is None or later.clock is None or self.boot != later.boot:
            return None
        spent = round(later.clock - self.clock, 3)
        return spent if spent >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Presence):
    """When a question was first shown and when it was answered (UTC).

    It also has the seconds between by a steady clock.
    """

    shown: str | None
    answered: str
    spent: float | None = None


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """A submission with its timing."""

    submission: Submission
    timing: Timing


@dataclass(frozen=True, slots=True)
class GroupMessage:
    """A message beside the game; `after` is how many answers and draws the play had before it."""

    seat: int
    text: str
    at: str
    attempt: int
    after: int


@dataclass
class TableStanding:
    """What happened to the seats of a table besides answers.

    Shared between the store and the session.

    `pages` are those that people saw last. `asked_as` are the seats for whose role people have got
    their quiz, where they were put into another group since.
    """

    ready: set[int] = field(default_factory=set)
    absent: set[int] = field(default_factory=set)
    replaced: set[int] = field(default_factory=set)
    shown: dict[tuple[int, int], Moment] = field(default_factory=dict)
    pages: dict[int, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    chat: list[GroupMessage] = field(default_factory=list)
    asked_as: dict[int, int] = field(default_factory=dict)
    closed: bool = False
    attempt: int = 1

    def is_awaited(self, seat: int) -> bool:
        """Tell whether the table waits for the person of that seat before it begins."""
        return seat not in self.ready and seat not in self.absent and seat not in self.replaced

    def apply(self, event: JsonMapping) -> None:
        """Follow one event of the table; those that change nothing here are passed over."""
        match event["event"]:
            case "seated":
                self.pages.pop(event["seat"], None)
                self.asked_as.pop(event["seat"], None)
            case "ready":
                self.ready.add(event["seat"])
                self.absent.discard(event["seat"])
            case "absent":
                self.absent.add(event["seat"])
            case "replaced":
                self.replaced.add(event["seat"])
            case "shown":
                self.pages[event["seat"]] = event.get("page", "question")
                if event.get("turn") is not None:
                    self.shown[event["seat"], event["turn"]] = Moment.of(event)
            case "message":
                self.messages.append(event["text"])
            case "chat":
                message = GroupMessage(
                    seat=event["seat"],
                    text=event["text"],
                    at=event["at"],
                    attempt=self.attempt,
                    after=event["after"],
                )
                self.chat.append(message)
            case "closed":
                self.closed = True
            case "restarted":
                self.attempt += 1
                self.closed = False
                self.shown.clear()
                self.pages.clear()


LABELS = ("participant_label", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_LONGEST_LABEL = 200


def read_labels(fields: Mapping[str, str]) -> dict[str, str]:
    """Read the participant labels of a link or form; UsageError where one is too long.

    >>> read_labels({"PROLIFIC_PID": " 5f3 ", "other": "x"})
    {'PROLIFIC_PID': '5f3'}
    """
    labels = {name: label for name in LABELS if (label := fields.get(name, "").strip())}
    for name, label in labels.items():
        if len(label) > _LONGEST_LABEL:
            raise UsageError(
                Cause("cause_label_long", name=name, count=len(label), most=_LONGEST_LABEL)
            )
    return labels


def find_label(labels: Mapping[str, str]) -> str:
    """Return the label that tells one person from another, empty where there is none."""
    return next((labels[name] for name in LABELS[:2] if name in labels), "")


@dataclass(frozen=True, slots=True)
class Holder:
    """The person in a seat.

    `number` counts those who held the seat before and did not confirm it, -1 means nobody.

    `agreed` says that the person agreed to the consent text before taking the seat, `released` that
    they lost it again. `origin` is the session, seat and number that the person had first, where
    they were put into another group since.
    """

    since: float | None = None
    number: int = -1
    seated: str | None = None
    confirmed: bool = False
    quiz_tries: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    agreed: bool = False
    released: bool = False
    origin: tuple[str, int, int] | None = None

    @property
    def taken(self) -> bool:
        """Whether there ever was somebody."""
        return self.number >= 0

    @property
    def is_here(self) -> bool:
        """Whether there is somebody now."""
        return self.taken and not self.released


class SeatRegister:
    """The holders of all seats, as the events of the journal tell them.

    `taken` counts seats taken in each lobby.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders: dict[tuple[str, int], Holder] = {}
        self._by_label: dict[tuple[str, str], tuple[str, int]] = {}
        self.taken: Counter[str] = Counter()
        self._moved: dict[tuple[str, int, int], tuple[str, int, int]] = {}

    def apply(self, event: JsonMapping) -> None:
        """Follow one event of a seat: seated, quiz, ready or left; any other changes no holder."""
        key = (event["session"], event["seat"])
        before = self._holders.get(key, Holder(self._clock(), 0))
        match event["event"]:
            case "seated":
                lobby = key[0].rpartition("-")[0]
                labels = event.get("labels", {})
                self._by_label.pop((lobby, find_label(before.labels)), None)
                self._by_label[lobby, find_label(labels)] = key
                self._by_label.pop((lobby, ""), None)
                self.taken[lobby] += 1
                number = event.get("holder", 0)
                agreed = event.get("agreed", False)
                self._holders[key] = Holder(
                    self._clock(), number, event["at"], labels=labels, agreed=agreed
                )
            case "moved":
                self._exchange(key, (event["to"], event["to_seat"]))
            case "quiz":
                self._holders[key] = replace(before, quiz_tries=event["tries"])
            case "left":
                self._holders[key] = replace(before, released=True)
            case "ready":
                self._holders[key] = replace(before, confirmed=True, quiz_tries=event["quiz_tries"])

    def _exchange(self, here: tuple[str, int], there: tuple[str, int]) -> None:
        """Put the holders of two seats into each other's; a seat that nobody had is free.

        Each gets a new number, so that no link opens the seat for whoever had it before.
        """
        holders = (self.get(*here), self.get(*there))
        places = ((here, there), (there, here))
        numbers = (holders[1].number + 1, holders[0].number + 1)
        for holder, (old, new), number in zip(holders, places, numbers, strict=True):
            label = (new[0].rpartition("-")[0], find_label(holder.labels))
            self._by_label.pop(label, None)
            if not holder.is_here:
                self._holders[new] = Holder(number=number, released=True)
                continue
            before = (*old, holder.number)
            self._holders[new] = replace(holder, number=number, origin=holder.origin or before)
            self._moved[before] = (*new, number)
            if label[1]:
                self._by_label[label] = new

    def follow(self, session: str, seat: int, number: int) -> tuple[str, int]:
        """Return the seat in which the person is now who held that one under that number."""
        place = (session, seat, number)
        while place in self._moved:
            place = self._moved[place]
        return place[:2]

    def list_moved(self, session: str, seat: int) -> list[int]:
        """List the numbers of those who held a seat and were put into another group."""
        numbers = range(self.get(session, seat).number)
        return [number for number in numbers if (session, seat, number) in self._moved]

    def get(self, session: str, seat: int) -> Holder:
        """Return who holds the seat."""
        return self._holders.get((session, seat), Holder())

    def find(self, lobby: str, labels: Mapping[str, str]) -> tuple[str, int] | None:
        """Return the seat of the person with these labels in that lobby, or None."""
        return self._by_label.get((lobby, find_label(labels)))

    def is_free(self, session: str, seat: int, hold: int, seen: float | None) -> bool:
        """Tell whether the next person may take the seat.

        A seat that was not confirmed is free again once its holder was not `seen` for `hold`
        seconds (0: never).
        """
        holder = self.get(session, seat)
        if holder.released or holder.confirmed or (holder.since is not None and not hold):
            return holder.released
        times = [time for time in (holder.since, seen) if time is not None]
        return not times or self._clock() - max(times) > hold


@dataclass(frozen=True, slots=True)
class ToldSeat:
    """What a seat is told in words; it changes with the number of `settled` answers alone."""

    settled: int
    rules: str
    situation: str


@dataclass
class Session:
    """A table in play. Whoever reads or changes `episode` holds `lock`.

    `stamp` counts everything that happened since the server knows the table. `attempt` counts from
    1 how often the game was begun; a restart makes a new session, and this one is `discarded`.
    """

    table: SessionTable
    game: AnyGame
    episode: Episode[Any]
    standing: TableStanding = field(default_factory=TableStanding)
    timings: list[Timing] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    asked: dict[Role, tuple[int, float]] = field(default_factory=dict)
    seen: dict[int, float] = field(default_factory=dict)
    pages: dict[int, tuple[str, float]] = field(default_factory=dict)
    thinking: set[tuple[Role, int]] = field(default_factory=set)
    advanced: dict[tuple[Role, int], float] = field(default_factory=dict)
    told: dict[int, ToldSeat] = field(default_factory=dict)
    gathering_since: float | None = None
    trouble: str = ""
    stamp: int = 0
    attempt: int = 1

    @classmethod
    def restore(
        cls,
        table: SessionTable,
        game: Game[S],
        answers: Sequence[TimedAnswer],
        standing: TableStanding,
    ) -> Session:
        """Rebuild the session from its answers."""
        episode = Episode(game, (answer.submission for answer in answers))
        session = cls(
            table,
            game,
            episode,
            standing,
            [answer.timing for answer in answers],
            attempt=standing.attempt,
        )
        session.note_asked()
        return session

    @property
    def id(self) -> str:
        """The name of the session."""
        return self.table.id

    @property
    def play(self) -> str:
        """The name of this attempt in the journal."""
        return name_attempt(self.id, self.attempt)

    @property
    def discarded(self) -> bool:
        """Whether the experimenter has restarted the table since."""
        return self.attempt != self.standing.attempt

    @property
    def setup(self) -> Setup:
        """What the table is made of."""
        return self.table.setup

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of the game, seat by seat."""
        return self.game.roles

    @property
    def missing(self) -> int:
        """How many people the table waits for before it begins."""
        return sum(map(self.standing.is_awaited, self.setup.persons))

    @property
    def begun(self) -> bool:
        """Whether every person is ready, or the table was begun without those who are not."""
        return not any(map(self.standing.is_awaited, self.setup.persons))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.episode.over

    @property
    def ended(self) -> bool:
        """Whether nobody will be asked any more."""
        return self.discarded or self.standing.closed or (self.begun and self.over)

    @property
    def seed(self) -> int:
        """The seed of nature and of the strategies in this attempt."""
        return split(self.setup.seed, self.play)

    @property
    def quiz_seed(self) -> int:
        """The seed of the quiz: the same at all tables between which people can be moved."""
        if self.table.grouped_by_quiz:
            return split(self.setup.seed, self.table.lobby)
        return self.seed

    @property
    def settled(self) -> int:
        """How many answers have changed the state.

        Those of a round that is not complete have not.
        """
        return len(self.episode.submissions) - len(self.episode.moves)

    def record(self) -> Record:
        """Return the record of the play so far, with payoffs where it is over."""
        players = dict(zip(self.roles, self.setup.seats, strict=True))
        payoffs = self.payoffs() if self.begun and self.over else {}
        answers = tuple(self.episode.submissions)
        return Record(
            self.game.name,
            self.game.version,
            players=players,
            submissions=answers,
            payoffs=payoffs,
            void=self.episode.void,
        )

    def payoffs(self) -> dict[Role, float]:
        """Return the payoffs of a play that is over, without rounding noise.

        None of a void play.
        """
        if self.episode.void:
            return {}
        return {
            role: round_amount(got) for role, got in self.game.payoffs(self.episode.state).items()
        }

    def pending(self) -> dict[Role, Ask]:
        """Who is asked now; nobody before everybody is ready or after the table was closed."""
        return (
            self.episode.pending
            if self.begun and not self.standing.closed and not self.discarded
            else {}
        )

    def turn(self, role: Role) -> int:
        """How many answers of that role count so far.

        This is the number of the answer it is asked for next.
        """
        return sum(submission.role == role for submission in self.episode.submissions)

    def answer(self, role: Role, turn: int) -> Submission | None:
        """The answer of that number, where there is one."""
        submissions = [
            submission for submission in self.episode.submissions if submission.role == role
        ]
        return submissions[turn] if 0 <= turn < len(submissions) else None

    def find_key(self, role: Role, turn: int) -> str:
        """Return the key of the page that sent the answer of that number."""
        timings = [
            answer.timing for answer in self.list_answers() if answer.submission.role == role
        ]
        return timings[turn].key

    def list_answers(self) -> list[TimedAnswer]:
        """List the answers with their timing."""
        return [
            TimedAnswer(*pair) for pair in zip(self.episode.submissions, self.timings, strict=True)
        ]

    def stand_ins(self, role: Role) -> int:
        """How often somebody stood in for that role."""
        return sum(bool(s.decision.stand_in) for s in self.episode.submissions if s.role == role)

    def phase(self, seat: int) -> Phase:
        """Which page the person in that seat sees."""
        if self.begun and self.over:
            return "over"
        if self.standing.closed:
            return "closed"
        if seat in self.standing.replaced:
            return "replaced"
        if seat not in self.standing.ready and self.setup.seats[seat] == PERSON:
            return "welcome"
        if not self.begun:
            return "gathering"
        return "turn" if self.roles[seat] in self.episode.pending else "waiting"

    def state(self, seat: int) -> str:
        """How far the seat is, in words for whoever watches the table."""
        return (
            "absent"
            if seat in self.standing.absent and not self.ended
            else PHASES[self.phase(seat)][0]
        )

    def version(self, seat: int) -> str:
        """Changes exactly when the page of that seat has to; the same after a restart.

        A page with a form (welcome, turn) does not change because of what others do.
        """
        phase = self.phase(seat)
        turn = self.turn(self.roles[seat])
        details = {
            "turn": f".{turn}",
            "gathering": f".{self.missing}",
            "waiting": f".{turn}.{self.settled}",
        }
        again = "" if self.standing.attempt == 1 else f".again{self.standing.attempt}"
        return f"{phase}{details.get(phase, '')}{again}"

    def note_asked(self) -> None:
        """Start the clock of every question that is new; something has happened."""
        self.stamp += 1
        now = time.monotonic()
        known = {(role, turn): since for role, (turn, since) in self.asked.items()}
        turns = {role: self.turn(role) for role in self.pending()}
        self.asked = {role: (turn, known.get((role, turn), now)) for role, turn in turns.items()}
        gathering = self.standing.ready and not self.begun
        self.gathering_since = (
            (now if self.gathering_since is None else self.gathering_since) if gathering else None
        )

    def seconds_left(self, seat: int) -> float | None:
        """Until a stand-in answers for the person in that seat.

        Returns None where there is no limit or no question.

        Whoever has missed a question and was not seen since gets a short time only, whoever never
        came none.
        """
        role = self.roles[seat]
        if role in self.asked and (seat in self.standing.absent or seat in self.standing.replaced):
            return 0.0
        if not self.setup.seconds or role not in self.asked or self.setup.seats[seat] != PERSON:
            return None
        turn, since = self.asked[role]
        missed = self.answer(role, turn - 1)
        gone = missed is not None and missed.decision.stand_in and not self._was_seen(seat, since)
        limit = min(_SHORT, self.setup.seconds) if gone else self.setup.seconds
        return max(0.0, since + limit - time.monotonic())

    def is_overdue(self, seat: int) -> bool:
        """Tell whether a stand-in has to answer now.

        A person who is there gets a moment for the form to arrive.
        """
        role = self.roles[seat]
        left = self.seconds_left(seat)
        if role not in self.asked:
            return False
        turn, since = self.asked[role]
        grace = _GRACE if self._was_seen(seat, since) else 0.0
        if (role, turn) in self.advanced:
            return time.monotonic() >= self.advanced[role, turn] + grace
        if left is None or left > 0:
            return False
        if seat in self.standing.absent or seat in self.standing.replaced or not grace:
            return True
        return time.monotonic() > since + self.setup.seconds + grace

    def waited_too_long(self) -> bool:
        """Return whether those ready have waited for the others as long as the setup allows."""
        since = self.gathering_since
        return (
            bool(self.setup.waiting)
            and since is not None
            and time.monotonic() - since > self.setup.waiting
        )

    def _was_seen(self, seat: int, since: float) -> bool:
        return seat in self.seen and self.seen[seat] >= since

    def touch(self, seat: int) -> None:
        """Note that the person in that seat was here."""
        self.seen[seat] = time.monotonic()

    def note_page(self, seat: int, version: str) -> None:
        """Note which page that person sees, and since when."""
        if seat not in self.pages or self.pages[seat][0] != version:
            self.pages[seat] = (version, time.monotonic())


def name_attempt(session: str, attempt: int) -> str:
    """Name an attempt at a session in the journal.

    >>> name_attempt("a1-3", 1), name_attempt("a1-3", 2)
    ('a1-3', 'a1-3.2')
    """
    return session if attempt == 1 else f"{session}.{attempt}"
