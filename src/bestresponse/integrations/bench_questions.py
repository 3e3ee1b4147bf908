"""The questions of `bestresponse bench`, one at a time, for tools that ask models themselves.

Games, prompt, reading and figures are those of the benchmark: each question is a play of it whose
model says what the tool's model said, so that a figure has one value in every tool. No tool is
named here.
"""

from dataclasses import dataclass
from functools import cache

from bestresponse.core.errors import InvalidMove
from bestresponse.models.base import Abilities, Reply, Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import Spec, StoredPlay
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.measure import measure_plays
from bestresponse.studies.bench.plan import Plan, prepare_plays

FIGURES = ("nash_gap", "gap_normalised", "exploitability", "exploitability_normalised")
"""What is measured, by the names in which the benchmark reports it."""
_MODEL = "model"


@dataclass(frozen=True, slots=True)
class MeasuredReply:
    """A strategy as it was read, and its figures by name."""

    strategy: list[float]
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class BenchQuestions:
    """Ask for the row player's mixed strategy in `num_games` random zero-sum games.

    Each player has the given number of actions.

    >>> questions = BenchQuestions(num_games=1, actions=2, seed=3)
    >>> questions.measure_reply(0, Reply("ANSWER: A: 1/2, B: 1/2")).strategy
    [0.5, 0.5]
    """

    num_games: int = 20
    actions: int = 3
    seed: int = 0

    def write_request(self, number: int) -> Request:
        """Write what the benchmark asks a model in game `number`, counted from 0."""
        model, _ = self._play(number, Reply(""))
        return model.asked[0]

    def measure_reply(self, number: int, reply: Reply) -> MeasuredReply:
        """Read a reply and measure it; `InvalidMove` where there is nothing to be read."""
        _, play = self._play(number, reply)
        ((row, _),) = measure_plays(_make_plan(self), [play])
        if row["strategy"] is None:
            raise InvalidMove(row["how"])
        values = dict(row)
        figures = {name: value for name in FIGURES if isinstance(value := values.get(name), float)}
        return MeasuredReply(row["strategy"], figures)

    def _play(self, number: int, reply: Reply) -> tuple[ScriptedModel, StoredPlay]:
        # Not every model of every tool takes a schema: the prompt is the one for models that do
        # not.
        model = ScriptedModel([reply], abilities=Abilities())
        spec = _list_specs(self)[number]
        record = prepare_plays(_make_plan(self), {_MODEL: model})(spec, [], lambda submission: None)
        return model, StoredPlay(spec.id, spec.data, record)


@cache
def _make_plan(questions: BenchQuestions) -> Plan:
    size = questions.actions
    config = BenchConfig(
        _MODEL,
        num_games=questions.num_games,
        num_rows=size,
        num_cols=size,
        seed=questions.seed,
        elicit="mixed",
    )
    return Plan(config)


@cache
def _list_specs(questions: BenchQuestions) -> list[Spec]:
    return list(map(Spec.of, _make_plan(questions).list_plays()))
