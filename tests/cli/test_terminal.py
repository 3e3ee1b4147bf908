"""Progress where there is no terminal."""

from __future__ import annotations

from bestresponse.cli.terminal import play_progress
from bestresponse.runs.execution import Progress


def test_progress_is_counted_out_of_all_where_their_number_is_known(capsys):
    with play_progress(4, "games") as tell:
        tell(Progress(4, found=1, played=1, failed=0))
    assert capsys.readouterr().err.splitlines() == ["games: 0 of 4", "games: 2 of 4"]


def test_progress_without_a_known_number_counts_only_what_is_done(capsys):
    with play_progress(None, "games") as tell:
        tell(Progress(None, found=0, played=1, failed=1))
    assert capsys.readouterr().err.splitlines() == ["games: 0", "games: 1, 1 failed"]
