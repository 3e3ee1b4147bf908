"""Questions and answers for training: as the benchmark asks them, as the solver answers them, each
class once."""

import json

import numpy as np
import pytest
from reviewed_answers import review_reasons

import bestresponse as br
from bestresponse.core.errors import InvalidMove, SettingError, StoreError
from bestresponse.formal.formalize.autoformalizer import Formalizer, Settings
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.base import Abilities, Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import Spec
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import plan_questions
from bestresponse.studies.improve.answers import (
    make_matrix_examples,
    make_told_examples,
    write_answer,
)
from bestresponse.studies.improve.data import open_export
from bestresponse.studies.improve.examples import (
    Telling,
    classify,
    describe_matrix,
    split_classes,
    write_question,
)
from bestresponse.studies.improve.export import (
    ExportConfig,
    _choose_shapes,
    _share_games,
    export,
    read_manifest,
)
from bestresponse.studies.improve.rewards import score_reply

PENNIES = np.array([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]])


def ask_of_bench(config):
    """Return the two messages that the benchmark sends for the first play of a plan, and the
    play."""
    model = ScriptedModel([Reply("no answer")], abilities=Abilities())
    plan = plan_questions(config)
    play_one = plan.prepare({"student": model})
    data = next(iter(plan.list_plays()))
    play_one(Spec.of(data), [], lambda submission: None)
    return tuple(message.content for message in model.asked[0].messages), data


@pytest.mark.parametrize("shown_as", ["table", "prose", "json"])
@pytest.mark.parametrize("worked", [True, False])
def test_a_question_is_what_the_benchmark_asks(shown_as, worked):
    config = BenchConfig(
        "student",
        num_games=1,
        seed=5,
        format=(shown_as,),
        theme=("market",),
        seat=("col",),
        plain=not worked,
    )
    asked, data = ask_of_bench(config)
    task = describe_matrix(np.array(data["payoffs"]), 1, shown_as, "market")
    assert write_question(task, worked) == asked


def test_a_worked_answer_says_what_is_played_its_value_and_the_mix():
    # Solved by hand: rows 214, 32, 113 in 359, columns 97, 37, 225 in 359, value -1246/359 = -3.47.
    row = np.array([[-9.0, -4.0, -1.0], [-7.0, 9.0, -4.0], [8.0, -6.0, -8.0]])
    task = describe_matrix(np.stack([row, -row]), 0, "table", "neutral")
    answer = write_answer(task, np.array([214, 32, 113]) / 359, np.array([97, 37, 225]) / 359, True)
    assert (
        answer == "P Q R\nA -9 -4 -1\nB -7 9 -4\nC 8 -6 -8\n"
        "These are played:\nP Q R\nA -9 -4 -1\nB -7 9 -4\nC 8 -6 -8\n"
        "I get -3.5.\nANSWER: A: 0.596, B: 0.089, C: 0.315"
    )


def test_a_short_question_is_the_payoffs_alone():
    dilemma = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
    counted = np.array([[1.0, 2.0], [3.0, 4.0]])
    zero_sum = describe_matrix(np.stack([counted, -counted]), 1, "short", "neutral")
    assert write_question(zero_sum, True) == (
        "",
        "A B\nP -1 -3\nQ -2 -4",
    )  # one's own actions are the rows
    assert write_question(describe_matrix(dilemma, 0, "short", "neutral"), True) == (
        "",
        "P Q\nA 3/3 0/5\nB 5/0 1/1",
    )
    (example,) = make_matrix_examples(
        PENNIES[None], Telling(("short",), ("market",)), np.random.default_rng(0)
    )
    assert [message["role"] for message in example.to_json()["messages"]] == ["user", "assistant"]
    assert example.task["theme"] == "neutral"


