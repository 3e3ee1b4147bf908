"""Formalizing stories: how often a model's program is the story's true game.

The model writes a program for a story.

A program *means what the story says* if its game is the true one: payoff for payoff where the story
gives numbers, else by the constraints of the game's name or of the story, or, where there are none,
by the order of everybody's payoffs.

`reproduce` compares games that were recorded for stories, by any method. Its folder is that of
`--stories`, texts with games beside them; `recorded/METHOD/STORY/N.efg` (or `.nfg`, `.pl`) is the
N-th game that a method wrote for a story.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypedDict, cast, get_args

import numpy as np

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, InvalidGame, SettingError, StoreError
from bestresponse.core.files import read_prose
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.player import Call, Decision, Reading, Status
from bestresponse.formal.evaluate.dataset import (
    Story,
    choose,
    judge_program,
    make_story,
    read_reference,
    read_stories,
    stories,
)
from bestresponse.formal.formalize.autoformalizer import Formalization, Formalizer, Settings
from bestresponse.formal.formalize.forms import estimate_formalizing
from bestresponse.formal.formalize.plan import Wish
from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.games.comparison import Verdict, compare_games
from bestresponse.games.logic.tables import table_to_data, write_table_program
from bestresponse.games.lookup import find_game
from bestresponse.logic.engine import LogicEngine, open_engine
from bestresponse.logic.programs.validate import validate
from bestresponse.logic.settings import settings as logic_settings
from bestresponse.models.base import Finish, ModelsByName
from bestresponse.models.codec import reply_to_json, request_to_json
from bestresponse.players.llm.verified import find_spelling
from bestresponse.report.blocks import bars, metrics_table, pivot, table, text
from bestresponse.report.document import Column, Table
from bestresponse.report.frames import Frame, Heads, MeanColumn, ShareColumn, column, list_metrics
from bestresponse.report.stats.statistics import Interval, bound_mean, wilson
from bestresponse.runs.execution import KeepAnswer, PlayOne
from bestresponse.runs.inputs import (
    Converted,
    DefaultModel,
    ModelsSetting,
    NamedModel,
    NamesSetting,
)
from bestresponse.runs.reporting.answers import Readings
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.studies.reproduce.recorded_programs import CODES
from bestresponse.studies.reproduce.reproduction import Check, Reproduction

AUTHOR = "author"
VERDICTS = (*get_args(Verdict), "no game")


class OwnStories(Converted["str | Path | Sequence[Story]", tuple[Story, ...]]):
    """The user's own stories: a folder of texts with games beside them.

    They are kept as the texts and the games.
    """

    files = True

    @classmethod
    def convert(cls, value: str | Path | Sequence[Story], stored: bool) -> tuple[Story, ...]:
        """Read the folder, or what was kept of it."""
        if isinstance(value, str | Path):
            if stored or not Path(value).exists():
                raise SettingError("stories", f"{value}: there is no such folder")
            return read_stories(Path(value))
        return tuple(_take_story(story) for story in value)

    @classmethod
    def to_json(cls, value: tuple[Story, ...]) -> list[dict[str, object]]:
        """Return names, texts, programs, and what decides how programs for a story are judged."""
        kept = ("text", "game", "numeric", "canonical", "language", "orders")
        return [
            {"name": story.id, "program": write_table_program(story.table)}
            | {name: getattr(story, name) for name in kept}
            for story in value
        ]


def _take_story(story: Story | JsonMapping) -> Story:
    """Return a story, or the one that a run has kept as data."""
    match story:
        case Story():
            return story
        case Mapping():
            return make_story(**story)
        case _:
            raise SettingError(
                "stories",
                f"expected a folder, or stories as `read_stories` returns them, got {story!r:.80}",
            )


@settings
class WritingSettings(RunSettings):
    """How models are asked for programs."""

    model: ModelsSetting = setting(
        default=(DefaultModel("qwen2.5-coder-1.5b"),), kw_only=False, short="-m"
    )
    """A model; see `bestresponse models`."""
    attempts: int = setting(default=5, ge=1, le=20, help="Maximum attempts per program.")
    samples: int = setting(default=5, ge=1, le=1000, help="Programs per model and text.")
    temperature: float = setting(default=0.0, ge=0, le=5, help="Sampling temperature.")
    llm_seed: int | None = setting(default=None, help="Seed sent to models that accept one.")

    def __post_init__(self) -> None:
        if len(set(self.model)) < len(self.model):
            raise SettingError("model", "a name occurs twice; give each once")

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """The models that write."""
        return self.model


@settings
class StoriesConfig(WritingSettings):
    """Measure how well models turn stories into games."""

    stories: OwnStories = setting(default=())
    """Folder of your own stories: NAME.txt, each with its game as NAME.efg, NAME.nfg or NAME.pl.
    [default: the included stories]"""
    games: NamesSetting = setting(
        default=(), help="Kinds of games whose stories are used. [default: all]"
    )
    count: int | None = setting(default=None, ge=1)
    """Number of stories, spread over games and kinds. [default: all]"""
    shots: int = setting(default=1, ge=0, le=10, help="Worked examples in the prompt.")
    choose: Literal["nearest", "first"] = setting(default="nearest")
    """Which examples: nearest to the story, or first (the prisoner's dilemma)."""
    form: Wish = setting(default="auto", help="What models are asked to write.")
    max_tokens: int = setting(
        default=1500,
        ge=1,
        le=100_000,
        help="Maximum tokens per reply.",
    )
    effort: Literal["minimal", "low", "medium", "high"] | None = setting(default=None)
    """Reasoning effort, for models that have one. [default: the provider's choice]"""
    reasoning_tokens: int | None = setting(default=None, ge=0, le=200_000)
    """Maximum reasoning tokens. [default: the provider's choice]"""
    samples: int = setting(default=1, ge=1, le=1000, help="Programs per model and text.")
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {
        "paper": {
            "games": tuple(CODES.values()),
            "form": "program",
            "choose": "first",
            "shots": 1,
            "attempts": 5,
            "llm_seed": 0,
            "samples": 5,
            "max_tokens": 1024,
            "temperature": 1.0,
        }
    }
    alternatives: ClassVar[Mapping[str, tuple[str, ...]]] = {"games": ("stories",)}

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.model:
            if spelling := find_spelling(name):
                raise SettingError(
                    "model", f"{name}: programs are checked anyway; name it without `{spelling}`"
                )
        choose(self.known_stories, self.games)
        story, count = Counter(story.id for story in self.known_stories).most_common(1)[0]
        if count > 1:
            raise SettingError("stories", f"{count} are called {story}; expected different names")

    @property
    def known_stories(self) -> tuple[Story, ...]:
        """The stories to choose from."""
        return self.stories or stories()

    def choose_stories(self) -> tuple[Story, ...]:
        """Return the stories of the run, balanced over games.

        One of every game comes before the second of any, and its kinds take turns.

        The games come in an order that mixes the files: a few stories already show chance, turns
        and tables.
        """
        kinds: Counter[tuple[str, bool, bool]] = Counter()
        by_game: dict[str, list[tuple[int, int, Story]]] = {}
        for number, story in enumerate(choose(self.known_stories, self.games)):
            kind = (story.game, story.numeric, story.canonical)
            by_game.setdefault(story.game, []).append((kinds[kind], number, story))
            kinds[kind] += 1
        ranked = [
            (rank, digest(game), story)
            for game, entries in by_game.items()
            for rank, (_, _, story) in enumerate(sorted(entries, key=lambda entry: entry[:2]))
        ]
        return tuple(story for _, _, story in sorted(ranked, key=lambda entry: entry[:2]))[
            : self.count
        ]


def list_tasks(config: StoriesConfig) -> Iterator[dict[str, object]]:
    """Yield every story for every model, stories in the outermost loop.

    The story itself is part of the spec.
    """
    shared = {}
    for name, value in config.to_json().items():
        if name not in ("model", "stories", "games", "count"):
            shared[name] = value
    for story in config.choose_stories():
        fixed = {
            "study": "stories",
            "story": story.id,
            "hash": digest([story.text, table_to_data(story.table)]),
        }
        for model in config.model:
            for sample in range(config.samples):
                yield {**shared, **fixed, "model": str(model), "sample": sample}


def prepare_tasks(config: StoriesConfig, models: ModelsByName) -> PlayOne:
    """Return the function that lets a model write the game of one story."""
    texts = {story.id: story.text for story in config.known_stories}
    engine = open_engine("embedded", logic_settings.limits)
    how = Settings(
        attempts=config.attempts,
        shots=config.shots,
        choose=config.choose,
        form=config.form,
        max_tokens=config.max_tokens,
        temperature=config.temperature,
        effort=config.effort,
        reasoning_tokens=config.reasoning_tokens,
        seed=config.llm_seed,
    )

    def play(spec: Spec, done: list[Submission], keep: KeepAnswer) -> Record:
        if not done:
            asked = replace(how, replicate=spec.data["sample"])
            written = Formalizer(models[spec.data["model"]], engine, asked).formalize(
                texts[spec.data["story"]]
            )
            done = [Submission(AUTHOR, _decide(written))]
            keep(done[0])
        return record_writing("stories", spec, done[0])

    return play


def record_writing(study: str, spec: Spec, written: Submission) -> Record:
    """Record what a model wrote, which is worth 1 if it can be used."""
    usable = float(written.decision.reading.status is Status.VALID)
    return Record(study, 1, {AUTHOR: spec.data["model"]}, (written,), {AUTHOR: usable})


def _decide(written: Formalization) -> Decision:
    """Keep the program and all it took as one decision."""
    action: JsonObject = {
        "program": written.source,
        "attempts": len(written.attempts),
        "first": written.attempts[0].ok if written.attempts else False,
        "examples": list(written.examples),
        "tokens": list(written.tokens),
        "no_game": written.no_game,
    }
    calls = tuple(
        Call(written.model, request_to_json(attempt.request), reply_to_json(attempt.reply))
        for attempt in written.attempts
    )
    last = written.attempts[-1].reply.text if written.attempts else ""
    return Decision(
        action,
        last,
        Reading(_find_status(written), written.trouble),
        calls,
    )


def _find_status(written: Formalization) -> Status:
    if written.ok:
        return Status.VALID
    if written.no_game is not None:
        return Status.REFUSED
    best = written.best
    if best is not None and best.reply.finish is Finish.LENGTH:
        return Status.TRUNCATED
    return Status.UNPARSEABLE if best is None or best.report is None else Status.ILLEGAL


def estimate_calls(config: StoriesConfig) -> Estimate:
    """Count the calls of all stories."""
    texts = [story.text for story in config.choose_stories()]
    return estimate_writing(config, texts, f"{len(texts)} stories")


def estimate_writing(config: WritingSettings, texts: Sequence[str], what: str) -> Estimate:
    """Count calls at most, and the tokens of one call for each program: most are right at once."""
    tokens = [estimate_formalizing(text) for text in texts]
    names = list(map(str, config.model))
    programs = len(texts) * config.samples
    return Estimate(
        programs * len(names),
        what,
        dict.fromkeys(names, programs * config.attempts),
        dict.fromkeys(names, config.samples * sum(prompt for prompt, _ in tokens)),
        dict.fromkeys(names, config.samples * sum(reply for _, reply in tokens)),
    )


class StoryRow(TypedDict):
    """One program written for one story, judged on every level.

    `meaning`: it is the story's true game; `first`: it was a game at the first attempt.
    `equivalent` is not asked of stories without numbers, whose true payoffs are ranks.
    """

    model: str
    story: str
    game: str
    numeric: bool
    canonical: bool
    language: str
    sample: int
    status: str
    attempts: int
    first: bool
    prompt: int
    completion: int
    syntactic: bool | None
    functional: bool | None
    approximate: bool | None
    exact: bool | None
    order: bool | None
    constraints: bool | None
    equivalent: bool | None
    meaning: bool
    verdict: Annotated[str, column(help="how the game is related to the true one")]
    why: Annotated[str, column("why not")]


class KindRow(TypedDict):
    """How many programs for stories of one kind load, and how many mean what the story says."""

    by: str
    stories: str
    model: str
    right: int
    programs: int
    share: Annotated[
        Interval, column(format=".0%", help="means what the story says, 95 % interval")
    ]
    syntactic: Annotated[
        Interval, column("loads", ".0%", "reader and static checks find no error, 95 % interval")
    ]


class StoryCorrectnessRow(TypedDict):
    """The share of programs for the stories of a game that are right on one level.

    The level is syntactic or semantic.
    """

    model: str
    game: str
    level: str
    share: Annotated[float, column("share of programs", ".0%")]


class AttemptsRow(TypedDict):
    """How many programs of a model were a game at this attempt, or never."""

    model: str
    attempt: str
    programs: int
    share: Annotated[Interval, column(format=".0%", help="95 % interval over stories")]


class VerdictRow(TypedDict):
    """How many programs of a model are related to the true game in one way."""

    model: str
    verdict: str
    programs: int
    share: Annotated[Interval, column(format=".0%", help="95 % interval over stories")]


class ModelMetrics(TypedDict):
    """The metrics of a model.

    Shares are of the programs of which it was asked, None where of none.
    """

    programs: int
    """programs that were written"""
    syntactic: Annotated[Interval | None, column("loads", ".0%")]
    """reader and static checks find no error"""
    functional: Annotated[Interval | None, column("plays", ".0%")]
    """every play ends with one payoff for everybody"""
    approximate: ShareColumn
    """the players' total payoffs over all ends are right"""
    exact: ShareColumn
    """the payoffs of every end are right, up to names"""
    constraints: ShareColumn
    """the constraints of the named game hold"""
    meaning: Annotated[Interval | None, column("means what the story says", ".0%")]
    """the true game: exact if the story has numbers, otherwise by preferences"""
    equivalent: ShareColumn
    """the true game up to positive affine payoffs"""
    first: Annotated[Interval | None, column("a game at first", ".0%")]
    """a game, right or wrong, at the first attempt"""
    attempts: MeanColumn
    """mean number of programs written for a story"""
    prompt: Annotated[int, column("read (tokens)", ",")]
    """tokens of all prompts"""
    completion: Annotated[int, column("written (tokens)", ",")]
    """tokens of all replies"""


def estimate_share(hits: Sequence[bool], stories: Sequence[str]) -> Interval:
    """Compute a share with its interval over stories.

    Programs for the same story are no independent evidence.

    Several programs for a single story count as one story, whose interval says next to nothing.
    """
    if len(set(stories)) == len(stories):
        return wilson(sum(hits), len(hits))
    if len(set(stories)) == 1:
        return Interval(
            sum(hits) / len(hits),
            0.0,
            1.0,
            level=0.95,
            method="one story",
            n=1,
        )
    return bound_mean(
        np.array(hits, dtype=float),
        (0.0, 1.0),
        stories,
        rng=np.random.default_rng(0),
    )


_LEVELS = ("syntactic", "functional", "approximate", "exact", "constraints")
"""The levels of Mensfelt, Stathis and Trencsenyi (2024)."""


def _sum_up_programs(rows: Sequence[StoryRow]) -> ModelMetrics:
    shares: dict[str, Interval | None] = {}
    for name in (*_LEVELS, "meaning", "equivalent", "first"):
        asked = [(value, row["story"]) for row in rows if isinstance(value := row.get(name), bool)]
        shares[name] = (
            estimate_share([hit for hit, _ in asked], [story for _, story in asked])
            if asked
            else None
        )
    totals = {name: sum(row[name] for row in rows) for name in ("attempts", "prompt", "completion")}
    figures: Any = {
        "programs": len(rows),
        **shares,
        **totals,
        "attempts": totals["attempts"] / len(rows),
    }
    return cast(ModelMetrics, figures)


def measure_stories(config: StoriesConfig, folder: RunFolder) -> Measured:
    """Judge every program against the true game of its story."""
    engine = open_engine("embedded", logic_settings.limits)
    known = {story.id: story for story in config.known_stories}
    rows = []
    for play in folder.sorted_plays():
        if play.data["story"] not in known:
            raise StoreError(
                f"the run tells a story that does not exist any more: {play.data['story']}"
            )
        rows.append(_judge(play, known[play.data["story"]], engine))
    order = {str(model): number for number, model in enumerate(config.model)}
    rows.sort(key=lambda row: (order.get(row["model"], len(order)), row["story"], row["sample"]))
    groups: dict[Heads, ModelMetrics] = {}
    for model in dict.fromkeys(row["model"] for row in rows):
        groups[model,] = _sum_up_programs([row for row in rows if row["model"] == model])
    kinds = [
        *_count_right(rows, "game", lambda row: row["game"]),
        *_count_right(rows, "kind", _describe_kind),
    ]
    readings = Readings()
    for row in rows:
        readings.add(row["model"], row["status"], "")
    return Measured(
        {
            "programs": Frame(StoryRow, rows),
            "kinds": Frame(KindRow, kinds),
            "attempts": Frame(AttemptsRow, list(_count_attempts(rows, config.attempts))),
            "correctness": Frame(StoryCorrectnessRow, list(list_correctness(kinds))),
            "verdicts": Frame(VerdictRow, list(_count_verdicts(rows))),
            "answers": readings.frames["answers"],
        },
        len(rows),
        ("model",),
        groups,
    )


def _judge(play: StoredPlay, story: Story, engine: LogicEngine) -> StoryRow:
    decision = play.record.submissions[-1].decision
    action = decision.action
    report = validate(action["program"], engine)
    levels, meaning = judge_program(report, story)
    prompt, completion = action["tokens"]
    row: Any = {
        "model": play.data["model"],
        "story": story.id,
        **{name: getattr(story, name) for name in ("game", "numeric", "canonical", "language")},
        "sample": play.data["sample"],
        "status": decision.reading.status.value,
        **{name: action[name] for name in ("attempts", "first")},
        "prompt": prompt,
        "completion": completion,
        **{name: finding.ok for name, finding in levels.items()},
        **({} if story.numeric else {"equivalent": None}),
        # What was refused, because it was cut off for instance, has told no game, whatever it can
        # be read as.
        "meaning": bool(meaning.ok) and decision.reading.status is Status.VALID,
        "verdict": levels.verdict,
        "why": decision.reading.how or meaning.why,
    }
    return cast(StoryRow, row)


def _describe_kind(row: StoryRow) -> str:
    language = "" if row["language"] == "en" else f", {row['language']}"
    numbers = "numeric" if row["numeric"] else "in words"
    return f"{'canonical' if row['canonical'] else 'disguised'}, {numbers}{language}"


def _count_right(
    rows: Sequence[StoryRow],
    by: str,
    describe: Callable[[StoryRow], str],
) -> Iterator[KindRow]:
    """Yield for every kind of story and model how many programs mean what the story says."""
    for kind in sorted({describe(row) for row in rows}):
        for model in dict.fromkeys(row["model"] for row in rows):
            written = [row for row in rows if describe(row) == kind and row["model"] == model]
            right = [row["meaning"] for row in written]
            if right:
                names = [row["story"] for row in written]
                yield KindRow(
                    by=by,
                    stories=kind,
                    model=model,
                    right=sum(right),
                    programs=len(right),
                    share=estimate_share(right, names),
                    syntactic=estimate_share([bool(row["syntactic"]) for row in written], names),
                )


def list_correctness(kinds: Sequence[KindRow]) -> Iterator[StoryCorrectnessRow]:
    """Yield the syntactic and semantic correctness of every game, for the picture."""
    for row in kinds:
        if row["by"] == "game":
            for level, share in (("syntactic", row["syntactic"]), ("semantic", row["share"])):
                yield StoryCorrectnessRow(
                    model=row["model"],
                    game=row["stories"],
                    level=level,
                    share=share.estimate,
                )


def _count_attempts(rows: Sequence[StoryRow], most: int) -> Iterator[AttemptsRow]:
    """Yield how many programs became a game at each attempt, and how many never did."""
    for model in dict.fromkeys(row["model"] for row in rows):
        written = [row for row in rows if row["model"] == model]
        names = [row["story"] for row in written]
        for attempt, hits in list_attempts(written, most):
            share = estimate_share(hits, names)
            yield AttemptsRow(
                model=model,
                attempt=attempt,
                programs=sum(hits),
                share=share,
            )


def list_attempts(
    rows: Sequence[Mapping[str, object]], most: int
) -> Iterator[tuple[str, list[bool]]]:
    """Yield every attempt, and never, with which of the rows became usable there."""
    needed = []
    for row in rows:
        needed.append(str(row["attempts"]) if row["status"] == Status.VALID.value else "never")
    for attempt in (*map(str, range(1, most + 1)), "never"):
        yield attempt, [one == attempt for one in needed]


def _count_verdicts(rows: Sequence[StoryRow]) -> Iterator[VerdictRow]:
    for model in dict.fromkeys(row["model"] for row in rows):
        model_rows = [row for row in rows if row["model"] == model]
        names = [row["story"] for row in model_rows]
        for verdict in VERDICTS:
            hits = [row["verdict"] == verdict for row in model_rows]
            share = estimate_share(hits, names)
            yield VerdictRow(
                model=model,
                verdict=verdict,
                programs=sum(hits),
                share=share,
            )


_PROSE = read_prose(__file__)

stories_study = Study(
    "stories",
    StoriesConfig,
    specs=list_tasks,
    play=prepare_tasks,
    measure=measure_stories,
    metrics=list_metrics(ModelMetrics),
    title="From stories to games",
    subtitle=(
        "{{ config.model|join(', ') }} on {{ frame('programs').list_values('story')|length }}"
        " stories"
    ),
    command="bench stories",
    unit="stories",
    tables=3,
    texts=(TEXTS,),
    estimate_calls=estimate_calls,
    report=(
        text(_PROSE["right"]),
        metrics_table("How many programs are right", "Shares with 95 % intervals."),
        pivot(
            "attempts",
            "attempt",
            "model",
            "programs",
            title="Attempts",
            caption=_PROSE["attempts"],
        ),
        pivot(
            "verdicts",
            "verdict",
            "model",
            "share",
            title="As compare says it",
            caption=_PROSE["verdicts"],
        ),
        *(
            pivot(
                "kinds",
                "stories",
                "model",
                "share",
                where={"by": by},
                title=title,
                caption=_PROSE["kinds"],
            )
            for by, title in (("game", "By game"), ("kind", "By kind of story"))
        ),
        pivot(
            "kinds",
            "stories",
            "model",
            "syntactic",
            where={"by": "game"},
            caption=_PROSE["loads"],
        ),
        bars(
            "correctness",
            "game",
            "share",
            "level",
            stacked=False,
            split="model",
            title="Syntactic and semantic correctness by game",
            caption=_PROSE["correctness"],
        ),
        text(_PROSE["valid"], title="What went wrong"),
        table("programs", columns=("model", "story", "why"), where={"meaning": False}),
    ),
)
"""How often the program that a model writes for a story is the story's true game, level by
level."""


def reproduce_stories(folder: Path) -> Reproduction:
    """Say for every method how its games relate to the true ones.

    Intervals are over stories.
    """
    truths = {text.stem: read_reference(text) for text in sorted(folder.glob("*.txt"))}
    by_method: dict[str, list[tuple[str, str]]] = {}
    for path in sorted((folder / "recorded").glob("*/*/*")):
        if path.suffix not in (
            ".efg",
            ".nfg",
            ".pl",
        ):  # notes and logs beside the games are no failed games
            continue
        method, story = path.parts[-3:-1]
        if story not in truths:
            raise InvalidGame(f"{path}: there is no story {story}.txt in {folder}")
        try:
            verdict: str = compare_games(find_game(path).solvable(), truths[story]).verdict
        except BestResponseError:
            verdict = "no game"
        by_method.setdefault(method, []).append((verdict, story))
    if not by_method:
        raise InvalidGame(f"{folder} holds no games recorded/METHOD/STORY/N.efg")
    rows = []
    checks = []
    for method, verdicts in by_method.items():
        stories = [story for _, story in verdicts]
        counts = [sum(verdict == relation for verdict, _ in verdicts) for relation in VERDICTS]
        share = estimate_share([verdict == VERDICTS[0] for verdict, _ in verdicts], stories)
        rows.append((method, len(set(stories)), len(verdicts), *counts, share))
        checks.append(
            Check(
                f"{method}: {VERDICTS[0]}",
                None,
                f"{counts[0]} of {len(verdicts)}",
                None,
            )
        )
    columns = (
        Column("method"),
        *(Column(name, "right") for name in ("stories", "games", *VERDICTS)),
    )
    table = Table(
        (*columns, Column(f"share of {VERDICTS[0]}", "right", format=".0%")),
        tuple(rows),
        str(folder.name),
    )
    return Reproduction(
        "stories",
        "Games recorded for stories, compared with the true ones.",
        tuple(checks),
        (table,),
    )
