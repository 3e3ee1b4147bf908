"""Numbers, strategies and cells in the words of the game."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["cell_text", "mix_text", "number_text", "payoff_unit", "regret_text"]

_LARGEST_DENOMINATOR = 9999
_SHOWN = 5e-7
_NAMED = 12
_NUMERIC = frozenset("0123456789.+-")


def number_text(number: float, exact: Fraction | None = None, *, unit: float = 1.0) -> str:
    """A number for people: as a fraction where it is known and short, else with up to six digits.

    What is below 1e-12 of `unit`, such as the range of the payoffs it is made of, is the rounding of 0.

    >>> number_text(0.5), number_text(1 / 3, Fraction(1, 3)), number_text(-1e-17), number_text(2e-9, unit=1e-9)
    ('0.5', '1/3', '0', '2e-09')
    """
    if exact is not None:
        return str(exact) if exact.denominator <= _LARGEST_DENOMINATOR else f"{float(exact):.6g}"
    return "0" if abs(number) <= 1e-12 * unit else f"{number:.6g}"


def mix_text(mix: Array, names: Sequence[str], exact: Sequence[Fraction] | None = None) -> str:
    """A strategy: the action alone where it is pure, else the probability of each action used.

    >>> import numpy as np
    >>> mix_text(np.array([0.0, 1.0]), ("up", "down")), mix_text(np.array([0.25, 0.75]), ("up", "down"))
    ('down', '0.25 up + 0.75 down')
    >>> mix_text(np.array([0.25, 0.75]), ("10", "20"))
    '0.25 × 10 + 0.75 × 20'
    """
    used = [a for a, p in enumerate(mix.tolist()) if (exact[a] > 0 if exact else p > _SHOWN)]
    if len(used) == 1:
        return names[used[0]]
    times = " × " if any(names[a][:1] in _NUMERIC for a in used) else " "
    texts = [f"{number_text(float(mix[a]), exact[a] if exact else None)}{times}{names[a]}" for a in used[:_NAMED]]
    return " + ".join(texts) + (f" + {len(used) - _NAMED} more actions" if len(used) > _NAMED else "")


def payoff_unit(game: NormalForm) -> float:
    """The largest payoff in size: what sums of payoffs are rounded by."""
    return float(np.abs(game.payoffs).max())


def cell_text(game: NormalForm, cell: Sequence[int]) -> str:
    """The actions of a cell, in the order of the players.

    >>> cell_text(NormalForm.zero_sum([[1, 2]], actions=(("a",), ("b", "c"))), (0, 1))
    '(a, c)'
    """
    return f"({', '.join(names[a] for names, a in zip(game.actions, cell, strict=True))})"


def regret_text(regret: float) -> str:
    """A certificate in few digits.

    >>> regret_text(0.0), regret_text(1.23e-15)
    ('0', '1.2e-15')
    """
    return f"{regret:.1e}" if regret > 0 else "0"
