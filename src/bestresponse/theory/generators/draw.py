"""Random games with properties: one function per family, and `generate` for reproducible batches.

Every family is a function `family(seed, shape, ...) -> NormalForm`, where `seed` is an integer or a numpy generator and
`shape` says how many actions each player has. `generate("family-name", count, shape, seed, ...)` draws many at once;
game k of a batch depends only on (seed, k), never on how many games were asked for. What a family promises holds by
construction, or is checked before a game is handed out. The selection follows GAMUT (Nudelman, Wortman, Shoham &
Leyton-Brown, "Run the GAMUT", AAMAS 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.generators.family import FAMILIES
from bestresponse.theory.seeds import streams

__all__ = ["Batch", "families", "generate"]

for _module in ("by_equilibrium", "plain"):  # which register their families
    import_module(f"bestresponse.theory.generators.{_module}")


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Many games of one shape: `payoffs[k]` is the payoff tensor of game k, `batch[k]` the game itself."""

    payoffs: Array
    family: str
    seed: int

    def __len__(self) -> int:
        return int(self.payoffs.shape[0])

    def __getitem__(self, k: int) -> NormalForm:
        at = range(len(self))[k]
        return NormalForm(self.payoffs[at], name=f"{self.family} {self.seed}/{at}")

    def __iter__(self) -> Iterator[NormalForm]:
        return (self[k] for k in range(len(self)))

    @property
    def row(self) -> Array:
        """The first player's payoffs, shape (count, *shape): the matrices of a batch of zero-sum games."""
        view = self.payoffs[:, 0]
        view.setflags(write=False)
        return view


def families() -> tuple[str, ...]:
    """The names `generate` knows, in alphabetical order."""
    return tuple(sorted(FAMILIES))


def generate(family: str, count: int, shape: tuple[int, ...] | None = None, seed: int = 0, **properties: Any) -> Batch:
    """`count` games of `family`; game k depends only on (seed, k). `properties` are those of the family's function.

    >>> batch = generate("zero-sum", 1000, (3, 3), seed=7)
    >>> len(batch), batch.payoffs.shape
    (1000, (1000, 2, 3, 3))
    >>> bool((batch[3].payoffs == generate("zero-sum", 4, (3, 3), seed=7)[3].payoffs).all())
    True
    """
    if family not in FAMILIES:
        close = get_close_matches(family, FAMILIES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(families())}"
        raise UsageError(f"no family of games is called {family!r}; {hint}")
    if count < 1:
        raise UsageError(f"count: expected at least 1 game, got {count}")
    draw = FAMILIES[family]
    if shape is not None:
        properties["shape"] = tuple(shape)
    takes = tuple(signature(draw).parameters)[1:]
    for unknown in sorted(set(properties) - set(takes)):
        raise UsageError(f"family {family!r} takes {', '.join(takes)}; got {unknown}")
    payoffs = np.stack([draw(rng, **properties) for rng in streams(seed, count)])
    payoffs.setflags(write=False)
    return Batch(payoffs, family, seed)
