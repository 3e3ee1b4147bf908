"""Recorded play from the command line: import a file, describe one run or several."""

import json

from recorded_plays import HEADER, MAPPING
from typer.testing import CliRunner

from bestresponse.cli.app import app


def invoke(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output
    return result.stdout


def test_files_are_imported_and_several_runs_are_described_at_once(tmp_path):
    (tmp_path / "my.toml").write_text(MAPPING)
    for name, move in (("ann", "C"), ("eve", "D")):
        pay = "3,3" if move == "C" else "5,0"
        rows = [
            f"{pair},{turn},{name},bob,{move},C,{pay},plain\n"
            for pair in (1, 2)
            for turn in (1, 2, 3)
        ]
        (tmp_path / f"{name}.csv").write_text(HEADER + "".join(rows))
        invoke(
            "import",
            tmp_path / f"{name}.csv",
            "--mapping",
            tmp_path / "my.toml",
            "-o",
            tmp_path / name,
        )
    words = [
        "behave",
        tmp_path / "ann",
        tmp_path / "eve",
        "--by",
        "player",
        "--fit",
        "strategies,qre",
        "--json",
    ]
    summary = json.loads(
        invoke(*words, "--settings", "bootstraps=20", "--output-dir", tmp_path / "out")
    )
    assert {row["player"]: row["matches"] for row in summary["metrics"]} == {
        "ann": 2,
        "bob": 4,
        "eve": 2,
    }
    assert {row["player"]: row["cooperation"]["estimate"] for row in summary["metrics"]} == {
        "ann": 1.0,
        "bob": 1.0,
        "eve": 0.0,
    }
