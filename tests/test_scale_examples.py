"""The examples for clusters run as written, with fewer games: the job array, and the job of Ray on two nodes.

The servers in the place of OpenAI's have no price, so budgets are in calls here.
"""

import json
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
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
    small = {**cluster, "PARTS": "2", "GAMES": "4", "BUDGET": "--max-calls 100"}
    for task in ("1", "2"):
        words = ["bash", str(SCALE / "slurm.sh")]
        done = subprocess.run(words, env={**small, "SLURM_ARRAY_TASK_ID": task}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    merge = subprocess.run(["bash", str(SCALE / "slurm.sh"), "merge"], env=small, capture_output=True, text=True)
    assert merge.returncode == 0, merge.stderr
    (summary,) = (tmp_path / "out" / "all").rglob("summary.json")
    assert json.loads(summary.read_text())["answered"] == 4


JOB = yaml.safe_load((SCALE / "kuberay.yaml").read_text("utf-8"))


def test_the_job_of_ray_is_one_version_of_ray_on_all_nodes_and_keeps_its_results_and_keys():
    assert (JOB["apiVersion"], JOB["kind"]) == ("ray.io/v1", "RayJob")
    spec = JOB["spec"]["rayClusterSpec"]
    head = spec["headGroupSpec"]["template"]["spec"]
    (workers,) = spec["workerGroupSpecs"]
    containers = [head["containers"][0], workers["template"]["spec"]["containers"][0]]
    assert {container["image"].rpartition(":")[2] for container in containers} == {spec["rayVersion"]}
    assert all(container["envFrom"] == [{"secretRef": {"name": "model-keys"}}] for container in containers)
    (mount,) = head["containers"][0]["volumeMounts"]
    assert f"--output-dir {mount['mountPath']}" in JOB["spec"]["entrypoint"]
    assert [volume["name"] for volume in head["volumes"]] == [mount["name"]]


def test_the_job_of_ray_has_options_that_exist_and_installs_what_its_budget_needs(cluster):
    entrypoint = shlex.split(JOB["spec"]["entrypoint"])
    done = subprocess.run([*entrypoint, "--dry-run"], env=cluster, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "100,000 games, seed 1" in done.stdout
    assert "--max-cost" in entrypoint
    assert "[ray,cost]" in (SCALE / "kuberay.yaml").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed: pip install '.[ray]'")
def test_the_job_of_ray_plays_on_a_cluster_that_is_there_already(cluster, tmp_path, monkeypatch):
    from ray.cluster_utils import Cluster

    for name, value in cluster.items():
        monkeypatch.setenv(name, value)  # the nodes have the keys, as in the file
    monkeypatch.setenv("RAY_worker_niceness", "0")
    node = {"num_cpus": 1, "object_store_memory": 200_000_000}
    nodes = Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **node})
    try:
        nodes.add_node(**node)
        small = {"100000": "8", "400": "100", "--max-cost": "--max-calls", "/results": cluster["OUTPUT"]}
        command = [small.get(word, word) for word in shlex.split(JOB["spec"]["entrypoint"])]
        # KubeRay names the cluster to its driver by this variable.
        env = {**os.environ, "RAY_ADDRESS": nodes.address}
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    finally:
        nodes.shutdown()
    assert done.returncode == 0, done.stderr
    (summary,) = Path(cluster["OUTPUT"]).rglob("summary.json")
    assert json.loads(summary.read_text())["answered"] == 8
