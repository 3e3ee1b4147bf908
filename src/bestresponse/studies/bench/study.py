"""The benchmark: how far from optimal a model plays.

A question is a payoff table of two players, an information set of a game that is played in turn,
or a position of a game of perfect information.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from bestresponse.analysis.people import show_people
from bestresponse.core.ask import Ask
from bestresponse.core.errors import SettingError
from bestresponse.core.files import read_prose
from bestresponse.core.game import AnyGame, View
from bestresponse.core.json import JsonMapping
from bestresponse.core.lazy import LazyMapping
from bestresponse.models.base import ModelsByName
from bestresponse.players.llm.player import prompt
from bestresponse.players.llm.verified import calls_per_answer
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    boxes,
    headline,
    intervals,
    lead,
    lines,
    metrics_table,
    scatter,
    table,
    text,
)
from bestresponse.report.document import Code, Note
from bestresponse.report.frames import Frame, Heads, Value
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import (
    ComparedBy,
    Estimate,
    GameValue,
    Judgement,
    Measured,
    OwnWays,
    Study,
)
from bestresponse.studies.bench import decision_frames, metrics
from bestresponse.studies.bench.adaptive import AdaptivePlan
from bestresponse.studies.bench.budgets import BudgetRow, list_budgets
from bestresponse.studies.bench.config import EMBEDDED, BenchConfig
from bestresponse.studies.bench.decision_report import draw_policies, show_decisions
from bestresponse.studies.bench.frames import measure_tables
from bestresponse.studies.bench.judging import judge_plays
from bestresponse.studies.bench.plan import BASE, Plan
from bestresponse.studies.bench.positions import PositionPlan
from bestresponse.studies.bench.result_files import list_benchmark_files
from bestresponse.studies.bench.trees import TreePlan
from bestresponse.studies.bench.twins import tabulate_twins
from bestresponse.telling.render import CHARACTERS_PER_TOKEN, write_history, write_rules
from bestresponse.theory.trees.tree import Tree

_SECONDS = 7
"""Of a call of the embedded model on one processor: a first run of 100 games was seen to take 12
minutes."""
_CHARACTERS_PER_TOKEN = 4
"""About what a token of a prompt takes."""


@lru_cache(maxsize=4)
def plan_questions(config: BenchConfig) -> Plan | TreePlan | PositionPlan:
    """Return what these settings ask about, the same object each time.

    Its games are drawn, and its decisions found, once.
    """
    if config.positions is not None:
        return AdaptivePlan(config) if config.is_adaptive else PositionPlan(config)
    return TreePlan(config) if isinstance(config.form, Tree) else Plan(config)


def estimate_prompts(config: BenchConfig) -> Estimate:
    """Count calls (every attempt) and tokens from the first plays of their kind."""
    plan = plan_questions(config)
    what = plan.what
    plays = 0
    calls = dict.fromkeys(map(str, config.models), 0)
    characters = dict(calls)
    for data, count in plan.count_by_first():
        plays += count
        if data["model"] not in calls:
            continue
        shown, ask = show_question(plan.make_game(data), data)
        each = data.get("samples", 1) * data["attempts"] * calls_per_answer(data["model"])
        asked = count * each
        length = len(prompt(shown, ask, "line"))
        calls[data["model"]] += asked
        characters[data["model"]] += asked * length
    if EMBEDDED in calls:
        minutes = -(-calls[EMBEDDED] * _SECONDS // 60)
        what += f"; {EMBEDDED} takes about {minutes} minute{'s' if minutes > 1 else ''}"
    return Estimate(
        plays,
        what,
        calls,
        {name: count // _CHARACTERS_PER_TOKEN for name, count in characters.items()},
        {name: count * config.paid_tokens for name, count in calls.items()},
    )


def check_prompts(config: BenchConfig) -> None:
    """Refuse a game that a model cannot be told.

    Its prompt would be longer than the settings allow.
    """
    plan = plan_questions(config)
    models = set(map(str, config.models))
    for data, _ in plan.count_by_first():
        if data["model"] not in models:
            continue
        game = plan.make_game(data)
        shown, ask = show_question(game, data)
        tokens = -(-len(prompt(shown, ask, "line")) // CHARACTERS_PER_TOKEN)
        if tokens > config.max_prompt_tokens:
            raise SettingError(
                "max_prompt_tokens",
                f"a prompt takes about {tokens:,} tokens; at most {config.max_prompt_tokens:,} are"
                " allowed. Use a smaller game, or raise the limit",
            )


def prepare_checked_plays(config: BenchConfig, models: ModelsByName) -> PlayOne:
    """Return the function that plays one spec, once it is known that no prompt is too long."""
    check_prompts(config)
    return plan_questions(config).prepare(models)


def show_question(game: AnyGame, data: JsonMapping) -> tuple[View, Ask]:
    """Return what the player of a play is shown, and asked for."""
    role = game.roles[data.get("seat", 0)]
    state = game.start()
    return game.view(state, role), game.asks(state)[role]


def measure_run(config: BenchConfig, folder: RunFolder) -> Measured:
    """Measure the finished plays."""
    plan = plan_questions(config)
    if isinstance(plan, Plan):
        measured = measure_tables(plan, folder)
    else:
        measured = decision_frames.measure_decisions(plan, folder)
    frames = {name: partial(measured.frames.__getitem__, name) for name in measured.frames}

    def find_loss(heads: Heads) -> Value:
        for metric in measured.metrics or decision_frames.ALL_METRICS:
            figure = metric.compute(measured.groups[heads]) if metric.name in _TESTED else None
            if figure is not None:
                return figure
        return None

    def list_costs() -> Frame[BudgetRow]:
        return Frame(BudgetRow, list(list_budgets(measured, folder, find_loss)))

    return replace(measured, frames=LazyMapping({**frames, "budgets": list_costs}))


def list_compared(config: BenchConfig, measured: Measured) -> Iterator[GameValue]:
    """Yield what players lost, game by game or decision by decision."""
    plan = plan_questions(config)
    if isinstance(plan, Plan):
        return metrics.list_game_values(plan, measured)
    return decision_frames.list_decision_values(plan, measured)


def judge_answers(config: BenchConfig, plays: Sequence[StoredPlay]) -> list[Judgement]:
    """Say what every play lost, and what would have been right."""
    plan = plan_questions(config)
    if isinstance(plan, Plan):
        return judge_plays(plan, plays)
    return [decision_frames.judge_decision(plan, play) for play in plays]


def list_files(measured: Measured, run: Run[BenchConfig]) -> Iterator[tuple[Path, str]]:
    """Yield the files of the benchmark's document, which describes payoff tables."""
    plan = plan_questions(run.config)
    if isinstance(plan, Plan):
        yield from list_benchmark_files(plan, run)


