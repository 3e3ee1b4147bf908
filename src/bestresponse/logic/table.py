"""The game as a table: every way it can end, what each player moved and earned, as plain exact values.

One query walks through a game. Where several players may move at the same time, their moves are made in one order only
(`table_row/2` in `solver_language`); afterwards the other orders are replayed, and a game in which the order of
simultaneous moves changes a payoff is reported as defective: it would not be the game of its own table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial, isfinite

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.terms import Atom, Struct, Term, Var, deref, items_of, list_of, variables_of, write

__all__ = ["Extraction", "GameTable", "Row", "extract", "label", "published_cells"]

MAX_REPLAYS = 500
_WHOLE = "findall(P, table_players(_, P), Starts), findall(Steps-Goals, table_row(Steps, Goals), Rows)"


@dataclass(frozen=True, slots=True)
class Row:
    """One way the game ends: (player, move) in order, payoffs in the order of `GameTable.players`, and how many of the
    moves, from the first on, were made at the same time: `(2,)` for two simultaneous moves, `(1, 1)` for one after the
    other."""

    moves: tuple[tuple[str, str], ...]
    payoffs: tuple[Fraction, ...]
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GameTable:
    """A finite game. `moves` lists each player's moves in order of appearance."""

    players: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...]
    every_order: bool = True
    """Whether all orders of simultaneous moves were replayed, or, in a large game, only the reversed one."""

    @property
    def sequential(self) -> bool:
        """Whether anybody moves after having seen a move."""
        return any(len(row.blocks) > 1 for row in self.rows)

    def payoffs(self, profile: Sequence[str]) -> tuple[Fraction, ...]:
        """What everybody earns when each player, in order, makes the given move once."""
        for row in self.rows:
            made = dict(row.moves)
            if len(made) == len(row.moves) and all(
                made.get(player, move) == move for player, move in zip(self.players, profile, strict=True)
            ):
                return row.payoffs
        raise InvalidGame(f"No end of the game has the moves {', '.join(profile)}.")


@dataclass(frozen=True, slots=True)
class Extraction:
    """What could be taken out of a program: its table, or why there is none."""

    table: GameTable | None
    defects: tuple[Diagnostic, ...]

    def require(self) -> GameTable:
        """The table, or `InvalidGame` with the defects."""
        if self.table is None:
            raise InvalidGame("The program is no game: " + "; ".join(map(str, self.defects[:3])))
        return self.table


