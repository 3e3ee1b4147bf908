"""The examples for clusters run: the job array as written, the job of Ray as far as no cluster is needed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from model_server import ModelServer

ROOT = Path(__file__).parents[1]
SCALE = ROOT / "examples" / "scale"


@pytest.fixture
def cluster(tmp_path):
    """The environment of a node: the command on its path, and a server in the place of OpenAI's."""
    command = tmp_path / "bin" / "bestresponse"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m bestresponse "$@"\n')
    command.chmod(0o755)
    server = ModelServer()
    yield {
        **os.environ,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "OPENAI_API_KEY": "not-a-key",
        "OPENAI_BASE_URL": server.model.partition("#")[0],
        "OUTPUT": str(tmp_path / "out"),
    }
    server.close()


@pytest.mark.slow
def test_the_job_array_plays_its_parts_and_the_last_job_merges_them(cluster, tmp_path):
    small = {**cluster, "PARTS": "2", "GAMES": "4", "BUDGET": "--max-calls 100"}
    for task in ("1", "2"):
        words = ["bash", str(SCALE / "slurm.sh")]
        done = subprocess.run(words, env={**small, "SLURM_ARRAY_TASK_ID": task}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    merge = subprocess.run(["bash", str(SCALE / "slurm.sh"), "merge"], env=small, capture_output=True, text=True)
    assert merge.returncode == 0, merge.stderr
    (summary,) = (tmp_path / "out" / "all").rglob("summary.json")
    assert json.loads(summary.read_text())["answered"] == 4


def read_entrypoint():
    text = (SCALE / "kuberay.yaml").read_text("utf-8")
    return " ".join(re.search(r"entrypoint: >-\n((?:    .*\n)+)", text).group(1).split())


def test_the_job_of_ray_has_options_that_exist_and_installs_what_its_budget_needs(cluster):
    entrypoint = read_entrypoint()
    done = subprocess.run([*entrypoint.split(), "--dry-run"], env=cluster, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "100,000 games, seed 1" in done.stdout
    assert "--max-cost" in entrypoint
    assert "[ray,cost]" in (SCALE / "kuberay.yaml").read_text("utf-8")


@pytest.mark.slow
def test_the_job_of_ray_runs_as_it_is_written_on_a_cluster_of_this_machine(cluster, tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'bestresponse[ray]'")
    # Fewer games, a folder of the test, and a budget in calls: at this address nobody knows the price of a call.
    changes = {"100000": "4", "/results": str(tmp_path / "out"), "--max-cost 400": "--max-calls 100"}
    words = read_entrypoint()
    for written, small in changes.items():
        assert words.count(written) == 1
        words = words.replace(written, small)
    ray = str(Path(sys.executable).with_name("ray"))
    environment = {**cluster, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 32}
    start = [ray, "start", "--head", "--node-ip-address", "127.0.0.1", "--num-cpus", "2", "--disable-usage-stats"]
    subprocess.run([*start, "--include-dashboard", "false"], env=environment, check=True, capture_output=True)
    try:
        done = subprocess.run(words.split(), env=environment, capture_output=True, text=True, check=False)
    finally:
        subprocess.run([ray, "stop", "--force"], env=environment, check=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    (summary,) = (tmp_path / "out").rglob("summary.json")
    assert json.loads(summary.read_text())["answered"] == 4
