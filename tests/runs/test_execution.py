import threading

import pytest

from bestresponse.core import Decision, Submission
from bestresponse.core.episode import Record
from bestresponse.core.errors import ModelUnavailable, OverBudget
from bestresponse.runs import Manifest, RunFolder, Spec, execution
from bestresponse.runs.executors.threads import play_in_threads

SPECS = [Spec.of({"n": n}) for n in range(20)]


def execute(specs, play_one, folder, workers=1, **options):
    def start(tasks, keep):
        return play_in_threads(play_one, workers, tasks, keep)

    return execution.execute(specs, start, folder, **options)


@pytest.fixture
def folder(tmp_path):
    with RunFolder.open(tmp_path, Manifest("r", "test", {})) as opened:
        yield opened


def playing(fail=lambda n: None):
    def play_one(spec, done, keep):
        error = fail(spec.data["n"])
        if error:
            raise error
        submission = Submission("row", Decision("A"))
        if not done:
            keep(submission)
        return Record("g", 1, {}, (submission,), {"row": float(spec.data["n"])})

    return play_one


@pytest.mark.parametrize("workers", [1, 4])
def test_everything_is_played_once_and_a_second_run_plays_nothing(folder, workers):
    first = execute(SPECS, playing(), folder, workers=workers)
    second = execute(SPECS, playing(), folder, workers=workers)
    assert (first.played, first.found, second.played, second.found) == (20, 0, 0, 20)
    assert sorted(p.data["n"] for p in folder.plays()) == list(range(20))


def test_a_spec_named_twice_is_played_once(folder):
    assert execute([*SPECS, *SPECS], playing(), folder).played == 20


def test_failed_plays_leave_no_record_and_are_tried_again(folder):
    flaky = playing(lambda n: ModelUnavailable("gone") if n % 7 == 3 else None)
    outcome = execute(SPECS, flaky, folder)
    assert (outcome.played, outcome.failed, outcome.failures, outcome.complete) == (17, 3, ["gone"], False)
    assert execute(SPECS, playing(), folder).played == 3


def test_too_many_failures_in_a_row_stop_the_run(folder):
    outcome = execute(SPECS, playing(lambda n: ModelUnavailable("down")), folder, patience=5)
    assert outcome.failed == 5
    assert outcome.stopped == "5 plays in a row failed: down"


def test_failures_that_a_success_interrupts_are_not_in_a_row(folder):
    # Three of four plays fail: 15 failures in all, never more than three in a row.
    outcome = execute(SPECS, playing(lambda n: ModelUnavailable("flaky") if n % 4 else None), folder, patience=4)
    assert (outcome.played, outcome.failed, outcome.stopped) == (5, 15, "")


def test_a_spent_budget_stops_the_run_and_keeps_what_was_finished(folder):
    outcome = execute(SPECS, playing(lambda n: OverBudget("spent") if n == 6 else None), folder)
    assert (outcome.played, outcome.stopped) == (6, "spent")
    assert len(folder.finished()) == 6


def test_errors_that_are_no_failures_of_a_model_are_not_swallowed(folder):
    with pytest.raises(ZeroDivisionError):
        execute(SPECS, playing(lambda n: ZeroDivisionError()), folder)


def test_a_run_ends_early_when_told_that_it_is_enough(folder):
    outcome = execute(SPECS, playing(), folder, enough=lambda spec, record: record.payoffs["row"] >= 4)
    assert (outcome.played, outcome.complete) == (5, True)


def test_begun_plays_go_on_from_their_submissions(folder):
    folder.submit(SPECS[2].id, Submission("row", Decision("A")))
    seen = []
    execute(SPECS[:4], lambda spec, done, keep: seen.append(len(done)) or playing()(spec, done, keep), folder)
    assert seen == [0, 0, 1, 0]


def test_as_many_plays_are_under_way_as_there_are_workers(folder):
    """Five plays wait for each other: were there fewer at once, they would wait for ever."""
    now, most, lock = [0], [0], threading.Lock()
    together = threading.Barrier(5, timeout=300)

    def counted(spec, done, keep):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        together.wait()
        try:
            return playing()(spec, done, keep)
        finally:
            with lock:
                now[0] -= 1

    execute(SPECS, counted, folder, workers=5)
    assert most[0] == 5


def test_progress_is_told_after_every_play(folder):
    told = []
    execute(SPECS, playing(), folder, total=20, on_progress=told.append)
    assert [p.played for p in told] == list(range(1, 21))
    assert told[-1].total == 20


def test_equal_data_have_equal_ids_whatever_the_order_of_keys():
    assert Spec.of({"a": 1, "b": 2}).id == Spec.of({"b": 2, "a": 1}).id != Spec.of({"a": 1, "b": 3}).id
