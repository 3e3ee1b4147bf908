"""A payoff table as a run keeps it: plain data, complete in itself, equal where its numbers and names are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from bestresponse.core.json import JsonMapping
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["KeptTable", "freeze"]


@dataclass(frozen=True, slots=True)
class KeptTable:
    """The name of a game, its players and actions, and the payoffs as nested tuples (player, first action, ...)."""

    name: str
    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: tuple[Any, ...]

    @classmethod
    def from_form(cls, name: str, form: NormalForm, **more: Any) -> Self:
        """Keep `form` under that name.

        >>> from bestresponse.games.lookup import find_game
        >>> KeptTable.from_form("chicken", find_game("chicken").game).payoffs[0]
        ((0.0, -1.0), (1.0, -10.0))
        """
        return cls(name, form.players, form.actions, freeze(form.payoffs.tolist()), **more)

    @property
    def form(self) -> NormalForm:
        """The table for solvers and players."""
        return NormalForm(np.asarray(self.payoffs, dtype=np.float64), self.players, self.actions, self.name)

    @classmethod
    def from_json(cls, data: JsonMapping) -> Self:
        """Read what `dataclasses.asdict` and JSON have made of a table."""
        return cls(**{field.name: freeze(data[field.name]) for field in fields(cls) if field.name in data})


def freeze(value: object) -> Any:
    """Turn nested lists into nested tuples.

    >>> freeze([[1, 2], [3]])
    ((1, 2), (3,))
    """
    return tuple(map(freeze, value)) if isinstance(value, list | tuple) else value
