"""Export: what was played, as files."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bestresponse.web.pages.render import page
from bestresponse.web.sessions.state import AdminPage, Here
from bestresponse.web.watching.export import FORMATS, TABLES, decision_rows, exported

__all__ = ["file_of", "router"]

router = APIRouter(prefix="/export", include_in_schema=False, dependencies=[AdminPage])
_SHOWN = 20


@router.get("")
def show(desk: Here) -> HTMLResponse:
    rows = decision_rows(desk)
    return page("export.html", tables=TABLES, formats=list(FORMATS), rows=rows[-_SHOWN:], count=len(rows))


@router.get("/{table}.{form}")
def download(desk: Here, table: str, form: str) -> Response:
    return file_of(desk, table, form)


def file_of(desk: Here, table: str, form: str) -> Response:
    """The export as a file to be kept."""
    content = exported(desk, table, form)
    headers = {"content-disposition": f'attachment; filename="{table}.{form}"'}
    return Response(content, media_type=FORMATS[form], headers=headers)
