"""No participant is lost, and none sits twice."""

import re

import pytest
from web_server import hidden, join

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.sessions.session import SeatRegister, read_labels
from bestresponse.web.sessions.setup import GameChoice, Setup

PAIR = Setup(GameChoice("prisoners-dilemma"), ("person", "person"), quiz=False)


def place(answer):
    return str(answer.url).split("/")[4:6]


def seated(server):
    return [(e["session"], e["seat"]) for e in server.state.sessions.journal.read_events("seated")]


def test_opening_the_link_takes_no_seat(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    for _ in range(4):
        page = server.client().get(server.state.join_path(lobby.id))
        assert page.status_code == 200
        assert "Take part" in page.text
    assert seated(server) == []


def test_a_form_of_another_site_takes_no_seat(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    assert server.client().post(server.state.join_path(lobby.id), data={}).status_code == 403
    assert seated(server) == []


def test_a_form_has_four_hundred_fields_at_most(server):
    path = server.state.join_path(server.state.sessions.create_sessions(PAIR).id)
    sent = [
        server.client().post(path, data=dict.fromkeys(map(str, range(count)), "x"))
        for count in (400, 401)
    ]
    assert [answer.status_code for answer in sent] == [403, 400]


def test_the_cookie_of_a_seat_comes_along_with_a_click_on_another_site(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    client = server.client()
    first = join(server, lobby, client)
    cookie = first.history[0].headers["set-cookie"].lower()
    assert "samesite=lax" in cookie
    assert "httponly" in cookie
    assert "secure" not in cookie
    assert place(join(server, lobby, client)) == place(first)
    assert len(seated(server)) == 1


def test_cookies_are_secure_behind_https(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    client = server.client()
    client.base_url = "https://localhost"
    assert "secure" in join(server, lobby, client).history[0].headers["set-cookie"].lower()
    entered = (
        client.get(f"/enter/{server.state.keys.admin}").history[0].headers["set-cookie"].lower()
    )
    assert "secure" in entered
    assert "samesite=lax" in entered


def test_a_label_opens_its_seat_in_the_browser_that_took_it_and_elsewhere_by_a_personal_link_only(
    server,
):
    lobby = server.state.sessions.create_sessions(PAIR)
    browser = server.client()
    ann = place(join(server, lobby, browser, PROLIFIC_PID="ann", STUDY_ID="s1", SESSION_ID="x9"))
    bob = place(join(server, lobby, server.client(), participant_label="bob"))
    assert ann != bob
    for _ in range(2):
        assert place(join(server, lobby, browser, PROLIFIC_PID="ann")) == ann
        stranger = server.client().get(
            server.state.join_path(lobby.id), params={"PROLIFIC_PID": "ann"}
        )
        assert stranger.status_code == 403
        assert "Somebody takes part under this label already" in stranger.text
        assert place(server.client().get(server.state.personal_path(lobby.id, "bob"))) == bob
        server.restart()
        browser.app = server.app
    rows = server.api().get("/api/export/participants.json").json()
    labels = ("participant_label", "PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    assert [[row[name] for name in labels] for row in rows] == [
        [None, "ann", "s1", "x9"],
        ["bob", None, None, None],
    ]


LISTED = """
title = "By invitation"
[[games]]
game = "prisoners-dilemma"
seats = ["person", "person"]
quiz = false
[assignment]
labels = ["x1", "x2"]
"""


def test_only_people_on_the_list_take_part_and_each_by_their_own_link(server):
    lobby = server.state.sessions.create_experiment(LISTED)
    state, shared = server.state, server.state.join_path(lobby.id)
    for labels in ({}, {"participant_label": "x1"}, {"participant_label": "x1", "key": "wrong"}):
        refused = server.client().get(shared, params=labels)
        assert refused.status_code == 403
        assert "personal link" in refused.text
    link = state.personal_path(lobby.id, "x1")
    client = server.client()
    key = hidden(client.get(link), "key")
    form = {"csrf": hidden(client.get(link), "csrf"), "participant_label": "x1", "key": key}
    assert client.post(shared, data={**form, "participant_label": "x2"}).status_code == 403
    taken = client.post(shared, data=form).url.path
    assert taken.startswith("/seat/")
    assert server.client().get(link).url.path == taken
    page = server.admin.get(f"/lobby/{lobby.id}").text
    assert page.count("participant_label=") == 2
    api = server.api(state.keys.token("lobby", lobby.id))
    named = {"participant_label": "x1"}
    assert api.post(f"/api/lobbies/{lobby.id}/join", json=named).status_code == 403
    again = api.post(f"/api/lobbies/{lobby.id}/join", json={**named, "key": key})
    assert (again.status_code, again.json()["path"]) == (201, taken)


def test_a_label_that_stands_twice_is_refused_with_its_line():
    with pytest.raises(UsageError, match="line 7: the label 'x1' stands twice"):
        check_experiment(LISTED.replace('"x2"', '"x1"'))


def test_another_label_in_the_same_browser_leads_to_the_seat_that_the_browser_took(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    client = server.client()
    first = place(join(server, lobby, client, participant_label="first"))
    assert place(join(server, lobby, client, participant_label="second")) == first


def test_a_label_of_ten_thousand_characters_is_refused_in_a_sentence(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    answer = server.client().get(
        server.state.join_path(lobby.id), params={"participant_label": "x" * 10_000}
    )
    assert answer.status_code == 422
    assert "Participant_label has 10000 characters; expected at most 200." in answer.text
    assert seated(server) == []


def test_a_seat_that_nobody_confirms_is_given_to_the_next_and_its_old_link_opens_nothing(server):
    lobby = server.state.sessions.create_sessions(
        Setup(PAIR.game, ("person", "strategy:greedy"), quiz=False, hold=60)
    )
    time = [1000.0]
    server.state.sessions.register._clock = lambda: time[0]
    store = server.state.sessions
    taken = store.take_seat(lobby.id, {"participant_label": "gone"})
    old, code = server.state.seat_path(*taken), server.state.code(*taken)
    assert re.fullmatch("P-[0-9A-Z]{8}", code)
    assert store.register.is_free(*taken, 60, None) is False
    time[0] += 61
    assert store.take_seat(lobby.id, {"participant_label": "next"}) == taken
    assert server.state.seat_path(*taken) != old
    assert server.state.code(*taken) != code
    assert server.client().get(old).status_code == 404
    assert store.register.find(lobby.id, {"participant_label": "gone"}) is None


def test_a_confirmed_seat_and_one_without_limit_are_kept_for_ever():
    time = [0.0]
    register = SeatRegister(lambda: time[0])
    seat = {"session": "l-1", "seat": 0, "at": "then", "labels": {}}
    register.apply({"event": "seated", **seat})
    time[0] = 10_000.0
    assert register.is_free("l-1", 0, 60, None) is True
    assert register.is_free("l-1", 0, 60, 9_990.0) is False
    assert register.is_free("l-1", 0, 0, None) is False
    register.apply({"event": "ready", "quiz_tries": 1, **seat})
    assert register.is_free("l-1", 0, 60, None) is False


def register_at(time, *events):
    """A register that has followed events of seats of the lobby `l`, with a clock that a test can
    set."""
    register = SeatRegister(lambda: time[0])
    for event, seat, what in events:
        register.apply({"event": event, "session": "l-1", "seat": seat, "at": "then", **what})
    return register


def test_a_seat_is_kept_as_long_as_the_setup_says_from_when_its_holder_was_last_seen():
    time = [100.0]
    register = register_at(time, ("seated", 0, {"labels": {}}))
    found = []
    for now, seen in ((160.0, None), (161.0, None), (161.0, 101.0), (162.0, 101.0), (162.0, 99.0)):
        time[0] = now
        found.append(register.is_free("l-1", 0, 60, seen))
    assert found == [False, True, False, True, True]
    assert register.is_free("l-1", 1, 60, None) is True
    assert (register.is_free("l-1", 1, 60, 150.0), register.is_free("l-1", 1, 60, 101.0)) == (
        False,
        True,
    )


def test_holders_are_numbered_and_seats_counted():
    register = register_at(
        [0.0], ("seated", 0, {"labels": {}}), ("seated", 1, {"holder": 2, "labels": {}})
    )
    assert [register.get("l-1", seat).number + 1 for seat in (0, 1, 2)] == [1, 3, 0]
    assert (register.taken["l"], register.taken["m"]) == (2, 0)
    holder = register.get("l-1", 0)
    assert (holder.number, holder.seated, holder.confirmed, holder.quiz_tries) == (
        0,
        "then",
        False,
        0,
    )
    assert register.get("l-1", 2).taken is False


def test_a_person_is_found_by_the_labels_that_tell_people_apart():
    ann = {"PROLIFIC_PID": "ann", "STUDY_ID": "s", "SESSION_ID": "x"}
    register = register_at(
        [0.0], ("seated", 0, {"labels": ann}), ("seated", 1, {"labels": {"STUDY_ID": "s"}})
    )
    assert register.find("l", {"PROLIFIC_PID": "ann"}) == ("l-1", 0)
    assert register.find("l", {"participant_label": "ann"}) == ("l-1", 0)
    assert register.find("l", {"STUDY_ID": "s"}) is None
    assert register.find("m", ann) is None


def test_tries_of_the_quiz_and_being_ready_are_noted_of_the_holder():
    register = register_at([0.0], ("seated", 0, {"labels": {}}), ("quiz", 0, {"tries": 2}))
    assert (register.get("l-1", 0).quiz_tries, register.get("l-1", 0).confirmed) == (2, False)
    register.apply({"event": "ready", "session": "l-1", "seat": 0, "quiz_tries": 3})
    assert (register.get("l-1", 0).quiz_tries, register.get("l-1", 0).confirmed) == (3, True)


def test_a_label_has_two_hundred_characters_at_most():
    assert read_labels({"STUDY_ID": "x" * 200}) == {"STUDY_ID": "x" * 200}
    with pytest.raises(UsageError, match="STUDY_ID has 201 characters; expected at most 200"):
        read_labels({"STUDY_ID": "x" * 201})


def test_nobody_is_seated_where_somebody_came_by_a_link_of_their_own(server):
    lobby = server.state.sessions.create_sessions(PAIR)
    server.client().get(server.state.seat_path(lobby.tables[0].id, 0))
    assert place(join(server, lobby, server.client())) == [lobby.tables[0].id, "1"]


@pytest.mark.parametrize("again", [False, True], ids=["running", "after a restart of the server"])
def test_a_late_comer_is_seated_in_the_next_group_and_never_in_a_game_that_has_begun(server, again):
    lobby = server.state.sessions.create_sessions(PAIR, groups=2)
    first, second = (table.id for table in lobby.tables)
    gina = server.client()
    link = join(server, lobby, gina).url.path
    gina.post(f"{link}/ready", data={"csrf": hidden(gina.get(link), "csrf")})
    server.state.sessions.begin_without(server.state.sessions.get_session(first))
    if again:
        server.restart()
    taken = [place(join(server, lobby, server.client())) for _ in range(2)]
    assert taken == [[second, "0"], [second, "1"]]
    page = server.client().get(server.state.join_path(lobby.id))
    refused = server.client().post(
        server.state.join_path(lobby.id), data={"csrf": hidden(page, "csrf")}
    )
    assert "Every seat is taken" in refused.text


def test_quiz_tries_are_counted_by_the_server_also_after_a_reload_and_a_restart(server):
    setup = Setup(PAIR.game, ("person", "strategy:greedy"))
    link = server.state.seat_path(server.state.sessions.create_sessions(setup).tables[0].id, 0)
    for _ in range(3):
        client = server.client()
        client.post(
            f"{link}/ready",
            data={"csrf": hidden(client.get(link), "csrf"), "quiz.0": "99", "tries": "0"},
        )
    server.restart()
    rows = server.api().get("/api/export/participants.json").json()
    assert [row["quiz_tries"] for row in rows] == [3]
