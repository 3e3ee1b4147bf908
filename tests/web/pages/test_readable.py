"""What participants read: rounds as tables, one question, cards, large tables, messages; and what
the admin can do."""

import json
import re

from web_server import hidden, sit_down, take

from bestresponse.web.sessions.setup import GameChoice, Setup
from bestresponse.web.texts import load_texts


def text(page):
    return " ".join(page.text.split())


def test_public_goods_are_a_table_of_rounds_with_one_question_unit_and_range(server):
    game = GameChoice("public-goods-punishment", parameters={"rounds": 2, "punishment": False})
    people = sit_down(server, Setup(game, ("person",) * 4, quiz=False))
    page = text(people[0][0].get(people[0][1]))
    assert "Round 1 of 2" in page
    assert "How many coins do you put into the common project?" in page
    assert "a whole number from 0 to 20 coins" in page
    for (client, link), coins in zip(people, ("20", "10", "0", "10"), strict=True):
        take(client, link, answer=coins)
    page = text(people[0][0].get(people[0][1]))
    assert "Round 2 of 2" in page
    assert "Your total so far</dt><dd>16 coins" in page
    assert '<td>1</td><td class="right mine">20</td><td class="right">10</td>' in page
    assert "player 2 put in" not in page


def test_a_game_of_99_choices_is_a_number_and_a_calculator(server):
    (client, link), _ = sit_down(
        server, Setup(GameChoice("travelers-dilemma"), ("person", "person"), quiz=False)
    )
    page = client.get(link)
    assert len(page.text) < 15_000
    assert "a whole number from 2 to 100" in page.text
    assert "both get the lower of the two chosen numbers" in page.text
    assert "iterated dominance" not in page.text
    assert (
        client.get(f"{link}/payoffs", params={"choice": ["77", "50"]}).text
        == "You would get 48; col: 52."
    )
    assert (
        client.get(f"{link}/payoffs", params={"choice": ["1", "50"]}).text
        == "1 is not one of the options."
    )
    assert "is not one of the options" in take(client, link, answer="101").text
    assert "Waiting for the others" in take(client, link, answer="77").text


def test_nobody_tells_people_that_the_others_are_rational(server):
    (client, link), _ = sit_down(
        server, Setup(GameChoice("matching-pennies"), ("person", "person"), quiz=False)
    )
    assert "rational" not in client.get(link).text


def test_poker_tells_the_own_card_and_all_bets(server):
    setup = Setup(GameChoice("kuhn-poker"), ("person", "person"), quiz=False, seed=4)
    people = sit_down(server, setup)
    server.wait_for(lambda: any("You hold the" in client.get(link).text for client, link in people))
    first, second = people
    assert len(re.findall("You hold the (?:jack|queen|king)", first[0].get(first[1]).text)) == 1
    take(*first, answer="bet")
    page = text(second[0].get(second[1]))
    assert len(re.findall("You hold the (?:jack|queen|king)", page)) == 1
    assert "So far: player 1 chose bet." in page


def test_poker_of_three_tells_who_passed_and_who_bet(server):
    people = sit_down(
        server, Setup(GameChoice("kuhn-poker-3"), ("person",) * 3, quiz=False, seed=4)
    )
    server.wait_for(lambda: "You hold the" in people[0][0].get(people[0][1]).text)
    take(*people[0], answer="pass")
    take(*people[1], answer="bet")
    page = text(people[2][0].get(people[2][1]))
    assert "So far: player 1 chose pass, player 2 chose bet." in page


def test_a_drought_is_a_table_of_days_and_of_residents(server):
    seats = ("person", "person", *("strategy:need",) * 3)
    setup = Setup(GameChoice("water", rounds=2), seats, quiz=False, stand_in="need", seed=1)
    (alex, link), (bob, bob_link) = sit_down(server, setup)
    server.wait_for(lambda: "water today" in alex.get(link).text)
    page = text(alex.get(link))
    assert "Day 1 of 2" in page
    assert "<dt>your money</dt><dd>$70</dd>" in page
    assert (
        '<tr><td>Bob</td><td class="right">$75</td><td class="right">8</td><td'
        ' class="right">0</td></tr>' in page
    )
    assert "Your total so far" not in page
    take(alex, link, answer="pass")
    take(bob, bob_link, answer="75")
    server.wait_for(lambda: "Day 2 of 2" in alex.get(link).text)
    page = text(alex.get(link))
    assert '<tr><td>1</td><td class="right mine">pass</td><td class="right">7</td>' in page
    assert '<td class="right">$75, served</td>' in page
    assert "made no bid" not in page


