"""Checked reasoning: a model reasons, logic refutes, and it is asked again; the first against the last attempt.

The payoff of a choice is what it earns against the others at one equilibrium of the game (`scenes` says how), its gap
how much less that is than the best choice would earn: 0 exactly for best responses. "Right for the wrong reason" is a
best response whose reasoning was refuted. In a game played move by move the first decision is measured.

The transcript of all attempts are the decision's remarks: reasoning, choice, claims with verdicts and corrections of
each. Everything that is measured is a function of it.

Reasoning that people judged: filled sheets, agreement, and how well a checker predicts it.

The protocol of LELMA: three raters mark the first and the last reasoning of a sample as correct or not, and name the
kinds of error (`pa` payoff assignment, `rga` risk or gain of an action, `pc` comparison of payoffs, `u` unclassified).
Aggregation is conservative: a reasoning is correct only where all raters say so.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import numpy as np

from bestresponse.core.episode import Record, Submission, play
from bestresponse.core.errors import SettingError, StoreError, UsageError
from bestresponse.core.files import read_toml
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Player
from bestresponse.formal.claims.review import Reviewer
from bestresponse.formal.claims.texts import TEXTS as CLAIM_TEXTS
from bestresponse.formal.claims.translation import ModelTranslator, RulesTranslator, find_translator, translators
from bestresponse.games.texts import TEXTS as GAME_TEXTS
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.models.base import Model
from bestresponse.players.llm.player import LlmPlayer, Sampling, Thinking
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.players.llm.verified import Verified, is_verified
from bestresponse.report.blocks import Measurement, Shown, metrics_table, table, text
from bestresponse.report.document import Block, Code, Column, Paragraph, Quote, Table
from bestresponse.report.frames import Frame, Metric, Value, column, list_metrics
from bestresponse.report.stats.agreement import cohen_kappa, compute_if_defined, fleiss_kappa, read_sheet
from bestresponse.report.stats.statistics import Interval, cluster_bootstrap, paired_difference, wilson
from bestresponse.report.tables import to_csv
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.inputs import GameSetting, ModelSetting, NamedModel, NamesSetting, list_once
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings, setting, settings
from bestresponse.runs.store.folder import RunFolder, Spec, StoredPlay
from bestresponse.runs.study import Estimate, Measured, Study
from bestresponse.studies.verify.scenes import Scene, TableScene, TreeScene, disguised, disguised_tree
from bestresponse.studies.verify.texts import TEXTS
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import LEAF, Tree


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said about the first and the last reasoning, and which kinds of error there were."""

    first: bool
    last: bool
    kinds: tuple[str, ...] = ()


ERROR_KINDS = {
    "pa": "a payoff is given to the wrong choices or player",
    "rga": "a choice is said to be safer, or to promise more, than it is",
    "pc": "two amounts are compared wrongly",
    "u": "another error about payoffs",
}
SHEET = ("sample", "game", "attempts", "first_choice", "last_choice", "first_correct", "last_correct", "error_kinds",
         "sentences", "remarks", "first_reasoning", "last_reasoning")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Confusion:
    """Actual correctness (by people) against predicted correctness (nothing refuted)."""

    passed: int
    false_alarm: int
    missed: int
    caught: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Confusion:
        """From pairs (actually correct, predicted correct)."""
        counts = Counter(pairs)
        return cls(counts[True, True], counts[True, False], counts[False, True], counts[False, False])

    @property
    def total(self) -> int:
        """How many were judged."""
        return self.passed + self.false_alarm + self.missed + self.caught

    @property
    def accuracy(self) -> float | None:
        """The share on which people and checker agree; None where nothing was judged."""
        return (self.passed + self.caught) / self.total if self.total else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of people and checker; None where it is not defined."""
        counts = ((1, 1, self.passed), (1, 0, self.false_alarm), (0, 1, self.missed), (0, 0, self.caught))
        pairs = [(actual, predicted) for actual, predicted, count in counts for _ in range(count)]
        return compute_if_defined(lambda both: cohen_kappa(*np.reshape(both, (-1, 2)).T.tolist()), pairs)


def aggregate(ratings: Sequence[Rating]) -> tuple[bool, bool]:
    """Whether the first and the last reasoning are correct: only where all raters agree that they are."""
    return all(rating.first for rating in ratings), all(rating.last for rating in ratings)


def agreement(rated: Sequence[Sequence[Rating]]) -> float | None:
    """Fleiss' kappa of the raters on the first reasoning; None where it is not defined."""
    counts = [[sum(rating.first for rating in row), sum(not rating.first for rating in row)] for row in rated]
    return compute_if_defined(fleiss_kappa, counts)


