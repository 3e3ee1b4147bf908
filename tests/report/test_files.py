"""Result files replace what has their name; they are never written through a link."""

import os
import stat

import pytest

from bestresponse.core.errors import StoreError
from bestresponse.report.files import write_bytes, write_text


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "report.html"
    assert write_text(path, "old") == path
    write_text(path, "new é \ud800")
    assert path.read_bytes() == "new é \\ud800".encode()
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_link_in_the_folder_is_replaced_and_what_it_points_to_stays(tmp_path):
    outside = tmp_path / "precious"
    outside.write_text("keep me")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "report.html").symlink_to(outside)
    (folder / f".report.html.{os.getpid()}.tmp").symlink_to(outside)
    write_text(folder / "report.html", "page")
    assert outside.read_text() == "keep me"
    assert (folder / "report.html").read_text() == "page"
    assert not (folder / "report.html").is_symlink()


def test_a_fifo_of_that_name_is_replaced_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rows.parquet")
    write_bytes(tmp_path / "rows.parquet", b"rows")
    assert (tmp_path / "rows.parquet").read_bytes() == b"rows"


def test_others_may_read_a_result_file_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        path = write_text(tmp_path / "rows.csv", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_cannot_be_written_is_a_sentence_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(StoreError, match=r"writing .*taken failed: Is a directory"):
        write_text(tmp_path / "taken", "x")
    with pytest.raises(StoreError, match=r"writing .* failed: No such file or directory"):
        write_text(tmp_path / "nowhere" / "report.html", "x")
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]
