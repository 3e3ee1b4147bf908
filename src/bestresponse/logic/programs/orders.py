"""Check that the order in which simultaneous moves are made changes nothing.

Where several players may move at the same time, their moves are made in one order only; then in all
others if they are few, else in the reversed one. A game in which the order changes a payoff is
defective: it would not be the game of its own table. What is not compared is counted and told:
where nothing is told, no play is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import islice, permutations, product
from math import factorial, prod
from typing import NamedTuple

from bestresponse.core.errors import LimitReached
from bestresponse.logic.engine import LogicEngine, Program
from bestresponse.logic.language.diagnostics import Diagnostic, Severity, Stage
from bestresponse.logic.language.terms import (
    Atom,
    Struct,
    Term,
    Var,
    deref,
    list_of,
)
from bestresponse.logic.programs.plays import (
    PathReader,
    PlayPath,
    PlayStep,
    ProgramPlays,
    evaluate_term,
    label,
    list_terms,
)

_POSITIONS_FOR_ONE = 20
"""A walk may come to so many positions for each play, or position with simultaneous moves, that is
compared in other orders."""
_MORE_PLAYS = 5
"""So many times as many plays, in all orders, may a game have whose plays are all compared."""
_MANY = 10**9
"""So many orders, and more, of a large block are counted as if they were so many."""
_Moves = tuple[tuple[str, str], ...]


def make_defect(code: str, message: str, hint: str = "") -> Diagnostic:
    """Make an error of the whole program, which belongs to no line of it."""
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


class OrderCheck(NamedTuple):
    """What is wrong with the plays in other orders of simultaneous moves, and what was skipped.

    `skipped` has a sentence and a hint for everything that was not compared. `plays_compared` says
    that all plays that the rules allow were compared with the table, one by one.
    """

    defects: tuple[Diagnostic, ...]
    skipped: tuple[tuple[str, str], ...]
    plays_compared: bool = False


def try_orders(
    engine: LogicEngine,
    program: Program,
    plays: ProgramPlays,
    private: bool,
) -> OrderCheck:
    """Compare simultaneous moves in other orders with the table.

    In a game that is not large all plays that the rules allow, in whatever order, are compared. In
    a large one the plays of the table are made again with every block reversed, all or some of
    them; that its positions lack no move was seen on the way through it. Which of the two depends
    on the game alone. Where players see only what sees/3 shows them, somebody may move before
    others of an earlier block have: of these plays some are compared, those first in which the last
    who can move does. How many are compared grows with the limits.
    """
    paths = plays.paths
    reader = plays.reader
    others = [_count_orders(path.sizes) for path in paths]
    total = sum(others)
    most = engine.limits.positions // _POSITIONS_FOR_ONE
    earlier = _tell_earlier(most)
    skipped = [earlier] if private and total > 0 else []
    comparison = _PlayComparison(
        engine,
        program,
        paths=paths,
        reader=reader,
        private=private,
        most=most,
    )
    starts = _list_starts(paths)
    every_start = -(-len(starts) // most) or 1
    try:
        found = [] if private else list(_find_gaps(engine, program, starts[::every_start], reader))
        again = [gap for gap in found if gap.code == "again"]
        if again:
            return OrderCheck(tuple(again), ())
        if total + len(paths) <= most:
            defects = comparison.compare("first")
            if comparison.complete:
                return OrderCheck(defects, (), plays_compared=True)
            return OrderCheck(defects + comparison.compare("last"), (earlier,))
        if private:
            found = list(_find_gaps(engine, program, starts[::every_start], reader))
        if not private and total + len(paths) <= _MORE_PLAYS * most:
            found = found or list(comparison.compare("first"))
            return OrderCheck(tuple(found), (), plays_compared=not found)
        if skipped:
            found += comparison.compare("last")
        ordered = sum(other > 0 for other in others)
        every = -(-ordered // most) or 1
        tried = [path for path in paths[::every] if max(path.sizes) > 1]
        orders = []
        for number, path in enumerate(tried):
            orders.append(list_of(_reorder(path.blocks, number % 2)))
        goal = Struct("table_replay", (list_of(orders), Var("R")))
        answer = engine.solutions(program, goal, 1)[0]
        results = list_terms(answer["R"])
    except LimitReached:
        return OrderCheck((), (_tell_orders(0, total, "none within the limits"), *skipped))
    for path, result in zip(tried, map(deref, results), strict=True):
        if isinstance(result, Struct):
            found += _compare_play(path, reader.play(*result.args))
        else:
            found.append(_describe_impossible(path))
    which = "every play in one other order"
    if every > 1:
        which = f"one play in {every:,} in one other order"
    if every_start > 1:
        compared = len(starts[::every_start])
        message = f"{len(starts) - compared:,} of {len(starts):,} positions with simultaneous moves"
        skipped.insert(0, (f"not compared: {message}", "plays may be missing from the game"))
    if len(tried) < total:
        skipped.insert(0, _tell_orders(len(tried), total, which))
    elif any(max(path.sizes[:-1], default=1) > 1 for path in paths):
        skipped.insert(0, _LATER)
    return OrderCheck(tuple(found), tuple(skipped))


def _tell_earlier(most: int) -> tuple[str, str]:
    message = (
        "not compared: all plays in which somebody moves before others who could move earlier;"
        f" {most:,} plays were"
    )
    return message, "let everybody's move wait for those that come before it, by legal/2"


_LATER = (
    "not compared: which other moves may follow simultaneous moves in another order",
    "let legal/2 depend on who made which move, not on when",
)


def _tell_orders(tried: int, total: int, which: str) -> tuple[str, str]:
    left = total - tried
    message = f"not compared: {left:,} of {total:,} other orders of simultaneous moves"
    return message, f"tried: {which}; `bestresponse --logic-seconds 600 ...` compares more"


def _list_starts(paths: list[PlayPath]) -> list[list[Term]]:
    """List the moves that lead to each position in which several move at the same time."""
    starts: dict[_Moves, list[Term]] = {}
    for path in paths:
        number = 0
        for place, size in enumerate(path.sizes):
            if size > 1:
                moves = tuple([step[:2] for step in path.steps[:number]])
                if moves not in starts:
                    starts[moves] = [move for block in path.blocks[:place] for move in block]
            number += size
    return list(starts.values())


def _find_gaps(
    engine: LogicEngine,
    program: Program,
    starts: list[list[Term]],
    reader: PathReader,
) -> Iterator[Diagnostic]:
    """Find what differs where those who move at the same time move in another order."""
    some = list_of([list_of(before) for before in starts])
    goal = Struct("table_gaps", (some, Var("Gaps")))
    answer = engine.solutions(program, goal, 1)[0]
    for found in map(deref, list_terms(answer["Gaps"])):
        assert isinstance(found, Struct)
        gap, steps = found.args
        yield describe_gap(deref(gap), reader.play(steps, Atom("[]")))


def _reorder(blocks: tuple[list[Term], ...], turn: int) -> list[Term]:
    """Make the moves of each block in another order.

    The order is backwards, or (turn 1) the first of several comes last.

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
    """Finds plays that the rules allow and the table lacks.

    Also finds what depends on the order of simultaneous moves.

    Where players see only what sees/3 shows them, some may move before others of an earlier block
    have: such plays only have to end as the one in which everybody makes the same moves. How many
    there are is not known before. `complete` says that none was left out.
    """

    def __init__(
        self,
        engine: LogicEngine,
        program: Program,
        paths: list[PlayPath],
        reader: PathReader,
        private: bool,
        most: int,
    ) -> None:
        self._engine = engine
        self._program = program
        self._paths = paths
        self._reader = reader
        self._private = private
        self._most = most
        self._by_player = {_sort_by_player(path.steps): path for path in paths}
        self.complete = False

    def compare(self, order: str) -> tuple[Diagnostic, ...]:
        """Compare the plays in which the `first` or the `last` who can move does so, and so on."""
        orders = self._list_orders() if order == "first" else {}
        most = self._most if self._private else len(orders) + 1
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
            found += [
                _describe_impossible(path) for moves, path in orders.items() if moves not in seen
            ]
        return tuple(found)

    def _list_orders(self) -> dict[_Moves, PlayPath]:
        """List the plays of the table in every order of simultaneous moves."""
        orders: dict[_Moves, PlayPath] = {}
        for path in self._paths:
            made = iter(path.steps)
            blocks = [[next(made) for _ in range(size)] for size in path.sizes]
            for order in product(*map(permutations, blocks)):
                moves = tuple([step[:2] for block in order for step in block])
                orders[moves] = path
        return orders

    def _compare_one(self, play: PlayPath, same_order: PlayPath | None) -> Iterator[Diagnostic]:
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
        yield make_defect("plays", message, _SIMULTANEOUS)


