"""Who is paid what: amounts worked out by hand, with people who leave, never come, or are replaced
by a bot."""

import json
import re
from decimal import Decimal

import pytest
from web_server import export, hidden, join, make_ready, seat, take

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.payment import Payment
from bestresponse.web.services.earnings import compute_part
from bestresponse.web.services.export import COLUMNS
from bestresponse.web.services.play import act

PAIR = """
title = "A dilemma"
groups = {groups}
consent = "Your answers are kept."
[limits]
answer = 60
stand_in = "{stand_in}"
[[games]]
game = "prisoners-dilemma"
rounds = 2
seats = ["person", "person"]
quiz = false
{more}
[payment]
currency = "EUR"
show_up = 2
rate = 0.5
least = {least}
stand_ins = "{stand_ins}"
[completion]
code = "DONE-1"
"""


def begin(server, groups=1, least=0, stand_ins="none", stand_in="cooperator", more=""):
    values = {
        "groups": groups,
        "least": least,
        "stand_ins": stand_ins,
        "stand_in": stand_in,
        "more": more,
    }
    return server.state.sessions.create_experiment(PAIR.format(**values))


def sit_down(server, lobby, count=2):
    people = [seat(server, lobby) for _ in range(count)]
    for client, link in people:
        make_ready(client, link)
    return people


def wait_until_over(server, table):
    server.wait_for(lambda: server.state.sessions.is_finished(table.id))


def miss_a_question(server, clock, table, answers):
    clock.advance(63)
    session = server.state.sessions.get_session(table.id)
    server.wait_for(lambda: session.settled == answers)


def test_seats_that_nobody_took_are_not_listed_and_not_paid(server):
    lobby = begin(server, groups=3, least=8)
    people = sit_down(server, lobby)
    for _ in range(2):
        for client, link in people:
            take(client, link, answer="defect")
    wait_until_over(server, lobby.tables[0])
    rows = export(server, "participants", lobby)
    assert list(rows[0]) == list(COLUMNS["participants"])
    # 1 + 1 points at 0.50 and 2.00 are 3.00, less than 8.00; the four empty seats of groups 2 and 3
    # get nothing.
    assert [(row["group"], row["points"], row["money"]) for row in rows] == [
        (1, 2, 8.0),
        (1, 2, 8.0),
    ]


def test_whoever_does_not_agree_takes_no_seat_and_gets_the_code_for_that(server):
    text = PAIR.format(groups=1, least=8, stand_ins="none", stand_in="random", more="")
    lobby = server.state.sessions.create_experiment(text + 'no_consent = "NO-2"\n')
    client, link = server.client(), server.state.join_path(lobby.id)
    form = {"csrf": hidden(client.get(link), "csrf"), "participant_label": "ann"}
    undecided = client.post(link, data=form)
    assert undecided.status_code == 422
    assert "Please agree first" in undecided.text
    page = client.post(link, data={**form, "do": "decline"})
    assert "You do not take part" in page.text
    assert "NO-2" in page.text
    assert server.state.sessions.journal.read_events("seated") == []
    server.restart()
    (row,) = export(server, "participants", lobby)
    assert list(row) == list(COLUMNS["participants"])
    assert (row["participant_label"], row["consent"], row["outcome"]) == (
        "ann",
        False,
        "no consent",
    )
    assert (row["completion_code"], row["money"], row["group"]) == ("NO-2", None, None)


def test_whoever_fails_the_quiz_too_often_is_screened_out_and_the_seat_is_free_again(server):
    more = '[[games.questions]]\ntext = "What is 2 + 2?"\nanswer = 4\n'
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="random", more=more)
    text = text.replace("answer = 60", "answer = 60\ntries = 2")
    lobby = server.state.sessions.create_experiment(text + 'screened_out = "OUT-3"\n')
    client, link = seat(server, lobby, participant_label="ann")
    assert "This is not right" in make_ready(client, link, "3").text
    page = make_ready(client, link, "5").text
    assert "You cannot take part" in page
    assert "OUT-3" in page
    assert "OUT-3" in client.get(link).text
    _, again = seat(server, lobby, participant_label="ben")
    assert again.split("/")[2:4] == link.split("/")[2:4]
    assert client.get(link).status_code == 404
    rows = export(server, "participants", lobby)
    told = [
        (row["participant_label"], row["outcome"], row["completion_code"], row["money"])
        for row in rows
    ]
    assert told == [("ben", None, None, None), ("ann", "screened out", "OUT-3", None)]


