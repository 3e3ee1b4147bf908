"""Files of lines: whole lines only, whatever happens while they are written."""

import os

import pytest

from bestresponse.core.errors import StoreError
from bestresponse.models.wrappers.cached import Cache
from bestresponse.runs.store.folder import (
    FolderLock,
    Lines,
    encode_rows,
    parse_line,
    read_lines,
    read_raw,
    read_sorted,
)


def test_a_symbolic_link_is_not_written_through(tmp_path):
    other = tmp_path / "other"
    other.write_text("no line end", "utf-8")
    (tmp_path / "records.jsonl").symlink_to(other)
    with pytest.raises(StoreError, match="is a symbolic link"):
        Lines(tmp_path / "records.jsonl")
    assert other.read_text("utf-8") == "no line end"


def test_sorted_lines_come_by_spec_and_the_first_of_each(tmp_path):
    path = tmp_path / "records.jsonl"
    rows = [{"spec": "b", "n": 1}, {"n": 2, "spec": "a"}, {"spec": "b", "n": 3}]
    path.write_bytes(encode_rows(rows) + b'{"spec":"c"')
    assert list(read_sorted(path)) == [{"n": 2, "spec": "a"}, {"spec": "b", "n": 1}]


def test_a_line_without_a_spec_is_named(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_bytes(encode_rows([{"spec": "b"}, {"spec": 1}]))
    with pytest.raises(StoreError, match="line 2: expected the id of a spec"):
        list(read_sorted(path))


@pytest.mark.parametrize("rest", [1, 65_535, 65_536, 65_537, 200_000])
def test_a_last_line_without_its_end_is_cut_off_however_long_it_is(tmp_path, rest):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}\n' + b"x" * rest)
    Lines(path).close()
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'


@pytest.mark.parametrize("text", [b"", b"x", b"x" * 70_000])
def test_a_file_without_a_whole_line_begins_anew(tmp_path, text):
    path = tmp_path / "x.jsonl"
    path.write_bytes(text)
    lines = Lines(path)
    lines.append({"a": 1}, {"b": 2})
    lines.close()
    assert path.read_bytes().startswith(b'{"a":1,')
    assert list(read_lines(path)) == [{"a": 1}, {"b": 2}]


def test_a_system_that_writes_a_few_bytes_at_a_time_still_writes_everything(tmp_path, monkeypatch):
    lines, write = Lines(tmp_path / "x.jsonl"), os.write
    monkeypatch.setattr(os, "write", lambda file, block: write(file, block[:3]))
    lines.append({"a": "long enough"})
    lines.append({"b": 2})
    lines.close()
    assert list(read_lines(tmp_path / "x.jsonl")) == [{"a": "long enough"}, {"b": 2}]


def test_everybody_may_read_and_nobody_may_execute_what_is_written(tmp_path):
    Lines(tmp_path / "x.jsonl").close()
    FolderLock(tmp_path).release()
    assert [(tmp_path / name).stat().st_mode & 0o133 for name in ("x.jsonl", ".lock")] == [0, 0]


def test_a_line_holds_the_letters_themselves(tmp_path):
    lines = Lines(tmp_path / "x.jsonl")
    lines.append({"name": "Zoë"})
    lines.close()
    assert (tmp_path / "x.jsonl").read_bytes().startswith('{"name":"Zoë",'.encode())


def test_a_file_with_nothing_but_the_end_of_a_line_is_left_as_it_is(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b"\n")
    Lines(tmp_path / "x.jsonl").close()
    assert (tmp_path / "x.jsonl").read_bytes() == b"\n"


def test_no_file_has_no_lines_and_a_folder_is_named(tmp_path):
    assert list(read_raw(tmp_path / "nothing.jsonl")) == []
    assert list(read_sorted(tmp_path / "nothing.jsonl")) == []
    with pytest.raises(StoreError, match="reading"):
        list(read_lines(tmp_path))


def test_a_file_that_cannot_be_opened_is_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="opening"):
        Lines(tmp_path)


def test_what_is_no_object_is_named_with_its_line(tmp_path):
    with pytest.raises(StoreError, match=r"line 2: expected one JSON object, got b'\[1\]"):
        parse_line(b"[1]", tmp_path / "x.jsonl", 2)


def test_no_run_and_no_reply_is_written_through_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "bench-1").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "replies.sqlite").symlink_to(tmp_path / "elsewhere" / "new")
    with pytest.raises(StoreError, match="bench-1 is a symbolic link"):
        FolderLock(tmp_path / "bench-1")
    with pytest.raises(StoreError, match=r"replies\.sqlite is a symbolic link"):
        Cache(tmp_path / "replies.sqlite")
    assert list((tmp_path / "elsewhere").iterdir()) == []
