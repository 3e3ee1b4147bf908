"""Keys, answers and rewards of examples for training, worked out by hand."""

import json

import numpy as np
import pytest
from reviewed_answers import review_reasons

from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.studies.improve import answers
from bestresponse.studies.improve.answers import (
    _list_support,
    _write_mix,
    _write_value,
    hash_prompts,
    make_matrix_examples,
    make_told_examples,
    write_answer,
)
from bestresponse.studies.improve.examples import (
    Telling,
    classify,
    describe_matrix,
    split_classes,
    write_question,
)
from bestresponse.studies.improve.export import ExportConfig, export
from bestresponse.studies.improve.rewards import reward_replies, score_reply

PENNIES = np.array([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
DILEMMA = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])


def find_seat(seat):
    """Return a generator whose first draw of a seat is this one."""
    return next(rng for rng in map(np.random.default_rng, range(20)) if draw_seat(rng) == seat)


def draw_seat(rng):
    state = rng.bit_generator.state
    seat = int(rng.integers(2, size=1)[0])
    rng.bit_generator.state = state
    return seat


def test_keys_are_those_that_exported_files_hold():
    # They decide which games are trained on, so another hash would put games of a test into later
    # trainings.
    games = np.array([PENNIES, DILEMMA, [[[3, 0], [5, 1]], [[2, 2], [2, 2]]]])
    assert [f"{key:016x}" for key in classify(games).tolist()] == [
        "0eec22e8b9749ee0",
        "5185277fbaa3fa84",
        "4028ac378d1b487f",
    ]
    wide = np.array([[[[3, 0, 7], [5, 1, 2]], [[3, 5, 4], [0, 1, 9]]]])
    assert f"{classify(wide)[0]:016x}" == "2f64d704b5aa76c9"


def test_one_class_in_fifty_is_for_validation_and_one_for_tests():
    keys = np.array([0, 1, 2, 49, 50, 51, 100, 101], dtype=np.uint64)
    assert split_classes(keys).tolist() == [1, 2, 0, 0, 1, 2, 1, 2]


def test_the_hash_of_questions_is_of_two_games_in_every_format_and_theme(monkeypatch):
    tasks = []

    def write(task, worked):
        tasks.append(task)
        return str(worked), task["format"] + task["theme"]

    monkeypatch.setattr(answers, "write_question", write)
    telling = Telling(("table", "json", "table"), ("patrol", "market"), worked=False, kind="reply")
    other = hash_prompts(
        Telling(("table", "json"), ("patrol", "market"), worked=True, kind="reply")
    )
    tasks.clear()
    assert hash_prompts(telling) != other
    assert [(task["format"], task["theme"]) for task in tasks[:4]] == [
        ("json", "market"),
        ("json", "patrol"),
        ("table", "market"),
        ("table", "patrol"),
    ]
    assert [task["payoffs"] for task in tasks] == [PENNIES.tolist()] * 4 + [DILEMMA.tolist()] * 4
    assert {(task["seat"], task["kind"]) for task in tasks} == {(0, "reply")}


def test_a_question_is_worked_unless_bare_ones_are_asked_for():
    assert Telling().worked


@pytest.mark.parametrize(
    ("seat", "opponent", "answer"),
    [
        (0, [0.4, 0.6, 0.0], "P Q\nA 2 -1\nB -1 1\nI get 0.2.\nANSWER: A: 0.400, B: 0.600"),
        (1, [0.4, 0.6], "A B\nP -2 1\nQ 1 -1\nI get -0.2.\nANSWER: P: 0.400, Q: 0.600, R: 0"),
    ],
)
def test_a_game_of_unequal_sides_is_solved_for_either_seat(seat, opponent, answer):
    # The third column is worse for its player than the second. Of the rest, without a saddle point,
    # the value is (2 - 1) / (2 + 1 + 1 + 1) = 0.2, and both play their first action with (1 + 1) /
    # 5.
    row = np.array([[2.0, -1.0, 3.0], [-1.0, 1.0, 4.0]])
    (example,) = make_matrix_examples(np.stack([row, -row])[None], Telling(), find_seat(seat))
    assert (example.task["seat"], example.task["opponent"]) == (seat, opponent)
    assert example.answer.partition("These are played:\n")[2] == answer
    assert example.task["class"] == f"{classify(np.stack([row, -row])[None])[0]:016x}"


def test_the_mix_of_the_other_is_kept_to_six_decimals():
    rock = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    (example,) = make_matrix_examples(
        np.stack([rock, -rock])[None], Telling(), np.random.default_rng(0)
    )
    assert example.task["opponent"] == [0.333333] * 3


