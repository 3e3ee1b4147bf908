"""Recorded plays: a program is accepted only if all of them are legal in it and pay the same."""

import json

import pytest
from example_programs import PROGRAMS
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.logic import Limits

GAME = """initial(s0).
initially(player(P), s0) :- member(P, [bob, ann]).
initially(control(P), s0) :- member(P, [bob, ann]).
legal(move(P, M), S) :- holds(control(P), S), member(M, [high, low]).
effect(did(P, M), move(P, M), _).
abnormal(control(P), move(P, _), _).
final(S) :- holds(did(ann, _), S), holds(did(bob, _), S).
finally(goal(ann, U), S) :- holds(did(ann, A), S), holds(did(bob, B), S), payoff(A, B, U, _).
finally(goal(bob, U), S) :- holds(did(ann, A), S), holds(did(bob, B), S), payoff(A, B, _, U).
payoff(high, high, 2, 2).
payoff(high, low, 0, 3).
payoff(low, high, 3, 0).
payoff(low, low, 1, 1).
"""
NIM = """initial(s0).
initially(player(P), s0) :- member(P, [ann, bob]).
initially(control(ann), s0).
initially(pile(1, 1), s0).
initially(pile(2, 3), s0).
other(ann, bob).
other(bob, ann).
legal(move(P, take(N, Pile)), S) :-
    holds(control(P), S), holds(pile(Pile, Size), S), between(1, Size, N).
effect(pile(Pile, Left), move(_, take(N, Pile)), S) :- holds(pile(Pile, Size), S), Left is Size - N.
effect(control(Q), move(P, _), _) :- other(P, Q).
abnormal(pile(Pile, _), move(_, take(_, Pile)), _).
abnormal(control(P), move(P, _), _).
final(S) :- \\+ (holds(pile(_, Size), S), Size > 0).
finally(goal(P, -1), S) :- holds(control(P), S).
finally(goal(Q, 1), S) :- holds(control(P), S), other(P, Q).
"""
TRUST = """
initial(s0).
initially(player(ann), s0). initially(player(bob), s0).
chance(move(nature, W), 1/2, s0) :- member(W, [rain, sun]).
effect(control(ann), move(nature, _), _).
legal(move(P, M), S) :- holds(control(P), S), member(M, [stay, go]).
effect(did(P, M), move(P, M), _).
effect(control(bob), move(ann, go), _).
abnormal(control(P), move(P, _), _).
final(do(move(ann, stay), _)).
final(do(move(bob, _), _)).
finally(goal(ann, 1), S) :- holds(did(ann, stay), S).
finally(goal(ann, 1/3), S) :- holds(did(bob, _), S).
finally(goal(bob, 0), S) :- final(S).
"""
RIGHT = "moves,ann,bob\nbob: low; ann: high,0,3\nann: low; bob: low,1,\n"


def check(tmp_path, program, recorded, suffix=".csv", **options):
    file = tmp_path / f"plays{suffix}"
    file.write_text(recorded)
    return br.check(program, plays=file, engine="embedded", **options)


def list_faults(report):
    return [f"{error.message} ({error.hint})" for error in report.errors]


def test_plays_that_fit_are_accepted_in_whatever_order_simultaneous_moves_are_recorded(tmp_path):
    assert check(tmp_path, GAME, RIGHT).ok
    lines = [
        {"moves": [["nature", "rain"], ["ann", "stay"]], "payoffs": {"ann": 1, "bob": 0}},
        {"moves": [["nature", "sun"], ["ann", "go"], ["bob", "stay"]], "payoffs": {"ann": "1/3"}},
    ]
    assert check(tmp_path, TRUST, "\n".join(map(json.dumps, lines)), ".jsonl").ok


BROKEN = [
    (
        "ann: high; bob: middle,0,3",
        "move 2, bob: middle, is not allowed (allowed there: bob: high; bob: low)",
    ),
    (
        "carl: high; bob: low,0,3",
        "move 1, carl: high, is not allowed (allowed there: ann: high; bob: high; ann: low;"
        " bob: low)",
    ),
    (
        "ann: high,0,3",
        "the game is not over after its last move (allowed there: bob: high; bob: low)",
    ),
    ("ann: high; bob: low; ann: high,0,3", "the game is over after move 2, ann: high; bob: low ()"),
    ("ann: high; bob: low,0,2", "bob gets 3 after ann: high; bob: low; 2 was recorded ()"),
]


