"""Formalizing strategies: how often rules written by a model match the strategy.

The model writes rules for a strategy in words.

After Mensfelt, Stathis and Trencsenyi (2024), section 4.4: five strategies in words, each written
several times with tit-for-tat as the example. Rules are *right* if in both seats they behave
exactly like the known strategy, after every history; *approximate* is the check of the study, the
total of four rounds in the first seat against anti-tit-for-tat.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, TypedDict

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, SettingError
from bestresponse.core.files import read_prose, read_toml
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision, Reading, Status
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.strategies.agents import (
    Agent,
    StrategyFormalization,
    StrategySettings,
    write_match_program,
    write_strategy_rules,
)
from bestresponse.formal.strategies.programs import published_strategy
from bestresponse.formal.strategies.texts import TEXTS
from bestresponse.games.lookup import NamedGame
from bestresponse.logic.engine import open_engine
from bestresponse.logic.settings import settings as logic_settings
from bestresponse.models.base import ModelsByName
from bestresponse.report.blocks import metrics_table, pivot, table, text
from bestresponse.report.frames import Frame, Heads, MeanColumn, ShareColumn, column, list_metrics
from bestresponse.report.stats.statistics import Interval, wilson
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.inputs import (
    GameSetting,
    NamesSetting,
)
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.settings import setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.studies.stories.study import (
    AUTHOR,
    WritingSettings,
    estimate_share,
    estimate_writing,
    list_attempts,
    record_writing,
)
from bestresponse.studies.tournament.entries import StageGame, make_stage
from bestresponse.theory.repeated.automaton import Automaton, behave_alike
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin

_ALL = "all"
_RIVAL = "anti-tit-for-tat"
_ROUNDS = Repetition(rounds=4)
"""Four rounds of tit-for-tat against its contrary meet all pairs of two moves."""
STRATEGY_WORDS: Mapping[str, str] = read_toml(Path(__file__).with_name("strategies.toml"))
"""The strategies in words, by name."""
_FIVE = (
    "anti-default-move",
    "anti-tit-for-tat",
    "best-response",
    "default-move",
    "random",
)


@settings
class StrategiesConfig(WritingSettings):
    """Measure how well models turn strategies in words into rules."""

    strategies: NamesSetting = setting(default=_FIVE, help="Strategies to write.")
    game: GameSetting = setting(default_factory=lambda: NamedGame("prisoners-dilemma"))
    """Game of the strategies: two players with the same two moves [default:
    prisoners-dilemma]."""
    max_tokens: int = setting(
        default=1024,
        ge=1,
        le=100_000,
        help="Maximum tokens per reply.",
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {
            "attempts": 5,
            "samples": 5,
            "max_tokens": 1024,
            "temperature": 1.0,
            "llm_seed": 0,
        }
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.strategies:
            if name not in STRATEGY_WORDS:
                raise SettingError(
                    "strategies",
                    f"there is no text for {name!r}.{did_you_mean(name, list(STRATEGY_WORDS))}",
                )
        stage = make_stage(self.game)
        for name in self.strategies:
            find_truth(name, stage)

    @property
    def stage(self) -> StageGame:
        """The game of one round."""
        return make_stage(self.game)


def _write_program(stage: StageGame) -> str:
    return stage.program or write_match_program(stage.form)


def _find_automata(name: str, rules: str, stage: StageGame) -> tuple[Automaton, Automaton]:
    seats = Agent(name, _write_program(stage), rules).seats()
    actions = (stage.form.actions[0], stage.form.actions[0])
    return seats.automaton(0, actions), seats.automaton(1, actions)


@cache
def find_truth(name: str, stage: StageGame) -> tuple[Automaton, Automaton]:
    """Return what the known strategy does in both seats of the game."""
    return _find_automata(name, published_strategy(name), stage)


def find_total(automaton: Automaton, stage: StageGame) -> float | None:
    """Return what a strategy earns in four rounds in the first seat against anti-tit-for-tat.

    Returns None if it draws.
    """
    if not automaton.pure:
        return None
    rival = find_truth(_RIVAL, stage)[1]
    return float(exact_round_robin([automaton, rival], stage.form, _ROUNDS).totals[0, 1, 0])


def list_strategies_to_write(config: StrategiesConfig) -> Iterator[dict[str, object]]:
    """Yield every strategy for every model, `samples` times."""
    asked = {
        "attempts": config.attempts,
        "max_tokens": config.max_tokens,
        "temperature": config.temperature,
        "llm_seed": config.llm_seed,
    }
    for name in config.strategies:
        for model in config.model:
            for sample in range(config.samples):
                yield {
                    "study": "strategies",
                    "game": config.game.to_json(),
                    "strategy": name,
                    "words": STRATEGY_WORDS[name].strip(),
                    "model": str(model),
                    "sample": sample,
                    **asked,
                }


def prepare_writing(config: StrategiesConfig, models: ModelsByName) -> PlayOne:
    """Return the function that lets a model write the rules of one strategy."""
    engine = open_engine("embedded", logic_settings.limits)
    program = _write_program(config.stage)

    def play(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        if not done:
            asked = StrategySettings(
                attempts=config.attempts,
                max_tokens=config.max_tokens,
                temperature=config.temperature,
                seed=config.llm_seed,
                replicate=spec.data["sample"],
            )
            written = write_strategy_rules(
                spec.data["words"],
                program,
                models[spec.data["model"]],
                engine,
                asked,
            )
            done = [Submission(AUTHOR, _decide(written))]
            keep(done[0])
        return record_writing("strategies", spec, done[0])

    return play


def _decide(written: StrategyFormalization) -> Decision:
    """Keep the rules and all it took as one decision."""
    last = written.attempts[-1]
    used = [attempt.reply.usage for attempt in written.attempts]
    action: JsonObject = {
        "rules": last.rules,
        "attempts": len(written.attempts),
        "prompt": sum(usage.prompt for usage in used),
        "completion": sum(usage.completion for usage in used),
    }
    reading = Reading(written.status, written.trouble)
    return Decision(action, last.reply.text, reading, written.calls)


def estimate_rules(config: StrategiesConfig) -> Estimate:
    """Count the calls of all strategies, each with the program of the game in its prompt."""
    count = len(config.strategies)
    texts = [_write_program(config.stage)] * count
    return estimate_writing(config, texts, f"{count} strategies, {config.samples} times each")


class WrittenRulesRow(TypedDict):
    """The rules that a model wrote once for a strategy, compared with the known strategy."""

    model: str
    strategy: str
    sample: int
    status: str
    attempts: int
    prompt: int
    completion: int
    plays: bool
    """they give a move in every situation, in both seats"""
    expected: Annotated[float | None, column("expected total", "g")]
    """of four rounds in the first seat against anti-tit-for-tat; None where chance decides"""
    total: Annotated[float | None, column(format="g")]
    approximate: bool | None
    """the total is the expected one; None where the known strategy draws"""
    right: bool
    """they behave like the known strategy in both seats"""
    why: Annotated[str, column("why not")]


class RulesMetrics(TypedDict):
    """The metrics of a model and a strategy."""

    written: int
    """number of times rules were requested"""
    plays: ShareColumn
    """the rules give a move in every situation, in both seats"""
    approximate: ShareColumn
    """four rounds against anti-tit-for-tat earn the expected total"""
    right: ShareColumn
    """the rules behave exactly like the known strategy, in both seats"""
    attempts: MeanColumn
    """mean number of answers"""


class RulesAttemptsRow(TypedDict):
    """How many rules for a strategy could be played at this attempt, or never."""

    strategy: str
    attempt: str
    rules: int


def judge_rules(name: str, rules: str, stage: StageGame) -> tuple[bool, float | None, bool, str]:
    """Say whether rules can be played, their total, whether they are right, and why not.

    The total is against anti-tit-for-tat.
    """
    truth = find_truth(name, stage)
    try:
        written = _find_automata(name, rules, stage)
    except BestResponseError as error:
        return False, None, False, str(error)
    total = find_total(written[0], stage)
    wrong = []
    for seat, mine, known in zip(("first", "second"), written, truth, strict=True):
        if not behave_alike(mine, known):
            wrong.append(seat)
    why = f"it does not behave like {name} in the {' and the '.join(wrong)} seat" if wrong else ""
    return True, total, not wrong, why


def measure_rules(config: StrategiesConfig, folder: RunFolder) -> Measured:
    """Judge all rules against the known strategies."""
    rows = [_judge(config, play) for play in folder.sorted_plays()]
    models = {str(model): number for number, model in enumerate(config.model)}
    strategies = {name: number for number, name in enumerate(config.strategies)}
    rows.sort(key=lambda row: (models[row["model"]], strategies[row["strategy"]], row["sample"]))
    groups: dict[Heads, RulesMetrics] = {}
    readings = Readings()
    for row in rows:
        readings.add(row["model"], row["status"], "")
    for model in dict.fromkeys(row["model"] for row in rows):
        of_model = [row for row in rows if row["model"] == model]
        for name in dict.fromkeys(row["strategy"] for row in of_model):
            groups[model, name] = _sum_up([row for row in of_model if row["strategy"] == name])
        groups[model, _ALL] = _sum_up(of_model)
    return Measured(
        {
            "rules": Frame(WrittenRulesRow, rows),
            "attempts": Frame(RulesAttemptsRow, list(count_rule_attempts(rows, config.attempts))),
            "answers": readings.frames["answers"],
        },
        len(rows),
        ("model", "strategy"),
        groups,
    )


def _judge(config: StrategiesConfig, play: StoredPlay) -> WrittenRulesRow:
    decision = play.record.submissions[-1].decision
    action = decision.action
    name = play.data["strategy"]
    stage = config.stage
    expected = find_total(find_truth(name, stage)[0], stage)
    plays = False
    total = None
    right = False
    why = decision.reading.how
    if decision.reading.status is Status.VALID:
        plays, total, right, why = judge_rules(name, action["rules"], stage)
    return WrittenRulesRow(
        model=play.data["model"],
        strategy=name,
        sample=play.data["sample"],
        status=decision.reading.status.value,
        attempts=action["attempts"],
        prompt=action["prompt"],
        completion=action["completion"],
        plays=plays,
        expected=expected,
        total=total,
        approximate=None if expected is None else total == expected,
        right=right,
        why=why,
    )


def _sum_up(rows: Sequence[WrittenRulesRow]) -> RulesMetrics:
    names = [row["strategy"] for row in rows]
    known = [row for row in rows if row["approximate"] is not None]
    return RulesMetrics(
        written=len(rows),
        plays=_estimate([row["plays"] for row in rows], names),
        approximate=_estimate(
            [bool(row["approximate"]) for row in known], [row["strategy"] for row in known]
        ),
        right=_estimate([row["right"] for row in rows], names),
        attempts=sum(row["attempts"] for row in rows) / len(rows),
    )


def _estimate(hits: Sequence[bool], names: Sequence[str]) -> Interval | None:
    """Compute a share: over repetitions for one strategy, over strategies for several."""
    if not hits:
        return None
    return wilson(sum(hits), len(hits)) if len(set(names)) == 1 else estimate_share(hits, names)


def count_rule_attempts(rows: Sequence[WrittenRulesRow], most: int) -> Iterator[RulesAttemptsRow]:
    """Yield how many rules could be played at each attempt, and how many never."""
    for name in dict.fromkeys(row["strategy"] for row in rows):
        written = [row for row in rows if row["strategy"] == name]
        for attempt, hits in list_attempts(written, most):
            yield RulesAttemptsRow(strategy=name, attempt=attempt, rules=sum(hits))


_PROSE = read_prose(__file__)

strategies_study = Study(
    "strategies",
    StrategiesConfig,
    specs=list_strategies_to_write,
    play=prepare_writing,
    measure=measure_rules,
    metrics=list_metrics(RulesMetrics),
    title="From words to strategies",
    subtitle="{{ config.model|join(', ') }} in {{ config.game.name }}",
    command="bench strategies",
    unit="strategies",
    texts=(TEXTS,),
    estimate_calls=estimate_rules,
    report=(
        text(_PROSE["strategies"]),
        metrics_table("How many rules are right", "Shares with 95 % intervals."),
        pivot(
            "attempts",
            "strategy",
            "attempt",
            "rules",
            title="Attempts",
            caption=_PROSE["attempts"],
        ),
        table(
            "rules",
            columns=("model", "strategy", "why"),
            where={"right": False},
            title="What went wrong",
        ),
    ),
)
"""How often the rules that a model writes for a strategy in words are that strategy."""
