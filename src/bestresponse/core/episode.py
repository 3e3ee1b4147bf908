"""One play of one game: the only mutable object of the core, and the record it leaves."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic

from bestresponse.core.ask import Ask
from bestresponse.core.capabilities import EndlessPlays
from bestresponse.core.errors import InvalidMove, NotAsked
from bestresponse.core.game import Action, Game, Role, S, View
from bestresponse.core.notebook import format_html
from bestresponse.core.player import Decision, Player, find_forced


@dataclass(frozen=True, slots=True)
class Submission:
    """One answer of one seat."""

    role: Role
    decision: Decision


@dataclass(frozen=True, slots=True)
class Void:
    """Why a play counts for nothing: this seat's answer could not be read."""

    role: Role
    why: str


@dataclass(frozen=True, slots=True)
class Record:
    """What happened. The submissions are enough to rebuild every state (see `Episode`).

    `endless` says that the play was stopped, and pays what the rules say of play without end.
    """

    game: str
    version: int
    players: Mapping[Role, str]
    submissions: tuple[Submission, ...]
    payoffs: Mapping[Role, float]
    void: Void | None = None
    endless: bool = False

    def __repr__(self) -> str:
        end = (
            f"payoffs {list(self.payoffs.values())}"
            if self.void is None
            else f"void: {self.void.why[:80]}"
        )
        return f"Record({self.game!r}, {len(self.submissions)} submissions, {end})"

    def _repr_html_(self) -> str:
        rows = (
            (turn.role, self.players.get(turn.role, ""), turn.decision.action)
            for turn in self.submissions
        )
        return format_html(repr(self), ("seat", "player", "move"), rows)


class Episode(Generic[S]):
    """A game in progress.

    It can stop between any two submissions and go on from the list of them.
    """

    def __init__(self, game: Game[S], submissions: Iterable[Submission] = ()) -> None:
        self.game = game
        self.state: S = game.start()
        self.submissions: list[Submission] = []
        self.void: Void | None = None
        self.moves: dict[Role, Action] = {}
        self.counts: Counter[Role] = Counter()
        self._pending: dict[Role, Ask] = dict(game.asks(self.state))
        for submission in submissions:
            self.submit(submission.role, submission.decision)

    @property
    def pending(self) -> dict[Role, Ask]:
        """The asks nobody has answered yet; empty when the game is over."""
        return self._pending

    @property
    def over(self) -> bool:
        """Tell whether nobody is asked any more."""
        return not self.pending

    def view(self, role: Role) -> View:
        """Return what `role` may know now, and how often it has moved."""
        return replace(self.game.view(self.state, role), moves=self.counts[role])

    def submit(self, role: Role, decision: Decision) -> None:
        """Take one answer; move on once every asked role has answered.

        An unreadable answer voids the play.
        """
        pending = self._pending
        if role not in pending:
            waiting = ", ".join(pending) or "nobody: the game is over"
            raise NotAsked(f"{role} is not asked now; waiting for {waiting}")
        if decision.action is None:
            if decision.reading.status.readable:
                raise InvalidMove(f"{role} gave a decision without an action")
            self.void = Void(role, f"{decision.reading.status}: {decision.reading.how}")
            self._pending = {}
            self.submissions.append(Submission(role, decision))
            return
        pending[role].check(decision.action)
        self.submissions.append(Submission(role, decision))
        self.counts[role] += 1
        self.moves[role] = decision.action
        if len(pending) > 1:
            self._pending = {other: ask for other, ask in pending.items() if other != role}
            return
        self.state = self.game.apply(self.state, self.moves)
        self.moves, self._pending = {}, dict(self.game.asks(self.state))

    def record(self, players: Mapping[Role, str]) -> Record:
        """The record of a play that is over; a void play has no payoffs."""
        if not self.over:
            raise NotAsked(f"the play is not over; waiting for {', '.join(self.pending)}")
        payoffs = {} if self.void else dict(self.game.payoffs(self.state))
        return Record(
            self.game.name,
            self.game.version,
            players=dict(players),
            submissions=tuple(self.submissions),
            payoffs=payoffs,
            void=self.void,
            endless=isinstance(self.game, EndlessPlays) and self.game.is_endless(self.state),
        )


SeatAsk = tuple[Role, Player, View, Ask]
"""A seat that has to answer, who sits there, what it sees and what it is asked."""


def ask_in_turn(questions: list[SeatAsk]) -> list[Decision]:
    """Ask one seat after the other; `play` takes another function to ask them at the same time."""
    return [player.decide(view, ask) for _, player, view, ask in questions]


def play(
    game: Game[S],
    players: Mapping[Role, Player],
    *,
    submissions: Iterable[Submission] = (),
    ask_seats: Callable[[list[SeatAsk]], list[Decision]] = ask_in_turn,
    on_submission: Callable[[Submission], None] | None = None,
) -> Record:
    """Play `game` to its end, from where `submissions` left off.

    Simultaneous seats see the same state. A seat with one legal answer is not asked.
    """
    episode = Episode(game, submissions)
    while pending := episode.pending:
        missing = [role for role in pending if role not in players]
        if missing:
            raise NotAsked(f"nobody sits in the seat {missing[0]!r}; seated: {', '.join(players)}")
        questions: list[SeatAsk] = []
        decisions: dict[Role, Decision] = {}
        for role, ask in pending.items():
            player = players[role]
            if forced := find_forced(ask):
                decisions[role] = forced
                continue
            is_blind = getattr(player, "blind", False)
            view = View(role, moves=episode.counts[role]) if is_blind else episode.view(role)
            questions.append((role, player, view, ask))
        asked = [role for role in pending if role not in decisions]
        decisions.update(zip(asked, ask_seats(questions) if asked else (), strict=True))
        for role in pending:
            if episode.void:
                break
            episode.submit(role, decisions[role])
            if on_submission:
                on_submission(episode.submissions[-1])
    return episode.record({role: player.name for role, player in players.items()})
