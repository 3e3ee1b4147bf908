"""Medians and agreement of judges by hand, and which levels they may give."""

import numpy as np
import pytest
import sample_runs

from bestresponse.core.errors import UsageError
from bestresponse.web.services.judging import (
    JudgedItem,
    JudgingStore,
    JudgingTask,
    Score,
    _check_levels,
    draw_transcripts,
    read_items,
    tabulate_agreement,
)

ITEMS = tuple(JudgedItem(name, "words") for name in "abcd")


def judge(rubric, **levels):
    """A table of the agreement of judges, each with the levels it gave to the items; None where it
    gave none."""
    task = JudgingTask("1f", "title", rubric, ITEMS, tuple(levels))
    key = task.criteria[-1].key
    scores = [
        Score(name, item.id, {key: level})
        for name, given in levels.items()
        for item, level in zip(ITEMS, given, strict=True)
        if level is not None
    ]
    return tabulate_agreement(task, scores).rows[-1]


def test_two_judges_who_differ_once_agree_by_half_beyond_chance():
    _, scores, median, alpha, kappa, icc = judge("verdicts", ann=[1, 1, 2, 2], ben=[1, 2, 2, 2])
    # Of 1, 1, 1, 2, 2, 2, 2, 2 the fourth and fifth are 2.
    assert (scores, median, icc) == (8, 2.0, None)
    # They agree on three of four items; by chance they would with (3/8)^2 + (5/8)^2 = 17/32.
    assert kappa == pytest.approx((3 / 4 - 17 / 32) / (1 - 17 / 32))
    # Of eight scores two stand beside another one; of all pairs of scores 2 * 3 * 5 of 8 * 7
    # differ.
    assert alpha.estimate == pytest.approx(1 - (2 / 8) / (30 / 56))
    assert (alpha.n, alpha.high, alpha.level) == (4, 1.0, 0.95)
    assert alpha.low < alpha.estimate


def test_an_item_that_one_judge_left_out_counts_for_the_median_alone():
    _, scores, median, alpha, kappa, _ = judge("verdicts", ann=[1, 1, 2, 2], ben=[1, 2, 2, None])
    assert (scores, median, alpha.n) == (7, 2.0, 3)
    # On the other three: agreement on two, one half by chance.
    assert kappa == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))


def test_judges_who_agree_on_levels_in_order_agree_wholly():
    _, scores, median, alpha, kappa, icc = judge("play", ann=[1, 2, 3, 4], ben=[1, 2, 3, 4])
    assert (scores, median) == (8, 2.5)
    assert (alpha.low, alpha.estimate, alpha.high) == (1.0, 1.0, 1.0)
    assert (kappa, icc) == (1.0, pytest.approx(1.0))


def test_a_single_judge_has_a_median_and_no_agreement():
    assert judge("verdicts", ann=[1, 1, 1, 2])[1:] == (4, 1.0, None, None, None)


def test_a_criterion_that_nobody_scored_has_neither():
    assert judge("verdicts", ann=[None] * 4)[1:] == (0, None, None, None, None)


def test_a_level_is_a_whole_number_of_the_scale():
    task = JudgingTask("1f", "title", "verdicts", ITEMS, ("ann",))
    levels, wrong = _check_levels(task, {"reading": " 2 ", "verdict": "1"})
    assert (levels, wrong) == ({"reading": 2, "verdict": 1}, {})
    for text in ("0", "3", "-1", "1.5", "", "٢", "9" * 20):
        levels, wrong = _check_levels(task, {"reading": text, "verdict": "1"})
        assert (levels, wrong) == ({"verdict": 1}, {"reading": "Choose a level from 1 to 2."}), text


