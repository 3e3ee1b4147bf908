"""Ways through a game, as the logic program reports them, in plain values.

`table_rows/2` (see `solver_language`) gives each way as `Blocks-Goals`: the moves in the order they were made, those
made at the same time in one block, and what everybody earns at the end; or `stuck` in place of the goals. The same
moves and payoffs come again and again, so each object is understood once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import factorial, isfinite, prod
from typing import NamedTuple

from bestresponse.logic.language.terms import NIL, Atom, Struct, Term, deref, items_of, variables_of, write

__all__ = ["Goal", "Path", "PathReader", "exact", "label", "orders", "replays", "reversed_order"]

_MANY = 10**9


class Goal(NamedTuple):
    """What a player earns, as the program says it and as an exact number if it is one."""

    player: str
    value: Term
    exact: Fraction | None


class Path(NamedTuple):
    """A way through the game: its moves in blocks and by name, and who earns what; or it gets stuck."""

    blocks: tuple[list[Term], ...]
    named: tuple[tuple[str, str], ...]
    goals: tuple[Goal, ...]
    stuck: bool
    sizes: tuple[int, ...]
    """How many moves each block has."""

    @property
    def told(self) -> str:
        """The moves in words."""
        return ", ".join(f"{player}: {move}" for player, move in self.named) or "no move at all"


def label(term: Term) -> str:
    """A move or player as text: the bare name of an atom, canonical text of anything else."""
    term = deref(term)
    return str(term) if isinstance(term, Atom) else write(term)


class PathReader:
    """Reads the rows of one answer, which must be kept as long as its reader."""

    def __init__(self) -> None:
        self.unknown = False
        self._moves: dict[int, tuple[str, str]] = {}
        self._goals: dict[int, Goal] = {}

    def path(self, row: Term) -> Path:
        """One row; `unknown` is set as soon as a move is not fully known."""
        row = deref(row)
        assert isinstance(row, Struct)
        blocks = tuple([items_of(block)[0] for block in items_of(row.args[0])[0]])
        ending = deref(row.args[1])
        stuck = isinstance(ending, Atom) and ending != NIL
        moves, earned = self._moves, self._goals
        goals = [] if stuck else [earned.get(id(goal)) or self._goal(goal) for goal in items_of(ending)[0]]
        named = [moves.get(id(move)) or self._move(move) for block in blocks for move in block]
        return Path(blocks, tuple(named), tuple(goals), stuck, tuple(map(len, blocks)))

    def goals(self, terms: Term) -> tuple[Goal, ...]:
        """A list of `Player-Payoff`."""
        return tuple([self._goal(goal) for goal in items_of(terms)[0]])

    def _move(self, term: Term) -> tuple[str, str]:
        move = deref(term)
        self.unknown = self.unknown or bool(variables_of(move))
        found = self._moves[id(term)] = (_mover_of(move), _move_of(move))
        return found

    def _goal(self, term: Term) -> Goal:
        pair = deref(term)
        assert isinstance(pair, Struct)
        value = deref(pair.args[1])
        found = self._goals[id(term)] = Goal(label(pair.args[0]), value, exact(value))
        return found


def _mover_of(move: Term) -> str:
    """Who makes a move such as `move(p1, 'D')` or `choice(p1, 'D')`."""
    return label(move.args[0]) if isinstance(move, Struct) else label(move)


def _move_of(move: Term) -> str:
    if isinstance(move, Struct) and len(move.args) == 2:
        return label(move.args[1])
    if isinstance(move, Struct) and len(move.args) > 2:
        return label(Struct(move.name, move.args[1:]))
    return move.name if isinstance(move, Struct) else label(move)


def exact(value: Term | None) -> Fraction | None:
    """The value as a fraction, if it is a number."""
    if isinstance(value, float):
        return _fraction(value) if isfinite(value) else None
    return Fraction(value) if isinstance(value, int | Fraction) else None


@lru_cache(4096)
def _fraction(value: float) -> Fraction:
    return Fraction(repr(value))


@lru_cache(4096)
def replays(sizes: tuple[int, ...]) -> int:
    """In how many other orders moves in blocks of these sizes can be made."""
    return prod(factorial(size) if size < 10 else _MANY for size in sizes) - 1


def orders(path: Path) -> Iterator[tuple[Term, ...]]:
    """The moves of a path in every other order of its simultaneous ones."""
    choices = product(*(permutations(block) for block in path.blocks))
    next(choices)
    for choice in choices:
        yield tuple(move for block in choice for move in block)


def reversed_order(path: Path) -> Iterator[tuple[Term, ...]]:
    """The moves with each block reversed, if that is another order."""
    if max(map(len, path.blocks), default=1) > 1:
        yield tuple(move for block in path.blocks for move in reversed(block))
