"""Replication packs: what people did leaves the server in one file, and every table is made again
from it, byte by byte."""

import io
import json
import subprocess
import sys
import zipfile

import pytest
from unhashed import add_hashes, drop_hashes
from web_server import join, make_ready, seat, take

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.files import read_archive
from bestresponse.web.services.export import TABLES, export_table
from bestresponse.web.services.pack import find_lobby_id, make_pack, replay_pack
from bestresponse.web.sessions.setup import GameChoice, Setup

FILE = """
title = "A dilemma"
groups = 2
seed = 7
consent = "We keep your answers."
[[games]]
name = "pd"
game = "prisoners-dilemma"
quiz = false
rounds = 2
seats = ["person", "person"]
[[questionnaire]]
name = "hours"
text = "How many hours do you sleep?"
kind = "number"
[payment]
currency = "EUR"
rate = 0.1
"""
LISTED = (
    FILE
    + """
[assignment]
labels = [
  "anna.b",   # the first
  'ben-c',
]
"""
)
TABLE_FILES = [f"tables/{name}.csv" for name in TABLES]


@pytest.fixture
def played(server):
    """A pair that played, a person who did not agree, and another experiment in the same folder."""
    lobby = server.state.sessions.create_experiment(FILE)
    people = [seat(server, lobby, participant_label=name) for name in ("anna.b", "ben-c")]
    for client, link in people:
        make_ready(client, link)
    for answer in ("cooperate", "defect"):
        for client, link in people:
            take(client, link, answer=answer, why="I am anna.b" if answer == "defect" else "")
    client = server.client()
    link = server.state.join_path(lobby.id)
    page = client.get(link, params={"participant_label": "carl-d"})
    token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    client.post(link, data={"csrf": token, "do": "decline", "participant_label": "carl-d"})
    other = server.state.sessions.create_sessions(
        Setup(GameChoice("chicken"), ("person", "strategy:level-1"), quiz=False)
    )
    join(server, other, server.client(), participant_label="dora-e")
    return lobby


def pack_lobby(server, lobby, **settings):
    return make_pack(server.folder / "sessions", lobby.id, **settings)