def read_ratings(text: str) -> dict[str, Rating]:
    """Read the ratings of a filled sheet, by sample; rows not filled in are left out, other faults are UsageErrors."""
    ratings: dict[str, Rating] = {}
    for line, row in read_sheet(text, ("sample", "first_correct", "last_correct")):
        first, last = row["first_correct"].strip(), row["last_correct"].strip()
        if not first and not last:
            continue
        kinds = tuple(kind for kind in row.get("error_kinds", "").strip().split("#") if kind)
        if {first, last} - {"0", "1"}:
            raise UsageError(f"line {line}: first_correct and last_correct are 0 or 1, got {first!r} and {last!r}")
        if unknown := [kind for kind in kinds if kind not in ERROR_KINDS]:
            raise UsageError(f"line {line}: there is no kind of error {unknown[0]!r}; known: {', '.join(ERROR_KINDS)}")
        ratings[row["sample"]] = Rating(first == "1", last == "1", kinds)
    return ratings


def merge_labels(sheets: Iterable[Mapping[str, Rating]]) -> dict[str, bool]:
    """Merge the labels of first reasonings from several raters' sheets: correct only where all say so."""
    labels: dict[str, bool] = {}
    for run, rating in (pair for sheet in sheets for pair in sheet.items()):
        labels[run] = labels.get(run, True) and rating.first
    return labels


When = Literal["first", "last"]
_BOTH: tuple[When, When] = ("first", "last")
_MOST_WAYS = 200
"""In how many ways a game played move by move may end: all of them are told."""
_MOST_MOVES = 2_000
"""How many moves these ways may have together."""
_RATERS = 3
_SAMPLED = 100
"""Verdicts that people are asked to judge, drawn from all."""
_QUOTED = 4
_CHARACTERS_PER_TOKEN = 4
_BEST = 1e-9
"""A choice that loses no more than this is a best response."""


