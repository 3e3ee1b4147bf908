"""What people wrote, their labels and what they are paid are read by whoever runs the server."""

from bestresponse.web.sessions.journal import Journal


def test_no_other_user_of_the_machine_reads_the_folder_of_sessions(tmp_path):
    Journal(tmp_path / "sessions").close()
    assert (tmp_path / "sessions").stat().st_mode & 0o077 == 0
