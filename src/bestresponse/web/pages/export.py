"""Export: what was played, as files."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from bestresponse.web.pages.render import render_page
from bestresponse.web.services.export import FORMATS, TABLES, export_table, list_decisions, list_formats
from bestresponse.web.sessions.state import AdminPage, Server

__all__ = ["make_download", "router"]

router = APIRouter(prefix="/export", include_in_schema=False, dependencies=[AdminPage])
_SHOWN = 20


@router.get("")
def show(server: Server) -> HTMLResponse:
    """Show the files and the latest decisions."""
    rows = list_decisions(server)
    return render_page("export.html", tables=TABLES, formats=list_formats(), rows=rows[-_SHOWN:], count=len(rows))


@router.get("/{table}.{form}")
def download(server: Server, table: str, form: str, lobby: str = "") -> Response:
    """Send one file."""
    return make_download(server, table, form, lobby)


def make_download(server: Server, table: str, form: str, lobby: str = "") -> Response:
    """Make a file of the export, of one lobby or of all."""
    content = export_table(server, table, form, lobby)
    headers = {"content-disposition": f'attachment; filename="{f"{lobby}-" if lobby else ""}{table}.{form}"'}
    return Response(content, media_type=FORMATS[form], headers=headers)
