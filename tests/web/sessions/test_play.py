"""People play in a browser: seats by link, forms from asks, every answer taken once and kept."""

import json
import re
from types import SimpleNamespace

import pytest
from web_server import MODEL, hidden, join, sit_down, take

from bestresponse.core.ask import Amount, Mixture
from bestresponse.core.errors import UsageError
from bestresponse.runs.store.folder import RunFolder
from bestresponse.web import security as limits
from bestresponse.web.app import ServerSettings
from bestresponse.web.services.fields import read_fields, write_fields
from bestresponse.web.sessions.setup import GameChoice, Setup, list_offers
from bestresponse.web.texts import load_texts

DILEMMA = GameChoice("prisoners-dilemma")


def setup(*seats, game=DILEMMA, **more):
    return Setup(game, seats, **{"quiz": False, **more})


def records(server):
    return list(RunFolder.read(server.folder / "sessions").plays())


def test_the_first_page_lists_every_game_and_is_small(server):
    page = server.admin.get("/")
    assert page.status_code == 200
    assert len(page.content) < 100_000
    assert all(f"/play/new?game={offer.name}" in page.text for offer in list_offers())


def test_a_table_laid_in_the_browser_is_played_to_its_end_and_recorded(server):
    admin = server.admin
    form = admin.get("/play/new", params={"game": "prisoners-dilemma"})
    data = {
        "csrf": hidden(form, "csrf"),
        "game": "prisoners-dilemma",
        "seat.0": "person",
        "seat.1": "strategy:greedy",
    }
    lobby = admin.post("/play", data=data)
    link = re.search(r'href="http://localhost(/seat/[^"]+)"', lobby.text)[1]
    person = server.client()
    person.post(f"{link}/ready", data={"csrf": hidden(person.get(link), "csrf")})
    answer = take(person, link, answer="cooperate")
    assert answer.status_code == 200
    server.wait_for(lambda: records(server))
    (play,) = records(server)
    assert {s.role: s.decision.action for s in play.record.submissions} == {
        "row": "cooperate",
        "col": "defect",
    }
    assert play.record.payoffs == {"row": 0.0, "col": 5.0}
    ending = person.get(link)
    assert "The game is over" in ending.text
    assert "This game has exactly one." not in ending.text
    told = person.get(f"{link}?after=equilibrium").text
    assert "This game has exactly one." in told
    assert (
        "What was played is no equilibrium: given what the others did, row could have gained 1."
        in told
    )


def test_a_restart_in_the_middle_loses_nothing(server):
    people = sit_down(
        server, setup("person", "person", game=GameChoice("prisoners-dilemma", rounds=3))
    )
    (ann, ann_link), (bob, bob_link) = people
    take(ann, ann_link, answer="cooperate")
    take(bob, bob_link, answer="defect")
    take(ann, ann_link, answer="defect")
    versions = [
        server.state.sessions.get_session(ann_link.split("/")[2]).version(seat) for seat in (0, 1)
    ]
    server.restart()
    assert versions == [
        server.state.sessions.get_session(ann_link.split("/")[2]).version(seat) for seat in (0, 1)
    ]
    (ann, ann_link), (bob, bob_link) = [(server.client(), link) for _, link in people]
    assert "Waiting for the others" in ann.get(ann_link).text
    first_round = (
        '<td>1</td><td class="right mine">defect</td><td class="right">cooperate</td><td'
        ' class="right">5</td>'
    )
    assert first_round in bob.get(bob_link).text
    for answer in ("defect", "defect"):
        take(bob, bob_link, answer=answer)
        if "Your turn" in ann.get(ann_link).text:
            take(ann, ann_link, answer="cooperate")
    assert "The game is over" in ann.get(ann_link).text
    (play,) = records(server)
    assert play.record.payoffs == {"row": 0.0 + 1.0 + 0.0, "col": 5.0 + 1.0 + 5.0}


def test_an_answer_sent_twice_counts_once_and_the_first_one_counts(server):
    (ann, link), _ = sit_down(server, setup("person", "person"))
    page = ann.get(link)
    data = {"csrf": hidden(page, "csrf"), "turn": hidden(page, "turn")}
    ann.post(f"{link}/answer", data={**data, "answer": "cooperate"})
    again = ann.post(f"{link}/answer", data={**data, "answer": "defect"})
    assert "the first answer counts" in again.text
    answers = server.state.sessions.journal.read_answers()
    assert [[a.submission.decision.action for a in found] for found in answers.values()] == [
        ["cooperate"]
    ]


