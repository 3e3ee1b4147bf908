"""Runs that cannot be read, or not yet: one sentence each, never a trace."""

import json
import sys
import warnings

import pytest

import bestresponse as br
from bestresponse.core.errors import ModelUnavailable, StoreError
from bestresponse.runs.run import read_command_line


@pytest.fixture
def run(tmp_path):
    return br.bench(
        lambda prompt: "ANSWER: A: 1, B: 0, C: 0", num_games=2, seed=1, output_dir=tmp_path
    )


def change_manifest(run, **fields):
    file = run.path / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def test_a_run_of_a_study_that_is_not_installed_is_named_with_those_that_are(run):
    change_manifest(run, study="chess")
    with pytest.raises(
        StoreError, match="runs of 'chess' cannot be read here; known studies: behave, bench, "
    ):
        br.load_run(run.path)


def test_a_run_whose_settings_are_those_of_another_study_is_refused(run):
    change_manifest(run, study="water")
    with pytest.raises(StoreError, match="holds settings that water cannot read"):
        br.load_run(run.path).rows()


def test_a_run_of_another_version_is_refused(run):
    change_manifest(run, format=1)
    with pytest.raises(StoreError, match="was written by another version of bestresponse"):
        br.load_run(run.path)


def test_a_run_that_was_killed_in_its_first_record_has_no_finished_play(run):
    records = run.path / "records.jsonl"
    records.write_bytes(records.read_bytes()[:300])
    half = br.load_run(run.path)
    assert list(half.rows()) == []
    with pytest.raises(StoreError, match="holds no finished play yet"):
        half.report()


def test_a_run_that_stopped_half_way_says_so_and_goes_on_when_called_again(tmp_path):
    asked = []

    def answer(prompt):
        asked.append(prompt)
        if 3 < len(asked) <= 3 + 10:
            raise ModelUnavailable("out of memory")
        return "ANSWER: A: 1, B: 0, C: 0"

    call = {"num_games": 40, "seed": 1, "output_dir": tmp_path, "workers": 1}
    message = (
        r"not everything was played \(10 plays in a row failed: out of memory\): these numbers are of 3"
        r" answers"
    )
    with pytest.warns(UserWarning, match=message) as said:
        half = br.bench(answer, **call)
    assert said[0].filename == __file__  # it names the line that called, not one of ours
    assert (half.complete, half.summary()["complete"], half.answered) == (False, False, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = br.bench(answer, **call)
    assert (whole.complete, whole.summary()["complete"], whole.answered) == (True, True, 40)


def test_a_run_of_which_only_the_manifest_was_written_has_no_finished_play(run):
    for name in ("records", "submissions", "calls"):
        (run.path / f"{name}.jsonl").unlink()
    assert list(br.load_run(run.path).rows()) == []


def test_the_command_that_is_kept_names_no_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    typed = ["/usr/bin/bestresponse", "bench", "--settings", "/home/ada/my runs/a.toml", "/tmp/b c"]
    monkeypatch.setattr(sys, "argv", typed)
    kept = ("bestresponse", "bench", "--settings", "~/'my runs/a.toml'", "'/tmp/b c'")
    assert read_command_line() == kept