QUIZ = '[[games.questions]]\ntext = "What is 2 + 2?"\nanswer = 4\n'


def test_whoever_was_screened_out_is_not_made_ready_by_the_page_before(server):
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="random", more=QUIZ)
    lobby = server.state.sessions.create_experiment(
        text.replace("answer = 60", "answer = 60\ntries = 1")
    )
    ann, link = seat(server, lobby, participant_label="ann")
    form = {"csrf": hidden(ann.get(link), "csrf"), "consent": "yes"}
    for answer in (
        "3",
        "4",
        "3",
    ):  # wrong; then the back button twice, with the right answer and a wrong one
        page = ann.post(f"{link}/ready", data=form | {"quiz.0": answer})
        assert "You cannot take part" in page.text
    # Ben takes the seat: he reads the rules himself, is paid, and Ann is listed once.
    ben, again = seat(server, lobby, participant_label="ben")
    make_ready(ben, again, "4")
    rows = export(server, "participants", lobby)
    told = [
        (row["participant_label"], row["outcome"], row["confirmed"], row["money"]) for row in rows
    ]
    assert told == [("ben", None, True, 2.0), ("ann", "screened out", False, None)]


def test_a_label_that_was_screened_out_takes_no_other_seat(server):
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="random", more=QUIZ)
    lobby = server.state.sessions.create_experiment(
        text.replace("answer = 60", "answer = 60\ntries = 1")
    )
    ann, link = seat(server, lobby, participant_label="ann")
    make_ready(ann, link, "3")
    seat(server, lobby, participant_label="ben")
    shared = server.state.join_path(lobby.id)
    assert server.client().get(shared, params={"participant_label": "ann"}).status_code == 403
    server.restart()
    assert server.client().get(shared, params={"participant_label": "ann"}).status_code == 403
    assert server.client().get(shared, params={"participant_label": "cat"}).status_code == 200


def test_answers_of_a_person_who_lost_the_seat_are_not_those_of_the_next(server):
    page = (
        '[[pages]]\nname = "about"\nbefore = "game 1"\n[[pages.items]]\nname = "age"\ntext = "How'
        ' old are you?"\n'
    )
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="random", more=QUIZ) + page
    lobby = server.state.sessions.create_experiment(
        text.replace("answer = 60", "answer = 60\ntries = 1")
    )
    ann, link = seat(server, lobby, participant_label="ann")
    ann.post(
        f"{link}/questionnaire", data={"csrf": hidden(ann.get(link), "csrf"), "item.age": "44"}
    )
    make_ready(ann, link, "3")
    ben, again = seat(server, lobby, participant_label="ben")
    assert "How old are you?" in ben.get(again).text
    assert export(server, "participants", lobby)[0]["q_age"] is None
    ben.post(
        f"{again}/questionnaire", data={"csrf": hidden(ben.get(again), "csrf"), "item.age": "27"}
    )
    server.restart()
    assert export(server, "participants", lobby)[0]["q_age"] == "27"
    # Ben came to the page and, when he had answered, to the rules; what Ann saw is not told of him.
    assert [row["page"] for row in export(server, "times", lobby)] == ["page about", "rules"]
    # What Ann answered is in her own row.
    assert export(server, "participants", lobby)[1]["q_age"] == "44"


GAME = (
    '[[games]]\nname = "{name}"\ngame = "prisoners-dilemma"\nseats = ["person",'
    ' "strategy:{strategy}"]\nquiz = false\n'
)


def play_both_parts(server, payment, first="", second="", close_second=False):
    """One person cooperates in a round of the first game and defects in the second, against a
    cooperator."""
    repeated = "cooperator" if "rounds" in second else "always:cooperate"
    games = GAME.format(name="one", strategy="always:cooperate") + first
    games += GAME.format(name="two", strategy=repeated) + second
    lobby = server.state.sessions.create_experiment(
        f'title = "Pay"\n{games}[payment]\ncurrency = "EUR"\n{payment}'
    )
    client, _ = seat(server, lobby)
    for table, answer in zip(lobby.tables, ("cooperate", "defect"), strict=True):
        part = server.state.seat_path(table.id, 0)
        make_ready(client, part)
        if close_second and table.number == 2:
            take(client, part, answer=answer)
            server.wait_for(
                lambda: server.state.sessions.get_session(lobby.tables[1].id).settled == 2
            )
            server.state.sessions.close_table(server.state.sessions.get_session(table.id))
        else:
            take(client, part, answer=answer)
            wait_until_over(server, table)
    page = client.get(server.state.seat_path(lobby.tables[1].id, 0)).text
    (row,) = export(server, "participants", lobby)
    return page, row


