"""A session of three people, one of whom goes away, leaves as tables."""

import csv
import io
import json

import pytest
import web_server
from web_server import export as of, make_ready, take

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.web.reader import read_page
from bestresponse.web.services import export
from bestresponse.web.services.export import COLUMNS
from bestresponse.web.trial import TrialSettings, try_experiment

MOVES = {0: ("volunteer", "wait"), 1: ("wait", "volunteer")}


@pytest.fixture
def session(server, clock):
    """Two rounds of the volunteer's dilemma; the third person agrees and is never seen again."""
    wanted = {
        "game": {"name": "volunteers-dilemma", "rounds": 2},
        "seats": ["person"] * 3,
        "seconds": 600,
        "consent": "Your answers are kept.",
        "quiz": False,
        "seed": 1,
    }
    laid = server.api().post("/api/lobbies", json=wanted).json()["sessions"][0]
    table = server.state.sessions.get_session(laid["session"])
    people = [server.api(seat["token"]) for seat in laid["seats"]]
    places = [f"/api/seats/{laid['session']}/{seat}" for seat in range(3)]
    refused = people[0].post(f"{places[0]}/ready", json={})
    assert (refused.status_code, refused.json()["error"]) == (
        422,
        "consent: Please agree first, or leave this page.",
    )
    for person, place in zip(people, places, strict=True):
        person.post(f"{place}/ready", json={"agreed": True})
    for turn in (0, 1):
        for seat, moves in MOVES.items():
            answer = people[seat].post(
                f"{places[seat]}/answers", json={"turn": turn, "answer": moves[turn]}
            )
            assert answer.status_code == 200, answer.text
        clock.advance(603)
        server.wait_for(lambda done=3 * turn + 3: table.settled == done)
    server.wait_for(lambda: server.state.sessions.is_finished(laid["session"]))
    return laid


def rows_of(server, name):
    return list(csv.DictReader(io.StringIO(server.api().get(f"/api/export/{name}.csv").text)))


def test_decisions_have_a_row_for_each_player_and_round(server, session):
    rows = rows_of(server, "decisions")
    assert list(rows[0]) == list(COLUMNS["decisions"])
    assert sorted((row["role"], row["round"]) for row in rows) == [
        (f"player {player}", str(number)) for player in (1, 2, 3) for number in (1, 2)
    ]
    own = {(row["role"], row["round"]): (row["action"], row["stand_in"]) for row in rows}
    assert own["player 1", "1"] == ("volunteer", "")
    assert own["player 2", "2"] == ("volunteer", "")
    third = [row for row in rows if row["role"] == "player 3"]
    assert {(row["stand_in"], row["status"], row["how"]) for row in third} == {
        ("random", "refused", "no answer within 600 seconds")
    }
    assert len({row["participant"] for row in rows}) == 3


def test_the_payoffs_of_the_rounds_add_up_to_that_of_the_session(server, session):
    sums = {}
    for row in rows_of(server, "decisions"):
        sums[row["role"]] = sums.get(row["role"], 0) + float(row["payoff"])
    assert sums == {row["role"]: float(row["payoff"]) for row in rows_of(server, "parts")}


def test_participants_have_their_code_and_consent(server, session):
    rows = rows_of(server, "participants")
    told = [(row["consent"], row["answers"], row["stand_ins"]) for row in rows]
    assert told == [("True", "2", "0"), ("True", "2", "0"), ("True", "0", "2")]
    assert [row["participant"] for row in rows] == [
        seat["participant"] for seat in session["seats"]
    ]
    assert all(
        row["participant"].startswith("P-") and len(row["participant"]) == 10 for row in rows
    )


def test_parquet_is_offered_only_where_it_can_be_written(server, monkeypatch):
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    page = server.admin.get("/export").text
    assert "decisions.csv" in page
    assert "parquet" not in page


def test_json_and_parquet_hold_the_same(server, session):
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    for name in ("decisions", "participants", "parts"):
        plain = json.loads(server.api().get(f"/api/export/{name}.json").text)
        table = parquet.read_table(
            io.BytesIO(server.api().get(f"/api/export/{name}.parquet").content)
        )
        assert table.to_pylist() == plain
        assert len(plain) == len(rows_of(server, name))


