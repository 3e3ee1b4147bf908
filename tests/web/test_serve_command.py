"""The command itself: it prints a link, keeps its tables when it is killed, and refuses to be public by accident."""

import signal
import subprocess
import sys

import httpx
import pytest

pytestmark = pytest.mark.slow


def started(folder, *options):
    command = [sys.executable, "-m", "bestresponse", "serve", "--port", "0", "--output-dir", str(folder), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def test_a_killed_server_goes_on_with_its_tables_and_its_links(tmp_path):
    process, link = started(tmp_path)
    try:
        base, token = link.split("/enter/")
        wanted = {"game": {"name": "chicken", "rounds": 2}, "seats": ["person", "strategy:bully"], "quiz": False}
        admin = {"authorization": f"Bearer {token}"}
        laid = httpx.post(f"{base}/api/lobbies", json=wanted, headers=admin, timeout=60).json()["sessions"][0]
        person = {"authorization": f"Bearer {laid['seats'][0]['token']}"}
        place = f"/api/seats/{laid['session']}/0"
        httpx.post(f"{base}{place}/ready", json={}, headers=person, timeout=60)
        answer = {"turn": 0, "answer": "swerve"}
        assert httpx.post(f"{base}{place}/answers", json=answer, headers=person, timeout=60).status_code == 200
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    process, again = started(tmp_path)
    try:
        assert again.split("/enter/")[1] == token
        base = again.split("/enter/")[0]
        assert httpx.post(f"{base}{place}/answers", json=answer, headers=person, timeout=60).status_code == 409
        assert httpx.get(f"{base}{place}", headers=person, timeout=60).json()["turn"] == 1
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_two_servers_do_not_write_into_one_folder(tmp_path):
    first, _ = started(tmp_path)
    second, link = started(tmp_path)
    try:
        assert link == ""
        assert "another process is working" in second.communicate(timeout=60)[1]
        assert second.returncode == 1
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()


def test_a_public_address_needs_a_token(tmp_path):
    process, link = started(tmp_path, "--host", "0.0.0.0")
    assert link == ""
    assert "--admin-token" in process.communicate(timeout=60)[1]
    assert process.returncode == 2
