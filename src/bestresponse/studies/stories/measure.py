"""What a recorded play is worth: its program judged on every level against the true game of its story.

A program *means what the story says* if its game is the true one: payoff for payoff where the story gives numbers, else
by the constraints of the game's name or of the story, or, where there are none, by the order of everybody's payoffs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from bestresponse.core.errors import StoreError
from bestresponse.core.json import JsonObject
from bestresponse.formal.evaluate.dataset import Story, stories
from bestresponse.formal.evaluate.validation import Finding, Levels, judge_levels
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.report.metrics import Figures, Heads, Metric, compute_figures
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.rates import wilson
from bestresponse.runs.store.folder import StoredPlay

__all__ = ["LEVELS", "METRICS", "StoriesResults", "StoryRow", "measure"]

LEVELS = ("syntactic", "functional", "approximate", "exact", "order", "constraints", "equivalent")


class StoryRow(TypedDict):
    """One program written for one story.

    `meaning`: it is the story's true game; `first`: it was a game at the first attempt. `equivalent` is not asked of
    stories without numbers, whose true payoffs are ranks.
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
    why: str


Rows = Sequence[StoryRow]


def _share(name: str) -> Callable[[Rows], Interval | None]:
    """Compute the share of rows in which `name` holds, of those in which it was asked; None where in none."""

    def compute(rows: Rows) -> Interval | None:
        asked = [value for row in rows if isinstance(value := row.get(name), bool)]
        return wilson(sum(asked), len(asked)) if asked else None

    return compute


def _mean_attempts(rows: Rows) -> float:
    return sum(row["attempts"] for row in rows) / len(rows)


METRICS: tuple[Metric[Rows], ...] = (
    Metric("programs", "programs", "programs that were written", "", "", len),
    Metric("syntactic", "loads", "reader and static checks find no error", "", ".0%", _share("syntactic")),
    Metric("functional", "plays", "every play ends with one payoff for everybody", "", ".0%", _share("functional")),
    Metric(
        "meaning",
        "means what the story says",
        "the true game: exact where there are numbers, else in preference",
        "",
        ".0%",
        _share("meaning"),
    ),
    Metric("equivalent", "equivalent", "the true game up to positive affine payoffs", "", ".0%", _share("equivalent")),
    Metric("first", "a game at once", "a game, right or wrong, at the first attempt", "", ".0%", _share("first")),
    Metric("attempts", "attempts", "mean number of programs written for a story", "", ".2f", _mean_attempts),
    Metric("prompt", "read", "tokens of all prompts", "tokens", ",", lambda rows: sum(r["prompt"] for r in rows)),
    Metric(
        "completion", "written", "tokens of all replies", "tokens", ",", lambda rows: sum(r["completion"] for r in rows)
    ),
)
"""Every figure of a model, in the order of the columns."""


@dataclass(frozen=True)
class StoriesResults:
    """All programs of a run, judged; `unfinished` planned plays are missing."""

    rows: tuple[StoryRow, ...]
    unfinished: int = 0

    @property
    def answered(self) -> int:
        """How many programs were judged; one that is no game is a result too."""
        return len(self.rows)

    @property
    def summary(self) -> JsonObject:
        """How many planned plays are missing; the rest is in the figures."""
        return {"unfinished": self.unfinished}

    def list_figures(self) -> Figures:
        """List every metric of every model."""
        groups: dict[Heads, list[StoryRow]] = {}
        for row in self.rows:
            groups.setdefault((row["model"],), []).append(row)
        return compute_figures(METRICS, ("model",), groups)


def measure(plays: Iterable[StoredPlay], engine: LogicEngine) -> Iterator[StoryRow]:
    """Yield one row for each play."""
    known = {story.id: story for story in stories()}
    for play in plays:
        story = known.get(play.data["story"])
        if story is None:
            raise StoreError(f"the run tells a story that does not exist any more: {play.data['story']}")
        yield _row(play, story, engine)


def _row(play: StoredPlay, story: Story, engine: LogicEngine) -> StoryRow:
    decision = play.record.submissions[-1].decision
    action = decision.action
    levels = judge_levels(validate(action["program"], engine), story.table, story.named, story.orders)
    meaning = _meaning(story, levels)
    prompt, completion = action["tokens"]
    row: Any = {
        "model": play.data["model"],
        "story": story.id,
        "game": story.game,
        "numeric": story.numeric,
        "canonical": story.canonical,
        "language": story.language,
        "sample": play.data["sample"],
        "status": decision.reading.status.value,
        "attempts": action["attempts"],
        "first": bool(action["first"]),
        "prompt": prompt,
        "completion": completion,
        **{name: finding.ok for name, finding in levels.items()},
        **({} if story.numeric else {"equivalent": None}),
        "meaning": bool(meaning.ok),
        "why": decision.reading.how or meaning.why,
    }
    return cast(StoryRow, row)


def _meaning(story: Story, levels: Levels) -> Finding:
    if story.numeric:
        return levels.exact
    return levels.constraints if story.named is not None or story.orders else levels.order
