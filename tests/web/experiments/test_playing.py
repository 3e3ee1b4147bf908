"""The examples played from the invitation to the code, and what is exported of them."""

import re
from pathlib import Path

import pytest
from web_server import export, flatten, hidden, join, make_ready, seat, take

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment

EXAMPLES = Path(__file__).parents[3] / "examples" / "experiments"


def begin(server, name, **changes):
    text = (EXAMPLES / f"{name}.toml").read_text("utf-8")
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return server.state.sessions.create_experiment(text)


def finish(client, link, **answers):
    data = {
        "csrf": hidden(client.get(link), "csrf"),
        **{f"item.{name}": value for name, value in answers.items()},
    }
    return client.post(f"{link}/questionnaire", data=data)


def test_a_dilemma_in_two_parts_ends_with_code_and_money_in_german(server):
    lobby = begin(server, "dilemma-de")
    client, link = seat(server, lobby, PROLIFIC_PID="p1")
    page = client.get(link)
    assert '<html lang="de">' in page.text
    assert "Ihre Punkte" in page.text
    assert "perfectly rational" not in page.text
    assert '<th class="right">Ihre Punkte</th>' in page.text
    assert "style=" not in page.text
    assert "Das stimmt nicht" in make_ready(client, link, "3").text
    make_ready(client, link, "5")
    for _ in range(5):
        server.wait_for(lambda: "Sie sind am Zug" in client.get(link).text)
        take(client, link, answer="cooperate")
    server.wait_for(lambda: "Weiter zu Teil 2 von 2" in client.get(link).text)
    page = client.get(link)
    assert "DUO-31" not in page.text
    second = re.search(r'class="button" href="(/seat/[^"]+)"', page.text)[1]
    assert join(server, lobby, client, PROLIFIC_PID="p1").url.path == second
    page = client.get(second)
    assert "Bevor Sie beginnen" not in page.text
    make_ready(client, second)
    for _ in range(3):
        server.wait_for(lambda: "Sie sind am Zug" in client.get(second).text)
        take(client, second, answer="defect")
    server.wait_for(lambda: "Einige Fragen" in client.get(second).text)
    assert "DUO-31" not in client.get(second).text
    assert "Bitte beantworten Sie diese Frage" in finish(client, second, guess="").text
    end = finish(client, second, guess="nach nichts").text
    assert "DUO-31" in end
    assert "4,30 EUR" in end  # 15 and 3 points at 0.10, and 2.50
    (paid,) = export(server, "participants", lobby)
    assert (paid["PROLIFIC_PID"], paid["points"], paid["money"], paid["q_guess"]) == (
        "p1",
        18,
        4.3,
        "nach nichts",
    )
    rows = export(server, "decisions", lobby)
    assert [row["part"] for row in rows if row["seat"] == "person"] == [1] * 5 + [2] * 3
    assert len({row["participant"] for row in rows if row["seat"] == "person"}) == 1


def test_public_goods_in_two_treatments(server):
    shorter = {"rounds": ("rounds = 10", "rounds = 1"), "groups": ("groups = 10", "groups = 2")}
    lobby = begin(server, "public-goods", **shorter)
    assert {table.treatment for table in lobby.tables} == {"with punishment", "without punishment"}
    people = [seat(server, lobby) for _ in range(8)]
    assert len({link for _, link in people}) == 8
    for client, link in people:
        make_ready(client, link, "20", "32")
    for client, link in people:
        assert "How many coins do you put into the common project?" in client.get(link).text
        take(client, link, answer="20")
    punished = [
        (client, link)
        for client, link in people
        if "How many points do you give" in client.get(link).text
    ]
    assert len(punished) == 4
    for client, link in punished:
        take(client, link, **{"answer.0": "1", "answer.1": "0", "answer.2": "0"})
    for client, link in people:
        page = finish(client, link, fair="7", age="33")
        assert "GROUP-7Q4X" in page.text
        assert "https://app.prolific.com/submissions/complete?cc=GROUP-7Q4X" in page.text
    paid = export(server, "participants", lobby)
    assert {row["points"] for row in paid if row["treatment"] == "without punishment"} == {32}
    assert {row["q_fair"] for row in paid} == {7}
    assert sum(
        row["points"] for row in paid if row["treatment"] == "with punishment"
    ) == 4 * 32 - 4 * (1 + 3)
    meanings = {row["column"]: row["meaning"] for row in export(server, "codebook", lobby)}
    assert meanings["q_fair"].startswith("How fair was your group?")


