import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bestresponse.core import Amount, Choice, Form, Mixture, Words
from bestresponse.core.player import Status
from bestresponse.players.llm.reading import read_reply

ABC = Choice(("A", "B", "C"))
MIX = Mixture(("A", "B"))


def read(ask, text, **how):
    answer = read_reply(ask, text, **how)
    return answer.action, answer.reading.status


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("I compare the rows.\nANSWER: B", "B", Status.VALID),
        ("ANSWER: B\n", "B", Status.VALID),
        ("**Answer:** B", "B", Status.VALID),
        ("answer: b", "B", Status.VALID),
        ("B", "B", Status.VALID),
        ('{"answer": "C"}', "C", Status.VALID),
        ("Weighing {A} and C, my choice will be B. {B}", "B", Status.REPAIRED),
        ("My choice is {D}.", None, Status.ILLEGAL),
        ("ANSWER: A\nWait.\nANSWER: C", "C", Status.REPAIRED),
        ('Sure! {"answer": "C"}', "C", Status.REPAIRED),
        ("ANSWER: 'B'.", "B", Status.REPAIRED),
        ("b.", "B", Status.REPAIRED),
        ("Therefore I choose B.", "B", Status.REPAIRED),
        ("ANSWER: D", None, Status.ILLEGAL),
        ("ANSWER: A or B", None, Status.ILLEGAL),
        ("I choose A, or perhaps I choose B.", None, Status.UNPARSEABLE),
        ("A rational player would think about this.", None, Status.UNPARSEABLE),
        ("I'm sorry, but as an AI I cannot gamble.", None, Status.REFUSED),
        ("", None, Status.UNPARSEABLE),
    ],
)
def test_a_choice_is_read_only_where_the_reply_leaves_no_doubt(text, value, status):
    assert read(ABC, text) == (value, status)


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("ANSWER: A: 0.25, B: 0.75", (0.25, 0.75), Status.VALID),
        ('{"A": 0.25, "B": 0.75}', (0.25, 0.75), Status.VALID),
        ("ANSWER: A: 25%, B: 75%", (0.25, 0.75), Status.REPAIRED),
        ("ANSWER: A: 1/4, B: 3/4", (0.25, 0.75), Status.REPAIRED),
        ("ANSWER: 0.25, 0.75", (0.25, 0.75), Status.REPAIRED),
        ('{"A": 25, "B": 75}', (0.25, 0.75), Status.REPAIRED),
        ('```json\n{"A": 0.25, "B": 0.75}\n```', (0.25, 0.75), Status.REPAIRED),
        ("ANSWER: A: 0.5, B: 0.9", None, Status.ILLEGAL),
        ("ANSWER: A: -0.5, B: 1.5", None, Status.ILLEGAL),
        ("ANSWER: A: 1/0, B: 1", None, Status.ILLEGAL),
        ("ANSWER: A: 1e308, B: 1e308", None, Status.ILLEGAL),
        ('{"A": NaN, "B": 1}', None, Status.ILLEGAL),
        ("ANSWER: mostly A", None, Status.UNPARSEABLE),
        ("ANSWER: A: 0.5", None, Status.ILLEGAL),
        ("I'd go with A 50%, B 50%.", (0.5, 0.5), Status.REPAIRED),
        ("We’ll play A 25%, B 75%", (0.25, 0.75), Status.REPAIRED),
        ("I'd not go with A 50%, B 50%.", None, Status.UNPARSEABLE),
        ("I'd go with A 50%, he'd go with B 50%.", None, Status.UNPARSEABLE),
        ("Row 2", None, Status.UNPARSEABLE),
    ],
)
def test_a_mixture_is_read_with_its_repairs_named(text, value, status):
    assert read(MIX, text) == (value, status)


def test_actions_that_are_not_named_in_a_sentence_count_as_nothing():
    answer = read_reply(Mixture(("A", "B", "C", "D", "I")), "I'd go with A 50%, B 50%.")
    assert answer.action == (0.5, 0.5, 0.0, 0.0, 0.0)
    assert "C, D, I not named: 0" in answer.reading.how


@pytest.mark.parametrize("ask", [ABC, MIX])
@pytest.mark.parametrize("text", ["Row 2", "ANSWER: row 2", "Row 0", "column 1"])
def test_a_row_by_its_number_is_not_read_because_some_count_from_0(ask, text):
    assert read(ask, text)[0] is None


def test_probabilities_that_sum_to_almost_one_are_scaled_and_it_is_said():
    answer = read_reply(Mixture(("A", "B", "C")), "ANSWER: A: 0.33, B: 0.33, C: 0.33")
    assert answer.action == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert answer.reading.how == "scaled from a sum of 0.99"


def test_a_reply_cut_off_before_its_answer_is_truncated_but_one_with_an_answer_counts():
    assert read(ABC, "Let me think about row", cut_off=True) == (None, Status.TRUNCATED)
    assert read(MIX, 'Sure: {"A": 0.2', cut_off=True) == (None, Status.TRUNCATED)
    assert read(ABC, "ANSWER: B\nBecause it", cut_off=True) == ("B", Status.VALID)