@pytest.mark.parametrize(
    ("payment", "first", "second", "money"),
    [
        # 3 points of the first game and 5 of the second.
        ("rate = 1\n", "", "", 8.0),
        ("rate = 1\n", "rate = 0.1\n", "", 5.3),
        ("rate = 1\n", "most = 2\n", "bonus = 0.5\n", 7.5),
        ("rate = 1\nmost = 6\n", "", "", 6.0),
        ("rate = 1\nshow_up = 1\nleast = 20\n", "", "", 20.0),
    ],
)
def test_money_follows_the_rates_caps_and_bonuses_of_the_file(
    server, payment, first, second, money
):
    page, row = play_both_parts(server, payment, first, second)
    assert row["money"] == money
    assert f"EUR {money:.2f}" in page


def test_one_game_drawn_by_lot_is_paid(server):
    page, row = play_both_parts(server, 'rate = 1\npaid = "random game"\n')
    assert (row["paid_game"], row["money"]) in [("one", 3.0), ("two", 5.0)]
    assert f"One part was drawn by lot to be paid: {row['paid_game']}." in page
    assert row["seat_points"] == 8


def test_bonuses_are_paid_whichever_game_is_drawn(server):
    _, row = play_both_parts(
        server, 'rate = 1\npaid = "random game"\n', "bonus = 0.25\n", "bonus = 0.5\n"
    )
    # 3 points of the first game or 5 of the second, and 0.25 + 0.50 for taking part in both.
    assert row["money"] == {"one": 3.75, "two": 5.75}[row["paid_game"]]


def test_one_round_drawn_by_lot_is_paid(server):
    rounds = "rounds = 3\n"
    games = GAME.format(name="one", strategy="cooperator") + rounds
    text = (
        f'title = "Pay"\nseed = 4\n{games}[payment]\ncurrency = "EUR"\nrate = 1\npaid = "random'
        ' round"\n'
    )
    lobby = server.state.sessions.create_experiment(text)
    client, link = seat(server, lobby)
    make_ready(client, link)
    for turn, answer in enumerate(("cooperate", "defect", "cooperate")):
        server.wait_for(lambda turn=turn: f'name="turn" value="{turn}"' in client.get(link).text)
        take(client, link, answer=answer)
    wait_until_over(server, lobby.tables[0])
    (row,) = export(server, "participants", lobby)
    earned = {"one: 1": 3, "one: 2": 5, "one: 3": 3}
    assert row["points"] == earned[row["paid_rounds"]] == row["money"]
    assert f"Of one, round {row['paid_rounds'][-1]} was drawn" in client.get(link).text


TALK = """
title = "A meeting"
seed = 1
[limits]
answer = 60
[[games]]
name = "talk"
game = "dialogue:meeting"
seats = ["person", "person"]
parameters = { replies = 3, cases = 1, seed = 5 }
quiz = false
[payment]
currency = "EUR"
rate = 0.1
paid = "random round"
"""


def test_what_people_write_is_never_taken_for_a_round(server):
    """A Friday is worth 1 to the one and 20 to the other; the days and rounds of their messages are
    only words."""
    lobby = server.state.sessions.create_experiment(TALK)
    people = sit_down(server, lobby)
    said = [
        (0, {"answer.0": "I have time on day 12, after Round 3.", "answer.1": "only talk"}),
        (
            1,
            {"answer.0": "Round 7 was fine. Then let us take Friday.", "answer.1": "make an offer"},
        ),
        (1, {"answer.0": "Friday"}),
        (0, {"answer.0": "Yes, Friday it is.", "answer.1": "accept"}),
    ]
    session = server.state.sessions.get_session(lobby.tables[0].id)
    for number, typed in said:
        role = session.roles[number]
        server.wait_for(lambda role=role: role in session.pending())
        take(*people[number], **typed)
    wait_until_over(server, lobby.tables[0])
    decisions = export(server, "decisions", lobby)
    assert [list(json.loads(row["action"]).values()) for row in decisions] == [
        list(typed.values()) for _, typed in said
    ]
    assert {row["round"] for row in decisions} == {1}
    wide = export(server, "wide", lobby)
    assert [name for name in wide[0] if name.startswith("g1_r")] == [
        "g1_r1_1",
        "g1_r1_2",
        "g1_r1_3",
        "g1_r1_4",
    ]
    assert (wide[1]["g1_points"], wide[1]["g1_money"]) == (20, 2.0)
    paid = [(row["seat_points"], row["points"], row["paid_rounds"], row["money"]) for row in wide]
    # 0.1 for a point: 1 point is 0.10 and 20 are 2.00.
    # A dialogue has no rounds to draw from: all of it is paid.
    assert paid == [(1, 1, None, 0.1), (20, 20, None, 2.0)]