def test_instructions_tell_the_usual_values_of_parameters_too(server):
    text = (
        'title = "x"\n[[games]]\ngame = "ultimatum"\nseats = ["person", "person"]\nquiz = false\n'
    )
    lobby = server.state.sessions.create_experiment(
        f'{text}instructions = "You are $role; the pie is $pie euros."\n'
    )
    client, link = seat(server, lobby)
    assert "You are proposer; the pie is 10 euros." in client.get(link).text


def test_a_dialogue_ends_when_the_day_that_one_offers_is_accepted(server):
    lobby = begin(server, "dialogue", groups=("groups = 10", "groups = 1"))
    people = [seat(server, lobby) for _ in range(2)]
    for client, link in people:
        make_ready(client, link)
    server.wait_for(lambda: any("Your turn" in client.get(link).text for client, link in people))
    first = next(
        k for k, (client, link) in enumerate(people) if "Your turn" in client.get(link).text
    )
    speaker, other = people[first], people[1 - first]
    assert "Only you know this" in speaker[0].get(speaker[1]).text
    said = {"answer.0": "How about <b>Monday</b>?", "answer.1": "make an offer"}
    take(*speaker, **said)
    server.wait_for(lambda: "What do you offer?" in speaker[0].get(speaker[1]).text)
    take(*speaker, **{"answer.0": "Monday"})
    server.wait_for(lambda: "Your turn" in other[0].get(other[1]).text)
    assert "&lt;b&gt;Monday" in other[0].get(other[1]).text
    take(*other, **{"answer.0": "Monday is fine.", "answer.1": "accept"})
    server.wait_for(lambda: "The game is over" in speaker[0].get(speaker[1]).text)
    for client, link in people:
        assert "GBP" in finish(client, link, satisfied="4").text


def test_a_restart_forgets_nothing_of_an_experiment(server):
    lobby = begin(server, "dilemma-de")
    client, link = seat(server, lobby, participant_label="anna")
    make_ready(client, link, "5")
    server.wait_for(lambda: "Sie sind am Zug" in client.get(link).text)
    take(client, link, answer="defect")
    server.restart()
    assert server.client().get(server.state.personal_path(lobby.id, "anna")).url.path == link
    assert (
        server.state.sessions.find_experiment((EXAMPLES / "dilemma-de.toml").read_text("utf-8")).id
        == lobby.id
    )


def test_whoever_is_replaced_is_replaced_in_later_parts_too(server):
    lobby = begin(server, "dilemma-de", groups=("groups = 20", "groups = 1"))
    seat(server, lobby)
    sessions = server.state.sessions
    sessions.replace_person(sessions.get_session(lobby.tables[0].id), 0)
    assert 0 in sessions.get_session(lobby.tables[1].id).standing.replaced


def test_random_groups_are_mixed_and_random_roles_too(server):
    lobby = begin(server, "dialogue")
    taken = [server.state.sessions.take_seat(lobby.id) for _ in range(20)]
    assert len(set(taken)) == 20
    assert [session for session, _ in taken] != sorted(session for session, _ in taken)
    assert {seat for _, seat in taken[:6]} == {0, 1}


def test_random_groups_become_complete_while_people_come(server):
    lobby = begin(server, "dialogue")
    groups = [server.state.sessions.take_seat(lobby.id)[0] for _ in range(20)]
    for count in range(1, 21):
        sizes = [groups[:count].count(group) for group in set(groups[:count])]
        assert sizes.count(1) <= 4  # four pairs are filled at the same time
        assert count < 5 or 2 in sizes  # so the fifth person completes one at the latest
    assert [groups.count(group) for group in set(groups)] == [2] * 10


