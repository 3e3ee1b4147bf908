"""Ctrl-C twice, as a terminal sends it to all processes of a command, beside a server that never
answers."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from waiting import wait_until

BENCH = ("bench", "--num-games", 8, "--seed", 3, "--workers", 4)
WATER = ("simulate", "water", "--days", 2, "--repeats", 2, "--workers", 2)


@pytest.fixture
def interrupted_twice(serve, tmp_path):
    """Start a command whose server answers some calls only, interrupt it twice, and return its end
    and its words."""

    def run(words, answers):
        server = serve()
        server.answer_only(answers)
        with subprocess.Popen(
            [*map(str, words), "--model", server.model, "--output-dir", str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                wait_until(lambda: count_replies(tmp_path) == answers or process.poll() is not None)
                os.killpg(process.pid, signal.SIGINT)
                words_before = read_until(process.stderr, "Ctrl-C again")
                os.killpg(process.pid, signal.SIGINT)
                _, words_after = process.communicate(
                    timeout=120
                )  # the server would hold it for 300 s
            finally:
                process.kill()
        return process.returncode, words_before + words_after

    return run


def read_until(stream, part):
    """Read lines up to one that holds `part`; all of them where none does."""
    lines = []
    for line in stream:
        lines.append(line)
        if part in line:
            break
    return "".join(lines)


def count_replies(folder):
    """Count the replies of models that are kept on disk."""
    path = folder / "replies.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as rows:
        try:
            return rows.execute("select count(*) from replies").fetchone()[0]
        except sqlite3.OperationalError:  # it is only being made
            return 0


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        pytest.param(BENCH, 2, id="threads"),
        pytest.param((*BENCH, "--processes", "2"), 2, id="processes"),
        pytest.param(WATER, 3, id="threads that ask in threads"),
    ],
)
def test_a_second_interrupt_ends_a_run_at_once_and_what_was_answered_is_kept(
    interrupted_twice, words, answers, tmp_path
):
    code, said = interrupted_twice((sys.executable, "-m", "bestresponse", *words), answers)
    assert code == 130
    assert "Ctrl-C again does not wait" in said
    assert "Traceback" not in said
    assert count_replies(tmp_path) == answers


def test_a_second_interrupt_ends_a_script_too(serve, tmp_path):
    server = serve()
    server.answer_only(2)
    script = (
        f"import bestresponse as br\nbr.bench({server.model!r}, num_games=8, seed=3, workers=4,"
        f" output_dir={str(tmp_path)!r})\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: count_replies(tmp_path) == 2 or process.poll() is not None)
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert count_replies(tmp_path) == 2


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells which signals a process blocks"
)
def test_no_worker_process_hears_ctrl_c_even_before_it_can_ignore_it():
    # A fresh interpreter: its first process starts Python's tracker of resources, which changes the
    # mask of signals.
    script = (
        "from pathlib import Path\n"
        "from bestresponse.runs.executors.processes import Processes\n"
        "print(*Processes(2).map(Path.read_text, [Path('/proc/self/status')] * 2, None))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    masks = [line.split(":")[1] for line in done.stdout.splitlines() if "SigBlk" in line]
    assert len(masks) == 2
    assert all(int(mask, 16) & 1 << (signal.SIGINT - 1) for mask in masks)
