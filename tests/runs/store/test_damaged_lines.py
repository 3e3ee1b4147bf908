"""Bits flip, digits change, pieces are lost: a run with a damaged line is refused, or reports the
same as before, or says that it is not whole. Never are other figures told in silence."""

import json
import random
import shutil

import pytest
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import StoreError
from bestresponse.runs.store.folder import encode_rows, read_lines

FILES = ("records.jsonl", "submissions.jsonl", "calls.jsonl")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return br.bench(["random", "maximin"], num_games=3, output_dir=folder)


def damage(content, kind, rng):
    """Return the content of a file with one accident of a kind."""
    place = rng.randrange(len(content))
    match kind:
        case "bit":
            changed = content[place] ^ (1 << rng.randrange(8))
            return content[:place] + bytes([changed]) + content[place + 1 :]
        case "digit":
            digits = [n for n, byte in enumerate(content) if chr(byte).isdigit()]
            place = rng.choice(digits)
            other = (content[place] - 48 + rng.randint(1, 9)) % 10 + 48
            return content[:place] + bytes([other]) + content[place + 1 :]
        case "cut":
            return content[:place]
        case "hole":
            return content[:place] + content[place + rng.randint(1, 2_000) :]
        case "zeros":
            return content[:place] + bytes(20) + content[place + 20 :]
        case _:
            lines = content.splitlines(keepends=True)
            return b"".join([*lines, rng.choice(lines)])


def tell(path):
    """Return the summary of a run, as far as it is of the plays, and whether it is whole."""
    loaded = br.load_run(path)
    summary = loaded.summary()
    return {name: summary[name] for name in summary if name != "costs"}, loaded.complete


@pytest.mark.parametrize("kind", ["bit", "digit", "cut", "hole", "zeros", "twice"])
@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_no_damage_changes_a_figure_in_silence(run, tmp_path, kind, count):
    rng = random.Random(f"{kind} {count}")
    expected, _ = tell(run.path)
    silent = []
    for number in range(count):
        path = tmp_path / f"{number}" / run.path.name
        shutil.copytree(run.path, path)
        file = path / rng.choice(("records.jsonl", "records.jsonl", *FILES[1:]))
        content = file.read_bytes()
        if not content:
            continue
        file.write_bytes(damage(content, kind, rng))
        try:
            told, whole = tell(path)
        except StoreError:
            continue
        if whole and told != expected:
            silent.append((file.name, number))
    assert silent == []


def change_a_digit(run, tmp_path):
    path = tmp_path / run.path.name
    shutil.copytree(run.path, path)
    file = path / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    assert ".0," in lines[1]  # of a payoff
    lines[1] = lines[1].replace(".0,", ".7,", 1)
    file.write_text("".join(lines))
    return path


def test_every_command_refuses_a_damaged_line_and_names_it(run, tmp_path):
    path = change_a_digit(run, tmp_path)
    commands = [
        ["report", str(path)],
        ["replay", str(path)],
        ["merge", str(path), "-o", str(tmp_path / "merged")],
        ["report", str(run.path), str(path)],
        [
            "bench",
            "-m",
            "random",
            "-m",
            "maximin",
            "--num-games",
            "3",
            "--output-dir",
            str(tmp_path),
        ],
    ]
    for command in commands:
        error = CliRunner().invoke(app, command).exception
        assert isinstance(error, StoreError), command
        assert "records.jsonl, line 2: the line is damaged" in str(error)


def test_a_run_that_lost_its_last_line_is_reported_as_not_whole(run, tmp_path):
    path = tmp_path / run.path.name
    shutil.copytree(run.path, path)
    lines = (path / "records.jsonl").read_bytes().splitlines(keepends=True)
    (path / "records.jsonl").write_bytes(b"".join(lines[:-1]))
    for command in ("report", "replay"):
        result = CliRunner().invoke(app, [command, str(path)])
        assert result.exit_code == 1
        assert "not everything was played" in result.stderr
    assert not json.loads((path / "summary.json").read_text())["complete"]


def test_lines_of_earlier_versions_have_no_hash_and_are_read(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\n' + encode_rows([{"b": 2}]))
    assert list(read_lines(path)) == [{"a": 1}, {"b": 2}]
