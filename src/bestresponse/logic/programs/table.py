"""The game as a table: every way it can end, what each player moved and earned, as plain exact values.

One query walks through a game. Where several players may move at the same time, their moves are made in one order only
(`table_row/2` in `solver_language`); then in all others if they are few, else in the reversed one, and a game in which
the order of simultaneous moves changes a payoff is reported as defective: it would not be the game of its own table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from bestresponse.core.errors import InvalidGame, LimitReached
from bestresponse.core.game import NATURE
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
    variables_of,
    write,
)
from bestresponse.logic.programs.game_table import SEES, GameTable, Row, tree
from bestresponse.logic.programs.paths import (
    Path,
    PathReader,
    exact,
    label,
    orders,
    read_paths,
    replays,
    reversed_order,
)

__all__ = ["Extraction", "GameTable", "Row", "extract", "label", "published_cells"]

MAX_REPLAYS = 1_000


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
    paths, reader = read_paths(rows)
    declared = _unique(reader.player(player) for player in items_of(starts[0])[0])
    players = declared or _unique(step.player for path in paths for step in path.steps if step.player != NATURE)
    private = "sees/3" in program.gated.defined
    defects = [*_path_defects(paths, reader, private), *_people_defects(paths, players, private)]
    if defects:
        return Extraction(None, tuple(_few(defects)))
    ends, defects = _ends(paths, players, private)
    if defects:
        return Extraction(None, tuple(_few(defects)))
    tried = _try_orders(engine, program, paths)
    if tried.problems:
        return Extraction(None, tuple(_few(list(tried.problems))))
    table = GameTable(players, _moves(ends, players), ends, tried.tried == tried.total, private)
    try:
        tree(table)
    except InvalidGame as error:
        code = "odds" if "probabilit" in str(error) else "tree"
        return Extraction(None, (_defect(code, str(error).rstrip(".")),))
    return Extraction(table, tuple(_doubts(table, tried)))


def _whole() -> Term:
    """`findall(P, table_players(_, P), Starts), table_rows(Rows)`, as a term: nobody has to read it."""
    player = Var("P")
    starts = Struct("findall", (player, Struct("table_players", (Var("_"), player)), Var("Starts")))
    return Struct(",", (starts, Struct("table_rows", (Var("Rows"),))))


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
        made = Struct("do", (Struct("move", (players[0], first)), Atom("s0")))
        made = Struct("do", (Struct("move", (players[1], second)), made))
        goals += [Struct("finally", (Struct("goal", (player, Var("U"))), made)) for player in players]
    payoffs = (exact(answer[0]["U"]) if answer else None for answer in engine.ask_many(program, goals, 1))
    return tuple((label(first), label(second), next(payoffs), next(payoffs)) for first, second in product(moves, moves))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _few(defects: list[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(defects))[:10]


def _defect(code: str, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(Stage.CONTRACT, Severity.ERROR, 0, 0, "", message, hint, code)


def _moves(rows: tuple[Row, ...], players: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Each player's moves in order of appearance."""
    made = dict.fromkeys(move for row in rows for move in row.moves)
    return tuple(tuple(move for who, move in made if who == player) for player in players)


def _path_defects(paths: list[Path], reader: PathReader, private: bool) -> Iterator[Diagnostic]:
    if not paths:
        yield _defect("terminals", "no play of the game reaches a final situation", "check final/1 and legal/2")
    if reader.unknown:
        text = next(p.text for p in paths if any(variables_of(move) for block in p.blocks for move in block))
        hint = (
            "legal/2 must bind player and move, chance/3 and sees/3 all they give; a name that starts with a capital "
            "letter is a variable unless it stands in quotes: 'Cooperate'"
        )
        yield _defect("move", f"a legal move is not fully known: {text}", hint)
        return
    if reader.clash is not None:
        first, second = map(write, reader.clash)
        yield _defect("names", f"{first} and {second} are two names that are written alike", "rename one of them")
        return
    for path in paths:
        if path.broken is not None:
            yield from _broken_defect(path, private)


def _broken_defect(path: Path, private: bool) -> Iterator[Diagnostic]:
    """Say why a path does not end."""
    broken = path.broken
    if not isinstance(broken, Struct):
        message = f"after {path.text} nobody can move, but the situation is not final"
        yield _defect("stuck", message, "check final/1 and legal/2")
    elif broken.name == "twice":
        message = f"after {path.text} nature has the move {label(broken.args[0])} twice"
        yield _defect("chance", message, "chance/3 must give each move once")
    elif not private:
        message = (
            f"{label(broken.args[0])} gets to move after {path.text}, while others who move at the same time have not "
            "moved yet"
        )
        hint = "let it move when all of them have, or say with sees(Player, Percept, Situation) what each player sees"
        yield _defect("early", message, hint)


def _people_defects(paths: list[Path], players: tuple[str, ...], private: bool) -> Iterator[Diagnostic]:
    """Find those who move, earn or perceive something without being players."""
    if NATURE in players:
        hint = "remove initially(player(nature), ...) and write chance(move(nature, Move), Probability, Situation)"
        yield _defect("nature", "nature is no player: its moves are drawn by lot", hint)
        return
    if not players or SEES in players:
        message = "a player has the empty name ''" if players else "the game has no players"
        yield _defect("players", message, "declare each player by its name: initially(player(p1), s0).")
        return
    known = {*players, NATURE}
    movers = _unique(step.player for path in paths for step in path.steps)
    drawn = {step.player for path in paths for step in path.steps if step.probability is not None}
    for mover in movers:
        if mover not in known or (mover == NATURE and not drawn):
            hint = "declare initially(player(...), ...), or let nature draw: chance(Move, Probability, Situation)"
            yield _defect("mover", f"{mover} moves, but is no player", hint)
    for earner in _unique(goal.player for path in paths for goal in path.goals if goal.player not in players):
        hint = f"the players are {', '.join(players)}; another one is declared as initially(player(...), ...)"
        yield _defect("earner", f"{earner} has a payoff, but is no player", hint)
    seers = (who for path in paths for step in path.steps for who, _ in step.percepts) if private else ()
    for seer in _unique(who for who in seers if who not in players):
        yield _defect("seer", f"{seer} sees something, but is no player", f"the players are {', '.join(players)}")