def warn_unfinished(measured: Measurement) -> Shown | None:
    """Say how many planned plays are missing."""
    played = set(measured.frame("plays").list_values("spec"))
    missing = (measured.total or 0) - len(played)
    sentence = f"{missing} planned plays are not finished; run the same command to play them."
    return Shown("", (Note(sentence, "warning"),)) if missing > 0 else None


def show_first_play(measured: Measurement) -> Shown:
    """Show the first question of the run as models are asked it."""
    plan = plan_questions(measured.config)
    data = next(iter(plan.list_plays()))
    shown, _ = show_question(plan.make_game(data), data)
    question = "\n\n".join(filter(None, (write_rules(shown), write_history(shown))))
    return Shown("The first question as it was shown", (Code(question, "text"),))


_HARD = (
    "Harder games to the right: where uniform play loses more. Lines join means of equally many"
    " games."
)
_HARD_POSITIONS = (
    "Harder positions to the right: where fewer moves are right. Lines join means of equally many"
    " answers."
)
_BOXES = (
    "Box: middle half; line: median; diamond: mean; whiskers: to the last game within one and a"
    " half widths of the box (Tukey's rule), beyond which a game is an outlier."
)


def show_pairs(comparison: str, title: str = "", caption: str = "Paired on common games.") -> table:
    """Show the differences of one kind of comparison."""
    columns = (
        "player",
        "against",
        "by",
        "difference",
        "p",
        "p_adjusted",
        "effect",
        "games",
    )
    return table(
        "differences",
        columns,
        title=title,
        caption=caption,
        where={"comparison": comparison},
    )


_IN_NUMBERS = (
    "nash_gap_median",
    "nash_gap_std",
    "nash_gap_min",
    "nash_gap_max",
    "gap_ratio",
    "llm_value",
    "br_value",
    "gap_spread_within",
    "gap_spread_between",
    "consistency",
)
"""The metrics of the second table: how the gaps of all answers are spread."""
_BOUNDS = ("gap_at_least", "gap_at_most", "exploitability_at_least", "exploitability_at_most")
_PROSE = read_prose(__file__)


_TESTED = ("exploitability_normalised", "gap_normalised", "regret_normalised")
_TABLES = {"invariance": 4, "sensitivity": 3, "buckets": 3}
"""Of a suite, on the terminal; others have two."""


def count_tables(config: BenchConfig) -> int:
    """Count the tables that are shown on the terminal."""
    if config.positions is not None:
        return 1
    return _TABLES.get(config.suite, 2)


