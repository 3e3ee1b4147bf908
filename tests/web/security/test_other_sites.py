"""Requests that a page of another site makes a browser send are refused: by the name of the server
and by their origin. One seat holds few streams."""

import pytest
from web_server import hidden, sit_down

from bestresponse.web.access import SeatContext, TooFast, hold_stream
from bestresponse.web.app import ServerSettings, open_web_server
from bestresponse.web.security import explain_stranger, read_host
from bestresponse.web.sessions.setup import GameChoice, Setup

PAIR = Setup(GameChoice("chicken"), ("person", "person"), quiz=False)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8642", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8642", 200),
        ("evil.example", 403),
        ("evil.example:8642", 403),
        ("localhost.evil.example", 403),
        ("localhost@evil.example", 403),
        ("127.0.0.1.nip.io", 403),
        ("", 403),
        ("localhost:99999999", 403),
    ],
)
def test_a_server_of_this_machine_answers_under_its_own_names_alone(server, host, status):
    # Another site may let its own name lead to 127.0.0.1, and its scripts then read every answer.
    admin = server.admin
    assert admin.get("/", headers={"host": host}).status_code == status


def test_the_refusal_says_which_option_allows_the_name(server):
    answer = server.api().get("/api/runs", headers={"host": "lab.example"})
    assert answer.status_code == 403
    assert answer.json() == {
        "error": "this server does not answer as lab.example; whoever runs it can allow that by"
        " --allowed-host lab.example"
    }
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_names_that_were_allowed_are_answered_and_a_public_server_takes_any(tmp_path):
    token = "x" * 16
    for settings, names in (
        (ServerSettings(tmp_path / "a", hosts=("Lab.example",)), {"lab.example", "localhost"}),
        (ServerSettings(tmp_path / "b", "0.0.0.0", admin=token), {"lab.example", "other.example"}),
        (
            ServerSettings(tmp_path / "c", "0.0.0.0", admin=token, hosts=("lab.example",)),
            {"lab.example", "localhost"},
        ),
    ):
        _, state, close = open_web_server(settings, lambda name: None)
        close()
        asked = ("lab.example", "localhost", "other.example")
        answered = {
            name for name in asked if not explain_stranger("GET", {"host": name}, state.hosts)
        }
        assert names <= answered
        assert ("other.example" in answered) == (settings.hosts == ())


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:99", ""])
def test_a_form_that_another_site_sends_is_refused_even_with_the_right_token(server, origin):
    admin = server.admin
    lobby = server.state.sessions.create_sessions(PAIR)
    form = {"csrf": hidden(admin.get(f"/lobby/{lobby.id}"), "csrf"), "do": "close"}
    path = f"/lobby/{lobby.id}/act"
    refused = admin.post(path, data=form, headers={"origin": origin})
    assert refused.status_code == 403
    assert not server.state.sessions.standings[f"{lobby.id}-1"].closed
    taken = admin.post(path, data=form, headers={"origin": "http://localhost"})
    assert taken.status_code == 200
    assert server.state.sessions.standings[f"{lobby.id}-1"].closed


def test_an_origin_changes_nothing_for_who_only_reads(server):
    # A click on a link of another site is the way in which people come.
    assert server.admin.get("/", headers={"origin": "http://evil.example"}).status_code == 200


def test_hosts_are_read_without_their_port():
    assert read_host("a.example:80") == "a.example"
    assert [read_host(wrong) for wrong in ("", " a", "a/b", "a:b", "[::1", "a,b")] == [""] * 6


def test_a_thirteenth_stream_of_one_seat_is_refused_and_other_seats_are_not(server):
    sit_down(server, PAIR)
    (session,) = server.state.sessions.live.values()
    contexts = [SeatContext(server.state, session, seat) for seat in (0, 1)]
    held = [hold_stream(contexts[0]) for _ in range(12)]
    for stream in held:
        stream.__enter__()
    with pytest.raises(TooFast), hold_stream(contexts[0]):
        pass
    with hold_stream(contexts[1]):
        pass
    for stream in held:
        stream.__exit__(None, None, None)
    assert server.state.streams == {}
    with hold_stream(contexts[0]):
        pass


def test_whoever_has_many_streams_is_answered_429(server):
    (client, link), _ = sit_down(server, PAIR)
    (session,) = server.state.sessions.live.values()
    server.state.streams[f"{session.id}.0"] = 12
    assert client.get(f"{link}/changes?after=x").status_code == 429
    assert client.get(link).status_code == 200
