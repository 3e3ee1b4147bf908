"""Judging transcripts: rubrics, blinded items, scores of several judges, and how far these agree.

A task holds items (text without the names of players) and judges; each judge sees all items in an
order of their own. A score is the number of a level from 1; whoever judges an item twice counts
with the last.
"""

import itertools
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache, partial
from typing import Annotated

import numpy as np
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE
from bestresponse.core.json import JsonMapping
from bestresponse.core.seeds import generator
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.stats import agreement
from bestresponse.report.stats.statistics import Interval
from bestresponse.report.tables import to_csv
from bestresponse.runs.reporting.steps import Step, list_steps
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.studies.verify.ratings import ERROR_KINDS
from bestresponse.studies.water.judging import SCALES, rubric
from bestresponse.telling.render import write_rules
from bestresponse.web.sessions.errors import NotFound
from bestresponse.web.sessions.journal import Journal
from bestresponse.web.watching.runs import rebuild_game

_MOST_ITEMS = 1000
_LONGEST = 50_000
_RESAMPLES = 400


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question to a judge.

    `levels` say what 1, 2, ... mean, in order unless `scale` is nominal.
    """

    key: str
    title: str
    levels: tuple[str, ...]
    scale: agreement.Scale = "ordinal"


@pydantic_dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class JudgedItem:
    """One transcript with its name."""

    id: Annotated[str, Field(min_length=1, max_length=80)]
    text: Annotated[str, Field(max_length=_LONGEST)]


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """What is judged, by what and by whom."""

    id: str
    title: str
    rubric: str
    items: tuple[JudgedItem, ...]
    judges: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.rubric not in rubrics():
            raise UsageError(
                f"there is no rubric named {self.rubric!r}; known: {', '.join(rubrics())}"
            )
        if not self.items or len(self.items) > _MOST_ITEMS:
            raise UsageError(f"{len(self.items)} transcripts: expected 1 to {_MOST_ITEMS}")
        if len({item.id for item in self.items}) < len(self.items):
            raise UsageError("two transcripts have the same name")
        if not self.judges or len(set(self.judges)) < len(self.judges):
            raise UsageError("expected the names of the judges, at least one and all different")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria of the rubric."""
        return rubrics()[self.rubric]

    def order(self, judge: int) -> list[JudgedItem]:
        """The items as that judge sees them."""
        shuffled = list(self.items)
        generator(int(self.id, 16), "order", judge).shuffle(shuffled)
        return shuffled


@dataclass(frozen=True, slots=True)
class Score:
    """What one judge says about one item: a level for each criterion."""

    judge: str
    item: str
    levels: Mapping[str, int]
    remark: str = ""


@cache
def rubrics() -> dict[str, tuple[Criterion, ...]]:
    """The scales for play, the protocol of errors in reasoning, and a checker's verdicts.

    Scales and protocol are the published ones.
    """
    scales = tuple(Criterion(scale, *rubric()[scale]) for scale in SCALES[:-1])
    yes_no = ("no", "yes")
    errors = {kind: f"{words[:1].upper()}{words[1:]}" for kind, words in ERROR_KINDS.items()}
    reasoning = {"correct": "Is the reasoning about payoffs correct?", **errors}
    verdicts = {
        "reading": "Does the sentence say what it was read as?",
        "verdict": "Is the verdict right?",
    }
    asked = {"play": scales}
    for name, known in (("reasoning", reasoning), ("verdicts", verdicts)):
        asked[name] = tuple(Criterion(*pair, yes_no, "nominal") for pair in known.items())
    return asked


def _check_levels(
    task: JudgingTask, answers: Mapping[str, str]
) -> tuple[dict[str, int], dict[str, str]]:
    """The levels, and for each criterion without a proper one a sentence."""
    levels: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for criterion in task.criteria:
        text = answers.get(criterion.key, "").strip()
        if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= len(criterion.levels):
            levels[criterion.key] = int(text)
        else:
            wrong[criterion.key] = f"Choose a level from 1 to {len(criterion.levels)}."
    return levels, wrong


def read_items(text: str) -> tuple[JudgedItem, ...]:
    """Read transcripts from a table with the columns `item` and `text`."""
    rows = enumerate(agreement.read_sheet(text, ("item", "text")), 1)
    return tuple(
        JudgedItem(row["item"][:80] or str(number), row["text"][:_LONGEST])
        for number, (_, row) in rows
    )