def test_an_illegal_answer_gets_a_sentence_beside_the_field_and_keeps_what_was_typed(server):
    seats = ("person", *("strategy:need",) * 4)
    ((ann, link),) = sit_down(
        server, setup(*seats, game=GameChoice("water", rounds=2), stand_in="need")
    )
    server.wait_for(lambda: "Your turn" in ann.get(link).text)
    refused = take(ann, link, answer="7000.5")
    assert refused.status_code == 422
    assert "7000.5 is not between 0 and 70." in refused.text
    assert 'value="7000.5"' in refused.text
    assert take(ann, link, answer="lots").status_code == 422
    assert server.state.sessions.get_session(link.split("/")[2]).turn("Alex") == 0
    assert take(ann, link, answer="pass").status_code == 200


AMBIGUOUS = "1.000 kann 1000 oder 1 heißen. Bitte geben Sie eines davon ein."


def test_a_mark_that_may_divide_thousands_is_asked_back_in_the_language_of_the_page():
    english, german = load_texts("en"), load_texts("de")
    money = Amount(0, 5000)
    # Somebody who writes 1,000 means a thousand, and is not paid for 1; the page asks, and 1000 can
    # be typed.
    why = "1,000 can mean 1000 or 1. Please type one of these."
    assert read_fields(money, {"answer": "1,000"}, english) == (None, {"answer": why})
    assert read_fields(money, {"answer": "1.000"}, german) == (None, {"answer": AMBIGUOUS})
    assert read_fields(money, {"answer": "1000"}, english) == (1000.0, {})
    assert read_fields(money, {"answer": "1.000"}, english) == (1.0, {})
    assert read_fields(money, {"answer": "$1,000.50"}, english) == (1000.5, {})
    assert read_fields(money, {"answer": "12,50"}, english) == (12.5, {})
    assert read_fields(money, {"answer": "1,125"}, german) == (1.125, {})
    assert read_fields(money, {"answer": "5000,5"}, german) == (
        None,
        {"answer": "5000,5 liegt nicht zwischen 0 und 5000."},
    )
    assert read_fields(Amount(0, 20, whole=True), {"answer": "1,5"}, german) == (
        None,
        {"answer": "1,5 ist keine ganze Zahl."},
    )
    # A share of a hundred percent is never a thousand.
    mixture = {"answer.0": "12,500", "answer.1": "87,500"}
    assert read_fields(Mixture(("a", "b")), mixture, english) == ((0.125, 0.875), {})


def test_bots_type_numbers_as_people_of_the_language_do():
    for language, typed in (("en", "1.125"), ("de", "1,125")):
        texts = load_texts(language)
        assert write_fields(Amount(0, 20), 1.125, texts) == {"answer": typed}
        assert read_fields(Amount(0, 20), {"answer": typed}, texts) == (1.125, {})


def test_probabilities_are_typed_in_percent(server):
    ((ann, link),) = sit_down(
        server, setup("person", "strategy:uniform", game=GameChoice("matching-pennies", mixed=True))
    )
    short = take(ann, link, **{"answer.0": "30", "answer.1": "60"})
    assert "The shares add up to 90 percent, not to 100." in short.text
    assert 'value="30"' in short.text
    assert take(ann, link, **{"answer.0": "25", "answer.1": "75"}).status_code == 200
    server.wait_for(lambda: records(server))
    assert {s.role: s.decision.action for s in records(server)[0].record.submissions}["row"] == (
        0.25,
        0.75,
    )


def test_whoever_is_gone_is_stood_in_for_and_the_record_says_so(server, clock):
    (ann, link), (bob, bob_link) = sit_down(
        server, setup("person", "person", seconds=600, stand_in="level-1")
    )
    stale = bob.get(bob_link)
    take(ann, link, answer="cooperate")
    clock.advance(603)
    server.wait_for(lambda: records(server))
    decision = records(server)[0].record.submissions[-1].decision
    assert (decision.action, decision.stand_in, decision.reading.how) == (
        "defect",
        "level-1",
        "no answer within 600 seconds",
    )
    late = {"csrf": hidden(stale, "csrf"), "turn": hidden(stale, "turn"), "answer": "cooperate"}
    assert "a stand-in had answered for you" in bob.post(f"{bob_link}/answer", data=late).text
    assert "A stand-in answered for you 1 time." in bob.get(bob_link).text


def test_no_words_are_put_into_the_mouth_of_whoever_is_gone(server, clock):
    talk = setup("person", "person", game=GameChoice("dialogue:meeting"), seconds=600)
    lobby = server.state.sessions.create_sessions(talk)
    table = server.state.sessions.get_session(lobby.tables[0].id)
    for seat in range(2):
        server.state.sessions.make_ready(table, seat)
    clock.advance(603)
    server.wait_for(lambda: table.stand_ins(table.roles[0]))
    assert table.answer(table.roles[0], 0).decision.action["message"] == "(no message)"


