"""Take a game out of a program: every way it can end, and what each player moved and earned, as
plain exact values.

One query walks through a game (`table_rows/2` in `solver_language`). `plays` reads its answer, and
`orders` compares plays in which simultaneous moves are made in another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from bestresponse.core.errors import InvalidGame, LogicError
from bestresponse.core.game import NATURE
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.diagnostics import Diagnostic, Severity
from bestresponse.logic.language.terms import (
    Atom,
    Struct,
    Var,
    brief,
    write,
)
from bestresponse.logic.programs.game_table import (
    SEES,
    GameTable as GameTable,
    Row as Row,
    tree,
)
from bestresponse.logic.programs.orders import (
    OrderCheck,
    describe_gap,
    gather_payoffs,
    make_defect,
    try_orders,
)
from bestresponse.logic.programs.plays import (
    PlayPath,
    ProgramPlays,
    evaluate_term,
    label,
    list_distinct,
    list_terms,
    read_program_plays,
)
from bestresponse.logic.programs.positions import Explored, PositionTable, explore_positions

CAPITALS = (
    "a name that starts with a capital letter is a variable unless it is in quotes: 'Cooperate'"
)
_MOST_DEFECTS = 10


@dataclass(frozen=True, slots=True)
class Extraction:
    """What could be taken out of a program: its table, or why there is none."""

    table: GameTable | None
    defects: tuple[Diagnostic, ...]
    positions: PositionTable | None = None
    """The game of a program whose plays are too many for a table."""

    def require(self) -> GameTable:
        """The table, or `InvalidGame` with the defects."""
        if self.table is None:
            reasons = "; ".join(map(str, self.defects[:3]))
            raise InvalidGame(f"The program is not a game: {reasons}")
        return self.table


def extract(engine: LogicEngine, program: Program) -> Extraction:
    """The table of a loaded program and everything that is wrong with it as a game.

    Errors and limits while it runs are raised as `LogicError`.
    """
    explored = explore_positions(engine, program)
    if explored is not None:
        return _read_positions(explored)
    goal = Struct("table_rows", (Var("Starts"), Var("Rows")))
    answer = engine.solutions(program, goal, 1)[0]
    starts = list_terms(answer["Starts"])
    if len(starts) != 1:
        number = "several" if starts else "none"
        message = f"a game has one initial situation, this one has {number}"
        return Extraction(None, (make_defect("initial", message),))

    plays = read_program_plays(starts[0], answer["Rows"])
    private = "sees/3" in program.gated.defined
    defects = [*_find_path_defects(plays, private), *_find_people_defects(plays)]
    if defects:
        return _refuse(defects)
    ends, defects = _read_ends(plays, private)
    if defects:
        return _refuse(defects)
    orders = try_orders(engine, program, plays, private)
    if not orders.plays_compared:
        for path in plays.paths_with_gap:
            if path.gap is not None:
                defects.append(describe_gap(path.gap, path))
    defects += orders.defects
    if defects:
        return _refuse(defects)

    table = GameTable(
        players=plays.players,
        moves=_gather_moves(ends, plays.players),
        rows=ends,
        every_order=not orders.skipped,
        private=private,
    )
    try:
        tree(table)
    except InvalidGame as error:
        code = "odds" if "probabilit" in str(error) else "tree"
        return Extraction(None, (make_defect(code, str(error).rstrip(".")),))
    warnings = (*_find_doubts(table, orders), *_find_meeting(engine, program, table))
    return Extraction(table, warnings)


def _read_positions(explored: Explored) -> Extraction:
    """Return the game of the positions, or what is wrong with it."""
    plays = explored.plays
    defects = [*_find_path_defects(plays, False), *_find_people_defects(plays)]
    defects += [make_defect("odds", message) for message in explored.find_odds()]
    ends: tuple[Row, ...] = ()
    if not defects:
        ends, defects = _read_ends(plays, False)
    if defects:
        return _refuse(defects)
    return Extraction(None, (), explored.make_table([row.payoffs for row in ends]))


def _refuse(defects: Iterable[Diagnostic]) -> Extraction:
    first = list_distinct(defects)[:_MOST_DEFECTS]
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
    """The cells as the published tournaments saw them.

    There are two players with the moves `possible/2` in `s0`. A cell is the first payoff that
    `finally/2` gives after both have moved, or `None` if there is none. Neither `legal/2` nor
    `game/2` is asked.
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
            payoffs.append(evaluate_term(answers[0]["U"]) if answers else None)
        cells.append((label(first), label(second), payoffs[0], payoffs[1]))
    return tuple(cells)