def _doubts(table: GameTable, orders: _Orders) -> Iterator[Diagnostic]:
    """Warn of what may not be meant."""
    for player, moves in zip(table.players, table.moves, strict=True):
        if not moves:
            yield replace(_defect("idle", f"{player} never moves", "is that meant?"), severity=Severity.WARNING)
    if not table.every_order:
        message = f"{orders.tried:,} of {orders.total:,} other orders of simultaneous moves were tried, not all"
        yield replace(_defect("orders", message, f"tried: {orders.which}"), severity=Severity.WARNING)


def _ends(paths: list[Path], players: tuple[str, ...], private: bool) -> tuple[tuple[Row, ...], list[Diagnostic]]:
    """The rows of the table, and what is wrong with the payoffs and probabilities in them."""
    rows: list[Row] = []
    defects: list[Diagnostic] = []
    chancy = any(step.probability is not None for path in paths for step in path.steps)
    for path in paths:
        if path.broken is not None:
            continue
        earned = {player: number for player, _, number in path.goals}
        payoffs = tuple([earned.get(player) for player in players])
        if len(earned) != len(path.goals) or any(payoff is None for payoff in payoffs):
            defects += [found for player in players for found in _goal_defect(path, player)]
        chances = tuple([exact(step.probability) for step in path.steps]) if chancy else ()
        defects += _chance_defects(path, chances)
        percepts = tuple([step.percepts for step in path.steps]) if private else ()
        rows.append(Row(path.named, payoffs, path.sizes, chances, percepts))  # type: ignore[arg-type]
    return tuple(rows), defects


def _chance_defects(path: Path, chances: tuple[Fraction | None, ...]) -> Iterator[Diagnostic]:
    for position, chance in enumerate(chances):
        step = path.steps[position]
        if step.probability is not None and (chance is None or chance < 0):
            shown = brief(step.probability) if chance is None else chance
            message = f"the probability of {step.move} {_before(path, position)} is {shown}"
            yield _defect("chance", message, "a probability is a number from 0 to 1, such as 1/3")


def _before(path: Path, position: int) -> str:
    return f"after {path._replace(steps=path.steps[:position]).text}" if position else "at the start"


def _goal_defect(path: Path, player: str) -> Iterator[Diagnostic]:
    goals = [goal for goal in path.goals if goal.player == player]
    values = _unique(write(goal.value) for goal in goals)
    if not values:
        hint = "finally(goal(Player, Payoff), Situation) must hold in every final situation"
        yield _defect("goal", f"{player} has no payoff after {path.text}", hint)
    elif any(goal.exact is None for goal in goals):
        odd = next(goal.value for goal in goals if goal.exact is None)
        yield _defect("goal", f"the payoff of {player} after {path.text} is {brief(odd)}, which is not a number")
    elif len(values) > 1:
        message = f"{player} has several payoffs after {path.text}: {', '.join(values[:5])}"
        yield _defect("goal", message, "finally(goal(...)) must give each player one payoff")


class _Orders(NamedTuple):
    """How many other orders of simultaneous moves there are, how many and which were tried, and what is wrong."""

    total: int
    tried: int
    which: str
    problems: tuple[Diagnostic, ...] = ()


def _try_orders(engine: LogicEngine, program: Program, paths: list[Path]) -> _Orders:
    """Replay simultaneous moves in other orders: all of them if they are few, else the reversed one of some paths.

    How many are tried depends on the game alone, unless their replay reaches a limit.
    """
    others = [replays(path.sizes) for path in paths]
    total, blocks = sum(others), sum(other > 0 for other in others)
    if not total:
        return _Orders(0, 0, "")
    if total <= MAX_REPLAYS:
        which = "all"
        tried = [(path, order) for path in paths for order in orders(path)]
    else:
        every = -(-blocks // MAX_REPLAYS)
        which = "every play backwards" if every == 1 else f"one play in {every:,} backwards"
        tried = [(path, order) for path in paths[::every] for order in reversed_order(path)]
    goal = Struct("table_replay", (list_of([list_of(order) for _, order in tried]), Var("Results")))
    try:
        endings = items_of(engine.solutions(program, goal, 1)[0]["Results"])[0]
    except LimitReached:
        return _Orders(total, 0, "none within the limits")
    problems = [
        defect for (path, _), ending in zip(tried, endings, strict=True) for defect in _order_defect(path, ending)
    ]
    return _Orders(total, len(tried), which, tuple(problems))


def _order_defect(path: Path, ending: Term) -> Iterator[Diagnostic]:
    if deref(ending) == "impossible":
        message = f"the moves {path.text} are made at the same time, but not possible in another order"
        yield _defect("order", message, "let simultaneous moves neither enable nor forbid each other")
        return
    goals = PathReader().goals(ending)
    if {goal.player: goal.exact for goal in goals} != {goal.player: goal.exact for goal in path.goals}:
        message = f"the payoffs after {path.text} depend on the order of simultaneous moves"
        yield _defect("order", message, "let payoffs depend on who made which move, not on when")