@pytest.mark.parametrize(("draw", "drawn", "points"), [(0.0, 1, 3.0), (0.99, 2, 0.0)])
def test_who_answered_once_has_the_bonus_whichever_round_is_drawn(server, draw, drawn, points):
    """Both cooperate; then Ben is replaced by a bot that cooperates: 3 points in each round, 6 of
    the seat."""
    lobby = begin(server, more="bonus = 0.5\n")
    (anna, link), (ben, other) = sit_down(server, lobby)
    take(anna, link, answer="cooperate")
    take(ben, other, answer="cooperate")
    session = server.state.sessions.get_session(lobby.tables[0].id)
    server.state.sessions.replace_person(session, 1)
    take(anna, link, answer="cooperate")
    wait_until_over(server, lobby.tables[0])
    payment = Payment("EUR", rate=Decimal(1), paid="random round")
    part = compute_part(session, 1, payment, draw)
    # The points of the first round at 1.00 are Ben's own, those of the second are not; the bonus is
    # for taking part.
    assert (part.round, part.seat_points, part.points) == (drawn, 6.0, points)
    assert (part.money, part.bonus) == (Decimal(str(points)), Decimal("0.5"))


def test_a_round_in_which_the_table_was_closed_is_not_drawn(server):
    """Both cooperate in the first round, Anna alone has answered in the second."""
    lobby = begin(server)
    (anna, link), (ben, other) = sit_down(server, lobby)
    take(anna, link, answer="cooperate")
    take(ben, other, answer="cooperate")
    take(anna, link, answer="cooperate")
    session = server.state.sessions.get_session(lobby.tables[0].id)
    server.state.sessions.close_table(session)
    payment = Payment("EUR", rate=Decimal(1), paid="random round", unfinished="so far")
    part = compute_part(session, 0, payment, 0.99)
    assert (part.answers, part.round, part.points, part.money) == (2, 1, 3.0, Decimal(3))


def test_a_closed_game_pays_what_was_earned_so_far_only_where_the_file_says_so(server):
    for rule, money in (("none", 3.0), ("so far", 8.0)):
        second = "rounds = 2\n"
        _, row = play_both_parts(
            server, f'rate = 1\nunfinished = "{rule}"\n', "", second, close_second=True
        )
        assert (row["money"], row["parts_finished"], row["outcome"]) == (money, 1, "unfinished")


def test_a_cap_below_what_everybody_gets_is_refused_with_its_line(server):
    text = (
        'title = "x"\n'
        + GAME.format(name="one", strategy="always:cooperate")
        + '[payment]\ncurrency = "EUR"\nshow_up = 5\nmost = 4\n'
    )
    with pytest.raises(
        UsageError, match="line 7: most is 4; expected at least what everybody gets"
    ):
        server.state.sessions.create_experiment(text)


