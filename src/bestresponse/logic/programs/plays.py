"""The plays of a program's game, read from the terms with which it answers.

Each play is `Blocks-Ending`: the steps in the order they were made, those made at the same time in
one block, and what everybody earns at the end, or why there is no end. A step is a move,
`'by chance'(Move, Probability)` for a move of nature, or `'made and seen'(Step, Percepts)`. The
same moves and payoffs come again and again, so each object is read once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar

from bestresponse.core.errors import LimitReached
from bestresponse.core.game import NATURE
from bestresponse.logic.embedded.arithmetic import evaluate_arithmetic
from bestresponse.logic.embedded.unify import Fault
from bestresponse.logic.language.diagnostics import Diagnostic
from bestresponse.logic.language.terms import (
    Atom,
    Struct,
    Term,
    deref,
    items_of,
    same,
    variables_of,
    write,
)
from bestresponse.logic.programs.game_table import Percepts

_MOST_SHOWN = 30
"""Moves of a play that a message shows."""
_Item = TypeVar("_Item", str, Diagnostic)


@dataclass(frozen=True, slots=True)
class ProgramPlays:
    """The ways through a game as a program answers them, and who plays it."""

    paths: list[PlayPath]
    paths_with_gap: list[PlayPath]
    """Paths after which others may move than should: the game goes on after them in other paths."""
    steps: list[PlayStep]
    """The different moves of all paths."""
    players: tuple[str, ...]
    reader: PathReader
    unnamed: bool = False
    """Whether a player is not fully known."""


def read_program_plays(start: Term, rows: Term) -> ProgramPlays:
    """Read an answer; where the program declares no players, those who move are the players."""
    every_path, reader = _read_paths(list_terms(rows))
    paths = []
    paths_with_gap = []
    for path in every_path:
        if path.gap is None:
            paths.append(path)
        else:
            paths_with_gap.append(path)
    steps = list(reader.steps.values())
    declared = list_terms(start)
    players = list_distinct(map(reader.player, declared))
    if not players:
        players = list_distinct(step.player for step in steps if step.player != NATURE)
    unnamed = any(map(variables_of, declared))
    return ProgramPlays(paths, paths_with_gap, steps, players, reader, unnamed=unnamed)


def list_terms(term: Term) -> list[Term]:
    """Return the items of a list, whatever its end."""
    items, _ = items_of(term)
    return items


def label(term: Term) -> str:
    """A move or player as text.

    This is the bare name of an atom, a fraction as people write it, or the canonical text of
    others.
    """
    term = deref(term)
    if not isinstance(term, Fraction):
        return str(term) if isinstance(term, Atom) else write(term)
    rest = term.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    decimal = rest == 1 and term.denominator <= 10**6 and abs(term) < 10**6
    return format(float(term), ".15g") if decimal else str(term)


def evaluate_term(value: Term) -> Fraction | None:
    """Return a number, or an expression such as 7/2, as a fraction.

    Return None for a term that is no number, or too large to write.
    """
    try:
        number = evaluate_arithmetic(value, lambda steps: None)
        return number if isinstance(number, Fraction) else Fraction(number)
    except (Fault, LimitReached):
        return None


class _Goal(NamedTuple):
    """What a player earns, as the program says it and as an exact number if it is one."""

    player: str
    value: Term
    exact: Fraction | None


class PlayStep(NamedTuple):
    """A move: who made it, its name, any probability, and who perceived what of it.

    It has a probability if nature made it.
    """

    player: str
    move: str
    probability: Term | None = None
    percepts: Percepts = ()


class PlayPath(NamedTuple):
    """A way through the game: its moves in blocks and as steps, and who earns what.

    Or why it does not end.
    """

    blocks: tuple[list[Term], ...]
    steps: tuple[PlayStep, ...]
    goals: tuple[_Goal, ...]
    broken: Term | None
    sizes: tuple[int, ...]
    """How many moves each block has."""

    @property
    def gap(self) -> Term | None:
        """What differs between who may move after these moves and who should, where something does.

        A path with one does not belong to the game: the game goes on after it in other paths.
        """
        match self.broken:
            case Struct(name="gap", args=(gap,)):
                return deref(gap)
        return None

    @property
    def text(self) -> str:
        """The moves in words."""
        made = [f"{step.player}: {step.move}" for step in self.steps[:_MOST_SHOWN]]
        more = len(self.steps) - len(made)
        return ", ".join(made + [f"and {more} more"] * bool(more)) or "no move at all"


def _read_paths(rows: list[Term]) -> tuple[list[PlayPath], PathReader]:
    """Read the rows of one answer, and return the reader for what it noticed.

    A move is named by what is done in it, `north` for `attack(p1, north)`. Where that would name
    another move of the same player too, `defend(p1, north)`, the moves with either functor are
    named with it: `attack north`.
    """
    reader = PathReader()
    paths = [reader.path(row) for row in rows]
    while reader.ambiguous:
        reader = PathReader(reader.in_full | reader.ambiguous)
        paths = [reader.path(row) for row in rows]
    return paths, reader


class PathReader:
    """Reads the rows of one answer, which must be kept as long as its reader.

    `unknown` is the first move that is not fully known, or of which a percept is not. Different
    moves, percepts or players that are written alike are kept as a `clash`, unless moves become
    different by their functors: these are `ambiguous`, as long as they are not among those that are
    written `in_full`.
    """

    def __init__(self, in_full: frozenset[str] = frozenset()) -> None:
        self.in_full = in_full
        self.ambiguous: set[str] = set()
        self.unknown: PlayStep | None = None
        self.clash: tuple[Term, Term] | None = None
        self.steps: dict[int, PlayStep] = {}
        self._goals: dict[int, _Goal] = {}
        self._spelt: dict[tuple[str, str], tuple[str, Term]] = {}

    def path(self, row: Term) -> PlayPath:
        """Read one row."""
        row = deref(row)
        assert isinstance(row, Struct)
        blocks = tuple(map(list_terms, list_terms(row.args[0])))
        earned, tail = items_of(row.args[1])
        broken = None if tail == "[]" and tail.__class__ is Atom else tail
        known = self.steps
        steps = [known.get(id(step)) or self._read_step(step) for block in blocks for step in block]
        return PlayPath(
            blocks,
            tuple(steps),
            self.goals(earned),
            broken,
            tuple(map(len, blocks)),
        )

    def play(self, steps: Term, goals: Term) -> PlayPath:
        """Read one play as it was made, not in blocks.

        Its terms are not kept: nothing is looked up by identity.
        """
        self.steps = {}
        self._goals = {}
        read = tuple(map(self._read_step, list_terms(steps)))
        return PlayPath((), read, self.goals(list_terms(goals)), None, ())

    def goals(self, terms: list[Term]) -> tuple[_Goal, ...]:
        """Read `Player-Payoff` pairs."""
        known = self._goals
        return tuple([known.get(id(goal)) or self._read_goal(goal) for goal in terms])

    def player(self, term: Term) -> str:
        """Read the name of a player."""
        return self._spell("", deref(term))

    def _read_step(self, step: Term) -> PlayStep:
        term = deref(step)
        percepts = list[Term]()
        if isinstance(term, Struct) and term.name == "made and seen":
            percepts = list_terms(term.args[1])
            term = deref(term.args[0])
        probability = None
        if isinstance(term, Struct) and term.name == "by chance":
            player = NATURE
            kind = NATURE
            probability = deref(term.args[1])
            functor, action = _split_move(deref(term.args[0]), drawn=True)
        else:
            player = self.player(term.args[0] if isinstance(term, Struct) else term)
            kind = f"move of {player}"
            functor, action = _split_move(term, drawn=False)
        move = self._spell(kind, action, functor)
        perceived = tuple(map(self._read_percept, percepts))
        read = PlayStep(player, move, probability, perceived)
        self.steps[id(step)] = read
        if self.unknown is None and variables_of(step):
            self.unknown = read
        return read

    def _read_percept(self, term: Term) -> tuple[str, str]:
        pair = deref(term)
        assert isinstance(pair, Struct)
        player = self.player(pair.args[0])
        return player, self._spell(f"percept of {player}", deref(pair.args[1]))

    def _read_goal(self, term: Term) -> _Goal:
        pair = deref(term)
        assert isinstance(pair, Struct)
        value = deref(pair.args[1])
        goal = _Goal(self.player(pair.args[0]), value, evaluate_term(value))
        self._goals[id(term)] = goal
        return goal

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


def _split_move(move: Term, drawn: bool) -> tuple[str, Term]:
    """Split `choice(p1, 'D')` into `choice`, which a name can do without, and what is done.

    Nothing but the mover is left out of other moves, and of what nature draws only where it is
    named as the mover.
    """
    if not isinstance(move, Struct):
        return "", move
    size = len(move.args)
    if drawn and (size == 1 or deref(move.args[0]) != NATURE):
        return "", move
    if size == 1:
        return "", Atom(move.name)
    if size == 2:
        return move.name, deref(move.args[1])
    return "", Struct(move.name, move.args[1:])


def list_distinct(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """List items once each, in the order in which they come first."""
    return tuple(dict.fromkeys(items))