@pytest.mark.parametrize("text", ["title = 3", "[[", ""])
def test_a_file_handed_in_on_the_page_is_refused_with_its_line(server, text):
    admin = server.admin
    csrf = hidden(admin.get("/experiments/new"), "csrf")
    page = admin.post("/experiments", data={"csrf": csrf, "toml": text})
    assert page.status_code == 422
    assert "line" in page.text


def test_a_question_of_the_quiz_may_have_options(server):
    asked = """[[games.questions]]
text = "Who sees your decisions?"
options = ["everybody", "nobody"]
right = "nobody"
"""
    text = PAGED.replace("quiz = false\n", f"quiz = false\n{asked}").replace('before = "one"\n', "")
    lobby = server.state.sessions.create_experiment(text)
    client, link = seat(server, lobby)
    assert 'type="radio" name="quiz.0" value="everybody"' in flatten(client.get(link))
    assert "This is not right" in make_ready(client, link, "everybody").text
    assert "Please choose one of the answers" in make_ready(client, link, "").text
    make_ready(client, link, "nobody")
    server.wait_for(lambda: "Your turn" in client.get(link).text)
    with pytest.raises(UsageError, match="line 8: right is 'nobdy'; expected one of the options"):
        check_experiment(text.replace('right = "nobody"', 'right = "nobdy"'))


def test_a_parameter_of_absurd_size_is_refused():
    text = PAGED.replace(
        '"chicken"\nseats = ["person", "strategy:greedy"]',
        '"public-goods-punishment"\nseats = SEATS',
    )
    text = text.replace(
        "SEATS", '["person", "person", "person", "person"]\nparameters = { rounds = 100000000 }'
    )
    with pytest.raises(
        UsageError, match=r"the parameter rounds is 1e[+]08; expected at most 1,000,000"
    ):
        check_experiment(text)


PAGED = """
title = "Pages"
[[games]]
name = "one"
game = "chicken"
seats = ["person", "strategy:greedy"]
quiz = false
[[pages]]
name = "intro"
title = "First of all"
text = "Please **read** this."
before = "one"
[[pages.items]]
name = "mood"
text = "How do you feel?"
kind = "slider"
low = 0
high = 10
[[pages]]
name = "late"
text = "Nearly there."
[[pages.items]]
name = "why"
text = "Why?"
required = true
[[questionnaire]]
name = "age"
text = "How old are you?"
kind = "number"
"""


def test_pages_of_ones_own_come_before_their_game_and_after_the_last(server):
    lobby = server.state.sessions.create_experiment(PAGED)
    client, link = seat(server, lobby)
    page = client.get(link).text
    assert "First of all" in page
    assert "Please <strong>read</strong> this." in page
    assert 'type="range" min="0" max="10"' in page
    assert "I am ready" not in page
    assert "11 is not between 0 and 10." in finish(client, link, mood="11").text
    assert "I am ready" in finish(client, link, mood="7").text
    make_ready(client, link)
    take(client, link, answer="swerve")
    server.wait_for(lambda: "Nearly there." in client.get(link).text)
    assert "Please answer this question" in finish(client, link, why="").text
    assert "A few questions" in finish(client, link, why="so").text
    assert "Thank you" in finish(client, link, age="30").text
    server.restart()
    (row,) = export(server, "participants", lobby)
    assert (row["q_mood"], row["q_why"], row["q_age"]) == (7, "so", 30)


def test_nobody_is_ready_before_the_page_with_questions_is_answered(server):
    lobby = server.state.sessions.create_experiment(PAGED)
    client, link = seat(server, lobby)
    assert "That question is not open" in make_ready(client, link).text
    table = lobby.tables[0]
    call = server.api(server.state.seat_token(table.id, 0)).post(
        f"/api/seats/{table.id}/0/ready", json={}
    )
    assert call.status_code == 422
    assert "a page with questions comes first" in call.text
    assert server.state.sessions.journal.read_events("ready") == []


