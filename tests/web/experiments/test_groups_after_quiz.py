"""Groups in the order in which people pass the quiz: nobody waits for a person who reads slowly."""

import re

import pytest
from web_server import export, hidden, make_ready, seat, take

from bestresponse.core.errors import UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.services.seat import list_quiz_questions
from bestresponse.web.trial import TrialSettings, try_experiment

STUDY = """
title = "Grouped"
groups = 3
[assignment]
groups = "quiz"
[limits]
tries = 2
[[games]]
game = "prisoners-dilemma"
rounds = 1
seats = ["person", "person"]
[[games.questions]]
text = "What is one and one?"
answer = 2
"""


def come(server, lobby, *names):
    return {name: seat(server, lobby, participant_label=name) for name in names}


def pass_quiz(person, *answers):
    """Answer the quiz by the form that is on the page."""
    client, link = person
    page = client.get(link)
    home = re.search(r'action="([^"]+)/ready"', page.text)[1]
    return make_ready(client, home, *answers)


def find_table(page):
    """The session and the seat of a page."""
    return tuple(page.url.path.split("/")[2:4])


def test_who_passes_first_plays_first_and_keeps_the_role(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    people = come(server, lobby, "a", "b", "c", "d")  # groups 1: a and b, 2: c and d
    first, second = (table.id for table in lobby.tables[:2])
    assert find_table(pass_quiz(people["a"], "2")) == (first, "0")
    client, link = people["b"]
    csrf = hidden(client.get(link), "csrf")
    # b reads on; d has the same role, passes, and plays with a.
    assert find_table(pass_quiz(people["d"], "2")) == (first, "1")
    session = server.state.sessions.get_session(first)
    assert session.begun
    # The page of b stays as it is, and its form leads to the other group.
    assert 'data-phase="welcome"' in client.get(link).text
    sent = client.post(f"{link}/ready", data={"csrf": csrf, "quiz.0": "2"})
    assert find_table(sent) == (second, "1")
    pass_quiz(people["c"], "2")
    assert server.state.sessions.get_session(second).begun


def test_codes_labels_and_pages_go_with_the_person(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    people = come(server, lobby, "a", "b", "c", "d")
    first, second = (table.id for table in lobby.tables[:2])
    codes = {"b": server.state.code(first, 1), "d": server.state.code(second, 1)}
    pass_quiz(people["a"], "2")
    pass_quiz(people["d"], "2")
    pass_quiz(people["b"], "2")
    pass_quiz(people["c"], "2")
    server.restart()
    assert server.state.code(first, 1) == codes["d"]
    assert server.state.code(second, 1) == codes["b"]
    moves = {"a": "cooperate", "b": "cooperate", "c": "defect", "d": "defect"}
    for name, move in moves.items():
        client, link = people[name]
        page = client.get(link)
        home = re.search(r'action="([^"]+)/answer"', page.text)[1]
        take(client, home, answer=move)
    rows = {row["participant_label"]: row for row in export(server, "participants", lobby)}
    # a cooperates and d defects: 0 and 5; c defects and b cooperates: 5 and 0.
    points = {name: row["seat_points"] for name, row in rows.items()}
    assert points == {"a": 0.0, "b": 0.0, "c": 5.0, "d": 5.0}
    assert rows["b"]["participant"] == codes["b"]
    assert rows["b"]["group"] == 2
    times = export(server, "times", lobby)
    seen = [row["page"] for row in times if row["participant"] == codes["b"]]
    assert seen[0] == "rules"
    assert "question" in seen


def test_nobody_gets_the_link_of_another_person(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    people = come(server, lobby, "a", "b", "c", "d")
    first = lobby.tables[0].id
    pass_quiz(people["a"], "2")
    pass_quiz(people["d"], "2")
    client, link = people["b"]
    token = server.state.seat_token(first, 1)
    assert token not in link
    assert token not in client.get(link).text
    # A browser that comes again by the shared link finds its own seat.
    again = client.get(server.state.join_path(lobby.id), params={"participant_label": "b"})
    assert token not in str(again.url)
    assert find_table(again) == (lobby.tables[1].id, "1")


def test_an_open_page_of_a_person_who_is_moved_does_not_go_on(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    people = come(server, lobby, "a", "b", "c", "d")
    pass_quiz(people["a"], "2")
    pass_quiz(people["d"], "2")
    client, link = people["b"]
    assert client.get(f"{link}/changes").json()["version"] == "welcome"


def test_the_place_of_somebody_who_failed_the_quiz_is_filled(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    people = come(server, lobby, "a", "b", "c", "d")
    first, second = (table.id for table in lobby.tables[:2])
    pass_quiz(people["a"], "2")
    for _ in range(2):
        pass_quiz(people["b"], "3")
    assert find_table(pass_quiz(people["d"], "2")) == (first, "1")
    # The seat that d had is free, and the old link of d opens the new one.
    client, link = people["d"]
    assert 'data-phase="turn"' in client.get(link).text
    assert find_table(server.client().get(server.state.seat_path(second, 1))) == (second, "1")
    assert server.client().get(server.state.seat_path(second, 1)).status_code == 404
    newcomer = come(server, lobby, "e")["e"]
    assert find_table(newcomer[0].get(newcomer[1])) == (second, "1")
    rows = {row["participant_label"]: row for row in export(server, "participants", lobby)}
    assert rows["b"]["outcome"] == "screened out"
    assert sorted(rows) == ["a", "b", "c", "d", "e"]


def test_people_stay_in_their_treatment(server):
    text = STUDY.replace("groups = 3", "groups = 2") + (
        '[[treatments]]\nname = "low"\n[treatments.games."game 1"]\ntitle = "Low"\n'
        '[[treatments]]\nname = "high"\n[treatments.games."game 1"]\ntitle = "High"\n'
    )
    lobby = server.state.sessions.create_experiment(text)
    people = come(server, lobby, "a", "b", "c", "d")
    pass_quiz(people["a"], "2")
    assert find_table(pass_quiz(people["d"], "2")) == (lobby.tables[1].id, "1")


def test_with_random_roles_people_of_the_same_role_can_meet_and_keep_their_quiz(server):
    text = STUDY.replace('groups = "quiz"', 'groups = "quiz"\nroles = "random"')
    text = text[: text.index("[[games.questions]]")]
    lobby = server.state.sessions.create_experiment(text)
    sessions = server.state.sessions
    people = come(server, lobby, "a", "b", "c", "d")
    asked = {}
    for name, (_, link) in people.items():
        session, number = link.split("/")[2:4]
        quiz = list_quiz_questions(sessions.get_session(session), int(number))
        asked[name] = [str(question.answer) for question in quiz]
    same = "c" if people["c"][1].split("/")[3] == people["a"][1].split("/")[3] else "d"
    pass_quiz(people["a"], *asked["a"])
    page = pass_quiz(people[same], *asked[same])
    assert find_table(page)[0] == lobby.tables[0].id
    assert sessions.get_session(lobby.tables[0].id).begun
    # Whoever had to leave the group answers the questions that were on the page.
    page = pass_quiz(people["b"], *asked["b"])
    assert 'data-phase="gathering"' in page.text
    with pytest.raises(UsageError, match=r"\$role is not known when people read the rules"):
        check_experiment(text + 'instructions = "You are $role."\n')


def test_programs_go_through_such_an_experiment():
    text = STUDY.replace("groups = 3", "groups = 6")
    trial = try_experiment(text, TrialSettings(12), lambda name: ScriptedModel(lambda _: ""))
    assert (trial.finished, trial.wrong) == (12, [])
