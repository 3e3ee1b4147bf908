"""A strategy written as rules, as an automaton: what `select/4` says after every pair of last moves.

The rules see only the last move of each player, so they are a strategy of memory one (see `theory.automaton`). In a
game whose seats differ a strategy is one automaton for each seat.
"""

from __future__ import annotations

from collections.abc import Sequence

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.programs.strategies import Mixture, StrategyTable
from bestresponse.theory.repeated.automaton import Automaton, memory_one
from bestresponse.theory.repeated.reduce import reduced

__all__ = ["build_automaton"]


def build_automaton(table: StrategyTable, name: str, own: Sequence[str] = (), other: Sequence[str] = ()) -> Automaton:
    """The table as an automaton; `own` and `other` are the moves in the order in which the game lists them for each
    seat (as the table lists them if not given)."""
    mine, theirs = tuple(own or table.moves), tuple(other or table.moves)
    after = [[_weights(table.reply(a, b), mine, name) for b in theirs] for a in mine]
    return reduced(memory_one(name, _weights(table.first, mine, name), after))


def _weights(mixture: Mixture, moves: tuple[str, ...], name: str) -> list[float]:
    foreign = [move for move, _ in mixture if move not in moves]
    if foreign:
        raise InvalidGame(f"the strategy {name} plays {foreign[0]}, which is none of {', '.join(moves)}")
    chances = dict(mixture)
    return [float(chances.get(move, 0)) for move in moves]
