"""Round, stage and payoff of every answer, and the times at which it was shown and given."""

import pytest
from web_server import sit_down, take

from bestresponse.core.ask import Choice
from bestresponse.core.episode import Submission
from bestresponse.core.player import Decision
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.theory.catalogue.tables import load
from bestresponse.web.services.earnings import locate_answers
from bestresponse.web.services.export import COLUMNS
from bestresponse.web.sessions.setup import GameChoice, Setup, make_game


def place(name, rounds, answers):
    game = make_game(GameChoice(name, rounds=rounds))
    given = [Submission(role, Decision(action)) for role, action in answers]
    return [(p.round, p.stage, p.payoff, p.total) for p in locate_answers(game, given)]


def test_a_repeated_table_earns_in_every_round_and_an_open_round_nothing_yet():
    answers = [
        ("row", "cooperate"),
        ("col", "defect"),
        ("row", "defect"),
        ("col", "defect"),
        ("row", "defect"),
    ]
    assert place("prisoners-dilemma", 3, answers) == [
        (1, 1, 0.0, 0.0),
        (1, 1, 5.0, 5.0),
        (2, 1, 1.0, 1.0),
        (2, 1, 1.0, 6.0),
        (3, 1, None, None),
    ]


def test_trust_is_one_round_with_two_stages():
    assert place("trust", 1, [("sender", 4), ("receiver", 5)]) == [
        (1, 1, 11.0, 11.0),
        (1, 2, 17.0, 17.0),
    ]


def test_contributions_and_punishments_of_one_round_are_its_two_stages():
    game = make_game(GameChoice("public-goods-punishment"))
    roles = game.roles
    nothing = [(role, {other: 0.0 for other in roles if other != role}) for role in roles]
    found = place("public-goods-punishment", 1, [(role, 5.0) for role in roles] + nothing)
    assert [p[:2] for p in found] == [(1, 1)] * len(roles) + [(1, 2)] * len(roles)


@pytest.mark.parametrize(("name", "seats"), [("guessing", 5), ("public-goods", 3)])
def test_games_in_rounds_count_them(name, seats):
    game = make_game(GameChoice(name, rounds=2))
    ask = game.asks(game.start())[game.roles[0]]
    answer = "0" if isinstance(ask, Choice) else 1.0
    given = [(role, answer) for role in game.roles * 2]
    assert [located[0] for located in place(name, 2, given)] == [1] * seats + [2] * seats


def test_whether_another_round_follows_is_drawn_in_the_round_before():
    game = RepeatedGame(load("prisoners-dilemma"), rounds=3, continuation=0.5, noise=0.1)
    once = [("row", "defect"), ("col", "defect"), ("nature", "defect"), ("nature", "defect")]
    given = [*once, ("nature", "go on"), *once, ("nature", "stop")]
    located = locate_answers(game, [Submission(role, Decision(action)) for role, action in given])
    assert [(answer.round, answer.stage) for answer in located] == [(1, 1)] * 5 + [(2, 1)] * 5


def test_an_answer_has_the_time_it_was_shown_and_given_also_after_a_restart(server):
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="cooperate")
    server.wait_for(lambda: "The game is over" in ann.get(link).text)
    server.restart()
    rows = server.api().get("/api/export/decisions.json").json()
    own, other = sorted(rows, key=lambda row: row["role"] != "row")
    assert own["shown"] <= own["answered"]
    assert len(own["shown"]) == len("2026-01-01T12:00:00.000+00:00")
    assert (other["shown"], other["answered_by"], own["answered_by"]) == (
        None,
        "strategy",
        "person",
    )


@pytest.mark.parametrize("table", ["decisions", "participants", "parts"])
def test_the_codebook_explains_exactly_the_columns_that_are_exported(server, table):
    ((ann, link),) = sit_down(
        server, Setup(GameChoice("prisoners-dilemma"), ("person", "strategy:greedy"), quiz=False)
    )
    take(ann, link, answer="cooperate")
    rows = server.api().get(f"/api/export/{table}.json").json()
    assert list(rows[0]) == list(COLUMNS[table])
    lines = server.api().get("/api/export/codebook.csv").text.splitlines()
    # One line each, the heading, and three for the further columns of the table `wide`.
    assert len(lines) == 4 + sum(map(len, COLUMNS.values()))
