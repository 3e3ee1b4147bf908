"""What a family of games is: a way to draw payoff tensors, lifted to a function that returns games."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec

import numpy as np

from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.seeds import Seed, generator

__all__ = ["FAMILIES", "LARGEST", "check_shape", "check_square", "family"]

LARGEST = 50_000_000
"""How many payoffs one game may have."""

FAMILIES: dict[str, Callable[..., Array]] = {}
"""Kebab-case name of each family and how its payoffs are drawn from a generator."""

P = ParamSpec("P")


def family(
    draw: Callable[Concatenate[np.random.Generator, P], Array],
) -> Callable[Concatenate[Seed, P], NormalForm]:
    """Register `draw` under its name and turn it into a function from a seed to a game."""
    name = draw.__name__.replace("_", "-")
    FAMILIES[name] = draw

    @wraps(draw)
    def game(seed: Seed, /, *args: P.args, **kwargs: P.kwargs) -> NormalForm:
        return NormalForm(draw(generator(seed), *args, **kwargs), name=name)

    return game


def check_shape(shape: tuple[int, ...], players: int | None = None) -> None:
    """Refuse a shape that is no shape, is of the wrong number of players, or has too many payoffs."""
    _check(tuple(shape), players, None)


def check_square(shape: tuple[int, ...], players: int | None = None, at_least: int = 1) -> None:
    """Refuse a shape in which players differ in their number of actions or have fewer than `at_least`."""
    _check(tuple(shape), players, at_least)


@lru_cache
def _check(shape: tuple[int, ...], players: int | None, square_from: int | None) -> None:
    if not shape or not all(isinstance(m, int | np.integer) and m >= 1 for m in shape):
        raise UsageError(f"shape: expected the number of actions of each player, such as (3, 3), got {shape!r}")
    if players is not None and len(shape) != players:
        raise UsageError(f"shape: this family has {players} players, got {len(shape)} in {shape!r}")
    size = len(shape) * float(np.prod(shape, dtype=float))
    if size > LARGEST:
        raise TooLarge(f"shape {shape!r} has {size:.3g} payoffs; at most {LARGEST:.3g} fit")
    if square_from is not None and (len(set(shape)) != 1 or shape[0] < square_from):
        raise UsageError(
            f"shape: this family needs the same number of actions (at least {square_from}) for every player, "
            f"got {shape!r}"
        )