def test_larger_shapes_come_more_often_and_larger_squares_never():
    shares = _choose_shapes(ExportConfig("unused", sizes="2-3", rectangular=0.25))
    assert {shape for shape in shares if shape[0] == shape[1]} == {(2, 2), (3, 3)}
    assert {max(shape) for shape in shares if 3 in shape} == {3, 4, 5}
    assert not {(4, 5), (5, 4)} & shares.keys()
    # 8 to 27 for squares, as their cells to the power of 1.5; for 2x4 and 4x2 8 ** 1.5 = 22.627 of
    # twice 6 ** 1.5 + 8 ** 1.5 + 10 ** 1.5 + 12 ** 1.5 + 15 ** 1.5 = 14.697 + 22.627 + 31.623 +
    # 41.569 + 58.095.
    assert shares[2, 2] == pytest.approx(0.75 * 8 / 35)
    assert shares[3, 3] == pytest.approx(0.75 * 27 / 35)
    assert shares[2, 4] == shares[4, 2] == pytest.approx(0.25 * 22.627 / 337.222, rel=1e-4)
    assert sum(shares.values()) == pytest.approx(1)
    assert _choose_shapes(ExportConfig("unused", sizes="2-3", rectangular=0)).keys() == {
        (2, 2),
        (3, 3),
    }


def test_a_stated_mix_is_answered_by_what_each_action_brings():
    # Against 0.3 and 0.7 the first action brings 0.3 x 3 = 0.9, the second 0.3 x 5 + 0.7 x 1 = 2.2.
    dilemma = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
    task = describe_matrix(dilemma, 0, "table", "neutral", "reply") | {"opponent": [0.3, 0.7]}
    answer = write_answer(task, np.array([0.0, 1.0]), np.array([0.3, 0.7]), True)
    assert (
        answer
        == "P Q\nA 3/3 0/5\nB 5/0 1/1\nThe column player chooses with these probabilities: P 0.3, Q"
        " 0.7.\nHere A brings 0.9 and B brings 2.2. I play B.\nANSWER: A: 0, B: 1"
    )
    _, question = write_question(task, True)
    assert "The column player chooses with these probabilities: P 0.3, Q 0.7." in question
    assert "rational" not in question
    # A instead of B loses 1.3 of a range of 5.
    assert br.rewards.score_reply(task, "ANSWER: A: 1, B: 0") == pytest.approx(1 - 1.3 / 5)


def test_replies_of_random_games_are_best_replies_of_either_seat():
    rng = np.random.default_rng(3)
    games = rng.integers(-9, 10, (40, 2, 3, 4)).astype(float)
    examples = list(make_matrix_examples(games, Telling(("table", "short"), kind="reply"), rng))
    assert {example.task["seat"] for example in examples} == {0, 1}
    assert [
        br.rewards.score_reply(example.task, example.answer) for example in examples
    ] == pytest.approx([1.0] * 40)


def test_thousandths_sum_to_one_where_thirds_are_mixed():
    third = np.array([1.0, 1.0, 1.0]) / 3
    rock = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    answer = write_answer(
        describe_matrix(np.stack([rock, -rock]), 1, "table", "neutral"), third, third, False
    )
    assert answer == "ANSWER: P: 0.334, Q: 0.333, R: 0.333"


def test_a_reply_is_rewarded_as_the_benchmark_measures_it():
    zero_sum = describe_matrix(PENNIES, 0, "table", "neutral") | {"opponent": [0.5, 0.5]}
    # A: 0.75 loses 0.5 to a best reply, of a range of 2.
    assert br.rewards.score_reply(zero_sum, "ANSWER: A: 0.75, B: 0.25") == 0.75
    dilemma = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])
    general = describe_matrix(dilemma, 0, "table", "neutral") | {"opponent": [0.0, 1.0]}
    # Against defection A earns 0 and B earns 1, of a range of 5.
    assert br.rewards.score_reply(general, "ANSWER: A: 1, B: 0") == 0.8
    with pytest.raises(InvalidMove):
        br.rewards.score_reply(zero_sum, "I cannot say.")


def test_a_relabelled_game_has_the_same_class_and_another_game_has_not():
    rng = np.random.default_rng(1)
    games = rng.integers(-9, 10, (300, 2, 3, 4))
    keys = classify(games)
    assert len(set(keys.tolist())) == 300
    relabelled = games[:, ::-1, rng.permutation(3)][..., rng.permutation(4)].transpose(0, 1, 3, 2)
    assert (classify(relabelled * 2 + 7) == keys).all()
    other = games.copy()
    other[:, 0, 0, 0] += 1
    assert (classify(other) != keys).all()


