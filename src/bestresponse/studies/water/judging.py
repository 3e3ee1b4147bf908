"""Judging play on the six published scales, by people and by models.

    make_sheets(run, judges)    sheets for people to fill in          simulate sheet
    judge_run(run, model)       scores by a model                     simulate judge
    read_sheets(...).summarize() means, quartiles and agreement       simulate scores

A sheet is a CSV file: one row per game and resident, one column per scale, filled in by one judge.
Scores are whole numbers from 1 to 5; anything else is refused with its place. People and models see
the same: rules, persona, what happened, and the resident's own words. `identity` is judged only
where a model played with a persona. Several judges are summed up by means, deviations and medians,
by how far they agree, and by how far models agree with people.

People who played themselves assess their own play in the questionnaire of an experiment; its
exported table `participants` is read beside the sheets where its questions are named like the
scales. In the summary those who judged themselves stand apart from the players whom others judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np

from bestresponse.core.ask import PASS, Amount, Form
from bestresponse.core.episode import Episode
from bestresponse.core.errors import BadReply, UsageError
from bestresponse.core.files import read_text, read_toml
from bestresponse.core.game import View
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import generator
from bestresponse.core.texts import quote_lines
from bestresponse.core.told import prose
from bestresponse.games.water.game import Water, money
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.base import Model
from bestresponse.players.llm.agent import Persona
from bestresponse.players.llm.player import LlmPlayer, Sampling
from bestresponse.players.llm.reading import find_reasons
from bestresponse.report import tables
from bestresponse.report.frames import Frame, column
from bestresponse.report.stats.agreement import (
    compute_if_defined,
    krippendorff_alpha,
    read_sheet,
    summarise_ratings,
)
from bestresponse.report.stats.statistics import Floats
from bestresponse.runs.inputs import ModelLike, ModelsSetting
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import Run, load_run
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.water.config import WaterCondition
from bestresponse.studies.water.sampling import divide, draw_balanced
from bestresponse.studies.water.texts import TEXTS
from bestresponse.telling.render import write_history, write_rules

SCALES = (
    "information",
    "reasoning",
    "effectiveness",
    "adaptability",
    "planning",
    "identity",
)
LOWEST = 1
HIGHEST = 5
PERSON = "person"
MODEL = "model"
OTHERS = "players"
THEMSELVES = "themselves"
"""Who was judged: those who played, by others, or people by themselves."""
GROUPINGS = ("setting", "resident", "judge", "kind", "game")
"""By what scores can be grouped."""
_MOST_WORDS = 24_000
"""Characters of a resident's own words that a judge is shown, shared out over its decisions."""
_LONGEST_RULING = 1024
_ATTEMPTS = 3
_NOT_JUDGED = "n/a"


@dataclass(frozen=True, slots=True)
class ResidentScore:
    """What one judge gave one resident of one game on one scale.

    `remark` holds the judge's reasons, the same for all scales of the resident.
    """

    judge: str
    game: str
    resident: str
    scale: str
    value: int
    kind: str = PERSON
    judged: str = OTHERS
    setting: str = ""
    remark: str = ""


Statistic = Annotated[float | None, column(format=".2f")]


class ReasonRow(TypedDict):
    """Why a judge gave a resident these scores, where it said so."""

    judge: str
    game: str
    resident: str
    remark: Annotated[str, column("reasons")]


class ScaleRow(TypedDict):
    """One scale over all judged plays.

    An agreement is None where it is not defined, as with one judge.
    """

    judged: Annotated[
        str, column(help="players whom others judged, or people who judged themselves")
    ]
    group: Annotated[str, column(help="all, or one value of what the scores are grouped by")]
    scale: str
    scores: int
    judges: int
    mean: Statistic
    deviation: Statistic
    first_quartile: Statistic
    median: Statistic
    third_quartile: Statistic
    fleiss: Statistic
    krippendorff: Statistic
    icc: Statistic
    models_minus_people: Annotated[
        float | None, column(format=".2f", help="on the plays that both have judged")
    ]
    people_and_models: Annotated[
        float | None, column(format=".2f", help="Krippendorff's alpha between their means")
    ]


@cache
def rubric() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return each scale's title and what its five levels mean."""
    data = read_toml(Path(__file__).with_name("texts") / "rubric.toml")
    return {scale: (data[scale]["title"], tuple(data[scale]["levels"])) for scale in SCALES}