def _find_path_defects(plays: ProgramPlays, private: bool) -> Iterator[Diagnostic]:
    """Find plays that do not end, and moves that are not known or cannot be told apart."""
    if not plays.paths:
        yield make_defect(
            "terminals",
            "no play of the game reaches a final situation",
            "check final/1 and legal/2",
        )
    if (step := plays.reader.unknown) is not None:
        text = f"{step.player}: {step.move}"
        hint = f"legal/2 must bind player and move, chance/3 and sees/3 all they give; {CAPITALS}"
        yield make_defect("move", f"a legal move is not fully known: {text}", hint)
        return
    if plays.reader.clash is not None:
        first, second = map(write, plays.reader.clash)
        yield make_defect(
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
                yield make_defect("chance", message, "chance/3 must give each move once")
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
                    yield make_defect("early", message, hint)
            case _:
                message = f"after {path.text} nobody can move, but the situation is not final"
                yield make_defect("stuck", message, "check final/1 and legal/2")


def _find_people_defects(plays: ProgramPlays) -> Iterator[Diagnostic]:
    """Find those who move, earn or perceive something without being players."""
    players = plays.players
    steps = plays.steps
    if plays.unnamed:
        yield make_defect("player", "the name of a player is not known", CAPITALS)
        return
    if NATURE in players:
        hint = (
            "remove initially(player(nature), ...) and write chance(move(nature, Move),"
            " Probability, Situation)"
        )
        yield make_defect("nature", "nature is not a player; its moves are drawn at random", hint)
        return
    if not players or SEES in players:
        message = "a player has the empty name ''" if players else "the game has no players"
        yield make_defect(
            "players",
            message,
            "declare each player by its name: initially(player(p1), s0).",
        )
        return
    drawn = any(step.probability is not None for step in steps)
    for mover in list_distinct(step.player for step in steps):
        if mover not in players and (mover != NATURE or not drawn):
            hint = (
                "declare initially(player(...), ...), or let nature draw: chance(Move, Probability,"
                " Situation)"
            )
            yield make_defect("mover", f"{mover} moves, but is not a player", hint)
    hint = (
        f"the players are {', '.join(players)}; another one is declared as initially(player(...),"
        " ...)"
    )
    for earner in list_distinct(goal.player for path in plays.paths for goal in path.goals):
        if earner not in players:
            yield make_defect("earner", f"{earner} has a payoff, but is not a player", hint)
    for seer in list_distinct(seer for step in steps for seer, _ in step.percepts):
        if seer not in players:
            yield make_defect("seer", f"{seer} sees something, but is not a player", hint)


def _find_doubts(table: GameTable, orders: OrderCheck) -> Iterator[Diagnostic]:
    """Warn of what may not be meant."""
    for player, moves in zip(table.players, table.moves, strict=True):
        if not moves:
            yield _doubt("idle", f"{player} never moves", "is that meant?")
    for player, other in _find_blind(table):
        message = f"{player} moves after {other} and sees nothing of it, as if both moved at once"
        hint = f"if {player} sees it: sees({player}, M, do(move({other}, M), _))."
        yield _doubt("blind", message, hint)
    for message, hint in orders.skipped:
        yield _doubt("orders", message, hint)


def _find_blind(table: GameTable) -> Iterator[tuple[str, str]]:
    """Find who moves after another player and never perceives anything, where others may."""
    if not table.private:
        return
    seers = {seer for row in table.rows for seen in row.percepts for seer, _ in seen}
    blind: dict[str, str] = {}
    for row in table.rows:
        start = row.blocks[0]
        earlier = [mover for mover, _ in row.moves[:start] if mover != NATURE]
        for mover, _ in row.moves[start:] if earlier else ():
            if mover not in seers and mover not in (NATURE, earlier[0]):
                blind.setdefault(mover, earlier[0])
    yield from blind.items()


def _doubt(code: str, message: str, hint: str) -> Diagnostic:
    return replace(make_defect(code, message, hint), severity=Severity.WARNING)


def _find_meeting(engine: LogicEngine, program: Program, table: GameTable) -> Iterator[Diagnostic]:
    """Warn if nature and a player can both begin.

    The draw is made first, which need not be meant.
    """
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


def _read_ends(plays: ProgramPlays, private: bool) -> tuple[tuple[Row, ...], list[Diagnostic]]:
    """The rows of the table, and what is wrong with the payoffs and probabilities in them."""
    rows: list[Row] = []
    defects: list[Diagnostic] = []
    chancy = any(step.probability is not None for step in plays.steps)
    for path in plays.paths:
        if path.broken is not None:
            continue
        earned = gather_payoffs(path)
        payoffs = tuple([earned.get(player) for player in plays.players])
        if len(earned) != len(path.goals) or None in payoffs:
            for player in plays.players:
                defects += _find_goal_defect(path, player)
        chances: tuple[Fraction | None, ...] = ()
        if chancy:
            odds = [step.probability for step in path.steps]
            chances = tuple([None if chance is None else evaluate_term(chance) for chance in odds])
            defects += _find_chance_defects(path, chances)
        percepts = tuple([step.percepts for step in path.steps]) if private else ()
        moves = tuple([step[:2] for step in path.steps])
        rows.append(Row(moves, payoffs, path.sizes, chances, percepts))  # type: ignore[arg-type]
    return tuple(rows), defects


def _find_chance_defects(
    path: PlayPath, chances: tuple[Fraction | None, ...]
) -> Iterator[Diagnostic]:
    for position, (step, chance) in enumerate(zip(path.steps, chances, strict=True)):
        if step.probability is not None and (chance is None or chance < 0):
            before = path._replace(steps=path.steps[:position])
            when = f"after {before.text}" if position else "at the start"
            shown = brief(step.probability) if chance is None else chance
            message = f"the probability of {step.move} {when} is {shown}"
            yield make_defect(
                "chance",
                message,
                "a probability is a number from 0 to 1, such as 1/3",
            )


def _find_goal_defect(path: PlayPath, player: str) -> Iterator[Diagnostic]:
    goals = [goal for goal in path.goals if goal.player == player]
    written = [goal.value if goal.exact is None else goal.exact for goal in goals]
    values = list_distinct(map(label, written))
    odd = [brief(goal.value) for goal in goals if goal.exact is None]
    if not values:
        hint = "finally(goal(Player, Payoff), Situation) must hold in every final situation"
        yield make_defect("goal", f"{player} has no payoff after {path.text}", hint)
    elif odd:
        yield make_defect(
            "goal", f"the payoff of {player} after {path.text} is {odd[0]}, which is not a number"
        )
    elif len(values) > 1:
        message = f"{player} has several payoffs after {path.text}: {', '.join(values[:5])}"
        yield make_defect("goal", message, "finally(goal(...)) must give each player one payoff")
