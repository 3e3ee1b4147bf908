"""`bestresponse export dialogues`: what guided speakers say, as examples for training."""

import json

import pytest
from steer_command import steer
from typer.testing import CliRunner

from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError


def export(*words):
    return CliRunner().invoke(
        app, ["export", "dialogues", *map(str, words)], catch_exceptions=False
    )


def test_guided_dialogues_are_written_once_and_not_overwritten(tmp_path):
    # Three speakers: what an unguided one is told names the same addressee as the message that
    # answers it.
    steer(tmp_path, "email", "--fresh", "0", "--iterations", "20")
    file = tmp_path / "guided.jsonl"
    done = export(tmp_path, "-o", file)
    assert done.exit_code == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert done.stdout == f"{file}: {len(lines)} examples\n"
    pairs = [tuple(message["content"] for message in line["messages"][1:]) for line in lines]
    assert len(set(pairs)) == len(pairs) > 0
    assert all(line["task"]["domain"] == "email" for line in lines)
    with pytest.raises(UsageError, match="already exists; choose another name or add --force"):
        export(tmp_path, "-o", file)
    assert export(tmp_path, "-o", file, "--force").stdout == done.stdout


def test_a_run_without_guided_dialogues_is_refused(tmp_path):
    steer(
        tmp_path,
        "fruit",
        "--solver",
        "psro",
        "--iterations",
        "1",
        "--plays",
        "2",
        "--settings",
        "held_out=0",
    )
    with pytest.raises(
        UsageError, match="has no guided dialogues; expected a run of steer with solved trees"
    ):
        export(tmp_path, "-o", tmp_path / "x.jsonl")