def test_a_filtered_reply_is_a_refusal_whatever_it_says():
    assert read(ABC, "ANSWER: B", declined=True) == (None, Status.REFUSED)


def test_amounts_words_and_forms_are_read_too():
    assert read(Amount(0, 70), "I bid.\nANSWER: $12.50") == (12.5, Status.VALID)
    assert read(Amount(0, 70), "ANSWER: 80") == (None, Status.ILLEGAL)
    assert read(Amount(0, 70, may_pass=True), "ANSWER: Pass.") == ("pass", Status.REPAIRED)
    assert read(Amount(0, 70), "ANSWER: pass") == (None, Status.UNPARSEABLE)
    assert read(Amount(0, 2000), "ANSWER: **1,500**") == (1500.0, Status.REPAIRED)
    assert read(Words(10), " hello ") == ("hello", Status.VALID)
    assert read(Words(3), "hello") == (None, Status.ILLEGAL)
    assert read(Form((("bid", Amount(0, 9)),)), '{"bid": 4}') == ({"bid": 4.0}, Status.VALID)


@pytest.mark.parametrize(
    "filler", ["\n", " ", "{", "A: ", "1 , ", "1/", "ANSWER: ", "i choose ", '{"A":']
)
def test_long_hostile_replies_hold_no_answer_and_end(filler):
    for ask in (ABC, MIX, Amount(0, 1), Form((("x", Amount(0, 1)),))):
        answer = read_reply(ask, filler * (99_000 // len(filler)))
        assert answer.action is None
        assert answer.reading.how


def test_a_reply_beyond_the_limit_is_not_looked_at():
    answer = read_reply(ABC, "x" * 100_001)
    assert (answer.action, answer.reading.status) == (None, Status.UNPARSEABLE)


@given(st.text(alphabet="AB:=,.%/0123456789{}\"'* \nanswer", max_size=200))
def test_whatever_is_read_is_legal(text):
    for ask in (ABC, MIX, Amount(0, 50)):
        answer = read_reply(ask, text)
        if answer.action is not None:
            ask.check(answer.action)
        else:
            assert answer.action is None
            assert answer.reading.how


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("ANSWER: A: 0.5, B: 0.46", (0.5 / 0.96, 0.46 / 0.96)),
        ("ANSWER: A: 0.5, B: 0.44", None),
        ("ANSWER: A: 0.5, B: 0.35", None),
        ("ANSWER: A: 50, B: 46", (50 / 96, 46 / 96)),
        ("ANSWER: A: 50, B: 44", None),
        ("ANSWER: A: 50, B: 35", None),
    ],
)
def test_a_sum_may_miss_one_by_a_twentieth(text, read):
    answer = read_reply(Mixture(("A", "B")), text)
    assert answer.action == (None if read is None else pytest.approx(read))


WRITTEN = json.loads(Path(__file__).with_name("written_answers.json").read_text("utf-8"))
ASKS = {
    "mixtures of A, B and C": Mixture(("A", "B", "C")),
    "mixtures of 1, 2 and 3": Mixture(("1", "2", "3")),
    "choices of A, B and C": ABC,
}


@pytest.mark.parametrize(
    ("kind", "text", "value", "how"),
    [(kind, *form) for kind, forms in WRITTEN.items() for form in forms],
)
def test_what_models_write_is_read_as_it_is_meant_and_what_was_done_is_said(kind, text, value, how):
    answer = read_reply(ASKS[kind], text)
    if value is None:
        assert (answer.action, answer.reading.status.value) == (None, how)
        return
    assert answer.action == (pytest.approx(tuple(value)) if isinstance(value, list) else value)
    assert answer.reading.how == how
    assert answer.reading.status is (Status.REPAIRED if how else Status.VALID)


def test_a_hundred_forms_of_answers_are_held_as_data():
    assert sum(map(len, WRITTEN.values())) >= 122


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (Mixture(("A", "B")), '{"A": 1, "A": 0, "B": 1}'),
        (Choice(("A", "B")), '{"answer": "A", "answer": "B"}'),
        (Amount(0, 9), '{"answer": 3, "answer": 4}'),
    ],
)
def test_two_values_of_one_key_are_no_answer(ask, text):
    assert read_reply(ask, text).reading.status is Status.UNPARSEABLE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My answer is B.", "B"),
        ("I will play B because it dominates A.", "B"),
        ('```json\n{"action": "C"}\n```', "C"),
        ('{"action": "C", "answer": "B"}', "B"),
        ('{"action": "C", "move": "B"}', None),
        ("My answer is A or B.", None),
        ("I would play A, but B is safer.", None),
        ("I choose A. Wait, the column player then answers C.", None),
        ("I would play A with probability 0.3.", None),
        ("I choose A 30% of the time.", None),
        ("I choose A with probability 1.", "A"),
        ("I choose A. It pays at least 3.", "A"),
    ],
)
def test_a_short_sentence_or_a_key_of_another_name_is_read_as_the_answer(text, value):
    assert read_reply(Choice(("A", "B", "C")), text).action == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I will cooperate.", "cooperate"),
        ("I defect.", "defect"),
        ("I will not cooperate.", None),
        ("I cooperate only if you do.", None),
        ("I cooperate. You defect.", None),
    ],
)
def test_a_move_that_is_a_verb_is_read_from_a_sentence_that_leaves_no_doubt(text, value):
    assert read_reply(Choice(("cooperate", "defect")), text).action == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ANSWER: 60/40", (0.6, 0.4)),
        ("ANSWER: 50-50", (0.5, 0.5)),
        ("ANSWER: 70/40", None),
        ("ANSWER: 3/4", None),
        ("ANSWER: heads: 0.25, tails: 0.75 — expected payoff 3.5", (0.25, 0.75)),
        ("ANSWER: heads: 0.25, tails: 0.75 — but I might change my mind", None),
    ],
)
def test_percentages_in_order_and_remarks_after_a_dash_are_read(text, value):
    assert read_reply(Mixture(("heads", "tails")), text).action == value


