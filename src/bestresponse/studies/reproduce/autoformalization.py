"""The published experiments on games and strategies written by a model, found again from their records.

Part by part: the game programs (experiment 1), the tournament (experiment 2) and the strategies (experiment 3). Every
published cell stands beside ours.
"""

from __future__ import annotations

from pathlib import Path

from bestresponse.studies.reproduce.autoformalization_games import game_checks, game_table
from bestresponse.studies.reproduce.autoformalization_strategies import strategy_checks, strategy_table_of
from bestresponse.studies.reproduce.autoformalization_tournament import tournament_checks, tournament_table
from bestresponse.studies.reproduce.reproduction import Reproduction

CITATION = (
    "A. Mensfelt, K. Stathis & V. Trencsenyi, Autoformalizing and Simulating Game-Theoretic Scenarios using "
    "LLM-augmented Agents, 2024"
)


def reproduce(folder: Path) -> Reproduction:
    """Everything that can be found again from the records in `folder`."""
    checks = (*game_checks(folder), *tournament_checks(folder), *strategy_checks(folder))
    tables = (game_table(folder), tournament_table(folder), strategy_table_of(folder))
    return Reproduction("autoformalization", CITATION, checks, tables)