def read_pack(pack):
    with zipfile.ZipFile(io.BytesIO(pack[0])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_pack(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_pack_has_the_tables_that_the_server_exports_and_nothing_of_others(server, played):
    files = read_pack(pack_lobby(server, played))
    for name in TABLES:
        assert files[f"tables/{name}.csv"] == export_table(server.state, name, "csv", played.id)
    assert files["experiment.toml"].decode() == FILE
    assert json.loads(files["pack.json"])["seed"] == 7
    texts = json.loads(files["texts.json"])
    assert texts["pages"]["agree_first"] == "Please agree first, or leave this page."
    assert "cooperate" in next(iter(texts["games"].values()))["rules"], list(texts["games"])
    everything = b"".join(files.values())
    assert b"dora-e" not in everything
    assert server.state.keys.secret.encode() not in everything
    assert server.state.seat_token(f"{played.id}-1", 0).encode() not in everything


def test_every_table_is_made_again_from_the_journal_without_the_secret(server, played, tmp_path):
    path = tmp_path / "pack.zip"
    path.write_bytes(pack_lobby(server, played)[0])
    replay = replay_pack(path)
    assert list(replay.tables) == [f"{name}.csv" for name in TABLES]
    assert replay.differences == {}
    assert replay.remarks == ()
    # Both cooperate (3 points), then both defect (1): 4 points at 0.10.
    wide = replay.tables["wide.csv"].decode().splitlines()
    assert wide[0].endswith("q_hours,g1_points,g1_money,g1_r1_1,g1_r2_1")
    assert wide[1].endswith(",4.0,0.4,cooperate,defect")


def test_the_same_data_make_the_same_pack(server, played):
    assert pack_lobby(server, played) == pack_lobby(server, played)


def test_labels_can_be_left_out_and_who_wrote_theirs_down_is_named(server, played, tmp_path):
    kept = read_pack(pack_lobby(server, played))
    pack = pack_lobby(server, played, anonymous=True)
    files = read_pack(pack)
    rows = files["tables/participants.csv"].decode().splitlines()
    assert [row.count("label-") for row in rows] == [0, 1, 1, 1]
    assert b"ben-c" not in b"".join(files.values())
    assert b"carl-d" not in b"".join(files.values())
    # anna.b is in the words of an answer, which nobody changes.
    assert len(pack[1]) == 1
    assert pack[1][0].startswith("The label 'anna.b' is still in tables/decisions.csv")
    path = tmp_path / "pack.zip"
    path.write_bytes(pack[0])
    assert not replay_pack(path).differences
    # Nothing but the labels is another.
    named = kept["tables/participants.csv"].decode()
    for number, label in enumerate(("anna.b", "ben-c", "carl-d"), 1):
        named = named.replace(label, f"label-{number}")
    assert files["tables/participants.csv"].decode() == named


def test_labels_that_the_file_lists_are_left_out_of_it_too(server):
    lobby = server.state.sessions.create_experiment(LISTED)
    files = read_pack(pack_lobby(server, lobby, anonymous=True))
    assert b"anna.b" not in b"".join(files.values())
    assert 'labels = ["label-1", "label-2"]' in files["experiment.toml"].decode()
    assert files["experiment.toml"].decode().startswith(FILE)


def test_a_table_or_a_journal_that_was_changed_is_noticed(server, played, tmp_path):
    files = read_pack(pack_lobby(server, played))
    journal = files["journal/submissions.jsonl"].decode()
    written = drop_hashes(journal).replace('"cooperate"', '"defect"', 1)
    changed = files | {"journal/submissions.jsonl": add_hashes(written)}
    replay = replay_pack(write_pack(tmp_path / "changed.zip", changed))
    assert list(replay.differences) == [
        "decisions.csv",
        "participants.csv",
        "parts.csv",
        "wide.csv",
    ]
    assert replay.remarks == (
        "journal/submissions.jsonl was added or changed after the pack was made.",
    )
    changed = files | {"tables/wide.csv": files["tables/wide.csv"].replace(b"0.4", b"0.9", 1)}
    replay = replay_pack(write_pack(tmp_path / "table.zip", changed))
    assert list(replay.differences) == ["wide.csv"]
    assert replay.differences["wide.csv"].startswith("line 2 is ")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"pack.json": None}, "is not a replication pack: there is no pack.json in it"),
        ({"pack.json": b"[1]"}, r"pack.json in .* was not written by bestresponse"),
        ({"pack.json": b'{"format": 2}'}, "cannot be read by this version"),
        ({"journal/codes.json": b"[1]"}, "codes.json in .* was not written by bestresponse"),
        ({"pack.json": b'{"format": 9}'}, "a pack of format 9; this version reads 2"),
        ({"journal/codes.json": b"{"}, "codes.json in .* is not JSON"),
        ({"journal/events.jsonl": b""}, "cannot be read by this version"),
        (
            {"journal/events.jsonl": add_hashes('{"event": "seated", "session": "x-1"}\n')},
            "cannot be read",
        ),
        ({"journal/events.jsonl": b"[]\n"}, "line 1: the line is damaged"),
        ({"journal/submissions.jsonl": add_hashes('{"spec": 1}\n')}, "cannot be read"),
    ],
)
def test_what_is_no_pack_is_refused_in_a_sentence(server, played, tmp_path, damage, sentence):
    files = read_pack(pack_lobby(server, played)) | damage
    path = write_pack(
        tmp_path / "bad.zip", {name: text for name, text in files.items() if text is not None}
    )
    with pytest.raises(BestResponseError, match=sentence):
        replay_pack(path)


def test_archives_are_read_within_limits(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(b"no archive")
    with pytest.raises(UsageError, match="is not a ZIP archive that can be read"):
        read_archive(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(1_000_000))
    assert len(path.read_bytes()) < 2000
    with pytest.raises(UsageError, match="has more than 999,999 bytes when it is unpacked"):
        read_archive(path, 999_999)
    assert read_archive(path, 1_000_000) == {"zeros": bytes(1_000_000)}
    link = tmp_path / "link.zip"
    link.symlink_to(path)
    with pytest.raises(UsageError, match="symbolic link"):
        read_archive(link)


def test_a_lobby_is_found_by_its_file_or_its_id_the_newest_first(server, played):
    newer = server.state.sessions.create_experiment(FILE)
    folder = server.folder / "sessions"
    assert find_lobby_id(folder, "any.toml", FILE) == newer.id
    assert find_lobby_id(folder, played.id, None) == played.id
    with pytest.raises(UsageError, match=r"there are no sessions of other\.toml in"):
        find_lobby_id(folder, "other.toml", "title = 'x'")


def test_the_command_writes_a_pack_while_the_server_runs_and_replays_it(server, played, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(FILE)
    command = [sys.executable, "-m", "bestresponse", "experiment"]

    def run(*arguments):
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=120
        )

    made = run("export", str(file), "--output-dir", str(server.folder), "--output", "p.zip")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("p.zip: ")
    again = run("replay", "p.zip", "--output", "again")
    assert again.returncode == 0, again.stdout
    assert again.stdout.splitlines()[0] == "decisions.csv: the same, byte by byte"
    live = export_table(server.state, "wide", "csv", played.id)
    assert (tmp_path / "again" / "wide.csv").read_bytes() == live
