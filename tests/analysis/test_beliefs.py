"""What beliefs were worth: a proper score, and a loss that is split without a rest."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestresponse as br
from bestresponse.analysis.beliefs import judge_belief
from bestresponse.core.errors import SettingError
from bestresponse.studies.bench.config import BenchConfig

STAG = np.array([[4.0, 0.0], [3.0, 3.0]])
"""Stag or hare, against stag or hare."""


@pytest.mark.parametrize(
    ("answer", "belief", "parts"),
    [
        # The other hunts hares, so that hare earns 3 and stag 0. Who was sure of that and chose
        # stag miscalculated; who was sure of the contrary mispredicted.
        ([1, 0], [0, 1], (0, 3)),
        ([1, 0], [1, 0], (3, 0)),
        ([0, 1], [0, 1], (0, 0)),
        # Hare is no best reply to a stag, and was luckily right.
        ([0, 1], [1, 0], (3, -3)),
        # At 3/4 both replies are best: the answer is one of them, and the belief is to blame.
        ([1, 0], [0.75, 0.25], (3, 0)),
        ([0.5, 0.5], [0.75, 0.25], (1.5, 0)),
        # Half of the answer is a best reply to the belief, and that half is what counts as one.
        ([0.5, 0.5], [1, 0], (3, -1.5)),
    ],
)
def test_a_loss_is_split_at_a_best_reply_to_the_belief(answer, belief, parts):
    judged = judge_belief(
        STAG, np.array(answer, float), np.array(belief, float), np.array([0.0, 1])
    )
    assert (judged.mispredicted, judged.miscalculated) == parts


mixes = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(lambda p: np.array(p) / sum(p))
tables = st.lists(st.integers(-9, 9), min_size=9, max_size=9).map(
    lambda cells: np.array(cells, float).reshape(3, 3)
)


@settings(max_examples=60)
@given(tables, mixes, mixes, mixes)
def test_both_parts_add_up_to_the_regret(payoffs, answer, belief, played):
    judged = judge_belief(payoffs, answer, belief, played)
    worths = payoffs @ played
    regret = worths.max() - worths @ answer
    assert abs(judged.mispredicted + judged.miscalculated - regret) < 1e-9
    assert judged.mispredicted >= 0


@settings(max_examples=60)
@given(mixes, mixes)
def test_the_score_is_proper(belief, truth):
    """Averaged over what is played, nothing scores less than the truth."""

    def expect(stated):
        scores = []
        for played in np.eye(3):
            scores.append(judge_belief(np.zeros((3, 3)), stated, stated, played).score)
        return truth @ scores

    assert expect(truth) <= expect(belief) + 1e-12


def believer(prompt):
    """Expects the first action, says so, and plays the second."""
    if "before you choose your own action" in prompt.lower():
        return "ANSWER: P: 0.9, Q: 0.1"
    return "ANSWER: A: 0, B: 1"


def test_bench_has_an_arm_with_the_question_and_one_without(tmp_path):
    games = [br.NormalForm.zero_sum([[3, 1], [0, n]]) for n in range(2, 8)]
    run = br.bench(believer, games, beliefs=True, theme="neutral", output_dir=tmp_path)
    assert run.config.labels == ("believer", "beliefs:believer")
    rows = run.frame("plays").select(model="beliefs:believer").rows
    assert len(rows) == 6
    for row in rows:
        lost = row["mispredicted"] + row["miscalculated"]
        assert row["gap_normalised"] == pytest.approx(lost, abs=1e-9)
    plain = run.frame("plays").select(model="believer").rows
    assert [row["belief_score"] for row in plain] == [None] * 6
    compared = run.frame("differences").select(comparison="beliefs").rows
    assert [(row["player"], row["against"]) for row in compared] == [
        ("beliefs:believer / mixed", "believer / mixed")
    ] * 2
    # In [[3, 1], [0, 2]] the column player plays P a quarter of the time: 3q + 1 - q = 2 - 2q.
    assert rows[0]["belief_score"] == pytest.approx(2 * (0.9 - 0.25) ** 2)
    replayed = br.load_run(run.path).replay()
    assert (replayed.same, len(replayed.different)) == (12, 0)


def test_a_belief_that_cannot_be_read_is_not_made_up(tmp_path):
    def odd(prompt):
        if "before you choose your own action" in prompt.lower():
            return "ANSWER: P: 0.9, Q: 0.9"
        return "ANSWER: A: 0, B: 1"

    run = br.bench(
        odd,
        [br.NormalForm.zero_sum([[3, 1], [0, 2]])],
        beliefs=True,
        theme="neutral",
        output_dir=tmp_path,
    )
    (row,) = run.frame("plays").select(model="beliefs:odd")
    assert (row["belief_score"], row["mispredicted"], row["status"]) == (None, None, "valid")
    (play,) = [play for play in run.folder.plays() if play.data["model"] == "beliefs:odd"]
    (remark,) = play.record.submissions[0].decision.remarks
    assert remark["belief"] is None
    assert "sum" in remark["how"]


def test_beliefs_of_a_simulation_are_scored_by_what_was_played(tmp_path):
    def hunter(prompt):
        if "before you choose your own action" in prompt.lower():
            return "ANSWER: stag: 0.9, hare: 0.1"
        return "ANSWER: stag"

    model = br.runs.ModelSetting.convert(hunter, False)
    run = br.simulate(
        "stag-hunt",
        seat={"row": type(model)("beliefs:hunter", model.model), "col": "always:hare"},
        repeats=2,
        reasons=False,
        output_dir=tmp_path,
    )
    figures = run.metrics.groups[0][1]
    # (0.9 - 0)^2 + (0.1 - 1)^2; stag earns 0 where hare earns 3.
    assert figures["belief_score"].estimate == pytest.approx(1.62)
    assert (figures["mispredicted"].estimate, figures["miscalculated"].estimate) == (3.0, 0.0)
    assert run.metrics.groups[1][1]["belief_score"] is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"model": "beliefs:random"},
            "model: random gives no reasons that could be verified, and no beliefs",
        ),
        ({"model": "m", "game": "kuhn-poker", "beliefs": True}, "model: beliefs are asked for"),
        ({"model": "m", "elicit": "sampled", "beliefs": True}, "elicit: sampled leaves no room"),
    ],
)
def test_where_nothing_can_be_expected_is_said(given, sentence):
    with pytest.raises(SettingError) as error:
        BenchConfig(**given)
    assert str(error.value).startswith(sentence)
