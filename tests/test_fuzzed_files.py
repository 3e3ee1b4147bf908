"""A slice of `scripts/fuzz_files.py`: files that chance has changed are read, or refused in a
sentence."""

from pathlib import Path

import pytest
from fuzzed_files import Reader, attempt, list_readers, read_or_explain, write_right_files

FILES = 500
QUICK = 3
"""Readers that are drawn less often take long."""


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reader, ...]:
    pytest.importorskip("pyarrow")
    right = tmp_path_factory.mktemp("right")
    write_right_files(right)
    return list_readers(right)


def test_files_that_were_not_changed_are_read(readers: tuple[Reader, ...], tmp_path: Path) -> None:
    """Otherwise a reader would refuse everything for a reason of its own."""
    for number, reader in enumerate(readers):
        if reader.often < QUICK:
            continue
        folder = tmp_path / str(number) / "given"
        for name, content in reader.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        assert (reader.name, *read_or_explain(reader, folder)) == (reader.name, "", "")


def test_a_changed_file_is_read_or_refused_in_a_sentence(readers: tuple[Reader, ...]) -> None:
    quick = [reader for reader in readers if reader.often >= QUICK]
    drawn = sum(reader.often for reader in quick)
    said = 0
    for reader in quick:
        for seed in range(max(1, round(FILES * reader.often / drawn))):
            found = attempt(reader, seed)
            assert not found.wrong, f"{reader.name}, seed {seed}, {found.file}: {found.wrong}"
            said += bool(found.said)
    assert said > FILES / 4
