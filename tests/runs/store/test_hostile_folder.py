"""A run folder that was tampered with breaks only itself, in a sentence, and soon."""

import json
import os
from pathlib import Path

import pytest
from sample_runs import bench_run

from bestresponse.core.errors import StoreError
from bestresponse.runs.run import load_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bench_run(tmp_path_factory.mktemp("runs"), num_games=1).path


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    copied = tmp_path / "runs" / "tampered"
    copied.mkdir(parents=True)
    for path in finished.iterdir():
        if path.is_file():
            (copied / path.name).write_bytes(path.read_bytes())
    return copied


def test_an_untouched_copy_is_a_run(folder: Path) -> None:
    assert load_run(folder).summary()["study"] == "bench"


@pytest.mark.parametrize("name", ["manifest.json", "records.jsonl", "calls.jsonl"])
def test_a_pipe_in_place_of_a_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(StoreError, match="neither a file nor a folder"):
        load_run(folder)


def test_a_link_to_a_device_is_refused(folder: Path) -> None:
    (folder / "records.jsonl").unlink()
    (folder / "records.jsonl").symlink_to("/dev/zero")
    with pytest.raises(StoreError, match="neither a file nor a folder"):
        load_run(folder)


def test_brackets_without_end_are_no_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("[" * 200_000)
    with pytest.raises(StoreError, match="cannot be read"):
        load_run(folder)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("created", 1e400, "is not the manifest of a run"),
        ("config", None, "is not the manifest of a run"),
        ("environment", [], "is not the manifest of a run"),
        ("environment", {"packages": 1}, "holds records that bench cannot use"),
        ("command", 3, "is not the manifest of a run"),
    ],
)
def test_a_manifest_that_nobody_wrote_is_a_sentence(folder: Path, name: str, value: object, why: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, name: value}))
    with pytest.raises(StoreError, match=why):
        load_run(folder).publish()


@pytest.mark.parametrize("line", ["[" * 200_000, "null", '{"spec": 1, "data": {}, "record": {}}'])
def test_records_that_no_study_can_use_are_a_sentence(folder: Path, line: str) -> None:
    (folder / "records.jsonl").write_text(line + "\n")
    with pytest.raises(StoreError):
        load_run(folder).summary()


def test_calls_without_a_model_are_a_sentence(folder: Path) -> None:
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    (folder / "calls.jsonl").write_text("\n".join(json.dumps({**call, "model": []}) for call in calls) + "\n")
    with pytest.raises(StoreError, match="bench cannot use"):
        load_run(folder).summary()
