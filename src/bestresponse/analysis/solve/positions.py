"""A game solved by its positions: values, best moves, and how sure they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from bestresponse.analysis.solve import facts
from bestresponse.analysis.solve.solution import Value, Wish
from bestresponse.core.ask import Lottery
from bestresponse.core.capabilities import AnyPositions
from bestresponse.core.errors import SettingError, TooLarge
from bestresponse.core.json import JsonObject
from bestresponse.report.document import Block, Column, KeyValues, Note, Section, Table
from bestresponse.telling.render import write_history
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import (
    TIE,
    PositionSolution,
    list_best,
    solve_positions,
)

_METHODS = ("auto", "backward-induction")
_MOST_LISTED = 20_000
_EXACT = "backward induction over positions"
_BOUNDED = "backward induction over positions, cycles improved from both sides"


@dataclass(frozen=True, eq=False)
class SolvedPositions:
    """A game of perfect information and what its positions are worth."""

    game: AnyPositions
    solution: PositionSolution

    @property
    def method(self) -> str:
        """How the values were found."""
        return _BOUNDED if self.solution.sweeps else _EXACT

    @property
    def value(self) -> Value | None:
        """What the first of two players gets, where that is known and payoffs sum to a constant."""
        graph = self.solution.graph
        gap = self.gap
        if graph.total is None or len(graph.roles) != 2 or gap > TIE:
            return None
        return Value(float(self.solution.values[0, 0]), None, graph.roles[0], gap)

    @property
    def gap(self) -> float:
        """How far the bounds of the start are apart."""
        return float((self.solution.high[0] - self.solution.low[0]).max())

    @cached_property
    def start_moves(self) -> dict[str, float] | None:
        """What each first move is worth to whoever makes it; None where nobody knows.

        Where chance moves first, there is none.
        """
        try:
            return self.solution.list_worths(self.game, self.game.begin())
        except (TooLarge, ValueError):
            return None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the reader has to know before the values."""
        graph = self.solution.graph
        remarks = []
        if not graph.is_complete:
            remarks.append(
                f"there are more than {len(graph.owner):,} positions: those that the time allowed"
                " were looked into, so the value is only bounded; allow more seconds or use a"
                " smaller version of the game"
            )
        if len(self.solution.forks):
            remarks.append(
                f"at {len(self.solution.forks):,} positions the player to move has several best"
                " moves that are not the same for others: other subgame perfect equilibria may pay"
                " something else"
            )
        return tuple(remarks)

    def describe(self) -> JsonObject:
        """Give everything that is known as plain data."""
        solution = self.solution
        graph = solution.graph
        low = dict(zip(graph.roles, solution.low[0].tolist(), strict=True))
        high = dict(zip(graph.roles, solution.high[0].tolist(), strict=True))
        moves = self.start_moves
        best = [] if moves is None else list_best(moves)
        value = self.value
        known = {} if value is None else {"value": value.number, "value_of": value.player}
        return {
            "form": "positions",
            "players": list(graph.roles),
            "method": self.method,
            "positions": len(graph.known),
            "decisions": graph.num_decisions,
            "draws": graph.num_draws,
            "moves": len(graph.child),
            "complete": graph.is_complete,
            **known,
            "low": low,
            "high": high,
            "bound": solution.bound,
            "one_step_error": solution.certify() if graph.is_complete else None,
            "ambiguous_positions": len(solution.forks),
            "endless_play_pays": dict(zip(graph.roles, graph.endless_result, strict=True)),
            "first_moves": moves,
            "best_first_moves": best,
            "remarks": list(self.remarks),
        }

    def list_sections(self) -> list[Section]:
        """Show the size, the values and the first moves."""
        data = self.describe()
        names = ("positions", "decisions", "draws", "moves")
        size = Section("Size", (facts.show_values({name: data[name] for name in names}),))
        blocks: list[Block] = []
        if "value" in data:
            shown = facts.write_amount(data["value"])
            blocks.append(KeyValues(((f"Value to {data['value_of']}", shown),), prominent=True))
        bound = facts.regret_text(data["bound"])
        sure = f"Values are off by at most {bound}."
        if data["one_step_error"] is not None:
            error = facts.regret_text(data["one_step_error"])
            sure += f" Nobody gains more than {error} by deviating once, at any position."
        blocks.append(Note(f"Method: {data['method']}. {sure}"))
        for remark in data["remarks"]:
            blocks.append(Note(f"{remark[:1].upper()}{remark[1:]}.", "warning"))
        earned = {"at least": data["low"], "at most": data["high"]}
        if "value" not in data:
            blocks.append(facts.show_by_player(data["players"], earned))
        if data["first_moves"]:
            blocks.append(_show_moves(data["first_moves"]))
        return [size, Section("Values", tuple(blocks))]


def _show_moves(worths: Mapping[str, float]) -> Table:
    best = list_best(worths)
    rows = []
    for move, worth in worths.items():
        mark = "*" if move in best else ""
        rows.append((move, f"{facts.write_amount(worth)}{mark}"))
    columns = Column("move"), Column("worth", "right")
    return Table(columns, tuple(rows), "The first moves; * marks the best ones")


def solve_by_positions(game: AnyPositions, wish: Wish) -> SolvedPositions:
    """Solve a game of perfect information, as far as the time allows."""
    if wish.method not in _METHODS:
        raise SettingError(
            "method",
            f"{wish.method} solves tables or trees; this game is solved by its positions, with"
            f" {' or '.join(_METHODS)}",
        )
    for name in ("iterations", "objective"):
        if getattr(wish, name):
            raise SettingError(name, "it has no effect on a game that is solved by its positions")
    deadline = Deadline.after(wish.seconds)
    graph = explore(game, deadline=deadline)
    if wish.report is not None:
        wish.report(f"{len(graph.owner):,} positions")
    solution = solve_positions(graph, engine=wish.engine, deadline=deadline)
    return SolvedPositions(game, solution)


def describe_all_answers(solved: SolvedPositions) -> JsonObject:
    """List the best moves at every position: each choice among them is subgame perfect.

    In a game with draws or of more than two players, see `ambiguous_positions`.
    """
    if solved.solution.graph.num_decisions > _MOST_LISTED:
        raise TooLarge(
            f"{solved.game.name} has {solved.solution.graph.num_decisions:,} positions at which"
            f" somebody chooses; at most {_MOST_LISTED:,} are listed. Use a smaller version"
        )
    return {
        "method": solved.method,
        "decisions": solved.solution.graph.num_decisions,
        "ambiguous_positions": len(solved.solution.forks),
        "answers": list(_list_answers(solved)),
    }


def _list_answers(solved: SolvedPositions) -> Iterator[JsonObject]:
    """Yield what is best at each position, those that are reached first at the beginning."""
    game = solved.game
    waiting = deque([game.start()])
    seen = {game.find_key(game.begin())}
    while waiting:
        state = waiting.popleft()
        for role, ask in game.asks(state).items():
            if not isinstance(ask, Lottery):
                worths = solved.solution.list_worths(game, game.find_position(state))
                yield {
                    "player": role,
                    "position": " ".join(write_history(game.view(state, role)).split()),
                    "best": list_best(worths),
                    "worth": max(worths.values()),
                }
            moves = game.find_turn(game.find_position(state)).moves
            for move in moves:
                after = game.apply(state, {role: move})
                key = game.find_key(game.find_position(after))
                if key not in seen:
                    seen.add(key)
                    waiting.append(after)
