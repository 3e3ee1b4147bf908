"""`bestresponse convert` and `compare`: files, sentences and exit codes."""

import json
import sys

import pytest

from bestresponse.cli.app import main
from bestresponse.formal.formalize.plan import library

DILEMMA = next(e.program for e in library() if e.name == "prisoners_dilemma")


@pytest.fixture
def run(monkeypatch, capsys):
    def typed(*words):
        monkeypatch.setattr(sys, "argv", ["bestresponse", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return typed


def test_a_program_becomes_every_kind_of_file_and_stays_the_same_game(run, tmp_path):
    program = tmp_path / "dilemma.pl"
    program.write_text(DILEMMA, "utf-8")
    for ending in ("efg", "nfg", "json"):
        out = tmp_path / f"dilemma.{ending}"
        assert run("convert", program, out)[0] == 0
        code, shown, _ = run("compare", program, out)
        assert code == 0
        assert shown.startswith("same tree, under")


def test_what_players_saw_is_called_the_same_after_a_tree_file(run, tmp_path):
    auction = tmp_path / "original.pl"
    auction.write_text(next(e.program for e in library() if e.name == "private_auction"), "utf-8")
    assert run("convert", auction, tmp_path / "auction.efg")[0] == 0
    assert run("convert", tmp_path / "auction.efg", tmp_path / "auction.pl")[0] == 0
    assert run("compare", auction, tmp_path / "auction.pl")[1].startswith(
        "same tree, under the same names"
    )


def test_a_file_that_is_there_is_kept_unless_forced(run, tmp_path):
    out = tmp_path / "game.nfg"
    out.write_text("mine", "utf-8")
    code, _, error = run("convert", "stag-hunt", out)
    assert (code, out.read_text("utf-8")) == (2, "mine")
    assert "already exists; choose another name, or set `force` to overwrite it" in error
    assert run("convert", "stag-hunt", out, "--force")[0] == 0
    assert out.read_text("utf-8").startswith("NFG 1 R")


def test_a_table_is_written_as_openspiel_reads_it(run, tmp_path):
    out = tmp_path / "pd.nfg"
    assert run("convert", "prisoners-dilemma", out, "--openspiel")[0] == 0
    head, _, *cells = out.read_text("utf-8").splitlines()
    assert head == 'NFG 1 R "prisoners-dilemma" { "row" "col" } { 2 2 }'
    assert cells == ["3.0 3.0", "5.0 0.0", "0.0 5.0", "1.0 1.0"]
    assert run("compare", "prisoners-dilemma", out)[1].startswith("same tree, under other names")
    code, _, error = run("convert", "prisoners-dilemma", tmp_path / "pd.efg", "--openspiel")
    assert (code, "only .nfg files" in error) == (2, True)


def test_check_and_compare_name_a_class_by_one_rule(run, tmp_path):
    assert run("convert", "chicken", tmp_path / "chicken.pl")[0] == 0
    assert "; of the class Hawk-Dove (Chicken)" in run("check", tmp_path / "chicken.pl")[1]
    code, shown, _ = run("compare", "chicken", "hawk-dove")
    assert (code, shown.splitlines()[-1]) == (4, "  both are of the class Hawk-Dove (Chicken)")
    assert json.loads(run("compare", "chicken", "stag-hunt", "--json")[1])["classes"] == []


def test_an_ending_that_cannot_be_written_is_refused(run, tmp_path):
    code, _, error = run("convert", "stag-hunt", tmp_path / "game.xls")
    assert code == 2
    assert "expected a file ending in .nfg, .efg, .json, .pl" in error


def test_different_games_are_told_apart(run, tmp_path):
    other = tmp_path / "other.json"
    other.write_text('{"row": [[3, 0], [5, 2]], "col": [[3, 5], [0, 1]]}', "utf-8")
    same = tmp_path / "same.json"
    same.write_text('{"row": [[3, 0], [5, 1]], "col": [[3, 5], [0, 1]]}', "utf-8")
    code, shown, _ = run("compare", same, other)
    assert code == 4
    assert (
        shown == "same order of payoffs\n"
        "  after row: a1, col: a1 the payoffs are 1, 1 in the first game and 2, 1 in the second\n"
    )
    code, shown, _ = run("compare", same, same, "--json")
    assert (code, json.loads(shown)["relation"], json.loads(shown)["verdict"]) == (
        0,
        "equal",
        "same tree",
    )


def test_every_verdict_has_its_exit_code(run, tmp_path):
    """A draw of 4 or 0 is worth 2 on average: the reduced form is the same, the tree is not."""
    games = {
        "drawn": 'c "" 1 "" { "good" 1/2 "bad" 1/2 } 0\n t "" 1 "" { 4 }\n t "" 2 "" { 0 }\n',
        "sure": 't "" 1 "" { 2 }\n',
        "crossed": 'c "" 1 "" { "bad" 1/4 "good" 3/4 } 0\n t "" 1 "" { 4 }\n t "" 2 "" { 0 }\n',
    }
    for name, tree in games.items():
        text = (
            f'EFG 2 R "{name}" {{ "ann" }}\np "" 1 1 "" {{ "stay" "go" }} 0\nt "" 9 "" {{ 1'
            f" }}\n{tree}"
        )
        (tmp_path / f"{name}.efg").write_text(text, "utf-8")
    drawn, sure, crossed = (str(tmp_path / f"{name}.efg") for name in games)
    code, shown, _ = run("compare", drawn, sure)
    assert (code, shown) == (
        3,
        (
            "same reduced form, other tree, under the same names\n"
            "  after go chance moves in the first game and the game is over in the second\n"
        ),
    )
    code, shown, _ = run("compare", drawn, crossed)
    assert (code, shown.splitlines()[:2]) == (
        1,
        ["different", "  go > good has probability 0.5 in the first game and 0.75 in the second"],
    )
    assert run("compare", drawn, drawn)[0] == 0


def test_names_mean_the_same_unless_any_names_will_do(run, tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text(
        '{"row": [[3, 0], [5, 1]], "col": [[3, 5], [0, 1]], "actions": [["c", "d"], ["c", "d"]]}',
        "utf-8",
    )
    second.write_text(
        '{"row": [[1, 5], [0, 3]], "col": [[1, 0], [5, 3]], "actions": [["c", "d"], ["c", "d"]]}',
        "utf-8",
    )
    assert run("compare", first, second)[0] == 1
    code, shown, _ = run("compare", first, second, "--any-names")
    assert (code, shown.splitlines()[0]) == (0, "same tree, under other names")


def test_a_long_renaming_is_cut_with_a_remark(run, tmp_path):
    """Kuhn poker has 27 plans for the first player and 64 for the second; its copy has other names
    for the players."""
    copy = tmp_path / "copy.efg"
    assert run("convert", "kuhn-poker", copy)[0] == 0
    text = copy.read_text().replace('"player 1"', '"ann"').replace('"pass"', '"check"')
    copy.write_text(text)
    code, shown, _ = run("compare", "kuhn-poker", copy)
    assert code == 0
    lines = shown.splitlines()
    assert lines[1:3] == ["  other names: 1 of 2 players, 1 of 2 moves", "    player 1 = ann"]
    assert lines[3:] == ["    pass = check"]


def test_a_game_of_openspiel_is_named_solved_and_converted(run, tmp_path):
    pytest.importorskip("pyspiel", reason="the extra `openspiel` is not installed")
    out = tmp_path / "kuhn.efg"
    assert run("convert", "openspiel:kuhn_poker(players=2)", out)[0] == 0
    # OpenSpiel deals the two cards by two draws, the catalogue by one: another tree of the same
    # reduced form
    code, shown, _ = run("compare", "kuhn-poker", out)
    assert (code, shown.startswith("same reduced form, other tree")) == (3, True)
    code, shown, _ = run("solve", "openspiel:kuhn_poker", "--json")
    assert json.loads(shown)["value_exact"] == "-1/18"


def test_a_tree_becomes_a_program_and_comes_back_as_the_same_game(run, tmp_path):
    program, tree = tmp_path / "poker.pl", tmp_path / "poker.efg"
    assert run("convert", "kuhn-poker", program)[0] == 0
    assert run("convert", program, tree)[0] == 0
    code, shown, _ = run("compare", "kuhn-poker", tree)
    assert code == 0
    assert shown.startswith("same tree, under the same names")
