"""112 written forms of answers, none of which the reader was made with: what must not be read is not
read, nothing is misread, and few that a person can read are lost.

After the first measurement, when 8 of 80 were lost, three of these were mended.
"""

import pytest

from bestresponse.core.ask import Amount, Choice, Mixture
from bestresponse.players.llm.reading import read_reply

MIX = (0.1, 0.6, 0.3)
LETTERS = ("A", "B", "C")
CRIMES = ("Stay Silent", "Confess")
NUMBERS = ("2", "3", "10")
WORDS = ("wait", "sail", "turn back")
MIXTURES = [
    ("Final: ANSWER: A: 0.1, B: 0.6, C: 0.3", MIX),
    ("ANSWER: {A: 0.1, B: 0.6, C: 0.3}", MIX),
    ("ANSWER: {'A': 0.1, 'B': 0.6, 'C': 0.3}", MIX),
    ('ANSWER: {"A": "10%", "B": "60%", "C": "30%"}', MIX),
    ('ANSWER: {"A": "1/10", "B": "6/10", "C": "3/10"}', MIX),
    ('{"strategy": {"A": 0.1, "B": 0.6, "C": 0.3}, "confidence": 0.9}', MIX),
    ('{"A": 0.1, "B": 0.6, "C": 0.3} // my mix', MIX),
    ("ANSWER: A (10%), B (60%), C (30%)", MIX),
    ("ANSWER: A(0.1) B(0.6) C(0.3)", MIX),
    ("ANSWER: A: 0.1\nB: 0.6\nC: 0.3", MIX),
    ("ANSWER:\nA = 0.1\nB = 0.6\nC = 0.3", MIX),
    ("ANSWER:\n- A: 10%\n- B: 60%\n- C: 30%", MIX),
    ("ANSWER:\n* **A**: 0.1\n* **B**: 0.6\n* **C**: 0.3", MIX),
    ("ANSWER:\n1. A: 0.1\n2. B: 0.6\n3. C: 0.3", MIX),
    ("ANSWER: `A: 0.1, B: 0.6, C: 0.3`", MIX),
    ("__ANSWER:__ A: 0.1, B: 0.6, C: 0.3", MIX),
    ("Answer - A: 0.1, B: 0.6, C: 0.3", MIX),
    ("answer: a: 0.1, b: 0.6, c: 0.3", MIX),
    ("ANSWER: A: .1, B: .6, C: .3", MIX),
    ("ANSWER: A: 0.10, B: 0.60, C: 0.30.", MIX),
    ("ANSWER: A: 1/10, B: 3/5, C: 3/10", MIX),
    ("ANSWER: A: 10 %, B: 60 %, C: 30 %", MIX),
    ("ANSWER: 10/60/30", MIX),
    ("ANSWER: 0.1, 0.6, 0.3", MIX),
    ("ANSWER: [0.1, 0.6, 0.3]", MIX),
    ("ANSWER: A 10%, B 60%, C 30%", MIX),
    ("ANSWER: A: 0.6e0, B: 0.1, C: 0.3", (0.6, 0.1, 0.3)),
    ("ANSWER: A: 1e-1, B: 6e-1, C: 3e-1", MIX),
    ("ANSWER: B: 0.6, C: 0.3, A: 0.1", MIX),
    ("ANSWER: B: 60%, the rest split as A: 10%, C: 30%", MIX),
    ("ANSWER: A: 0.1, B: 0.6, C: 0.3\n\nThis guarantees me a value of 2.4.", MIX),
    ("ANSWER: A: 0.1, B: 0.6, C: 0.3\n\nNote: at B: 1 I would be exploited.", MIX),
    (
        "First guess: A: 1, B: 0, C: 0. After checking the columns:\nANSWER: A: 0.1, B: 0.6, C: 0.3",
        MIX,
    ),
    ("ANSWER: A: 1, B: 0, C: 0\nLet me recompute.\nANSWER: A: 0.1, B: 0.6, C: 0.3", MIX),
    (
        "The format would be 'ANSWER: A: 0.3, B: 0.3, C: 0.4'. Mine:\nANSWER: A: 0.1, B: 0.6, C: 0.3",
        MIX,
    ),
    ("ANSWER: play A with probability 0.1, B with probability 0.6 and C with probability 0.3", MIX),
    ("ANSWER: I play A 10% of the time, B 60% of the time, and C 30% of the time.", MIX),
    ("ANSWER: Pr[A]=0.1; Pr[B]=0.6; Pr[C]=0.3", MIX),
    ("ANSWER: p(A)=1/10, p(B)=6/10, p(C)=3/10", MIX),
    ("ANSWER: A: 0.1 | B: 0.6 | C: 0.3", MIX),
    ("ANSWER: A:10,B:60,C:30", MIX),
    ("ANSWER: A: 1, B: 6, C: 3", None),
    ("ANSWER: A: 0.5, B: 0.6, C: 0.3", None),
    ("ANSWER: A: 0.1, B: 0.6", None),
    ("ANSWER: A: -0.1, B: 0.8, C: 0.3", None),
    ("ANSWER: between A and B", None),
    ("ANSWER: mostly B", None),
    ("ANSWER: A: low, B: high, C: medium", None),
    ("ANSWER: D: 0.1, B: 0.6, C: 0.3", None),
    ("ANSWER: A: 0.1-0.2, B: 0.6, C: 0.3", None),
    ("ANSWER: A: 0.1 or 0.2, B: 0.6, C: 0.3", None),
    ("I have no answer.", None),
    ("", None),
    ("ANSWER:", None),
    ("ANSWER: <A: 0.1, B: 0.6, C: 0.3>", MIX),
    ('<answer>\n{"A": 0.1, "B": 0.6, "C": 0.3}\n</answer>', MIX),
    ("<answer>A: 1, B: 0, C: 0</answer> is wrong.\n<answer>A: 0.1, B: 0.6, C: 0.3</answer>", MIX),
    ("**Final answer**\n\nANSWER: A: 0.1, B: 0.6, C: 0.3 ✔️", MIX),
    ("ANSWER: A: 0.1, B: 0.6, C: 0.3</s>", MIX),
    ("ANSWER: A: 0.1, B: 0.6, C: 0.3<end_of_turn>", MIX),
]
CHOICES = [
    (LETTERS, "ANSWER: b", "B"),
    (LETTERS, "ANSWER: B!", "B"),
    (LETTERS, "ANSWER: «B»", "B"),
    (LETTERS, "ANSWER: [B]", "B"),
    (LETTERS, "ANSWER: {B}", "B"),
    (LETTERS, "Answer is B", "B"),
    (LETTERS, "The answer is **B**.", "B"),
    (LETTERS, "I'll go with B.\n\nANSWER: B", "B"),
    (LETTERS, "ANSWER: B (not A)", "B"),
    (LETTERS, "ANSWER: B, because A is worse than C", "B"),
    (LETTERS, "ANSWER: A if they cooperate, B otherwise", None),
    (LETTERS, "ANSWER: either", None),
    (LETTERS, "ANSWER: A/B", None),
    (LETTERS, "ANSWER: BC", None),
    (LETTERS, "ANSWER: D", None),
    (LETTERS, "ANSWER: A and C", None),
    (LETTERS, "I would never choose A.", None),
    (LETTERS, "ANSWER: anything but A", None),
    (LETTERS, "ANSWER: choice B", "B"),
    (LETTERS, "ANSWER: my action is B", "B"),
    (LETTERS, "### ANSWER: B", "B"),
    (LETTERS, "ANSWER: B\n```", "B"),
    (LETTERS, "```\nANSWER: B\n```", "B"),
    (LETTERS, "ANSWER: B</answer>", "B"),
    (LETTERS, '{"answer": "B", "reason": "A is dominated"}', "B"),
    (CRIMES, "ANSWER: Stay silent.", "Stay Silent"),
    (CRIMES, "ANSWER: stay-silent", "Stay Silent"),
    (CRIMES, "ANSWER: I stay silent", "Stay Silent"),
    (CRIMES, "ANSWER: To confess", "Confess"),
    (CRIMES, "ANSWER: Do not stay silent", None),
    (CRIMES, "ANSWER: I won't confess", None),
    (CRIMES, "ANSWER: confess (rather than stay silent)", "Confess"),
    (CRIMES, "ANSWER: Never confess", None),
    (CRIMES, "ANSWER: 'Stay Silent' is my choice", "Stay Silent"),
    (NUMBERS, "ANSWER: 10.", "10"),
    (NUMBERS, "ANSWER: 2 units", "2"),
    (NUMBERS, "ANSWER: 23", None),
    (NUMBERS, "ANSWER: -3", None),
    (NUMBERS, "ANSWER: 3 (out of 10)", "3"),
    (NUMBERS, "ANSWER: between 2 and 3", None),
    (NUMBERS, "ANSWER: €3", "3"),
    (NUMBERS, "ANSWER: three", "3"),
    (NUMBERS, "ANSWER: 2.5", None),
    (WORDS, "ANSWER: turn back", "turn back"),
    (WORDS, "ANSWER: Turn Back!", "turn back"),
    (WORDS, "ANSWER: back", None),
    (WORDS, "ANSWER: turn", None),
    (WORDS, "ANSWER: wait, then sail", None),
    (WORDS, "ANSWER: wait... actually sail", None),
    (WORDS, "ANSWER: sail\n\nActually, wait - no, sail it is.", "sail"),
    (WORDS, "ANSWER: sailing", "sail"),
    (WORDS, "ANSWER: **sail** ⛵", "sail"),
]
FORMS = [(Mixture(LETTERS), *one) for one in MIXTURES]
FORMS += [(Choice(options), *one) for options, *one in CHOICES]


