"""Taking a game out of a program: every way it can end, what each player moved and earned, as plain
exact values.

One query walks through a game (`table_rows/2` in `solver_language`) and gives each way as
`Blocks-Ending`: the steps in the order they were made, those made at the same time in one block,
and what everybody earns at the end, or why there is no end. A step is a move, `'by chance'(Move,
Probability)` for a move of nature, or `'made and seen'(Step, Percepts)`. The same moves and payoffs
come again and again, so each object is read once.

Where several players may move at the same time, their moves are made in one order only; then in all
others if they are few, else in the reversed one, and a game in which the order of simultaneous
moves changes a payoff is reported as defective: it would not be the game of its own table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice, permutations, product
from math import factorial, prod
from typing import NamedTuple, TypeVar

from bestresponse.core.errors import InvalidGame, LimitReached, LogicError
from bestresponse.core.game import NATURE
from bestresponse.logic.embedded.arithmetic import evaluate_arithmetic
from bestresponse.logic.embedded.unify import Fault
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.terms import (
    Atom,
    Struct,
    Term,
    Var,
    brief,
    deref,
    items_of,
    list_of,
    same,
    variables_of,
    write,
)
from bestresponse.logic.programs.game_table import (
    SEES,
    GameTable as GameTable,
    Percepts,
    Row as Row,
    tree,
)

MAX_REPLAYS = 1_000
_MOST_STARTS = 200
"""Blocks of simultaneous moves of a large game in which others than the first are let begin, evenly
chosen."""
_MOST_DEFECTS = 10
_MANY = 10**9
"""So many orders, and more, of a large block are counted as if they were so many."""
_Item = TypeVar("_Item", str, Diagnostic)
_Moves = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What could be taken out of a program: its table, or why there is none."""

    table: GameTable | None
    defects: tuple[Diagnostic, ...]

    def require(self) -> GameTable:
        """The table, or `InvalidGame` with the defects."""
        if self.table is None:
            reasons = "; ".join(map(str, self.defects[:3]))
            raise InvalidGame(f"The program is not a game: {reasons}")
        return self.table


def extract(engine: LogicEngine, program: Program) -> Extraction:
    """The table of a loaded program and everything that is wrong with it as a game; errors and
    limits while it runs are raised as `LogicError`."""
    goal = Struct("table_rows", (Var("Starts"), Var("Rows")))
    answer = engine.solutions(program, goal, 1)[0]
    starts = _list_items(answer["Starts"])
    if len(starts) != 1:
        number = "several" if starts else "none"
        message = f"a game has one initial situation, this one has {number}"
        return Extraction(None, (_defect("initial", message),))

    plays = _read_plays(starts[0], answer["Rows"])
    private = "sees/3" in program.gated.defined
    defects = [*_find_path_defects(plays, private), *_find_people_defects(plays)]
    if defects:
        return _refuse(defects)
    ends, defects = _read_ends(plays, private)
    if defects:
        return _refuse(defects)
    orders = _try_orders(engine, program, plays, private)
    if not orders.plays_compared:
        defects += _find_missing_plays(plays.paths_with_gap)
    defects += orders.defects
    if defects:
        return _refuse(defects)

    table = GameTable(
        players=plays.players,
        moves=_gather_moves(ends, plays.players),
        rows=ends,
        every_order=orders.tried == orders.total and not orders.earlier,
        private=private,
    )
    try:
        tree(table)
    except InvalidGame as error:
        code = "odds" if "probabilit" in str(error) else "tree"
        return Extraction(None, (_defect(code, str(error).rstrip(".")),))
    warnings = (*_find_doubts(table, orders), *_find_meeting(engine, program, table))
    return Extraction(table, warnings)


@dataclass(frozen=True, slots=True)
class _Plays:
    """The ways through a game as a program answers them, and who plays it."""

    paths: list[_Path]
    paths_with_gap: list[_Path]
    """Paths after which others may move than should: the game goes on after them in other paths."""
    steps: list[_Step]
    """The different moves of all paths."""
    players: tuple[str, ...]
    reader: _PathReader