MIXED = [0.2, 0.3, 0.5]


@pytest.mark.parametrize(
    "reply",
    [
        "<answer>A: 0.2, B: 0.3, C: 0.5</answer>",
        "<thinking>ANSWER: A: 1, B: 0, C: 0</thinking>\n<answer>\nA: 0.2, B: 0.3, C: 0.5\n</answer>",
        "ANSWER: A: 0.2, B: 0.3, C: 0.5<|im_end|>",
        "ANSWER: A: 0.2, B: 0.3, C: 0.5 <|eot_id|></s>",
        "ANSWER: A: 2/10, B: 3/10, C: 5/10 🎯",
        "答案：A：0.2，B：0.3，C：0.5",
        "ANSWER：A: 0.2、B: 0.3、C: 0.5",
        "ANSWER: (A, B, C) = (0.2, 0.3, 0.5)",
        "ANSWER: σ* = (0.2, 0.3, 0.5)",
        "ANSWER:\n| A | B | C |\n|:-:|:-:|:-:|\n| 20% | 30% | 50% |",
        "ANSWER:\n\n1. A: 0.2\n2. B: 0.3\n3. C: 0.5\n",
        "ANSWER: 0.2A + 0.3B + 0.5C",
        "ANSWER: A: 0.2, B: 0.3, C: remaining 0.5",
        "ANSWER: A: 0.2, B: 0.3, C: 0.5, summing to 1",
        "ANSWER: A mit 20 %, B mit 30 %, C mit 50 %",
    ],
)
def test_frequent_forms_of_a_mix_are_read_and_said_to_be_other_than_asked(reply):
    value, status = read(Mixture(("A", "B", "C")), reply)
    assert value == pytest.approx(MIXED)
    assert status is Status.REPAIRED


def test_a_mix_one_level_deeper_in_a_tool_call_is_read():
    reply = '{"name": "answer", "arguments": {"probabilities": {"A": 0.2, "B": 0.3, "C": 0.5}}}'
    assert read(Mixture(("A", "B", "C")), reply)[0] == pytest.approx(MIXED)


@pytest.mark.parametrize(
    ("options", "reply", "choice"),
    [
        (("A", "B"), "<answer>B</answer>", "B"),
        (("A", "B"), "ANSWER: B ✅", "B"),
        (("A", "B"), "ANSWER: B rather than A", "B"),
        (("A", "B"), "ANSWER: «B»", "B"),
        (("Stay Silent", "Confess"), "ANSWER: STAY_SILENT", "Stay Silent"),
        (("Stay Silent", "Confess"), "ANSWER: confess (rather than stay silent)", "Confess"),
        (("2", "3", "10"), "ANSWER: €3", "3"),
        (("action 1", "action 2", "action 3"), "ANSWER: 2", "action 2"),
        (("2", "3", "10"), "ANSWER: 3.0", "3"),
        (("2", "3", "10"), "ANSWER: 3 coins", "3"),
    ],
)
def test_frequent_forms_of_a_choice_are_read(options, reply, choice):
    assert read(Choice(options), reply) == (choice, Status.REPAIRED)


@pytest.mark.parametrize(
    ("options", "reply"),
    [
        (("A", "B"), "ANSWER: A or B ✅"),
        (("A", "B"), "ANSWER: not B rather than A"),
        (("+1", "-1"), "ANSWER: 1"),
        (("1", "action 1"), "ANSWER: 12"),
        (("row 1", "column 1"), "ANSWER: 1"),
        (("2", "3", "10"), "ANSWER: 3.5"),
        (("2", "3", "10"), "ANSWER: 2 or 3 coins"),
    ],
)
def test_what_may_mean_several_choices_means_none(options, reply):
    assert read(Choice(options), reply)[0] is None


@pytest.mark.parametrize(
    "behind",
    ["Actually, I should take A.", "On second thought, A is better.", "No, I take it back."],
)
def test_what_takes_an_answer_back_behind_its_line_is_a_remark(behind):
    found = read_reply(Choice(("A", "B")), f"ANSWER: B\n\n{behind}")
    assert (found.action, found.reading.how) == ("B", "words behind it may take it back")
