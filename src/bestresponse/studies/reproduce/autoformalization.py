"""The published experiments on games and strategies written by a model, found again from their
records.

A. Mensfelt, K. Stathis and V. Trencsenyi 2024. A folder holds the records of one experiment or of
several:

programs.jsonl (or exp1_agents.jsonl)   programs of games, by anybody: `program`, and where they are
    known `game` (the name whose constraints hold, or the code of the study), `matrix` (the true
    cells: row, col, u_row, u_col) or `game_id` with its matrix in games.jsonl, `target_total`, and
    what was recorded (`logged`, `verdict`)
exp2_agents.jsonl, exp2_programs.jsonl  a round robin of six strategies in five games
exp3_agents.jsonl, exp3_program.jsonl   five strategies, each written five times
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.report.document import Table
from bestresponse.studies.reproduce.recorded_programs import Part, check_programs
from bestresponse.studies.reproduce.recorded_strategies import check_strategies
from bestresponse.studies.reproduce.recorded_tournament import check_tournament
from bestresponse.studies.reproduce.reproduction import (
    Check,
    Reproduction,
)

CITATION = (
    "A. Mensfelt, K. Stathis & V. Trencsenyi, Autoformalizing and Simulating Game-Theoretic"
    " Scenarios using LLM-augmented Agents, 2024"
)


def reproduce_autoformalization(folder: Path) -> Reproduction:
    """Find again everything of which there are records in `folder`."""
    parts = [check_part(folder) for name, check_part in PARTS.items() if (folder / name).exists()]
    if not parts:
        raise UsageError(
            f"{folder} holds none of {', '.join(PARTS)}; expected a folder of recorded programs"
        )
    checks: list[Check] = []
    tables: list[Table] = []
    for part_checks, table in parts:
        checks += part_checks
        tables.append(table)
    return Reproduction("autoformalization", CITATION, tuple(checks), tuple(tables))


PARTS: dict[str, Callable[[Path], Part]] = {
    "programs.jsonl": lambda folder: check_programs(folder, "programs.jsonl"),
    "exp1_agents.jsonl": check_programs,
    "exp2_agents.jsonl": check_tournament,
    "exp3_agents.jsonl": check_strategies,
}
"""By the file of its records, what is found again."""