def tabulate_agreement(task: JudgingTask, scores: Iterable[Score]) -> Table:
    """Tabulate median and agreement of every criterion.

    A dash where one is not defined, as with one judge.
    """
    scored = {(score.judge, score.item): score.levels for score in scores}
    measures = []
    for name in ("Krippendorff's alpha", "Fleiss' kappa", "ICC(1,1)"):
        measures.append(Column(name, "right", format=".2f"))
    columns = (
        Column("criterion"),
        Column("scores", "right"),
        Column("median", "right", format=".3g"),
        *measures,
    )
    rows: list[tuple[Cell, ...]] = []
    for criterion in task.criteria:
        ratings = np.full((len(task.judges), len(task.items)), np.nan)
        for row, judge in enumerate(task.judges):
            for column, item in enumerate(task.items):
                levels = scored.get((judge, item.id), {})
                ratings[row, column] = levels.get(criterion.key, np.nan)
        known = range(1, len(criterion.levels) + 1)
        summary = agreement.summarise_ratings(ratings, known, criterion.scale)
        alpha = _bound_alpha(tuple(map(tuple, ratings)), criterion.scale)
        rows.append(
            (criterion.title, summary.scores, summary.median, alpha, summary.fleiss, summary.icc)
        )
    return Table(columns, tuple(rows), "The interval of alpha holds 95 % by resampling transcripts")


@lru_cache(maxsize=256)
def _bound_alpha(levels: tuple[tuple[float, ...], ...], scale: agreement.Scale) -> Interval | None:
    """Compute Krippendorff's alpha of a table of judges x items with its interval.

    Returns None where it is not defined.
    """
    table = np.array(levels)
    rng = np.random.default_rng(0)
    shared = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    alpha = partial(
        agreement.compute_if_defined, lambda ratings: agreement.krippendorff_alpha(ratings, scale)
    )
    estimate = alpha(shared)
    if estimate is None:
        return None
    items = shared.shape[1]
    drawn = [alpha(shared[:, rng.integers(items, size=items)]) for _ in range(_RESAMPLES)]
    # Where a sample has no two scores that differ, all judges of it agree.
    low, high = np.quantile([1.0 if value is None else value for value in drawn], (0.025, 0.975))
    return Interval(
        estimate, float(low), high=float(high), level=0.95, method="percentile", n=items
    )


