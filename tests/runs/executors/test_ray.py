"""Plays on a Ray cluster of several nodes on this machine. Skipped where Ray is not installed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from model_server import ModelServer
from running import NOW
from waiting import wait_until

from bestresponse.core.errors import UsageError
from bestresponse.runs.execution import Execution, Threads, find_executor
from bestresponse.runs.executors.ray import Ray
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import run_study
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water

SMALL = {"object_store_memory": 200_000_000}
WITH_RAY = pytest.mark.skipif(
    not find_spec("ray"), reason="Ray is not installed: pip install '.[ray]'"
)


def test_without_ray_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)  # as where it is not installed
    with pytest.raises(UsageError, match=r"Ray is not installed: pip install '\.\[ray\]'"):
        list(find_executor("ray").map(len, ["a"], None))


class SlowRay(ModuleType):
    """A package whose cluster comes up too slowly, with what Ray 2.60 then raises."""

    def __init__(self):
        super().__init__("ray")
        self.ended = 0

    def is_initialized(self):
        return False

    def init(self, **options):
        raise Exception(
            "The current node timed out during startup. This could\nhappen because it is"
            " overloaded."
        )

    def shutdown(self):
        self.ended += 1


def test_a_cluster_that_does_not_start_is_one_sentence_and_leaves_no_process(monkeypatch):
    slow = SlowRay()
    monkeypatch.setitem(sys.modules, "ray", slow)
    monkeypatch.setenv("RAY_TMPDIR", "/scratch")
    with pytest.raises(UsageError) as raised:
        list(find_executor("ray").map(len, ["a"], None))
    assert (
        str(raised.value)
        == "Ray did not start on this machine: The current node timed out during startup. This"
        " could happen because it is overloaded. Its logs are in"
        " /scratch/ray/session_latest/logs. Try again when the machine is less busy, or use"
        " the executor processes, without Ray"
    )
    assert slow.ended == 1


@WITH_RAY
@pytest.mark.slow
def test_a_cluster_that_cannot_start_ends_the_command_with_a_sentence_and_no_trace(tmp_path):
    server = ModelServer()
    (tmp_path / "file").write_text("where Ray wants a folder")
    program = Path(sys.executable).with_name("bestresponse")
    words = [
        str(program),
        "bench",
        "--model",
        server.model,
        "--num-games",
        "2",
        "--executor",
        "ray",
    ]
    try:
        done = subprocess.run(
            [*words, "--output-dir", str(tmp_path / "results")],
            env={**os.environ, "RAY_TMPDIR": str(tmp_path / "file")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        server.close()
    assert done.returncode == 2, done.stderr
    assert "Ray did not start on this machine: " in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_an_address_is_that_of_a_ray_cluster():
    assert find_executor("ray", "ray://head:10001") == Ray("ray://head:10001")
    with pytest.raises(
        UsageError,
        match="address: auto is the address of a cluster, and the executor threads uses none: try ray",
    ):
        find_executor("threads", "auto")


def test_there_are_as_many_workers_as_a_cluster_has_room_for():
    there = {"CPU": 16.0, "GPU": 2.0, "memory": 64e9}
    assert Ray()._count_workers(there) == 16
    assert Ray(resources={"GPU": 1})._count_workers(there) == 2
    assert Ray(resources={"memory": 16e9, "CPU": 2})._count_workers(there) == 4
    assert Ray(resources={"TPU": 1})._count_workers(there) == 1


def test_a_cluster_without_room_is_told_after_a_while():
    nodes = [
        {"Alive": True, "Resources": {"CPU": 4.0}},
        {"Alive": False, "Resources": {"CPU": 4.0, "GPU": 1.0}},
    ]
    wanted = Ray(resources={"GPU": 1})
    wanted._check_room(lambda: nodes, 119)
    with pytest.raises(
        UsageError, match="no node of the Ray cluster has room for a worker that needs 1 CPU, 1 GPU"
    ):
        wanted._check_room(lambda: nodes, 121)
    Ray()._check_room(lambda: nodes, 121)
    with pytest.raises(UsageError, match="has started no worker for 601 s: see `ray status`"):
        Ray()._check_room(lambda: nodes, 601)


@pytest.fixture(scope="module")
def cluster():
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # on a busy machine nice workers hardly start
        made = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "include_dashboard": False, **SMALL},
        )
        try:
            ray.init(address=made.address, log_to_driver=False, configure_logging=False)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


@pytest.fixture
def server():
    opened = ModelServer(latency=0.05)
    yield opened
    opened.close()


def bench(server, output, executor, games=12, limits=None, **options):
    config = BenchConfig(model=(server.model,), num_games=games, num_rows=3, num_cols=3, seed=5)
    with open_models(config.models, output, limits or ModelLimits(4)) as opened:
        return run_study(
            bench_study,
            config,
            opened.models,
            output,
            Execution(opened.workers, executor=executor, shared=opened.shared, **options),
            NOW,
        )


def list_records(run):
    return sorted((run.path / "records.jsonl").read_text("utf-8").splitlines())


@WITH_RAY
@pytest.mark.slow
def test_a_cluster_makes_the_same_records_with_one_call_a_play(cluster, server, tmp_path):
    threads = bench(server, tmp_path / "threads", Threads())
    found = bench(server, tmp_path / "ray", Ray())
    assert list_records(found) == list_records(threads)
    assert server.calls == 24


@WITH_RAY
@pytest.mark.slow
def test_a_budget_is_one_for_the_cluster(cluster, server, tmp_path):
    run = bench(server, tmp_path, Ray(count=1), limits=ModelLimits(4, calls=5))
    assert server.calls == 5
    assert run.outcome.stopped.startswith("the next call could exceed the budget")


@WITH_RAY
@pytest.mark.slow
def test_a_node_lost_in_the_middle_costs_no_play(cluster, tmp_path):
    nodes = [cluster.add_node(num_cpus=1, **SMALL), cluster.add_node(num_cpus=1, **SMALL)]
    cluster.wait_for_nodes()
    server = ModelServer(latency=0.3)
    lost = []

    def lose_a_node(progress):
        if progress.played >= 6 and not lost:
            lost.append(nodes[0])
            cluster.remove_node(nodes[0], allow_graceful=False)

    try:
        run = bench(
            server, tmp_path, Ray(), games=30, limits=ModelLimits(6), on_progress=lose_a_node
        )
    finally:
        server.close()
    assert lost
    assert (run.outcome.played, run.outcome.complete) == (30, True)
    assert len({play.spec for play in run.folder.plays()}) == len(list(run.folder.plays())) == 30


@WITH_RAY
@pytest.mark.slow
def test_a_worker_killed_twenty_times_costs_no_play_and_no_finished_call(cluster, server, tmp_path):
    killed = set()

    def kill_the_worker(progress):
        for worker in set(find_workers()) - killed:
            if len(killed) < 20:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                killed.add(worker)

    limits = ModelLimits(1)
    found = bench(
        server, tmp_path / "ray", Ray(count=1), games=50, limits=limits, on_progress=kill_the_worker
    )
    delivered = len(server.delivered)
    threads = bench(server, tmp_path / "threads", Threads(), games=50, limits=limits)
    assert len(killed) == 20
    assert delivered <= 50 + 20
    assert list_records(found) == list_records(threads)
    assert read_summary(found) == read_summary(threads)


def find_workers():
    """The processes of this machine in which plays are made."""
    processes = (path for path in Path("/proc").iterdir() if path.name.isdigit())
    return [
        int(path.name)
        for path in processes
        if b"ray::_PlayActor" in read_or_nothing(path / "cmdline")
    ]


def read_or_nothing(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_summary(run):
    """The summary without the seconds of the calls, which were measured."""
    run.publish()
    summary = json.loads((run.path / "summary.json").read_text("utf-8"))
    for cost in summary["costs"]:
        del cost["seconds"]
    return summary


@WITH_RAY
@pytest.mark.slow
def test_a_cluster_is_started_where_there_is_none(server, tmp_path):
    script = textwrap.dedent(f"""
        import bestresponse as br
        run = br.bench({server.model!r}, num_games=4, seed=5, output_dir={str(tmp_path)!r}, executor="ray")
        print(len(run.rows()))
    """)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.split() == ["4"]


@WITH_RAY
@pytest.mark.slow
def test_a_cluster_that_is_started_listens_on_loopback_alone_and_demands_a_token():
    script = textwrap.dedent("""
        import os
        import psutil
        import bestresponse as br
        from bestresponse.runs.executors.ray import _connect

        ray, _ = _connect(None)
        family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        listening = [port.laddr.ip for one in family for port in one.net_connections("tcp") if port.status == "LISTEN"]
        print(len(listening) > 3, sorted(set(listening)), os.environ["RAY_AUTH_MODE"])
    """)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.strip() in (
        "True ['127.0.0.1'] token",
        "True ['127.0.0.1', '::ffff:127.0.0.1'] token",
    )


@WITH_RAY
@pytest.mark.slow
def test_who_asks_the_cluster_after_its_end_starts_no_other_one_and_ray_says_nothing():
    script = textwrap.dedent("""
        import bestresponse as br
        from bestresponse.runs.executors.ray import _connect

        ray, _ = _connect(None)
        ray.shutdown()
        try:
            ray.put("a question of a thread that is still there")
        except ray.exceptions.RayError:
            print("refused", ray.is_initialized())
    """)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("refused False", "")


@WITH_RAY
@pytest.mark.slow
def test_an_address_where_no_cluster_is_gives_one_sentence(tmp_path):
    script = (
        "import bestresponse as br; list(br.executors.Ray('127.0.0.1:1').map(len, ['a'], None))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stderr.splitlines()[-1].startswith(
        "bestresponse.core.errors.UsageError: no Ray cluster answers"
    )


@WITH_RAY
@pytest.mark.slow
def test_a_driver_killed_in_the_middle_goes_on_and_repeats_no_finished_call(cluster, tmp_path):
    server = ModelServer(latency=0.3)
    script = textwrap.dedent(f"""
        import bestresponse as br
        br.bench({server.model!r}, num_games=20, seed=5, workers=2, output_dir={str(tmp_path)!r},
                 executor=br.executors.Ray(address={cluster.address!r}))
    """)
    try:
        driver = subprocess.Popen([sys.executable, "-c", script])
        try:
            wait_until(lambda: len(server.delivered) >= 6)
        finally:
            driver.kill()
            driver.wait(60)
        wait_until(lambda: not find_workers())
        subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
    finally:
        server.close()
    delivered = len(server.delivered)
    (records,) = tmp_path.glob("bench-*/records.jsonl")
    assert len(records.read_text("utf-8").splitlines()) == 20
    assert delivered <= 20 + 2


@WITH_RAY
@pytest.mark.slow
def test_water_without_models_comes_out_the_same_on_a_cluster(cluster, tmp_path):
    config = WaterConfig(
        "need", seat={"Bob": "random", "Cindy": "share:0.5", "Eric": "myopic"}, repeats=300
    )
    one = run_study(water, config, {}, tmp_path / "one", invocation=NOW)
    two = run_study(water, config, {}, tmp_path / "two", Execution(executor=Ray()), NOW)
    assert list_records(one) == list_records(two)
