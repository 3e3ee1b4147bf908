"""The Nash-gap benchmark: how far from optimal models play matrix games.

Every play puts one game to one model; the opponent is fixed to its equilibrium strategy. A game
that is played in turn is the study `sequential`, one that is solved by its positions the study
`positions`, with the same settings.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from bestresponse.analysis.people import show_people
from bestresponse.core.ask import Ask
from bestresponse.core.capabilities import check_telling
from bestresponse.core.episode import Record
from bestresponse.core.errors import SettingError
from bestresponse.core.files import read_toml
from bestresponse.core.game import Game, S, View
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.capabilities import HasTree
from bestresponse.models.base import Model
from bestresponse.players.llm.player import prompt
from bestresponse.players.llm.verified import MOST_ATTEMPTS, is_verified
from bestresponse.report.blocks import (
    Measurement,
    Shown,
    boxes,
    headline,
    intervals,
    lines,
    metrics_table,
    scatter,
    table,
    text,
)
from bestresponse.report.document import Code, Note
from bestresponse.runs.execution import Execution, Outcome, PlayOne, execute
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import ComparedBy, Estimate, OwnWays, Study
from bestresponse.studies.bench.config import EMBEDDED, BenchConfig
from bestresponse.studies.bench.frames import measure_bench
from bestresponse.studies.bench.listed import judge_plays
from bestresponse.studies.bench.measure import PlayRow, measure_plays
from bestresponse.studies.bench.metrics import METRICS, is_gap_known, list_game_values
from bestresponse.studies.bench.plan import BASE, Plan, make_bench_game, prepare_plays
from bestresponse.studies.bench.result_files import list_benchmark_files
from bestresponse.telling.render import CHARACTERS_PER_TOKEN, write_history, write_rules
from bestresponse.theory.trees.tree import Tree

_SECONDS = 7
"""Of a call of the embedded model on one processor: a first run of 100 games was seen to take 12
minutes."""
_CHARACTERS_PER_TOKEN = 4
"""About what a token of a prompt takes."""


def estimate_prompts(
    config: BenchConfig,
    what: str,
    firsts: Iterable[tuple[JsonObject, int]],
) -> Estimate:
    """Count calls (every attempt) and tokens from some plays.

    Each play comes with the number of plays that are asked like it.
    """
    study = bench.pick(config)
    plays = 0
    calls = {str(name): 0 for name in config.models}
    characters = dict(calls)
    for data, count in firsts:
        plays += count
        if data["model"] not in calls:
            continue
        shown, ask = show_question(study.game(config, data), data)
        asked = (
            count
            * data.get("samples", 1)
            * data["attempts"]
            * (MOST_ATTEMPTS if is_verified(data["model"]) else 1)
        )
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


def check_prompts(config: BenchConfig, firsts: Iterable[tuple[JsonObject, int]]) -> None:
    """Refuse a game that a model cannot be told.

    Its prompt would be longer than the settings allow, or it cannot be told by its own check.
    """
    study = bench.pick(config)
    models = {str(name) for name in config.models}
    for data, _ in firsts:
        if data["model"] not in models:
            continue
        game = study.game(config, data)
        # Trees are limited by their length alone, which the setting takes the place of.
        if game is not None and not isinstance(game, HasTree):
            check_telling(game)
        shown, ask = show_question(game, data)
        tokens = -(-len(prompt(shown, ask, "line")) // CHARACTERS_PER_TOKEN)
        if tokens > config.max_prompt_tokens:
            raise SettingError(
                "max_prompt_tokens",
                f"a prompt takes about {tokens:,} tokens; at most {config.max_prompt_tokens:,} are"
                " allowed. Use a smaller game, or raise the limit",
            )


def prepare_checked_plays(config: BenchConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that plays one spec, once it is known that no prompt is too long."""
    plan = Plan(config)
    check_prompts(config, plan.count_by_first())
    return prepare_plays(plan, models)


def show_question(game: Game[S] | None, data: JsonMapping) -> tuple[View, Ask]:
    """Return what the player of a play is shown, and asked for."""
    assert game is not None, "every play of the benchmark has a game"
    role = game.roles[data.get("seat", 0)]
    state = game.start()
    return game.view(state, role), game.asks(state)[role]


def play_until_precise(
    config: BenchConfig,
    folder: RunFolder,
    models: Mapping[str, Model],
    how: Execution,
) -> Outcome:
    """Play what is missing until every player's normalised gap is known well enough.

    It has to be known as precisely as the settings want.
    """
    plan = Plan(config)
    half_width = config.precision
    seen: dict[tuple[str, str], list[PlayRow]] = {}

    def add(play: StoredPlay) -> None:
        if play.data["variant"] == "original" and play.data["condition"] == BASE:
            ((row, _),) = measure_plays(plan, [play])
            if row["gap_normalised"] is not None:
                seen.setdefault((row["model"], row["elicit"]), []).append(row)

    def is_precise() -> bool:
        if half_width is None or len(seen) < len(config.model) * len(config.elicit):
            return False
        return all(is_gap_known(rows, half_width) for rows in seen.values())

    def note(spec: Spec, record: Record) -> bool:
        add(StoredPlay(spec.id, spec.data, record))
        return is_precise()

    if half_width is not None:
        for play in folder.plays():
            add(play)
        if is_precise():
            return Outcome(found=len(folder.finished()))
    return execute(
        how.choose(bench.list_specs(config)),
        bench.start(config, models, how),
        folder,
        total=plan.total if how.shard is None else bench.count_part(config, how.shard),
        on_progress=how.on_progress,
        enough=None if half_width is None else note,
    )


