"""`bestresponse check --query` and `br.query`: what a program answers, within the sandbox."""

import json

import pytest
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import LogicError, UsageError

DILEMMA = """
initial(s0).
initially(player(P), s0) :- member(P, [p1, p2]).
initially(control(P), s0) :- member(P, [p1, p2]).
initially(role(p1, row), s0).
initially(role(p2, col), s0).
possible(move(P, 'D'), S) :- holds(player(P), S).
possible(move(P, 'C'), S) :- holds(player(P), S).
legal(move(P, M), S) :- possible(move(P, M), S), holds(control(P), S).
effect(did(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(do(M2, do(M1, S))) :- ground(M2), ground(M1), initial(S).
finally(outcome(P1, M1, U1, P2, M2, U2), S) :-
    holds(role(P1, row), S), holds(did(P1, M1), S),
    holds(role(P2, col), S), holds(did(P2, M2), S),
    payoff(M1, M2, U1, U2).
finally(goal(P1, U1), S) :- finally(outcome(P1, _, U1, _, _, _), S).
finally(goal(P2, U2), S) :- finally(outcome(_, _, _, P2, _, U2), S).
payoff('C', 'C', 3, 3).
payoff('C', 'D', 0, 5).
payoff('D', 'C', 5, 0).
payoff('D', 'D', 1, 1).
"""  # as in section 3.2.2 of the paper
TO_EARN_5 = "game(s0, F), finally(goal(p1, 5), F)"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "pd.pl"
    path.write_text(DILEMMA)
    return path


def check(*words):
    return CliRunner().invoke(app, ["check", *map(str, words)])


def test_the_query_of_the_paper_has_its_two_answers(program):
    done = check(program, "--query", f"?- {TO_EARN_5}.")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-4:] == [
        f"  ?- {TO_EARN_5}.",
        "  F = do(move(p2,'C'),do(move(p1,'D'),s0))",
        "  F = do(move(p1,'D'),do(move(p2,'C'),s0))",
        "  no more",
    ]


def test_a_query_without_variables_is_true_or_false(program):
    assert check(program, "--query", "holds(player(p1), s0)").stdout.splitlines()[-2:] == [
        "  true",
        "  no more",
    ]
    done = check(program, "--query", "holds(player(p9), s0)")
    assert done.stdout.splitlines()[-1] == "  false"
    assert done.exit_code == 0


def test_answers_as_data(program):
    done = check(program, "--query", "holds(player(P), s0)", "--json")
    data = json.loads(done.stdout)
    assert data["answers"] == [{"P": "p1"}, {"P": "p2"}]
    assert data["more_answers"] is False


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("shell(ls)", "shell/1 is not allowed"),
        ("game(", "the clause ends too early"),
        ("payof(X)", "unknown procedure payof/1"),
        ("between(1, 1000000000, X), X < 0", "did not come to an end within 500,000 steps"),
    ],
)
def test_a_query_that_cannot_be_answered_says_why(program, query, why):
    done = check(program, "--query", query)
    assert done.exit_code == 1
    assert "the query has no answer:" in done.stdout
    assert why in done.stdout


def test_a_program_that_is_no_game_still_answers(tmp_path):
    path = tmp_path / "facts.pl"
    path.write_text("likes(ann, bo).\n")
    done = check(path, "--query", "likes(X, bo)")
    assert done.exit_code == 1  # it is no game
    assert "  X = ann" in done.stdout


def test_a_program_that_was_refused_answers_nothing(tmp_path):
    path = tmp_path / "bad.pl"
    path.write_text("go :- shell(ls).\n")
    done = check(path, "--query", "go")
    assert done.exit_code == 1
    assert "the query has no answer" in done.stdout


def test_in_python_answers_are_texts_and_there_may_be_more():
    found = br.query(DILEMMA, "member(X, [a, 'B c', 1/2])", most=2)
    assert list(found) == [{"X": "a"}, {"X": "'B c'"}]
    assert found.more
    assert not br.query(DILEMMA, "member(X, [a, b])", most=2).more
    assert list(br.query(DILEMMA, "holds(player(p9), s0)")) == []


def test_in_python_a_wrong_query_is_an_error():
    with pytest.raises(LogicError, match=r"shell/1 is not allowed"):
        br.query(DILEMMA, "shell(ls)")
    with pytest.raises(UsageError, match="most is 0; expected at least 1 answer"):
        br.query(DILEMMA, "true", most=0)
