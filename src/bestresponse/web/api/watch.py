"""What Watch and Export do, as JSON: runs with progress and cost, reports, plays step by step, comparisons, tables."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel

from bestresponse.core.episode import Void
from bestresponse.web.api.common import Name, ReportOut, TableOut, Wait, problems, report_out, table_out
from bestresponse.web.pages.export import file_of
from bestresponse.web.sessions.state import AdminApi, Here
from bestresponse.web.watching.leaderboard import board, compared
from bestresponse.web.watching.runs import Progress, game_of_play, has_report, play_of, plays_of, report_of
from bestresponse.web.watching.steps import Stage, stages, steps_of, with_regrets

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=problems(), tags=["watch"], dependencies=[AdminApi])
_LOOK = 0.5


class RunOut(BaseModel):
    """A run at a glance; `version` changes when it has come further."""

    name: str
    study: str
    created: str
    finished: bool
    plays: int
    total: int | None
    calls: int
    tokens: int
    money: float | None
    version: str

    @classmethod
    def of(cls, found: Progress) -> RunOut:
        plain = {name: getattr(found, name) for name in cls.model_fields}
        return cls(**plain)


class RunDetails(RunOut):
    """A run with what was written down before its first play."""

    manifest: dict[str, Any]
    has_report: bool


class PlayOut(BaseModel):
    """A finished play: who sat where, what they got, and the data of its spec."""

    spec: str
    game: str
    players: dict[str, str]
    payoffs: dict[str, float]
    void: Void | None
    data: dict[str, Any]


class StagesOut(BaseModel):
    """A play step by step, with the rules as the first role is told them."""

    spec: str
    briefing: str
    stages: list[Stage]


@router.get("/runs")
def list_runs(desk: Here) -> list[RunOut]:
    """All runs with their progress and cost, the newest first."""
    return [RunOut.of(run) for run in desk.runs.all()]


@router.get("/runs/{run}")
async def show_run(
    desk: Here, run: Name, after: Annotated[str, Query(max_length=100)] = "", wait: Wait = 0
) -> RunDetails:
    """The progress of a run and its manifest.

    With `after`, the version known already, the answer waits up to `wait` seconds until the run has come further.
    """
    end = time.monotonic() + wait
    found = await run_in_threadpool(desk.runs.progress, run)
    while found.version == after and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
        found = await run_in_threadpool(desk.runs.progress, run)
    folder = desk.runs.folder(run)
    plain = RunOut.of(found).model_dump()
    return RunDetails(**plain, manifest=folder.manifest.to_json(), has_report=has_report(folder))


@router.get("/runs/{run}/report")
def show_report(desk: Here, run: Name) -> ReportOut:
    """The report of what is recorded so far."""
    return report_out(report_of(desk.runs.folder(run)))


@router.get("/runs/{run}/plays")
def list_plays(
    desk: Here,
    run: Name,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
    count: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[PlayOut]:
    """Finished plays in the order they finished."""
    return [
        PlayOut(
            spec=play.spec,
            game=play.record.game,
            players=dict(play.record.players),
            payoffs=dict(play.record.payoffs),
            void=play.record.void,
            data=dict(play.data),
        )
        for play in plays_of(desk.runs.folder(run), start, count)
    ]


@router.get("/runs/{run}/plays/{spec}")
def show_play(desk: Here, run: Name, spec: Name) -> StagesOut:
    """A play step by step: what each seat saw and was asked, what it said, how that was read, and its regrets."""
    folder = desk.runs.folder(run)
    stored, calls = play_of(folder, spec)
    game = game_of_play(folder, stored.data)
    briefing = game.view(game.start(), game.roles[0]).briefing if game else ""
    steps = with_regrets(steps_of(stored.record, game, calls), stored.record, game)
    return StagesOut(spec=spec, briefing=briefing, stages=stages(steps, stored.record, game))


@router.get("/leaderboard")
def leaderboard(desk: Here) -> TableOut:
    """Every player of every benchmark run with intervals, the best first."""
    return table_out(board([desk.runs.folder(run.name) for run in desk.runs.all() if run.study == "bench"]))


@router.get("/compare")
def compare(
    desk: Here, first: Annotated[str, Query(max_length=80)], second: Annotated[str, Query(max_length=80)]
) -> TableOut:
    """Two runs of the same study beside each other."""
    return table_out(compared(desk.runs.folder(first), desk.runs.folder(second)))


@router.get("/export/{table}.{form}", response_class=Response)
def export(desk: Here, table: Name, form: Name) -> Response:
    """`decisions` or `participants` as csv, json or parquet."""
    return file_of(desk, table, form)
