"""The benchmark on games of perfect information: what every single move loses."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from bestresponse.core.files import read_toml
from bestresponse.models.base import Model
from bestresponse.players.llm.verified import make_label
from bestresponse.report.blocks import headline, metrics_table, table, text
from bestresponse.report.frames import BASELINE, Frame, Heads, Metric, Value, column
from bestresponse.report.stats.statistics import bound_mean
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import ComparedBy, Estimate, Measured, Study
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.positions.questions import (
    PositionPlan,
    PositionQuestion,
    plan_positions,
    prepare_positions,
)
from bestresponse.studies.bench.study import (
    check_prompts,
    estimate_prompts,
    show_first_play,
    warn_unfinished,
)
from bestresponse.theory.positions.solve import list_best

_SEED = 21
"""Of the resampling: the same for all players, so that they are resampled alike."""
_LONGEST_REPLY = 2000


class AnsweredPosition(TypedDict):
    """One answer: the move, or the mixture, and what it loses."""

    spec: str
    model: Annotated[str, column("player")]
    way: Annotated[str, column("asked for")]
    question: Annotated[int, column(help="the position, by its number")]
    sample: int
    seat: str
    position: Annotated[str, column(help="what the player was told of the position")]
    answer: str | None
    best: Annotated[str, column("best moves")]
    regret: Annotated[float | None, column(format=".4f", help="what the answer loses")]
    range: Annotated[float, column(format=".4f", help="what the worst move loses")]
    optimal: Annotated[
        float | None, column(format=".2f", help="probability of a best move in the answer")
    ]
    status: Annotated[str, column("read as")]
    how: Annotated[str, column("what was repaired, or what was wrong")]
    reply: str


class AskedGame(TypedDict):
    """The game: how many positions it has, how it was solved, how many are asked about."""

    positions: int
    decisions: int
    asked: int
    method: str
    bound: float
    value: float | None


Rows = Sequence[AnsweredPosition]


def _mean(name: str, title: str, explained: str, format: str) -> Metric[Rows]:
    """Make the metric that averages a column over the answers that were read.

    Positions are resampled, each with all of its answers.
    """

    def compute(rows: Rows) -> Value:
        read = [row for row in rows if row["regret"] is not None]
        if not read:
            return None
        values, most = [], 1.0
        for row in read:
            value = row["optimal"] if name == "optimal" else row["regret"]
            assert value is not None
            values.append(value / row["range"] if name == "regret_normalised" else value)
            if name == "regret":
                most = max(most, row["range"])
        clusters = [row["question"] for row in read]
        return bound_mean(values, (0.0, most), clusters, rng=_SEED)

    return Metric(name, title, help=explained, unit="", format=format, compute=compute)


METRICS: tuple[Metric[Rows], ...] = (
    _mean("regret", "regret per move", "what a move loses against best play, mean", ".4f"),
    _mean(
        "regret_normalised",
        "regret / range",
        "as a share of what the worst move at that position loses",
        ".3f",
    ),
    _mean("optimal", "optimal moves", "share of answers that are a best move", ".0%"),
    Metric(
        "asked",
        "asked",
        help="answers that were asked for",
        unit="",
        format="",
        compute=len,
    ),
    Metric(
        "answered",
        "answered",
        help="share of the answers that could be read",
        unit="",
        format=".0%",
        compute=lambda rows: sum(row["regret"] is not None for row in rows) / len(rows),
    ),
)
"""Every figure of a player, in the order of the columns."""


def _make_row(plan: PositionPlan, stored: StoredPlay) -> AnsweredPosition:
    """Measure one answer."""
    data = stored.data
    decision = stored.record.submissions[-1].decision
    action = decision.action
    mix: dict[str, float] | None = None
    if isinstance(action, str):
        mix = {move: float(move == action) for move in data["moves"]}
    elif action is not None:
        mix = dict(zip(data["moves"], map(float, action), strict=True))
    row = _score(plan, data["question"], mix)
    row |= {"spec": stored.spec, "model": make_label(data["model"]), "way": data["way"]}
    row |= {"sample": data["sample"], "reply": decision.reasoning[:_LONGEST_REPLY]}
    row |= {"status": decision.reading.status.value, "how": decision.reading.how}
    return row


def _score(plan: PositionPlan, number: int, mix: Mapping[str, float] | None) -> AnsweredPosition:
    """Measure an answer to a question; None where it could not be read."""
    question = plan.questions[number]
    shown = None
    if mix is not None:
        likely = {move: share for move, share in mix.items() if share > 0}
        shown = ", ".join(
            move if share == 1 else f"{move} {share:.3g}" for move, share in likely.items()
        )
    return AnsweredPosition(
        spec="",
        model="uniform",
        way=BASELINE,
        question=number,
        sample=0,
        seat=question.role,
        position=plan.tell(question),
        answer=shown,
        best=", ".join(list_best(question.worths)),
        regret=None if mix is None else question.measure_loss(mix),
        range=question.range,
        optimal=None if mix is None else question.measure_best(mix),
        status="",
        how="",
        reply="",
    )


def _mix_evenly(question: PositionQuestion) -> dict[str, float]:
    return dict.fromkeys(question.worths, 1 / len(question.worths))


def measure_moves(config: BenchConfig, folder: RunFolder) -> Measured:
    """Measure all answers, beside those of a player that chooses any move equally often."""
    plan = plan_positions(config)
    rows = [_make_row(plan, stored) for stored in folder.sorted_plays()]
    readings = Readings()
    groups: dict[Heads, Rows] = {}
    for label in config.labels:
        for way in config.elicit:
            own = [row for row in rows if (row["model"], row["way"]) == (label, way)]
            if own:
                groups[label, way] = own
    for row in rows:
        readings.add(f"{row['model']} / {row['way']}", row["status"], row["how"])
    if rows:
        numbered = enumerate(plan.questions)
        groups["uniform", BASELINE] = [_score(plan, k, _mix_evenly(q)) for k, q in numbered]
    graph = config.solved.graph
    about = AskedGame(
        positions=len(graph.known),
        decisions=graph.num_decisions,
        asked=len(plan.questions),
        method="backward induction over positions",
        bound=config.solved.bound,
        value=float(config.solved.values[0, 0]),
    )
    frames = {
        "plays": Frame(AnsweredPosition, rows),
        "game": Frame(AskedGame, [about]),
        "answers": readings.frames["answers"],
    }
    answered = [row for row in rows if row["regret"] is not None]
    return Measured(frames, answered=len(answered), labels=("player", "asked for"), groups=groups)


def estimate_positions(config: BenchConfig) -> Estimate:
    """Count calls and tokens from the first question."""
    plan = plan_positions(config)
    decisions = config.solved.graph.num_decisions
    asked = f"{len(plan.questions):,} of {decisions:,} positions of {plan.game.name}"
    return estimate_prompts(config, asked, plan.count_by_first())


def prepare_checked_positions(config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that puts one question, once it is known that no prompt is too long."""
    check_prompts(config, plan_positions(config).count_by_first())
    return prepare_positions(config, models)


_SHOWN = ("model", "way", "question", "seat", "position", "answer", "best", "regret", "status")
_PROSE = read_toml(Path(__file__).with_name("report.toml"))

positions = Study(
    "positions",
    BenchConfig,
    specs=lambda config: plan_positions(config).list_plays(),
    play=prepare_checked_positions,
    measure=measure_moves,
    metrics=METRICS,
    compared=ComparedBy(tested=("regret_normalised",)),
    title="What does a move lose?",
    subtitle=_PROSE["subtitle"],
    unit="answers",
    tables=1,
    game=lambda config, data: plan_positions(config).make_question(data),
    count_plays=lambda config: plan_positions(config).total,
    estimate_calls=estimate_positions,
    report=(
        warn_unfinished,
        headline(("regret", "optimal", "answered")),
        metrics_table("What moves lose", _PROSE["metrics"], last=("asked", "answered")),
        text(_PROSE["asked"]),
        table("plays", _SHOWN, title="Every answer", most=1000),
        show_first_play,
        text(_PROSE["readings"], title="How the answers were read"),
    ),
)
"""Regret per move and share of optimal moves at sampled positions of a game of perfect
information."""
