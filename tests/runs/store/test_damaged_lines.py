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


@pytest.fixture(scope="module")
def run_with_calls(tmp_path_factory):
    return play_with_calls(tmp_path_factory.mktemp("run"))


def answer_by_heart(prompt):
    return "0.5 0.5"


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
        case "other":
            lines = content.splitlines(keepends=True)
            lines[rng.randrange(len(lines))] = rng.choice(lines)
            return b"".join(lines)
        case _:
            lines = content.splitlines(keepends=True)
            return b"".join([*lines, rng.choice(lines)])


def tell(path):
    """Return the summary of a run, with its costs, and whether it is whole."""
    summary = br.load_run(path).summary()
    return summary, summary.pop("complete")


@pytest.mark.parametrize("kind", ["bit", "digit", "cut", "hole", "zeros", "twice", "other"])
@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_no_damage_changes_a_figure_in_silence(run_with_calls, tmp_path, kind, count):
    run = run_with_calls
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


def test_a_line_without_its_hash_is_damaged(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(encode_rows([{"b": 2}]) + b'{"a":1}\n')
    with pytest.raises(StoreError, match="line 2: the line is damaged"):
        list(read_lines(path))


def check_run(path):
    result = CliRunner().invoke(app, ["check-run", str(path)])
    return result.exit_code, result.stdout


def test_a_run_that_is_checked_is_whole_or_names_what_is_damaged(run, tmp_path):
    assert check_run(run.path) == (0, f"{run.path}: whole\n")
    path = change_a_digit(run, tmp_path)
    told = f"records.jsonl, line 2: its hash is of another line\n{path}: damaged\n"
    assert check_run(path) == (1, told)


def test_a_play_under_the_id_of_another_is_noticed_although_its_line_is_sound(run, tmp_path):
    path = tmp_path / run.path.name
    shutil.copytree(run.path, path)
    rows = list(read_lines(path / "records.jsonl"))
    rows[0]["data"], rows[1]["data"] = rows[1]["data"], rows[0]["data"]
    (path / "records.jsonl").write_bytes(encode_rows(rows))
    code, told = check_run(path)
    assert code == 1
    assert "records.jsonl, line 1: its id is of another play" in told


def play_with_calls(folder):
    return br.bench([answer_by_heart], num_games=2, output_dir=folder)


def test_a_run_that_lost_a_call_is_not_whole_and_is_not_called_so_again(tmp_path):
    played = play_with_calls(tmp_path)
    calls = played.path / "calls.jsonl"
    calls.write_bytes(b"".join(calls.read_bytes().splitlines(keepends=True)[:-1]))
    assert check_run(played.path)[0] == 1
    again = play_with_calls(tmp_path)
    assert not again.complete
    assert check_run(played.path)[0] == 1
