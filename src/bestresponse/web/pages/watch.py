"""Watch: all runs with progress and cost, a run's report, any play step by step, two runs beside each other."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bestresponse.report.page import render
from bestresponse.web.pages.render import page
from bestresponse.web.sessions.state import AdminPage, Here
from bestresponse.web.watching.leaderboard import board, compared
from bestresponse.web.watching.runs import game_of_play, has_report, play_of, plays_of, report_of
from bestresponse.web.watching.steps import stages, steps_of, with_regrets

__all__ = ["router"]

router = APIRouter(prefix="/watch", include_in_schema=False, dependencies=[AdminPage])
_PAGE = 100
_REPORT_POLICY = "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"


@router.get("")
def runs(desk: Here) -> HTMLResponse:
    found = desk.runs.all()
    table = board([desk.runs.folder(run.name) for run in found if run.study == "bench"])
    return page("watch.html", runs=found, board=table)


@router.get("/compare")
def compare(desk: Here, first: str, second: str) -> HTMLResponse:
    table = compared(desk.runs.folder(first), desk.runs.folder(second))
    return page("watch_compare.html", table=table, first=first, second=second)


@router.get("/run/{run}")
def show(desk: Here, run: str, start: int = 0) -> HTMLResponse:
    folder = desk.runs.folder(run)
    start = max(0, start)
    plays = plays_of(folder, start, _PAGE)
    return page(
        "watch_run.html",
        run=desk.runs.progress(run),
        manifest=folder.manifest,
        plays=plays,
        start=start,
        step=_PAGE,
        has_report=has_report(folder),
        others=[o.name for o in desk.runs.all() if o.study == folder.manifest.study and o.name != run]
        if has_report(folder)
        else [],
    )


@router.get("/run/{run}/report")
def report(desk: Here, run: str) -> Response:
    document = report_of(desk.runs.folder(run))
    return HTMLResponse(render(document), headers={"content-security-policy": _REPORT_POLICY})


@router.get("/run/{run}/play/{spec}")
def play(desk: Here, run: str, spec: str) -> HTMLResponse:
    folder = desk.runs.folder(run)
    stored, calls = play_of(folder, spec)
    game = game_of_play(folder, stored.data)
    steps = with_regrets(steps_of(stored.record, game, calls), stored.record, game)
    return page(
        "watch_play.html",
        run=run,
        play=stored,
        stages=stages(steps, stored.record, game),
        priced=any(step.regret is not None or step.regret_equilibrium is not None for step in steps),
        briefing=game.view(game.start(), game.roles[0]).briefing if game else "",
    )
