"""What a model can do besides games: measured before and after a training, to see what it forgot.

Questions with four answers are scored as evaluations of small models do it: the model does not
write, and the answer that it finds likeliest per character counts as its choice. Prose is measured
by its perplexity per token. Both come from `abilities.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bestresponse.core.files import read_toml
from bestresponse.models.students.causal import Causal
from bestresponse.studies.improve.rows import AbilityRow


@dataclass(frozen=True, slots=True)
class AbilityQuestion:
    """A question and its four answers, of which the first is right."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AbilityTest:
    """What is asked, and prose to be read."""

    questions: tuple[AbilityQuestion, ...]
    passages: tuple[str, ...]


@cache
def read_abilities() -> AbilityTest:
    """Return the questions of all subjects, and the passages."""
    written = read_toml(Path(__file__).with_name("abilities.toml"))
    questions: list[AbilityQuestion] = []
    for subject in written["questions"].values():
        for text, *answers in subject:
            questions.append(AbilityQuestion(text, tuple(answers)))
    return AbilityTest(tuple(questions), tuple(written["prose"]["passages"]))


def measure_abilities(writer: Causal, when: str) -> AbilityRow:
    """Ask everything, and return how much was right and the perplexity of the prose."""
    abilities = read_abilities()
    right = 0
    for question in abilities.questions:
        likelihoods = weigh_answers(writer, question)
        best = max(likelihoods)
        is_first = likelihoods[0] == best
        is_alone = likelihoods.count(best) == 1
        right += is_first and is_alone
    return {
        "when": when,
        "asked": len(abilities.questions),
        "right": right / len(abilities.questions),
        "perplexity": measure_perplexity(writer, abilities.passages),
    }


def weigh_answers(writer: Causal, question: AbilityQuestion) -> list[float]:
    """Return the log-probability of every answer after the question, per character."""
    asked = _encode(writer, f"Question: {question.text}\nAnswer:")
    said = [_encode(writer, f" {answer}") for answer in question.answers]
    if not asked or not all(said):  # a tokenizer that does not know these words
        return [-math.inf] * len(said)
    weighed = writer.weigh_tokens([[*asked, *tokens] for tokens in said])
    likelihoods: list[float] = []
    for answer, tokens, weights in zip(question.answers, said, weighed, strict=True):
        likelihoods.append(sum(weights[-len(tokens) :]) / len(answer))
    return likelihoods


def measure_perplexity(writer: Causal, passages: Sequence[str]) -> float | None:
    """Return exp of the mean surprise per token; None where no passage has two tokens."""
    encoded = [_encode(writer, passage) for passage in passages]
    texts = [tokens for tokens in encoded if len(tokens) > 1]
    if not texts:
        return None
    weighed = [weight for weights in writer.weigh_tokens(texts) for weight in weights]
    return math.exp(-sum(weighed) / len(weighed))


def _encode(writer: Causal, text: str) -> list[int]:
    tokens: list[int] = writer.tokenizer.encode(text, add_special_tokens=False).ids
    return tokens