def test_a_game_that_is_not_zero_sum_is_answered_by_its_equilibrium():
    (example,) = make_matrix_examples(DILEMMA[None], Telling(), find_seat(0))
    assert example.task["opponent"] == [0.0, 1.0]
    assert example.answer.endswith("These are played:\nQ\nB 1/1\nI get 1.\nANSWER: A: 0, B: 1")
    # A and Q are better whatever the other does; one who only meant to harm the first player would
    # take P.
    selfish = np.array([[[2.0, 5.0], [1.0, 4.0]], [[1.0, 3.0], [1.0, 3.0]]])
    (example,) = make_matrix_examples(selfish[None], Telling(), find_seat(0))
    assert example.answer.endswith("These are played:\nQ\nA 5/3\nI get 5.\nANSWER: A: 1, B: 0")


def test_stated_mixes_are_in_tenths_also_in_zero_sum_games():
    games = np.stack([PENNIES] * 12)
    made = list(
        make_matrix_examples(games, Telling(("short",), kind="reply"), np.random.default_rng(1))
    )
    mixes = np.array([example.task["opponent"] for example in made])
    assert mixes.sum(axis=1) == pytest.approx(np.ones(12))
    assert mixes * 10 == pytest.approx(np.round(mixes * 10))
    assert [score_reply(example.task, example.answer) for example in made] == pytest.approx(
        [1.0] * 12
    )


def test_replies_of_games_that_happen_to_be_zero_sum_are_exported(tmp_path):
    # With payoffs of -1, 0 and 1 one game in 81 is zero-sum; what is exported is measured first.
    exported = export(
        ExportConfig(tmp_path, games="replies", count=300, sizes="2", rectangular=0, scale=1)
    )
    assert sum(exported.counts.values()) > 200


def test_a_loss_that_rounds_to_nothing_is_written_without_a_sign():
    payoffs = np.array([[[-0.002, 0.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 1.0]]])
    task = describe_matrix(payoffs, 0, "short", "neutral", "reply") | {"opponent": [0.5, 0.5]}
    answer = write_answer(task, np.array([0.0, 1.0]), np.array([0.5, 0.5]), True)
    # -0.002 / 2 = -0.001, and (1 + 2) / 2 = 1.5.
    assert answer.startswith("Here A brings 0 and B brings 1.5. I play B.")


def test_a_short_question_of_a_stated_mix_ends_with_it_and_the_seats_change_sides():
    task = describe_matrix(DILEMMA, 1, "short", "neutral", "reply") | {"opponent": [0.3, 0.7]}
    assert write_question(task, True) == (
        "",
        "A B\nP 3/3 0/5\nQ 5/0 1/1\nThe row player chooses with these probabilities: A 0.3, B 0.7.",
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-2.0, "-2"), (0.0, "0"), (3.26, "3.3"), (-3.47, "-3.5"), (0.5, "0.5")],
)
def test_a_value_has_a_decimal_where_it_is_not_whole(value, text):
    assert _write_value(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(-0.04, "0.0"), (0.04, "0.0"), (-0.06, "-0.1"), (-1e-10, "0")]
)
def test_a_value_that_rounds_to_nothing_has_no_sign(value, text):
    assert _write_value(value) == text


@pytest.mark.parametrize(
    ("mix", "text"),
    [
        ([1.0, 0.0], "ANSWER: A: 1, B: 0"),
        ([1 - 0.9, 0.9], "ANSWER: A: 0.100, B: 0.900"),  # 1 - 0.9 is a little less than 0.1
        ([2 / 3, 1 / 3], "ANSWER: A: 0.667, B: 0.333"),
        ([0.0005, 0.9995], "ANSWER: A: 0.001, B: 0.999"),
    ],
)
def test_a_mix_is_written_in_thousandths_that_sum_to_one(mix, text):
    assert _write_mix(("A", "B"), np.array(mix)) == text


def test_payoffs_of_actions_that_nobody_plays_are_left_out():
    # B beats A by 1 everywhere, and then the other leaves the columns of 9 and 5: rows B and C,
    # columns P and R, (3 x 4 - 1 x 0) / (3 - 0 - 1 + 4) = 2, B with (4 - 1) / 6 and P with (4 - 0)
    # / 6.
    row = np.array([[2.0, 8.0, -1.0], [3.0, 9.0, 0.0], [1.0, 5.0, 4.0]])
    (example,) = make_matrix_examples(
        np.stack([row, -row])[None], Telling(("short",)), find_seat(0)
    )
    assert example.question == "P Q R\nA 2 8 -1\nB 3 9 0\nC 1 5 4"
    assert (
        example.answer
        == "These are played:\nP R\nB 3 0\nC 1 4\nI get 2.\nANSWER: A: 0, B: 0.500, C: 0.500"
    )
    assert example.task["opponent"] == [0.666667, 0.0, 0.333333]


def test_only_what_is_played_is_named():
    assert _list_support(("A", "B", "C"), np.array([0.5, 1e-12, 0.5])) == "A and C"
    assert _list_support(("A", "B"), np.array([0.0, 1.0])) == "B"