def test_answers_of_random_games_lose_at_most_their_rounding():
    rng = np.random.default_rng(2)
    row = rng.integers(-9, 10, (40, 4, 4)).astype(float)
    games = np.concatenate([np.stack([row, -row], 1), rng.integers(-9, 10, (10, 2, 4, 4))])
    for part in (games[:40], games[40:]):
        examples = list(
            make_matrix_examples(part, Telling(("table", "json"), ("neutral", "patrol")), rng)
        )
        assert (
            min(br.rewards.score_reply(example.task, example.answer) for example in examples)
            > 0.985
        )


def read_rows(folder, split):
    rows = [
        json.loads(line)
        for path in sorted(folder.glob(f"{split}-*"))
        for line in path.open(encoding="utf-8")
    ]
    return [row | {"task": json.loads(row["task"])} for row in rows]


def test_no_class_is_in_two_splits_or_twice_and_equal_settings_write_equal_files(tmp_path):
    config = ExportConfig(tmp_path / "a", count=600, sizes="2-3", formats="table", seed=3)
    exported = export(config)
    rows = {split: read_rows(tmp_path / "a", split) for split in exported.counts}
    assert {split: len(examples) for split, examples in rows.items()} == exported.counts
    classes = [row["task"]["class"] for examples in rows.values() for row in examples]
    assert len(classes) == len(set(classes)) > 500
    for place, split in enumerate(rows):
        keys = np.array([int(row["task"]["class"], 16) for row in rows[split]], dtype=np.uint64)
        assert (split_classes(keys) == place).all()
    again = br.export(tmp_path / "b", count=600, sizes="2-3", formats="table", seed=3)
    assert again.counts == exported.counts
    for path in (tmp_path / "a").glob("*.jsonl"):
        assert (tmp_path / "b" / path.name).read_bytes() == path.read_bytes()


def test_a_folder_of_other_settings_is_refused_and_a_missing_file_is_made_again(tmp_path):
    br.export(tmp_path, count=50, sizes="2", rectangular=0)
    before = (tmp_path / "train-00000.jsonl").read_bytes()
    (tmp_path / "train-00000.jsonl").unlink()
    br.export(tmp_path, count=50, sizes="2", rectangular=0)
    assert (tmp_path / "train-00000.jsonl").read_bytes() == before
    with pytest.raises(StoreError, match="other settings"):
        br.export(tmp_path, count=60, sizes="2", rectangular=0)


@pytest.mark.parametrize(("sizes", "count"), [("2-4", 300), ("2-10", 1), ("9-10", 100)])
def test_as_many_examples_are_shared_out_as_were_asked_for(tmp_path, sizes, count):
    # Rounded one by one, the shares of 300 were 301, those of 100 were 88, and a single game was
    # none at all.
    shards, _ = _share_games(ExportConfig(tmp_path, count=count, sizes=sizes, scale=1000), tmp_path)
    assert sum(len(games) for shard in shards for games in shard.games) == count


def test_a_split_of_nothing_has_no_file(tmp_path):
    # Trainers that read a whole folder stop at a file without a single line.
    exported = br.export(tmp_path, count=1, sizes="2", rectangular=0)
    (split,) = [name for name, count in exported.counts.items() if count]
    assert [path.name for path in tmp_path.glob("*.jsonl")] == [f"{split}-00000.jsonl"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"formats": ()}, "formats: expected table, prose, json or short"),
        ({"games": "trees"}, "games: expected one of zero-sum, general-sum, replies, stories"),
    ],
    ids=["formats", "games"],
)
def test_what_cannot_be_exported_leaves_no_folder(tmp_path, settings, message):
    # A manifest that was left behind would refuse the command that is typed next.
    with pytest.raises(br.BestResponseError, match=message):
        br.export(tmp_path / "new", count=5, **settings)
    assert not (tmp_path / "new").exists()


