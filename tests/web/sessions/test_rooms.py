"""A room has one link for good, whichever lobby is open in it."""

import pytest
from web_server import hidden

from bestresponse.core.errors import UsageError
from bestresponse.web.sessions.setup import GameChoice, Setup

PAIR = Setup(GameChoice("chicken"), ("person", "person"), quiz=False)


def sit(server, link):
    """Open the link of a room in a new browser and take part: the address of the seat."""
    client = server.client()
    page = client.get(link)
    assert page.url.path.startswith("/join/")
    seat = client.post(page.url.path, data={"csrf": hidden(page, "csrf")})
    return client, seat.url.path


def test_a_room_sends_each_comer_to_the_next_free_seat_of_the_lobby_open_in_it(server):
    sessions = server.state.sessions
    first = sessions.create_sessions(PAIR)
    second = sessions.create_sessions(PAIR)
    sessions.open_room("lab", first.id)
    link = server.state.room_path("lab")
    client, seat = sit(server, link)
    assert seat.split("/")[2:4] == [f"{first.id}-1", "0"]
    assert sit(server, link)[1].split("/")[2:4] == [f"{first.id}-1", "1"]
    # A browser that comes again finds its seat.
    assert client.get(link).url.path == seat
    sessions.open_room("lab", second.id)
    assert server.state.room_path("lab") == link
    assert sit(server, link)[1].split("/")[2:4] == [f"{second.id}-1", "0"]


def test_the_label_of_a_participant_goes_through_the_room(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    server.state.sessions.open_room("lab", lobby.id)
    link = server.state.room_path("lab")
    page = server.client().get(link, params={"PROLIFIC_PID": "5f&3", "colour": "blue"})
    assert hidden(page, "PROLIFIC_PID") == "5f&amp;3"
    assert "colour" not in str(page.url)


def test_a_closed_room_waits_in_the_language_of_its_last_study_and_survives_a_restart(server):
    sessions = server.state.sessions
    german = Setup(GameChoice("chicken"), ("person", "person"), language="de")
    lobby = sessions.create_sessions(german)
    sessions.open_room("lab", lobby.id)
    link = server.state.room_path("lab")
    sessions.close_room("lab")
    server.restart()
    page = server.client().get(link)
    assert page.status_code == 200
    assert "Hier ist noch keine Studie geöffnet." in page.text
    assert '<meta http-equiv="refresh" content="5">' in page.text
    assert server.state.sessions.register.taken[lobby.id] == 0


def test_only_the_signed_link_opens_a_room(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    server.state.sessions.open_room("lab", lobby.id)
    other = server.state.room_path("other").rpartition("/")[2]
    assert server.client().get(f"/room/lab/{other}").status_code == 404


@pytest.mark.parametrize("name", ["", "a b", "../x", "ä", "x" * 41])
def test_a_name_that_cannot_be_part_of_a_link_is_refused(server, name):
    lobby = server.state.sessions.create_sessions(PAIR)
    with pytest.raises(UsageError, match="a room cannot be named"):
        server.state.sessions.open_room(name, lobby.id)


def test_the_experimenter_opens_and_closes_a_room_on_the_page_of_the_lobby(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    admin = server.admin
    page = admin.get(f"/lobby/{lobby.id}")
    data = {"csrf": hidden(page, "csrf"), "room": "lab-1"}
    page = admin.post(f"/lobby/{lobby.id}/room", data=data)
    assert f'value="http://localhost{server.state.room_path("lab-1")}"' in page.text
    assert server.state.room_path("lab-1") in admin.get("/").text
    admin.post(f"/lobby/{lobby.id}/room", data=data | {"do": "close"})
    assert not server.state.sessions.rooms["lab-1"].is_open
    assert (
        "a room cannot be named"
        in admin.post(f"/lobby/{lobby.id}/room", data=data | {"room": "<b>"}).text
    )
    assert server.client().post(f"/lobby/{lobby.id}/room", data=data).status_code == 403


def test_programs_set_rooms_too(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    api = server.api()
    made = api.put("/api/rooms/lab", json={"lobby": lobby.id}).json()
    assert made == {"room": "lab", "path": server.state.room_path("lab"), "lobby": lobby.id}
    assert api.get("/api/rooms").json() == [made]
    assert api.put("/api/rooms/lab", json={"lobby": ""}).json()["lobby"] == ""
    assert api.put("/api/rooms/lab", json={"lobby": "nothing"}).status_code == 404
    assert api.put("/api/rooms/none", json={"lobby": ""}).status_code == 404
    assert server.client().put("/api/rooms/lab", json={"lobby": lobby.id}).status_code == 403