def test_stories_are_told_to_either_seat():
    games = np.stack([DILEMMA] * 8)
    made = list(
        make_told_examples(games, Telling(("prose",), kind="story"), np.random.default_rng(0))
    )
    assert {example.task["seat"] for example in made} == {0, 1}
    assert {example.task["class"] for example in made} == {"5185277fbaa3fa84"}


def test_a_program_that_is_no_game_earns_nothing():
    task = describe_matrix(DILEMMA, 0, "prose", "neutral", "story")
    assert score_reply(task, "```prolog\nplayer(row).\n```") == 0.0


def test_reasons_of_the_second_seat_are_reviewed_as_its_own():
    # Against 0.3 and 0.7 of the row player the column player gets 0.9 or 2.2, as the game is
    # symmetric.
    task = describe_matrix(DILEMMA, 1, "table", "neutral", "reply") | {"opponent": [0.3, 0.7]}
    answer = "Here P brings 0.9 and Q brings 2.2. I play Q.\nANSWER: P: 0, Q: 1"
    assert [checked.verdict.name for checked in review_reasons(task, answer).checked] == [
        "PROVED",
        "PROVED",
    ]
    assert len(review_reasons(task, answer.replace("0.9", "0.8")).refuted) == 1


@pytest.mark.parametrize("kind", ["matrix", "reply"])
def test_no_figure_in_the_reasons_of_a_drawn_answer_is_refuted(kind):
    drawn = np.random.default_rng(4).integers(-9, 10, (6, 2, 3, 3)).astype(np.float64)
    telling = Telling(formats=("table", "short"), kind=kind)
    made = list(make_matrix_examples(drawn, telling, np.random.default_rng(4)))
    assert len(made) >= 4
    for example in made:
        review = review_reasons(example.task, example.answer)
        assert review.checked
        assert not review.refuted


def permute(game, rows, columns):
    return game[:, rows][:, :, columns]


def test_the_answer_of_a_general_sum_game_does_not_depend_on_the_order_of_rows():
    # Stag hunt: both hunt stag for 4, a hare is worth 3 or with company 2.
    stag = np.array([[[4.0, 0.0], [3.0, 2.0]], [[4.0, 3.0], [0.0, 2.0]]])
    for rows, expected in (([0, 1], "ANSWER: A: 1, B: 0"), ([1, 0], "ANSWER: A: 0, B: 1")):
        (example,) = make_matrix_examples(
            permute(stag, rows, rows)[None], Telling(("short",)), find_seat(0)
        )
        assert example.answer.endswith(expected)
    rng = np.random.default_rng(5)
    games = rng.integers(-9, 10, (30, 2, 3, 3)).astype(float)
    for game in games:
        rows, columns = rng.permutation(3), rng.permutation(3)
        pair = [
            list(make_matrix_examples(told[None], Telling(("short",), worked=False), find_seat(0)))
            for told in (game, permute(game, rows, columns))
        ]
        mixes = [
            [part.split(": ")[-1] for part in one[0].answer.split(", ")] for one in pair if one
        ]
        if mixes:
            assert [mixes[0][row] for row in rows] == mixes[1]


def test_games_that_no_rule_decides_are_left_out():
    # Battle of the sexes: both meetings are worth 3 to both together, and equally safe.
    sexes = np.array([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]])
    assert not list(make_matrix_examples(sexes[None], Telling(), np.random.default_rng(0)))


def test_a_pure_action_of_a_mixed_equilibrium_does_not_score_one():
    # Pennies with 2 for the first player on heads: against 0.4 and 0.6 both its actions bring 0.2,
    # and the other is indifferent where the first mixes half and half.
    game = np.array([[[2.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])
    task = describe_matrix(game, 0, "table", "neutral") | {"opponent": [0.4, 0.6]}
    assert score_reply(task, "ANSWER: A: 0.5, B: 0.5") == pytest.approx(1.0)
    # Against A the other earns 1 by Q and 0.4 x -1 + 0.6 x 1 = 0.2 by its mix: 0.8 of a range of 2.
    assert score_reply(task, "ANSWER: A: 1, B: 0") == pytest.approx(0.6)


def test_a_batch_is_rewarded_as_trainers_call_it_and_unreadable_replies_get_nothing():
    task = describe_matrix(PENNIES, 0, "table", "neutral") | {"opponent": [0.5, 0.5]}
    replies = [
        "ANSWER: A: 0.5, B: 0.5",
        [{"role": "assistant", "content": "ANSWER: A: 0.75, B: 0.25"}],
        "I cannot say.",
    ]
    rewards = reward_replies(
        completions=replies, task=[task, json.dumps(task), json.dumps(task)], prompts=["?"] * 3
    )
    assert rewards == [1.0, 0.75, 0.0]
    with pytest.raises(UsageError, match="3 replies to 1 tasks"):
        reward_replies(replies, [task])
    with pytest.raises(UsageError, match="expected a task"):
        score_reply("no task", "ANSWER: A: 1, B: 0")
    with pytest.raises(InvalidMove):
        score_reply(task, "I cannot say.")
