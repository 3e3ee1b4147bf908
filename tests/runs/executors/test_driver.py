"""Handing out plays to workers, beside workers that are no processes."""

import queue
from types import SimpleNamespace

import pytest

from bestresponse.core.episode import Submission
from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.player import Decision
from bestresponse.models.base import Reply, ask
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.models.wrappers.limits import Retried
from bestresponse.runs.execution import Ended, Job, Task
from bestresponse.runs.executors import driver as driver_module
from bestresponse.runs.executors.driver import Driver
from bestresponse.runs.models import Opening, SharedCalls, _ByName
from bestresponse.runs.store.folder import Spec, encode_answer
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water

TASKS = [Task(Spec(f"play-{number}", {}), []) for number in range(20)]
JOB = Job(water, WaterConfig("need"), {})
ANSWER = Submission("row", Decision("A"))


class FastWorker:
    """Ends every list of plays at once, by one list of messages; the first `dies` plays it only
    begins."""

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
    driver = Driver(JOB, lambda: next(connect), 1, threads)
    return list(driver.play(iter(tasks), lambda calls, answer: kept.append(answer))), kept


def test_messages_carry_many_plays_and_a_fast_worker_has_more_at_hand_than_it_has_threads(
    monkeypatch,
):
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

    with pytest.raises(
        ModelUnavailable, match="5 workers in a row ended before they could play: no module named"
    ):
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
                self.said.put(
                    [answer, answer, *([("ended", spec, b"line", None)] if self.ends else [])]
                )


def interrupt_first(answers):
    """A way to keep answers that is interrupted at the first one."""

    def keep(calls, answer):
        answers.append(answer)
        if len(answers) == 1:
            raise KeyboardInterrupt

    return keep


def test_an_interrupt_lets_plays_end_and_is_raised_again():
    plays = Driver(JOB, lambda: TalkingWorker(ends=True), 1, 1).play(
        iter(TASKS), interrupt_first([])
    )
    assert next(plays) == Ended(TASKS[0].spec, b"line")
    with pytest.raises(KeyboardInterrupt):
        next(plays)


def test_a_second_interrupt_waits_for_nothing():
    def interrupt(calls, answer):
        raise KeyboardInterrupt

    plays = Driver(JOB, lambda: TalkingWorker(ends=False), 1, 1).play(iter(TASKS), interrupt)
    with pytest.raises(KeyboardInterrupt):
        next(plays)


def test_tasks_may_come_later():
    ended, _ = drive([FastWorker()], 1, [None, TASKS[0], None, TASKS[1]])
    assert [one.spec.id for one in ended] == ["play-0", "play-1"]


class DyingWorker(FastWorker):
    """Ends `ends` plays one by one and is lost with the next."""

    def __init__(self, ends=0):
        super().__init__()
        self.ends = ends

    def send(self, messages):
        for kind, *rest in messages:
            if kind == "play":
                self.ends -= 1
                self.said.put(
                    [("ended", rest[0].spec.id, b"line", None)] if self.ends >= 0 else None
                )


def test_a_play_is_given_up_after_three_workers_that_ended_nothing():
    (ended,), _ = drive([DyingWorker(), DyingWorker(), DyingWorker(), FastWorker()], 1, TASKS[:1])
    assert str(ended.error) == "workers were lost again and again while they played play-0"


def test_being_there_when_workers_are_killed_counts_a_tenth():
    workers = [DyingWorker(ends=1), *(DyingWorker() for _ in range(2)), FastWorker()]
    ended, _ = drive(workers, 1, TASKS[:2])
    assert [(one.spec.id, one.line) for one in ended] == [("play-0", b"line"), ("play-1", b"line")]


class CallingWorker(FastWorker):
    """Asks for a reply in every play, makes the calls it is sent, and is lost at the first one
    where it `dies`."""

    def send(self, messages):
        for kind, *rest in messages:
            match kind:
                case "play":
                    self.play = rest[0].spec.id
                    self.said.put([("ask", -7, "mine", ask("What?"))])
                case "make" if self.dies:
                    self.said.put(None)
                case "make":
                    self.reply = Reply(f"call {rest[0]} says so")
                    self.said.put([("called", rest[0], self.reply, None)])
                case "answer":
                    reply = rest[1] or self.reply  # none is sent back to the worker that made it
                    self.said.put([("ended", self.play, reply.text.encode(), rest[2])])


def drive_calls(*workers):
    shared = SharedCalls(Opening(("mine",)), local=False)
    model = Retried(
        _ByName(ScriptedModel(lambda request: "here"), "mine", shared), sleep=lambda seconds: None
    )
    connect = iter(workers)
    job = Job(water, WaterConfig("need"), {"mine": model}, shared=shared)
    ended = list(
        Driver(job, lambda: next(connect), 1, 1).play(iter(TASKS[:1]), lambda calls, answer: None)
    )
    return [play.line for play in ended], model.complete(ask("And now?")).text


def test_a_worker_makes_the_call_that_a_play_asks_the_driver_for_and_afterwards_calls_are_made_here():
    assert drive_calls(CallingWorker()) == ([b"call -7 says so"], "here")


def test_the_call_of_a_lost_worker_is_made_by_the_one_that_plays_instead():
    assert drive_calls(CallingWorker(dies=1), CallingWorker()) == ([b"call -7 says so"], "here")