def test_a_model_that_answers_nonsense_is_stood_in_for_with_its_words_kept(server):
    server.answer = lambda request: "<script>alert(1)</script>"
    ((ann, link),) = sit_down(server, setup("person", f"model:{MODEL}"))
    take(ann, link, answer="defect")
    server.wait_for(lambda: records(server))
    decision = {s.role: s.decision for s in records(server)[0].record.submissions}["col"]
    assert decision.stand_in == "random"
    assert not decision.reading.status.readable
    assert decision.reasoning == "<script>alert(1)</script>"
    assert "<script>alert" not in ann.get(link).text


def test_words_of_people_are_escaped_wherever_they_are_shown(server):
    ((ann, link),) = sit_down(server, setup("person", "strategy:greedy"))
    refused = take(ann, link, answer='"><script>alert(1)</script>')
    assert "<script>alert" not in refused.text


CARDS = {"J": "jack", "Q": "queen", "K": "king"}


def test_a_person_sees_only_their_own_card(server):
    people = sit_down(server, setup("person", "person", game=GameChoice("kuhn-poker")))
    session = server.state.sessions.get_session(people[0][1].split("/")[2])
    server.wait_for(lambda: "player 1" in session.pending())
    card = session.episode.view("player 1").facts["infoset"]
    pages = [client.get(link).text for client, link in people]
    shown = f"You hold the {CARDS[card]}."
    assert [shown in page for page in pages] == [True, False]


def test_a_seat_opens_with_its_own_link_only(server):
    (ann, ann_link), (_, bob_link) = sit_down(server, setup("person", "person"))
    token = ann_link.rsplit("/", 1)[1]
    foreign = bob_link.rsplit("/", 1)[0] + "/" + token
    assert ann.get(foreign).status_code == 404
    data = {"csrf": hidden(ann.get(ann_link), "csrf"), "turn": "0", "answer": "defect"}
    assert ann.post(f"{foreign}/answer", data=data).status_code == 404
    assert ann.post(f"{ann_link}/answer", data={**data, "csrf": "x"}).status_code == 403
    assert server.state.sessions.journal.read_answers() == {}


def test_people_who_follow_the_shared_link_fill_group_after_group(server):
    lobby = server.state.sessions.create_sessions(setup("person", "person"), 2)
    clients = [server.client() for _ in range(4)]
    places = [str(join(server, lobby, client).url).split("/")[4:6] for client in clients]
    assert places == [
        [f"{lobby.id}-1", "0"],
        [f"{lobby.id}-1", "1"],
        [f"{lobby.id}-2", "0"],
        [f"{lobby.id}-2", "1"],
    ]
    assert str(clients[0].get(server.state.join_path(lobby.id)).url).split("/")[4:6] == places[0]
    full = join(server, lobby, server.client())
    assert full.status_code == 200
    assert "every seat is taken" in full.text.casefold()


def test_the_quiz_asks_about_payoffs_and_lets_nobody_pass_who_is_wrong(server):
    lobby = server.state.sessions.create_sessions(
        setup("person", "strategy:greedy", quiz=True, consent="Be nice.")
    )
    link = server.state.seat_path(lobby.tables[0].id, 0)
    ann = server.client()
    page = ann.get(link)
    asked = re.findall(
        r"If you choose (\w+) and col chooses (\w+), how much do you get\?", page.text
    )
    payoff = {
        ("cooperate", "cooperate"): 3,
        ("cooperate", "defect"): 0,
        ("defect", "cooperate"): 5,
        ("defect", "defect"): 1,
    }
    assert len(asked) == 2
    data = {"csrf": hidden(page, "csrf"), "quiz.0": "99", "quiz.1": "", "consent": "yes"}
    wrong = ann.post(f"{link}/ready", data=data)
    assert wrong.status_code == 422
    assert wrong.text.count("This is not right") == 1
    assert 'value="99"' in wrong.text
    right = {f"quiz.{k}": str(payoff[cell]) for k, cell in enumerate(asked)}
    refused = ann.post(f"{link}/ready", data={"csrf": hidden(page, "csrf"), **right})
    assert "Please agree first" in refused.text
    data = {"csrf": hidden(page, "csrf"), **right, "consent": "yes"}
    assert "Your turn" in ann.post(f"{link}/ready", data=data).text
    (event,) = server.state.sessions.journal.read_events("ready")
    assert event["quiz_tries"] == 2


def test_a_game_among_strategies_alone_needs_nobody(server):
    server.state.sessions.create_sessions(
        setup("strategy:greedy", "strategy:uniform", game=GameChoice("chicken", rounds=4))
    )
    server.wait_for(lambda: records(server))
    assert len(records(server)[0].record.submissions) == 8


@pytest.mark.parametrize(
    ("seats", "why"),
    [
        (("person",), "has 2 seats"),
        (("person", "strategy:nope"), "no strategy named 'nope'"),
    ],
)
def test_a_setup_that_does_not_fit_is_refused(server, seats, why):
    with pytest.raises(UsageError, match=why):
        server.state.sessions.create_sessions(setup(*seats))


