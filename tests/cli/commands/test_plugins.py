"""The example packages of `examples/plugins`, laid beside the library and used by its commands."""

import csv
import json
import sys
from pathlib import Path

import pytest
from plugins import lay_example, lay_package

EXAMPLES = Path(__file__).parents[3] / "examples" / "plugins"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with all five examples, one package that cannot be imported, and one that does not
    conform."""
    target = tmp_path_factory.mktemp("packages")
    for name in ("game", "model", "player", "study", "claims"):
        lay_example(EXAMPLES / name, target)
    groups = ("games", "models", "players", "studies")
    hollow = [(f"bestresponse.{group}", f"hollow-{group}", "Hollow") for group in groups]
    lay_package(
        target,
        "hollow_package",
        "class Hollow:\n    def __init__(self, *arguments): ...\n",
        *hollow,
    )
    broken = [(f"bestresponse.{group}", f"broken-{group}", "gone") for group in groups]
    return lay_package(target, "broken_package", "1 / 0\n", *broken)


@pytest.fixture
def bestresponse(bestresponse, packages, monkeypatch):
    """Type a command where these packages are installed."""
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("COLUMNS", "200")
    yield bestresponse
    for module in packages.glob("*.py"):
        sys.modules.pop(module.stem, None)


def rows(folder, frame="moves"):
    """The rows of a frame of the only run in the folder."""
    (table,) = folder.glob(f"*/{frame}.csv")
    return list(csv.DictReader(table.open(newline="")))


def test_a_game_of_a_package_is_listed_solved_and_simulated_with_its_own_strategy(
    bestresponse, tmp_path
):
    listed = json.loads(bestresponse("games", "--json").stdout)
    assert {
        "name": "race-to-ten",
        "kind": "registered",
        "what": "Add 1 or 2 in turn; whoever reaches ten wins.",
    } in listed
    solved = bestresponse("solve", "race-to-ten", "--json")
    assert solved.returncode == 0, solved.stderr
    seats = ("--seat", "player 1=multiples", "--seat", "player 2=equilibrium", "--repeats", 4)
    done = bestresponse("simulate", "race-to-ten", *seats, "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {(row["seat"], float(row["payoff"])) for row in rows(tmp_path, "payoffs")} == {
        ("player 1", 1.0),
        ("player 2", -1.0),
    }


def test_a_model_and_a_player_of_packages_take_seats(bestresponse, tmp_path):
    seats = ("--seat", "row=echo/hare", "--seat", "col=first", "--repeats", 2)
    done = bestresponse("simulate", "stag-hunt", *seats, "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {(row["seat"], row["move"]) for row in rows(tmp_path)} == {
        ("row", "hare"),
        ("col", "stag"),
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("solve", "broken-games"),
            "the game 'broken-games' of the package broken-package cannot be imported",
        ),
        (
            ("simulate", "stag-hunt", "--others", "broken-players"),
            "the player 'broken-players' of the package broken-package cannot be imported",
        ),
        (
            ("simulate", "stag-hunt", "--model", "broken-models/x"),
            "the model provider 'broken-models' of the package broken-package cannot be imported",
        ),
    ],
)
def test_a_broken_package_is_named_in_one_sentence(bestresponse, tmp_path, words, sentence):
    done = bestresponse(*words, *(("--output-dir", tmp_path) if words[0] == "simulate" else ()))
    assert done.returncode == 2
    assert f"bestresponse: {sentence}: ZeroDivisionError: division by zero" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_package_spoils_no_list(bestresponse):
    listed = {
        row["name"]: row["what"] for row in json.loads(bestresponse("games", "--json").stdout)
    }
    assert "cannot be imported" in listed["broken-games"]
    assert listed["water"].startswith("A daily auction")
    assert bestresponse("models").returncode == 0


def test_a_study_of_a_package_is_run_reported_and_replayed(bestresponse, tmp_path):
    (tmp_path / "heads.toml").write_text('model = "echo/heads"\nrepeats = 3\n')
    output = tmp_path / "results"
    done = bestresponse(
        "run", "heads", "--settings", tmp_path / "heads.toml", "--output-dir", output, "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"][0]["heads"]["estimate"] == 1.0
    assert len(rows(output, "plays")) == 3
    assert bestresponse("report", output).returncode == 0
    assert "plays: 3 were the same" in bestresponse("replay", output).stdout


def test_a_study_of_a_package_has_options_checks_and_an_estimate(bestresponse):
    described = bestresponse("run", "heads", "--help").stdout
    assert "--repeats" in described
    assert "How often it chooses." in described
    refused = bestresponse("run", "heads", "--model", "echo/heads", "--repeats", 0)
    assert (refused.returncode, refused.stderr) == (
        2,
        "bestresponse: --repeats: expected a whole number from 1 to 1,000, got 0\n",
    )
    assert bestresponse("run", "heads", "--model", "echo/heads", "--dry-run").stdout == "10 plays\n"


def test_a_study_that_is_not_there_or_broken_is_named(bestresponse):
    missing = bestresponse("run", "haeds")
    assert (missing.returncode, "Did you mean heads?" in missing.stderr) == (2, True)
    broken = bestresponse("run", "broken-studies")
    assert broken.returncode == 1
    assert "broken-package cannot be imported: ZeroDivisionError" in broken.stderr
    assert "Traceback" not in broken.stderr


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ("solve", "hollow-games"),
            2,
            "the game 'hollow-games' of the package hollow-package cannot be used",
        ),
        (
            ("simulate", "stag-hunt", "--others", "hollow-players"),
            2,
            "the player 'hollow-players' of the package hollow-package cannot be used",
        ),
        (
            ("simulate", "stag-hunt", "--model", "hollow-models/x"),
            2,
            "the model provider 'hollow-models' of the package hollow-package cannot be used",
        ),
        (
            ("run", "hollow-studies"),
            1,
            (
                "the study 'hollow-studies' of the package hollow-package is no"
                " bestresponse.runs.Study"
            ),
        ),
    ],
)
def test_a_package_that_does_not_conform_is_named_in_one_sentence(
    bestresponse, tmp_path, words, code, sentence
):
    done = bestresponse(*words, *(("--output-dir", tmp_path) if words[0] == "simulate" else ()))
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert done.stderr.startswith(f"bestresponse: {sentence}")


def test_a_solver_of_a_package_decides_the_claims_of_a_text(bestresponse, tmp_path):
    text = tmp_path / "reasoning.txt"
    text.write_text("In equilibrium I get 5.")
    # Equilibria of this game pay 5, 1 and 5/3, so ours leave it open; what cannot be proved is
    # false to the package.
    ours = bestresponse("verify", "hawk-dove-lelma", "--text", text, "--json")
    theirs = bestresponse(
        "verify", "hawk-dove-lelma", "--text", text, "--solver", "closed-world", "--json"
    )
    verdicts = [json.loads(done.stdout)["claims"][0]["verdict"] for done in (ours, theirs)]
    assert (verdicts, ours.returncode, theirs.returncode) == (["unknown", "refuted"], 2, 1)
    refused = bestresponse("verify", "hawk-dove-lelma", "--text", text, "--solver", "open-world")
    assert (refused.returncode, "there is no solver named 'open-world'" in refused.stderr) == (
        2,
        True,
    )