def test_few_classes_are_said_and_repeated_in_the_training_alone(tmp_path):
    exported = br.export(tmp_path / "few", count=500, sizes="2", rectangular=0, scale=1)
    assert exported.notes == ("2x2: 9 classes; the rest are relabelled games of the training",)
    held_out = [
        row["task"]["class"]
        for split in ("validation", "test")
        for row in read_rows(tmp_path / "few", split)
    ]
    trained = [row["task"]["class"] for row in read_rows(tmp_path / "few", "train")]
    assert len(trained) > 400
    assert len(set(trained)) + len(set(held_out)) == 9
    assert len(set(held_out)) == len(held_out)
    assert not set(held_out) & set(trained)
    assert read_manifest(tmp_path / "few")["counts"] == exported.counts
    with pytest.raises(StoreError, match="holds no examples"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("sizes", ["1-3", "4-2", "x", "2-99"])
def test_sizes_that_cannot_be_are_refused(sizes, tmp_path):
    with pytest.raises(SettingError, match="sizes"):
        ExportConfig(tmp_path, sizes=sizes)


def test_a_story_asks_as_formalize_does_and_its_program_is_the_game_that_was_told():
    payoffs = np.array([[[[3, 0], [5, 1]], [[3, 5], [0, 1]]]], dtype=np.float64)
    telling = Telling(("prose",), ("market",), kind="story")
    (example,) = make_told_examples(payoffs, telling, np.random.default_rng(0))
    story = example.question.rpartition("Story:\n")[2].rpartition("\n\nProgram:")[0]
    model = ScriptedModel([example.answer])
    written = Formalizer(model, EmbeddedEngine(), Settings(form="program")).formalize(story)
    system, question = (message.content for message in written.attempts[0].request.messages)
    assert (system, question) == (example.system, example.question)
    assert written.ok
    assert score_reply(example.task, example.answer) == 1.0
    dearer = example.answer.replace("-5", "-6")
    assert dearer != example.answer
    assert score_reply(example.task, dearer) == 0.0
    with pytest.raises(InvalidMove, match="there is no program in the reply"):
        score_reply(example.task, "I would rather not.")


def test_stories_are_exported_and_short_ones_refused(tmp_path):
    exported = br.export(
        tmp_path / "stories",
        games="stories",
        count=20,
        sizes="2",
        rectangular=0,
        formats=("prose", "json"),
    )
    assert sum(exported.counts.values()) == 20
    assert open_export(tmp_path / "stories").count == exported.counts["train"]
    with pytest.raises(SettingError, match="a story is told in words, not short"):
        br.export(tmp_path / "short", games="stories", formats="short")


def test_verify_decides_the_reasons_of_worked_answers():
    # Against 0.3 and 0.7 the first action brings 0.3 x 3 = 0.9, the second 0.3 x 5 + 0.7 x 1 = 2.2.
    payoffs = np.array([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], dtype=np.float64)
    task = describe_matrix(payoffs, 0, "table", "neutral", "reply") | {"opponent": [0.3, 0.7]}
    answer = "Here A brings 0.9 and B brings 2.2. I play B.\nANSWER: A: 0, B: 1"
    assert [str(one.verdict.name) for one in review_reasons(task, answer).checked] == [
        "PROVED",
        "PROVED",
    ]
    assert len(review_reasons(task, answer.replace("2.2", "2.3")).refuted) == 1
    # The value of [[a, b], [c, d]] without a saddle point is (ad - bc) / (a - b - c + d) = (2 - 1)
    # / 5.
    pennies = np.array([[[2, -1], [-1, 1]], [[-2, 1], [1, -1]]], dtype=np.float64)
    task = describe_matrix(pennies, 0, "table", "neutral") | {"opponent": [0.4, 0.6]}
    answer = "These are played:\nP Q\nA 2 -1\nB -1 1\nI get 0.2.\nANSWER: A: 0.400, B: 0.600"
    assert not review_reasons(task, answer).refuted
    assert review_reasons(task, answer.replace("0.2.", "0.3.")).refuted
