"""One answer at one information set as a row: what was asked, how it was read, and what it costs."""

from __future__ import annotations

from typing import TypedDict

__all__ = ["SequentialRow"]


class SequentialRow(TypedDict):
    """`strategy` gives the probabilities of `moves`, both in the order of the game; None where there is no figure.

    The last four are those of the information set in the policy that the answer is part of, and so the same for all of
    its samples: `loss` against equilibrium opponents, `regret` against the model itself (see `arena`), the policy there
    and the equilibrium's.
    """

    spec: str
    model: str
    way: str
    policy: int
    sample: int
    player: str
    infoset: str
    moves: list[str]
    temperature: float
    status: str
    how: str
    strategy: list[float] | None
    loss: float | None
    regret: float | None
    mixture: list[float] | None
    equilibrium: list[float] | None