class JudgingStore:
    """Tasks and scores, kept in the journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._tasks: dict[str, JudgingTask] = {}
        self._scores: dict[str, dict[tuple[str, str], Score]] = {}
        for event in journal.read_events("judging", "judged"):
            self._apply_event(event)

    def _apply_event(self, event: JsonMapping) -> None:
        if event["event"] == "judging":
            items = tuple(JudgedItem(*item) for item in event["items"])
            task = JudgingTask(
                event["task"], event["title"], event["rubric"], items, tuple(event["judges"])
            )
            self._tasks[task.id] = task
            self._scores[task.id] = {}
        else:
            score = Score(event["judge"], event["item"], event["levels"], event["remark"])
            self._scores[event["task"]][score.judge, score.item] = score

    def tasks(self) -> list[JudgingTask]:
        """List the tasks, the newest first."""
        return list(reversed(self._tasks.values()))

    def task(self, name: str) -> JudgingTask:
        """Return the task of that name, or raise NotFound."""
        if name not in self._tasks:
            raise NotFound("there is no such task")
        return self._tasks[name]

    def scores(self, task: str) -> list[Score]:
        """List the scores of a task."""
        return list(self._scores[task].values())

    def done(self, task: str, judge: str) -> dict[str, Score]:
        """Return what this judge has said, by the name of the item."""
        return {
            item: score for (scorer, item), score in self._scores[task].items() if scorer == judge
        }

    def begin(
        self, title: str, rubric: str, items: Iterable[JudgedItem], judges: Iterable[str]
    ) -> JudgingTask:
        """Begin a task; UsageError where it cannot be one."""
        task = JudgingTask(secrets.token_hex(6), title, rubric, tuple(items), tuple(judges))
        with self._lock:
            event = self._journal.append_event(
                "judging",
                task=task.id,
                title=title,
                rubric=rubric,
                items=[[item.id, item.text] for item in task.items],
                judges=task.judges,
            )
            self._apply_event(event)
        return task

    def _keep(self, task: JudgingTask, scores: Iterable[Score]) -> None:
        """Keep scores; an item judged again counts with the last."""
        with self._lock:
            for score in scores:
                event = self._journal.append_event("judged", task=task.id, **asdict(score))
                self._apply_event(event)

    def give_sheet(self, task: JudgingTask, text: str) -> None:
        """Keep the scores of a filled sheet.

        Empty rows are left out, anything else is refused with its place.
        """
        keys = [criterion.key for criterion in task.criteria]
        items = {item.id for item in task.items}
        scores: list[Score] = []
        for line, row in agreement.read_sheet(text, ("judge", "item", *keys)):
            if not any(row[key].strip() for key in keys):
                continue
            judge = row["judge"]
            item = row["item"]
            if judge not in task.judges or item not in items:
                raise UsageError(
                    f"line {line}: there is no judge {judge!r} or no item {item!r} in this task"
                )
            levels, wrong = _check_levels(task, row)
            for key, why in wrong.items():
                raise UsageError(f"line {line}, {key}: {why}")
            scores.append(Score(judge, item, levels, row.get("remark", "")[:2000]))
        self._keep(task, scores)

    def judge(
        self, task: JudgingTask, judge: int, item: str, levels: Mapping[str, str], remark: str
    ) -> dict[str, str]:
        """Keep the score of one item, or say for each criterion what is wrong.

        NotFound where there is no such item.
        """
        if item not in {known.id for known in task.items}:
            raise NotFound("there is no such transcript")
        numbers, wrong = _check_levels(task, levels)
        if not wrong:
            self._keep(task, [Score(task.judges[judge], item, numbers, remark.strip()[:2000])])
        return wrong

    def make_sheet(self, task: JudgingTask) -> str:
        """Make the sheet of a task: one row per judge and item, empty where nothing was said."""
        rows: list[dict[str, Cell]] = []
        keys = [criterion.key for criterion in task.criteria]
        for judge, item in itertools.product(task.judges, task.items):
            row: dict[str, Cell] = {"judge": judge, "item": item.id}
            row |= dict.fromkeys((*keys, "remark"))
            score = self._scores[task.id].get((judge, item.id))
            if score:
                row |= {**score.levels, "remark": score.remark}
            rows.append(row)
        return to_csv(rows)


def draw_transcripts(
    folder: RunFolder, count: int, seed: int, player: str, silent: bool
) -> tuple[JudgedItem, ...]:
    """Draw what seats of finished plays saw and said: `count` of them at random, players not named.

    Seats without a word of reasoning are left out unless `silent`; `player` keeps those whose
    player's name has it.
    """
    transcripts: list[str] = []
    for play in folder.plays():
        transcripts += _write_transcripts(folder, play, player.lower(), silent)
    if not transcripts:
        raise UsageError(
            "this run has no finished play with words to judge; choose another, or allow seats"
            " without"
        )
    rng = generator(seed, "transcripts")
    count = min(count, len(transcripts))
    drawn = sorted(rng.sample(range(len(transcripts)), count))
    return tuple(JudgedItem(f"T{number}", transcripts[k]) for number, k in enumerate(drawn, 1))


def _write_transcripts(
    folder: RunFolder, play: StoredPlay, player: str, silent: bool
) -> Iterator[str]:
    """Write what each seat of a play saw and said."""
    game = rebuild_game(folder, play.data)
    seats: dict[str, list[Step]] = {}
    for step in list_steps(play.record, game, ()):
        name = play.record.players.get(step.role, "").lower()
        if step.role not in (NATURE, REFEREE) and player in name:
            seats.setdefault(step.role, []).append(step)
    for role, steps in seats.items():
        if silent or any(step.words.strip() for step in steps):
            rules = write_rules(game.view(game.start(), role)) if game else ""
            parts = [rules]
            for number, step in enumerate(steps, 1):
                seen = f"{step.situation}\n" if step.situation and step.situation != rules else ""
                words = f"\n{step.words}" if step.words else ""
                parts.append(f"Answer {number}\n{seen}Answered: {step.action}{words}")
            yield "\n\n".join(part for part in parts if part)[:_LONGEST]
