"""The game as a table: every way it can end, what each player moved and earned, as plain exact values.

One query walks through a game. Where several players may move at the same time, their moves are made in one order only
(`table_row/2` in `solver_language`); then in the reversed one and, if they are few, in all others, and a game in which
the order of simultaneous moves changes a payoff is reported as defective: it would not be the game of its own table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.terms import Struct, Term, Var, deref, items_of, list_of, variables_of, write
from bestresponse.logic.programs.paths import Goal, Path, PathReader, exact, label, orders, replays, reversed_order

__all__ = ["Extraction", "GameTable", "Row", "extract", "label", "published_cells"]

MAX_REPLAYS = 500


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


def extract(engine: LogicEngine, program: Program) -> Extraction:
    """The table of a loaded program and everything that is wrong with it as a game; errors and limits while it runs are
    raised as `LogicError`."""
    answer = engine.solutions(program, _whole(), 1)[0]
    starts, rows = items_of(answer["Starts"])[0], items_of(answer["Rows"])[0]
    if len(starts) != 1:
        found = "several" if starts else "none"
        return Extraction(None, (_defect("initial", f"a game has one initial situation, this one has {found}"),))
    reader = PathReader()
    paths = [reader.path(row) for row in rows]
    defects = list(_path_defects(paths, reader.unknown))
    if defects:
        return Extraction(None, tuple(defects))
    declared = _unique(label(player) for player in items_of(starts[0])[0])
    players = declared or _unique(player for path in paths for player, _ in path.named)
    ends, defects = _ends(paths, players)
    if defects:
        return Extraction(None, tuple(_few(defects)))
    every, problems = _order_defects(engine, program, paths, answer["Orders"] == "same")
    if problems:
        return Extraction(None, tuple(_few(problems)))
    return Extraction(GameTable(players, _moves(ends, players), ends, every), ())


def _whole() -> Term:
    """`findall(P, table_players(_, P), Starts), table_rows(Rows, Orders)`, as a term: nobody has to read it."""
    player = Var("P")
    starts = Struct("findall", (player, Struct("table_players", (Var("_"), player)), Var("Starts")))
    return Struct(",", (starts, Struct("table_rows", (Var("Rows"), Var("Orders")))))


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
        cells.append((label(first), label(second), exact(values.get("U")), exact(values.get("V"))))
    return tuple(cells)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _few(defects: list[Diagnostic]) -> list[Diagnostic]:
    return defects[:10]


def _defect(code: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(Stage.CONTRACT, Severity.ERROR, 0, 0, "", message, hint, code)


def _moves(rows: tuple[Row, ...], players: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Each player's moves in order of appearance."""
    made = dict.fromkeys(move for row in rows for move in row.moves)
    return tuple(tuple(move for who, move in made if who == player) for player in players)


def _path_defects(paths: list[Path], unknown: bool) -> Iterator[Diagnostic]:
    if not paths:
        yield _defect("terminals", "no play of the game reaches a final situation", "check final/1 and legal/2")
    if unknown:
        told = next(p.told for p in paths if any(variables_of(move) for block in p.blocks for move in block))
        yield _defect("move", f"a legal move is not fully known: {told}", "legal/2 must bind player and move")
        return
    for path in paths:
        if path.stuck:
            message = f"after {path.told} nobody can move, but the situation is not final"
            yield _defect("stuck", message, "check final/1 and legal/2")
            return


def _ends(paths: list[Path], players: tuple[str, ...]) -> tuple[tuple[Row, ...], list[Diagnostic]]:
    """The rows of the table, and what is wrong with the payoffs in them."""
    rows: list[Row] = []
    defects: list[Diagnostic] = []
    if not players:
        defects.append(_defect("players", "the game has no players", "declare them: initially(player(p1), s0)."))
    for path in paths:
        earned = {player: number for player, _, number in path.goals}
        payoffs = tuple([earned.get(player) for player in players])
        if len(earned) != len(path.goals) or any(payoff is None for payoff in payoffs):
            defects += [found for player in players for found in _goal_defect(path, player)]
        rows.append(Row(path.named, payoffs, path.sizes))  # type: ignore[arg-type]
    return tuple(rows), defects


def _goal_defect(path: Path, player: str) -> Iterator[Diagnostic]:
    goals = [goal for goal in path.goals if goal.player == player]
    values = _unique(write(goal.value) for goal in goals)
    if not values:
        hint = "finally(goal(Player, Payoff), Situation) must hold in every final situation"
        yield _defect("goal", f"{player} has no payoff after {path.told}", hint)
    elif any(goal.exact is None for goal in goals):
        yield _defect("goal", f"the payoff of {player} after {path.told} is not a number")
    elif len(values) > 1:
        message = f"{player} has several payoffs after {path.told}: {', '.join(values[:5])}"
        yield _defect("goal", message, "finally(goal(...)) must give each player one payoff")


def _order_defects(
    engine: LogicEngine, program: Program, paths: list[Path], same_backwards: bool
) -> tuple[bool, list[Diagnostic]]:
    """Whether all orders of simultaneous moves were tried, and every path that another order changes or forbids.

    The program itself has played the game backwards. Where there are still other orders, they are replayed if they are
    few.
    """
    others = [replays(path.sizes) for path in paths]
    two_orders, every = max(others) < 2, sum(others) <= MAX_REPLAYS
    if same_backwards and (two_orders or not every):
        return two_orders, []
    tried = [(path, order) for path in paths for order in (orders(path) if every else reversed_order(path))]
    replayed = _replayed(engine, program, [order for _, order in tried])
    return every, [defect for path, order in tried for defect in _order_defect(path, replayed.get(_key(order)))]


def _replayed(engine: LogicEngine, program: Program, tried: list[tuple[Term, ...]]) -> dict[str, tuple[Goal, ...]]:
    """What everybody earns after moves in each of these orders that the game allows."""
    goal = Struct("table_replay", (list_of([list_of(order) for order in tried]), Var("Results")))
    answers = engine.solutions(program, goal, 1)
    results = items_of(answers[0]["Results"])[0] if answers else []
    reader = PathReader()
    pairs = [pair for pair in map(deref, results) if isinstance(pair, Struct)]
    return {write(pair.args[0]): reader.goals(pair.args[1]) for pair in pairs}


def _key(order: tuple[Term, ...]) -> str:
    return write(list_of(order))


def _order_defect(path: Path, goals: tuple[Goal, ...] | None) -> Iterator[Diagnostic]:
    if goals is None:
        message = f"the moves {path.told} are made at the same time, but not possible in another order"
        yield _defect("order", message, "let simultaneous moves neither enable nor forbid each other")
    elif {goal.player: goal.value for goal in goals} != {goal.player: goal.value for goal in path.goals}:
        message = f"the payoffs after {path.told} depend on the order of simultaneous moves"
        yield _defect("order", message, "let payoffs depend on who made which move, not on when")
