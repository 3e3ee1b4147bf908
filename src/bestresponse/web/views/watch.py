"""Watch and Export, as pages and as calls for programs.

This covers runs, reports, plays step by step, comparisons and tables.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, Response

from bestresponse.core.errors import UsageError
from bestresponse.core.game import Game, S
from bestresponse.report import page
from bestresponse.runs.comparison import compare_runs
from bestresponse.runs.reporting.steps import list_stages, name_play
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.telling.render import write_rules
from bestresponse.web import render
from bestresponse.web.access import AdminApi, AdminPage, Bearer, Name, Server
from bestresponse.web.pages import (
    ComparePage,
    ExportPage,
    ReplayLinks,
    ReplayPage,
    RunPage,
    RunsPage,
    WantedPlays,
    WantedRuns,
)
from bestresponse.web.security import REPORT_POLICY
from bestresponse.web.services import export as exporting
from bestresponse.web.watching import runs
from bestresponse.web.watching.steps import build_replay

pages = APIRouter(include_in_schema=False, dependencies=[AdminPage])
calls = APIRouter(
    prefix="/api",
    responses=render.describe_errors(),
    tags=["watch"],
    dependencies=[Bearer, AdminApi],
)
_PAGE = 100
_LATEST = 20
Find = Annotated[str, Query(max_length=200)]
RunOrLobby = Annotated[str, Query(max_length=80)]
"""The name of a run or of a lobby, as a query."""
Start = Annotated[int, Query(ge=0, le=10**9)]


@pages.get("/watch")
def show_runs(
    server: Server,
    find: Find = "",
    study: Find = "",
    status: Find = "",
    sort: Find = "newest",
    start: Start = 0,
) -> HTMLResponse:
    """Show the runs that fit, a page at a time."""
    known = server.runs.all()
    fitting = runs.filter_runs(known, find, study, status, sort)
    wanted = WantedRuns(find, study, status, sort)
    shown = RunsPage(
        runs=fitting[start : start + _PAGE],
        wanted=wanted,
        query=urlencode(asdict(wanted)),
        start=start,
        step=_PAGE,
        count=len(fitting),
        known=len(known),
        studies=sorted({run.study for run in known}),
        sorts=list(runs.SORTS),
    )
    return render.render_page(shown)


@pages.get("/watch/compare")
def compare_page(
    server: Server,
    run: Annotated[list[str], Query(max_length=200)] = [],  # noqa: B006
) -> HTMLResponse:
    """Show two runs beside each other."""
    if len(run) != 2:
        raise UsageError(f"two runs can be compared, and {len(run)} are ticked")
    first, second = run
    folders = server.runs.folder(first), server.runs.folder(second)
    comparison = compare_runs(*(folder.path for folder in folders))
    shown = ComparePage(
        first=first,
        second=second,
        names=[runs.name_run(folder.manifest) for folder in folders],
        document=comparison.report(),
    )
    return render.render_page(shown)


def read_wanted_plays(
    find: Find = "", only: Find = "", sort: Find = "", group: Find = ""
) -> WantedPlays:
    """Read which plays of a run are wanted; what is not known is not wanted."""
    return WantedPlays(
        find,
        only,
        sort if sort in runs.PLAY_SORTS else next(iter(runs.PLAY_SORTS)),
        group if group in runs.GROUPS else "",
    )


@pages.get("/watch/run/{run}")
def show_run_page(
    server: Server,
    run: str,
    wanted: Annotated[WantedPlays, Depends(read_wanted_plays)],
    start: Start = 0,
) -> HTMLResponse:
    """Show the progress of a run and its plays."""
    folder = server.runs.folder(run)
    progress = server.runs.progress(run)
    fitting = runs.filter_plays(folder, wanted.find, wanted.only)
    grouped = []
    if wanted.group:
        shown_plays = list(fitting)
        grouped = runs.group_plays(shown_plays, wanted.group)
        fitting = iter(shown_plays)
    listed = islice(runs.sort_plays(fitting, wanted.sort), start, start + _PAGE)
    others = []
    for other in server.runs.all():
        if other.study == folder.manifest.study and other.name != run:
            others.append(other)
    plays = [(play, name_play(play)) for play in listed]
    live = [(play, name_play(play)) for play in server.runs.list_live(run)][:_PAGE]
    calls = [] if progress.plays else server.runs.list_calls(run, start, _PAGE)
    reported = runs.has_report(folder)
    shown = RunPage(
        run=progress,
        manifest=folder.manifest,
        has_report=reported,
        others=others if reported else [],
        wanted=wanted,
        query=urlencode(asdict(wanted)),
        start=start,
        step=_PAGE,
        sorts=list(runs.PLAY_SORTS),
        groups=list(runs.GROUPS),
        grouped=grouped,
        plays=plays,
        live=live,
        calls=calls,
    )
    return render.render_page(shown)


@pages.get("/watch/run/{run}/report")
def show_report_page(server: Server, run: str) -> Response:
    """Show the report of a run."""
    folder = server.runs.folder(run)
    document = runs.build_report(folder)
    return HTMLResponse(page.render(document), headers={"content-security-policy": REPORT_POLICY})


@pages.get("/watch/run/{run}/play/{spec}")
def show_play_page(server: Server, run: str, spec: str) -> HTMLResponse:
    """Replay one play, step by step; the page follows one that goes on."""
    folder = server.runs.folder(run)
    page = f"/watch/run/{quote(run)}"
    stored, asked, live = server.runs.open_play(run, spec)
    crumbs = [("/watch", "All runs"), (page, runs.name_run(folder.manifest))]
    before, after = runs.find_neighbours(folder, spec)
    links = ReplayLinks(
        crumbs=crumbs,
        before=f"{page}/play/{quote(before)}" if before else "",
        after=f"{page}/play/{quote(after)}" if after else "",
        follow=live,
    )
    game = runs.rebuild_game(folder, stored.data)
    return _show_replay(stored, game, asked, links)


@pages.get("/watch/session/{session}")
def live(server: Server, session: str) -> HTMLResponse:
    """Replay a table as far as it is played; the page follows it."""
    opened = server.sessions.get_session(session)
    with opened.lock:
        over = opened.begun and opened.over
        record = opened.record()
    lobby = server.sessions.get_lobby(opened.table.lobby)
    stored = StoredPlay(session, {"group": opened.table.group}, record)
    crumbs = [(f"/lobby/{lobby.id}", lobby.experiment.title)]
    links = ReplayLinks(crumbs=crumbs, follow=not over)
    return _show_replay(stored, opened.game, (), links)


def _show_replay(
    stored: StoredPlay,
    game: Game[S] | None,
    asked: Iterable[Mapping[str, object]],
    links: ReplayLinks,
) -> HTMLResponse:
    """Show a play, whose calls were `asked`."""
    stages = list_stages(stored.record, game, asked)
    steps = [step for stage in stages for step in stage.steps]
    priced = False
    for step in steps:
        priced |= step.regret is not None or step.regret_equilibrium is not None
    briefing = _brief(game)
    shown = ReplayPage(
        title=name_play(stored),
        play=stored,
        briefing=briefing,
        stages=stages,
        priced=priced,
        replay=build_replay(stored.record, game, stages),
        links=links,
    )
    return render.render_page(shown)


def _brief(game: Game[S] | None) -> str:
    """Write the rules as the first role is told them; nothing where the game is not known."""
    if game is None:
        return ""
    view = game.view(game.start(), game.roles[0])
    return write_rules(view)


@pages.get("/export")
def show_export(server: Server) -> HTMLResponse:
    """Show the files and the latest decisions."""
    rows = exporting.list_moves(server)
    shown = ExportPage(
        tables=list(exporting.TABLES),
        formats=exporting.list_formats(),
        rows=rows[-_LATEST:],
        count=len(rows),
    )
    return render.render_page(shown)


@pages.get("/export/{table}.{form}")
@calls.get("/export/{table}.{form}", response_class=Response)
def send_table(server: Server, table: Name, form: Name, lobby: RunOrLobby = "") -> Response:
    """A table as csv, json or parquet, of one lobby or of all.

    It is `decisions`, `participants`, `parts` or another table.
    """
    content = exporting.export_table(server, table, form, lobby)
    return render.send_file(f"{lobby}-{table}.{form}".lstrip("-"), exporting.FORMATS[form], content)


_LOOK = 0.5


@calls.get("/runs")
def list_progress(server: Server) -> list[runs.RunProgress]:
    """All runs with their progress and cost, the newest first."""
    return server.runs.all()


@calls.get("/runs/{run}")
async def show_progress(
    server: Server,
    run: Name,
    after: Annotated[str, Query(max_length=100)] = "",
    wait: render.Wait = 0,
) -> dict[str, object]:
    """The progress of a run and its manifest.

    With `after`, the version known already, the answer waits up to `wait` seconds until the run has
    come further.
    """
    end = time.monotonic() + wait
    progress = await run_in_threadpool(server.runs.progress, run)
    while progress.version == after and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
        progress = await run_in_threadpool(server.runs.progress, run)
    folder = server.runs.folder(run)
    return {
        **asdict(progress),
        "manifest": folder.manifest.to_json(),
        "has_report": runs.has_report(folder),
    }


@calls.get("/runs/{run}/report")
def show_report(server: Server, run: Name) -> dict[str, object]:
    """The report of what is recorded so far."""
    return render.serialize_report(runs.build_report(server.runs.folder(run)))


@calls.get("/runs/{run}/plays")
def show_plays(
    server: Server, run: Name, start: Start = 0, count: Annotated[int, Query(ge=1, le=500)] = 100
) -> list[dict[str, object]]:
    """Finished plays in the order they finished.

    They say who sat where, what they got, and the data of the spec.
    """
    fields = ("game", "players", "payoffs", "void")
    return [
        {
            "spec": play.spec,
            "data": dict(play.data),
            **{name: getattr(play.record, name) for name in fields},
        }
        for play in islice(server.runs.folder(run).plays(), start, start + count)
    ]


@calls.get("/runs/{run}/plays/{spec}")
def show_play(server: Server, run: Name, spec: Name) -> dict[str, object]:
    """A play step by step.

    It shows what each seat saw and was asked, what it said, how that was read, and its regrets.

    `briefing` are the rules as the first role is told them; it is `live` while the play goes on.
    """
    stored, asked, live = server.runs.open_play(run, spec)
    game = runs.rebuild_game(server.runs.folder(run), stored.data)
    briefing = _brief(game)
    return {
        "spec": spec,
        "live": live,
        "briefing": briefing,
        "stages": list_stages(stored.record, game, asked),
    }


@calls.get("/compare")
def compare_figures(server: Server, first: RunOrLobby, second: RunOrLobby) -> dict[str, object]:
    """Two runs beside each other.

    This shows settings that differ, metrics, and differences between models, game by game if the
    runs share games.
    """
    folders = server.runs.folder(first), server.runs.folder(second)
    return compare_runs(*(folder.path for folder in folders)).to_json()
