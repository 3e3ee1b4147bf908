import pytest

from bestresponse.core.errors import StoreError
from bestresponse.runs.store.lines import Lines, read_sorted


def test_a_symbolic_link_is_not_written_through(tmp_path):
    other = tmp_path / "other"
    other.write_text("no line end", "utf-8")
    (tmp_path / "records.jsonl").symlink_to(other)
    with pytest.raises(StoreError, match="is a symbolic link"):
        Lines(tmp_path / "records.jsonl")
    assert other.read_text("utf-8") == "no line end"


def test_sorted_lines_come_by_spec_and_the_first_of_each(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"spec":"b","n":1}\n{"n":2,"spec":"a"}\n{"spec":"b","n":3}\n{"spec":"c"', "utf-8")
    assert list(read_sorted(path)) == [{"n": 2, "spec": "a"}, {"spec": "b", "n": 1}]


def test_a_line_without_a_spec_is_named(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"spec":"b"}\n{"spec":1}\n', "utf-8")
    with pytest.raises(StoreError, match="line 2: expected the id of a spec"):
        list(read_sorted(path))
