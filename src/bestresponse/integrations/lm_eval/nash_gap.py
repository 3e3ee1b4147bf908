"""The functions that `nash_gap.yaml` names.

They give games, prompt, reading and figures of `bestresponse bench`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TypedDict

from bestresponse.core.errors import InvalidMove
from bestresponse.integrations.bench_questions import BenchQuestions
from bestresponse.models.base import Reply

if TYPE_CHECKING:
    import datasets


class NashGapQuestion(TypedDict):
    """One game: what is asked, and which of the questions it is."""

    prompt: str
    questions: dict[str, int]
    number: int


def load_questions(
    num_games: int = 20,
    actions: int = 3,
    seed: int = 0,
    **other: object,
) -> dict[str, datasets.Dataset]:
    """Load the questions for the harness.

    Its `--metadata '{"num_games": 100}'` sets the arguments.
    """
    from datasets import Dataset

    return {"test": Dataset.from_list(list_nash_gap_questions(num_games, actions, seed))}


def list_nash_gap_questions(
    num_games: int = 20,
    actions: int = 3,
    seed: int = 0,
) -> list[NashGapQuestion]:
    """Write the questions of the benchmark."""
    questions = BenchQuestions(num_games, actions, seed)
    rows = []
    for number in range(num_games):
        messages = questions.write_request(number).messages
        prompt = "\n\n".join(message.content for message in messages)
        rows.append(NashGapQuestion(prompt=prompt, questions=asdict(questions), number=number))
    return rows


def write_prompt(question: NashGapQuestion) -> str:
    """Return what is asked, the words of the system before those of the user."""
    return question["prompt"]


def measure_results(question: NashGapQuestion, results: Sequence[str]) -> dict[str, float]:
    """Measure the reply; one that cannot be read has no figures, and its `read` is 0.

    The harness averages each figure over the documents that have it, and knows the standard error
    of that mean. `read` comes first, because the harness lists metrics in the order in which it
    meets them.
    """
    questions = BenchQuestions(**question["questions"])
    try:
        figures = questions.measure_reply(question["number"], Reply(results[0])).figures
    except InvalidMove:
        return {"read": 0.0}
    return {"read": 1.0, **figures}
