"""What a player may know, as data.

Statements tell the rules of a game, and events what has happened so far.

A game states; it writes no sentences. Whatever is shown is made from these values at the edge, by
`bestresponse.telling`: prompts, pages and the words of commands, in every language. Whatever is
computed from a history is read from its events, never from words. All numbers are exact.

What only one game has is a `GameRule` or a `GameEvent`, defined in the folder of the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from bestresponse.core.errors import InvalidGame

if TYPE_CHECKING:
    from bestresponse.core.agreement import ToldPlay
    from bestresponse.core.ask import Ask

CARD_NAMES = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}
"""Cards by their letters; a language has its own words for them."""


class GameRule:
    """A rule of one game, told in a message of the game's own folder.

    A subclass is a frozen dataclass that names its message. The message has a place for each field;
    `bestresponse.telling.folders` says where it is looked for and how it is filled.
    """

    __slots__ = ()
    message: ClassVar[str]

    def check_asks(self, asks: Mapping[str, Ask]) -> None:
        """Raise `agreement.Disagreement` where the first to move are asked for something else."""

    def find_owed(self, play: ToldPlay) -> Mapping[str, Fraction] | None:
        """Return what this rule pays everybody for a play that is told, None if it pays nothing."""
        return None


class GameEvent:
    """Something that happened in one game, told in a message of the game's own folder.

    A subclass is a frozen dataclass, as for `GameRule`. `is_step` says that it is one step among
    others (`Ann bid 3, Bob bid 4`) and no sentence of its own, `is_public` that everybody learns of
    it, `is_turn` that it says what the reader has to do now, `is_ending` how the game ended.
    """

    __slots__ = ()
    message: ClassVar[str]
    is_step: ClassVar[bool] = True
    is_public: ClassVar[bool] = True
    is_turn: ClassVar[bool] = False
    is_ending: ClassVar[bool] = False

    def is_decision_of(self, role: str) -> bool:
        """Say whether this is what came of one answer of a role."""
        return self.is_step and getattr(self, "who", None) == role


@dataclass(frozen=True, slots=True)
class Prose:
    """A text in one language, the fallback for games that state nothing else.

    It means whatever it says.
    """

    text: str


@dataclass(frozen=True, slots=True)
class PrivateProse:
    """A text that nobody else may know."""

    text: str


Joined: TypeAlias = Literal["lines", "and", "or", "semicolons"]
"""How parts are joined: one below the other, `a, b and c`, `a, b or c`, or `a; b; c`."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """What is in a place of a text: parts, and how they are joined.

    A part is a name, a number, a line such as `apple: 3`, or a text with places of its own.
    """

    name: str
    parts: tuple[str | Worded, ...]
    joined: Joined = "lines"


@dataclass(frozen=True, slots=True)
class Worded:
    """A text in English with places in braces, which a language may have in its own words."""

    text: str
    places: tuple[TextPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """A board as it is seen, its rows from the top.

    The first row names the columns, and the first cell of each row names the row; a board without
    names of rows has empty cells there.
    """

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Title:
    """What the game is called."""

    name: str


@dataclass(frozen=True, slots=True)
class Players:
    """Who plays, in the order in which payoffs are listed."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """Who chooses among what."""

    who: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Everybody chooses once, at the same time: nobody knows another's choice."""

    choices: tuple[Options, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """What everybody gets if these moves, one per player, are made."""

    moves: tuple[str, ...]
    payoffs: tuple[Fraction, ...]


@dataclass(frozen=True)
class Cells:
    """Payoffs for every combination of moves; the last player's move changes fastest."""

    cells: tuple[Cell, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Words made from a large table are looked up by it again and again.
        return hash(self.cells)


@dataclass(frozen=True, slots=True)
class NearestWins:
    """All choose numbers.

    Those nearest to `factor` times the average of all share `prize`, the others get nothing.
    """

    factor: Fraction
    prize: Fraction


@dataclass(frozen=True, slots=True)
class LowerClaim:
    """Two choose numbers and both get the lower.

    Whoever chose less gets `bonus` more, the other `bonus` less.
    """

    bonus: Fraction


@dataclass(frozen=True, slots=True)
class LowestEffort:
    """All choose numbers.

    Everybody gets `base`, `gain` times the lowest of all, less `cost` times the own number.
    """

    gain: Fraction
    cost: Fraction
    base: Fraction


@dataclass(frozen=True, slots=True)
class UntoldPayoffs:
    """Payoffs that are too many to be listed, and follow no rule that could be told."""


@dataclass(frozen=True, slots=True)
class Decides:
    """A player chooses.

    Positions with the same `mark` are one information set: the player cannot tell them apart. An
    empty mark says that the player knows everything that has happened before.
    """

    who: str
    options: tuple[str, ...]
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Odds:
    """Something that chance may draw."""

    name: str
    chance: Fraction


@dataclass(frozen=True, slots=True)
class Draw:
    """Chance draws one of these."""

    outcomes: tuple[Odds, ...]


@dataclass(frozen=True, slots=True)
class PlayEnd:
    """The game is over, and everybody gets this."""

    payoffs: tuple[Fraction, ...]


Position: TypeAlias = Decides | Draw | PlayEnd


@dataclass(frozen=True)
class Course:
    """A game tree: what is at every position, in preorder.

    After a position stand all that follow its first option, then all that follow the second, and so
    on. So the list needs no numbers, and a long game needs no deep nesting.
    """

    positions: tuple[Position, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Words made from a large tree are looked up by it again and again.
        return hash(self.positions)


@dataclass(frozen=True, slots=True)
class Repetition:
    """The same players play the same game several times.

    After each round they see which moves were made.

    After each round there is another with probability `continuation`, at most `rounds` in all. A
    payoff counts `discount` times what it would have counted one round before. With probability
    `noise` another move is made than a player meant, all others being equally likely.
    """

    rounds: int
    continuation: Fraction = Fraction(1)
    discount: Fraction = Fraction(1)
    noise: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Rest:
    """What is stated next is the rest of a game that has begun before."""


@dataclass(frozen=True, slots=True)
class TurnCount:
    """At how many information sets a player chooses."""

    who: str
    count: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The size of a game that is too large to be told."""

    ends: int
    turns: tuple[TurnCount, ...]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a player is to aim at: the own payoff.

    `rational` says that the others do so too, and do it perfectly.
    """

    rational: bool = False


PayoffRule: TypeAlias = NearestWins | LowerClaim | LowestEffort
"""Rules that give the payoffs of a table whose moves are numbers."""
Statement: TypeAlias = (
    Prose
    | Worded
    | PrivateProse
    | Board
    | Title
    | Players
    | AtOnce
    | Cells
    | PayoffRule
    | Course
    | Repetition
    | Rest
    | Summary
    | Aim
    | UntoldPayoffs
    | GameRule
)


@dataclass(frozen=True, slots=True)
class Chose:
    """A player chose; of several options it is not known which.

    `secret` says that not everybody learns of it.
    """

    who: str
    options: tuple[str, ...]
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Drew:
    """Chance drew; of several outcomes it is not known which."""

    outcomes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mixed:
    """A player chose with these probabilities, one per option."""

    who: str
    weights: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """A round begins."""

    number: int


@dataclass(frozen=True, slots=True)
class Meant:
    """A player meant one move, and another or the same was made."""

    who: str
    meant: str
    made: str


@dataclass(frozen=True, slots=True)
class Made:
    """This move of a player was made, whatever was meant."""

    who: str
    move: str


@dataclass(frozen=True, slots=True)
class Paid:
    """A player got this."""

    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several things has happened; the player does not know which."""

    ways: tuple[tuple[Chose | Drew, ...], ...]


@dataclass(frozen=True, slots=True)
class YourTurn:
    """It is the turn of whoever reads this."""


@dataclass(frozen=True, slots=True)
class Saw:
    """The player perceived something, in the words of the game."""

    what: str


@dataclass(frozen=True, slots=True)
class Unaware:
    """Others may have moved; the player knows of nothing."""


@dataclass(frozen=True, slots=True)
class Holds:
    """The player holds this card, named by its letter: K for a king."""

    card: str


@dataclass(frozen=True, slots=True)
class Dealt:
    """A player was dealt this card."""

    who: str
    card: str


@dataclass(frozen=True, slots=True)
class LaidOpen:
    """This card was laid open for all."""

    card: str


@dataclass(frozen=True, slots=True)
class Reached:
    """The player is at one of the positions with this letter.

    The letters are those of a course told as an outline.
    """

    letter: str


@dataclass(frozen=True, slots=True)
class EarnedSoFar:
    """What the reader has earned in all rounds together."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class RoundsForgotten:
    """The reader is not shown the first rounds."""

    count: int


@dataclass(frozen=True, slots=True)
class RoundsInShort:
    """What the reader noted of the first rounds, which are not shown."""

    summary: str


@dataclass(frozen=True, slots=True)
class OwnReasons:
    """What the reader said when deciding in a round."""

    text: str


@dataclass(frozen=True, slots=True)
class Over:
    """The game is over."""


Event: TypeAlias = (
    Prose
    | PrivateProse
    | YourTurn
    | Chose
    | Drew
    | Mixed
    | Round
    | Meant
    | Made
    | Paid
    | OneOf
    | Saw
    | Unaware
    | Holds
    | Dealt
    | LaidOpen
    | Reached
    | EarnedSoFar
    | RoundsForgotten
    | RoundsInShort
    | OwnReasons
    | Over
    | GameEvent
)
Told: TypeAlias = Statement | Event
_PUBLIC = (
    Prose,
    Chose,
    Mixed,
    Round,
    Made,
    LaidOpen,
    Over,
)
"""What everybody learns, besides public events of a game. Any other event is known to one player,
or may be."""


def list_branches(position: Position) -> tuple[str, ...]:
    """List the names of what may happen at a position."""
    match position:
        case Decides():
            return position.options
        case Draw():
            return tuple(outcome.name for outcome in position.outcomes)
        case PlayEnd():
            return ()


def list_children(course: Course) -> list[list[int]]:
    """List which positions follow each position, in the order of its options.

    >>> ends = PlayEnd((Fraction(1),)), PlayEnd((Fraction(2),))
    >>> list_children(Course((Decides("Ann", ("l", "r")), *ends)))
    [[1, 2], [], []]

    Raises:
        InvalidGame: a position has no place below another, or an option has no position after it.
    """
    children: list[list[int]] = []
    waiting: list[int] = []  # positions of which options are still to come, the nearest one last
    for number, position in enumerate(course.positions):
        if waiting:
            children[waiting[-1]].append(number)
        elif number:
            raise InvalidGame(
                f"a course goes on after its last end: position {number + 1} follows no option"
            )
        children.append([])
        if not isinstance(position, PlayEnd) and not list_branches(position):
            raise InvalidGame(f"position {number + 1} of a course has no options and is not an end")
        waiting.append(number)
        while waiting:
            branches = list_branches(course.positions[waiting[-1]])
            if len(children[waiting[-1]]) < len(branches):
                break
            waiting.pop()
    if waiting or not course.positions:
        raise InvalidGame("a course stops before its last end")
    return children


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """The events of one round."""

    number: int
    events: tuple[Event, ...]


def split_rounds(history: Iterable[Event]) -> tuple[tuple[Event, ...], tuple[PlayedRound, ...]]:
    """Split a history into what comes before the first round, and the rounds.

    >>> before, rounds = split_rounds((Round(1), Made("Ann", "x"), Round(2)))
    >>> before, [played.number for played in rounds]
    ((), [1, 2])
    """
    before: list[Event] = []
    rounds: list[tuple[int, list[Event]]] = []
    for event in history:
        if isinstance(event, Round):
            rounds.append((event.number, []))
        elif rounds:
            rounds[-1][1].append(event)
        else:
            before.append(event)
    played = [PlayedRound(number, tuple(events)) for number, events in rounds]
    return tuple(before), tuple(played)


def list_public(history: Iterable[Event]) -> tuple[Event, ...]:
    """List what everybody knows of a history.

    This leaves out hands, signals, draws that may be hidden, and moves that were meant.

    >>> chosen = Chose("Ann", ("bet",))
    >>> list_public((YourTurn(), Holds("king"), chosen, Meant("Ann", "bet", "pass")))
    (Chose(who='Ann', options=('bet',), secret=False), Made(who='Ann', move='pass'))
    """
    public: list[Event] = []
    for event in history:
        if isinstance(event, Meant):
            public.append(Made(event.who, event.made))
        elif isinstance(event, GameEvent):
            if event.is_public:
                public.append(event)
        elif isinstance(event, _PUBLIC) and not (isinstance(event, Chose) and event.secret):
            public.append(event)
    return tuple(public)


def prose(text: str) -> tuple[Prose, ...]:
    """Return a text as all that is told; nothing where it is empty."""
    return (Prose(text),) if text else ()
