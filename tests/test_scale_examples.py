"""The examples for clusters run as written: the job array with fewer games, the indexed job as a
plan.

The servers in the place of OpenAI's have no price, so budgets are in calls here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
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
    small = {**cluster, "PARTS": "2", "GAMES": "4", "BUDGET": "--budget 100calls"}
    for task in ("1", "2"):
        words = ["bash", str(SCALE / "slurm.sh")]
        done = subprocess.run(
            words, env={**small, "SLURM_ARRAY_TASK_ID": task}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    merge = subprocess.run(
        ["bash", str(SCALE / "slurm.sh"), "merge"], env=small, capture_output=True, text=True
    )
    assert merge.returncode == 0, merge.stderr
    (summary,) = (tmp_path / "out" / "all").rglob("summary.json")
    assert json.loads(summary.read_text())["answered"] == 4


JOB = yaml.safe_load((SCALE / "kubernetes.yaml").read_text("utf-8"))


def test_the_parts_of_the_kubernetes_job_are_all_played_with_keys_and_a_place_for_results(cluster):
    spec = JOB["spec"]
    (part,) = spec["template"]["spec"]["containers"]
    (mount,) = part["volumeMounts"]
    assert (JOB["kind"], spec["completionMode"]) == ("Job", "Indexed")
    assert part["envFrom"] == [{"secretRef": {"name": "model-keys"}}]
    assert [volume["name"] for volume in spec["template"]["spec"]["volumes"]] == [mount["name"]]
    *shell, script = part["command"]
    assert f"--output {mount['mountPath']}/part$part" in script
    for index in (0, spec["completions"] - 1):
        done = subprocess.run(
            [*shell, f"{script} --dry-run"],
            env={**cluster, "JOB_COMPLETION_INDEX": str(index)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "100,000 games, seed 1" in done.stdout
        assert f"{index + 1}/{spec['completions']}" in done.stdout
