"""The rules of a game, as pure functions over an immutable state.

Whatever is uncertain is a move: chance is a move by NATURE, a judgement a move by REFEREE, a
wording a move by its seat. The list of moves therefore determines everything that happened.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from bestresponse.core.ask import Ask, Lottery
from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, canonical
from bestresponse.core.seeds import generator
from bestresponse.core.told import Event, Statement
from bestresponse.core.told_json import spell_told

Role = str
Action = Any
S = TypeVar("S")
"""The states of a game. A function that only passes them on takes `Game[S]`."""
S_contra = TypeVar("S_contra", contravariant=True)

Layout = Literal["usual", "lines", "json"]
"""How rules are told: a tree as an outline and payoffs as a table, or both in sentences, or payoffs
as JSON."""

NATURE: Role = "nature"
REFEREE: Role = "referee"


@dataclass(frozen=True, slots=True)
class View:
    """All that one role may know when it is asked: its information set.

    `rules` state the game, `history` what has happened so far; `bestresponse.telling` puts them
    into words. Where what happened comes down to a `position`, that is told in place of the
    history. `facts` holds plain JSON data for players that are programs; `notes` are remarks added
    on the way (feedback, a persona's reminder). `layout` is how the rules are laid out, and `moves`
    how often the role has moved, so that no two of its draws are the same; neither is knowledge.
    """

    role: Role
    rules: tuple[Statement, ...] = ()
    history: tuple[Event, ...] = ()
    facts: JsonMapping = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    layout: Layout = "usual"
    position: tuple[Statement, ...] = ()
    moves: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.rules, str) or isinstance(self.history, str):
            raise InvalidGame(
                f"the view of {self.role} has a text where statements are expected; give View(role,"
                " prose(rules), prose(history)), with `prose` from bestresponse.core.told"
            )

    @property
    def key(self) -> str:
        """One text per information set: equal keys, same knowledge.

        For information sets, policies and draws. What a prompt says is `question`.
        """
        rules = spell_told(self.rules)
        history = spell_told(self.history)
        return canonical([self.role, rules, history, dict(self.facts), list(self.notes)])

    def draw(self, seed: int, *path: str) -> Random:
        """Return the generator of whatever is drawn here.

        It depends on the seed, on how often the role has moved, and on what it knows.
        """
        return generator(seed, *path, self.moves, self.key)

    @property
    def question(self) -> str:
        """One text per question: equal texts, same words and same values of all moves.

        Plays that came to the same position in different ways ask the same question.
        """
        if not self.position:
            return self.key
        rules = spell_told(self.rules)
        return canonical([self.role, rules, spell_told(self.position), list(self.notes)])


class Game(Protocol[S]):
    """Five pure functions. No clock, no network, no randomness, no players."""

    @property
    def name(self) -> str:
        """The name under which the game is in records."""

    @property
    def version(self) -> int:
        """Raised whenever the rules change, so that records tell which rules they followed."""

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats that receive payoffs; NATURE and REFEREE are asked too but are no seats."""

    def start(self) -> S:
        """The state before anybody has moved."""

    def asks(self, state: S) -> Mapping[Role, Ask]:
        """Who has to move now, and how. Empty: over; one: sequential; many: simultaneous."""

    def view(self, state: S, role: Role) -> View:
        """What `role` may know in `state`."""

    def apply(self, state: S, moves: Mapping[Role, Action]) -> S:
        """The state after every asked role has moved."""

    def payoffs(self, state: S) -> Mapping[Role, float]:
        """What each role has earned so far."""


AnyGame: TypeAlias = Game[Any]
"""Some game, returned by its name or by another game: nobody can say which states it has."""


def find_first_asks(game: Game[S]) -> Mapping[Role, Ask]:
    """Return what the seats that move first are asked, whatever chance draws before."""
    state = game.start()
    asks = game.asks(state)
    while isinstance(lottery := asks.get(NATURE), Lottery):
        drawn = next(outcome for outcome, chance in lottery.chances if chance)
        state = game.apply(state, {NATURE: drawn})
        asks = game.asks(state)
    return asks