AUCTION = """
title = "Bids"
[[games]]
game = "first-price-auction"
seats = ["person", "strategy:equilibrium"]
quiz = false
parameters = { roles = ["A", "B"] }
[payment]
currency = "EUR"
rate = 1
"""


def play_auction(server, bid):
    lobby = server.state.sessions.create_experiment(AUCTION)
    client, link = web_server.seat(server, lobby)
    make_ready(client, link)
    server.wait_for(lambda: "Your turn" in client.get(link).text)
    take(client, link, answer=str(bid))
    server.wait_for(lambda: server.state.sessions.is_finished(lobby.tables[0].id))
    client.get(link)
    return lobby


def test_what_a_bidder_saw_is_beside_the_bid_and_the_draws_are_listed(server):
    lobby = play_auction(server, 1)
    mine = next(row for row in of(server, "decisions", lobby) if row["seat"] == "person")
    value = json.loads(mine["known"])["value"]
    assert mine["situation"].startswith(f"Your value is {value}.")
    assert mine["action"] == 1
    assert mine["spent"] >= 0
    draws = of(server, "draws", lobby)
    assert [(row["role"], row["number"]) for row in draws] == [("nature", 1), ("nature", 2)]
    assert draws[0]["action"] == value


def test_the_wide_table_has_a_row_a_person_with_every_answer(server):
    lobby = play_auction(server, 1)
    (row,) = of(server, "wide", lobby)
    assert (row["g1_r1_1"], row["money"]) == (1, row["points"])
    assert list(row)[: len(COLUMNS["participants"])] == list(COLUMNS["participants"])


def test_every_page_of_a_person_has_its_time(server):
    lobby = play_auction(server, 1)
    # whoever looks before the draws are made sees a page that waits for them
    rows = [row for row in of(server, "times", lobby) if row["page"] != "waiting"]
    assert [(row["page"], row["question"]) for row in rows] == [
        ("rules", None),
        ("question", 1),
        ("last page", None),
    ]
    assert [row["spent"] is None for row in rows] == [False, False, True]
    assert {row["participant"] for row in rows} == {
        of(server, "participants", lobby)[0]["participant"]
    }


def test_the_codebook_describes_every_column_of_every_table(server):
    lobby = play_auction(server, 1)
    described = {(row["table"], row["column"]) for row in of(server, "codebook", lobby)}
    for table in ("decisions", "participants", "parts", "draws", "times"):
        assert {(table, column) for column in of(server, table, lobby)[0]} <= described


GERMAN = """
title = "Teilung"
language = "de"
[[games]]
game = "ultimatum"
quiz = false
seats = ["person", "person"]
[[games]]
game = "dialogue:meeting"
quiz = false
seats = ["person", "model:scripted"]
[[games]]
game = "public-goods"
quiz = false
rounds = 2
seats = ["person", "strategy:random", "strategy:random"]
"""


def read_asked_pages(trial):
    """What stands above the form of each page on which a bot was asked something."""
    told = []
    for page in trial.pages:
        _, found, rest = page.html.partition("<div data-situation>")
        if found and "data-answer>" in rest:
            told.append(read_page(f"<main>{rest.partition('<form')[0]}</main>").text)
    return told


@pytest.mark.parametrize("number", range(3))
def test_the_situation_of_every_answer_is_what_the_page_said_in_its_language(number):
    head, *games = GERMAN.split("[[games]]")
    study = f"{head}[[games]]{games[number]}"
    model = ScriptedModel(lambda request: '{"answer": "calm"}')
    settings = TrialSettings(2, models=("scripted",))
    trial = try_experiment(study, settings, lambda name: model)
    rows = list(csv.DictReader(io.StringIO(trial.files["decisions.csv"].decode("utf-8-sig"))))
    of_people = [row["situation"] for row in rows if row["seat"] == "person"]
    assert set(of_people) == set(read_asked_pages(trial))
    asked = ("Was wählen Sie?", "Was schreiben Sie", "Wie viel bieten", "Nehmen Sie", "Wie viel")
    assert all(any(words in text for words in asked) for text in of_people), of_people
    others = [row for row in rows if row["seat"] != "person"]
    assert {row["situation"] for row in others} <= {""}
    assert all(bool(row["prompt"]) == (row["seat"] == "model:scripted") for row in rows)