@dataclass(frozen=True, slots=True)
class WaterScores:
    """The scores that people or models gave residents."""

    scores: tuple[ResidentScore, ...]

    def to_csv(self) -> str:
        """Write the scores as a filled sheet."""
        return write_scores(self.scores)

    def summarize(self, by: str | None = None) -> Frame[ScaleRow]:
        """Sum up each scale: means, quartiles, and how far judges agree; `by` groups the rows."""
        return summarise(self.scores, by)

    def list_reasons(self) -> Frame[ReasonRow]:
        """List why judges gave their scores, once for each resident that they judged."""
        rows: dict[tuple[str, str, str], ReasonRow] = {}
        for score in self.scores:
            if score.remark:
                rows[score.judge, score.game, score.resident] = ReasonRow(
                    judge=score.judge,
                    game=score.game,
                    resident=score.resident,
                    remark=score.remark,
                )
        return Frame(ReasonRow, list(rows.values()))


def _choose_plays(run: Run[RunSettings], sample: int, seed: int) -> list[StoredPlay]:
    """Draw among the finished games of a run that count; UsageError where there are none."""
    if run.study.name != "water":
        raise UsageError(f"{run.path} holds a run of {run.study.name}, not of water")
    plays = [play for play in run.folder.sorted_plays() if not play.record.void]
    # Not in the order in which they were finished, which differs from run to run.
    plays.sort(key=lambda play: (play.data["repeat"], play.data["persona"], name_setting(play)))
    if not plays:
        raise UsageError("there is no finished game to judge")
    keyed = [((play.data["persona"], name_setting(play)), play) for play in plays]
    return draw_balanced(keyed, sample, generator(seed, "judged games"))


def _load(run: str | Path | Run[RunSettings]) -> Run[RunSettings]:
    return run if isinstance(run, Run) else load_run(run)


def name_setting(play: StoredPlay) -> str:
    """Return the name of the condition under which a game was played."""
    rules = WaterRules.from_json(play.data["rules"])
    return WaterCondition(play.data["persona"], play.data["abundance"], rules).name


def _list_residents(plays: Iterable[StoredPlay]) -> list[tuple[StoredPlay, str]]:
    return [(play, seat) for play in plays for seat, _ in play.data["seats"]]


def make_sheets(
    run: str | Path | Run[RunSettings],
    judges: Sequence[str] = ("judge 1",),
    *,
    sample: int = 30,
    each: int | None = None,
    seed: int = 0,
) -> dict[str, str]:
    """Return an empty sheet (CSV) for each judge, to be filled in with whole numbers from 1 to 5.

    A `sample` of at most so many games is drawn at random; every game goes to `each` of the judges,
    to all of them where it is None. Sheets hold all that a model judge sees.
    """
    plays = _choose_plays(_load(run), sample, seed)
    rng = generator(seed, "judges")
    shared = divide(plays, judges, len(judges) if each is None else each, rng)
    return {judge: _write_sheet(judge, games) for judge, games in shared.items()}


def _write_sheet(judge: str, plays: Sequence[StoredPlay]) -> str:
    rows = []
    for play, resident in _list_residents(plays):
        seen = _Seen.find(play, resident)
        rows.append(
            {
                "judge": judge,
                "kind": PERSON,
                "game": play.spec,
                "setting": name_setting(play),
                "repeat": play.data["repeat"],
                "resident": resident,
                "persona": seen.persona,
                "what happened": seen.history,
                "words": seen.words,
                **{scale: "" if scale in seen.scales else _NOT_JUDGED for scale in SCALES},
                "remark": "",
            }
        )
    return tables.to_csv(rows)


def read_sheets(paths: Iterable[str | Path]) -> WaterScores:
    """Read the scores of the sheets that people or models filled in.

    Empty cells are not judged; anything but 1 to 5 is refused with its place, and so are two
    different scores of one judge for the same.
    """
    scores: list[ResidentScore] = []
    for path in paths:
        content = read_text(Path(path))
        is_questionnaire = any(f"q_{scale}" in content.partition("\n")[0] for scale in SCALES)
        read = _read_self_assessments if is_questionnaire else _read_filled_sheet
        scores += read(content, str(path))
    given: dict[tuple[str, str, str, str], int] = {}
    for score in scores:
        item = (score.judge, score.game, score.resident, score.scale)
        known = given.setdefault(item, score.value)
        if known != score.value:
            raise UsageError(
                f"{score.judge} gave {score.resident} both {known} and {score.value} for"
                f" {score.scale} in game {score.game}; keep one, or give two judges two names"
            )
    return WaterScores(tuple(scores))


