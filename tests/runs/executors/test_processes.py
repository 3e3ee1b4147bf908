"""Plays and calls in worker processes: the same records, and nothing lost with a worker."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import pytest
from model_server import ModelServer
from running import NOW
from waiting import hear_interrupts

import bestresponse as br
from bestresponse.core import errors
from bestresponse.core.errors import BestResponseError, ModelUnavailable, UsageError
from bestresponse.runs.execution import Execution, Job, Threads
from bestresponse.runs.executors import processes
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import run_study
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water


def play_games(output, executor=None, on_progress=lambda progress: None):
    config = BenchConfig(model=("random",), num_games=40, num_rows=2, num_cols=2)
    how = Execution(executor=executor or Threads(), on_progress=on_progress)
    return run_study(bench_study, config, {}, output, how, NOW)


def list_records(run):
    return sorted((run.path / "records.jsonl").read_text("utf-8").splitlines())


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


def test_plays_come_out_the_same_in_processes_although_a_worker_is_killed(tmp_path):
    one = play_games(tmp_path / "one")
    killed = []

    def kill_one(progress):
        if progress.played == 3 and not killed:
            killed.append(progress.played)
            os.kill(max(list_children()), signal.SIGKILL)

    two = play_games(tmp_path / "two", Processes(2), kill_one)
    assert killed == [3]
    assert (two.outcome.played, two.outcome.complete) == (40, True)
    assert list_records(one) == list_records(two)
    assert list_children() == [], "workers end with the run"


def test_after_an_interrupt_the_same_command_plays_the_rest(tmp_path):
    main = threading.main_thread().ident

    def interrupt(progress):
        if progress.played == 2:
            signal.pthread_kill(main, signal.SIGINT)

    with hear_interrupts(), pytest.raises(KeyboardInterrupt):
        play_games(tmp_path, Processes(1), interrupt)
    again = play_games(tmp_path, Processes(1))
    assert again.outcome.found >= 2
    assert again.outcome.found + again.outcome.played == 40
    assert len(list(again.folder.plays())) == 40


def end_worker():
    os._exit(3)


def test_work_that_ends_three_workers_is_given_up():
    with processes._Workers(1) as workers, pytest.raises(ModelUnavailable, match="3 worker"):
        workers.run(end_worker)


def test_a_worker_ends_when_the_process_that_started_it_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, time\n"
        "from bestresponse.runs.executors.processes import Processes\n"
        "def work(number):\n"
        "    print(os.getpid(), flush=True)\n"
        "    if number:\n"
        "        os.kill(os.getppid(), signal.SIGKILL)\n"
        "        time.sleep(600)\n"
        'if __name__ == "__main__":\n'
        "    list(Processes(1).map(work, [0, 1], None))\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as started:
        # the pipe is at its end once the worker, which has it too, is gone
        said = started.stdout.read().split()
    assert started.returncode == -signal.SIGKILL
    assert len(said) == 2


def test_water_without_models_comes_out_the_same_in_processes(tmp_path):
    config = WaterConfig(
        "need", seat={"Bob": "random", "Cindy": "share:0.5", "Eric": "myopic"}, repeats=40
    )
    one = run_study(water, config, {}, tmp_path / "one", invocation=NOW)
    two = run_study(water, config, {}, tmp_path / "two", Execution(executor=Processes(2)), NOW)
    assert list_records(one) == list_records(two)


def test_a_study_that_is_not_registered_is_not_sent(tmp_path):
    job = Job(br.runs.study.Study("mine", WaterConfig, water.measure, ()), WaterConfig("need"), {})
    with pytest.raises(UsageError, match=r"mine cannot be sent to other processes .*use threads"):
        next(Processes(1).play(job, iter([]), lambda calls, answer: None))


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, BestResponseError)
    ],
)
def test_every_error_survives_the_way_out_of_a_worker(kind):
    raised = kind(*["seed", "is odd"][: 2 if kind is errors.SettingError else 1])
    assert str(pickle.loads(pickle.dumps(raised))) == str(raised)


def test_a_model_behind_a_server_is_asked_by_threads_within_one_budget(tmp_path):
    server = ModelServer()
    config = BenchConfig(model=(server.model,), num_games=8, num_rows=2, num_cols=2)
    try:
        with open_models(config.models, tmp_path, ModelLimits(4, spent="5 calls")) as opened:
            how = Execution(4, executor=Processes(2), shared=opened.shared)
            run = run_study(bench_study, config, opened.models, tmp_path, how, NOW)
    finally:
        server.close()
    assert server.calls == run.outcome.played == 5
    assert run.outcome.stopped.startswith("the next call could exceed the budget")


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from bestresponse.runs.executors.processes import Processes\n"
        "print(list(Processes(1).map(abs, [-1, -2], None)))\n"
    )
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 1
    assert found.stdout == ""
    assert "UsageError: a worker process ended before its work was done" in found.stderr
    assert found.stderr.count("Traceback") == 1
