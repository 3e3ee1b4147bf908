"""The questions of `bestresponse bench`, one at a time, for tools that ask models themselves.

Games, prompt, reading and metrics are those of the benchmark: each question is a play of it whose
model says what the tool's model said, so that a metric has one value in every tool. A question is
plain data and holds the settings it was made by. No tool is named here.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.files import parse_json, read_text_file
from bestresponse.models.base import Abilities, Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import Spec, StoredPlay
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.measure import measure_plays
from bestresponse.studies.bench.plan import Plan, prepare_plays

SCORED = ("nash_gap", "gap_normalised", "exploitability", "exploitability_normalised")
"""What is measured, by the names in which the benchmark reports it."""
MODEL = "model"
_LARGEST = 1_000_000_000


class BenchQuestion(TypedDict):
    """What is asked, and `measured_by`: the settings that a reply is measured by, as JSON text."""

    id: int
    system: str
    prompt: str
    max_tokens: int
    temperature: float | None
    measured_by: str


@dataclass(frozen=True, slots=True)
class MeasuredReply:
    """A strategy as it was read, and its metrics by name."""

    strategy: list[float]
    metrics: dict[str, float]


def choose_questions(num_games: int = 20, actions: int = 3, seed: int = 0) -> list[BenchQuestion]:
    """Ask for mixed strategies in random zero-sum games with so many actions of each player."""
    config = BenchConfig(
        MODEL,
        num_games=num_games,
        num_rows=actions,
        num_cols=actions,
        seed=seed,
        elicit="mixed",
    )
    return list(list_bench_questions(config))


def list_bench_questions(config: BenchConfig) -> Iterator[BenchQuestion]:
    """Yield the questions of a benchmark of payoff tables, each as a model is asked it."""
    settings = json.dumps(config.to_json())
    for number in range(len(_list_specs(settings))):
        model, _ = _play(settings, number, Reply(""))
        request = model.asked[0]
        said = {message.role: message.content for message in request.messages}
        yield {
            "id": number,
            "system": said.get("system", ""),
            "prompt": said["user"],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "measured_by": json.dumps({"id": number, "settings": settings}),
        }


def measure_reply(measured_by: str, reply: Reply) -> MeasuredReply:
    """Read the reply to a question and measure it; `InvalidMove` where there is nothing to be read.

    >>> (question,) = choose_questions(num_games=1, actions=2, seed=3)
    >>> measure_reply(question["measured_by"], Reply("ANSWER: A: 1/2, B: 1/2")).strategy
    [0.5, 0.5]
    """
    known = parse_json(measured_by)
    settings = known["settings"]
    _, play = _play(settings, known["id"], reply)
    ((row, _),) = measure_plays(_make_plan(settings), [play])
    if row["strategy"] is None:
        raise InvalidMove(row["how"])
    values = dict(row)
    metrics = {name: value for name in SCORED if isinstance(value := values.get(name), float)}
    return MeasuredReply(row["strategy"], metrics)


def measure_results(question: BenchQuestion, results: Sequence[str]) -> dict[str, float]:
    """Measure a reply as lm-evaluation-harness and others with means of metrics want it.

    One that cannot be read has no metrics, and its `read` is 0. `read` comes first, because tools
    list metrics in the order in which they meet them.
    """
    try:
        return {"read": 1.0, **measure_reply(question["measured_by"], Reply(results[0])).metrics}
    except InvalidMove:
        return {"read": 0.0}


def read_questions(path: Path) -> list[BenchQuestion]:
    """Read the questions that `publish` wrote."""
    lines = read_text_file(path, _LARGEST).splitlines()
    questions = [cast(BenchQuestion, parse_json(line)) for line in lines]
    if not questions or "measured_by" not in questions[0]:
        raise UsageError(f"{path} holds no questions of `bestresponse publish`")
    return questions


def _play(settings: str, number: int, reply: Reply) -> tuple[ScriptedModel, StoredPlay]:
    # Not every model of every tool takes a schema: the prompt is the one for models that do not.
    model = ScriptedModel([reply], abilities=Abilities())
    spec = _list_specs(settings)[number]
    play_one = prepare_plays(_make_plan(settings), {MODEL: model})
    return model, StoredPlay(spec.id, spec.data, play_one(spec, [], lambda submission: None))


@cache
def _make_plan(settings: str) -> Plan:
    return Plan(BenchConfig.from_json(parse_json(settings)))


@cache
def _list_specs(settings: str) -> list[Spec]:
    return list(map(Spec.of, _make_plan(settings).list_plays()))
