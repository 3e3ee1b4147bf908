"""No form of another site does anything: every form of the pages carries a token, and every route
asks for it."""

import pytest
from fastapi.routing import APIRoute
from web_server import hidden

from bestresponse.web.app import create_app
from bestresponse.web.security import Keys
from bestresponse.web.sessions.setup import GameChoice, Setup


def list_routes(routes):
    """All routes, those of included routers too, which newer versions of FastAPI keep apart."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            yield from list_routes(route.original_router.routes)


FORMS = sorted(
    route.path
    for route in list_routes(create_app().routes)
    if "POST" in route.methods and not route.path.startswith("/api/")
)
PROTECTED = FORMS
"""Every form has a token."""


def fill(server, path):
    """The path with the names and keys of things that are really there."""
    lobby = server.state.sessions.create_sessions(
        Setup(GameChoice("chicken"), ("person", "person"), quiz=False)
    )
    session = lobby.tables[0].id
    keys = server.state.keys
    tokens = {
        "seat": ("seat", session, 0),
        "join": ("lobby", lobby.id),
    }
    door = path.split("/")[1]
    values = {
        "lobby": lobby.id,
        "session": session,
        "seat": 0,
        "job": "none",
    }
    return path.format(**values, token=keys.token(*tokens.get(door, ("none",))))


def test_the_admin_has_nine_forms_and_people_five():
    admin = [path for path in PROTECTED if "{token}" not in path]
    assert admin == [
        "/experiments",
        "/leave",
        "/lobby/{lobby}/act",
        "/lobby/{lobby}/message",
        "/lobby/{lobby}/room",
        "/play",
    ]
    assert len(PROTECTED) - len(admin) == 5


@pytest.mark.parametrize("token", [None, "", "wrong", "seat"])
@pytest.mark.parametrize("path", PROTECTED)
def test_a_form_without_its_own_token_is_refused_and_changes_nothing(server, path, token):
    path = fill(server, path)
    events = server.folder / "sessions" / "events.jsonl"
    before = events.read_bytes()
    sent = (
        {}
        if token is None
        else {
            "csrf": (
                server.state.csrf(server.state.seat_token("other", 1)) if token == "seat" else token
            )
        }
    )
    answer = server.admin.post(
        path, data={"do": "close", "text": "hello", "title": "x", "name": "x", **sent}
    )
    assert answer.status_code == 403
    assert "is form is not from this page any more" in answer.text
    assert events.read_bytes() == before


def test_another_site_cannot_log_the_admin_out(server):
    refused = server.client().post("/leave")
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    admin = server.admin
    assert admin.post("/leave").status_code == 403
    left = admin.post("/leave", data={"csrf": hidden(admin.get("/leave"), "csrf")})
    assert left.status_code == 200
    assert 'bestresponse_admin=""' in left.headers["set-cookie"]


def test_a_session_that_the_admin_has_left_opens_nothing_although_its_cookie_was_kept(server):
    admin = server.admin
    kept = admin.cookies["bestresponse_admin"]
    assert kept != server.state.keys.admin
    again = Keys("secret", begun=server.folder / "sessions" / "admin")
    assert again.is_session(kept)  # a worker that takes over knows it
    admin.post("/leave", data={"csrf": hidden(admin.get("/leave"), "csrf")})
    thief = server.client()
    thief.cookies.set("bestresponse_admin", kept)
    assert thief.get("/").status_code == 403
    assert kept not in (server.folder / "sessions" / "admin").read_text()


def test_the_admin_token_is_no_cookie(server):
    stranger = server.client()
    stranger.cookies.set("bestresponse_admin", server.state.keys.admin)
    assert stranger.get("/").status_code == 403


def test_the_admin_enters_without_https_on_the_machine_of_the_server_alone(server):
    server.state.hosts = frozenset()
    client = server.client()
    client.base_url = "http://laboratory.example"
    refused = client.get(f"/enter/{server.state.keys.admin}")
    assert refused.status_code == 403
    assert "open over https" in refused.text
    assert "set-cookie" not in refused.headers
    client.base_url = "https://laboratory.example"
    entered = client.get(f"/enter/{server.state.keys.admin}", follow_redirects=False)
    assert "secure" in entered.headers["set-cookie"].lower()