bench = Study(
    "bench",
    BenchConfig,
    specs=lambda config: plan_questions(config).list_plays(),
    play=prepare_checked_plays,
    measure=measure_run,
    metrics=decision_frames.ALL_METRICS,
    compared=ComparedBy(
        list_compared,
        tested=_TESTED,
        together=tabulate_twins,
    ),
    title="How far from optimal?",
    subtitle=_PROSE["subtitle"],
    command="bench",
    tables=count_tables,
    game=lambda config, data: plan_questions(config).make_game(data),
    count_plays=lambda config: plan_questions(config).total,
    estimate_calls=estimate_prompts,
    own=OwnWays(judge=judge_answers, more_files=list_files),
    report=(
        text(_PROSE["no_answers"], kind="warning"),
        lead(_TESTED, "loses"),
        warn_unfinished,
        text(_PROSE["partly_asked"], kind="warning"),
        show_people,
        text(_PROSE["small_model"], kind="info"),
        headline(
            (
                "nash_gap",
                "gap_normalised",
                "exploitability_normalised",
                "nash_conv",
                "regret",
                "optimal",
                "precision",
                "success_1",
                "contamination",
                "invariance",
                "answered",
            )
        ),
        metrics_table(
            "How far from optimal",
            _PROSE["metrics"],
            but=(*_IN_NUMBERS, *_BOUNDS),
            last=(
                "success_1",
                "success_5",
                "games_needed",
                "policies",
                "complete",
                "known",
                "asked",
                "answered",
            ),
        ),
        metrics_table(
            "The Nash gap in numbers",
            "Over all answers that were read.",
            only=("nash_gap", *_IN_NUMBERS),
        ),
        metrics_table(
            "If every answer could have been read",
            "The least and the most that a figure could be, for players whose answers are missing.",
            only=_BOUNDS,
        ),
        text(_PROSE["gap_and_exploitability"]),
        text(_PROSE["positions"]),
        table(
            "seats",
            title="Seat by seat",
            caption="Equilibrium by {{ frame('game')[0].method }}.",
        ),
        draw_policies,
        table(
            "infosets",
            ("seat", "infoset", "policy", "equilibrium", "excess", "loss", "regret"),
            title="Where policies lose",
            caption="Weighted by how likely play comes there.",
            split="player",
            most=400,
        ),
        text(_PROSE["variants"], title="Same game, told otherwise"),
        table("variants", ("player", "version", "invariance")),
        show_pairs(
            "variants",
            caption="How other ways of telling change the gap; positive: worse than as drawn.",
        ),
        intervals(
            "variants",
            ("player", "version"),
            "invariance",
            caption="With 95 % intervals.",
            reference=1.0,
        ),
        table(
            "settings",
            ("player", "version", "asked", "answered", "gap_normalised"),
            title="Sensitivity",
        ),
        intervals(
            "settings",
            ("player", "version"),
            "gap_normalised",
            caption="With 95 % intervals.",
        ),
        text(_PROSE["buckets"], title="Bucket by bucket"),
        table(
            "buckets", caption="Zero-sum games by size, range of payoffs and kind of equilibrium."
        ),
        intervals(
            "buckets",
            ("player", "tier"),
            "gap_normalised",
            caption="Tier by tier, with 95 % intervals.",
            where={"size": "all"},
        ),
        table(
            "same_games",
            title="On the games that were answered",
            caption="Above, baselines play all games.",
        ),
        boxes(
            "games",
            "player",
            "gap_normalised",
            known_of_models="hardness",
            where={"condition": BASE},
            title="Game by game",
            caption=f"Nash gap of every game. {_BOXES}",
        ),
        boxes(
            "games",
            "player",
            "exploitability_normalised",
            known_of_models="hardness",
            where={"condition": BASE},
            caption=f"What a best response takes. {_BOXES}",
        ),
        scatter(
            "games",
            "hardness",
            "gap_normalised",
            "player",
            where={"condition": BASE},
            title="Which games are hard",
            caption=_HARD,
        ),
        scatter(
            "plays",
            "hardness",
            "regret",
            "model",
            title="Which positions are hard",
            caption=_HARD_POSITIONS,
        ),
        table(
            "budgets",
            title="Loss and budget",
            caption="What a play takes, and what is lost as a share of what could be.",
        ),
        lines("budgets", "tokens", "lost", "player", caption="Loss by tokens per play."),
        show_pairs("players", "Players compared"),
        show_pairs(
            "verified",
            "Verified reasoning",
            "The first less the second; negative: the first loses less.",
        ),
        text(_PROSE["verified"], kind="info"),
        show_pairs(
            "beliefs", "Beliefs", "What it changes to be asked first what the other will do."
        ),
        show_decisions,
        show_first_play,
        text(_PROSE["readings"], title="How the answers were read"),
        table("texts", caption="What was done, and what was wrong."),
    ),
)
"""Nash gap and exploitability of models on matrix games, drawn or one in many orders of its
actions."""
