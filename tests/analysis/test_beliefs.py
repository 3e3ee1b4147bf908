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
    assert (judged["mispredicted"], judged["misread"], judged["miscalculated"]) == (
        parts[0],
        None,
        parts[1],
    )


SWAPPED = np.array([[3.0, 3.0], [4.0, 0.0]])
"""Stag and hare mistaken for each other."""


@pytest.mark.parametrize(
    ("answer", "belief", "read", "parts"),
    [
        # The other hunts hares. Who is sure of that and reads its payoffs in the wrong order
        # finds stag best, and loses 3 by reading alone.
        ([1, 0], [0, 1], SWAPPED, (0, 3, 0)),
        # Hare is no best reply by what it read: a wrong reply that was luckily right.
        ([0, 1], [0, 1], SWAPPED, (0, 3, -3)),
        # A wrong belief, read wrongly: hare is best by both mistakes together.
        ([0, 1], [1, 0], SWAPPED, (3, -3, 0)),
        # A wrong number that changes no reply costs nothing.
        ([1, 0], [0, 1], np.array([[5.0, 1.0], [3.0, 3.0]]), (0, 0, 3)),
        # At 3/4 both are best by the rules, and only hare by what was read, 2 for a stag: both
        # are right replies, so reading is not to blame, and hare loses nothing.
        ([0, 1], [0.75, 0.25], np.array([[2.0, 0.0], [3.0, 3.0]]), (0, 0, 0)),
        ([1, 0], [0.75, 0.25], np.array([[2.0, 0.0], [3.0, 3.0]]), (0, 0, 3)),
        # Where all is read as worth the same, every answer is a right reply to what was read.
        ([1, 0], [0, 1], np.zeros((2, 2)), (0, 3, 0)),
    ],
)
def test_a_loss_is_split_at_what_was_read(answer, belief, read, parts):
    judged = judge_belief(
        STAG, np.array(answer, float), np.array(belief, float), np.array([0.0, 1]), read
    )
    assert (judged["mispredicted"], judged["misread"], judged["miscalculated"]) == parts


mixes = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(lambda p: np.array(p) / sum(p))
tables = st.lists(st.integers(-9, 9), min_size=9, max_size=9).map(
    lambda cells: np.array(cells, float).reshape(3, 3)
)


@settings(max_examples=60)
@given(tables, mixes, mixes, mixes, st.none() | tables)
def test_the_parts_add_up_to_the_regret(payoffs, answer, belief, played, read):
    judged = judge_belief(payoffs, answer, belief, played, read)
    worths = payoffs @ played
    regret = worths.max() - worths @ answer
    parts = judged["mispredicted"] + (judged["misread"] or 0.0) + judged["miscalculated"]
    assert abs(parts - regret) < 1e-9
    assert judged["mispredicted"] >= 0


@settings(max_examples=60)
@given(tables, mixes, mixes, mixes)
def test_who_read_the_rules_right_misread_nothing(payoffs, answer, belief, played):
    asked = judge_belief(payoffs, answer, belief, played, payoffs)
    assert asked == judge_belief(payoffs, answer, belief, played) | {"misread": 0.0}


@settings(max_examples=60)
@given(mixes, mixes)
def test_the_score_is_proper(belief, truth):
    """Averaged over what is played, nothing scores less than the truth."""

    def expect(stated):
        scores = []
        for played in np.eye(3):
            scores.append(judge_belief(np.zeros((3, 3)), stated, stated, played)["belief_score"])
        return truth @ scores

    assert expect(truth) <= expect(belief) + 1e-12


READING = "what do the rules pay you?"


def believer(prompt):
    """Expects the first action, says so, and plays the second, as if its payoffs were swapped."""
    if READING in prompt:
        assert "before you choose your own action" not in prompt.lower()
        assert '{"A, P": <number>, "A, Q": <number>, ' in prompt
        return 'ANSWER: {"A, P": 0, "A, Q": 2, "B, P": 3, "B, Q": 1}'
    if "before you choose your own action" in prompt.lower():
        return "ANSWER: P: 0.9, Q: 0.1"
    return "ANSWER: A: 0, B: 1"


def test_bench_has_an_arm_with_the_question_and_one_without(tmp_path):
    games = [br.NormalForm.zero_sum([[3, 1], [0, n]]) for n in (*range(2, 8), -1)]
    run = br.bench(believer, games, beliefs=True, theme="neutral", output_dir=tmp_path)
    assert run.config.labels == ("believer", "beliefs:believer")
    rows = run.frame("plays").select(model="beliefs:believer").rows
    assert len(rows) == 7
    for row in rows:
        lost = row["mispredicted"] + row["misread"] + row["miscalculated"]
        assert row["gap_normalised"] == pytest.approx(lost, abs=1e-9)
    # In [[3, 1], [0, -1]] the other plays Q. B, which is best by the payoffs read, loses 2 of a
    # range of 4 there; A is best by the rules whatever is expected.
    parts = (rows[6]["mispredicted"], rows[6]["misread"], rows[6]["miscalculated"])
    assert parts == (0.0, 0.5, 0.0)
    plain = run.frame("plays").select(model="believer").rows
    assert [row["belief_score"] for row in plain] == [None] * 7
    compared = run.frame("differences").select(comparison="beliefs").rows
    assert [(row["player"], row["against"]) for row in compared] == [
        ("beliefs:believer / mixed", "believer / mixed")
    ] * 2
    # In [[3, 1], [0, 2]] the column player plays P a quarter of the time: 3q + 1 - q = 2 - 2q.
    assert rows[0]["belief_score"] == pytest.approx(2 * (0.9 - 0.25) ** 2)
    replayed = br.load_run(run.path).replay()
    assert (replayed.same, len(replayed.different)) == (14, 0)


def test_a_belief_that_cannot_be_read_is_not_made_up(tmp_path):
    def odd(prompt):
        if READING in prompt:
            return 'ANSWER: {"A, P": 0, "A, Q": 2}'
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
    read, expected = play.record.submissions[0].decision.remarks
    assert (read["payoffs"], expected["belief"]) == ([], None)
    assert "'B, P' is missing" in read["how"]
    assert "sum" in expected["how"]


def test_beliefs_of_a_simulation_are_scored_by_what_was_played(tmp_path):
    asked = []

    def hunter(prompt):
        if READING in prompt:
            asked.append(prompt)
            return (
                """ANSWER: {"stag, stag": 4, "stag, hare": 0, "hare, stag": 9, "hare, hare": 3}"""
            )
        if "before you choose your own action" in prompt.lower():
            return "ANSWER: stag: 0.9, hare: 0.1"
        return "ANSWER: stag"

    model = br.runs.ModelSetting.convert(hunter, False)
    run = br.simulate(
        "stag-hunt",
        seat={"row": type(model)("beliefs:hunter", model.model), "col": "always:hare"},
        repeats=2,
        rounds=3,
        reasons=False,
        output_dir=tmp_path,
    )
    figures = run.metrics.groups[0][1]
    # The rules are asked about once per play, before its first round.
    assert len(asked) == 2
    # (0.9 - 0)^2 + (0.1 - 1)^2; stag earns 0 where hare earns 3. Hare is the best reply to the
    # payoffs read: luckily right, and not what was answered.
    assert figures["belief_score"].estimate == pytest.approx(1.62)
    parts = [figures[part].estimate for part in ("mispredicted", "misread", "miscalculated")]
    assert parts == [3.0, -3.0, 3.0]
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
