"""Who takes over in a Moran process, by solving the chain of all populations. Shares no code with the
library."""

from itertools import product

import numpy as np


def find_takeover_chances(payoffs, counts, find_fitness):
    """The probability that each type takes over from `counts`; `find_fitness` turns the mean payoff
    of an individual against all others into its fitness."""
    types, size = len(counts), sum(counts)
    states = [state for state in product(range(size + 1), repeat=types) if sum(state) == size]
    number = {state: k for k, state in enumerate(states)}
    chain = np.zeros((len(states), len(states)))
    for state in states:
        earned = [
            sum(payoffs[i][j] * (state[j] - (i == j)) for j in range(types)) / (size - 1)
            for i in range(types)
        ]
        weights = [state[i] * find_fitness(earned[i]) if state[i] else 0.0 for i in range(types)]
        for born, dead in product(range(types), repeat=2):
            chance = weights[born] / sum(weights) * state[dead] / size
            if chance:
                after = list(state)
                after[born] += 1
                after[dead] -= 1
                chain[number[state], number[tuple(after)]] += chance
    ends = [number[tuple(size * (i == k) for i in range(types))] for k in range(types)]
    open_states = [k for k in range(len(states)) if k not in ends]
    inner = np.eye(len(open_states)) - chain[np.ix_(open_states, open_states)]
    absorbed = np.linalg.solve(inner, chain[np.ix_(open_states, ends)])
    return absorbed[open_states.index(number[tuple(counts)])].tolist()
