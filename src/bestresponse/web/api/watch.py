"""What Watch and Export do, as JSON: runs with progress and cost, reports, plays step by step, comparisons, tables."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel
from pydantic.dataclasses import dataclass

from bestresponse.core.episode import Void
from bestresponse.core.json import JsonObject
from bestresponse.web.access import AdminApi, Name, Server
from bestresponse.web.api.common import ReportOut, TableOut, Wait, describe_errors, serialize_report, serialize_table
from bestresponse.web.render import send_file
from bestresponse.web.services.export import export_table
from bestresponse.web.watching.listing import compare_runs, rank_players
from bestresponse.web.watching.runs import Progress, build_report, has_report, list_plays, rebuild_game
from bestresponse.web.watching.steps import Stage, list_stages

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=describe_errors(), tags=["watch"], dependencies=[AdminApi])
_LOOK = 0.5


@dataclass(frozen=True, kw_only=True)
class RunDetails(Progress):
    """A run with what was written down before its first play."""

    manifest: JsonObject
    has_report: bool


class PlayOut(BaseModel):
    """A finished play: who sat where, what they got, and the data of its spec."""

    spec: str
    game: str
    players: dict[str, str]
    payoffs: dict[str, float]
    void: Void | None
    data: JsonObject


class StagesOut(BaseModel):
    """A play step by step, with the rules as the first role is told them; `live` while it goes on."""

    spec: str
    live: bool
    briefing: str
    stages: list[Stage]


@router.get("/runs")
def list_runs(server: Server) -> list[Progress]:
    """All runs with their progress and cost, the newest first."""
    return server.runs.all()


@router.get("/runs/{run}")
async def show_run(
    server: Server, run: Name, after: Annotated[str, Query(max_length=100)] = "", wait: Wait = 0
) -> RunDetails:
    """The progress of a run and its manifest.

    With `after`, the version known already, the answer waits up to `wait` seconds until the run has come further.
    """
    end = time.monotonic() + wait
    progress = await run_in_threadpool(server.runs.progress, run)
    while progress.version == after and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
        progress = await run_in_threadpool(server.runs.progress, run)
    folder = server.runs.folder(run)
    return RunDetails(**asdict(progress), manifest=folder.manifest.to_json(), has_report=has_report(folder))


@router.get("/runs/{run}/report")
def show_report(server: Server, run: Name) -> ReportOut:
    """The report of what is recorded so far."""
    return serialize_report(build_report(server.runs.folder(run)))


@router.get("/runs/{run}/plays")
def show_plays(
    server: Server,
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
        for play in list_plays(server.runs.folder(run), start, count)
    ]


@router.get("/runs/{run}/plays/{spec}")
def show_play(server: Server, run: Name, spec: Name) -> StagesOut:
    """A play step by step: what each seat saw and was asked, what it said, how that was read, and its regrets."""
    stored, calls, live = server.runs.open_play(run, spec)
    game = rebuild_game(server.runs.folder(run), stored.data)
    briefing = game.view(game.start(), game.roles[0]).briefing if game else ""
    return StagesOut(spec=spec, live=live, briefing=briefing, stages=list_stages(stored.record, game, calls))


@router.get("/leaderboard")
def leaderboard(server: Server) -> TableOut:
    """Every player of every benchmark run with intervals, the best first."""
    return serialize_table(rank_players(server.runs.folder(run.name) for run in server.runs.all()))


@router.get("/compare")
def compare(
    server: Server, first: Annotated[str, Query(max_length=80)], second: Annotated[str, Query(max_length=80)]
) -> TableOut:
    """Two runs of the same study beside each other."""
    return serialize_table(compare_runs(server.runs.folder(first), server.runs.folder(second)))


@router.get("/export/{table}.{form}", response_class=Response)
def export(server: Server, table: Name, form: Name, lobby: Annotated[str, Query(max_length=80)] = "") -> Response:
    """`decisions`, `participants`, `payments` or `codebook` as csv, json or parquet, of one lobby or of all."""
    return send_file(export_table(server, table, form, lobby))
