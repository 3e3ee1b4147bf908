"""The two JSON files of the Nash-gap benchmark as its document describes them.

They are beside the files that every run has.

    benchmark_results_{timestamp}.json   a list with one object per answer: game, solution,
                                         strategy, gap
    benchmark_summary_{timestamp}.json   one flat object: `num_games`, `mean_nash_gap`, ...,
                                         `mean_br_value`

The timestamp says when the run began, so a run that is resumed or reported again replaces its own
pair. The document measures one model. Where a run has several players or ways of asking, each has a
pair of its own, named at the end.
"""

import json
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TypedDict

import numpy as np

from bestresponse.runs.run import Run
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.frames import solve_drawn
from bestresponse.studies.bench.measure import (
    PlayRow,
    find_values,
    select_base,
    select_original,
)
from bestresponse.studies.bench.metrics import compute_gap_ratio
from bestresponse.studies.bench.plan import Plan

_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")
_NO_MOMENT = "00000000_000000"
_LONGEST_NAME = 60  # characters of a player's name in a file name


class AnswerResult(TypedDict):
    """One answer; `strategy` and what follows it are null where the answer could not be read.

    Games are numbered within a condition: `base`, or one of the suite.
    """

    condition: str
    game_id: int
    trial: int
    seat: str
    payoff_matrix: list[list[float]]
    column_payoff_matrix: list[list[float]]
    nash_row: list[float]
    nash_col: list[float]
    nash_value: float
    llm_strategy: list[float] | None
    status: str
    llm_value: float | None
    br_value: float | None
    nash_gap: float | None
    gap_ratio: float | None


class BenchmarkSummary(TypedDict):
    """The eight keys that the document prints, its gap ratio, and unread answers."""

    num_games: int
    mean_nash_gap: float | None
    median_nash_gap: float | None
    std_nash_gap: float | None
    min_nash_gap: float | None
    max_nash_gap: float | None
    mean_llm_value: float | None
    mean_br_value: float | None
    gap_ratio: float | None
    num_unread: int


def list_answer_results(rows: Sequence[PlayRow], plan: Plan) -> list[AnswerResult]:
    """Return one result per answer, in the order of the conditions and their games."""
    results = []
    places = ("condition", "game", "seat", "trial")
    for row in sorted(rows, key=itemgetter(*places)):
        game = solve_drawn(plan, row["condition"], row["game"])
        results.append(
            AnswerResult(
                condition=row["condition"],
                game_id=row["game"],
                trial=row["trial"],
                seat=row["seat"],
                payoff_matrix=game["row_payoffs"],
                column_payoff_matrix=game["col_payoffs"],
                nash_row=game["row_equilibrium"],
                nash_col=game["col_equilibrium"],
                nash_value=game["value"],
                llm_strategy=row["strategy"],
                status=row["status"],
                llm_value=row["llm_value"],
                br_value=row["br_value"],
                nash_gap=row["nash_gap"],
                gap_ratio=row["gap_ratio"],
            )
        )
    return results


def summarize(rows: Sequence[PlayRow]) -> BenchmarkSummary:
    """Summarize the answers that were read.

    `num_games` counts their games, each once whatever the trials.
    """
    gaps = np.array([gap for gap, _ in find_values(rows, "nash_gap")])
    read = [row for _, row in find_values(rows, "nash_gap")]
    values = [value for value, _ in find_values(rows, "llm_value")]
    best = [value for value, _ in find_values(rows, "br_value")]
    known = len(gaps) > 0
    return BenchmarkSummary(
        num_games=len({row["game"] for row in read}),
        mean_nash_gap=float(gaps.mean()) if known else None,
        median_nash_gap=float(np.median(gaps)) if known else None,
        std_nash_gap=float(gaps.std()) if known else None,
        min_nash_gap=float(gaps.min()) if known else None,
        max_nash_gap=float(gaps.max()) if known else None,
        mean_llm_value=float(np.mean(values)) if known else None,
        mean_br_value=float(np.mean(best)) if known else None,
        gap_ratio=compute_gap_ratio(rows),
        num_unread=len(rows) - len(read),
    )


def list_benchmark_files(plan: Plan, run: Run[BenchConfig]) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of every file, of the games as drawn.

    The summary is of those under the base settings.
    """
    players: dict[str, list[PlayRow]] = {}
    for row in select_original(run.frame("plays")):
        players.setdefault(f"{row['model']} {row['asked_for']}", []).append(row)
    moment = write_timestamp(run.manifest.created)
    endings = _name_files(list(players))
    for player, rows in players.items():
        ending = f"_{endings[player]}" if len(players) > 1 else ""
        results = list_answer_results(rows, plan)
        summary = summarize(select_base(rows))
        for what, data in (("results", results), ("summary", summary)):
            path = run.path / f"benchmark_{what}_{moment}{ending}.json"
            yield path, json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def write_timestamp(created: str) -> str:
    """Write when a run began as file names have it; zeros where its manifest does not say.

    >>> write_timestamp("2026-11-18T02:40:34+00:00")
    '20261118_024034'
    """
    found = _MOMENT.match(created)
    if found is None:
        return _NO_MOMENT
    return "".join(found.groups()[:3]) + "_" + "".join(found.groups()[3:])


def _name_files(players: Sequence[str]) -> dict[str, str]:
    """Return what stands for each player in a file name.

    Two that would be written alike are numbered.
    """
    names: dict[str, str] = {}
    for player in players:
        plain = re.sub(r"[^A-Za-z0-9.]+", "-", player)[:_LONGEST_NAME].strip("-.") or "player"
        taken = set(names.values())
        name = plain
        number = 2
        while name in taken:
            name = f"{plain}-{number}"
            number = number + 1
        names[player] = name
    return names
