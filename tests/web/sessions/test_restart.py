"""What a server knows again after a restart, besides the answers: who never came, and who came
late."""

from web_server import hidden, take

from bestresponse.web.sessions.setup import GameChoice, Setup


def begun_without(server, rounds):
    """A table that was begun without its second person: the first one's link, and the session's
    name."""
    setup = Setup(
        GameChoice("prisoners-dilemma", rounds=rounds), ("person", "person"), seconds=0, quiz=False
    )
    name = server.state.sessions.create_sessions(setup).tables[0].id
    ann, link = server.client(), server.state.seat_path(name, 0)
    ann.post(f"{link}/ready", data={"csrf": hidden(ann.get(link), "csrf")})
    server.state.sessions.begin_without(server.state.sessions.get_session(name))
    return name, link


def answers(server, name):
    return server.state.sessions.get_session(name).turn("col")


def test_whoever_never_came_is_stood_in_for_after_a_restart(server):
    name, link = begun_without(server, 3)
    take(server.client(), link, answer="cooperate")
    server.wait_for(lambda: answers(server, name) == 2)
    server.restart()
    session = server.state.sessions.get_session(name)
    assert session.state(1) == "absent"
    take(server.client(), link, answer="cooperate")
    server.wait_for(lambda: answers(server, name) == 3)


def test_whoever_came_late_answers_in_person_after_a_restart(server):
    name, link = begun_without(server, 3)
    server.wait_for(lambda: answers(server, name) == 1)
    late, own = server.client(), server.state.seat_path(name, 1)
    page = late.get(own)
    assert server.state.sessions.get_session(name).phase(1) == "welcome"
    late.post(f"{own}/ready", data={"csrf": hidden(page, "csrf")})
    server.restart()
    take(server.client(), link, answer="cooperate")
    session = server.state.sessions.get_session(name)
    assert session.state(1) == "is asked"
    assert session.seconds_left(1) is None
    take(server.client(), server.state.seat_path(name, 1), answer="cooperate")
    assert [s.decision.stand_in for s in session.episode.submissions if s.role == "col"] == [
        "random",
        "",
    ]
