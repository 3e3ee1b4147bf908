"""The rounds of a game in which everybody chooses a number at the same time, as a table for one seat."""

from __future__ import annotations

from collections.abc import Sequence

from bestresponse.core.capabilities import PlayedRounds
from bestresponse.core.game import AnyGame, Role

__all__ = ["list_chosen_numbers"]


def list_chosen_numbers(game: AnyGame, state: Sequence[Sequence[float]], role: Role, rounds: int) -> PlayedRounds:
    """List what everybody chose and what the seat got, round by round; `state` has an entry for each round."""
    seat = game.roles.index(role)
    others = [other for other in game.roles if other != role]
    earned = [0.0, *(game.payoffs(tuple(state[:k]))[role] for k in range(1, len(state) + 1))]
    rows = tuple(
        (
            number,
            chosen[seat],
            *(chosen[game.roles.index(other)] for other in others),
            earned[number] - earned[number - 1],
        )
        for number, chosen in enumerate(state, 1)
    )
    now = len(state) + 1 if len(state) < rounds else None
    return PlayedRounds(now, rounds, earned[-1], ("round", "you", *others, "your payoff"), rows)
