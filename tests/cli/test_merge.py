"""`bestresponse merge` and `--shard`, from the command line."""

import json

from typer.testing import CliRunner

from bestresponse.cli.app import app

WATER = ["simulate", "water", "--model", "need", "--repeats", "6"]


def invoke(*words, code=0):
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def test_parts_played_by_command_merge_into_the_whole(tmp_path):
    invoke(*WATER, "--output-dir", str(tmp_path / "whole"))
    for number in (1, 2):
        invoke(*WATER, "--shard", f"{number}/2", "--output-dir", str(tmp_path / f"part{number}"))
    invoke("merge", str(tmp_path / "part2"), str(tmp_path / "part1"), "-o", str(tmp_path / "all"))
    (whole,), (merged,) = (
        list((tmp_path / name).glob("*/summary.json")) for name in ("whole", "all")
    )
    assert merged.read_bytes() == whole.read_bytes()


def test_an_incomplete_merge_exits_with_1_and_still_reports(tmp_path):
    invoke(*WATER, "--shard", "1/2", "--output-dir", str(tmp_path / "part"))
    result = invoke("merge", str(tmp_path / "part"), "-o", str(tmp_path / "all"), "--json", code=1)
    assert "lacks plays" in result.stderr
    assert json.loads(result.stdout)["study"] == "water"


def test_a_dry_run_of_a_part_counts_the_plays_of_that_part(tmp_path):
    counts = [
        json.loads(invoke(*WATER, "--shard", f"{k}/2", "--dry-run", "--json").stdout)["plays"]
        for k in (1, 2)
    ]
    assert sum(counts) == 6


def test_a_part_without_plays_has_not_failed(tmp_path):
    """One game in two parts: one part holds it, and the other ends as well as a part with plays
    does."""
    single = [*WATER[:-1], "1"]
    for number in (1, 2):
        invoke(*single, "--shard", f"{number}/2", "--output-dir", str(tmp_path / f"part{number}"))
    sizes = [len(path.read_text().splitlines()) for path in tmp_path.glob("part*/*/records.jsonl")]
    assert sorted(sizes) == [0, 1]