def test_whoever_is_replaced_before_confirming_has_a_row_without_money_and_code(server):
    lobby = begin(server, least=8)
    client, link = seat(server, lobby, participant_label="ann")
    sessions = server.state.sessions
    sessions.replace_person(sessions.get_session(lobby.tables[0].id), 0)
    page = client.get(link).text
    assert "You were replaced" in page
    assert "EUR" not in page
    assert "DONE-1" not in page
    (row,) = export(server, "participants", lobby)
    # She agreed when she took the seat, and did not come to the rules.
    assert (row["participant_label"], row["confirmed"], row["consent"]) == ("ann", False, True)
    assert (row["replaced"], row["money"], row["completion_code"], row["finished"]) == (
        True,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("stand_ins", "points", "money"),
    # Round 1: both defect (1 each). Round 2: one defects, and so does the stand-in of the other (1
    # each). Of the second point of the one who left nothing, half or all counts, at 0.50 a point.
    [("none", 1, 2.5), ("half", 1.5, 2.75), ("count", 2, 3.0)],
)
def test_rounds_of_stand_ins_count_as_the_experiment_says(server, clock, stand_ins, points, money):
    lobby = begin(server, stand_ins=stand_ins, stand_in="defector")
    (anna, link), (ben, other) = sit_down(server, lobby)
    take(anna, link, answer="defect")
    take(ben, other, answer="defect")
    take(anna, link, answer="defect")
    miss_a_question(server, clock, lobby.tables[0], 4)
    wait_until_over(server, lobby.tables[0])
    stayed, left = export(server, "participants", lobby)
    assert (stayed["answers"], stayed["stand_ins"], stayed["points"], stayed["money"]) == (
        2,
        0,
        2,
        3.0,
    )
    assert (left["answers"], left["stand_ins"], left["seat_points"]) == (1, 1, 2)
    assert (left["points"], left["money"]) == (points, money)
    page = ben.get(other).text
    assert f"EUR {money:.2f}" in page
    counted = {
        "none": "their points are not paid",
        "half": "half of their points is paid",
        "count": "",
    }[stand_ins]
    explained = f"In game 1 a stand-in answered in 1 of 2 rounds; {counted}."
    assert (explained in page) == (stand_ins != "count")
    assert "a stand-in answered in" not in anna.get(link).text
    own, missed = export(server, "parts", lobby)
    assert (own["rounds_played"], own["rounds_missed"], own["points"]) == (2, 0, 2)
    assert (missed["rounds_played"], missed["rounds_missed"], missed["points"]) == (2, 1, points)


def test_what_a_stand_in_earned_is_not_paid_where_the_file_says_none(server, clock):
    """Anna cooperates in both rounds. Ben cooperates (3) and leaves; his stand-in defects (5): of
    the 8 points of his seat 3 are his."""
    lobby = begin(server, stand_in="defector")
    (anna, link), (ben, other) = sit_down(server, lobby)
    for _ in range(2):
        take(anna, link, answer="cooperate")
        if "answer" in ben.get(other).text and len(export(server, "decisions", lobby)) == 1:
            take(ben, other, answer="cooperate")
    miss_a_question(server, clock, lobby.tables[0], 4)
    wait_until_over(server, lobby.tables[0])
    _, left = export(server, "participants", lobby)
    # 2.00 and three points at 0.50.
    assert (left["seat_points"], left["points"], left["money"]) == (8, 3, 3.5)


DROUGHT = """
title = "A drought"
[limits]
answer = 60
stand_in = "need"
[[games]]
name = "drought"
game = "water"
rounds = 2
seats = ["person", "person"]
quiz = false
parameters = { residents = ["Ann: need 4, salary 10", "Ben: need 4, salary 10"], low = 8, high = 8 }
[payment]
currency = "EUR"
rate = 6
stand_ins = "{rule}"
"""


@pytest.mark.parametrize(("rule", "money"), [("none", 0.0), ("half", 3.0), ("count", 6.0)])
def test_a_game_without_payoffs_of_its_rounds_is_paid_as_a_whole(server, clock, rule, money):
    """There is water for both on both days, so both survive: 1 point at 6.00, for Ben as far as an
    answer of a stand-in counts."""
    lobby = server.state.sessions.create_experiment(DROUGHT.replace("{rule}", rule))
    (anna, link), (ben, other) = sit_down(server, lobby)
    # Nature moves first, and meanwhile nobody is asked.
    server.wait_for(lambda: 'name="turn" value="0"' in anna.get(link).text)
    take(anna, link, answer="1")
    take(ben, other, answer="1")
    server.wait_for(lambda: 'name="turn" value="1"' in anna.get(link).text)
    take(anna, link, answer="1")
    clock.advance(63)
    wait_until_over(server, lobby.tables[0])
    stayed, left = export(server, "participants", lobby)
    assert (stayed["points"], stayed["money"]) == (1, 6.0)
    assert (left["seat_points"], left["stand_ins"], left["money"]) == (1, 1, money)
    page = ben.get(other).text
    said = "In drought a stand-in gave 1 of 2 answers; the game is paid as a whole, so"
    assert (said in page) == (rule != "count")
    assert [row["rounds_played"] for row in export(server, "parts", lobby)] == [None, None]


PUNISHED = """
title = "Public goods"
[limits]
answer = 60
stand_in = "{stand_in}"
[[games]]
name = "goods"
game = "public-goods-punishment"
rounds = 1
seats = ["person", "person"]
quiz = false
parameters = { roles = ["A", "B"] }
[payment]
currency = "EUR"
rate = 1
"""


