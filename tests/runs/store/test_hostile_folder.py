"""A run folder that was tampered with breaks only itself, in a sentence, and soon."""

import json
import os
from pathlib import Path

import pytest
from sample_runs import bench_run

from bestresponse.core.errors import StoreError
from bestresponse.runs.run import load_run
from bestresponse.runs.store.folder import encode_rows, read_lines


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


FILES = ["manifest.json", "records.jsonl", "calls.jsonl"]


def make_folder(path: Path) -> None:
    path.mkdir()


def link_outside(path: Path) -> None:
    (path.parent.parent / "secret").write_text("a secret of somebody else\n")
    path.symlink_to(path.parent.parent / "secret")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("replace", "why"),
    [
        (os.mkfifo, "not a regular file"),
        (make_folder, "directory"),
        (link_outside, "it is a symbolic link; name the file itself"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a symbolic link; name the file itself"),
    ],
    ids=["pipe", "folder", "link", "device"],
)
def test_what_is_no_plain_file_is_refused_and_nothing_of_it_shown(
    folder: Path, name: str, replace, why: str
) -> None:
    (folder / name).unlink()
    replace(folder / name)
    with pytest.raises(StoreError, match=why) as caught:
        load_run(folder).publish()
    assert "secret of" not in str(caught.value)


def test_a_line_that_no_run_has_written_is_not_read_into_memory(folder: Path) -> None:
    with (folder / "records.jsonl").open("wb") as file:
        file.truncate(10**12)  # a sparse file of a terabyte without an end of line
    with pytest.raises(StoreError, match="holds a line of more than 67,108,864 bytes"):
        load_run(folder).summary()


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
def test_a_manifest_that_nobody_wrote_is_a_sentence(
    folder: Path, name: str, value: object, why: str
) -> None:
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
    calls = list(read_lines(folder / "calls.jsonl"))
    changed = encode_rows({**call, "model": []} for call in calls)
    (folder / "calls.jsonl").write_bytes(changed)
    with pytest.raises(StoreError, match="bench cannot use"):
        load_run(folder).summary()
