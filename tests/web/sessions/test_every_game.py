"""Every game on the list is played to its end by the API, by scripted people who draw legal answers
from the ask."""

import random
import re

import pytest
from daily import share_out
from plugins import lay_package
from web_server import Server

from bestresponse.formal.formalize.plan import library
from bestresponse.web.security import RateLimit
from bestresponse.web.sessions.setup import list_offers

MOST_ANSWERS = 400


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("every-game"), lambda request: "cooperate")
    server.state.strangers = server.state.seats = RateLimit(1e9, 1e9)
    yield server
    server.stop()


def drawn(ask, rng):
    """A legal answer to the question, as JSON."""
    match ask["kind"]:
        case "choice":
            return rng.choice(ask["options"])
        case "amount" if ask["whole"]:
            return rng.randint(int(ask["low"]), int(ask["high"]))
        case "amount":
            return round(rng.uniform(ask["low"], ask["high"]), 6)
        case "words":
            return "Let us be reasonable."
        case "mixture":
            return [1.0, *(0.0 for _ in ask["options"][1:])]
        case "form":
            return {name: drawn(part, rng) for name, part in ask["fields"]}
    raise AssertionError(f"nobody answers {ask}")


class Person:
    """Somebody who plays one seat by the API."""

    def __init__(self, server, session, seat, link):
        self.api, self.place = server.api(link["token"]), f"/api/seats/{session}/{seat}"
        self.page, self.path = server.client(), link["path"]
        self.role = link["role"]

    def told(self):
        answer = self.api.get(self.place)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ready(self):
        answer = self.api.post(f"{self.place}/ready", json={})
        assert answer.status_code == 200, answer.text

    def answer(self, told, rng):
        given = {"turn": told["turn"], "answer": drawn(told["ask"], rng)}
        answer = self.api.post(f"{self.place}/answers", json=given)
        assert answer.status_code == 200, (given, answer.text)


def play(server, game, rivals=0):
    """Lay a table and play it to its end; gives what the first person is told then."""
    roles = server.api().post("/api/games", json=game).json()["roles"]
    seats = ["person"] * (len(roles) - rivals) + ["strategy:random"] * rivals
    wanted = {"game": game, "seats": seats, "quiz": False, "seed": 1}
    laid = server.api().post("/api/lobbies", json=wanted)
    assert laid.status_code == 201, laid.text
    (session,) = laid.json()["sessions"]
    links = [(seat, link) for seat, link in enumerate(session["seats"]) if link["token"]]
    people = [Person(server, session["session"], seat, link) for seat, link in links]
    rng = random.Random(str(game))
    for person in people:
        person.ready()
    assert people[0].page.get(people[0].path).status_code == 200
    for _ in range(MOST_ANSWERS):
        known = [person.told() for person in people]
        if known[0]["phase"] == "over":
            break
        asked = [
            (person, told)
            for person, told in zip(people, known, strict=True)
            if told["phase"] == "turn"
        ]
        if not asked:
            versions = [told["version"] for told in known]
            server.wait_for(
                lambda seen=versions: [person.told()["version"] for person in people] != seen
            )
        for person, told in asked:
            person.answer(told, rng)
    ending = people[0].told()
    assert set(ending["payoffs"]) == set(roles)
    assert people[0].page.get(people[0].path, params={"after": "equilibrium"}).status_code == 200
    assert people[0].api.get(f"{people[0].place}/equilibrium").status_code == 200
    return ending


OFFERS = [offer for offer in list_offers() if offer.kind != "dialogue"]
TABLES = [offer.name for offer in OFFERS if offer.kind == "table"]
OTHERS = [offer.name for offer in OFFERS if offer.kind != "table"]


@pytest.mark.parametrize("name", share_out(TABLES) + share_out(OTHERS, parts=2, part=0))
def test_a_game_is_played_to_its_end_by_people(store, name):
    assert play(store, {"name": name})["phase"] == "over"


@pytest.mark.parametrize("name", share_out(OTHERS, parts=2, part=1))
def test_a_game_is_played_to_its_end_against_a_strategy(store, name):
    assert play(store, {"name": name}, rivals=1)["stand_ins"] == 0


def test_a_repeated_table_and_one_of_probabilities_are_played(store):
    assert play(store, {"name": "chicken", "rounds": 3})["turn"] == 3
    assert play(store, {"name": "rock-paper-scissors", "mixed": True})["turn"] == 1


@pytest.mark.parametrize("example", [example.name for example in library()])
def test_a_formalized_game_is_played(store, example):
    program = next(one.program for one in library() if one.name == example)
    assert play(store, {"name": example, "program": program})["phase"] == "over"


def test_a_card_is_shown_to_the_one_who_may_see_it_and_to_nobody_else(store):
    """The rules name both cards; what somebody saw is said in the words "you saw"."""
    program = next(one.program for one in library() if one.name == "hidden_card")
    wanted = {
        "game": {"name": "card", "program": program},
        "seats": ["person"] * 2,
        "quiz": False,
        "seed": 1,
    }
    (session,) = store.api().post("/api/lobbies", json=wanted).json()["sessions"]
    ines, jonas = (
        Person(store, session["session"], seat, link) for seat, link in enumerate(session["seats"])
    )
    for person in (ines, jonas):
        person.ready()
    store.wait_for(lambda: find_seen(ines))
    (card,) = set(find_seen(ines))
    assert card in ("queen", "king")
    assert find_seen(jonas) == []
    turn = ines.told()["turn"]
    assert (
        ines.api.post(f"{ines.place}/answers", json={"turn": turn, "answer": "double"}).status_code
        == 200
    )
    store.wait_for(lambda: find_seen(jonas))
    assert set(find_seen(jonas)) == {"double"}
    assert set(find_seen(ines)) == {card}


def find_seen(person):
    """Find everything that a person is told to have seen, by the API and on the page."""
    page = person.page.get(person.path)
    assert page.status_code == 200
    return re.findall(r"you saw (\w+)", f"{person.told()} {page.text}")


def test_a_game_that_cannot_be_made_is_not_on_the_list(tmp_path, monkeypatch):
    source = "def broken():\n    raise TypeError('a plug-in of another time')\n"
    entry = ("bestresponse.games", "broken-game", "broken")
    monkeypatch.syspath_prepend(lay_package(tmp_path, "plugged_broken", source, entry))
    list_offers.cache_clear()
    try:
        assert "broken-game" not in [offer.name for offer in list_offers()]
    finally:
        list_offers.cache_clear()