def test_a_round_is_ones_own_only_with_all_of_its_answers(server, clock):
    text = PUNISHED.replace("{stand_in}", "random")
    lobby = server.state.sessions.create_experiment(text)
    (anna, link), (ben, other) = sit_down(server, lobby)
    take(anna, link, answer="0")
    take(ben, other, answer="0")
    session = server.state.sessions.get_session(lobby.tables[0].id)
    server.wait_for(lambda: session.settled == 2)
    clock.advance(63)
    wait_until_over(server, lobby.tables[0])
    rows = export(server, "parts", lobby)
    told = [(row["answers"], row["stand_ins"], row["rounds_missed"], row["points"]) for row in rows]
    # Both contributed themselves, and stand-ins decided on the punishment of the same round.
    assert told == [(2, 1, 1, 0), (2, 1, 1, 0)]


def test_a_round_in_which_a_stand_in_answered_twice_is_missed_once(server, clock):
    text = PUNISHED.replace("{stand_in}", "random")
    lobby = server.state.sessions.create_experiment(text)
    sit_down(server, lobby)
    session = server.state.sessions.get_session(lobby.tables[0].id)
    clock.advance(63)
    server.wait_for(lambda: session.settled == 2)
    clock.advance(63)
    wait_until_over(server, lobby.tables[0])
    rows = export(server, "parts", lobby)
    told = [(row["answers"], row["stand_ins"], row["rounds_missed"]) for row in rows]
    # Nobody contributed and nobody punished: two answers each, in one round.
    assert told == [(2, 2, 1), (2, 2, 1)]


def test_the_last_page_has_a_line_for_each_part_with_its_rate_bonus_and_money(server):
    page, row = play_both_parts(
        server,
        "rate = 1\nshow_up = 2\nmost = 9\n",
        'rate = 0.25\nbonus = 0.5\ntitle = "The first one"\n',
        "most = 4\n",
    )
    cells = [
        re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", line)
        for line in re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", page, re.DOTALL)
    ]
    # 3 points at 0.25; 5 points at 1.00, of which 4.00 is paid.
    assert cells == [
        ["The first one", "3", "0.25", "0.50", "0.75"],
        ["two", "5", "1.00", "0.00", "4.00"],
    ]
    assert "For the points of two at most EUR 4.00 is paid." in page
    # 2.00 + 0.50 + 0.75 + 4.00
    assert row["money"] == 7.25
    assert "EUR 7.25" in page


def test_a_replaced_person_is_told_the_amount_when_the_group_has_finished(server):
    lobby = begin(server, stand_in="cooperator")
    (anna, link), (ben, other) = sit_down(server, lobby)
    take(anna, link, answer="cooperate")
    take(ben, other, answer="cooperate")
    sessions = server.state.sessions
    sessions.replace_person(sessions.get_session(lobby.tables[0].id), 1)
    early = ben.get(other).text
    assert "Your group is still playing." in early
    assert "You receive" not in early
    assert "DONE-1" in early
    assert export(server, "participants", lobby)[1]["settled"] is False
    take(anna, link, answer="cooperate")
    wait_until_over(server, lobby.tables[0])
    # 2.00 and 3 points of the round that Ben played himself.
    assert "EUR 3.50" in ben.get(other).text
    row = export(server, "participants", lobby)[1]
    assert (row["settled"], row["money"], row["outcome"]) == (True, 3.5, "unfinished")


def test_whoever_finds_every_seat_taken_gets_a_page_a_code_and_a_row(server):
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="random", more="")
    lobby = server.state.sessions.create_experiment(text + 'full = "FULL-4"\n')
    for _ in range(2):
        seat(server, lobby)
    cat = server.client()
    for _ in range(2):  # a second click is the same person
        page = join(server, lobby, cat, participant_label="cat")
        assert page.status_code == 200
        assert "Every seat is taken" in page.text
        assert "FULL-4" in page.text
    server.restart()
    rows = export(server, "participants", lobby)
    assert len(rows) == 3
    row = rows[2]
    assert (row["participant_label"], row["outcome"], row["completion_code"]) == (
        "cat",
        "full",
        "FULL-4",
    )
    assert (row["consent"], row["money"]) == (True, None)
    assert row["participant"] in page.text