@settings
class VerifyConfig(RunSettings):
    """Let a model reason about a game, refute what is wrong, and measure what changes from first to last attempt."""

    model: ModelSetting = setting(kw_only=False, short="-m", help="The model that reasons.")
    game: GameSetting = setting(kw_only=False, argument=True)
    """A game: a name of the catalogue, or a file (.nfg .efg .json .pl)."""
    translator: ModelSetting = setting(default="rules")
    """Who finds the claims: rules (no model), a translator of a package, or a model."""
    repeats: int = setting(default=30, ge=1, le=100_000, help="How many times the model reasons.")
    attempts: int = setting(default=5, ge=1, le=20, help="The most attempts at one reasoning.")
    feedback: Literal["positive", "negative"] = setting(default="positive")
    """What is said of a refuted claim: the true values, or its negation."""
    unit: Literal["text", "paragraph"] = setting(default="text", help="What is translated at a time.")
    disguised: bool = setting(default=True, help="Tell the game with letters instead of its own names.")
    inverted: bool = setting(default=True, help="Reverse the order of actions.")
    seat: str | None = setting(default=None, help="The player who reasons, by name; the first if not said.")
    after: NamesSetting = setting(default=(), help="In a game played move by move: the moves made before, in order.")
    think: bool = setting(default=True, help="Ask the model to write down its reasons before it answers.")
    temperature: float = setting(default=1.0, ge=0, le=5, help="Sampling temperature of the reasoner.")
    max_tokens: int = setting(default=1024, ge=1, le=100_000, help="Longest reply, in tokens.")
    llm_seed: int | None = setting(default=None, help="Seed sent to the models.")

    def __post_init__(self) -> None:
        form, name = self.form, self.game.name
        if not isinstance(self.translator, NamedModel):
            object.__setattr__(self, "translator", NamedModel(self.translator))
        if self.seat is not None and self.seat not in form.players:
            raise SettingError("seat", f"{self.seat!r} is none of {', '.join(form.players)}")
        for model in self.models:
            if is_verified(model):
                raise SettingError("model", f"{model}: the reasoning is checked anyway; name it without `verified:`")
        if self.after and isinstance(form, NormalForm):
            raise SettingError("after", f"nothing is chosen before in {name}, where all choose at once")
        if isinstance(form, Tree):
            self._check_tree(form)

    def _check_tree(self, form: Tree) -> None:
        """Refuse a game that cannot be told move by move."""
        name, hides = self.game.name, not form.is_perfect_information
        if self.after and hides:
            raise SettingError("after", f"{name} hides some moves; a model is asked from the start only")
        if hides and form.num_players != 2:
            raise SettingError(
                "game",
                f"{name} hides some moves from some of its {form.num_players} players; a model can reason about such "
                "games of two players. A text about this game can be checked",
            )
        moves = sum(depth * int((form.owner[nodes] == LEAF).sum()) for depth, nodes in enumerate(form.levels))
        if len(form.leaves) > _MOST_WAYS or moves > _MOST_MOVES:
            raise SettingError(
                "game",
                f"{name} can end in {len(form.leaves):,} ways with {moves:,} moves together; at most {_MOST_WAYS} ways "
                f"with {_MOST_MOVES:,} moves can be told to a model",
            )

    @property
    def form(self) -> NormalForm | Tree:
        """The game as theory takes it."""
        return self.game.loaded.solvable()

    @cached_property
    def scene(self) -> Scene:
        """The game as it is told, and what choices are worth in it."""
        seat = 0 if self.seat is None else self.form.players.index(self.seat)
        names = {"letters": self.disguised, "inverted": self.inverted}
        if isinstance(self.form, NormalForm):
            return TableScene(seat, disguised(self.form, **names))
        scene = TreeScene(seat, self.form, disguised_tree(self.form, **names), self.inverted, self.after)
        scene.check()
        return scene

    @property
    def models(self) -> tuple[NamedModel, ...]:
        """Every model that is opened, each once."""
        both = (self.model,) if self.translator in translators.names() else (self.model, self.translator)
        return list_once(both)


def list_runs(config: VerifyConfig) -> Iterator[dict[str, object]]:
    """Yield every run of the loop as plain data."""
    shared = {name: value for name, value in config.to_json().items() if name != "repeats"}
    for repeat in range(config.repeats):
        yield {**shared, "study": "verify", "repeat": repeat}