def test_no_form_is_misread_and_few_are_lost():
    lost = []
    for ask, text, meant in FORMS:
        found = read_reply(ask, text).action
        if meant is not None and found is None:
            lost.append(text)
        elif isinstance(meant, tuple):
            assert found == pytest.approx(meant), text
        else:
            assert found == meant, text
    readable = sum(meant is not None for *_, meant in FORMS)
    assert (len(FORMS), readable, len(lost)) == (112, 80, 5), lost


ANOTHERS = [
    (Mixture(LETTERS), '{"opponent": {"A": 0.1, "B": 0.6, "C": 0.3}}'),
    (Mixture(LETTERS), '{"expected_payoffs": {"A": 0.1, "B": 0.6, "C": 0.3}}'),
    (Mixture(LETTERS), "ANSWER: column player: A: 0.1, B: 0.6, C: 0.3"),
    (Choice(CRIMES), '{"action": "Confess", "final_action": "Stay Silent"}'),
    (Choice(CRIMES), "ANSWER: Confess \u274c"),
    (Choice(CRIMES), "ANSWER: Confess \U0001f44e"),
    (Choice(CRIMES), "If I choose Confess, she suffers."),
    (Choice(CRIMES), "They hope I choose Confess."),
    (Choice(CRIMES), "Nobody can say that I choose Confess."),
    (Choice(CRIMES), "I choose Confess? No."),
    (Amount(0, 100), "ANSWER: 4,0"),
    (Amount(0, 100), "I bid $40, no, $50."),
]
"""What is another's, of payoffs, supposed or crossed out."""
LAST = [
    (
        Mixture(LETTERS),
        '{"payoffs": {"A": 1, "B": 0, "C": 0}, "strategy": {"A": 0.1, "B": 0.6, "C": 0.3}}',
        MIX,
    ),
    (
        Mixture(LETTERS),
        "ANSWER: A: 1, B: 0, C: 0\n\nNo.\n\nANSWER:\n- A: 0.1\n- B: 0.6\n- C: 0.3",
        MIX,
    ),
    (Choice(CRIMES), "ANSWER: Confess\n\nNo.\n\n## Answer\nStay Silent", "Stay Silent"),
    (
        Mixture(LETTERS),
        "[THINK]ANSWER: A: 1, B: 0, C: 0[/THINK]ANSWER: A: 0.1, B: 0.6, C: 0.3",
        MIX,
    ),
    (Mixture(LETTERS), "\ufeffANSWER: A: 0.1, B: 0.6, C: 0.3\u200b", MIX),
    (Mixture(LETTERS), "```yaml\nA: 0.1\nB: 0.6\nC: 0.3\n```", MIX),
    (Amount(0, 9999), "ANSWER: 1,500", 1500.0),
]


@pytest.mark.parametrize(("ask", "text"), ANOTHERS)
def test_what_is_not_the_own_answer_is_not_read(ask, text):
    assert read_reply(ask, text).action is None


@pytest.mark.parametrize(("ask", "text", "action"), LAST)
def test_the_answer_is_the_one_that_counts(ask, text, action):
    assert read_reply(ask, text).action == pytest.approx(action)
