"""What the best reply to a machine earns, by going through every history. Shares no code with the
library: a machine is lists of numbers, a history a list of pairs of moves."""


def find_state(machine, history):
    """The state of the machine after the moves of a history, listed as (one's own, the machine's)."""
    state = 0
    for mine, theirs in history:
        state = machine["step"][state][theirs][mine]
    return state


def find_best_value(machine, payoffs, history, left, course):
    """What the best of all ways to go on earns, with `left` rounds to go."""
    if left == 0:
        return 0.0
    return max(
        find_value(machine, payoffs, history, left, course, move) for move in range(len(payoffs))
    )


def find_value(machine, payoffs, history, left, course, meant):
    """What it earns to mean a move now and to go on in the best way."""
    chances = machine["mix"][find_state(machine, history)]
    total = 0.0
    for mine in range(len(payoffs)):
        for theirs in range(len(chances)):
            own_chance = make(mine, meant, len(payoffs), course["noise"])
            other_chance = sum(
                chance * make(theirs, other, len(chances), course["noise"])
                for other, chance in enumerate(chances)
            )
            if own_chance * other_chance == 0.0:
                continue
            later = find_best_value(machine, payoffs, [*history, (mine, theirs)], left - 1, course)
            worth = payoffs[mine][theirs] + course["continuation"] * course["discount"] * later
            total += own_chance * other_chance * worth
    return total


def make(made, meant, moves, noise):
    """The probability that a move is made where one is meant."""
    if moves == 1:
        return 1.0
    return 1 - noise if made == meant else noise / (moves - 1)