def test_whoever_was_screened_out_keeps_code_and_answers_and_gives_the_name_to_nobody(server):
    page = (
        '[[pages]]\nname = "about"\nbefore = "game 1"\n[[pages.items]]\nname = "age"\ntext = "How'
        ' old are you?"\n'
    )
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="cooperator", more=QUIZ)
    text = text.replace("answer = 60", "answer = 60\ntries = 1") + page
    lobby = server.state.sessions.create_experiment(text)
    ann, link = seat(server, lobby, participant_label="ann")
    ann.post(
        f"{link}/questionnaire", data={"csrf": hidden(ann.get(link), "csrf"), "item.age": "44"}
    )
    ben, other = seat(server, lobby, participant_label="ben")
    ben.post(
        f"{other}/questionnaire", data={"csrf": hidden(ben.get(other), "csrf"), "item.age": "27"}
    )
    make_ready(ben, other, "4")
    shown = make_ready(ann, link, "3").text
    sessions = server.state.sessions
    sessions.begin_without(sessions.get_session(lobby.tables[0].id))
    for turn in (0, 1):
        server.wait_for(lambda turn=turn: f'name="turn" value="{turn}"' in ben.get(other).text)
        take(ben, other, answer="cooperate")
    wait_until_over(server, lobby.tables[0])
    server.restart()
    played, screened = export(server, "participants", lobby)
    assert (played["participant_label"], played["q_age"], played["points"]) == ("ben", "27", 6)
    assert (screened["participant_label"], screened["q_age"]) == ("ann", "44")
    assert (screened["consent"], screened["quiz_tries"]) == (True, 1)
    assert screened["participant"] in shown
    assert (screened["points"], screened["money"]) == (None, None)
    empty = [row for row in export(server, "parts", lobby) if row["participant_label"] != "ben"]
    assert [(row["participant"], row["participant_label"]) for row in empty] == [(None, None)]
    assert {row["participant_label"] for row in export(server, "decisions", lobby)} == {"ben", None}


def test_whoever_was_away_until_somebody_else_took_the_seat_has_a_row(server):
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="random", more="")
    lobby = server.state.sessions.create_experiment(text)
    sessions = server.state.sessions
    for name in ("ann", "ben"):
        sessions.record_event(
            "seated",
            session=lobby.tables[0].id,
            seat=0,
            holder=0 if name == "ann" else 1,
            labels={"participant_label": name},
            agreed=True,
        )
    rows = export(server, "participants", lobby)
    told = [(row["participant_label"], row["consent"], row["outcome"]) for row in rows]
    assert told == [("ben", True, None), ("ann", True, "seat lost")]
    assert rows[0]["participant"] != rows[1]["participant"]


def test_a_person_replaced_before_the_first_answer_is_paid_for_taking_part_only(server):
    lobby = begin(server, stand_in="defector", more="bonus = 0.5")
    (anna, link), (ben, other) = sit_down(server, lobby)
    sessions = server.state.sessions
    sessions.replace_person(sessions.get_session(lobby.tables[0].id), 1)
    for turn in (0, 1):
        server.wait_for(lambda turn=turn: f'name="turn" value="{turn}"' in anna.get(link).text)
        take(anna, link, answer="cooperate")
    wait_until_over(server, lobby.tables[0])
    played, replaced = export(server, "participants", lobby)
    # The bonus of the game is for those who gave an answer of their own.
    assert (played["points"], played["money"], played["replaced"]) == (0, 2.5, False)
    assert (replaced["answers"], replaced["stand_ins"], replaced["replaced"]) == (0, 2, True)
    assert (replaced["seat_points"], replaced["points"], replaced["money"]) == (10, 0, 2.0)
    assert "EUR 2.00" in ben.get(other).text


def test_the_completion_code_is_listed_once_it_was_shown(server):
    asked = '[[questionnaire]]\nname = "why"\ntext = "Why?"\n'
    lobby = begin(server, more=asked)
    people = sit_down(server, lobby)
    for _ in range(2):
        for client, link in people:
            take(client, link, answer="cooperate")
    wait_until_over(server, lobby.tables[0])
    (anna, link), _ = people
    assert "A few questions" in anna.get(link).text
    codes = [row["completion_code"] for row in export(server, "participants", lobby)]
    assert codes == [None, None]
    page = anna.post(
        f"{link}/questionnaire", data={"csrf": hidden(anna.get(link), "csrf"), "item.why": "so"}
    )
    assert "DONE-1" in page.text
    server.restart()
    first, second = export(server, "participants", lobby)
    assert (first["completion_code"], first["finished"][:2]) == ("DONE-1", "20")
    assert (second["completion_code"], second["finished"], second["money"]) == (
        None,
        None,
        5.0,
    )  # 6 points at 0.50


