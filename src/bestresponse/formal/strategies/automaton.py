"""A strategy written as rules, as an automaton: what `select/4` says in every state that play can lead to.

Rules that see only the last move of each player are a strategy of memory one (see `theory.repeated.automaton`). Rules
with a memory of their own, a counter for example, have one state for each state of memory and pair of last moves. In a
game whose seats differ a strategy is one automaton for each seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.language.terms import Term, write
from bestresponse.logic.programs.strategies import Mixture, StrategyReader, StrategyTable
from bestresponse.theory.repeated.automaton import Automaton, memory_one
from bestresponse.theory.repeated.reduce import reduced

__all__ = ["build_automaton", "explore_memory"]

MOST_STATES = 400


def build_automaton(table: StrategyTable, name: str, own: Sequence[str] = (), other: Sequence[str] = ()) -> Automaton:
    """The table as an automaton; `own` and `other` are the moves in the order in which the game lists them for each
    seat (as the table lists them if not given)."""
    mine, theirs = tuple(own or table.moves), tuple(other or table.moves)
    after = [[_weights(table.reply(a, b), mine, name) for b in theirs] for a in mine]
    return reduced(memory_one(name, _weights(table.first, mine, name), after))


def explore_memory(reader: StrategyReader, name: str, own: Sequence[str], other: Sequence[str]) -> Automaton:
    """Return the automaton of a strategy with a memory of its own; InvalidGame where it has too many states."""
    start = reader.start()
    order: list[tuple[Term, tuple[str, str] | None]] = [(start, None)]
    places: dict[tuple[str, tuple[str, str] | None], int] = {(write(start), None): 0}
    mix: list[list[float]] = []
    step: list[list[list[int]]] = []
    for memory, last in order:
        mix.append(_weights(reader.mix(last, memory), tuple(own), name))
        following = []
        for pair in product(own, other):
            after = reader.remember(memory, pair)
            key = (write(after), pair)
            if key not in places:
                places[key] = len(order)
                order.append((after, pair))
            following.append(places[key])
        if len(order) > MOST_STATES:
            raise InvalidGame(f"the strategy {name} has more than {MOST_STATES} states; let its counters end somewhere")
        step.append([following[k : k + len(other)] for k in range(0, len(following), len(other))])
    return reduced(Automaton(name, np.array(mix), np.array(step)))


def _weights(mixture: Mixture, moves: tuple[str, ...], name: str) -> list[float]:
    foreign = [move for move, _ in mixture if move not in moves]
    if foreign:
        raise InvalidGame(f"the strategy {name} plays {foreign[0]}, which is none of {', '.join(moves)}")
    chances = dict(mixture)
    return [float(chances.get(move, 0)) for move in moves]
