"""Solutions of games: equilibria, regrets and dynamics, each with a certificate.

Names are imported when first used, so that `import bestresponse.theory` costs no more than numpy.
"""

from importlib import import_module
from typing import Any

_EXPORTS = {
    "Array": "normal_form",
    "NormalForm": "normal_form",
    "ZeroSumSolution": "zero_sum",
    "ZeroSumSolutions": "zero_sum",
    "ZeroSumStep": "zero_sum",
    "as_payoffs": "normal_form",
    "best_response_value": "zero_sum_measure",
    "exploitability": "zero_sum_measure",
    "optimal_opponent_range": "zero_sum_measure",
    "solve_zero_sum": "zero_sum",
    "solve_zero_sum_game": "zero_sum",
}

__all__ = sorted(_EXPORTS)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
