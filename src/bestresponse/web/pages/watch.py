"""Watch: all runs with progress and cost, a run's report, any play step by step, two runs beside each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from bestresponse.report.page import render
from bestresponse.web.pages.render import render_page
from bestresponse.web.sessions.state import AdminPage, Server
from bestresponse.web.watching.leaderboard import board, compared
from bestresponse.web.watching.runs import build_report, has_report, list_plays, load_play, rebuild_game
from bestresponse.web.watching.steps import add_regrets, group_stages, list_steps

__all__ = ["router"]

router = APIRouter(prefix="/watch", include_in_schema=False, dependencies=[AdminPage])
_PAGE = 100
_REPORT_POLICY = "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"


@router.get("")
def runs(server: Server) -> HTMLResponse:
    found = server.runs.all()
    table = board([server.runs.folder(run.name) for run in found if run.study == "bench"])
    return render_page("watch.html", runs=found, board=table)


@router.get("/compare")
def compare(server: Server, first: str, second: str) -> HTMLResponse:
    table = compared(server.runs.folder(first), server.runs.folder(second))
    return render_page("watch_compare.html", table=table, first=first, second=second)


@router.get("/run/{run}")
def show(server: Server, run: str, start: Annotated[int, Query(ge=0, le=10**9)] = 0) -> HTMLResponse:
    folder = server.runs.folder(run)
    plays = list_plays(folder, start, _PAGE)
    return render_page(
        "watch_run.html",
        run=server.runs.progress(run),
        manifest=folder.manifest,
        plays=plays,
        start=start,
        step=_PAGE,
        has_report=has_report(folder),
        others=[o.name for o in server.runs.all() if o.study == folder.manifest.study and o.name != run]
        if has_report(folder)
        else [],
    )


@router.get("/run/{run}/report")
def report(server: Server, run: str) -> Response:
    document = build_report(server.runs.folder(run))
    return HTMLResponse(render(document), headers={"content-security-policy": _REPORT_POLICY})


@router.get("/run/{run}/play/{spec}")
def play(server: Server, run: str, spec: str) -> HTMLResponse:
    folder = server.runs.folder(run)
    stored, calls = load_play(folder, spec)
    game = rebuild_game(folder, stored.data)
    steps = add_regrets(list_steps(stored.record, game, calls), stored.record, game)
    return render_page(
        "watch_play.html",
        run=run,
        play=stored,
        stages=group_stages(steps, stored.record, game),
        priced=any(step.regret is not None or step.regret_equilibrium is not None for step in steps),
        briefing=game.view(game.start(), game.roles[0]).briefing if game else "",
    )
