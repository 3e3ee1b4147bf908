"""`bestresponse solve`: what a user sees, as text and as data, and how it says no."""

import io
import json
import os
import subprocess
import sys

import pytest

from bestresponse.cli.app import main
from bestresponse.theory import catalogue, load_tree, write_game_file

PRISONERS = {
    "row": [[3, 0], [5, 1]],
    "col": [[3, 5], [0, 1]],
    "actions": [["share", "steal"], ["share", "steal"]],
}
CHICKEN = {"row": [[0, 7], [2, 6]], "col": [[0, 2], [7, 6]]}
FORGETFUL_DRIVER = """EFG 2 R "absent-minded driver" { "driver" }
p "" 1 1 "crossing" { "exit" "go" } 0
t "" 1 "" { 0 }
p "" 1 1 "crossing" { "exit" "go" } 0
t "" 2 "" { 4 }
t "" 3 "" { 1 }
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Type a command; the exit code, and what it printed."""

    def typed(*words: str, stdin: str = ""):
        monkeypatch.setattr(sys, "argv", ["bestresponse", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr()
        return end.value.code or 0, shown.out, shown.err

    return typed


@pytest.fixture
def data(run):
    """Solve with --json; the object printed."""

    def solved(*words: str, stdin: str = ""):
        code, out, err = run("solve", *words, "--json", stdin=stdin)
        assert (code, err) == (0, "")
        return json.loads(out)

    return solved


def test_battle_of_the_sexes_has_three_equilibria_with_exact_fractions(data):
    found = data("battle-of-the-sexes")
    assert [e["kind"] for e in found["equilibria"]] == ["pure", "pure", "mixed"]
    mixed = found["equilibria"][2]
    assert mixed["strategies_exact"] == {
        "row": {"opera": "2/3", "football": "1/3"},
        "col": {"opera": "1/3", "football": "2/3"},
    }
    assert mixed["strategies"]["row"]["opera"] == pytest.approx(2 / 3)
    assert mixed["payoffs_exact"] == {"row": "2/3", "col": "2/3"}
    assert found["method"] == "vertex enumeration, exact"
    assert found["complete"] is True
    assert found["regret"] == 0
    assert "value" not in found


@pytest.mark.parametrize(
    ("name", "value"), [("kuhn-poker", -1 / 18), ("leduc-poker", -0.085606424078)]
)
def test_poker_has_its_published_value(data, name, value):
    found = data(name)
    assert found["value"] == pytest.approx(value, abs=1e-11)
    assert found["method"] == "sequence-form LP"
    assert found["regret"] < 1e-9
    policy = found["equilibria"][0]["policy"]
    assert sum(len(sets) for sets in policy.values()) == found["information_sets"]
    assert all(
        sum(moves.values()) == pytest.approx(1)
        for sets in policy.values()
        for moves in sets.values()
    )


def test_a_zero_sum_matrix_on_standard_input_has_an_exact_value(data):
    found = data("-", stdin="[[3, -1], [-2, 1]]")
    assert found["value_exact"] == "1/7"
    assert found["value"] == pytest.approx(1 / 7)
    assert found["equilibria"][0]["strategies_exact"]["row"] == {"a0": "3/7", "a1": "4/7"}
    assert found["properties"]["zero_sum"] is True


def test_the_prisoners_dilemma_is_taken_apart(data):
    found = data("-", stdin=json.dumps(PRISONERS))
    assert [(d["player"], d["action"], d["kind"]) for d in found["dominated"]] == [
        ("row", "share", "strict"),
        ("col", "share", "strict"),
    ]
    assert found["elimination"]["kept"] == {"row": ["steal"], "col": ["steal"]}
    assert found["efficiency"]["price_of_anarchy"] == found["efficiency"]["price_of_stability"] == 3
    assert found["pareto_optimal"] == [["share", "share"], ["share", "steal"], ["steal", "share"]]
    assert found["maximin"]["row"] == {
        "value": 1,
        "value_exact": "1",
        "strategy": {"share": 0, "steal": 1},
        "strategy_exact": {"share": "0", "steal": "1"},
        "pure_value": 1,
        "pure_action": "steal",
    }
    assert found["properties"]["symmetric"] is True
    assert found["properties"]["exact_potential"] == [[0, 2], [2, 3]]
    assert found["properties"]["dominance_solvable"] is True


def test_in_a_stag_hunt_payoff_and_risk_dominance_disagree(data):
    game = {
        "row": [[4, 1], [3, 3]],
        "col": [[4, 3], [1, 3]],
        "actions": [["stag", "hare"], ["stag", "hare"]],
    }
    found = data("-", stdin=json.dumps(game))
    best = found["equilibria"][found["payoff_dominant"]]
    assert best["payoffs"] == {"row": 4, "col": 4}
    assert found["risk_dominant"] == ["hare", "hare"]


def test_a_degenerate_game_tells_its_components(run, data):
    code, out, _ = run("solve", "-", stdin="[[1, 1], [1, 1]]")
    assert code == 0
    assert "The game is degenerate" in out
    assert "{a0; a1} x {a0; a1}" in out
    found = data("-", stdin="[[1, 1], [1, 1]]")
    assert found["degenerate"] is True
    assert [c["equilibria"] for c in found["components"]] == [[0, 1, 2, 3]]


def test_the_text_shows_payoffs_equilibria_and_kind(run):
    code, out, _ = run("solve", "chicken")
    assert code == 0
    for part in (
        "* marks best responses",
        "strict, index +1",
        "evolutionarily stable",
        "price of anarchy",
        "maximin",
    ):
        assert part in out
    assert "Method: vertex enumeration, exact; all Nash equilibria. Largest regret: " in out


def test_three_players_get_a_table_for_each_action_of_the_third(run, data):
    _, out, _ = run("solve", "jordan-matching-pennies")
    assert "player 3 plays heads" in out
    assert "player 3 plays tails" in out
    found = data("jordan-matching-pennies")
    assert found["equilibria"][0]["strategies"]["player 3"] == pytest.approx(
        {"heads": 0.5, "tails": 0.5}
    )
    assert found["regret"] < 1e-9


def test_backward_induction_lists_all_subgame_perfect_equilibria(data):
    # The responder takes any positive share; at 0 it is indifferent, so the proposer keeps 10 or 9.
    found = data("ultimatum")
    assert found["method"] == "backward induction"
    assert found["subgame_perfect"] == len(found["equilibria"]) == 2
    assert [list(one.values()) for one in found["outcomes"]] == [[10, 0], [9, 1]]
    assert found["regret"] == 0


@pytest.mark.parametrize(("method", "expected"), [("cfr", 0.00187523), ("cfr+", 0.00017473)])
def test_cfr_gives_its_published_distance_from_equilibrium(data, method, expected):
    found = data("kuhn-poker", "--method", method, "--iterations", "1000")
    assert found["nash_conv"] == pytest.approx(expected, abs=5e-9)
    assert found["checkpoints"][-1] == {"iteration": 1000, "nash_conv": found["nash_conv"]}
    assert found["value"] == pytest.approx(-1 / 18, abs=1e-3)


def test_three_player_poker_says_how_good_its_answer_is(run):
    code, out, _ = run("solve", "kuhn-poker-3", "--iterations", "50")
    assert code == 0
    assert "CFR+, 50 iterations" in out
    assert "Approximate: NashConv" in out
    assert "only with two players" in out


def test_simultaneous_moves_in_a_tree_are_solved_through_the_normal_form(data, tmp_path):
    text = """EFG 2 R "sexes" { "Ann" "Bob" }
    p "" 1 1 "evening" { "opera" "football" } 0
    p "" 2 1 "evening" { "opera" "football" } 0
    t "" 1 "" { 2 1 }
    t "" 2 "" { 0 0 }
    p "" 2 1 "evening" { "opera" "football" } 0
    t "" 2 "" { 0 0 }
    t "" 3 "" { 1 2 }
    """
    (tmp_path / "sexes.efg").write_text(text)
    found = data(tmp_path / "sexes.efg")
    assert found["method"] == "reduced normal form, vertex enumeration, exact"
    assert [e["payoffs_exact"] for e in found["equilibria"]] == [
        {"Ann": "2", "Bob": "1"},
        {"Ann": "1", "Bob": "2"},
        {"Ann": "2/3", "Bob": "2/3"},
    ]


def test_files_in_the_formats_of_gambit_are_solved(data, tmp_path):
    write_game_file(catalogue.load("oneill"), tmp_path / "o.nfg")
    write_game_file(load_tree("kuhn-poker"), tmp_path / "k.efg")
    (row,) = data(tmp_path / "o.nfg")["equilibria"]
    assert [list(mix.values()) for mix in row["strategies_exact"].values()] == [
        ["1/5", "1/5", "1/5", "2/5"]
    ] * 2
    assert data(tmp_path / "k.efg")["value"] == pytest.approx(-1 / 18)


def test_an_objective_adds_a_correlated_equilibrium(run, data):
    found = data("-", "--objective", "welfare", stdin=json.dumps(CHICKEN))
    assert found["correlated"]["welfare"] == pytest.approx(10.5)
    _, out, _ = run("solve", "-", "--objective", "welfare", stdin=json.dumps(CHICKEN))
    assert "Recommended\n#  probability" in out


@pytest.mark.parametrize("method", ["enumeration", "lemke-howson", "zero-sum"])
def test_every_method_for_tables_finds_the_equilibrium_of_matching_pennies(data, method):
    found = data("matching-pennies", "--method", method)
    assert found["value"] == 0
    assert all(
        list(mix.values()) == [0.5, 0.5] for mix in found["equilibria"][0]["strategies"].values()
    )


def test_a_game_without_pure_equilibria_says_so(run):
    code, out, _ = run("solve", "matching-pennies", "--method", "pure")
    assert code == 0
    assert "No pure equilibrium exists" in out


def test_a_large_game_is_solved_for_what_it_allows(data):
    import numpy as np

    found = data("-", stdin=json.dumps(np.random.default_rng(1).normal(size=(150, 140)).tolist()))
    assert found["method"].startswith("zero-sum")
    assert found["complete"] is False
    assert found["regret"] < 1e-9
    assert found["dominated"] is None
    assert "left out above 20,000 cells" in found["remarks"][-1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["kuhn"], "Did you mean kuhn-poker?"),
        (
            ["chicken", "--method", "magic"],
            "there is no method 'magic'; expected one of auto, enumeration",
        ),
        (["chicken", "--method", "cfr"], "--method: cfr solves trees"),
        (
            ["chicken", "--method", "zero-sum"],
            "--method: zero-sum is for zero-sum and constant-sum games",
        ),
        (["el-farol", "--method", "lemke-howson"], "is for two players; this game has 3"),
        (["kuhn-poker", "--method", "pure"], "--method: pure solves tables"),
        (
            ["chicken", "--iterations", "5"],
            "--iterations: it has no effect on a table",
        ),
        (["kuhn-poker", "--seconds", "5"], "--seconds: it has no effect on a tree of two players"),
        (
            ["kuhn-poker", "--iterations", "5"],
            "as sequence-form LP solves this tree; choose the method cfr+",
        ),
        (
            ["trust", "--method", "normal-form", "--iterations", "5"],
            "--iterations: it has no effect with the method normal-form",
        ),
        (
            ["chicken", "--objective", "glory"],
            "there is no objective 'glory'; expected one of welfare",
        ),
        (["kuhn-poker", "--objective", "welfare"], "--objective: it needs a game in normal form"),
        (["oneill", "--output", "x.svg"], "oneill cannot be drawn: expected a 2x2 game"),
        (
            ["leduc-poker", "--output", "x.svg"],
            "leduc-poker cannot be drawn: it has 1,116 ends, expected at most 150",
        ),
        (
            ["chicken", "--output", "x.bmp"],
            "expected a file ending in .svg, .pdf, .png, .html",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(run, words, sentence):
    code, out, err = run("solve", *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.startswith("bestresponse: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.json",
            "[[1, NaN], [2, 3]]",
            "a.json: matrix: expected finite numbers, got nan at [0, 1]",
        ),
        ("a.json", "[[1, Infinity], [2, 3]]", "got inf at [0, 1]"),
        ("a.json", "[[1, 1e999], [2, 3]]", "got inf at [0, 1]"),
        ("a.json", "[]", "expected at least one number"),
        ("a.json", "[[], []]", "expected at least one number"),
        ("a.json", "[[1, 2], [3]]", "rows of different lengths (1, 2)"),
        (
            "a.json",
            '[["one", 2]]',
            "matrix[0][0]: expected a number such as 3, -2.5 or 1/3, got 'one'",
        ),
        ("a.json", "rock", "a.json, line 1, column 1"),
        ("a.json", "", 'a.json is empty; expected a game, such as {"row"'),
        ("a.json", "[[1e300, 0]]", "expected none beyond 1e+150 in size, got 1e+300"),
        ("a.efg", 'EFG 2 R "x" { "a" "b" } q', "a.efg, line 1, column"),
        (
            "a.efg",
            FORGETFUL_DRIVER,
            "driver comes twice to its information set 'crossing' in one play",
        ),
        ("a.nfg", 'NFG 1 R "x" { "a"', "a.nfg, line 1, column"),
    ],
)
def test_a_bad_file_is_refused_naming_the_place(run, tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content)
    code, out, err = run("solve", tmp_path / name)
    assert (code, out) == (1, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_bytes_that_are_no_text_a_missing_file_and_a_folder_are_refused(run, tmp_path):
    (tmp_path / "a.efg").write_bytes(b"\xff\xfe\x00")
    assert "expected UTF-8 text, got other bytes at 0" in run("solve", tmp_path / "a.efg")[2]
    assert "there is no such file" in run("solve", tmp_path / "none.nfg")[2]
    assert "is a folder" in run("solve", tmp_path)[2]


def test_too_large_a_normal_form_says_how_large(run):
    code, _, err = run("solve", "leduc-poker", "--method", "normal-form")
    assert code == 1
    assert "the normal form has about 10^" in err
    code, _, err = run("solve", "travelers-dilemma", "--method", "enumeration")
    assert code == 1
    assert "a 99x99 game may have" in err


@pytest.mark.drawn
def test_pictures_are_written_where_asked(run, tmp_path):
    for ending, start in (("svg", b"<?xml"), ("PNG", b"\x89PNG"), ("html", b"<!doctype html>")):
        code, out, err = run("solve", "hawk-dove", "--output", tmp_path / f"p.{ending}")
        assert code == 0
        assert "Equilibria" in out
        assert f"p.{ending}" in err
        assert (tmp_path / f"p.{ending}").read_bytes().startswith(start)
    page = (tmp_path / "p.html").read_text()
    assert "data:image/svg+xml;base64," in page
    assert "Best responses: each curve" in page
    assert "evolutionarily stable" in page


@pytest.mark.drawn
def test_a_tree_is_drawn_with_its_information_sets(run, tmp_path):
    code, _, _ = run("solve", "kuhn-poker", "--output", tmp_path / "k.svg")
    assert code == 0
    drawn = (tmp_path / "k.svg").read_text()
    assert drawn.count("JQ (1/6)") == 1
    assert "cannot be told apart" in drawn


def test_a_page_without_a_picture_still_has_the_solution(run, tmp_path):
    code, out, err = run("solve", "oneill", "--output", tmp_path / "o.html")
    assert code == 0
    assert "Equilibria" in out
    assert "the page has no picture: oneill cannot be drawn" in err
    assert "Equilibria" in (tmp_path / "o.html").read_text()


def test_a_picture_in_a_folder_that_does_not_exist_is_refused(run, tmp_path):
    code, _, err = run("solve", "chicken", "--output", tmp_path / "none" / "p.svg")
    assert code == 2
    assert f"there is no folder {tmp_path / 'none'}; make it first" in err


def test_names_cannot_write_to_the_terminal(run):
    game = {
        "row": [[1, 2]],
        "col": [[1, 2]],
        "players": ["[red]a", "\x1b[31mb"],
        "actions": [["\u202ex"], ["y", "z"]],
    }
    code, out, _ = run("solve", "-", stdin=json.dumps(game))
    assert code == 0
    assert "[red]a" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "⟦U+001B⟧" in out


def test_the_program_itself_answers_with_json_and_with_a_sentence():
    done = subprocess.run(
        [sys.executable, "-m", "bestresponse", "solve", "-", "--json"],
        input="[[1, -1], [-1, 1]]",
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["value"] == 0
    failed = subprocess.run(
        [sys.executable, "-m", "bestresponse", "solve", "-"],
        input="[[1, NaN]]",
        capture_output=True,
        text=True,
    )
    assert failed.returncode == 1
    assert (
        failed.stderr
        == "bestresponse: standard input: matrix: expected finite numbers, got nan at [0, 1]\n"
    )


def test_letters_that_the_terminal_cannot_write_are_escaped():
    # the source of the stag hunt is Rousseau's "Discours sur l'origine de l'inégalité"; é is U+00E9
    done = subprocess.run(
        [sys.executable, "-m", "bestresponse", "solve", "stag-hunt"],
        env={**os.environ, "PYTHONIOENCODING": "ascii:strict"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert r"in\xe9galit\xe9" in done.stdout