@pytest.mark.parametrize(("play", "fault"), BROKEN)
def test_the_move_that_breaks_a_play_is_named_with_what_is_allowed(tmp_path, play, fault):
    report = check(tmp_path, GAME, RIGHT + play + "\n")
    assert not report.ok
    assert list_faults(report) == [f"the play of line 4: {fault}"]


def test_plays_of_another_game_are_counted(tmp_path):
    report = check(tmp_path, GAME, "moves,x\n" + "".join(f"x: {n},1\n" for n in range(8)))
    assert len(report.errors) == 6
    assert report.errors[-1].message == "8 of 8 recorded plays do not fit the rules"


def test_a_game_by_positions_is_followed_too(tmp_path):
    few = Limits(positions=20)
    moves = "ann: take(1,1); bob: take(2,2); ann: take(1,2)"
    assert (
        check(tmp_path, NIM, f'moves,ann,bob\n"{moves}",1,-1\n', limits=few).positions is not None
    )
    report = check(tmp_path, NIM, 'moves,ann\n"ann: take(2,1)",1\n', limits=few)
    assert "move 1, ann: take(2,1), is not allowed" in report.errors[0].message


BAD_FILES = [
    ("", ".jsonl", "holds no plays"),
    ("{}", ".jsonl", "line 1: expected moves"),
    ("[1]", ".jsonl", "line 1 holds no object"),
    ('{"moves": [], "payoffs": {"ann": 1}}', ".jsonl", "line 1: expected moves"),
    ('{"moves": [["ann"]], "payoffs": {"ann": 1}}', ".jsonl", "line 1: expected moves"),
    ('{"moves": [["ann", "high"]], "payoffs": {"ann": true}}', ".jsonl", "line 1: expected moves"),
    ("ann,bob\n1,2\n", ".csv", "line 2: expected moves"),
    ("moves,ann\nann high,1\n", ".csv", "line 2: expected moves"),
    ("moves,ann\nann: high,much\n", ".csv", "line 2: expected moves"),
    ("moves,ann\nann: high,1/0\n", ".csv", "line 2: expected moves"),
    ("moves,ann,bob\nann: take(1,1),1\n", ".csv", "line 2: expected moves"),
    (RIGHT + "bob: low; ann: high,5,5\n", ".csv", "line 4: the moves of line 2 with other payoffs"),
    (RIGHT, ".txt", "csv"),
]


@pytest.mark.parametrize(("text", "suffix", "why"), BAD_FILES)
def test_a_file_that_holds_no_plays_is_refused_with_its_line(tmp_path, text, suffix, why):
    with pytest.raises(UsageError, match="plays") as error:
        check(tmp_path, GAME, text, suffix)
    assert why in str(error.value)


def test_the_command_names_what_breaks_a_play(tmp_path):
    (tmp_path / "game.pl").write_text(GAME)
    (tmp_path / "plays.csv").write_text("moves,ann\nann: high; bob: low,2\n")
    command = ["check", str(tmp_path / "game.pl"), "--plays", str(tmp_path / "plays.csv")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "the play of line 2: ann gets 0 after ann: high; bob: low; 2 was recorded" in (
        result.stdout
    )


def test_a_program_that_breaks_a_play_is_repaired(tmp_path):
    file = tmp_path / "plays.csv"
    file.write_text(RIGHT)
    answers = iter([GAME.replace("payoff(high, low, 0, 3)", "payoff(high, low, 3, 0)"), GAME])
    asked = []

    def model(prompt):
        asked.append(prompt)
        return f"```\n{next(answers)}```"

    story = "Ann and Bob each choose high or low."
    found = br.formalize(story, model, form="program", plays=file, output_dir=tmp_path)
    assert found.ok
    assert len(asked) == 2
    assert "- bob: low; ann: high. Payoffs: ann 0, bob 3" in asked[0]
    assert "the play of line 2: ann gets 3 after bob: low; ann: high; 0 was recorded" in asked[1]


def test_a_story_may_become_a_game_that_is_told_by_its_positions(tmp_path):
    program = (PROGRAMS / "nim.pl").read_text("utf-8")
    found = br.formalize("Nim.", lambda prompt: program, form="program", output_dir=tmp_path)
    told = "ann, bob move in turn: 752 positions and 212,100,984 plays, so it is told by its"
    assert found.words == (f"{told} positions",)
    assert found.solve().value == -1
