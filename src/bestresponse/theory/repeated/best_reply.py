"""The best reply to an automaton in a repeated game of two, by backward induction.

With `left` rounds to go, the automaton in state s and one's own intention a, what one can expect is
the sum over the moves a' and b' that noise makes of the intentions,

    Q[left, s, a] = sum P(a' | a) P(b' | s) (u(a', b') + w max_c Q[left - 1, step(s, b', a'), c]),

where w is the probability of another round times the discount. The best reply means the a with the
largest Q; any other intention costs the difference, valued in the round in which it is chosen.
"""

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.repeated.automaton import Automaton
from bestresponse.theory.repeated.repetition import Repetition


def find_slips(noise: float, actions: int) -> Array:
    """Return the probability of every move that is made (columns) for every move that is meant.

    >>> find_slips(0.2, 3).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    if actions == 1:
        return np.ones((1, 1))
    slips = np.full((actions, actions), noise / (actions - 1))
    np.fill_diagonal(slips, 1.0 - noise)
    return slips


def value_replies(automaton: Automaton, payoffs: Array, course: Repetition) -> Array:
    """Return Q for every number of rounds left, from 0: (rounds + 1, states, own actions).

    `payoffs` are one's own, with one's own actions as rows.

    >>> from bestresponse.theory.repeated.automaton import classic_strategy
    >>> dilemma = np.array([[3.0, 0.0], [5.0, 1.0]])
    >>> tit_for_tat = classic_strategy("tit-for-tat")
    >>> value_replies(tit_for_tat, dilemma, Repetition(4))[4, 0].tolist()
    [14.0, 13.0]
    """
    own_actions, other_actions = payoffs.shape
    if automaton.step.shape[1:] != (other_actions, own_actions):
        raise InvalidGame(
            f"automaton {automaton.name!r} is for {automaton.step.shape[1:]} actions; the game has"
            f" {(other_actions, own_actions)}"
        )
    own_slips = find_slips(course.noise, own_actions)
    theirs = automaton.mix @ find_slips(course.noise, other_actions)
    values = np.zeros((course.rounds + 1, automaton.states, own_actions))
    for left in range(1, course.rounds + 1):
        best_later = values[left - 1].max(axis=1)
        # By state, the move that the other makes, and the move that one makes oneself.
        worth = payoffs.T[None] + course.weight * best_later[automaton.step]
        of_made = (theirs[:, :, None] * worth).sum(axis=1)
        values[left] = of_made @ own_slips.T
    return values
