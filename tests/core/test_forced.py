"""A seat with one legal answer is not asked."""

import pytest

import bestresponse as br
from bestresponse.analysis.truth import iterate_decisions
from bestresponse.core import Amount, Choice, Decision, Mixture, Words, play
from bestresponse.core.ask import Form
from bestresponse.core.codec import record_to_json
from bestresponse.core.player import FORCED, find_forced
from bestresponse.games.lookup import as_loaded_game
from bestresponse.games.trees.game import TreeGame
from bestresponse.theory.files.efg import parse_efg

# Ann has one move, then Bob has two, then Ann has one again.
TEXT = """EFG 2 R "walk" { "Ann" "Bob" }
p "" 1 1 "" { "go" } 0
p "" 2 1 "" { "left" "right" } 0
p "" 1 2 "" { "end" } 0
t "" 1 "" { 1, 2 }
t "" 2 "" { 3, 0 }"""


class Counting:
    """Takes the first move, and notes what it was asked."""

    name = "counting"

    def __init__(self):
        self.asked = []

    def decide(self, view, ask):
        self.asked.append(ask)
        return Decision(ask.options[0])


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (Choice(("go",)), "go"),
        (Mixture(("go",)), (1.0,)),
        (Amount(3, 3), 3),
        (Choice(("go",), may_pass=True), None),
        (Amount(3, 3, may_pass=True), None),
        (Amount(3, 4), None),
        (Choice(("go", "stay")), None),
        (Words(), None),
        (Form((("bid", Amount(3, 3)),)), None),
    ],
)
def test_an_answer_is_forced_where_no_other_is_legal(ask, answer):
    forced = find_forced(ask)
    if answer is None:
        assert forced is None
    else:
        ask.check(forced.action)
        assert (forced.action, forced.reading) == (answer, FORCED)


def test_a_play_asks_only_where_there_is_a_choice_and_records_every_move():
    game = TreeGame(parse_efg(TEXT))
    ann, bob = Counting(), Counting()
    record = play(game, {"Ann": ann, "Bob": bob})
    assert ann.asked == []
    assert bob.asked == [Choice(("left", "right"))]
    moves = [(turn.role, turn.decision.action) for turn in record.submissions]
    assert moves == [("Ann", "go"), ("Bob", "left"), ("Ann", "end")]
    assert [turn.decision.reading == FORCED for turn in record.submissions] == [True, False, True]
    assert dict(record.payoffs) == {"Ann": 1, "Bob": 2}
    assert [role for _, _, role, _ in iterate_decisions(record, game)] == ["Bob"]
    assert "forced" in str(record_to_json(record))


def ask_counter():
    asked = []

    def first(prompt):
        asked.append(prompt)
        return "ANSWER: left: 1, right: 0"

    return asked, first


def test_the_benchmark_asks_nothing_where_there_is_one_move(tmp_path):
    asked, model = ask_counter()
    run = br.bench(model, parse_efg(TEXT), num_games=1, elicit="mixed", output_dir=tmp_path)
    assert len(asked) == 1
    assert [row["moves"] for row in run.rows()] == [["left", "right"]]
    _, figures = run.metrics.groups[0]
    assert figures["known"] == 1.0
    assert figures["nash_gap"].estimate == 0.0  # left is Bob's best move


def test_a_game_without_a_choice_is_refused(tmp_path):
    asked, model = ask_counter()
    with pytest.raises(br.BestResponseError, match="nobody asked has a choice in walk"):
        br.bench(model, parse_efg(TEXT), seat="Ann", output_dir=tmp_path)
    assert asked == []


def test_simulate_counts_only_answers_that_were_asked_for(tmp_path):
    asked, _ = ask_counter()

    def first(prompt):
        asked.append(prompt)
        return "ANSWER: left"

    game = as_loaded_game(parse_efg(TEXT))
    run = br.simulate(game, first, repeats=3, output_dir=tmp_path)
    assert len(asked) == 3
    assert sum(row["valid"] for row in run.frame("answers")) == 3
    costs = [row["cost"] for row in run.frame("moves") if row["seat"] == "Ann"]
    assert costs == [None] * 6
