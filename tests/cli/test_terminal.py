"""Progress where there is no terminal."""

from __future__ import annotations

import io

from rich.console import Console

from bestresponse.cli.terminal import play_progress, print_table
from bestresponse.report.document import Column, Table
from bestresponse.runs.execution import Progress


def test_progress_is_counted_out_of_all_where_their_number_is_known(capsys):
    with play_progress(4, "games", recorded=1) as tell:
        tell(Progress(4, found=1, played=1, failed=0))
    assert capsys.readouterr().err.splitlines() == ["games: 1 of 4", "games: 2 of 4"]


def test_nothing_is_counted_where_everything_is_recorded_already(capsys):
    with play_progress(32, "plays", recorded=32):
        pass
    assert capsys.readouterr().err == ""


def test_progress_without_a_known_number_counts_only_what_is_done(capsys):
    with play_progress(None, "games") as tell:
        tell(Progress(None, found=0, played=1, failed=1))
    assert capsys.readouterr().err.splitlines() == ["games: 0", "games: 1, 1 failed"]


def test_columns_that_do_not_fit_follow_below_with_the_first_column_again():
    out = Console(width=30, file=io.StringIO())
    columns = (
        Column("player"),
        Column("first payoff"),
        Column("second payoff"),
        Column("third payoff"),
    )
    print_table(out, Table(columns, (("Ann", "1", "2", "3"), ("Bob", "4", "5", "6"))))
    shown = [line.split() for line in out.file.getvalue().splitlines()]
    assert shown[-3:] == [["player", "third", "payoff"], ["Ann", "3"], ["Bob", "6"]]


def test_further_columns_begin_with_all_that_tells_the_rows_apart():
    # Two players in two ways of asking: the first column alone would name two rows alike.
    out = Console(width=30, file=io.StringIO())
    columns = (Column("player"), Column("way"), Column("first payoff"), Column("second payoff"))
    rows = (("Ann", "pure", "1", "2"), ("Ann", "mixed", "3", "4"))
    print_table(out, Table(columns, rows))
    shown = [line.split() for line in out.file.getvalue().splitlines()]
    assert shown[-3:] == [
        ["player", "way", "second", "payoff"],
        ["Ann", "pure", "2"],
        ["Ann", "mixed", "4"],
    ]
