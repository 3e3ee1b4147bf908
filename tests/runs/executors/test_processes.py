"""Plays in worker processes: the same records, one budget, one cache, and nothing lost with a
worker."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from model_server import ModelServer
from running import NOW
from waiting import hear_interrupts

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.execution import Execution, Threads
from bestresponse.runs.executors import processes
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import run_study
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water


@pytest.fixture
def server():
    opened = ModelServer(latency=0.01)
    yield opened
    opened.close()


def bench(server, output, executor, games=12, limits=None, label="", **options):
    config = BenchConfig(
        model=(label + server.model,), num_games=games, num_rows=3, num_cols=3, seed=5
    )
    with open_models(config.models, output, limits or ModelLimits(4)) as opened:
        return run_study(
            bench_study,
            config,
            opened.models,
            output,
            Execution(
                opened.workers, executor=executor or Threads(), shared=opened.shared, **options
            ),
            NOW,
        )


def list_records(run):
    return sorted((run.path / "records.jsonl").read_text("utf-8").splitlines())


def test_processes_make_the_same_records_as_threads_with_one_call_a_play(server, tmp_path):
    threads = bench(server, tmp_path / "threads", None)
    found = bench(server, tmp_path / "processes", Processes(2))
    assert found.outcome.played == 12
    assert list_records(found) == list_records(threads)
    assert server.calls == 24
    assert list_children() == [], "workers end with the run"


def test_a_server_under_a_label_is_asked_by_workers_too(server, tmp_path):
    found = bench(server, tmp_path, Processes(1), games=2, label="mine=")
    assert (found.outcome.played, found.outcome.failed, server.calls) == (2, 0, 2)
    assert {row["model"] for row in found.rows()} == {"mine"}


def test_no_worker_is_started_where_nothing_is_to_be_played(server, tmp_path, monkeypatch):
    first = bench(server, tmp_path, None)
    monkeypatch.setattr(processes, "_ProcessLink", pytest.fail)
    again = bench(server, tmp_path, Processes(2))
    assert (first.outcome.played, again.outcome.found, again.outcome.played) == (12, 12, 0)


def test_a_budget_is_one_for_all_processes(server, tmp_path):
    run = bench(server, tmp_path, Processes(2), limits=ModelLimits(8, spent="5 calls"))
    assert server.calls == 5
    assert run.outcome.played == 5
    assert run.outcome.stopped.startswith("the next call could exceed the budget")


def test_replies_that_are_kept_are_not_asked_for_again(server, tmp_path):
    first = bench(server, tmp_path, None)
    (first.path / "records.jsonl").unlink()
    (first.path / "submissions.jsonl").unlink()
    second = bench(server, tmp_path, Processes(2))
    assert second.outcome.played == 12
    assert server.calls == 12


def test_a_killed_worker_is_replaced_and_its_plays_are_made_once(tmp_path):
    server = ModelServer(latency=0.2)
    killed = []

    def kill_one(progress):
        if progress.played in (3, 6) and progress.played not in killed:
            killed.append(progress.played)
            os.kill(max(list_children()), signal.SIGKILL)

    try:
        run = bench(server, tmp_path, Processes(2), on_progress=kill_one)
    finally:
        server.close()
    assert killed == [3, 6]
    assert (run.outcome.played, run.outcome.complete) == (12, True)
    assert len({play.spec for play in run.folder.plays()}) == len(list(run.folder.plays())) == 12


def list_children():
    """The worker processes of this one, from the process table."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                    fields = stat.read().rpartition(")")[2].split()
                with open(f"/proc/{name}/cmdline", encoding="utf-8") as line:
                    command = line.read()
            except OSError:
                continue
            if fields[0] != "Z" and int(fields[1]) == os.getpid() and "spawn_main" in command:
                found.append(int(name))
    return found


def test_models_that_are_objects_answer_in_the_process_that_has_them(tmp_path):
    prompts = []
    mine = ScriptedModel(lambda request: prompts.append(request) or "A", name="mine")
    config = BenchConfig(model=mine, num_games=3, num_rows=2, num_cols=2, seed=5)
    with open_models(config.models, tmp_path) as opened:
        how = Execution(executor=Processes(1), shared=opened.shared)
        run = run_study(bench_study, config, opened.models, tmp_path, how, NOW)
    assert run.outcome.played == 3
    assert len(prompts) == opened.meter.spent.calls


def test_water_without_models_comes_out_the_same_in_processes(tmp_path):
    config = WaterConfig(
        "need", seat={"Bob": "random", "Cindy": "share:0.5", "Eric": "myopic"}, repeats=40
    )
    one = run_study(water, config, {}, tmp_path / "one", invocation=NOW)
    two = run_study(water, config, {}, tmp_path / "two", Execution(executor=Processes(2)), NOW)
    assert list_records(one) == list_records(two)
    assert two.outcome.played == 40


def test_after_an_interrupt_the_same_command_plays_the_rest(tmp_path):
    server = ModelServer(latency=0.3)
    main = threading.main_thread().ident

    def interrupt(progress):
        if progress.played == 2:
            signal.pthread_kill(main, signal.SIGINT)

    try:
        with hear_interrupts(), pytest.raises(KeyboardInterrupt):
            bench(server, tmp_path, Processes(2), on_progress=interrupt)
        again = bench(server, tmp_path, Processes(2))
    finally:
        server.close()
    assert again.outcome.found >= 2
    assert again.outcome.found + again.outcome.played == 12
    assert len(list(again.folder.plays())) == 12


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from bestresponse.runs.executors.processes import Processes\n"
        "print(list(Processes(2).map(abs, [-1, -2], None)))\n"
    )
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 1
    assert found.stdout == ""
    assert "UsageError: a worker process ended before its work was done" in found.stderr
    assert found.stderr.count("Traceback") == 1

    script.write_text(
        "from bestresponse.runs.executors.processes import Processes\n"
        'if __name__ == "__main__":\n'
        "    print(list(Processes(2).map(abs, [-1, -2], None)))\n"
    )
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert found.stdout == "[1, 2]\n"