def prepare_runs(config: VerifyConfig, models: Mapping[str, Model]) -> PlayOne:
    """Return the function that makes one run: the verified reasoner in its seat, the others at an equilibrium."""
    scene = config.scene
    second = None
    if config.translator in translators.names():
        translator = find_translator(config.translator)
    else:
        translator, second = ModelTranslator(models[config.translator], seed=config.llm_seed), RulesTranslator()
    reviewer = Reviewer(translator, EmbeddedEngine, tone=config.feedback, unit=config.unit, second=second)

    def play_one(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
        sampling = Sampling(
            config.temperature, max_tokens=config.max_tokens, seed=config.llm_seed, replicate=spec.data["repeat"]
        )
        model = LlmPlayer(models[config.model], sampling, system=TEXTS.text("reasoner"))
        reasoner = Thinking(model) if config.think else model
        verified = Verified(reasoner, reviewer, config.attempts, scene.subject)
        game: AnyGame = scene.game
        seats: dict[str, Player] = {game.roles[scene.seat]: verified}
        return play(game, seats | scene.others(spec.data["repeat"]), submissions=done, on_submission=keep)

    return play_one


def estimate_runs(config: VerifyConfig) -> Estimate:
    """Count every attempt at every decision; a prompt is the briefing and the feedback before it."""
    scene = config.scene
    most = config.repeats * config.attempts * scene.decisions
    calls = dict.fromkeys(map(str, config.models), 0)
    calls[config.model] += most
    if config.translator not in translators.names():
        calls[config.translator] += most
    tokens = len(_write_briefing(scene)) // _CHARACTERS_PER_TOKEN + config.max_tokens
    what = f"{config.repeats} runs of at most {config.attempts} attempts"
    return Estimate.of_calls(config.repeats, what, calls, tokens, config.max_tokens)


def _write_briefing(scene: Scene) -> str:
    """Return what the reasoner is told where it first has to choose."""
    return scene.game.view(scene.opening, scene.game.roles[scene.seat]).briefing  # type: ignore[arg-type]


class RunRow(TypedDict):
    """One run of the loop: its attempts in full, and choice, state, payoff and gap of the first and the last one."""

    run: str
    repeat: int
    attempts: int
    transcript: list[JsonObject]
    first_choice: str | None
    first_state: str
    first_payoff: Annotated[float | None, column(format=".3f")]
    first_gap: Annotated[float | None, column(format=".3f")]
    last_choice: str | None
    last_state: str
    last_payoff: Annotated[float | None, column(format=".3f")]
    last_gap: Annotated[float | None, column(format=".3f")]


class AttemptRow(TypedDict):
    """How many runs took how many attempts."""

    attempts: int
    runs: int


class ClaimRow(TypedDict):
    """How often a form of claim was made, refuted and left open, over all attempts."""

    form: Annotated[str, column("form of claim")]
    made: int
    refuted: int
    unknown: int


class ChangeRow(TypedDict):
    """How far the last attempt differs from the first, run by run."""

    figure: Annotated[str, column("from first to last attempt")]
    difference: Annotated[Interval, column("last minus first", ".3f")]
    p: Annotated[float, column(format=".3f")]


class TroubleRow(TypedDict):
    """What kept sentences from a verdict in translation, over all attempts."""

    trouble: str
    times: int


class JudgementRow(TypedDict):
    """What people say of first reasonings, beside the checker."""

    people: Annotated[str, column("people say")]
    unrefuted: Annotated[int, column("nothing refuted")]
    refuted: Annotated[int, column("something refuted")]


class AgreementRow(TypedDict):
    """A figure of the agreement of people with each other and with the checker."""

    figure: str
    value: Annotated[float | Interval | None, column(format=".3f")]


class AttemptFigures(TypedDict):
    """The figures of the first or the last attempts; the share of every choice stands beside them."""

    unrefuted: int
    """runs in which at least one claim was proved and none refuted"""
    refuted: int
    """runs in which a claim is false"""
    undecided: int
    """runs in which no claim could be decided"""
    unchecked: int
    """runs in which no claim was found"""
    payoff: Annotated[Interval | None, column(format=".3f")]
    """what the choice earns, mean over readable runs"""
    gap: Annotated[Interval | None, column("Nash gap", ".3f")]
    """how much less that is than the best choice would earn"""
    wrong_reason: Annotated[Interval | None, column("right for a wrong reason", ".3f")]
    """share of the best responses whose reasoning was refuted"""


def list_readable(rows: Iterable[RunRow]) -> list[RunRow]:
    """List the runs with a first and a last choice that could be read."""
    return [row for row in rows if row["first_choice"] is not None and row["last_choice"] is not None]


def list_values(rows: Iterable[RunRow], what: Literal["payoff", "gap"], when: When) -> list[float]:
    """List the payoff or gap of readable runs, at the first or the last attempt."""
    values = [row[f"{when}_{what}"] for row in list_readable(rows)]  # type: ignore[literal-required]
    return [value for value in values if value is not None]


def sum_up_attempts(rows: Sequence[RunRow], when: When, choices: Mapping[str, str]) -> Mapping[str, Value]:
    """Compute the figures of the first or last attempts, and the shares of `choices` by the names of their metrics."""
    every: Any = rows
    readable: Any = list_readable(rows)
    states = Counter(row[f"{when}_state"] for row in every)
    values = {"payoff": list_values(rows, "payoff", when), "gap": list_values(rows, "gap", when)}
    best = [row for row in readable if row[f"{when}_gap"] is not None and row[f"{when}_gap"] <= _BEST]
    chosen = Counter(row[f"{when}_choice"] for row in readable)
    return {
        **{state: states[state] for state in ("unrefuted", "refuted", "undecided", "unchecked")},
        **{name: cluster_bootstrap(v, rng=np.random.default_rng(0)) if v else None for name, v in values.items()},
        "wrong_reason": wilson(sum(row[f"{when}_state"] == "refuted" for row in best), len(best)) if best else None,
        **{name: wilson(chosen[action], len(readable)) if readable else None for name, action in choices.items()},
    }


METRICS = list_metrics(AttemptFigures)
"""Every figure of the first and the last attempt; `measure` adds the share of every choice."""


def measure_reasoning(config: VerifyConfig, folder: RunFolder) -> Measured:
    """Measure every finished run, and how people judge them where raters have filled in their sheets."""
    rows = sorted((_measure_run(play, config.scene) for play in folder.sorted_plays()), key=lambda row: row["repeat"])
    attempts = [attempt for row in rows for attempt in row["transcript"]]
    counts = Counter(row["attempts"] for row in rows)
    troubles: Counter[str] = Counter()
    for attempt in attempts:
        troubles["sentences unread"] += len(attempt["unread"] or ())
        troubles["sentences partly read"] += len(attempt["partly_read"] or ())
        troubles.update(attempt["troubles"])
    choices: dict[str, str] = {}
    for number, action in enumerate(config.scene.choices, 1):
        name = "chose_" + re.sub(r"\W", "_", action)
        choices[f"{name}_{number}" if name in choices else name] = action  # +1 and -1 are two choices
    shares = [
        Metric(name, f"chose {action}", "share of readable runs", "", ".3f", itemgetter(name))
        for name, action in choices.items()
    ]
    sheets = [read_ratings(path.read_text("utf-8-sig")) for path in sorted(folder.path.glob("sheet-rater-*.csv"))]
    judgements, agreements = _compare_with_people(rows, [sheet for sheet in sheets if sheet])
    return Measured(
        {
            "runs": Frame(RunRow, rows),
            "attempts": Frame(
                AttemptRow,
                [AttemptRow(attempts=number, runs=counts[number]) for number in range(1, config.attempts + 1)],
            ),
            "changes": Frame(ChangeRow, list(_list_changes(rows))),
            "claims": Frame(ClaimRow, list(_count_claims(rows))),
            "troubles": Frame(TroubleRow, [TroubleRow(trouble=kind, times=n) for kind, n in troubles.items()]),
            "judgements": Frame(JudgementRow, judgements),
            "agreement": Frame(AgreementRow, agreements),
        },
        len(list_readable(rows)),
        ("attempt",),
        {(when,): sum_up_attempts(rows, when, choices) for when in _BOTH},
        (*METRICS, *shares),
    )


def _measure_run(play: StoredPlay, scene: Scene) -> RunRow:
    role, worth = scene.game.roles[scene.seat], scene.worth(play.record.submissions)
    decision = next((s.decision for s in play.record.submissions if s.role == role), None)
    attempts = [dict(remark) for remark in decision.remarks] if decision is not None else []
    if not attempts:
        raise StoreError(f"the run {play.spec} holds no transcript of its attempts")
    row: Any = {"run": play.spec, "repeat": play.data["repeat"], "attempts": len(attempts), "transcript": attempts}
    for when, attempt in zip(_BOTH, (attempts[0], attempts[-1]), strict=True):
        choice = attempt["choice"]
        payoff = worth.get(choice) if isinstance(choice, str) else None
        row |= {
            f"{when}_choice": choice,
            f"{when}_state": attempt["state"],
            f"{when}_payoff": payoff,
            f"{when}_gap": None if payoff is None else max(worth.values()) - payoff,
        }
    return row  # type: ignore[no-any-return]


def _list_changes(rows: Sequence[RunRow]) -> Iterator[ChangeRow]:
    """Yield by how much payoff and gap of the last attempt differ from those of the first."""
    figures: tuple[tuple[Literal["payoff", "gap"], str], ...] = (("payoff", "payoff"), ("gap", "Nash gap"))
    for what, title in figures:
        # A run of which one end has no value is no pair.
        whole = [row for row in rows if all(list_values([row], what, when) for when in _BOTH)]
        if len(whole) > 1:
            first, last = (list_values(whole, what, when) for when in _BOTH)
            change = paired_difference(last, first, rng=np.random.default_rng(0))
            yield ChangeRow(figure=title, difference=change.difference, p=change.p_value)


def _count_claims(rows: Iterable[RunRow]) -> Iterator[ClaimRow]:
    made: Counter[str] = Counter()
    verdicts: Counter[tuple[str, str]] = Counter()
    for claim in (claim for row in rows for attempt in row["transcript"] for claim in attempt["claims"]):
        made[claim["form"]] += 1
        verdicts[claim["form"], claim["verdict"]] += 1
    for form, count in made.most_common():
        yield ClaimRow(form=form, made=count, refuted=verdicts[form, "refuted"], unknown=verdicts[form, "unknown"])


def _compare_with_people(
    rows: Sequence[RunRow], sheets: Sequence[Mapping[str, Rating]]
) -> tuple[list[JudgementRow], list[AgreementRow]]:
    """Set people's judgement of first reasonings beside the checker's; undecided and unchecked runs are left out."""
    if not sheets:
        return [], []
    labels = merge_labels(sheets)
    decided = [row for row in rows if row["run"] in labels and row["first_state"] in ("unrefuted", "refuted")]
    table = Confusion.of((labels[row["run"]], row["first_state"] == "unrefuted") for row in decided)
    common = [run for run in sheets[0] if all(run in sheet for sheet in sheets)]
    raters = agreement([[sheet[run] for sheet in sheets] for run in common]) if len(sheets) > 1 else None
    kinds = Counter(kind for sheet in sheets for rating in sheet.values() for kind in rating.kinds)
    judgements = [
        JudgementRow(people="correct", unrefuted=table.passed, refuted=table.false_alarm),
        JudgementRow(people="incorrect", unrefuted=table.missed, refuted=table.caught),
    ]
    figures: dict[str, float | Interval | None] = {
        "accuracy": wilson(table.passed + table.caught, table.total) if table.total else None,
        "kappa of people and checker": table.kappa,
        "Fleiss' kappa of the raters": raters,
        "raters": len(sheets),
        **{f"errors: {ERROR_KINDS[kind]}": kinds[kind] for kind in ERROR_KINDS},
    }
    return judgements, [AgreementRow(figure=name, value=value) for name, value in figures.items()]


def list_sheets(measured: Measured, run: Run[VerifyConfig]) -> list[tuple[Path, str]]:
    """List a sheet for each rater; a sheet that is there already is left as it was filled in."""
    rows = [
        {
            "sample": row["run"],
            "game": run.config.game.name,
            "attempts": row["attempts"],
            "first_choice": row["first_choice"],
            "last_choice": row["last_choice"],
            "first_reasoning": row["transcript"][0]["reasoning"],
            "last_reasoning": row["transcript"][-1]["reasoning"],
        }
        for row in measured.frames["runs"]
    ]
    texts = {f"sheet-rater-{rater}.csv": to_csv(rows, SHEET) for rater in range(1, _RATERS + 1)}
    texts["verdicts.csv"] = to_csv(_sample_verdicts(measured.frames["runs"]), ("item", "text"))
    return [(run.path / name, content) for name, content in texts.items() if not (run.path / name).exists()]


def _sample_verdicts(rows: Iterable[RunRow]) -> list[dict[str, str]]:
    """Draw verdicts to be judged by people, as the web app reads them: the sentence, how it was read, the verdict."""
    items = [
        {"item": f"{row['repeat']}-{number}", "text": f"Sentence: {sentence}\nRead as: {reading}\nVerdict: {verdict}"}
        for row in rows
        for number, (sentence, reading, verdict, _) in enumerate(_list_verdicts(row))
        if verdict in ("proved", "refuted")
    ]
    return random.Random(0).sample(items, min(_SAMPLED, len(items)))


def _list_verdicts(row: RunRow) -> list[tuple[str, str | None, str, str]]:
    """List the sentences of a first attempt in order: how each was read, its verdict, and its correction or why not."""
    attempt, spans = row["transcript"][0], []
    for claim in attempt["claims"]:
        reading, why = claim["words"] or claim["claim"], claim["correction"] or claim["why"]
        for passage in claim["places"] or [{"start": -1, "text": ""}]:
            spans.append((passage["start"], (passage["text"], reading, claim["verdict"], why)))
    for passage in attempt["partly_read"] or ():
        why = f"not read: {'; '.join(passage['left_out'])}"
        spans.append((passage["start"], (passage["text"], None, "partly read", why)))
    for verdict in ("unread", "not_asserted"):
        for passage in attempt[verdict] or ():
            spans.append((passage["start"], (passage["text"], None, verdict.replace("_", " "), passage["why"])))
    return [cells for _, cells in sorted(spans, key=lambda span: span[0])]


def show_audit(measured: Measurement) -> Shown:
    """Show, sentence by sentence, how first reasonings were read and judged: approved, refuted, not or partly read."""
    blocks: list[Block] = []
    columns = (Column("sentence"), Column("read as"), Column("verdict"), Column("correction, or why not"))
    for row in measured.frame("runs").rows[:_QUOTED]:
        if rows := _list_verdicts(row):
            reasoning = row["transcript"][0]["reasoning"]
            blocks += [Quote(reasoning, f"run {row['repeat']}, first attempt"), Table(columns, tuple(rows))]
    none = Paragraph("No sentence of the first attempts speaks of amounts or solutions.")
    return Shown("How each sentence was read and judged", tuple(blocks or [none]))


def show_briefing(measured: Measurement) -> Shown:
    """Show how reasoning was checked and what the reasoner was told."""
    about = Paragraph(
        "Each reasoning is translated into claims; each claim is decided by a logic engine on the game's program and "
        "by theory on its payoffs; refuted claims are put right and the reasoner is asked again. After A. Mensfelt, "
        "K. Stathis, V. Trencsenyi, Logic-Enhanced Language Model Agents, 2024."
    )
    return Shown("What the reasoner was told", (about, Code(_write_briefing(measured.config.scene))))


_PROSE = read_toml(Path(__file__).with_name("report.toml"))

verify_model = Study(
    "verify",
    VerifyConfig,
    specs=list_runs,
    play=prepare_runs,
    measure=measure_reasoning,
    metrics=METRICS,
    title="Reasoning checked by logic",
    subtitle=_PROSE["subtitle"],
    command="verify",
    unit="runs",
    texts=(GAME_TEXTS, PLAYER_TEXTS, CLAIM_TEXTS, TEXTS),
    game=lambda config, data: config.scene.game,
    count_plays=lambda config: config.repeats,
    estimate_calls=estimate_runs,
    more_files=list_sheets,
    report=(
        text(_PROSE["missing"], kind="warning"),
        metrics_table("First and last attempt", "Numbers of runs, means and shares with 95 % intervals"),
        text(_PROSE["unrefuted"]),
        table("changes", caption="Paired by run; {{ config.scene.yardstick }}"),
        text(_PROSE["changes"]),
        table("attempts", title="Attempts"),
        table("claims", title="Claims", caption="Over all attempts"),
        table("troubles", title="Translation", caption="What kept sentences from a verdict, over all attempts"),
        text(_PROSE["unread"]),
        table("judgements", title="People's judgement"),
        table("agreement"),
        text(_PROSE["people"]),
        show_audit,
        show_briefing,
    ),
)
"""What feedback from logic changes in a model's reasoning, choice and payoff."""
