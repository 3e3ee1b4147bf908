"""The command itself: it prints a link, keeps its tables when it is killed, and refuses to be
public by accident."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner
from waiting import wait_until

from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.web.supervisor import can_supervise

pytestmark = pytest.mark.slow


def started(folder, *options):
    command = [
        sys.executable,
        "-m",
        "bestresponse",
        "serve",
        "--port",
        "0",
        "--output-dir",
        str(folder),
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    label, _, link = process.stdout.readline().strip().partition(": ")
    if link:
        assert label == "your page, keep it secret"
        assert "Ctrl+C" in process.stdout.readline()
    return process, link


def test_a_killed_server_takes_its_worker_along_and_goes_on_with_its_tables_and_its_links(tmp_path):
    process, link = started(tmp_path)
    try:
        base, token = link.split("/enter/")
        wanted = {
            "game": {"name": "chicken", "rounds": 2},
            "seats": ["person", "strategy:bully"],
            "quiz": False,
        }
        admin = {"authorization": f"Bearer {token}"}
        laid = httpx.post(f"{base}/api/lobbies", json=wanted, headers=admin, timeout=300).json()[
            "sessions"
        ][0]
        person = {"authorization": f"Bearer {laid['seats'][0]['token']}"}
        place = f"/api/seats/{laid['session']}/0"
        httpx.post(f"{base}{place}/ready", json={}, headers=person, timeout=300)
        answer = {"turn": 0, "answer": "swerve"}
        assert (
            httpx.post(
                f"{base}{place}/answers", json=answer, headers=person, timeout=300
            ).status_code
            == 200
        )
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(120)
    process, again = started(tmp_path)
    try:
        assert again.split("/enter/")[1] == token
        base = again.split("/enter/")[0]
        assert (
            httpx.post(
                f"{base}{place}/answers", json=answer, headers=person, timeout=300
            ).status_code
            == 409
        )
        assert httpx.get(f"{base}{place}", headers=person, timeout=300).json()["turn"] == 1
        second, nothing = started(tmp_path)  # two servers do not write into one folder
        assert nothing == ""
        assert "another process is working" in second.communicate(timeout=300)[1]
        assert second.returncode == 1
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(120)


def worker_of(process, but=0):
    """The process that serves, as soon as there is one other than `but`."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    found = []
    wait_until(
        lambda: found.extend({int(pid) for pid in children.read_text().split()} - {but}) or found
    )
    return found[0]


kept = pytest.mark.skipif(
    not (can_supervise() and Path("/proc/self/task").exists()), reason="needs fork and /proc"
)


@kept
def test_a_killed_worker_is_replaced_at_once_and_nobody_is_refused(tmp_path):
    token = "a-token-of-mine-0123"
    process, link = started(tmp_path, "--admin-token", token)
    try:
        base, shown = link.split("/enter/")
        assert shown == "YOUR-ADMIN-TOKEN"  # one that was given is not printed
        admin = {"authorization": f"Bearer {token}"}
        wanted = {"game": {"name": "chicken"}, "seats": ["person", "person"], "quiz": False}
        lobby = httpx.post(f"{base}/api/lobbies", json=wanted, headers=admin, timeout=300).json()
        before = worker_of(process)
        os.kill(before, signal.SIGKILL)
        again = httpx.get(f"{base}/api/lobbies/{lobby['lobby']}", headers=admin, timeout=300)
        assert again.json() == lobby
        assert worker_of(process, but=before)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) == 0
    (warning,) = process.stderr.read().splitlines()
    assert "can see --admin-token in the list of processes" in warning
    assert process.stdout.read() == ""


def test_a_public_address_needs_a_token(tmp_path):
    words = ["serve", "--port", "0", "--output-dir", str(tmp_path), "--host", "0.0.0.0"]
    with pytest.raises(UsageError, match="--admin-token"):
        CliRunner().invoke(app, words, catch_exceptions=False)
