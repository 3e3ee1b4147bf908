"""Ask for the mixed strategy of a zero-sum game and measure what the answer loses at worst; no tool is named here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.ask import Mixture
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

__all__ = ["NashGap", "draw_matrices", "measure_gap", "write_question"]

_ANSWER = (
    "Give your mixed strategy. End with one line: a JSON object with a probability for each of your actions, "
    "such as {example}."
)
_OBJECT = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class NashGap:
    """What a stated strategy guarantees less than the value of the game, in payoffs and as a share of their range."""

    answer: str
    gap: float
    share: float
    value: float


def draw_matrices(number: int, actions: int, seed: int) -> Iterator[list[list[int]]]:
    """Draw square zero-sum games with payoffs from -9 to 9, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-9, 10, (actions, actions)).tolist() for _ in range(number))


def write_question(matrix: Sequence[Sequence[int]]) -> str:
    """Write the rules of the game for the row player and the form of the answer."""
    form = NormalForm.zero_sum(np.array(matrix, dtype=np.float64))
    game = MatrixGame(form, ("mixture", "mixture"), others="rational")
    names = game.form.actions[0]
    example = "{" + ", ".join(f'"{name}": {1 / len(names):.2f}' for name in names) + "}"
    return f"{game.view((), 'row').briefing}\n\n{_ANSWER.replace('{example}', example)}"


def measure_gap(matrix: Sequence[Sequence[int]], text: str) -> NashGap:
    """Read the strategy that ends `text` and compare what it guarantees with the value of the game.

    Raise `InvalidMove` where no strategy can be read.

    >>> measure_gap([[4, 0], [0, 4]], 'I am sure: {"a0": 1, "a1": 0}').share
    0.5
    """
    payoffs = np.array(matrix, dtype=np.float64)
    found = _OBJECT.findall(text)
    answer = found[-1] if found else text
    mix = np.array(Mixture(NormalForm.zero_sum(payoffs).actions[0]).read(answer))
    best = float(solve_zero_sum_game(payoffs).value)
    gap = max(0.0, best - float((mix @ payoffs).min()))
    return NashGap(answer, gap, gap / (float(np.ptp(payoffs)) or 1.0), best)