def warn_unfinished(measured: Measurement) -> Shown | None:
    """Say how many planned plays are missing.

    Returns nothing where a run ends as soon as its figures are precise.
    """
    missing = (measured.total or 0) - len(measured.frame("plays"))
    sentence = f"{missing} planned plays are not finished; run the same command to play them."
    return Shown("", (Note(sentence, "warning"),)) if missing > 0 else None


def show_first_play(measured: Measurement) -> Shown:
    """Show the first question of the run as models are asked it."""
    study = bench.pick(measured.config)
    data = next(iter(study.specs(measured.config)))
    shown, _ = show_question(study.game(measured.config, data), data)
    question = "\n\n".join(filter(None, (write_rules(shown), write_history(shown))))
    return Shown("The first question as it was shown", (Code(question, "text"),))


_HARD = (
    "Harder games to the right: where uniform play loses more. Lines join means of equally many"
    " games."
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


def list_outliers(figure: str) -> table:
    """Show the outliers of a picture."""
    columns = ("play", "game", "player", "value")
    return table(
        "outliers",
        columns,
        caption="Outliers, linked to their plays.",
        where={"figure": figure},
    )


def choose_study(config: BenchConfig) -> str:
    """Name the study that asks about the game of these settings."""
    if config.positions is not None:
        return "positions"
    return "sequential" if isinstance(config.form, Tree) else "bench"


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
_PROSE = read_toml(Path(__file__).with_name("report.toml"))

bench = Study(
    "bench",
    BenchConfig,
    specs=lambda config: Plan(config).list_plays(),
    play=prepare_checked_plays,
    measure=measure_bench,
    metrics=METRICS,
    compared=ComparedBy(list_game_values, tested=("exploitability_normalised", "gap_normalised")),
    title="How far from optimal?",
    subtitle=_PROSE["subtitle"],
    command="bench",
    tables=lambda config: {
        "invariance": 4,
        "sensitivity": 3,
        "generalisation": 7,
        "buckets": 3,
    }.get(config.suite, 2),
    game=lambda config, data: make_bench_game(data),
    count_plays=lambda config: None if config.precision else Plan(config).total,
    estimate_calls=lambda config: estimate_prompts(
        config,
        f"{config.games:,} game{'s' if config.games > 1 else ''}, seed {config.seed}",
        Plan(config).count_by_first(),
    ),
    make_run=play_until_precise,
    own=OwnWays(
        choose=choose_study,
        judge=judge_plays,
        more_files=lambda measured, run: list_benchmark_files(run),
    ),
    report=(
        text(_PROSE["no_answers"], kind="warning"),
        warn_unfinished,
        show_people,
        text(_PROSE["small_model"], kind="info"),
        headline(
            (
                "nash_gap",
                "gap_normalised",
                "exploitability_normalised",
                "success_1",
                "contamination",
                "invariance",
                "answered",
            )
        ),
        metrics_table(
            "How far from optimal",
            "With 95 % intervals (games resampled). Smaller gaps are better.",
            but=_IN_NUMBERS,
            last=("success_1", "success_5", "games_needed", "asked", "answered"),
        ),
        metrics_table(
            "The Nash gap in numbers",
            "Over all answers that were read.",
            only=("nash_gap", *_IN_NUMBERS),
        ),
        text(_PROSE["gap_and_exploitability"]),
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
        text(_PROSE["generalisation"], title="Generalisation"),
        table("sizes", caption="The same questions about games of other sizes."),
        table(
            "names",
            caption=(
                "Well-known games under their own names and under letters (means resample games)."
            ),
        ),
        show_pairs("names"),
        table(
            "padding", caption="Games with one dominated action more for each player, and as drawn."
        ),
        show_pairs("padding"),
        lines(
            "sizes",
            "actions",
            "success_1",
            "player",
            caption="Answers within 1 % of optimal, 95 % intervals.",
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
        list_outliers("gap_normalised"),
        boxes(
            "games",
            "player",
            "exploitability_normalised",
            known_of_models="hardness",
            where={"condition": BASE},
            caption=f"What a best response takes. {_BOXES}",
        ),
        list_outliers("exploitability_normalised"),
        scatter(
            "games",
            "hardness",
            "gap_normalised",
            "player",
            where={"condition": BASE},
            title="Which games are hard",
            caption=_HARD,
        ),
        show_pairs("players", "Players compared"),
        table(
            "self_play",
            caption="The model against itself: correlated-equilibrium regret of its two answers.",
        ),
        show_pairs(
            "verified",
            "Verified reasoning",
            "The first less the second; negative: the first loses less.",
        ),
        text(_PROSE["verified"], kind="info"),
        text(_PROSE["listed"], title="The plays", kind="info"),
        table(
            "listed",
            title="The plays",
            caption="Unread answers and large losses first.",
            most=100,
        ),
        show_first_play,
        text(_PROSE["readings"], title="How the answers were read"),
        table("texts", caption="What was done, and what was wrong."),
    ),
)
"""Nash gap and exploitability of models on matrix games, drawn or one in many orders of its
actions."""
