"""The same game told otherwise: what should not change a rational player's answer.

    permuted     rows and columns in another order          swapped     the players change seats
    shifted      a constant added to all payoffs            scaled      all payoffs times three
    relabelled   other names for the actions                disguised   a story around it
    format       another way to write it down               padded      one dominated action more for each player

Each variant carries the way back, so that answers can be compared action by action.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from bestresponse.core.seeds import generator
from bestresponse.games.matrix.presentation import FORMATS, themes
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.theory.games.normal_form import Array

__all__ = ["PADDED", "VARIANTS", "Variant", "variant"]

VARIANTS = ("permuted", "swapped", "shifted", "scaled", "relabelled", "disguised", "format")
PADDED = "padded"
"""The variant of the generalisation suite."""
_SCALED_BY = 3.0
_PADDED_BY = 0.1


@dataclass(frozen=True, slots=True)
class Variant:
    """A game as it is told: `back[i]` is the original index of the seat's own action i.

    `opponent_back` is the same for the opponent's actions; None where they are as drawn.
    """

    name: str
    payoffs: Array
    seat: int
    back: tuple[int, ...]
    shown_as: str
    theme: str
    opponent_back: tuple[int, ...] | None = None


def variant(name: str, original: Variant, config: BenchConfig, game: int) -> Variant:
    """`original` told in the way `name` says; game number and seed fix every draw."""
    rng = generator(config.seed, "variant", name, game)
    payoffs, seat, back = original.payoffs, original.seat, original.back
    shown_as, theme = original.shown_as, original.theme
    opponent_back = None
    match name:
        case "permuted":
            rows, cols = _shuffled(payoffs.shape[1], rng), _shuffled(payoffs.shape[2], rng)
            payoffs = payoffs[:, rows][:, :, cols]
            back, opponent_back = (tuple(rows), tuple(cols)) if seat == 0 else (tuple(cols), tuple(rows))
        case "swapped":
            payoffs, seat = payoffs[::-1].transpose(0, 2, 1), 1 - seat
        case "shifted":
            payoffs = payoffs + _shift(payoffs, config.scale)
        case "scaled":
            payoffs = payoffs * _SCALED_BY
        case "relabelled":
            theme = "numbers" if theme != "numbers" else "neutral"
        case "disguised":
            theme = rng.choice(_fitting_stories(payoffs.shape[1:], theme))
        case "format":
            shown_as = rng.choice([other for other in FORMATS if other != shown_as])
        case "padded":
            payoffs, rows, cols = _pad(payoffs, config, rng)
            back, opponent_back = (tuple(rows), tuple(cols)) if seat == 0 else (tuple(cols), tuple(rows))
        case other:
            raise ValueError(f"{other!r} is no variant")
    return Variant(name, payoffs, seat, back, shown_as, theme, opponent_back)


def _pad(payoffs: Array, config: BenchConfig, rng: Random) -> tuple[Array, list[int], list[int]]:
    """Add, at a random place, one action for each player that is strictly dominated by one of its own.

    Returns the payoffs and, for rows and columns, their original indices; those of the new ones come after the last.
    """
    step = max(round(_PADDED_BY * config.scale, config.decimals), 10.0**-config.decimals)
    zero_sum = bool((payoffs[0] == -payoffs[1]).all())
    orders: list[list[int]] = []
    for player, axis in ((0, 1), (1, 2)):
        count = payoffs.shape[axis]
        copied = np.take(payoffs, rng.randrange(count), axis=axis).copy()
        copied[player] -= step
        if zero_sum:
            copied[1 - player] += step
        place = rng.randrange(count + 1)
        payoffs = np.insert(payoffs, place, copied, axis=axis)
        orders.append([*range(place), count, *range(place, count)])
    return payoffs, orders[0], orders[1]


def _shuffled(count: int, rng: Random) -> list[int]:
    """Another order than the given one, where there is one."""
    order = list(range(count))
    while count > 1 and order == sorted(order):
        rng.shuffle(order)
    return order


def _shift(payoffs: Array, scale: float) -> Array:
    """The same constant for both, or with opposite signs where the game is zero-sum and has to stay so."""
    zero_sum = bool((payoffs[0] == -payoffs[1]).all())
    return np.array([scale, -scale if zero_sum else scale]).reshape(2, 1, 1)


def _fitting_stories(shape: tuple[int, ...], current: str) -> list[str]:
    fit = [
        name
        for name, theme in themes().items()
        if theme.story and name != current and all(m <= len(a) for m, a in zip(shape, theme.actions, strict=True))
    ]
    return fit or [current]