def test_a_game_that_is_not_over_is_not_paid(server):
    more = (
        '[[games]]\ngame = "prisoners-dilemma"\nrounds = 2\nseats = ["person", "person"]\nquiz ='
        " false\n"
    )
    lobby = begin(server, more=f"{more}bonus = 7\n")
    people = sit_down(server, lobby)
    for _ in range(2):
        for client, link in people:
            take(client, link, answer="cooperate")
    wait_until_over(server, lobby.tables[0])
    sessions = server.state.sessions
    later = [
        (server.client(), server.state.seat_path(lobby.tables[1].id, number)) for number in (0, 1)
    ]
    for client, link in later:
        make_ready(client, link)
    for client, link in later:
        take(client, link, answer="cooperate")
    session = sessions.get_session(lobby.tables[1].id)
    assert (session.settled, session.payoffs()) == (2, {"row": 3.0, "col": 3.0})
    # 3 + 3 points of the first game at 0.50, and 2.00; the 3 points and the bonus of the second are
    # not paid yet.
    rows = export(server, "participants", lobby)
    assert [(row["points"], row["money"], row["parts_finished"]) for row in rows] == [
        (6, 5.0, 1),
        (6, 5.0, 1),
    ]


def test_whoever_is_asked_nothing_is_paid_and_whoever_was_replaced_is_not(server):
    game = 'game = "entry-deterrence"\nseats = ["person", "person"]'
    text = PAIR.format(groups=2, least=0, stand_ins="none", stand_in="random", more="")
    text = text.replace(
        'game = "prisoners-dilemma"\nrounds = 2\nseats = ["person", "person"]', game
    )
    lobby = server.state.sessions.create_experiment(text)
    people = sit_down(server, lobby, 4)
    sessions = server.state.sessions
    sessions.replace_person(sessions.get_session(lobby.tables[1].id), 1)
    for client, link in (people[0], people[2]):
        take(client, link, answer="out")
    for table in lobby.tables:
        wait_until_over(server, table)
    # The entrant stays out: the incumbent is asked nothing and has 5 points.
    rows = export(server, "participants", lobby)
    assert [(row["seat_points"], row["points"]) for row in rows] == [(1, 1), (5, 5), (1, 1), (5, 0)]


@pytest.mark.parametrize("action", ["begin", "advance"])
def test_beginning_all_leaves_empty_groups_and_later_games_to_those_who_will_come(server, action):
    more = '[[games]]\ngame = "chicken"\nseats = ["person", "person"]\nquiz = false\n'
    lobby = begin(server, groups=2, stand_in="random", more=more)
    ((ann, link),) = sit_down(server, lobby, 1)
    act(server.state, lobby, action)
    sessions = server.state.sessions
    begun = [sessions.get_session(table.id).begun for table in lobby.tables]
    # Two groups with two games each; one person is ready at the first table and waits for one
    # other.
    assert begun == [True, False, False, False]
    assert "turn" in ann.get(link).text
    # For one table that is named it is done, although nobody is ready there.
    act(server.state, lobby, "begin", lobby.first_tables[1].id)
    assert sessions.get_session(lobby.first_tables[1].id).begun


def test_the_amounts_of_the_last_page_add_up_to_the_total_that_is_shown(server):
    text = PAIR.format(groups=1, least=0, stand_ins="none", stand_in="cooperator", more="")
    study = text.replace("show_up = 2", "show_up = 2.345").replace("rate = 0.5", "rate = 0.0125")
    lobby = server.state.sessions.create_experiment(study)
    people = sit_down(server, lobby)
    for _ in range(2):
        for client, link in people:
            take(client, link, answer="cooperate")
    client, link = people[0]
    page = client.get(link).text.partition('<table class="money')[2].partition("</dl>")[0]
    # 2 rounds of 3 points at 0.0125 are 0.075, and 2.345 + 0.075 = 2.42
    shown = re.findall(r"<dd>EUR ([\d.]+)</dd>|>([\d.]+)</td></tr>", page)
    amounts = [Decimal(one or other) for one, other in shown]
    assert amounts == [Decimal("0.075"), Decimal("2.345"), Decimal("2.42")]
    assert sum(amounts[:-1]) == amounts[-1]
