"""Watch: all runs with progress and cost, a run's report, any play step by step, two runs side by side; and Export."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.report.page import render
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.web.access import AdminPage, Server
from bestresponse.web.render import render_page, send_file
from bestresponse.web.services.export import TABLES, export_table, list_decisions, list_formats
from bestresponse.web.watching.listing import (
    SORTS,
    PlayFilter,
    RunFilter,
    compare_games,
    compare_runs,
    find_plays,
    rank_players,
)  # fmt: skip
from bestresponse.web.watching.replay import build_replay
from bestresponse.web.watching.runs import build_report, find_neighbours, has_report, name_play, name_run, rebuild_game
from bestresponse.web.watching.steps import list_stages

__all__ = ["router"]

router = APIRouter(include_in_schema=False, dependencies=[AdminPage])
_PAGE = 100
_LATEST = 20
Find = Annotated[str, Query(max_length=200)]
Start = Annotated[int, Query(ge=0, le=10**9)]
_REPORT_POLICY = "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"


@router.get("/watch")
def runs(
    server: Server, find: Find = "", study: Find = "", status: Find = "", sort: Find = "newest", start: Start = 0
) -> HTMLResponse:
    """Show the runs that fit, a page at a time."""
    known = server.runs.all()
    wanted = RunFilter(find, study, status, sort)
    found = wanted.apply(known)
    return render_page(
        "watch.html",
        runs=found[start : start + _PAGE],
        count=len(found),
        known=len(known),
        start=start,
        step=_PAGE,
        wanted=wanted,
        query=urlencode(asdict(wanted)),
        studies=sorted({run.study for run in known}),
        sorts=list(SORTS),
        board=rank_players(server.runs.folder(run.name) for run in known),
    )


@router.get("/watch/compare")
def compare(server: Server, first: str, second: str) -> HTMLResponse:
    """Show two runs beside each other: their figures, and every game."""
    folders = server.runs.folder(first), server.runs.folder(second)
    return render_page(
        "watch_compare.html",
        table=compare_runs(*folders),
        games=compare_games(*folders),
        first=first,
        second=second,
        names=[name_run(folder.manifest) for folder in folders],
    )


@router.get("/watch/run/{run}")
def show(server: Server, run: str, start: Start = 0, find: Find = "", only: Find = "") -> HTMLResponse:
    """Show the progress of a run and its plays."""
    folder = server.runs.folder(run)
    wanted = PlayFilter(find, only)
    others = [other for other in server.runs.all() if other.study == folder.manifest.study and other.name != run]
    return render_page(
        "watch_run.html",
        run=server.runs.progress(run),
        manifest=folder.manifest,
        plays=[(play, name_play(play)) for play in find_plays(folder, wanted, start, _PAGE)],
        live=[(play, name_play(play)) for play in server.runs.list_live(run)][:_PAGE],
        wanted=wanted,
        query=urlencode(asdict(wanted)),
        start=start,
        step=_PAGE,
        has_report=has_report(folder),
        others=others if has_report(folder) else [],
    )


@router.get("/watch/run/{run}/report")
def report(server: Server, run: str) -> Response:
    """Show the report of a run."""
    document = build_report(server.runs.folder(run))
    return HTMLResponse(render(document), headers={"content-security-policy": _REPORT_POLICY})


@router.get("/watch/run/{run}/play/{spec}")
def play(server: Server, run: str, spec: str) -> HTMLResponse:
    """Replay one play, step by step; the page follows one that goes on."""
    folder = server.runs.folder(run)
    stored, calls, live = server.runs.open_play(run, spec)
    crumbs = [("/watch", "All runs"), (f"/watch/run/{quote(run)}", name_run(folder.manifest))]
    around = [f"/watch/run/{quote(run)}/play/{quote(one)}" if one else "" for one in find_neighbours(folder, spec)]
    return _show_replay(stored, rebuild_game(folder, stored.data), calls, crumbs, around, live)


@router.get("/watch/session/{session}")
def live(server: Server, session: str) -> HTMLResponse:
    """Replay a table as far as it is played; the page follows it."""
    found = server.sessions.get_session(session)
    with found.lock:
        over = found.begun and found.over
        record = found.record()
    lobby = server.sessions.get_lobby(found.table.lobby)
    stored = StoredPlay(session, {"group": found.table.group}, record)
    return _show_replay(stored, found.game, (), [(f"/lobby/{lobby.id}", lobby.title)], ["", ""], not over)


def _show_replay(
    stored: StoredPlay,
    game: AnyGame | None,
    calls: Iterable[JsonMapping],
    crumbs: list[tuple[str, str]],
    around: list[str],
    follow: bool,
) -> HTMLResponse:
    stages = list_stages(stored.record, game, calls)
    steps = [step for stage in stages for step in stage.steps]
    return render_page(
        "watch_play.html",
        title=name_play(stored),
        play=stored,
        crumbs=crumbs,
        around=around,
        follow=follow,
        stages=stages,
        replay=build_replay(stored.record, game, stages),
        priced=any(step.regret is not None or step.regret_equilibrium is not None for step in steps),
        briefing=game.view(game.start(), game.roles[0]).briefing if game else "",
    )


@router.get("/export")
def show_export(server: Server) -> HTMLResponse:
    """Show the files and the latest decisions."""
    rows = list_decisions(server)
    return render_page("export.html", tables=TABLES, formats=list_formats(), rows=rows[-_LATEST:], count=len(rows))


@router.get("/export/{table}.{form}")
def download(server: Server, table: str, form: str, lobby: str = "") -> Response:
    """Send one file."""
    return send_file(export_table(server, table, form, lobby))
