"""What people wrote, their labels and what they are paid are read by whoever runs the server."""

import shutil

from typer.testing import CliRunner
from web_server import join

from bestresponse.cli.app import app
from bestresponse.web.services.export import TABLES
from bestresponse.web.sessions.journal import Journal
from bestresponse.web.sessions.setup import GameChoice, Setup


def test_no_other_user_of_the_machine_reads_the_folder_of_sessions(tmp_path):
    Journal(tmp_path / "sessions").close()
    assert (tmp_path / "sessions").stat().st_mode & 0o077 == 0


def test_tables_to_be_shared_hold_no_label_of_a_person(server, tmp_path):
    labels = {"participant_label": "anna.k", "PROLIFIC_PID": "5f3a77", "SESSION_ID": "9c01ee"}
    lobby = server.state.sessions.create_sessions(
        Setup(GameChoice("prisoners-dilemma"), ("person", "person"), quiz=False)
    )
    join(server, lobby, server.client(), **labels)
    join(server, lobby, server.client())
    with_labels = server.api().get("/api/export/participants.csv").text
    assert all(label in with_labels for label in labels.values())

    folder, copy = tmp_path / "shared", tmp_path / "copy"
    shutil.copytree(server.state.output / "sessions", copy / "sessions")
    export = ["serve", "--output", str(copy), "--export", str(folder)]
    assert CliRunner().invoke(app, export).exit_code == 0
    written = {path.name: path.read_text("utf-8") for path in folder.iterdir()}
    assert set(written) == {f"{table}.csv" for table in TABLES}
    assert len(written["participants.csv"].splitlines()) == 3
    for text in written.values():
        assert not any(part in text for part in (*labels, *labels.values()))


def test_a_folder_without_sessions_is_not_made_into_one(tmp_path):
    refused = CliRunner().invoke(app, ["serve", "-o", str(tmp_path), "--export", "shared"])
    assert "holds no sessions" in str(refused.exception)
    assert list(tmp_path.iterdir()) == []
