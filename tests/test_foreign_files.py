"""Every reader of files that others wrote refuses what is no file of its kind, in a sentence."""

import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bestresponse.core import files
from bestresponse.core.errors import BestResponseError
from bestresponse.core.files import read_toml
from bestresponse.games.lookup import find_game
from bestresponse.runs.store.folder import RunFolder, read_lines
from bestresponse.studies.behave.layouts import find_layout, read_rows
from bestresponse.studies.improve.contents import hash_file
from bestresponse.studies.improve.data import Folder
from bestresponse.studies.improve.export import read_manifest
from bestresponse.studies.reproduce.alympics_logs import read_recorded_games
from bestresponse.studies.reproduce.reproduction import read_records
from bestresponse.studies.verify.ratings import read_rated_sheets
from bestresponse.studies.verify.reproduction import read_samples

SECRET = "the-secret-of-another-folder"
BRACKETS = "[" * 100_000
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")


@dataclass(frozen=True)
class Reader:
    """What reads a file of this name, given its path."""

    name: str
    read: Callable[[Path], object]


def read_student(path: Path) -> object:
    pytest.importorskip("transformers")
    from bestresponse.models.students.causal import read_config

    return read_config(path.parent)


def read_examples(path: Path) -> object:
    """Read a file of an export whose manifest was written to fit it."""
    small = path.is_file() and path.stat().st_size < 10**6
    known = hashlib.sha256(path.read_bytes()).hexdigest() if small else ""
    return list(Folder(path.parent, 1, ((path.name, known),)).read(path.name))


READERS = [
    Reader("rows.csv", lambda path: list(read_rows(path))),
    Reader("rows.jsonl", lambda path: list(read_rows(path))),
    Reader("rows.csv.gz", lambda path: list(read_rows(path))),
    Reader("rows.jsonl.gz", lambda path: list(read_rows(path))),
    Reader("rows.parquet", lambda path: list(read_rows(path))),
    Reader("mapping.toml", lambda path: find_layout(str(path), Path("rows.csv"))),
    Reader("settings.toml", read_toml),
    Reader("manifest.json", lambda path: RunFolder.read(path.parent)),
    Reader("records.jsonl", lambda path: list(read_lines(path))),
    Reader("games.jsonl", lambda path: list(read_records(path, "id"))),
    Reader("log.json", lambda path: read_recorded_games(path.parent)),
    Reader("samples.jsonl", lambda path: read_samples(path.parent)),
    Reader("sheet-rater-1.csv", lambda path: read_rated_sheets(path.parent, ())),
    Reader("examples.jsonl", read_examples),
    Reader("manifest.json", lambda path: read_manifest(path.parent)),
    Reader("config.json", read_student),
    Reader("game.json", lambda path: find_game(str(path))),
    Reader("game.csv", lambda path: find_game(str(path))),
    Reader("game.nfg", lambda path: find_game(str(path))),
    Reader("game.efg", lambda path: find_game(str(path))),
    Reader("game.pl", lambda path: find_game(str(path))),
]
NAMES = [f"{number}-{reader.name}" for number, reader in enumerate(READERS)]


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_circle(path: Path) -> None:
    path.symlink_to(path)


def make_link_to_a_secret(path: Path) -> None:
    secret = path.parent.parent / "secret"
    secret.write_text(SECRET)
    path.symlink_to(secret)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_ten_gigabytes(path: Path) -> None:
    path.touch()
    os.truncate(path, 10 << 30)  # it has holes: nothing is on the disk


def make_brackets(path: Path) -> None:
    text = f"x = {BRACKETS}\n" if path.suffix == ".toml" else f"{BRACKETS}\n"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def make_bytes_of_no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00\xd8" * 1000 + b"\n")


KINDS = [
    make_pipe,
    make_link_to_a_device,
    make_circle,
    make_link_to_a_secret,
    make_folder,
    make_ten_gigabytes,
    make_brackets,
    make_bytes_of_no_text,
]


@pytest.mark.parametrize("reader", READERS, ids=NAMES)
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_a_hostile_file_is_refused_in_a_sentence_that_shows_nothing_of_it(
    make: Callable[[Path], None], reader: Reader, tmp_path: Path
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    make(folder / reader.name)
    said = ""
    try:
        reader.read(folder / reader.name)
    except BestResponseError as error:
        said = str(error)
    assert said or may_be_read(make, reader)
    assert SECRET not in said


def may_be_read(make: Callable[[Path], None], reader: Reader) -> bool:
    """Whether what was made is a file of the reader's kind: a table of one cell holds anything."""
    return make is make_brackets and reader.name in ("rows.csv", "rows.csv.gz")


def test_what_a_compressed_table_holds_is_counted_after_unpacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four million bytes of short lines are packed into less than ten thousand."""
    monkeypatch.setattr(files, "_LARGEST_UNPACKED", 1_000_000)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    assert path.stat().st_size < 10_000
    with pytest.raises(BestResponseError, match="unpacked it has more than 1,000,000 bytes"):
        list(read_rows(path))


def test_hashing_a_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        hash_file(tmp_path / "pipe")


MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from bestresponse.core.errors import BestResponseError
try:
    {code}
except BestResponseError as error:
    print("refused:", str(error)[:300])
"""


def read_with_little_memory(code: str) -> str:
    """Return what a process with at most 2 GB, a quarter of them its libraries, says of a file."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY.format(code=code)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"},
    )
    return done.stdout + done.stderr[-500:]


def test_a_quote_that_never_ends_takes_no_more_memory_than_the_file(tmp_path: Path) -> None:
    path = tmp_path / "game.nfg"
    path.write_text('NFG 1 R "' + "a" * 20_000_000)
    said = read_with_little_memory(
        f"from bestresponse.games.lookup import find_game; find_game({str(path)!r})"
    )
    assert "refused: game.nfg, line 1, column 9: expected the title in double quotes" in said


@pytest.mark.parametrize(("letters", "rows"), [(100_000_000, 1), (20_000_000, 2_000)])
def test_a_parquet_file_that_unpacks_to_gigabytes_is_read_in_parts_or_refused(
    letters: int, rows: int, tmp_path: Path
) -> None:
    """A text that stands in the file once may be the cell of 2,000 rows."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    one = pyarrow.DictionaryArray.from_arrays([0] * rows, ["b" * letters])
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"x": one}), path, compression="zstd")
    assert path.stat().st_size < 200_000
    said = read_with_little_memory(
        "from itertools import islice; from pathlib import Path;"
        " from bestresponse.studies.behave.layouts import read_rows;"
        f" print(sum(len(row['x']) for _, row in islice(read_rows(Path({str(path)!r})), 20)))"
    )
    refused = "row group 1 unpacks to" in said and "write smaller row groups" in said
    assert refused if rows == 1 else said == f"{20 * letters}\n"


def test_a_file_with_a_million_columns_is_refused_in_a_sentence_that_fits_a_terminal(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pdf.csv"
    path.write_text(",".join(f"c{number}" for number in range(1_000_000)) + ",c1\n")
    command = ["import", str(path), "--mapping", "akata", "--output-dir", str(tmp_path)]
    program = [sys.executable, "-m", "bestresponse.cli", *command]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr) < 6_000
    assert "more characters not shown" in done.stderr
