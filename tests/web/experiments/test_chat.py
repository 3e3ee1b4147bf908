"""Messages that people write to their group beside a game: kept, shown to the group alone, and
exported."""

import json

import pytest
from web_server import export, flatten, hidden, make_ready, seat, take

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.reader import read_page

STUDY = """
title = "Talk"
groups = 2
[[games]]
game = "prisoners-dilemma"
rounds = 2
quiz = false
chat = 20
seats = ["person", "person"]
"""


def begin(server, text=STUDY):
    """Everybody of the first group, ready: (client, link) of each."""
    lobby = server.state.sessions.create_experiment(text)
    people = [seat(server, lobby, participant_label=name) for name in ("ann", "bob")]
    for client, link in people:
        make_ready(client, link)
    return lobby, people


def write(client, link, text, csrf=""):
    csrf = csrf or hidden(client.get(link), "csrf")
    return client.post(f"{link}/chat", data={"csrf": csrf, "text": text})


def test_a_message_is_seen_by_the_group_and_by_nobody_else(server):
    lobby, [(ann, ann_link), (bob, bob_link)] = begin(server)
    carl, carl_link = seat(server, lobby, participant_label="carl")
    dora, dora_link = seat(server, lobby, participant_label="dora")
    make_ready(carl, carl_link)
    make_ready(dora, dora_link)
    assert write(ann, ann_link, "  both <b>cooperate</b>").status_code == 422  # 21 characters
    assert write(ann, ann_link, "<b>cooperate</b>!").status_code == 200
    seen = flatten(bob.get(bob_link))
    assert '<span class="speaker">row</span><p>&lt;b&gt;cooperate&lt;/b&gt;!</p>' in seen
    assert '<span class="speaker">row (you)</span>' in flatten(ann.get(ann_link))
    assert "cooperate&lt;" not in carl.get(carl_link).text


def test_an_open_page_hears_of_a_message_at_once(server):
    _, [(ann, ann_link), (bob, bob_link)] = begin(server)
    write(ann, ann_link, "hello")
    version = server.state.sessions.get_session(bob_link.split("/")[2]).version(1)
    news = bob.get(f"{bob_link}/changes", params={"after": version, "chatted": 0}).json()
    assert news["chat"] == [{"who": "row", "own": False, "text": "hello", "move": ""}]
    assert news["version"] == version
    assert bob.get(f"{bob_link}/changes").json()["chat"] == []
    assert bob.get(f"{bob_link}/changes", params={"chatted": 1}).json()["chat"] == []


def test_messages_are_in_the_data_with_the_round_and_survive_a_restart(server):
    lobby, [(ann, ann_link), (bob, bob_link)] = begin(server)
    write(ann, ann_link, "first")
    take(ann, ann_link, answer="cooperate")
    write(ann, ann_link, "still first")
    take(bob, bob_link, answer="defect")
    write(bob, bob_link, "=second")
    server.restart()
    rows = export(server, "chat", lobby)
    assert [(row["round"], row["role"], row["text"]) for row in rows] == [
        (1, "row", "first"),
        (1, "row", "still first"),
        (None, "col", "=second"),
    ]
    take(ann, ann_link, answer="cooperate")
    assert export(server, "chat", lobby)[2]["round"] == 2
    listed = server.admin.get(f"/export/chat.csv?lobby={lobby.id}").text
    assert "'=second" in listed
    codebook = server.admin.get(f"/export/codebook.json?lobby={lobby.id}").text
    described = {row["column"] for row in json.loads(codebook) if row["table"] == "chat"}
    assert described == set(rows[0])


def test_nothing_can_be_sent_before_or_after_the_game_or_where_there_is_no_chat(server):
    lobby = server.state.sessions.create_experiment(STUDY)
    people = [seat(server, lobby), seat(server, lobby)]
    ann, ann_link = people[0]
    csrf = hidden(ann.get(ann_link), "csrf")
    write(ann, ann_link, "too early", csrf)
    for client, link in people:
        make_ready(client, link)
    for _ in range(2):
        for client, link in people:
            take(client, link, answer="defect")
    write(ann, ann_link, "too late", csrf)
    _, [(quiet, quiet_link), _] = begin(server, STUDY.replace("chat = 20\n", ""))
    write(quiet, quiet_link, "no chat")
    assert server.state.sessions.journal.read_events("chat") == []
    assert 'class="chat"' not in quiet.get(quiet_link).text


def test_a_restarted_game_begins_without_messages_and_keeps_them_in_the_data(server):
    lobby, [(ann, ann_link), (bob, bob_link)] = begin(server)
    write(ann, ann_link, "old words")
    server.state.sessions.restart_table(lobby.tables[0].id)
    write(bob, bob_link, "after")
    assert "old words" not in ann.get(ann_link).text
    rows = export(server, "chat", lobby)
    assert [(row["text"], row["attempt"], row["discarded"]) for row in rows] == [
        ("old words", 1, True),
        ("after", 2, False),
    ]


def test_forged_messages_are_refused(server):
    _, [(ann, ann_link), (bob, bob_link)] = begin(server)
    other = hidden(ann.get(ann_link), "csrf")
    assert bob.post(f"{bob_link}/chat", data={"csrf": other, "text": "x"}).status_code == 403
    token = ann_link.rpartition("/")[2]
    api = server.api(token)
    path = "/".join(["/api/seats", *ann_link.split("/")[2:4]])
    assert api.post(f"{path}/chat", json={"text": "hi"}).json() == [
        {"who": "row", "own": True, "text": "hi", "move": ""}
    ]
    assert api.post(f"{path}/chat", json={"text": "x" * 21}).status_code == 422
    assert server.api("wrong").get(f"{path}/chat").status_code == 404


def test_a_person_sends_at_most_200_messages(server):
    _, [(ann, ann_link), _] = begin(server)
    session = server.state.sessions.get_session(ann_link.split("/")[2])
    for number in range(200):
        server.state.sessions.keep_chat(session, 0, str(number))
    answer = write(ann, ann_link, "one more")
    assert answer.status_code == 422
    assert "as many messages as one person may send" in answer.text


def test_a_model_that_takes_part_is_not_asked_to_write(server):
    _, [(ann, ann_link), _] = begin(server)
    assert list(read_page(ann.get(ann_link).text).fields) == ["answer"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("chat = 20", "chat = 2001"), "chat is 2001; expected at most 2000"),
        (("chat = 20", "chat = true"), "chat is True; expected a whole number"),
        (('"person", "person"', '"person", "strategy:random"'), "nobody reads the chat"),
    ],
)
def test_a_chat_that_cannot_work_is_refused(change, why):
    with pytest.raises(UsageError, match=why):
        check_experiment(STUDY.replace(*change))