def test_only_models_named_at_the_start_can_be_seated(server):
    admin = server.admin
    form = admin.get("/play/new", params={"game": "chicken"})
    data = {
        "csrf": hidden(form, "csrf"),
        "game": "chicken",
        "seat.0": "person",
        "seat.1": "model:/etc/passwd",
    }
    refused = admin.post("/play", data=data)
    assert refused.status_code == 422
    assert "there is no model named" in refused.text
    assert server.state.sessions.list_lobbies() == []


def test_who_names_a_model_that_is_not_there_learns_which_are(server):
    with pytest.raises(
        UsageError, match=f"there is no model named 'x' here; known: {re.escape(MODEL)}$"
    ):
        server.state.model("x")
    server.state.models = ()
    with pytest.raises(UsageError, match="known: none; start `bestresponse serve` with --model"):
        server.state.model("x")


def test_no_name_of_a_game_becomes_a_path(server, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps({"tables": [[1]]}))
    for name in (str(tmp_path / "x.json"), "../x.json", "saved:../x", "/etc/passwd"):
        assert server.admin.get("/play/new", params={"game": name}).status_code == 422


def test_a_server_for_others_needs_a_token(tmp_path):
    with pytest.raises(UsageError, match="--admin-token"):
        ServerSettings(tmp_path, "0.0.0.0")
    with pytest.raises(UsageError, match="too short"):
        ServerSettings(tmp_path, "0.0.0.0", admin="secret")
    assert ServerSettings(tmp_path, "0.0.0.0", admin="0123456789abcdef").admin == "0123456789abcdef"


def test_the_desk_is_closed_to_strangers_and_every_answer_carries_the_policy(server):
    stranger = server.client()
    for path in ("/", "/play/new?game=chicken", "/lobby/x"):
        answer = stranger.get(path)
        assert answer.status_code == 403
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
    assert stranger.get("/enter/wrong").status_code == 403
    assert stranger.post("/play", data={"game": "chicken"}).status_code == 403


def test_whoever_tries_many_keys_is_slowed_down(server, monkeypatch):
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 0.0))
    stranger = server.client()
    answers = [stranger.get(f"/seat/x-1/0/guess{k}").status_code for k in range(61)]
    assert answers == [404] * 60 + [429]


def test_strangers_may_err_once_a_second_and_a_seat_may_ask_ten_times(server, monkeypatch):
    now = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(limits, "time", now)
    known = (server.state.strangers, server.state.seats)
    assert [sum(limit.take("x") for _ in range(80)) for limit in known] == [60, 60]
    now.monotonic = lambda: 1.0
    assert [sum(limit.take("x") for _ in range(80)) for limit in known] == [1, 10]


def test_a_long_body_is_refused(server):
    answer = server.admin.post("/play", data={"consent": "x" * 1_100_000})
    assert answer.status_code == 413


def test_a_table_begins_without_those_who_do_not_come(server):
    lobby = server.state.sessions.create_sessions(
        setup("person", "person", game=GameChoice("prisoners-dilemma", rounds=2))
    )
    name = lobby.tables[0].id
    ann, link = server.client(), server.state.seat_path(name, 0)
    ann.post(f"{link}/ready", data={"csrf": hidden(ann.get(link), "csrf")})
    admin = server.admin
    page = admin.get(f"/lobby/{lobby.id}")
    assert "not here yet" in page.text
    admin.post(f"/lobby/{lobby.id}/act", data={"csrf": hidden(page, "csrf"), "do": f"begin {name}"})
    take(ann, link, answer="cooperate")
    server.wait_for(lambda: "Round 2 of 2" in ann.get(link).text)
    bob, bob_link = server.client(), server.state.seat_path(name, 1)
    server.wait_for(lambda: server.state.sessions.get_session(name).turn("col") == 2)
    assert f'action="{bob_link}/ready"' in bob.get(bob_link).text
    take(ann, link, answer="cooperate")
    server.wait_for(lambda: records(server))
    missed = [s.decision for s in records(server)[0].record.submissions if s.role == "col"]
    assert [(d.stand_in, d.reading.how) for d in missed] == [("random", "nobody had come")] * 2


def test_a_form_that_cannot_be_read_comes_back_with_what_was_typed(server):
    admin = server.admin
    form = admin.get("/play/new", params={"game": "water"})
    data = {"csrf": hidden(form, "csrf"), "game": "water", "rounds": "many", "consent": "Hello."}
    refused = admin.post("/play", data=data)
    assert refused.status_code == 422
    assert "is not a whole number" in refused.text
    assert 'value="many"' in refused.text
    assert "Hello.</textarea>" in refused.text
    data = {**data, "rounds": "3", "mixed": "yes"}
    assert "payoff table and one round only" in admin.post("/play", data=data).text