@dataclass(frozen=True, slots=True)
class _Path:
    """A way through the game as the engine reports it."""

    moves: tuple[Term, ...]
    movers: tuple[tuple[str, ...], ...]
    goals: tuple[tuple[str, Term], ...]
    stuck: bool

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        return tuple((mover_of(move), _move_of(move)) for move in self.moves)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Lengths of the runs of moves that were all possible when the first of them was made."""
        sizes: list[int] = []
        together: set[str] = set()
        for move, movers in zip(self.moves, self.movers, strict=True):
            mover = mover_of(move)
            if mover in together:
                sizes[-1] += 1
            else:
                sizes.append(1)
                together = set(movers)
            together.discard(mover)
        return tuple(sizes)


def label(term: Term) -> str:
    """A move or player as text: the bare name of an atom, canonical text of anything else."""
    term = deref(term)
    return str(term) if isinstance(term, Atom) else write(term)


def mover_of(move: Term) -> str:
    """Who makes a move such as `move(p1, 'D')` or `choice(p1, 'D')`."""
    move = deref(move)
    return label(move.args[0]) if isinstance(move, Struct) else label(move)


def _move_of(move: Term) -> str:
    move = deref(move)
    if isinstance(move, Struct) and len(move.args) == 2:
        return label(move.args[1])
    if isinstance(move, Struct) and len(move.args) > 2:
        return label(Struct(move.name, move.args[1:]))
    return move.name if isinstance(move, Struct) else label(move)


def extract(engine: LogicEngine, program: Program) -> Extraction:
    """The table of a loaded program and everything that is wrong with it as a game; errors and limits while it runs are
    raised as `LogicError`."""
    answer = engine.solutions(program, _WHOLE, 1)[0]
    starts, rows = items_of(answer["Starts"])[0], items_of(answer["Rows"])[0]
    if len(starts) != 1:
        found = "several" if starts else "none"
        return Extraction(None, (_defect("initial", f"a game has one initial situation, this one has {found}"),))
    declared = _unique(label(player) for player in items_of(starts[0])[0])
    paths = [_path(*row.args) for row in map(deref, rows) if isinstance(row, Struct)]
    defects = list(_path_defects(paths))
    if defects:
        return Extraction(None, tuple(defects))
    players = declared or _unique(player for path in paths for player, _ in path.named)
    defects += _goal_defects(paths, players)
    if defects:
        return Extraction(None, tuple(_few(defects)))
    every, problems = _order_defects(engine, program, paths)
    if problems:
        return Extraction(None, tuple(_few(problems)))
    ends = tuple(Row(path.named, _payoffs(path.goals, players), path.blocks) for path in paths)
    moves = tuple(_unique(move for row in ends for who, move in row.moves if who == player) for player in players)
    return Extraction(GameTable(players, moves, ends, every), ())


def published_cells(
    engine: LogicEngine, program: Program
) -> tuple[tuple[str, str, Fraction | None, Fraction | None], ...]:
    """The cells as the published tournaments saw them: two players, the moves `possible/2` in `s0`, the first payoff
    that `finally/2` gives after both have moved, `None` where there is none. Neither `legal/2` nor `game/2` is asked.
    """
    answers = engine.solutions(program, "holds(player(P), s0)")
    players = [answer["P"] for answer in answers][:2]
    found = engine.solutions(program, "possible(move(P, M), s0)")
    moves = [answer["M"] for answer in found if players and label(answer["P"]) == label(players[0])]
    if len(players) < 2 or not moves:
        return ()
    goals: list[Term] = []
    for first, second in product(moves, moves):
        pairs = (Struct("-", (players[0], first)), Struct("-", (players[1], second)))
        goals.append(Struct("published_cell", (*pairs, Var("U"), Var("V"))))
    cells = []
    for (first, second), answer in zip(product(moves, moves), engine.ask_many(program, goals, 1), strict=True):
        values = answer[0] if answer else {}
        cells.append((label(first), label(second), _exact(values.get("U")), _exact(values.get("V"))))
    return tuple(cells)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _few(defects: list[Diagnostic]) -> list[Diagnostic]:
    return defects[:10]


def _defect(code: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(Stage.CONTRACT, Severity.ERROR, 0, 0, "", message, hint, code)


def _path(steps: Term, goals: Term) -> _Path:
    moves: list[Term] = []
    movers: list[tuple[str, ...]] = []
    stuck = False
    for step in map(deref, items_of(steps)[0]):
        if isinstance(step, Struct):
            moves.append(deref(step.args[0]))
            movers.append(tuple(label(mover) for mover in items_of(step.args[1])[0]))
        else:
            stuck = True
    return _Path(tuple(moves), tuple(movers), _goals(goals), stuck)


def _goals(goals: Term) -> tuple[tuple[str, Term], ...]:
    pairs = [deref(pair) for pair in items_of(goals)[0]]
    return tuple((label(pair.args[0]), deref(pair.args[1])) for pair in pairs if isinstance(pair, Struct))


def _told(path: _Path) -> str:
    return ", ".join(f"{player}: {move}" for player, move in path.named) or "no move at all"


def _path_defects(paths: list[_Path]) -> Iterator[Diagnostic]:
    if not paths:
        yield _defect("terminals", "no play of the game reaches a final situation", "check final/1 and legal/2")
    for path in paths:
        if any(variables_of(move) for move in path.moves):
            message = f"a legal move is not fully known: {_told(path)}"
            yield _defect("move", message, "legal/2 must bind player and move")
            return
    for path in paths:
        if path.stuck:
            message = f"after {_told(path)} nobody can move, but the situation is not final"
            yield _defect("stuck", message, "check final/1 and legal/2")
            return


def _goal_defects(paths: list[_Path], players: tuple[str, ...]) -> list[Diagnostic]:
    defects: list[Diagnostic] = []
    if not players:
        defects.append(_defect("players", "the game has no players", "declare them: initially(player(p1), s0)."))
    for path in paths:
        for player in players:
            values = _unique(write(value) for who, value in path.goals if who == player)
            numbers = [value for who, value in path.goals if who == player and _exact(value) is not None]
            if not values:
                hint = "finally(goal(Player, Payoff), Situation) must hold in every final situation"
                defects.append(_defect("goal", f"{player} has no payoff after {_told(path)}", hint))
            elif len(numbers) != len([1 for who, _ in path.goals if who == player]):
                defects.append(_defect("goal", f"the payoff of {player} after {_told(path)} is not a number"))
            elif len(values) > 1:
                message = f"{player} has several payoffs after {_told(path)}: {', '.join(values[:5])}"
                defects.append(_defect("goal", message, "finally(goal(...)) must give each player one payoff"))
    return defects


def _exact(value: Term | None) -> Fraction | None:
    if isinstance(value, float):
        return Fraction(repr(value)) if isfinite(value) else None
    return Fraction(value) if isinstance(value, int | Fraction) else None


def _payoffs(goals: tuple[tuple[str, Term], ...], players: tuple[str, ...]) -> tuple[Fraction, ...]:
    exact = {player: _exact(value) for player, value in goals}
    return tuple(exact[player] or Fraction(0) for player in players)


def _order_defects(engine: LogicEngine, program: Program, paths: list[_Path]) -> tuple[bool, list[Diagnostic]]:
    """Replay simultaneous moves in other orders; a different payoff, or none, is a defect."""
    total = sum(_count(path) for path in paths)
    every = total <= MAX_REPLAYS
    orders = [(path, order) for path in paths for order in (_orders(path) if every else _reversed(path))]
    if not orders:
        return every, []
    goal = Struct("table_replay", (list_of([list_of(order) for _, order in orders]), Var("Results")))
    answers = engine.solutions(program, goal, 1)
    results = items_of(answers[0]["Results"])[0] if answers else []
    replayed = {write(pair.args[0]): _goals(pair.args[1]) for pair in map(deref, results) if isinstance(pair, Struct)}
    defects: list[Diagnostic] = []
    for path, order in orders:
        goals = replayed.get(write(list_of(order)))
        if goals is None:
            message = f"the moves {_told(path)} are made at the same time, but not possible in another order"
            defects.append(_defect("order", message, "let simultaneous moves neither enable nor forbid each other"))
        elif dict(goals) != dict(path.goals):
            message = f"the payoffs after {_told(path)} depend on the order of simultaneous moves"
            defects.append(_defect("order", message, "let payoffs depend on who made which move, not on when"))
    return every, defects


def _count(path: _Path) -> int:
    orders = 1
    for size in path.blocks:
        orders *= factorial(size) if size < 10 else MAX_REPLAYS
    return orders - 1


def _in_blocks(path: _Path) -> list[tuple[Term, ...]]:
    blocks, start = [], 0
    for size in path.blocks:
        blocks.append(path.moves[start : start + size])
        start += size
    return blocks


def _orders(path: _Path) -> Iterator[tuple[Term, ...]]:
    choices = product(*(permutations(block) for block in _in_blocks(path)))
    next(choices)
    for choice in choices:
        yield tuple(move for block in choice for move in block)


def _reversed(path: _Path) -> Iterator[tuple[Term, ...]]:
    if max(path.blocks, default=1) > 1:
        yield tuple(move for block in _in_blocks(path) for move in reversed(block))
