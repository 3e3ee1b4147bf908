"""Hostile files and texts are refused in a sentence."""

import errno
import os
import zipfile
from pathlib import Path

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.core.files import parse_toml, read_archive, read_text_file


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = " + "[" * 100_000, "it is nested too deeply"),
        ("x = " + "{a=" * 100_000, "it is nested too deeply"),
        (".".join(["a"] * 50_000) + " = 1", "a key has more than 100 parts"),
        (" . ".join(['"a"'] * 50_000) + " = 1", "a key has more than 100 parts"),
        ("[" + ".".join(["a"] * 50_000) + "]", "a key has more than 100 parts"),
        ("x = " + "9" * 10_000, "Exceeds the limit"),
        ("x = '" + "a" * 2_000_000 + "'", "at most 2,000,000 are read"),
        ("x = 1\nx = 2", "Cannot overwrite a value"),
    ],
)
def test_hostile_toml_is_refused_with_the_cause(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_toml(text)


def test_a_text_of_two_million_characters_is_read() -> None:
    assert parse_toml("#" * 2_000_000) == {}


def test_ordinary_toml_is_read() -> None:
    prose = "Yes. " * 300
    assert parse_toml(f"[a.b]\nc.d = 1.5\ntext = '{prose}'") == {
        "a": {"b": {"c": {"d": 1.5}, "text": prose}}
    }


def test_a_text_file_is_read_without_its_mark_and_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_text_file(tmp_path / "a.txt") == "one\ntwo\nthree\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_devices_folders_and_links_in_a_circle_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    found = []
    for name in ("pipe", "zero", "circle", "."):
        with pytest.raises(OSError, match=r"regular|symbolic link|directory") as caught:
            read_text_file(tmp_path / name)
        found.append(caught.value.errno)
    assert found == [errno.EINVAL, errno.ELOOP, errno.ELOOP, errno.EISDIR]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("12345")
    with pytest.raises(OSError, match="it has 5 bytes; at most 4 are read"):
        read_text_file(tmp_path / "a.txt", 4)
    assert read_text_file(tmp_path / "a.txt", 5) == "12345"
    os.truncate(tmp_path / "a.txt", 200_000_001)
    with pytest.raises(OSError, match="it has 200,000,001 bytes; at most 200,000,000 are read"):
        read_text_file(tmp_path / "a.txt")


def test_a_small_archive_that_unpacks_to_very_much_is_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(30_000_000))
    assert path.stat().st_size < 100_000
    with pytest.raises(UsageError, match="has more than 20,000,000 bytes when it is unpacked"):
        read_archive(path, 1_000_000_000)
