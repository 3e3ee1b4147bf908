"""What a training reads: folders of examples, checked; no torch is needed."""

import hashlib
import json
from collections import Counter

import pytest

from bestresponse.core.errors import StoreError
from bestresponse.studies.improve.answers import hash_prompts
from bestresponse.studies.improve.data import (
    Folder,
    draw_pools,
    open_export,
)
from bestresponse.studies.improve.examples import Telling
from bestresponse.studies.improve.export import FORMAT


def write_rows(folder, name, count, start=0):
    """Write rows that know their number, and return the name and the hash of the file."""
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "messages": [
                {"role": "user", "content": folder.name},
                {"role": "assistant", "content": "yes"},
            ],
            "number": start + k,
        }
        for k in range(count)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / name).write_text(text, "utf-8")
    return name, hashlib.sha256(text.encode()).hexdigest()


def test_every_pool_has_something_of_every_folder_in_proportion(tmp_path):
    folders = []
    for name, counted in (("large", 6000), ("small", 2000), ("empty", 0)):
        folder = tmp_path / name
        files = [
            write_rows(folder, f"train-{k}.jsonl", counted // 2, k * counted // 2) for k in range(2)
        ]
        folders.append(Folder(folder, counted, tuple(files)))
    pools = draw_pools(tuple(folders), 0, 0)
    first, second = next(pools), next(pools)
    for pool in (first, second):
        assert Counter(example["messages"][0]["content"] for example in pool) == {
            "large": 3072,
            "small": 1024,
        }
    # 2 x 1024 of the 2,000 small examples: all of them, and the first file's beginning again.
    small = [e["number"] for e in (*first, *second) if e["messages"][0]["content"] == "small"]
    assert len(small) == 2048
    assert set(small) == set(range(2000))
    assert next(draw_pools(tuple(folders), 0, 1)) == second


def test_a_file_that_changes_during_a_training_ends_it_with_a_sentence(tmp_path):
    folder = tmp_path / "data"
    files = (write_rows(folder, "train-0.jsonl", 10),)
    pools = draw_pools((Folder(folder, 10, files),), 0, 0)
    next(pools)
    write_rows(folder, "train-0.jsonl", 11)
    with pytest.raises(StoreError, match=r"train-0\.jsonl has changed since it was exported"):
        next(pools)
    (folder / "train-0.jsonl").unlink()
    pools = draw_pools((Folder(folder, 10, files),), 0, 0)
    with pytest.raises(StoreError, match="run the same command to resume"):
        next(pools)


def test_a_damaged_file_of_examples_is_named(tmp_path):
    text = b'{"messages": [], "task": {}}\n{"messages": [{"role": "us'
    (tmp_path / "train-00000.jsonl").write_bytes(text)
    hashed = ("train-00000.jsonl", hashlib.sha256(text).hexdigest())
    examples = Folder(tmp_path, 2, (hashed,)).read("train-00000.jsonl")
    assert next(examples) == {"messages": [], "task": {}}
    with pytest.raises(StoreError, match=r"train-00000\.jsonl is damaged"):
        next(examples)


def write_examples(folder, prompts=None, tests=(), **settings):
    """Write a folder as an export does, with some examples of the test split."""
    made = {
        "games": "zero-sum",
        "formats": ["table"],
        "themes": ["neutral"],
        "answers": "worked",
        "purpose": "sft",
        "sizes": "2",
        **settings,
    }
    kinds = {"stories": "story", "replies": "reply"}
    telling = Telling(worked=made["answers"] == "worked", kind=kinds.get(made["games"], "matrix"))
    folder.mkdir()
    files = {}
    for name, rows in (("train-0.jsonl", [{}]), ("test-0.jsonl", tests)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / name).write_text(text)
        files[name] = hashlib.sha256(text.encode()).hexdigest()
    manifest = {
        "format": FORMAT,
        "settings": made,
        "prompts": prompts or hash_prompts(telling),
        "counts": {"train": 1},
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.parametrize(
    "settings",
    [{}, {"answers": "direct"}, {"games": "stories"}, {"games": "replies"}],
    ids=lambda s: str(s),
)
def test_examples_of_the_prompts_of_today_are_taken(tmp_path, settings):
    assert open_export(write_examples(tmp_path / "made", **settings)).count == 1


def test_examples_of_other_prompts_are_refused(tmp_path):
    with pytest.raises(StoreError, match="was made for other prompts"):
        open_export(write_examples(tmp_path / "made", prompts="0123"))


def test_a_format_that_does_not_exist_is_refused_in_a_sentence(tmp_path):
    folder = write_examples(tmp_path / "made")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["settings"]["formats"] = ["tabl'"]
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(StoreError, match="which is no format or theme of today"):
        open_export(folder)


def test_a_folder_whose_files_are_not_those_of_its_manifest_is_refused(tmp_path):
    made = write_examples(tmp_path / "made")
    (made / "train-0.jsonl").write_text('{"other": 1}\n')
    with pytest.raises(StoreError, match="is not the file that was exported"):
        open_export(made)
    (made / "train-0.jsonl").unlink()
    with pytest.raises(StoreError, match="is missing: run the export again"):
        open_export(made)
    with pytest.raises(StoreError, match="exported with the purpose rl"):
        open_export(write_examples(tmp_path / "rl", purpose="rl"))


def test_a_manifest_names_no_file_outside_its_folder(tmp_path):
    made = write_examples(tmp_path / "made")
    manifest = json.loads((made / "manifest.json").read_text("utf-8"))
    manifest["files"] = {"../train-0.jsonl": manifest["files"]["train-0.jsonl"]}
    (made / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (made / "train-0.jsonl").rename(tmp_path / "train-0.jsonl")
    with pytest.raises(StoreError, match="not a file of this folder"):
        open_export(made)
    stopped = write_examples(tmp_path / "stopped")
    manifest = json.loads((stopped / "manifest.json").read_text())
    (stopped / "manifest.json").write_text(json.dumps(manifest | {"files": {}}))
    with pytest.raises(StoreError, match="is not complete"):
        open_export(stopped)
