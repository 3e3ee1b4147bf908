"""The benchmark from Python, for any model you can call yourself.

    class MyModel(LLMInterface):
        def query(self, game):
            return 0                       # an action, its label, or a distribution over the rows

    results, summary = Benchmark(MyModel()).evaluate_games(generate_games(100, seed=42))

The model plays the row of each zero-sum game against an opponent fixed to its equilibrium strategy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonObject
from bestresponse.games.matrix.game import MatrixGame, as_strategy
from bestresponse.games.matrix.presentation import theme
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games.drawn import draw
from bestresponse.studies.bench.measure import measure_strategies
from bestresponse.studies.bench.rows import NO_FIGURES
from bestresponse.studies.bench.summary import seed_summary
from bestresponse.theory.games.normal_form import Array, NormalForm, as_payoffs
from bestresponse.theory.zero_sum.solve import solve_zero_sum

__all__ = ["Benchmark", "GamePromptFormatter", "LLMInterface", "generate_games", "matrix_game"]


class LLMInterface(ABC):
    """Whatever answers a game. Raise InvalidMove for an answer you could not read: it is counted, not guessed."""

    @abstractmethod
    def query(self, game: MatrixGame) -> int | str | Sequence[float] | Array:
        """The row to play: an index, a label, or a probability for each row."""


class GamePromptFormatter:
    """Games as text for prompts."""

    @staticmethod
    def format_game_as_text(game: MatrixGame) -> str:
        """The rules and payoffs as the row player is told them."""
        return game.view((), game.roles[0]).briefing


def matrix_game(payoffs: Any) -> MatrixGame:
    """The zero-sum game in which the row player gets `payoffs`, with neutral labels."""
    return MatrixGame(theme("neutral").dress(NormalForm.zero_sum(payoffs)), others="rational")


def generate_games(num_games: int = 100, num_rows: int = 3, num_cols: int = 3, seed: int = 0) -> list[MatrixGame]:
    """Random zero-sum games, the same for the same seed."""
    config = BenchConfig(num_games=num_games, num_rows=num_rows, num_cols=num_cols, seed=seed)
    return [matrix_game(payoffs[0]) for payoffs in draw(config).payoffs]


class Benchmark:
    """Evaluates one model on any zero-sum matrix games."""

    def __init__(self, llm: LLMInterface) -> None:
        self.llm = llm

    def evaluate_games(self, games: Iterable[MatrixGame | Array]) -> tuple[list[JsonObject], JsonObject]:
        """(results, summary): one dictionary per game, and the statistics over them."""
        results = [self._evaluate(number, _as_game(game)) for number, game in enumerate(games)]
        if not results:
            raise ValueError("there are no games to evaluate")
        return results, seed_summary(results)

    def _evaluate(self, number: int, game: MatrixGame) -> JsonObject:
        if not game.zero_sum:
            raise ValueError(
                f"game {number} is not zero-sum; `bestresponse bench --family ...` takes general-sum games"
            )
        own, other = game.form.payoffs
        solution = solve_zero_sum(own)
        nash_row, nash_col = solution.row[0], solution.col[0]
        result: JsonObject = {
            "game_id": number,
            "payoff_matrix": own.tolist(),
            "nash_row": nash_row.tolist(),
            "nash_col": nash_col.tolist(),
            "nash_value": float(solution.values[0]),
        }
        try:
            x = _strategy(self.llm.query(game), game)
        except InvalidMove as error:
            return result | {"llm_strategy": None, **NO_FIGURES} | {"status": error.kind.value, "how": str(error)}
        (figures,) = measure_strategies(own[None], other[None], x[None], nash_col[None])
        return result | {"llm_strategy": x.tolist(), "status": "valid", **figures}


def _as_game(game: Any) -> MatrixGame:
    return game if isinstance(game, MatrixGame) else matrix_game(as_payoffs(game))


def _strategy(answer: object, game: MatrixGame) -> Array:
    """An index, a label or a distribution as a mixed strategy; InvalidMove where it is none."""
    rows = game.form.actions[0]
    if isinstance(answer, str):
        if answer not in rows:
            raise InvalidMove(f"{answer!r} is not one of {', '.join(rows)}")
        return as_strategy(answer, rows)
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        if not 0 <= answer < len(rows):
            raise InvalidMove(f"{answer} is not a row from 0 to {len(rows) - 1}")
        return as_strategy(rows[int(answer)], rows)
    try:
        mix = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidMove(f"expected a row or {len(rows)} probabilities, got {answer!r}", Flaw.UNPARSEABLE) from None
    if mix.shape != (len(rows),) or not np.isfinite(mix).all() or (mix < 0).any() or abs(mix.sum() - 1) > 1e-6:
        raise InvalidMove(f"expected {len(rows)} probabilities that sum to 1, got {answer!r}")
    return as_strategy(mix, rows)
