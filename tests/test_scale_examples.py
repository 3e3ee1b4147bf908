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
