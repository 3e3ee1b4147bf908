"""The wall clock may be set back or forward at any time: it stamps what people read, and decides
nothing."""

import ast
import itertools
import os
import time
from pathlib import Path

import pytest
from held_calls import HoldingServer
from model_server import stated_mix
from sources import list_nodes, parse_package

import bestresponse as br
from bestresponse.web.sessions.session import Moment
from bestresponse.web.watching import runs

SOURCE = Path(__file__).parents[1] / "src" / "bestresponse"
HOUR = 3600.0
DAY = 24 * HOUR


@pytest.fixture
def jumping(monkeypatch):
    """Let the wall clock jump whenever somebody looks at it, by an hour and by a day."""
    jumps = itertools.cycle((0.0, -HOUR, DAY, HOUR, -DAY))
    steady = time.time
    monkeypatch.setattr(time, "time", lambda: steady() + next(jumps))


def list_wall_clocks():
    """List every place in the package that reads the wall clock."""
    wall = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "date.today"}
    found = []
    for path, tree in parse_package().items():
        for node in list_nodes(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in wall:
                found.append((str(path.relative_to(SOURCE)), ast.unparse(node)))
            if isinstance(node, ast.ImportFrom) and node.module == "time":
                assert {alias.name for alias in node.names} <= {"monotonic", "perf_counter"}, path
    return found


def test_the_wall_clock_is_read_for_stamps_and_for_the_times_of_files_alone():
    assert list_wall_clocks() == [
        ("cli/commands/play.py", "datetime.now"),  # when a play was begun
        ("models/http/endpoint.py", "time.time"),  # a date to retry after, of a server without one
        ("runs/run.py", "datetime.now"),  # when a run was begun
        ("web/sessions/journal.py", "datetime.now"),  # when something happened in a session
        ("web/watching/runs.py", "time.time"),  # whether a file is fresh, where locks are unseen
    ]


def test_a_benchmark_ends_with_the_same_figures_while_the_clock_jumps(
    tmp_path, monkeypatch, request
):
    server = HoldingServer(stated_mix)
    request.addfinalizer(server.close)
    steady = br.bench(server.model, num_games=6, seed=2, output_dir=tmp_path / "steady")
    request.getfixturevalue("jumping")
    jumped = br.bench(server.model, num_games=6, seed=2, output_dir=tmp_path / "jumped")
    assert server.asked.total() == 12
    assert len(server.asked) == 6
    assert jumped.frame("metrics") == steady.frame("metrics")


@pytest.mark.parametrize(
    ("later", "seconds"),
    [
        (Moment("2026-11-18T10:00:00", 107.5, "a"), 7.5),
        (Moment("2026-11-17T09:00:00", 107.5, "a"), 7.5),  # the wall clock was put back by a day
        (Moment("2026-11-18T10:00:00", 107.5, "b"), None),  # the machine was started again
        (Moment("2026-11-18T10:00:00", 4.0, "a"), None),
        (Moment("2026-11-18T10:00:00", None, "a"), None),
    ],
)
def test_the_time_on_a_page_is_by_the_steady_clock_of_one_start(later, seconds):
    assert Moment("2026-11-18T09:59:00", 100.0, "a").seconds_until(later) == seconds


@pytest.mark.parametrize(
    ("age", "worked_on"), [(0.0, True), (HOUR, False), (-HOUR, False), (-DAY, False)]
)
def test_a_file_from_the_future_is_not_taken_for_a_fresh_one(age, worked_on, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("")
    written = time.time() - age
    os.utime(path, (written, written))
    # There is no lock in the folder, so the times of its files decide.
    assert runs.is_worked_on(tmp_path) is worked_on
