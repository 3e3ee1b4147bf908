"""Ways through a game, as the logic program reports them, in plain values.

`table_rows/1` (see `solver_language`) gives each way as `Blocks-Ending`: the steps in the order they were made, those
made at the same time in one block, and what everybody earns at the end, or why there is no end. A step is a move,
`'by chance'(Move, Probability)` for a move of nature, or `'made and seen'(Step, [Player-Percept, ...])`. The same
moves and payoffs come again and again, so each object is read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import factorial, prod
from typing import NamedTuple

from bestresponse.core.errors import LimitReached
from bestresponse.core.game import NATURE
from bestresponse.logic.embedded.arithmetic import evaluate
from bestresponse.logic.embedded.unify import Fault
from bestresponse.logic.language.terms import Atom, Struct, Term, deref, items_of, same, variables_of, write

__all__ = [
    "Goal",
    "Path",
    "PathReader",
    "Percepts",
    "Step",
    "exact",
    "label",
    "orders",
    "read_paths",
    "replays",
    "reversed_order",
]

_MANY = 10**9

Percepts = tuple[tuple[str, str], ...]
"""Who perceives what, at one step."""


class Goal(NamedTuple):
    """What a player earns, as the program says it and as an exact number if it is one."""

    player: str
    value: Term
    exact: Fraction | None


class Step(NamedTuple):
    """A move: who made it, its name, its probability if nature made it, and who perceived what of it."""

    player: str
    move: str
    probability: Term | None = None
    percepts: Percepts = ()


class Path(NamedTuple):
    """A way through the game: its moves in blocks and as steps, and who earns what; or why it does not end."""

    blocks: tuple[list[Term], ...]
    steps: tuple[Step, ...]
    goals: tuple[Goal, ...]
    broken: Term | None
    sizes: tuple[int, ...]
    """How many moves each block has."""

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """Who made which move."""
        return tuple([step[:2] for step in self.steps])

    @property
    def text(self) -> str:
        """The moves in words."""
        return ", ".join(f"{player}: {move}" for player, move in self.named) or "no move at all"


def label(term: Term) -> str:
    """A move or player as text: the bare name of an atom, a fraction as people write it, canonical text of others."""
    term = deref(term)
    if isinstance(term, Fraction):
        return _spell_fraction(term)
    return str(term) if isinstance(term, Atom) else write(term)


def _spell_fraction(value: Fraction) -> str:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    short = rest == 1 and value.denominator <= 10**6
    return format(float(value), ".15g") if short and abs(value) < 10**6 else str(value)


def read_paths(rows: list[Term]) -> tuple[list[Path], PathReader]:
    """Read the rows of one answer, and return the reader for what it noticed.

    A move is named by what is done in it, `north` for `attack(p1, north)`. Where that would name another move of the
    same player too, `defend(p1, north)`, the moves with either functor are named with it: `attack north`.
    """
    reader = PathReader()
    paths = [reader.path(row) for row in rows]
    while reader.ambiguous:
        reader = PathReader(reader.in_full | reader.ambiguous)
        paths = [reader.path(row) for row in rows]
    return paths, reader


class PathReader:
    """Reads the rows of one answer, which must be kept as long as its reader.

    `unknown` is set as soon as a move or percept is not fully known. Different moves, percepts or players that are
    written alike are kept as a `clash`, unless moves become different by their functors: these are `ambiguous`, as long
    as they are not among those that are written `in_full`.
    """

    def __init__(self, in_full: frozenset[str] = frozenset()) -> None:
        self.in_full = in_full
        self.ambiguous: set[str] = set()
        self.unknown = False
        self.clash: tuple[Term, Term] | None = None
        self._steps: dict[int, Step] = {}
        self._goals: dict[int, Goal] = {}
        self._spelt: dict[tuple[str, str], tuple[str, Term]] = {}

    def path(self, row: Term) -> Path:
        """Read one row."""
        row = deref(row)
        assert isinstance(row, Struct)
        blocks = tuple([items_of(block)[0] for block in items_of(row.args[0])[0]])
        earned, tail = items_of(row.args[1])
        broken = None if tail == "[]" and tail.__class__ is Atom else tail
        steps, goals = self._steps, self._goals
        found = tuple([goals.get(id(goal)) or self._goal(goal) for goal in earned])
        made = [steps.get(id(step)) or self._remember(step) for block in blocks for step in block]
        return Path(blocks, tuple(made), found, broken, tuple(map(len, blocks)))

    def goals(self, terms: Term) -> tuple[Goal, ...]:
        """Read a list of `Player-Payoff`."""
        return tuple([self._goal(goal) for goal in items_of(terms)[0]])

    def player(self, term: Term) -> str:
        """Read the name of a player."""
        return self._spell("", deref(term))

    def _remember(self, term: Term) -> Step:
        found = self._steps[id(term)] = self._step(deref(term))
        return found

    def _step(self, term: Term) -> Step:
        self.unknown = self.unknown or bool(variables_of(term))
        if isinstance(term, Struct) and term.name == "made and seen":
            step = self._step(deref(term.args[0]))
            return step._replace(percepts=tuple(map(self._percept, items_of(term.args[1])[0])))
        if isinstance(term, Struct) and term.name == "by chance":
            functor, action = _split_move(deref(term.args[0]), drawn=True)
            return Step(NATURE, self._spell(NATURE, action, functor), deref(term.args[1]))
        player = self.player(term.args[0] if isinstance(term, Struct) else term)
        functor, action = _split_move(term, drawn=False)
        return Step(player, self._spell(f"move of {player}", action, functor))

    def _percept(self, term: Term) -> tuple[str, str]:
        pair = deref(term)
        assert isinstance(pair, Struct)
        who = self.player(pair.args[0])
        return who, self._spell(f"percept of {who}", deref(pair.args[1]))

    def _spell(self, kind: str, term: Term, functor: str = "") -> str:
        """Write a name, and notice a different one that is written alike."""
        text = f"{functor} {label(term)}" if functor in self.in_full else label(term)
        other_functor, other = self._spelt.setdefault((kind, text), (functor, term))
        if other_functor == functor and same(other, term):
            return text
        left_out = {functor, other_functor} - self.in_full - {""}
        if functor != other_functor and left_out:
            self.ambiguous |= left_out
        elif self.clash is None:
            self.clash = (self._show(other_functor, other), self._show(functor, term))
        return text

    def _show(self, functor: str, term: Term) -> Term:
        return Struct(functor, (term,)) if functor in self.in_full else term

    def _goal(self, term: Term) -> Goal:
        pair = deref(term)
        assert isinstance(pair, Struct)
        value = deref(pair.args[1])
        found = self._goals[id(term)] = Goal(self.player(pair.args[0]), value, exact(value))
        return found


def _split_move(move: Term, drawn: bool) -> tuple[str, Term]:
    """Split `choice(p1, 'D')` into `choice`, which a name can do without, and what is done; nothing but the mover is
    left out of other moves, and of what nature draws only where it is named as the mover."""
    if not isinstance(move, Struct) or (drawn and (len(move.args) == 1 or deref(move.args[0]) != NATURE)):
        return "", move
    if len(move.args) == 2:
        return move.name, deref(move.args[1])
    return "", Struct(move.name, move.args[1:]) if len(move.args) > 2 else Atom(move.name)


def exact(value: Term | None) -> Fraction | None:
    """The value as a fraction, if it is a number or an expression such as 7/2."""
    if value is None:
        return None
    try:
        number = evaluate(value, _spend)
        return number if isinstance(number, Fraction) else Fraction(number)
    except (Fault, LimitReached):
        return None


def _spend(steps: int) -> None:
    """Expressions in answers are as small as the limit on answers."""


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