_SIMULTANEOUS = (
    "who can move at the same time must move once, with the same options in whatever order they"
    " move, and the game must not end before all of them have"
)


def describe_gap(gap: Term, path: PlayPath) -> Diagnostic:
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
            hint = "who has moved must not: is abnormal(control(P), move(P, _), _). missing?"
            return make_defect("again", message, hint)
        case Struct(args=(mover,)):
            message = f"{label(mover)} gets to move after {path.text}, {others}"
        case _:
            message = f"nature draws after {path.text}, {others}"
    return make_defect("plays", message, _SIMULTANEOUS)


def _sort_by_player(steps: tuple[PlayStep, ...]) -> _Moves:
    moves = [step[:2] for step in steps]
    return tuple(sorted(moves, key=lambda made: made[0]))


def _count_common(first: tuple[PlayStep, ...], second: tuple[PlayStep, ...]) -> int:
    """Count the moves that two plays begin with alike."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one[:2] != other[:2]:
            break
        count += 1
    return count


def _describe_impossible(path: PlayPath) -> Diagnostic:
    message = f"the moves {path.text} are made at the same time, but not possible in another order"
    return make_defect(
        "order",
        message,
        "let simultaneous moves neither enable nor forbid each other",
    )


def _compare_play(path: PlayPath, play: PlayPath) -> Iterator[Diagnostic]:
    """Find what differs where simultaneous moves are made in another order."""
    if play.steps == path.steps and play.goals == path.goals:
        return
    if gather_payoffs(path) != gather_payoffs(play):
        message = f"the payoffs after {path.text} depend on the order of simultaneous moves"
        yield make_defect(
            "order",
            message,
            "let payoffs depend on who made which move, not on when",
        )
    if _gather_odds(path) != _gather_odds(play):
        message = (
            f"the probabilities of nature's moves in {path.text} depend on the order of"
            " simultaneous moves"
        )
        yield make_defect("order", message, f"they are others in {play.text}")
    sizes = play.sizes or path.sizes
    if _gather_percepts(path.steps, sizes) != _gather_percepts(play.steps, sizes):
        message = f"what is seen in {path.text} depends on the order of simultaneous moves"
        yield make_defect("order", message, f"sees/3 gives something else in {play.text}")


def gather_payoffs(path: PlayPath) -> dict[str, Fraction | None]:
    """Gather what each player earns at the end of a play; None where that is no number."""
    return {goal.player: goal.exact for goal in path.goals}


def _gather_odds(path: PlayPath) -> dict[tuple[str, str], Fraction | None]:
    odds = {}
    for step in path.steps:
        if step.probability is not None:
            odds[step.player, step.move] = evaluate_term(step.probability)
    return odds


def _gather_percepts(
    steps: tuple[PlayStep, ...], sizes: tuple[int, ...]
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