def _read_plays(start: Term, rows: Term) -> _Plays:
    """Read an answer; where the program declares no players, those who move are the players."""
    every_path, reader = _read_paths(_list_items(rows))
    paths = []
    paths_with_gap = []
    for path in every_path:
        if path.gap is None:
            paths.append(path)
        else:
            paths_with_gap.append(path)
    steps = list(reader.steps.values())
    players = _list_once(map(reader.player, _list_items(start)))
    if not players:
        players = _list_once(step.player for step in steps if step.player != NATURE)
    return _Plays(paths, paths_with_gap, steps, players, reader)


def _find_missing_plays(paths: Iterable[_Path]) -> Iterator[Diagnostic]:
    """Say of each path with a gap what differs after it."""
    for path in paths:
        if path.gap is not None:
            yield _say_gap(path.gap, path)


def _list_items(term: Term) -> list[Term]:
    """Return the items of a list, whatever its end."""
    items, _ = items_of(term)
    return items


def _refuse(defects: Iterable[Diagnostic]) -> Extraction:
    first = _list_once(defects)[:_MOST_DEFECTS]
    return Extraction(None, first)


def _gather_moves(ends: Iterable[Row], players: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the moves of every player, in the order in which the rows make them."""
    made = dict.fromkeys(move for row in ends for move in row.moves)
    moves = []
    for player in players:
        moves.append(tuple(move for mover, move in made if mover == player))
    return tuple(moves)


def published_cells(
    engine: LogicEngine, program: Program
) -> tuple[tuple[str, str, Fraction | None, Fraction | None], ...]:
    """The cells as the published tournaments saw them: two players, the moves `possible/2` in `s0`,
    the first payoff that `finally/2` gives after both have moved, `None` where there is none.
    Neither `legal/2` nor `game/2` is asked.
    """
    declared = engine.solutions(program, "holds(player(P), s0)")
    players = [answer["P"] for answer in declared[:2]]
    possible = engine.solutions(program, "possible(move(P, M), s0)")
    if len(players) < 2:
        return ()
    first_player = label(players[0])
    moves = [answer["M"] for answer in possible if label(answer["P"]) == first_player]
    cells = []
    for first, second in product(moves, moves):
        made = Struct("do", (Struct("move", (players[0], first)), Atom("s0")))
        made = Struct("do", (Struct("move", (players[1], second)), made))
        payoffs = []
        for player in players:
            goal = Struct("finally", (Struct("goal", (player, Var("U"))), made))
            answers = engine.solutions(program, goal, 1)
            payoffs.append(_exact(answers[0]["U"]) if answers else None)
        cells.append((label(first), label(second), payoffs[0], payoffs[1]))
    return tuple(cells)


def label(term: Term) -> str:
    """A move or player as text: the bare name of an atom, a fraction as people write it, canonical
    text of others."""
    term = deref(term)
    if not isinstance(term, Fraction):
        return str(term) if isinstance(term, Atom) else write(term)
    rest = term.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    decimal = rest == 1 and term.denominator <= 10**6 and abs(term) < 10**6
    return format(float(term), ".15g") if decimal else str(term)


def _exact(value: Term) -> Fraction | None:
    """The value as a fraction, if it is a number or an expression such as 7/2; none is larger than
    an answer may be."""
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


class _Step(NamedTuple):
    """A move: who made it, its name, its probability if nature made it, and who perceived what of
    it."""

    player: str
    move: str
    probability: Term | None = None
    percepts: Percepts = ()


class _Path(NamedTuple):
    """A way through the game: its moves in blocks and as steps, and who earns what; or why it does
    not end."""

    blocks: tuple[list[Term], ...]
    steps: tuple[_Step, ...]
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
        return ", ".join(f"{step.player}: {step.move}" for step in self.steps) or "no move at all"

    @property
    def has_variables(self) -> bool:
        """Whether a move or what is seen of it is not fully known."""
        return any(variables_of(move) for block in self.blocks for move in block)


def _read_paths(rows: list[Term]) -> tuple[list[_Path], _PathReader]:
    """Read the rows of one answer, and return the reader for what it noticed.

    A move is named by what is done in it, `north` for `attack(p1, north)`. Where that would name
    another move of the same player too, `defend(p1, north)`, the moves with either functor are
    named with it: `attack north`.
    """
    reader = _PathReader()
    paths = [reader.path(row) for row in rows]
    while reader.ambiguous:
        reader = _PathReader(reader.in_full | reader.ambiguous)
        paths = [reader.path(row) for row in rows]
    return paths, reader


class _PathReader:
    """Reads the rows of one answer, which must be kept as long as its reader.

    `unknown` is set as soon as a move or percept is not fully known. Different moves, percepts or
    players that are written alike are kept as a `clash`, unless moves become different by their
    functors: these are `ambiguous`, as long as they are not among those that are written `in_full`.
    """

    def __init__(self, in_full: frozenset[str] = frozenset()) -> None:
        self.in_full = in_full
        self.ambiguous: set[str] = set()
        self.unknown = False
        self.clash: tuple[Term, Term] | None = None
        self.steps: dict[int, _Step] = {}
        self._goals: dict[int, _Goal] = {}
        self._spelt: dict[tuple[str, str], tuple[str, Term]] = {}

    def path(self, row: Term) -> _Path:
        """Read one row."""
        row = deref(row)
        assert isinstance(row, Struct)
        blocks = tuple(map(_list_items, _list_items(row.args[0])))
        earned, tail = items_of(row.args[1])
        broken = None if tail == "[]" and tail.__class__ is Atom else tail
        known = self.steps
        steps = [known.get(id(step)) or self._read_step(step) for block in blocks for step in block]
        return _Path(blocks, tuple(steps), self.goals(earned), broken, tuple(map(len, blocks)))

    def play(self, steps: Term, goals: Term) -> _Path:
        """Read one play as it was made, not in blocks. Its terms are not kept: nothing is looked up
        by identity."""
        self.steps = {}
        self._goals = {}
        read = tuple(map(self._read_step, _list_items(steps)))
        return _Path((), read, self.goals(_list_items(goals)), None, ())

    def goals(self, terms: list[Term]) -> tuple[_Goal, ...]:
        """Read `Player-Payoff` pairs."""
        known = self._goals
        return tuple([known.get(id(goal)) or self._read_goal(goal) for goal in terms])

    def player(self, term: Term) -> str:
        """Read the name of a player."""
        return self._spell("", deref(term))

    def _read_step(self, step: Term) -> _Step:
        term = deref(step)
        percepts = list[Term]()
        self.unknown = self.unknown or bool(variables_of(term))
        if isinstance(term, Struct) and term.name == "made and seen":
            percepts = _list_items(term.args[1])
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
        read = _Step(player, move, probability, perceived)
        self.steps[id(step)] = read
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
        goal = _Goal(self.player(pair.args[0]), value, _exact(value))
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
    """Split `choice(p1, 'D')` into `choice`, which a name can do without, and what is done; nothing
    but the mover is left out of other moves, and of what nature draws only where it is named as the
    mover."""
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


def _list_once(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))


def _defect(code: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(
        Stage.CONTRACT,
        Severity.ERROR,
        line=0,
        column=0,
        source_line="",
        message=message,
        hint=hint,
        code=code,
    )


def _find_path_defects(plays: _Plays, private: bool) -> Iterator[Diagnostic]:
    """Find plays that do not end, and moves that are not known or cannot be told apart."""
    if not plays.paths:
        yield _defect(
            "terminals",
            "no play of the game reaches a final situation",
            "check final/1 and legal/2",
        )
    if plays.reader.unknown:
        text = next(path.text for path in plays.paths if path.has_variables)
        hint = (
            "legal/2 must bind player and move, chance/3 and sees/3 all they give; a name that"
            " starts with a capital letter is a variable unless it is in quotes: 'Cooperate'"
        )
        yield _defect("move", f"a legal move is not fully known: {text}", hint)
        return
    if plays.reader.clash is not None:
        first, second = map(write, plays.reader.clash)
        yield _defect(
            "names",
            f"{first} and {second} are two names that are written alike",
            "rename one of them",
        )
        return
    for path in plays.paths:
        match path.broken:
            case None:
                pass
            case Struct(name="twice", args=(move,)):
                message = f"after {path.text} nature has the move {label(move)} twice"
                yield _defect("chance", message, "chance/3 must give each move once")
            case Struct(name="early", args=(mover,)):
                message = (
                    f"{label(mover)} gets to move after {path.text}, while others who move at the"
                    " same time have not moved yet"
                )
                hint = (
                    "let it move when all of them have, or say with sees(Player, Percept,"
                    " Situation) what each sees"
                )
                if not private:
                    yield _defect("early", message, hint)
            case _:
                message = f"after {path.text} nobody can move, but the situation is not final"
                yield _defect("stuck", message, "check final/1 and legal/2")


def _find_people_defects(plays: _Plays) -> Iterator[Diagnostic]:
    """Find those who move, earn or perceive something without being players."""
    players = plays.players
    steps = plays.steps
    if NATURE in players:
        hint = (
            "remove initially(player(nature), ...) and write chance(move(nature, Move),"
            " Probability, Situation)"
        )
        yield _defect("nature", "nature is not a player; its moves are drawn at random", hint)
        return
    if not players or SEES in players:
        message = "a player has the empty name ''" if players else "the game has no players"
        yield _defect(
            "players", message, "declare each player by its name: initially(player(p1), s0)."
        )
        return
    drawn = any(step.probability is not None for step in steps)
    for mover in _list_once(step.player for step in steps):
        if mover not in players and (mover != NATURE or not drawn):
            hint = (
                "declare initially(player(...), ...), or let nature draw: chance(Move, Probability,"
                " Situation)"
            )
            yield _defect("mover", f"{mover} moves, but is not a player", hint)
    hint = (
        f"the players are {', '.join(players)}; another one is declared as initially(player(...),"
        " ...)"
    )
    for earner in _list_once(goal.player for path in plays.paths for goal in path.goals):
        if earner not in players:
            yield _defect("earner", f"{earner} has a payoff, but is not a player", hint)
    for seer in _list_once(seer for step in steps for seer, _ in step.percepts):
        if seer not in players:
            yield _defect("seer", f"{seer} sees something, but is not a player", hint)


def _find_doubts(table: GameTable, orders: _Orders) -> Iterator[Diagnostic]:
    """Warn of what may not be meant."""
    for player, moves in zip(table.players, table.moves, strict=True):
        if not moves:
            yield _doubt("idle", f"{player} never moves", "is that meant?")
    if orders.tried < orders.total:
        left = orders.total - orders.tried
        message = f"not compared: {left:,} of {orders.total:,} other orders of simultaneous moves"
        yield _doubt("orders", message, f"tried: {orders.which}")
    if orders.earlier:
        message = (
            "not compared: all plays in which somebody moves before others who could move earlier;"
            f" {MAX_REPLAYS:,} plays were"
        )
        hint = "let everybody's move wait for those that come before it, by legal/2"
        yield _doubt("orders", message, hint)


def _doubt(code: str, message: str, hint: str) -> Diagnostic:
    return replace(_defect(code, message, hint), severity=Severity.WARNING)


def _find_meeting(engine: LogicEngine, program: Program, table: GameTable) -> Iterator[Diagnostic]:
    """Warn where nature and a player can both begin: the draw is made first, which need not be
    meant."""
    if not table.chancy:
        return
    goal = "initial(S), chance(_, _, S), legal(Move, S)"
    with suppress(LogicError):
        for answer in engine.solutions(program, goal, 1):
            message = (
                f"nature draws at the start before {label(answer['Move'])} is made, which could"
                " be made too"
            )
            hint = "let legal/2 wait for the draw, and say with sees/3 who learns of it"
            yield _doubt("draw", message, hint)


def _read_ends(plays: _Plays, private: bool) -> tuple[tuple[Row, ...], list[Diagnostic]]:
    """The rows of the table, and what is wrong with the payoffs and probabilities in them."""
    rows: list[Row] = []
    defects: list[Diagnostic] = []
    chancy = any(step.probability is not None for step in plays.steps)
    for path in plays.paths:
        if path.broken is not None:
            continue
        earned = _gather_payoffs(path)
        payoffs = tuple([earned.get(player) for player in plays.players])
        if len(earned) != len(path.goals) or None in payoffs:
            for player in plays.players:
                defects += _find_goal_defect(path, player)
        chances: tuple[Fraction | None, ...] = ()
        if chancy:
            odds = [step.probability for step in path.steps]
            chances = tuple([None if chance is None else _exact(chance) for chance in odds])
            defects += _find_chance_defects(path, chances)
        percepts = tuple([step.percepts for step in path.steps]) if private else ()
        moves = tuple([step[:2] for step in path.steps])
        rows.append(Row(moves, payoffs, path.sizes, chances, percepts))  # type: ignore[arg-type]
    return tuple(rows), defects


def _find_chance_defects(path: _Path, chances: tuple[Fraction | None, ...]) -> Iterator[Diagnostic]:
    for position, (step, chance) in enumerate(zip(path.steps, chances, strict=True)):
        if step.probability is not None and (chance is None or chance < 0):
            before = path._replace(steps=path.steps[:position])
            when = f"after {before.text}" if position else "at the start"
            shown = brief(step.probability) if chance is None else chance
            message = f"the probability of {step.move} {when} is {shown}"
            yield _defect("chance", message, "a probability is a number from 0 to 1, such as 1/3")


def _find_goal_defect(path: _Path, player: str) -> Iterator[Diagnostic]:
    goals = [goal for goal in path.goals if goal.player == player]
    written = [goal.value if goal.exact is None else goal.exact for goal in goals]
    values = _list_once(map(label, written))
    odd = [brief(goal.value) for goal in goals if goal.exact is None]
    if not values:
        hint = "finally(goal(Player, Payoff), Situation) must hold in every final situation"
        yield _defect("goal", f"{player} has no payoff after {path.text}", hint)
    elif odd:
        yield _defect(
            "goal", f"the payoff of {player} after {path.text} is {odd[0]}, which is not a number"
        )
    elif len(values) > 1:
        message = f"{player} has several payoffs after {path.text}: {', '.join(values[:5])}"
        yield _defect("goal", message, "finally(goal(...)) must give each player one payoff")


class _Orders(NamedTuple):
    """How many other orders of simultaneous moves there are, how many and which were tried, and
    what is wrong.

    `plays_compared` says that all plays that the rules allow were compared with the table, one by
    one, and `earlier` whether plays in which somebody moves earlier than in the table were left
    out.
    """

    total: int = 0
    tried: int = 0
    which: str = ""
    defects: tuple[Diagnostic, ...] = ()
    plays_compared: bool = False
    earlier: bool = False


def _try_orders(engine: LogicEngine, program: Program, plays: _Plays, private: bool) -> _Orders:
    """Compare simultaneous moves in other orders with the table.

    In a small game all plays that the rules allow, in whatever order, are compared. In a large one
    the plays of the table are made again with every block reversed, all or some of them; that its
    positions lack no move was seen on the way through it. Which of the two depends on the game
    alone. Where players see only what sees/3 shows them, somebody may move before others of an
    earlier block have: of these plays at most `MAX_REPLAYS` are compared, those first in which the
    last who can move does.
    """
    paths = plays.paths
    reader = plays.reader
    others = [_count_orders(path.sizes) for path in paths]
    total = sum(others)
    earlier = private and total > 0
    comparison = _PlayComparison(engine, program, paths=paths, reader=reader, private=private)
    try:
        if total + len(paths) <= MAX_REPLAYS:
            defects = comparison.compare("first")
            if comparison.complete:
                return _Orders(total, total, "all", defects, plays_compared=True)
            defects += comparison.compare("last")
            return _Orders(total, total, "all", defects, earlier=True)
        found = list(_find_gaps(engine, program, paths, reader))
        if earlier:
            found += comparison.compare("last")
        ordered = sum(other > 0 for other in others)
        every = -(-ordered // MAX_REPLAYS) or 1
        tried = [path for path in paths[::every] if max(path.sizes) > 1]
        orders = []
        for number, path in enumerate(tried):
            orders.append(list_of(_reorder(path.blocks, number % 2)))
        goal = Struct("table_replay", (list_of(orders), Var("R")))
        answer = engine.solutions(program, goal, 1)[0]
        results = _list_items(answer["R"])
    except LimitReached:
        return _Orders(total, 0, "none within the limits", earlier=earlier)
    for path, result in zip(tried, map(deref, results), strict=True):
        if isinstance(result, Struct):
            found += _compare_play(path, reader.play(*result.args))
        else:
            found.append(_say_impossible(path))
    which = "every play in one other order"
    if every > 1:
        which = f"one play in {every:,} in one other order"
    return _Orders(total, len(tried), which, tuple(found), earlier=earlier)


def _find_gaps(
    engine: LogicEngine, program: Program, paths: list[_Path], reader: _PathReader
) -> Iterator[Diagnostic]:
    """Find what differs where another than the first of those who move at the same time begins.

    The way through the game has seen every position in which they move in their own order.
    """
    starts: dict[_Moves, list[Term]] = {}
    for path in paths:
        number = 0
        for place, size in enumerate(path.sizes):
            if size > 1:
                moves = tuple([step[:2] for step in path.steps[:number]])
                if moves not in starts:
                    starts[moves] = [move for block in path.blocks[:place] for move in block]
            number += size
    if not starts:
        return
    every = -(-len(starts) // _MOST_STARTS)
    tried = list(starts.values())[::every]
    some = list_of([list_of(before) for before in tried])
    goal = Struct("table_gaps", (some, Var("Gaps")))
    answer = engine.solutions(program, goal, 1)[0]
    for found in map(deref, _list_items(answer["Gaps"])):
        assert isinstance(found, Struct)
        gap, steps = found.args
        yield _say_gap(deref(gap), reader.play(steps, Atom("[]")))


def _reorder(blocks: tuple[list[Term], ...], turn: int) -> list[Term]:
    """Make the moves of each block in another order: backwards, or (turn 1) the first of several
    last.

    Backwards alone would never show what depends on who is in the middle of three.
    """
    moves: list[Term] = []
    for block in blocks:
        if turn and len(block) > 2:
            moves += [*block[1:], block[0]]
        else:
            moves += block[::-1]
    return moves


@lru_cache(4096)
def _count_orders(sizes: tuple[int, ...]) -> int:
    """In how many other orders moves in blocks of these sizes can be made."""
    orders = [factorial(size) if size < 10 else _MANY for size in sizes]
    return prod(orders) - 1


class _PlayComparison:
    """Finds plays that the rules allow and the table lacks, and what depends on the order of
    simultaneous moves.

    Where players see only what sees/3 shows them, some may move before others of an earlier block
    have: such plays only have to end as the one in which everybody makes the same moves. How many
    there are is not known before. `complete` says that none was left out.
    """

    def __init__(
        self,
        engine: LogicEngine,
        program: Program,
        paths: list[_Path],
        reader: _PathReader,
        private: bool,
    ) -> None:
        self._engine = engine
        self._program = program
        self._paths = paths
        self._reader = reader
        self._private = private
        self._by_player = {_sort_by_player(path.steps): path for path in paths}
        self.complete = False

    def compare(self, order: str) -> tuple[Diagnostic, ...]:
        """Compare the plays in which the `first` or the `last` who can move does so, and so on."""
        orders = self._list_orders() if order == "first" else {}
        most = MAX_REPLAYS if self._private else len(orders) + 1
        goal = Struct("table_play", (Atom(order), Var("Steps"), Var("Goals")))
        answers = self._engine.solutions(self._program, goal, most)
        self.complete = not self._private or len(answers) < most
        seen: set[_Moves] = set()
        found: list[Diagnostic] = []
        for answer in answers:
            play = self._reader.play(answer["Steps"], answer["Goals"])
            made_moves = tuple([step[:2] for step in play.steps])
            seen.add(made_moves)
            found += self._compare_one(play, orders.get(made_moves))
        if orders and len(answers) < most:
            found += [_say_impossible(path) for moves, path in orders.items() if moves not in seen]
        return tuple(found)

    def _list_orders(self) -> dict[_Moves, _Path]:
        """List the plays of the table in every order of simultaneous moves."""
        orders: dict[_Moves, _Path] = {}
        for path in self._paths:
            made = iter(path.steps)
            blocks = [[next(made) for _ in range(size)] for size in path.sizes]
            for order in product(*map(permutations, blocks)):
                moves = tuple([step[:2] for block in order for step in block])
                orders[moves] = path
        return orders

    def _compare_one(self, play: _Path, same_order: _Path | None) -> Iterator[Diagnostic]:
        if same_order is not None:
            yield from _compare_play(same_order, play)
            return
        alike = self._by_player.get(_sort_by_player(play.steps)) if self._private else None
        if alike is not None:
            yield from _compare_play(alike, play._replace(sizes=(len(play.steps),)))
            return
        near = max(self._paths, key=lambda path: _count_common(path.steps, play.steps))
        message = (
            f"the rules also allow the play {play.text}, but the game is taken to be played as in"
            f" {near.text}"
        )
        yield _defect("plays", message, _SIMULTANEOUS)


_SIMULTANEOUS = (
    "who can move at the same time must move once, with the same options in whatever order they"
    " move, and the game must not end before all of them have"
)


def _say_gap(gap: Term, path: _Path) -> Diagnostic:
    """Say what differs between who may move after the moves of a path and who should."""
    others = "while others who move at the same time have not moved yet"
    match gap:
        case Struct(name="lost", args=(mover,)):
            message = (
                f"{label(mover)} could move too, but no more after {path.text}: plays are missing"
                " from the game"
            )
        case Struct(name="other", args=(mover,)):
            message = (
                f"{label(mover)} moves at the same time, but has other moves after {path.text} than"
                " before"
            )
        case Struct(name="again", args=(mover,)):
            message = f"{label(mover)} can move again after {path.text}, {others}"
        case Struct(args=(mover,)):
            message = f"{label(mover)} gets to move after {path.text}, {others}"
        case _:
            message = f"nature draws after {path.text}, {others}"
    return _defect("plays", message, _SIMULTANEOUS)


def _sort_by_player(steps: tuple[_Step, ...]) -> _Moves:
    moves = [step[:2] for step in steps]
    return tuple(sorted(moves, key=lambda made: made[0]))


def _count_common(first: tuple[_Step, ...], second: tuple[_Step, ...]) -> int:
    """Count the moves that two plays begin with alike."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one[:2] != other[:2]:
            break
        count += 1
    return count


def _say_impossible(path: _Path) -> Diagnostic:
    message = f"the moves {path.text} are made at the same time, but not possible in another order"
    return _defect("order", message, "let simultaneous moves neither enable nor forbid each other")


def _compare_play(path: _Path, play: _Path) -> Iterator[Diagnostic]:
    """Find what differs where simultaneous moves are made in another order."""
    if play.steps == path.steps and play.goals == path.goals:
        return
    if _gather_payoffs(path) != _gather_payoffs(play):
        message = f"the payoffs after {path.text} depend on the order of simultaneous moves"
        yield _defect("order", message, "let payoffs depend on who made which move, not on when")
    if _gather_odds(path) != _gather_odds(play):
        message = (
            f"the probabilities of nature's moves in {path.text} depend on the order of"
            " simultaneous moves"
        )
        yield _defect("order", message, f"they are others in {play.text}")
    sizes = play.sizes or path.sizes
    if _gather_percepts(path.steps, sizes) != _gather_percepts(play.steps, sizes):
        message = f"what is seen in {path.text} depends on the order of simultaneous moves"
        yield _defect("order", message, f"sees/3 gives something else in {play.text}")


def _gather_payoffs(path: _Path) -> dict[str, Fraction | None]:
    return {goal.player: goal.exact for goal in path.goals}


def _gather_odds(path: _Path) -> dict[tuple[str, str], Fraction | None]:
    odds = {}
    for step in path.steps:
        if step.probability is not None:
            odds[step.player, step.move] = _exact(step.probability)
    return odds


def _gather_percepts(
    steps: tuple[_Step, ...], sizes: tuple[int, ...]
) -> list[set[tuple[str, str]]]:
    """Return what is perceived in each block, in whatever order."""
    later = iter(steps)
    perceived = []
    for size in sizes:
        in_block: set[tuple[str, str]] = set()
        for step in islice(later, size):
            in_block.update(step.percepts)
        perceived.append(in_block)
    return perceived
