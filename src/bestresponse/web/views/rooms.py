"""Rooms: links that stay the same while sessions change, for a laboratory or a class.

A room leads everybody who comes to the lobby that is open in it. Its link is signed as others are,
and opening it changes nothing.
"""

from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import RedirectResponse, Response

from bestresponse.core.errors import UsageError
from bestresponse.web.access import (
    AdminApi,
    AdminPage,
    Bearer,
    Name,
    PostedForm,
    Server,
    read_key,
    refuse_key,
)
from bestresponse.web.pages import EmptyRoomPage
from bestresponse.web.render import describe_errors, render_page
from bestresponse.web.sessions.session import read_labels
from bestresponse.web.sessions.store import NotFound
from bestresponse.web.texts import Cause

pages = APIRouter(include_in_schema=False)
calls = APIRouter(prefix="/api", responses=describe_errors(), tags=["rooms"], dependencies=[Bearer])


async def open_room(request: Request, server: Server, room: Name) -> str:
    """Return the room whose key was given."""
    if not server.keys.opens(read_key(request), "room", room):
        raise refuse_key(request, server, NotFound(Cause("cause_no_table")))
    return room


RoomDoor = Annotated[str, Depends(open_room)]


@pages.get("/room/{room}/{token}")
async def enter_room(request: Request, server: Server, room: RoomDoor) -> Response:
    """Lead to the invitation of the lobby that is open here; where none is, wait for one."""
    known = server.sessions.rooms.get(room)
    if known is None or not known.is_open:
        texts = server.sessions.find_texts(known.lobby if known else "")
        return render_page(EmptyRoomPage(t=texts, brand=""))
    labels = read_labels(request.query_params) | {"key": request.query_params.get("key", "")}
    asked = urlencode({name: label for name, label in labels.items() if label})
    path = server.join_path(known.lobby)
    return RedirectResponse(f"{path}?{asked}" if asked else path, 303)


@pages.post("/lobby/{lobby}/room", dependencies=[AdminPage])
def choose_room(server: Server, lobby: str, form: PostedForm) -> Response:
    """Open a lobby in a room, or close a room."""
    room = form.get("room", "").strip()
    try:
        if form.get("do") == "close":
            server.sessions.close_room(room)
            note = f"The room {room} is closed"
        else:
            server.sessions.open_room(room, lobby)
            note = f"Open in the room {room}"
    except UsageError as error:
        note = str(error)
    return RedirectResponse(f"/lobby/{lobby}?note={quote(note)}", 303)


@calls.get("/rooms", dependencies=[AdminApi])
def list_rooms(server: Server) -> list[dict[str, str]]:
    """Every room with its path and the lobby that is open in it, empty where none is."""
    return [
        {"room": name, "path": server.room_path(name), "lobby": room.lobby if room.is_open else ""}
        for name, room in server.sessions.rooms.items()
    ]


@calls.put("/rooms/{room}", dependencies=[AdminApi])
def set_room(
    server: Server, room: Name, lobby: Annotated[str, Body(embed=True, max_length=80)]
) -> dict[str, str]:
    """Open a lobby in a room, a new one if its name is new; an empty `lobby` closes the room."""
    if lobby:
        server.sessions.open_room(room, lobby)
    else:
        server.sessions.close_room(room)
    return {"room": room, "path": server.room_path(room), "lobby": lobby}
