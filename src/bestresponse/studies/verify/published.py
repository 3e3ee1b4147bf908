"""The tables of LELMA (Mensfelt, Stathis and Trencsenyi 2024), by model and game, as printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bestresponse.studies.verify.evaluation import Confusion

__all__ = ["CITATION", "GAMES", "RUNS", "Published", "published_for"]

CITATION: Final = (
    "A. Mensfelt, K. Stathis, V. Trencsenyi, Logic-Enhanced Language Model Agents for Trustworthy Social Simulations, "
    "2024 (arXiv:2408.16081)"
)
RUNS: Final = 90
"""Runs of each model in the paper: 30 a game, but for one that is labelled as another game."""
GAMES: Final = {"hd": "Hawk-Dove", "pd": "Prisoner's Dilemma", "sh": "Stag Hunt"}


@dataclass(frozen=True, slots=True)
class Published:
    """One model's columns of tables 5 to 9; shares are in percent."""

    attempts: tuple[int, ...]
    choice: Mapping[str, tuple[float, float]]
    correct: Mapping[str, tuple[float, float]]
    confusion: Mapping[str, Confusion]
    accuracy: Mapping[str, int]
    kappa: float | None
    tokens: tuple[float, float] | None
    seconds: float | None

    def for_games(self, games: Iterable[str]) -> Published:
        """Only the cells of some games: for runs that are a part of the paper's."""
        known = frozenset(games)
        tables = (self.choice, self.correct, self.confusion, self.accuracy)
        choice, correct, confusion, accuracy = (
            {game: cells for game, cells in table.items() if game in known} for table in tables
        )
        return Published((), choice, correct, confusion, accuracy, None, None, None)  # type: ignore[arg-type]


_GPT_4O: Final = Published(
    attempts=(24, 46, 10, 6, 4),
    choice={"hd": (100.0, 100.0), "pd": (96.67, 23.33), "sh": (100.0, 33.33)},
    correct={"hd": (46.67, 73.33), "pd": (3.33, 70.0), "sh": (16.67, 90.0)},
    confusion={
        "all": Confusion(15, 5, 9, 61),
        "hd": Confusion(12, 6, 2, 10),
        "pd": Confusion(0, 1, 1, 28),
        "sh": Confusion(3, 2, 2, 23),
    },
    accuracy={"all": 84, "hd": 73, "pd": 93, "sh": 87},
    kappa=0.31,
    tokens=(1269.77, 1224.38),
    seconds=16.53,
)
_GEMINI: Final = Published(
    attempts=(26, 20, 11, 9, 24),
    choice={"hd": (66.67, 70.0), "pd": (36.67, 30.0), "sh": (80.0, 60.0)},
    correct={"hd": (25.81, 35.48), "pd": (17.24, 34.48), "sh": (13.33, 40.0)},
    confusion={
        "all": Confusion(15, 2, 11, 62),
        "hd": Confusion(8, 6, 0, 17),
        "pd": Confusion(4, 3, 1, 21),
        "sh": Confusion(3, 2, 1, 24),
    },
    accuracy={"all": 86, "hd": 81, "pd": 86, "sh": 90},
    kappa=0.59,
    tokens=None,
    seconds=34.66,
)


def published_for(model: str) -> Published | None:
    """The columns of a model (GPT-4o, Gemini 1.0 Pro); None for one that the paper does not have.

    >>> [published_for(name) is not None for name in ("gpt-4o-2024-05-13", "gemini-1.0-pro", "gpt-4o-mini")]
    [True, True, False]
    """
    name = model.casefold().rpartition("/")[2].replace(" ", "-").replace("_", "-")
    if re.fullmatch(r"gpt-4(?:o|-omni)(?:-20\d\d-\d\d-\d\d)?", name):
        return _GPT_4O
    return _GEMINI if re.fullmatch(r"gemini(?:-1(?:\.0)?)?(?:-pro)?(?:-(?:latest|\d+))?", name) else None