@pytest.mark.parametrize(("mood", "asked"), [("7", "A few questions"), ("3", "Nearly there.")])
def test_a_page_on_a_condition_is_for_those_who_gave_that_answer_before(server, mood, asked):
    lobby = server.state.sessions.create_experiment(
        PAGED.replace('name = "late"', 'name = "late"\nonly_if = {mood = "3"}')
    )
    client, link = seat(server, lobby)
    finish(client, link, mood=mood)
    make_ready(client, link)
    take(client, link, answer="swerve")
    server.wait_for(lambda: asked in client.get(link).text)
    assert ("Nearly there." in client.get(link).text) == (asked == "Nearly there.")
    if asked == "Nearly there.":
        finish(client, link, why="so")
    assert "Thank you" in finish(client, link, age="30").text
    (row,) = export(server, "participants", lobby)
    assert (row["q_why"], row["q_age"]) == ("so" if asked == "Nearly there." else None, 30)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            'name = "late"',
            'name = "late"\nonly_if = {why = "x"}',
            "line 21: only_if: no page before this one asks 'why'",
        ),
        (
            'name = "late"',
            'name = "late"\nonly_if = {mood = "11"}',
            "or it cannot be answered by '11'",
        ),
        (
            'name = "intro"',
            'name = "intro"\nonly_if = {why = "x"}',
            "line 10: only_if: no page before this one asks",
        ),
        ('before = "one"', 'before = "two"', "line 12: there is no game named 'two' here"),
        ('name = "late"', 'name = "intro"', "line 20: 'intro' stands twice among the pages"),
        ("high = 10", "", "line 13: a slider needs low and high"),
        ('name = "age"', 'name = "mood"', "'mood' stands twice among the questionnaire"),
    ],
)
def test_a_page_that_cannot_be_shown_is_refused_with_its_line(old, new, why):
    with pytest.raises(UsageError, match=why):
        check_experiment(PAGED.replace(old, new))


AUCTION = """
title = "Auktion"
language = "de"
[limits]
answer = 0
[[games]]
name = "auction"
game = "first-price-auction"
seats = ["person", "strategy:random", "strategy:random"]
parameters = { highest = 4000 }
instructions = "Bieten Sie bis $highest."
quiz = false
[[questionnaire]]
name = "income"
text = "Wie viel verdienen Sie?"
kind = "number"
low = 0
[[questionnaire]]
name = "hours"
text = "Wie viele Stunden schlafen Sie?"
kind = "number"
low = 0
high = 12.5
"""


def test_a_german_thousand_is_asked_back_and_numbers_are_exported_as_numbers(server):
    lobby = server.state.sessions.create_experiment(AUCTION)
    client, link = seat(server, lobby)
    make_ready(client, link)
    server.wait_for(lambda: "Sie sind am Zug" in client.get(link).text)
    refused = take(client, link, answer="1.000")
    assert refused.status_code == 422
    assert "1.000 kann 1000 oder 1 heißen. Bitte geben Sie eines davon ein." in refused.text
    take(client, link, answer="1.000,50")
    server.wait_for(lambda: "Wie viel verdienen Sie?" in client.get(link).text)
    page = client.get(link).text
    assert "eine Zahl, mindestens 0" in page
    assert "eine Zahl von 0 bis 12,5" in page
    assert (
        "30.000 kann 30000 oder 30 heißen."
        in finish(client, link, income="30.000", hours="7,5").text
    )
    finish(client, link, income="30000", hours="7,5")
    (bid,) = [row["action"] for row in export(server, "decisions", lobby) if row["participant"]]
    assert bid == 1000.5
    (row,) = export(server, "participants", lobby)
    assert (row["q_income"], row["q_hours"]) == (30000, 7.5)
    header, line = server.admin.get(f"/export/participants.csv?lobby={lobby.id}").text.splitlines()
    assert header.endswith(",q_income,q_hours")
    assert line.endswith(",30000,7.5")
