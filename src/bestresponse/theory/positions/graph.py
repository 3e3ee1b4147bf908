"""Explore a game: every position that can be reached, once, as flat arrays."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bestresponse.core.ask import Lottery
from bestresponse.core.capabilities import AnyPositions, HasPositions, P, ToMove
from bestresponse.core.errors import InvalidGame
from bestresponse.core.game import NATURE, Role, S
from bestresponse.theory.arrays import Bytes, Floats, Ints, Shorts
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.trees.tree import CHANCE, LEAF

UNSEEN = -3
"""Owner of a position that was found, but not looked into before a limit was reached."""
MOST_POSITIONS = 5_000_000
"""How many positions a graph may have unless the caller says otherwise (about 400 bytes each while
it is explored)."""
_ROUNDING = 1e-9
_BETWEEN_LOOKS = 256  # at the clock: it takes a tenth of the time of a position


@dataclass(frozen=True, eq=False)
class PositionGraph:
    """Every position of a game; the start is number 0.

    The moves of position v are the edges first[v] to first[v + 1], in the order of the game, and
    lead to `child`. `chance` holds the chances of draws and is 1 at choices. `owner` is the number
    of a seat, CHANCE, LEAF, or UNSEEN. Finished plays with equal results are one position.
    """

    name: str
    roles: tuple[Role, ...]
    owner: Bytes
    first: Ints
    child: Shorts
    chance: Floats
    payoffs: Floats
    payoff_bounds: tuple[float, float]
    total: float | None
    endless_result: tuple[float, ...]
    known: Mapping[Hashable, int] = field(repr=False)

    @cached_property
    def tail(self) -> Shorts:
        """The position at which each edge starts."""
        return np.repeat(np.arange(len(self.owner), dtype=np.int32), np.diff(self.first))

    @property
    def num_decisions(self) -> int:
        """At how many positions somebody chooses."""
        return int((self.owner >= 0).sum())

    @property
    def num_draws(self) -> int:
        """At how many positions chance draws."""
        return int((self.owner == CHANCE).sum())

    @cached_property
    def is_complete(self) -> bool:
        """Whether every position was looked into."""
        return not (self.owner == UNSEEN).any()


class _Explorer:
    """A graph while it grows.

    A position is looked into in the order in which it was found, and then forgotten.
    """

    def __init__(self, game: AnyPositions) -> None:
        self.game = game
        self.seats = {role: seat for seat, role in enumerate(game.roles)} | {NATURE: CHANCE}
        self.known: dict[Hashable, int] = {}
        self.ends: dict[tuple[float, ...], int] = {}
        self.owner = array("b")
        self.first = array("q", [0])
        self.child = array("i")
        self.chance = array("d")
        self.waiting: deque[tuple[object, ToMove]] = deque()

    def find(self, position: object) -> int:
        """Return the number of a position; a new one is noted and waits to be looked into."""
        key = self.game.find_key(position)
        number = self.known.get(key)
        if number is not None:
            return number
        turn = self.game.find_turn(position)
        number = len(self.owner)
        if not turn.role:
            result = self.game.find_result(position)
            self.check_result(result)
            number = self.ends.setdefault(result, number)
        self.known[key] = number
        if number == len(self.owner):
            self.owner.append(self._find_owner(turn))
            self.waiting.append((position, turn))
        return number

    def _find_owner(self, turn: ToMove) -> int:
        if not turn.role:
            return LEAF
        if turn.role not in self.seats:
            known = ", ".join(self.game.roles)
            raise InvalidGame(f"{turn.role!r} is to move; expected one of {known}, or {NATURE}")
        if not turn.moves:
            raise InvalidGame(
                f"{turn.role} is to move and has no move; where a play is over, nobody is to move"
            )
        if turn.role == NATURE:
            Lottery(tuple(zip(turn.moves, turn.chances, strict=True)))  # checks the chances
        return self.seats[turn.role]

    def check_result(self, result: tuple[float, ...]) -> None:
        """Refuse a result that is not what the game promises of all results."""
        low, high = self.game.payoff_bounds
        if len(result) != len(self.game.roles):
            raise InvalidGame(
                f"a play pays {len(result)} results; expected one for each of"
                f" {', '.join(self.game.roles)}"
            )
        if not all(low <= paid <= high for paid in result):
            paid = ", ".join(f"{amount:g}" for amount in result)
            raise InvalidGame(f"a play pays {paid}; expected payoffs from {low:g} to {high:g}")
        total = self.game.total
        if total is not None and abs(sum(result) - total) > _ROUNDING:
            raise InvalidGame(
                f"a play pays {sum(result):g} in all; expected {total:g} in every play"
            )

    def look_into_next(self) -> None:
        """Note where the moves of the position that waits longest lead."""
        position, turn = self.waiting.popleft()
        advance = self.game.advance
        for move in turn.moves:
            self.child.append(self.find(advance(position, move)))
        self.chance.extend(turn.chances or (1.0,) * len(turn.moves))
        self.first.append(len(self.child))

    def finish(self, name: str) -> PositionGraph:
        """Return the arrays; what still waits is unseen."""
        number = len(self.owner)
        looked = len(self.first) - 1
        owner = np.frombuffer(self.owner, dtype=np.int8).copy()
        unseen = np.arange(number) >= looked
        owner[unseen & (owner != LEAF)] = UNSEEN
        self.first.extend([len(self.child)] * (number - looked))
        payoffs = np.zeros((number, len(self.game.roles)))
        for result, end in self.ends.items():
            payoffs[end] = result
        return PositionGraph(
            name=name,
            roles=tuple(self.game.roles),
            owner=owner,
            first=np.frombuffer(self.first, dtype=np.int64),
            child=np.frombuffer(self.child, dtype=np.int32),
            chance=np.frombuffer(self.chance, dtype=np.float64),
            payoffs=payoffs,
            payoff_bounds=self.game.payoff_bounds,
            total=self.game.total,
            endless_result=tuple(self.game.endless_result),
            known=self.known,
        )


def explore(
    game: HasPositions[S, P],
    *,
    most: int = MOST_POSITIONS,
    deadline: Deadline = NEVER,
) -> PositionGraph:
    """List every position of a game, at most about `most`, and as far as the time allows.

    Where a limit is reached, the graph is not complete (`PositionGraph.is_complete`).

    Raises:
        InvalidGame: a turn or a result breaks a promise of `HasPositions`.
    """
    explorer = _Explorer(game)
    explorer.check_result(tuple(game.endless_result))
    explorer.find(game.begin())
    looked = 0
    while explorer.waiting and len(explorer.owner) <= most:
        explorer.look_into_next()
        looked += 1
        if looked % _BETWEEN_LOOKS == 0 and deadline.is_over:
            break
    return explorer.finish(game.name)
