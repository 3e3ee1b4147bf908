"""A program's game as positions: what holds, and what each move makes of it.

The rules of tic-tac-toe have few positions and very many plays. Where a program asks of a situation
only what holds in it, two situations in which the same holds go on alike, so that each is looked at
once. Whether it does is read off its clauses (`asks_only_what_holds`); that the order in which
fluents hold does not matter is tried with the order reversed, at every position. A game whose plays
can be listed is told by its plays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from sys import intern
from typing import NamedTuple

from bestresponse.core.errors import LimitReached
from bestresponse.core.game import NATURE
from bestresponse.logic.engine import LogicEngine, Program, RuntimeFault
from bestresponse.logic.gate.check import GatedClause, GatedProgram
from bestresponse.logic.gate.goals import indicator
from bestresponse.logic.language.predicates import GOAL_ARGUMENTS
from bestresponse.logic.language.terms import (
    NIL,
    Atom,
    Struct,
    Term,
    Var,
    deref,
    list_of,
    variables_of,
    write,
)
from bestresponse.logic.programs.plays import (
    PathReader,
    PlayStep,
    ProgramPlays,
    evaluate_term,
    list_distinct,
    list_terms,
)

_TOO_MANY = "The game has more than {0.positions:,} positions."
_BATCH = 100
"""Positions that are looked at in one question."""
_DEEPEST = 300
"""Moves of the longest play."""
_SITUATION = {
    "legal/2": 1,
    "final/1": 0,
    "finally/2": 1,
    "effect/3": 2,
    "abnormal/3": 2,
    "chance/3": 2,
}
"""Which argument of what the solver asks is a situation."""


@dataclass(frozen=True, slots=True)
class ProgramPosition:
    """A position: who moves and where that leads, or what everybody earns; and what holds."""

    player: str
    moves: tuple[str, ...]
    following: tuple[int, ...]
    chances: tuple[Fraction, ...]
    payoffs: tuple[Fraction, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PositionTable:
    """A finite game of perfect information, by its positions; the first one is the start.

    `plays` says in how many ways it can be played.
    """

    players: tuple[str, ...]
    positions: tuple[ProgramPosition, ...]
    plays: int

    def __str__(self) -> str:
        count = f"{len(self.positions):,} positions and {self.plays:,} plays"
        return f"{', '.join(self.players)} move in turn: {count}, so it is told by its positions"


def asks_only_what_holds(program: GatedProgram) -> bool:
    """Whether the rules ask of a situation nothing but what holds in it, and list it completely."""
    rules = _Rules(program)
    starts = [*rules.list_parts("initial/1", 0), *rules.list_parts("initially/2", 1)]
    return (
        "sees/3" not in program.defined
        and len(rules.clauses.get("initial/1", ())) == 1
        and {*map(type, starts)} == {Atom}
        and rules.only_ask_what_holds()
        and rules.binds("initially/2", (False, True))
        and rules.binds("effect/3", (False, True, True))
    )


class _Rules:
    """The clauses of a program, and what is known of its predicates."""

    def __init__(self, program: GatedProgram) -> None:
        self.clauses: dict[str, list[GatedClause]] = {}
        for clause in program.clauses:
            if clause.body != "fail":
                self.clauses.setdefault(indicator(clause.head), []).append(clause)
        self.bound: dict[tuple[str, tuple[bool, ...]], bool] = {}

    def list_parts(self, key: str, place: int) -> list[Term]:
        """List one argument of the heads of a predicate."""
        heads = [clause.head for clause in self.clauses.get(key, ())]
        return [head.args[place] for head in heads if isinstance(head, Struct)]

    def only_ask_what_holds(self) -> bool:
        """Whether situations are handed on as they are, and asked by `holds/2` alone."""
        waiting = list(_SITUATION.items())
        seen = {*waiting, ("holds/2", 1)}
        while waiting:
            key, place = waiting.pop()
            for clause in self.clauses.get(key, ()):
                head = clause.head.args if isinstance(clause.head, Struct) else ()
                situation = head[place]
                others = list_of([*head[:place], *head[place + 1 :]])
                if not isinstance(situation, Var) or id(situation) in _name(others):
                    return False
                asked = {*_find_uses(clause.body, situation)}
                if any(goal not in self.clauses and goal != "holds/2" for goal, _ in asked):
                    return False
                waiting += asked - seen
                seen |= asked
        return True

    def binds(self, key: str, known: tuple[bool, ...]) -> bool:
        """Whether a predicate binds all its arguments, and by no test that comes too early.

        `known` says which arguments are bound before.
        """
        if (key, known) not in self.bound:
            self.bound[key, known] = True  # of a call within itself, this is what is to be shown
            self.bound[key, known] = all(
                self._clause_binds(clause, known) for clause in self.clauses.get(key, ())
            )
        return self.bound[key, known]

    def _clause_binds(self, clause: GatedClause, known: tuple[bool, ...]) -> bool:
        head = clause.head.args if isinstance(clause.head, Struct) else ()
        bound: set[int] = set()
        asked: set[int] = set()
        for part, is_known in zip(head, known, strict=True):
            (bound if is_known else asked).update(_name(part))
        waiting = [clause.body]
        while waiting:
            goal = waiting.pop()
            if not isinstance(goal, Struct):
                if goal == "!":
                    return False
            elif goal.name == "," and len(goal.args) == 2:
                waiting += goal.args[::-1]
            else:
                bound |= self._find_bound(goal, bound)
                if not _name(goal) & asked <= bound:
                    return False  # it tests what is asked for and not bound yet
        return asked <= bound

    def _find_bound(self, goal: Struct, bound: set[int]) -> set[int]:
        """Return the variables that a goal binds to terms without variables."""
        key = indicator(goal)
        parts = [_name(part) for part in goal.args]
        known = tuple(part <= bound for part in parts)
        binding = {
            "holds/2": True,
            "is/2": known[-1],
            "=/2": any(known),
            "member/2": known[-1],
            "between/3": all(known[:2]),
        }
        if key not in binding:
            binding[key] = key in self.clauses and self.binds(key, known)
        return set().union(*parts) if binding[key] else set()


def _name(term: Term) -> set[int]:
    return set(map(id, variables_of(term)))


def _find_uses(body: Term, situation: Var) -> Iterator[tuple[str, int]]:
    """Find which argument of which call a situation is; no call where it is anything else."""
    waiting = [body]
    while waiting:
        term = waiting.pop()
        parts = term.args if isinstance(term, Struct) else ()
        goals = GOAL_ARGUMENTS.get(indicator(term), {})
        for place, part in enumerate(parts):
            if goals.get(place) == 0:
                waiting.append(part)
            elif id(situation) in _name(part):
                yield indicator(term) if part is situation else "", place


class _Row(NamedTuple):
    """What comes at a position: what everybody earns, or the moves, as the program says them."""

    ends: bool
    told: tuple[Term, ...]


@dataclass
class _Walk:
    """The positions found so far, in the order in which they were.

    Positions are many, and what holds in them and is done are few different terms: each is kept
    once, by its text.
    """

    engine: LogicEngine
    program: Program
    terms: dict[str, Term] = field(default_factory=dict)
    facts: dict[tuple[str, ...], int] = field(default_factory=dict)
    known: list[tuple[str, ...]] = field(default_factory=list)
    parents: list[tuple[int, Term]] = field(default_factory=list)
    rows: list[_Row] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)
    plays: int = 0

    def keep(self, term: Term) -> str:
        """Return the text of a term, which from now on stands for it."""
        text = intern(write(term))
        self.terms.setdefault(text, term)
        return text

    def sort(self, listed: Term) -> tuple[str, ...]:
        """Return what holds in one order."""
        return tuple(sorted(map(self.keep, list_terms(listed))))

    def find(self, listed: Term, parent: int, made: Term) -> int:
        """Return the number of the position in which these fluents hold."""
        texts = self.sort(listed)
        if texts not in self.facts:
            self.facts[texts] = len(self.facts)
            self.known.append(texts)
            self.parents.append((parent, made))
        return self.facts[texts]

    def path(self, number: int) -> Term:
        """Return the moves of one way to a position."""
        moves: list[Term] = []
        while number:
            number, made = self.parents[number]
            moves.append(made)
        return list_of(moves[::-1])

    def look(self, start: int, turn: int = 1) -> list[_Row]:
        """Ask what comes at some positions, with what holds listed forwards or backwards.

        A move comes with what holds after it.
        """
        asked = []
        for texts in self.known[start : start + _BATCH]:
            holding = list_of([self.terms[text] for text in texts[::turn]])
            asked.append(Struct("what holds", (holding,)))
        goal = Struct("table_positions", (list_of(asked), Var("Rows")))
        answer = self.engine.solutions(self.program, goal, 1)[0]["Rows"]
        rows = [row for row in map(deref, list_terms(answer)) if isinstance(row, Struct)]
        return [_Row(row.name == "end", tuple(map(deref, list_terms(row.args[0])))) for row in rows]

    def explore(self, start: Term) -> bool:
        """Look at every position; False where it is not the turn of one player or of nature."""
        self.find(start, 0, NIL)
        while len(self.rows) < len(self.facts):
            for row in self.look(len(self.rows)):
                if any(map(variables_of, row.told)):
                    return False
                number = len(self.rows)
                after = []
                moves = []
                for made, listed in _list_steps(row):
                    move = self.terms[self.keep(made)]
                    moves.append(move)
                    after.append(self.find(listed, number, move))
                if len({*map(_find_mover, moves)}) != (not row.ends):
                    return False
                self.rows.append(row if row.ends else _Row(ends=False, told=tuple(moves)))
                self.following.append(after)
            if len(self.facts) > self.engine.limits.positions:
                raise LimitReached(_TOO_MANY.format(self.engine.limits))
        return True

    def is_too_large_for_plays(self) -> bool:
        """Count the plays and say whether they all end, but are too many to be listed."""
        waiting = [0] * len(self.rows)
        for listed in self.following:
            for after in listed:
                waiting[after] += 1
        ways = [1] + [0] * (len(waiting) - 1)
        depth = [0] * len(waiting)
        order = deque([0] if not waiting[0] else [])
        looked = 0
        while order:
            number = order.popleft()
            looked += 1
            for after in self.following[number]:
                ways[after] += ways[number]
                depth[after] = max(depth[after], depth[number] + 1)
                waiting[after] -= 1
                if not waiting[after]:
                    order.append(after)
        self.plays = sum(way for way, row in zip(ways, self.rows, strict=True) if row.ends)
        limits = self.engine.limits
        is_finite = looked == len(waiting) and max(depth) <= _DEEPEST
        return is_finite and (sum(ways) > limits.positions or self.plays > limits.ends)

    def holds_backwards(self) -> bool:
        """Whether every position goes on alike when what holds is listed backwards."""
        for start in range(0, len(self.rows), _BATCH):
            for number, again in enumerate(self.look(start, -1), start):
                row = self.rows[number]
                if row.ends:
                    alike = sorted(map(write, row.told)) == sorted(map(write, again.told))
                else:
                    after = map(self.known.__getitem__, self.following[number])
                    reached = zip(map(write, row.told), after, strict=True)
                    steps = [
                        (write(made), self.sort(listed)) for made, listed in _list_steps(again)
                    ]
                    alike = sorted(reached) == sorted(steps)
                if row.ends != again.ends or not alike:
                    return False
        return True


def _list_steps(row: _Row) -> list[tuple[Term, Term]]:
    """List each move with what holds after it."""
    pairs = [pair for pair in row.told if isinstance(pair, Struct)]
    return [] if row.ends else [(deref(pair.args[0]), pair.args[1]) for pair in pairs]


def _find_mover(made: Term) -> str:
    if not isinstance(made, Struct):
        return write(made)
    return NATURE if made.name == "by chance" else write(made.args[0])


@dataclass(frozen=True, slots=True)
class Explored:
    """A game by its positions: the moves at each, and one play to each at which it ends."""

    plays: ProgramPlays
    moves: list[list[PlayStep]]
    walk: _Walk

    def make_table(self, payoffs: Sequence[tuple[Fraction, ...]]) -> PositionTable:
        """Return the game in which the positions without moves pay this, in their order."""
        paid = iter(payoffs)
        positions = []
        for moves, after, facts in zip(
            self.moves, self.walk.following, self.walk.facts, strict=True
        ):
            position = ProgramPosition(
                player=moves[0].player if moves else "",
                moves=tuple(move.move for move in moves),
                following=tuple(after),
                chances=_read_odds(moves),
                payoffs=() if moves else next(paid),
                facts=facts,
            )
            positions.append(position)
        return PositionTable(self.plays.players, tuple(positions), self.walk.plays)

    def find_odds(self) -> Iterator[str]:
        """Find draws whose probabilities do not sum to 1, or are no probabilities."""
        for number, moves in enumerate(self.moves):
            odds = _read_odds(moves)
            if odds and (sum(odds) != 1 or min(odds) < 0):
                before = self.plays.reader.play(self.walk.path(number), NIL).text
                shown = ", ".join(map(str, odds))
                yield f"after {before} nature draws with {shown}, which must sum to 1"


def _read_odds(moves: Sequence[PlayStep]) -> tuple[Fraction, ...]:
    odds = [evaluate_term(move.probability) for move in moves if move.probability is not None]
    return tuple(Fraction(-1) if chance is None else chance for chance in odds)


def explore_positions(engine: LogicEngine, program: Program) -> Explored | None:
    """Look at every position once; None where plays tell the game, or positions cannot."""
    if not asks_only_what_holds(program.gated):
        return None
    walk = _Walk(engine, program)
    try:
        start = engine.solutions(program, "table_start(Fluents)", 1)[0]["Fluents"]
        by_positions = walk.explore(start) and walk.is_too_large_for_plays()
        if not by_positions or not walk.holds_backwards():
            return None
    except RuntimeFault:
        return None
    return _read(walk, start)


def _read(walk: _Walk, start: Term) -> Explored:
    """Read the names of all moves, and a play to each position at which the game ends."""
    reader = PathReader()
    while True:
        moves = [
            [] if row.ends else [reader.play(list_of([made]), NIL).steps[0] for made in row.told]
            for row in walk.rows
        ]
        paths = [
            reader.play(walk.path(number), list_of(row.told))
            for number, row in enumerate(walk.rows)
            if row.ends
        ]
        if not reader.ambiguous:
            break
        reader = PathReader(reader.in_full | reader.ambiguous)
    steps = list({step: None for listed in moves for step in listed})
    declared = [term for term in list_terms(start) if indicator(term) == "player/1"]
    players = list_distinct(reader.player(term.args[0]) for term in declared)  # type: ignore[union-attr]
    if not players:
        players = list_distinct(step.player for step in steps if step.player != NATURE)
    return Explored(ProgramPlays(paths, [], steps, players, reader), moves, walk)
