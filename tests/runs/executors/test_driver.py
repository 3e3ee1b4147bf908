"""Handing out plays to workers, beside workers that are no processes."""

import queue
from types import SimpleNamespace

import pytest

from bestresponse.core.episode import Submission
from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.player import Decision
from bestresponse.runs.executors import driver as driver_module
from bestresponse.runs.executors.base import Ended, Job, Task
from bestresponse.runs.executors.driver import Driver
from bestresponse.runs.executors.worker import WorkerJob
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import encode_answer
from bestresponse.studies.water.study import WaterConfig, water

TASKS = [Task(Spec(f"play-{number}", {}), []) for number in range(20)]
JOB = Job(water, WaterConfig("need"), {})
ANSWER = Submission("row", Decision("A"))


class FastWorker:
    """Ends every list of plays at once, by one list of messages; the first `dies` plays it only begins."""

    def __init__(self, dies=0):
        self.given = []
        self.dies = dies
        self.said = queue.SimpleQueue()
        self.said.put([("ready",)])

    def send(self, messages):
        plays = [message[1] for message in messages if message[0] == "play"]
        self.given += [plays] if plays else []
        if plays and self.dies:
            self.said.put([("kept", plays[0].spec.id, *encode_answer(plays[0].spec.id, ANSWER))])
            self.said.put(None)
        elif plays:
            self.said.put([("ended", task.spec.id, b"line", None) for task in plays])

    def recv(self):
        messages = self.said.get(timeout=60)
        if messages is None:
            raise EOFError
        return messages

    def close(self, patience):
        self.said.put(None)


def drive(links, threads, tasks):
    kept = []
    connect = iter(links)
    driver = Driver(JOB, lambda index: next(connect), 1, threads)
    return list(driver.play(iter(tasks), lambda calls, answer: kept.append(answer))), kept


def test_messages_carry_many_plays_and_a_fast_worker_has_more_at_hand_than_it_has_threads(monkeypatch):
    monkeypatch.setattr(driver_module, "time", SimpleNamespace(monotonic=lambda: 0.0))
    worker = FastWorker()
    ended, _ = drive([worker], 4, TASKS)
    assert [one.spec.id for one in ended] == [task.spec.id for task in TASKS]
    assert {one.line for one in ended} == {b"line"}
    assert [len(plays) for plays in worker.given] == [4, 8, 8]


def test_a_play_of_a_lost_worker_goes_on_from_its_answers():
    second = FastWorker()
    ended, kept = drive([FastWorker(dies=1), second], 1, TASKS[:1])
    assert ended == [Ended(TASKS[0].spec, b"line")]
    assert kept == [encode_answer("play-0", ANSWER)[1]]
    assert second.given == [[Task(TASKS[0].spec, [ANSWER])]]


def test_workers_that_never_get_ready_end_the_run_with_their_reason():
    class Broken(FastWorker):
        def recv(self):
            raise EOFError("no module named bestresponse")

    with pytest.raises(ModelUnavailable, match="5 workers in a row ended before they could play: no module named"):
        drive([Broken() for _ in range(6)], 1, TASKS)


class TalkingWorker(FastWorker):
    """Gives two answers in every play, and ends it where it is to."""

    def __init__(self, ends):
        super().__init__()
        self.ends = ends

    def send(self, messages):
        for kind, *rest in messages:
            if kind == "play":
                spec = rest[0].spec.id
                answer = ("kept", spec, *encode_answer(spec, ANSWER))
                self.said.put([answer, answer, *([("ended", spec, b"line", None)] if self.ends else [])])


def interrupt_first(answers):
    """A way to keep answers that is interrupted at the first one."""

    def keep(calls, answer):
        answers.append(answer)
        if len(answers) == 1:
            raise KeyboardInterrupt

    return keep


def test_an_interrupt_lets_plays_end_and_is_raised_again():
    plays = Driver(JOB, lambda index: TalkingWorker(ends=True), 1, 1).play(iter(TASKS), interrupt_first([]))
    assert next(plays) == Ended(TASKS[0].spec, b"line")
    with pytest.raises(KeyboardInterrupt):
        next(plays)


def test_a_second_interrupt_waits_for_nothing():
    def interrupt(calls, answer):
        raise KeyboardInterrupt

    plays = Driver(JOB, lambda index: TalkingWorker(ends=False), 1, 1).play(iter(TASKS), interrupt)
    with pytest.raises(KeyboardInterrupt):
        next(plays)


def test_tasks_may_come_later():
    ended, _ = drive([FastWorker()], 1, [None, TASKS[0], None, TASKS[1]])
    assert [one.spec.id for one in ended] == ["play-0", "play-1"]


def test_places_at_a_provider_are_shared_out_where_there_is_one_for_every_worker():
    wide, narrow, own = ("openai", "a"), ("openai", "b"), ("local", "x")
    work = WorkerJob(None, None, None, 1, {wide: 8, narrow: 2, own: 1})
    shares = [work.share_places(index, 3).places for index in range(3)]
    assert [share[wide] for share in shares] == [2, 3, 3]
    assert all(narrow not in share and share[own] == 1 for share in shares)