def test_every_judge_sees_all_items_in_an_order_of_its_own():
    items = tuple(JudgedItem(str(number), "") for number in range(20))
    task = JudgingTask("1f", "title", "verdicts", items, ("ann", "ben"))
    orders = [[item.id for item in task.order(judge)] for judge in (0, 1)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(item.id for item in items)
    assert orders[0] == [item.id for item in task.order(0)]


@pytest.mark.parametrize(("count", "fits"), [(0, False), (1, True), (1000, True), (1001, False)])
def test_a_task_has_one_to_a_thousand_items(count, fits):
    items = tuple(JudgedItem(str(number), "") for number in range(count))
    if fits:
        assert len(JudgingTask("1f", "title", "verdicts", items, ("ann",)).items) == count
    else:
        with pytest.raises(UsageError, match=f"{count} transcripts: expected 1 to 1000"):
            JudgingTask("1f", "title", "verdicts", items, ("ann",))


def test_items_without_a_name_are_numbered():
    assert [item.id for item in read_items("item,text\nfirst,a\n,b\n")] == ["first", "2"]


def test_samples_in_which_all_agree_count_as_full_agreement():
    """A single disagreement among six is left out of many samples, whose alpha is then not
    defined."""
    task = JudgingTask(
        "1f", "t", "verdicts", tuple(JudgedItem(str(k), "") for k in range(6)), ("ann", "ben")
    )
    levels = {(name, str(k)): 1 for name in ("ann", "ben") for k in range(6)} | {("ben", "0"): 2}
    scores = [Score(name, item, {"verdict": level}) for (name, item), level in levels.items()]
    alpha = tabulate_agreement(task, scores).rows[-1][3]
    # (5/6)^6 = 0.33 of the samples
    assert alpha.high == 1.0
    assert np.isfinite(alpha.low)


class Notebook:
    """A journal that keeps nothing."""

    def read_events(self, *kinds):
        return []

    def append_event(self, kind, **about):
        return {"event": kind, **about}


def test_a_sheet_is_kept_where_judge_item_and_levels_are_known():
    store = JudgingStore(Notebook())
    task = store.begin("title", "verdicts", ITEMS, ("ann", "ben"))
    head = "judge,item,reading,verdict,remark\n"
    store.give_sheet(task, head + "ann,a,1,2,odd\nben,a,,,\n")
    (score,) = store.scores(task.id)
    assert (score.judge, score.item, score.levels, score.remark) == (
        "ann",
        "a",
        {"reading": 1, "verdict": 2},
        "odd",
    )
    for line in ("ann,z,1,2,", "zoe,a,1,2,"):
        with pytest.raises(UsageError, match="line 2: there is no judge"):
            store.give_sheet(task, f"{head}{line}\n")
    with pytest.raises(UsageError, match="line 2, reading: Choose a level from 1 to 2"):
        store.give_sheet(task, f"{head}ann,a,3,2,\n")
    # A score given again takes the place of the first, in the sheet too.
    store.give_sheet(task, head + "ann,a,2,2,\n")
    assert [score.levels["reading"] for score in store.scores(task.id)] == [2]
    rows = store.make_sheet(task).splitlines()
    assert (len(rows), rows[1].split(",")[:4]) == (1 + 2 * 4, ["ann", "a", "2", "2"])


def test_transcripts_and_their_answers_are_numbered_from_1(tmp_path):
    folder = sample_runs.verify_run(tmp_path).folder
    items = draw_transcripts(folder, 2, 1, "", silent=False)
    assert [item.id for item in items] == ["T1", "T2"]
    assert all("\n\nAnswer 1\n" in item.text and "Answer 0" not in item.text for item in items)


def test_a_transcript_tells_before_an_answer_what_the_rules_have_not_told(tmp_path):
    single = draw_transcripts(
        sample_runs.simulate_run(tmp_path / "single").folder, 1, 1, "", silent=True
    )[0].text
    # Nothing happens before the only answer to a table.
    assert "\n\nAnswer 1\nAnswered: " in single
    days = draw_transcripts(sample_runs.water_run(tmp_path / "days").folder, 1, 1, "", silent=True)[
        0
    ].text
    assert "\n\nAnswer 1\n" in days
    assert "\n\nAnswer 1\nAnswered: " not in days


def test_a_remark_is_kept_up_to_2000_characters():
    store = JudgingStore(Notebook())
    task = store.begin("title", "verdicts", ITEMS, ("ann", "ben"))
    store.judge(task, 0, "a", {"reading": "1", "verdict": "2"}, f" {'x' * 2001} ")
    store.give_sheet(task, f"judge,item,reading,verdict,remark\nben,a,1,2,{'y' * 2001}\n")
    assert [score.remark for score in store.scores(task.id)] == ["x" * 2000, "y" * 2000]


@pytest.mark.parametrize(
    ("items", "judges", "sentence"),
    [
        (ITEMS, (), "expected the names of the judges, at least one and all different"),
        (ITEMS, ("ann", "ann"), "expected the names of the judges, at least one and all different"),
        (ITEMS * 2, ("ann",), "two transcripts have the same name"),
        ((), ("ann",), "0 transcripts: expected 1 to 1000"),
        (
            tuple(JudgedItem(str(k), "") for k in range(1001)),
            ("ann",),
            "1001 transcripts: expected 1 to 1000",
        ),
    ],
)
def test_a_task_without_different_judges_and_transcripts_is_refused(items, judges, sentence):
    with pytest.raises(UsageError, match=sentence):
        JudgingTask("1f", "title", "verdicts", items, judges)


def test_a_task_takes_1000_transcripts_and_one_judge():
    items = tuple(JudgedItem(str(k), "") for k in range(1000))
    assert len(JudgingTask("1f", "title", "verdicts", items, ("ann",)).items) == 1000


def test_names_of_transcripts_are_cut_at_80_characters_and_their_texts_at_50000():
    (item,) = read_items(f"item,text\n{'n' * 81},{'t' * 50_001}\n")
    assert (len(item.id), len(item.text)) == (80, 50_000)