def _read_filled_sheet(content: str, path: str) -> Iterator[ResidentScore]:
    for line, row in read_sheet(
        content,
        ("judge", "game", "resident"),
        path,
        some_of=SCALES,
    ):
        for scale in SCALES:
            cell = row.get(scale, "").strip()
            if cell not in ("", _NOT_JUDGED):
                yield ResidentScore(
                    judge=row["judge"],
                    game=row["game"],
                    resident=row["resident"],
                    scale=scale,
                    value=_read_score(cell, f"{path}, line {line}, {scale}"),
                    kind=row.get("kind") or PERSON,
                    judged=row.get("judged") or OTHERS,
                    setting=row.get("setting", ""),
                    remark=row.get("remark", ""),
                )


def _read_self_assessments(content: str, path: str) -> Iterator[ResidentScore]:
    """Read what people answered about their own play in the questionnaire of an experiment."""
    asked = [f"q_{scale}" for scale in SCALES]
    for line, row in read_sheet(
        content,
        ("lobby", "group", "participant"),
        path,
        some_of=asked,
    ):
        for scale in SCALES:
            cell = row.get(f"q_{scale}", "").strip()
            if cell:
                yield ResidentScore(
                    judge=row["participant"],
                    game=f"{row['lobby']}-{row['group']}",
                    resident=row["participant"],
                    scale=scale,
                    value=_read_score(cell, f"{path}, line {line}, q_{scale}"),
                    judged=THEMSELVES,
                    setting=row.get("treatment", ""),
                )


def _read_score(cell: str, where: str) -> int:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if value not in range(LOWEST, HIGHEST + 1):
        raise UsageError(f"{where}: {cell!r} is not a whole number from {LOWEST} to {HIGHEST}")
    return int(value)


def judge_run(
    run: str | Path | Run[RunSettings],
    model: ModelLike | Sequence[ModelLike],
    *,
    sample: int = 5,
    seed: int = 0,
    limits: ModelLimits | None = None,
) -> WaterScores:
    """Let every model judge every resident of the games of a run on the six scales.

    Raises:
        BadReply: no score can be read.
    """
    loaded = _load(run)
    names = ModelsSetting.convert(model, stored=False)
    residents = _list_residents(_choose_plays(loaded, sample, seed))
    with open_models(names, loaded.path.parent, limits) as opened:
        asked = [opened.models[name] for name in names]
        at_once = (limits and limits.workers) or sum(judge.abilities.concurrency for judge in asked)
        with ThreadPoolExecutor(at_once, thread_name_prefix="judge") as pool:
            rulings = [
                pool.submit(_judge_play, play, seat, judge)
                for judge in asked
                for play, seat in residents
            ]
            try:
                scores = tuple(score for ruling in rulings for score in ruling.result())
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    if not scores:
        raise BadReply(f"{', '.join(names)} gave no scores that could be read")
    unread = sum(not ruling.result() for ruling in rulings)
    if unread:
        warnings.warn(
            f"{unread} of {len(rulings)} rulings could not be read and count nowhere", stacklevel=2
        )
    return WaterScores(scores)


def _judge_play(play: StoredPlay, resident: str, model: Model) -> tuple[ResidentScore, ...]:
    """Let a model judge one resident of one game.

    No scores where it gives no answer that can be used.
    """
    seen = _Seen.find(play, resident)
    ask = Form(tuple((scale, Amount(LOWEST, HIGHEST, whole=True)) for scale in seen.scales))
    judge = LlmPlayer(
        model,
        Sampling(max_tokens=_LONGEST_RULING),
        "reasoned" if model.abilities.schema else "line",
        _ATTEMPTS,
        TEXTS.text("judge_system"),
    )
    decision = judge.decide(View("judge", prose(seen.to_text(resident))), ask)
    marks = decision.action
    if marks is None:
        return ()
    reasons = find_reasons(decision.reasoning)
    return tuple(
        ResidentScore(
            judge=model.id,
            game=play.spec,
            resident=resident,
            scale=scale,
            value=int(marks[scale]),
            kind=MODEL,
            setting=name_setting(play),
            remark=reasons,
        )
        for scale in seen.scales
    )


