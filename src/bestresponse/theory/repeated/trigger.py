"""Trigger strategies: agreed moves until somebody leaves them, then those of an equilibrium.

What follows after somebody has left is an equilibrium of one round in every round, which nobody
gains by leaving. So such strategies are a subgame-perfect equilibrium exactly if nobody gains by
being the first to leave, in whichever round.

J. W. Friedman, "A non-cooperative equilibrium for supergames", Review of Economic Studies 38, 1971.
"""

from collections.abc import Sequence

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.repetition import Repetition


def find_trigger_gain(
    form: NormalForm,
    agreed: tuple[int, ...],
    punished: Sequence[float],
    repetition: Repetition,
) -> float:
    """Return the most that anybody gains by being the first to leave, as seen from the first round.

    `punished` is what everybody earns per round after that. Where there is a last round, whoever
    gains in one round gains in the last; it weighs little if it is hardly ever reached.

    >>> dilemma = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> [find_trigger_gain(dilemma, (0, 0), (1, 1), Repetition(2, continuation=w)) for w in (1, .5)]
    [2.0, 1.0]
    """
    weight = repetition.weight
    later = 0.0
    most = 0.0
    payoffs = np.array([table[agreed] for table in form.payoffs])
    best = []
    for seat, table in enumerate(form.payoffs):
        line: list[slice | int] = list(agreed)
        line[seat] = slice(None)
        own = table[tuple(line)]
        best.append(own.max())
    for number in reversed(range(repetition.rounds)):
        lost = payoffs - np.array(punished)
        gains = np.array(best) - payoffs - later * lost
        gain = float(gains.max()) * weight**number
        most = max(most, gain)
        later = weight * (1 + later)
    return most
