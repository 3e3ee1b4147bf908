"""`bestresponse check`: one line per program, why not, and an exit code."""

import io
import json
import sys

import pytest
from games_for_logic import simultaneous

from bestresponse.cli.app import main
from bestresponse.formal.formalize.plan import library
from bestresponse.logic.confined.engine import ConfinedEngine
from bestresponse.logic.settings import Layer, settings

GOOD = next(e.program for e in library() if e.name == "prisoners_dilemma")


@pytest.fixture
def run(monkeypatch, capsys):
    def typed(*words, stdin=""):
        monkeypatch.setattr(sys, "argv", ["bestresponse", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return typed


@pytest.fixture
def program(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_a_game_is_one_line_of_json_with_players_moves_and_table(run, program):
    code, out, _ = run("check", program("a.pl", GOOD), "--json", "--engine", "embedded")
    found = json.loads(out)
    assert code == 0
    assert found["ok"]
    assert found["players"] == ["ada", "ben"]
    assert found["moves"] == [["Silent", "Betray"]] * 2
    assert found["table"]["ends"][1] == {
        "moves": [["ada", "Silent"], ["ben", "Betray"]],
        "payoffs": [0, 5],
        "blocks": [2],
    }
    assert found["names"] == ["prisoners-dilemma"]


def test_every_program_gets_its_line_and_one_bad_program_makes_the_exit_code_1(run, program):
    files = [program("a.pl", GOOD), program("b.pl", "initial(s0)\nfinal(s0)."), program("c.pl", "")]
    code, out, _ = run("check", *files, "--json", "--engine", "embedded")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [one["ok"] for one in found] == [True, False, False]
    assert found[1]["messages"][0]["line"] == 2


def test_ten_megabytes_are_refused_in_a_sentence(run, program):
    big = program("big.pl", "p(x).\n" * 1_700_000)
    code, out, _ = run("check", big, "--engine", "embedded")
    assert code == 1
    assert "is not a game program: it has 10,200,000 bytes" in out


def test_a_missing_file_and_a_folder_are_mistakes_of_typing(run, tmp_path):
    code, out, err = run("check", tmp_path / "none.pl", "--engine", "embedded")
    assert (code, out) == (2, "")
    assert "none.pl: there is no such file" in err
    code, out, err = run("check", tmp_path, "--engine", "embedded")
    assert (code, out) == (2, "")
    assert "is a folder; expected logic programs, such as" in err


def test_a_program_that_reaches_for_the_machine_is_refused_and_nothing_happens(
    run, program, tmp_path
):
    mark = tmp_path / "mark"
    code, out, _ = run(
        "check",
        program("x.pl", GOOD + f"\nfinal(S) :- shell('touch {mark}')."),
        "--engine",
        "embedded",
    )
    assert code == 1
    assert "shell/1 is not allowed" in out
    assert not mark.exists()


def test_a_game_without_end_is_told_plainly(run, program):
    endless = GOOD.replace(
        "final(do(move(_, _), do(move(_, _), S))) :- initial(S).", "final(S) :- S == never."
    )
    endless = endless.replace("abnormal(control(P), move(P, _M), _S).", "")
    code, out, _ = run("check", program("endless.pl", endless), "--engine", "embedded")
    assert code == 1
    assert "a play is not over after 300 moves (check final/1 and legal/2)" in out


def test_the_constraints_of_a_named_game_can_be_demanded(run, program):
    path = program("a.pl", GOOD)
    assert run("check", path, "--as", "prisoners-dilemma", "--engine", "embedded")[0] == 0
    code, out, _ = run("check", path, "--as", "stag-hunt", "--engine", "embedded")
    assert code == 1
    assert "R > T does not hold (3 > 5)" in out
    assert run("check", path, "--as", "stag-hunts")[0] == 2


def test_hidden_characters_of_a_program_are_shown_as_code_points(run, program):
    code, out, _ = run("check", program("t.pl", "initial(s0). % \u202e\n"), "--engine", "embedded")
    assert code == 1
    assert "\u202e" not in out


def test_a_program_is_a_game_like_any_other_for_solve(run, program):
    code, out, _ = run("solve", program("pd.pl", GOOD), "--json")
    found = json.loads(out)
    assert code == 0
    assert [e["strategies_exact"]["ada"] for e in found["equilibria"]] == [
        {"Silent": "0", "Betray": "1"}
    ]
    trust = next(e.program for e in library() if e.name == "trust")
    code, out, _ = run("solve", program("trust.pl", trust))
    assert code == 0
    assert "backward induction" in out


def test_a_sandbox_that_is_demanded_and_not_complete_is_refused(run, program, monkeypatch):
    missing = (Layer("files", False, "Landlock needs Linux"),)
    monkeypatch.setattr(ConfinedEngine, "layers", property(lambda engine: missing))
    settings.judged.clear()
    path = program("a.pl", GOOD)
    code, _, err = run("--require-sandbox", "check", path, "--engine", "embedded")
    assert code == 2
    assert (
        err
        == "bestresponse: the sandbox is required, but incomplete: files: missing (Landlock needs"
        " Linux)\n"
    )
    code, _, err = run("check", path, "--engine", "embedded")
    assert code == 0
    assert (
        err == "bestresponse: programs are checked with less confinement than there could be: "
        "files: missing (Landlock needs Linux)\n"
    )
    code, _, err = run("check", path, "--engine", "embedded")
    assert (code, err) == (0, "")


def test_a_game_too_large_for_the_limits_is_told_the_option_that_raises_them(run, program):
    path = program("a.pl", simultaneous(2, 30))
    for engine in ("embedded", "auto"):
        code, out, _ = run("--logic-ends", "899", "check", path, "--engine", engine)
        assert code == 1
        assert "The game has more than 899 ends." in out
        assert (
            "`bestresponse --logic-ends N ...` or `br.check(..., limits=Limits.within(35, N))`"
            " allows N" in " ".join(out.split())
        )
        code, out, _ = run("--logic-ends", "900", "check", path, "--engine", engine)
        assert code == 0


def test_it_says_which_move_is_to_cooperate(run, program):
    path = program("pd.pl", GOOD)
    assert (
        "  as prisoners-dilemma: Silent = C, Betray = D; ada is the row player, ben is the column"
        " player\n" in run("check", path)[1]
    )
    roles = json.loads(run("check", path, "--json")[1])["roles"]
    assert roles == {
        "prisoners-dilemma": {
            "players": {"ada": "row", "ben": "column"},
            "moves": [{"Silent": "C", "Betray": "D"}, {"Silent": "C", "Betray": "D"}],
        }
    }


def test_constraints_come_from_a_file(run, program):
    cells = 'payoffs = [["R,R", "S,T"], ["T,S", "P,P"]]\n'
    mild = (
        f'[mild]\nmoves = ["still", "talk"]\n{cells}roles = ["C", "D"]\nholds = ["T > R", "R > P",'
        ' "2 * R > T + S"]\n'
    )
    harsh = f'[harsh]\nmoves = ["still", "talk"]\n{cells}holds = ["S > P", "T > R"]\n'
    path = program("pd.pl", GOOD)
    code, out, _ = run("check", path, "--as", program("mild.toml", mild))
    assert code == 0
    assert "as mild: Silent = C, Betray = D" in out
    code, out, _ = run("check", path, "--as", program("harsh.toml", harsh))
    assert code == 1
    assert "it is no harsh: S > P does not hold (0 > 1)" in out
    assert run("check", path, "--as", program("both.toml", mild + harsh))[0] == 0
    assert "holds no game" in run("check", path, "--as", program("empty.toml", ""))[2]
