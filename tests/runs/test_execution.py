import threading
from functools import partial
from itertools import islice

import pytest

from bestresponse.core import Decision
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import ModelUnavailable, OverBudget, StoreError
from bestresponse.runs import Manifest, RunFolder, Spec, execution
from bestresponse.runs.execution import Ended, play_in_threads, play_task
from bestresponse.runs.store.folder import Shard, StoredPlay, encode_plays

SPECS = [Spec.of({"n": n}) for n in range(20)]


def execute(specs, play_one, folder, workers=1, **options):
    def start(tasks, keep):
        return play_in_threads(partial(play_task, play_one), workers, tasks, keep)

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
    assert (outcome.played, outcome.failed, outcome.failures, outcome.complete) == (
        17,
        3,
        ["gone"],
        False,
    )
    assert execute(SPECS, playing(), folder).played == 3


def test_too_many_failures_in_a_row_stop_the_run(folder):
    outcome = execute(SPECS, playing(lambda n: ModelUnavailable("down")), folder, patience=5)
    assert outcome.failed == 5
    assert outcome.stopped == "5 plays in a row failed: down"


def test_failures_that_a_success_interrupts_are_not_in_a_row(folder):
    # Three of four plays fail: 15 failures in all, never more than three in a row.
    outcome = execute(
        SPECS, playing(lambda n: ModelUnavailable("flaky") if n % 4 else None), folder, patience=4
    )
    assert (outcome.played, outcome.failed, outcome.stopped) == (5, 15, "")


def test_a_spent_budget_stops_the_run_and_keeps_what_was_finished(folder):
    outcome = execute(SPECS, playing(lambda n: OverBudget("spent") if n == 6 else None), folder)
    assert (outcome.played, outcome.stopped) == (6, "spent")
    assert len(folder.finished()) == 6


def test_errors_that_are_no_failures_of_a_model_are_not_swallowed(folder):
    with pytest.raises(ZeroDivisionError):
        execute(SPECS, playing(lambda n: ZeroDivisionError()), folder)


def test_a_run_ends_early_when_told_that_it_is_enough(folder):
    outcome = execute(
        SPECS, playing(), folder, enough=lambda spec, record: record.payoffs["row"] >= 4
    )
    assert (outcome.played, outcome.complete) == (5, True)


def test_begun_plays_go_on_from_their_submissions(folder):
    folder.submit(SPECS[2].id, Submission("row", Decision("A")))
    seen = []
    execute(
        SPECS[:4],
        lambda spec, done, keep: seen.append(len(done)) or playing()(spec, done, keep),
        folder,
    )
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
    assert (
        Spec.of({"a": 1, "b": 2}).id == Spec.of({"b": 2, "a": 1}).id != Spec.of({"a": 1, "b": 3}).id
    )


def ending(*ends):
    """A start whose plays, begun at once, end in order: with an error, with nothing, or with a
    record ("played")."""

    def start(tasks, keep):
        for task, end in zip(list(islice(tasks, len(ends))), ends, strict=True):
            record = Record("g", 1, {}, (), {})
            line = (
                encode_plays([StoredPlay(task.spec.id, task.spec.data, record)])
                if end == "played"
                else None
            )
            yield Ended(task.spec, line, end if isinstance(end, Exception) else None)

    return start


def test_the_first_reason_to_stop_is_the_one_that_is_told(folder):
    down, spent = ModelUnavailable("down"), OverBudget("spent")
    ends = (spent, OverBudget("spent again"), StoreError("the disk is full"), down)
    budget = execution.execute(SPECS, ending(*ends), folder, patience=1)
    assert (budget.stopped, budget.failed) == ("spent", 1)
    assert (
        execution.execute(SPECS, ending(down, spent), folder, patience=1).stopped
        == "1 plays in a row failed: down"
    )


def test_ten_failures_in_a_row_stop_a_run_unless_told_otherwise(folder):
    down = ModelUnavailable("down")
    nine = execution.execute(SPECS, ending(*[down] * 9, "played", *[down] * 9), folder)
    assert (nine.failed, nine.played, nine.stopped) == (18, 1, "")
    more = execution.execute(SPECS, ending(*[down] * 11), folder)
    assert (more.failed, more.stopped) == (11, "10 plays in a row failed: down")


def test_every_reason_of_a_failure_is_told_once(folder):
    errors = [ModelUnavailable(why) for why in ("gone", "busy", "gone")]
    assert execution.execute(SPECS, ending(*errors), folder).failures == ["gone", "busy"]


def test_a_play_that_ends_with_nothing_is_a_mistake_of_ours(folder):
    with pytest.raises(RuntimeError, match="neither a record nor an error"):
        execution.execute(SPECS, ending(None), folder)


def test_only_records_are_asked_whether_they_are_enough_and_a_spent_budget_stays_the_reason(folder):
    asked = []
    ends = (ModelUnavailable("gone"), "played", OverBudget("spent"))
    outcome = execution.execute(
        SPECS, ending(*ends), folder, enough=lambda spec, record: asked.append(spec.data["n"])
    )
    assert (asked, outcome.stopped, outcome.played, outcome.failed) == ([1], "spent", 1, 1)


def test_one_play_at_a_time_and_all_of_them_unless_told_otherwise():
    how = execution.Execution()
    assert (how.workers, list(how.choose(SPECS))) == (1, SPECS)
    parts = [list(execution.Execution(shard=Shard(number, 2)).choose(SPECS)) for number in (1, 2)]
    assert 0 < len(parts[0]) < 20
    assert sorted(spec.id for part in parts for spec in part) == sorted(spec.id for spec in SPECS)


def test_progress_counts_what_was_found_played_and_failed(folder):
    execution.execute(SPECS[:2], ending("played", "played"), folder)
    told = []
    ends = ("played", ModelUnavailable("gone"))
    execution.execute(SPECS, ending(*ends), folder, total=20, on_progress=told.append)
    assert [(p.total, p.found, p.played, p.failed) for p in told] == [(20, 2, 1, 0), (20, 2, 1, 1)]