def test_a_message_reaches_the_table_and_stays(server):
    (client, link), _ = sit_down(
        server, Setup(GameChoice("chicken"), ("person", "person"), quiz=False)
    )
    lobby = server.state.sessions.list_lobbies()[0]
    admin = server.admin
    form = {
        "csrf": hidden(admin.get(f"/lobby/{lobby.id}"), "csrf"),
        "text": "Five minutes <b>left</b>",
        "to": "",
    }
    assert "Sent to 1 tables" in admin.post(f"/lobby/{lobby.id}/message", data=form).text
    assert "Five minutes &lt;b&gt;left" in client.get(link).text
    assert (
        admin.post(f"/lobby/{lobby.id}/message", data=form | {"text": "x" * 1001}).status_code
        == 422
    )
    server.restart()
    assert "Five minutes" in server.client().get(link).text


def test_how_long_a_page_was_out_of_sight_is_exported(server):
    (client, link), _ = sit_down(
        server, Setup(GameChoice("chicken"), ("person", "person"), quiz=False)
    )
    take(client, link, answer="swerve", away_times="2", away_seconds="17")
    (row,) = json.loads(server.admin.get("/export/decisions.json").text)
    assert (row["away_times"], row["away_seconds"]) == (2, 17)
    server.restart()
    (row,) = json.loads(server.admin.get("/export/decisions.json").text)
    assert row["away_seconds"] == 17


def test_the_admin_logs_out(server):
    admin = server.admin
    assert admin.get("/").status_code == 200
    token = hidden(admin.get("/leave"), "csrf")
    assert "You are logged out" in admin.post("/leave", data={"csrf": token}).text
    assert admin.get("/").status_code == 403


def test_shares_that_were_rounded_are_meant_to_be_everything(server):
    setup = Setup(
        GameChoice("rock-paper-scissors", mixed=True), ("person", "strategy:random"), quiz=False
    )
    ((client, link),) = sit_down(server, setup)
    assert "add up to 60 percent" in take(client, link, **{"answer.0": "60"}).text
    page = take(client, link, **{"answer.0": "33.3", "answer.1": "33,3", "answer.2": "33.3"})
    assert "percent" not in page.text


def test_no_text_of_a_german_page_is_the_english_one():
    english, german = load_texts("en"), load_texts("de")
    assert german("your_turn") == "Sie sind am Zug"
    assert english.names == german.names
    messages = english.language.messages
    same = [
        key
        for key in messages
        if key.startswith("page.") and messages[key] == german.language.messages[key]
    ]
    assert same == []


def test_older_lobbies_are_on_the_next_page(server):
    for _ in range(101):
        server.state.sessions.create_sessions(Setup(GameChoice("chicken"), ("person", "person")))
    assert "Page 1 of 2" in server.admin.get("/").text
    assert "Page 2 of 2" in server.admin.get("/?page=9").text


def test_words_sentences_and_pages_are_reworded_whole():
    phrases = {"swerve": "links", "So far: $steps.": "Bis jetzt: $steps.", "player $n": "Nr. $n"}
    german = load_texts("de").within(["bestresponse.theory.catalogue"])
    texts = german.reword({"waiting": "Bitte {warten}."}, phrases)
    assert load_texts("de").word("player 3") == "Teilnehmer 3"
    assert texts.word("player 3") == "Nr. 3"
    assert texts.word("swerve") == "links"
    assert texts.word("swerves") == "swerves"
    assert texts.language.say("so-far", steps="x") == "Bis jetzt: x."
    assert texts("waiting") == "Bitte {warten}."
    assert german.word("swerve") == "ausweichen"
    assert load_texts("de").word("swerve") == "swerve"
    assert texts.number("10.6") == "10,6"
