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
from bestresponse.logic.programs.strategies import Mixture, StrategyMachine, StrategyTable
from bestresponse.theory.repeated.automaton import Automaton, memory_one, reduced


def build_automaton(
    behaviour: StrategyTable | StrategyMachine, name: str, own: Sequence[str] = (), other: Sequence[str] = ()
) -> Automaton:
    """Return what a strategy does as an automaton.

    `own` and `other` are the moves in the order in which the game lists them for each seat; without them the strategy's
    own order is used.
    """
    mine, theirs = tuple(own or behaviour.moves), tuple(other or behaviour.moves)
    if isinstance(behaviour, StrategyTable):
        after = [[_weights(behaviour.reply(a, b), mine, name) for b in theirs] for a in mine]
        return reduced(memory_one(name, _weights(behaviour.first, mine, name), after))
    places = {pair: place for place, pair in enumerate(product(behaviour.moves, behaviour.moves))}
    mix = [_weights(mixture, mine, name) for mixture, _ in behaviour.states]
    step = [[[following[places[a, b]] for b in theirs] for a in mine] for _, following in behaviour.states]
    return reduced(Automaton(name, np.array(mix), np.array(step)))


def _weights(mixture: Mixture, moves: tuple[str, ...], name: str) -> list[float]:
    foreign = [move for move, _ in mixture if move not in moves]
    if foreign:
        raise InvalidGame(f"the strategy {name} plays {foreign[0]}, which is none of {', '.join(moves)}")
    chances = dict(mixture)
    return [float(chances.get(move, 0)) for move in moves]
