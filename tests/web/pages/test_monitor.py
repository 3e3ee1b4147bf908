"""The monitor of a lobby: one row for each person, filters, a menu of actions, and a list of
payments."""

import re

import pytest
from web_server import flatten, make_ready, seat, take

FILE = """
title = "Two games"
groups = 2
[[games]]
name = "one"
game = "prisoners-dilemma"
quiz = false
rounds = 2
seats = ["person", "person"]
[[games]]
name = "two"
game = "chicken"
quiz = false
seats = ["person", "person"]
[payment]
currency = "EUR"
show_up = 2
rate = 0.1
"""


@pytest.fixture
def lobby(server):
    """Of four seats two are taken: lab-1 has answered once, lab-2 is asked."""
    lobby = server.state.sessions.create_experiment(FILE)
    people = [seat(server, lobby, participant_label=name) for name in ("lab-1", "lab-2")]
    for client, link in people:
        make_ready(client, link)
    take(*people[0], answer="cooperate")
    lobby_people[lobby.id] = people
    return lobby


lobby_people = {}


def list_states(server, lobby, **wanted):
    rows = server.api().get(f"/api/lobbies/{lobby.id}/people", params=wanted).json()
    return [(row["label"], row["stage"], row["last_answer"], row["money"]) for row in rows]


def test_every_person_is_one_row_with_state_last_answer_and_earnings(server, lobby):
    assert list_states(server, lobby) == [
        ("lab-1", "waiting", "cooperate", 2.0),
        ("lab-2", "asked", "", 2.0),
        ("", "to come", "", None),
        ("", "to come", "", None),
    ]
    page = server.admin.get(f"/lobby/{lobby.id}").text
    # Two games of two groups are four tables, and still four rows.
    assert page.count('<details class="menu">') == 4
    assert page.count('data-label="Last answer">cooperate<') == 1


def test_the_row_follows_a_person_into_the_next_game_with_the_money_so_far(server, lobby):
    first, second = lobby_people[lobby.id]
    take(*second, answer="cooperate")
    for person in (first, second):
        take(*person, answer="defect")
    # 3 points and 1 point at 0.10, and 2 for coming.
    rows = server.api().get(f"/api/lobbies/{lobby.id}/people").json()
    assert [(row["part"], row["game"], row["money"], row["points"]) for row in rows[:2]] == [
        (2, "two", 2.4, 4.0),
        (2, "two", 2.4, 4.0),
    ]


def test_the_list_is_narrowed_by_stage_and_by_words(server, lobby):
    assert [row[0] for row in list_states(server, lobby, stage="asked")] == ["lab-2"]
    assert [row[0] for row in list_states(server, lobby, stage="to come")] == ["", ""]
    assert [row[0] for row in list_states(server, lobby, find="LAB-1")] == ["lab-1"]
    assert [row[0] for row in list_states(server, lobby, find="group 2 row")] == [""]
    page = flatten(server.admin.get(f"/lobby/{lobby.id}?stage=asked"))
    assert 'data-label="Who">lab-2' in page
    assert 'data-label="Who">lab-1' not in page
    assert "asked now 1</a>" in page
    wrong = server.api().get(f"/api/lobbies/{lobby.id}/people", params={"stage": "x"})
    assert wrong.status_code == 422
    assert "there is no stage 'x'; expected one of asked, waiting" in wrong.json()["error"]


def test_the_payments_are_a_list_to_print_with_the_sum(server, lobby):
    page = server.admin.get(f"/lobby/{lobby.id}/payments").text
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "2 people, EUR 4.00 in all" in text
    assert "lab-1 still taking part, amount may change 2.00" in text
    assert text.rstrip().endswith("Sum 4.00")
    assert server.client().get(f"/lobby/{lobby.id}/payments").status_code == 403