def write_scores(scores: Iterable[ResidentScore]) -> str:
    """Write scores as a filled sheet."""
    rows: dict[tuple[str, str, str], dict[str, str | int]] = {}
    for score in scores:
        key = (score.judge, score.game, score.resident)
        row: dict[str, str | int] = {
            "judge": score.judge,
            "kind": score.kind,
            "judged": score.judged,
            "game": score.game,
            "setting": score.setting,
            "resident": score.resident,
            "remark": score.remark,
        }
        rows.setdefault(key, row)
        rows[key][score.scale] = score.value
    return tables.to_csv(list(rows.values()))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a judge sees of one resident: rules, persona, events, and its own words.

    The rules and the persona are those it was told.
    """

    rules: str
    persona: str
    history: str
    words: str
    scales: tuple[str, ...]

    @classmethod
    def find(cls, play: StoredPlay, resident: str) -> _Seen:
        game = Water(WaterRules.from_json(play.data["rules"]))
        view = game.view(Episode(game, play.record.submissions).state, resident)
        decisions = [s.decision for s in play.record.submissions if s.role == resident]
        longest = _MOST_WORDS // max(1, len(decisions))
        words = []
        for day, decision in enumerate(decisions, 1):
            reasons = find_reasons(decision.reasoning)
            reasons = reasons if len(reasons) <= longest else reasons[:longest] + " ..."
            done = "no bid" if decision.action == PASS else f"bid ${money(decision.action)}"
            words.append(f"Day {day}, {done}: {reasons}" if reasons else f"Day {day}, {done}")
        persona = ""
        stored = play.data.get("personas", {}).get(resident)
        if stored is not None:
            character = Persona(**stored)
            persona = TEXTS.fill("judge_persona", who=character.name, **character.to_json())
        return cls(
            write_rules(view),
            persona,
            write_history(view),
            "\n".join(words),
            SCALES if persona else SCALES[:-1],
        )

    def to_text(self, resident: str) -> str:
        """Write the question to a model."""
        levels = []
        for scale, (title, texts) in rubric().items():
            if scale in self.scales:
                levels.append(
                    f"{scale} ({title}): "
                    + " ".join(f"{level} = {text}" for level, text in enumerate(texts, LOWEST))
                )
        return TEXTS.fill(
            "judge",
            rules=self.rules,
            persona=self.persona or TEXTS.text("judge_nobody"),
            history=self.history,
            words=quote_lines(self.words),
            who=resident,
            rubric="\n".join(levels),
        )


def summarise(scores: Iterable[ResidentScore], by: str | None = None) -> Frame[ScaleRow]:
    """Sum up scale by scale, those whom others judged first, then people who judged themselves.

    With `by` every value of it has rows of its own. A judge who judges the same twice counts with
    the last.
    """
    if by is not None and by not in GROUPINGS:
        known = ", ".join(GROUPINGS)
        raise UsageError(
            f"scores cannot be grouped by {by!r}; known:"
            f" {known}.{did_you_mean(by, list(GROUPINGS))}"
        )
    groups: dict[tuple[str, str], list[ResidentScore]] = {}
    for score in scores:
        value = "all" if by is None else getattr(score, by) or "not said"
        groups.setdefault((score.judged, value), []).append(score)
    if not groups:
        raise UsageError("there are no scores yet: the sheets are empty")
    order = sorted(groups, key=lambda key: (key[0] != OTHERS, key[0]))
    return Frame(ScaleRow, [row for key in order for row in _summarise_group(*key, groups[key])])


def _summarise_group(
    judged: str,
    group: str,
    scores: Iterable[ResidentScore],
) -> Iterator[ScaleRow]:
    by_scale: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
    kinds: dict[str, str] = {}
    for score in scores:
        kinds[score.judge] = score.kind
        by_scale.setdefault(score.scale, {}).setdefault((score.game, score.resident), {})[
            score.judge
        ] = score.value
    for scale in (scale for scale in SCALES if scale in by_scale):
        items = by_scale[scale].values()
        judges = sorted({judge for values in items for judge in values})
        table = np.array([[values.get(judge, np.nan) for values in items] for judge in judges])
        metrics = asdict(summarise_ratings(table, range(LOWEST, HIGHEST + 1)))
        models = np.array([kinds[judge] == MODEL for judge in judges])
        difference, alpha = _compare_kinds(table[~models], table[models])
        yield ScaleRow(
            judged=judged,
            group=group,
            scale=scale,
            judges=metrics.pop("raters"),
            **metrics,  # type: ignore[typeddict-item]
            models_minus_people=difference,
            people_and_models=alpha,
        )


def _compare_kinds(people: Floats, models: Floats) -> tuple[float | None, float | None]:
    """Return models' minus people's mean, and the alpha between their item means.

    Only the items that both judged count.
    """
    both = np.isfinite(people).any(axis=0) & np.isfinite(models).any(axis=0)
    if not both.any():
        return None, None
    means = np.stack([np.nanmean(people[:, both], axis=0), np.nanmean(models[:, both], axis=0)])
    alpha = compute_if_defined(lambda ratings: krippendorff_alpha(ratings, "interval"), means)
    return float((means[1] - means[0]).mean()), alpha
