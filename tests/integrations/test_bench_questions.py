"""The benchmark asked by other tools: the same prompts, the same reading, the same numbers."""

import pytest

import bestresponse as br
from bestresponse.core.errors import InvalidMove
from bestresponse.integrations.bench_questions import SCORED, choose_questions, measure_reply
from bestresponse.models import Reply

ANSWERS = [
    "ANSWER: A: 0.33, B: 0.33, C: 0.33",
    "I am sure.\n\nANSWER: A: 1, B: 0, C: 0",
    '{"A": "1/3", "B": "1/3", "C": "1/3"}',
    "ANSWER: A: 33%, B: 33%, C: 34%",
    "no idea",
    "ANSWER: A: 0.1, B: 0.2, C: 0.7",
]


def test_every_figure_is_that_of_bench_for_the_same_answers(tmp_path):
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return ANSWERS[len(prompts) - 1]

    rows = br.bench(answer, num_games=6, seed=11, workers=1, output_dir=tmp_path).rows()
    questions = choose_questions(num_games=6, actions=3, seed=11)
    for question, prompt, text, row in zip(questions, prompts, ANSWERS, rows, strict=True):
        assert f"{question['system']}\n\n{question['prompt']}" == prompt
        measured_by = question["measured_by"]
        if row["strategy"] is None:
            with pytest.raises(InvalidMove):
                measure_reply(measured_by, Reply(text))
            continue
        measured = measure_reply(measured_by, Reply(text))
        assert measured.strategy == pytest.approx(row["strategy"], abs=1e-12)
        assert measured.metrics == pytest.approx({name: row[name] for name in SCORED}, abs=1e-12)
    assert [row["status"] for row in rows].count("unparseable") == 1


def test_a_pure_strategy_of_the_support_has_no_gap_and_loses_what_the_worst_column_takes():
    (question,) = choose_questions(num_games=1, actions=2, seed=6)
    figures = measure_reply(question["measured_by"], Reply("ANSWER: A: 1, B: 0")).metrics
    # The game is [[9, 24], [38, 4]]: its value is (24 * 38 - 9 * 4) / (24 + 38 - 9 - 4), and row A
    # guarantees 9.
    assert figures["nash_gap"] == 0
    assert figures["exploitability_normalised"] == pytest.approx((876 / 49 - 9) / 34)
