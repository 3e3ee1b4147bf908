"""Run `bestresponse steer` in a test, and count the calls that it made."""

import json

from typer.testing import CliRunner

from bestresponse.cli.app import app


def steer(tmp_path, *words):
    return CliRunner().invoke(
        app, ["steer", *words, "--output-dir", str(tmp_path)], catch_exceptions=False
    )


def count_calls(tmp_path):
    return sum(
        len(path.read_text().splitlines()) for path in tmp_path.glob("dialogues-*/calls.jsonl")
    )


def find_figures(found, name):
    """The figures of what was measured on these texts or games."""
    return next(row for row in found["metrics"] if row["measured_on"] == name)


def summary(tmp_path, *words):
    """The figures of a run as the command prints them; `calls` are those that this command made."""
    before = count_calls(tmp_path)
    result = steer(tmp_path, *words, "--json")
    assert result.exit_code == 0, result.stderr
    return {**json.loads(result.stdout), "calls": count_calls(tmp_path) - before}
