"""What a run of the loop shows: states, choices, payoffs and gaps of first and last attempts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from statistics import fmean
from typing import Annotated, Any, Literal, TypedDict, cast

import numpy as np

from bestresponse.core.errors import StoreError
from bestresponse.core.json import JsonMapping
from bestresponse.report.frames import (
    Frame,
    Heads,
    IntervalColumn,
    Metric,
    Value,
    column,
    list_metrics,
)
from bestresponse.report.stats.differences import paired_difference
from bestresponse.report.stats.statistics import (
    Interval,
    cluster_bootstrap,
    wilson,
)
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.study import Measured
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.plays import read_game_name
from bestresponse.studies.verify.ratings import (
    BOTH,
    AgreementRow,
    AttemptResult,
    CorrectnessRow,
    JudgementRow,
    MarksRow,
    RunRow,
    When,
    compare_with_people,
    measure_correctness,
    pick_attempt,
    read_rated_sheets,
    split_runs,
)
from bestresponse.studies.verify.scenes import Scene

_BEST = 1e-9
"""A choice that loses no more than this is a best response."""


class AttemptRow(TypedDict):
    """How many runs took how many attempts."""

    model: str
    game: str
    attempts: int
    runs: int


class ClaimRow(TypedDict):
    """How often a form of claim was made, refuted and left open, over all attempts."""

    form: Annotated[str, column("form of claim")]
    made: int
    refuted: int
    unknown: int


class AttemptCostRow(TypedDict):
    """What one attempt of a reasoner takes, on average.

    Calls of translators are not counted here.
    """

    model: str
    game: str
    calls: int
    prompt_tokens: Annotated[float, column("prompt tokens per attempt", ".1f")]
    reply_tokens: Annotated[float, column("generated tokens per attempt", ".1f")]
    seconds: Annotated[float, column("seconds per attempt", ".2f")]


class ChangeRow(TypedDict):
    """How far the last attempt differs from the first, run by run."""

    model: str
    game: str
    metric: Annotated[str, column("from first to last attempt")]
    difference: Annotated[Interval, column("last minus first, 95 % by sign flips", ".3f")]
    """all that the test of p does not reject; a test needs six runs"""
    p: Annotated[float, column("p, exchangeable in every run", ".3f")]


class TroubleRow(TypedDict):
    """What kept sentences from a verdict in translation, over all attempts."""

    trouble: str
    times: int


class LetterRow(TypedDict):
    """What a letter of a told game stands for."""

    game: str
    player: str
    letter: Annotated[str, column("told as")]
    move: str


class ChosenRow(TypedDict):
    """How often a choice was made at the first and at the last attempt, of readable runs."""

    model: str
    game: str
    choice: str
    first: IntervalColumn
    last: IntervalColumn


class AttemptMetrics(TypedDict):
    """The metrics of the first or the last attempts.

    The share of every choice is next to them.
    """

    unrefuted: int
    """runs in which at least one claim was proved and none refuted"""
    refuted: int
    """runs in which a claim is false"""
    undecided: int
    """runs in which no claim could be decided"""
    unchecked: int
    """runs in which no claim was found"""
    payoff: IntervalColumn
    """what the choice earns, mean over readable runs; none where equilibria differ about it"""
    gap: Annotated[Interval | None, column("Nash gap", ".3f")]
    """how much less that is than the best choice would earn; none where equilibria differ"""
    wrong_reason: Annotated[Interval | None, column("right for a wrong reason", ".3f")]
    """share of the best responses whose reasoning was refuted; none where equilibria differ"""


class GapRange(TypedDict):
    """What bounds the Nash gap where equilibria differ about it."""

    gap_least: Annotated[Interval | None, column("least Nash gap", ".3f")]
    """mean of the gaps at the equilibrium that suits each choice best"""
    gap_most: Annotated[Interval | None, column("most Nash gap", ".3f")]
    """mean of the gaps at the equilibrium that suits each choice least"""


def list_readable(rows: Iterable[RunRow]) -> list[RunRow]:
    """List the runs with a first and a last choice that could be read."""
    return [
        row for row in rows if row["first_choice"] is not None and row["last_choice"] is not None
    ]


Amount = Literal["payoff", "gap", "gap_least", "gap_most"]


def list_values(rows: Iterable[RunRow], what: Amount, when: When) -> list[float]:
    """List a metric of readable runs, at the first or the last attempt.

    There is none if equilibria differ about what a choice is worth: a mean over the other runs
    would be one of the games that happen to have a single equilibrium.
    """
    attempts = [pick_attempt(row, when) for row in list_readable(rows)]
    if what in ("payoff", "gap") and any(one.is_open(what) for one in attempts):
        return []
    values = [getattr(one, what) for one in attempts]
    return [value for value in values if value is not None]


def sum_up_attempts(
    rows: Sequence[RunRow], when: When, choices: Mapping[str, str]
) -> Mapping[str, Value]:
    """Compute the metrics of the first or last attempts, and the shares of `choices`.

    The shares are by the names of their metrics.
    """
    states = Counter(pick_attempt(row, when).state for row in rows)
    readable = [pick_attempt(row, when) for row in list_readable(rows)]
    best = [one for one in readable if one.gap is not None and one.gap <= _BEST]
    if any(one.is_open("gap") for one in readable):
        best = []
    wrong_reasons = sum(one.state == "refuted" for one in best)
    figures: dict[str, Value] = {
        "unrefuted": states["unrefuted"],
        "refuted": states["refuted"],
        "undecided": states["undecided"],
        "unchecked": states["unchecked"],
        "payoff": _find_mean(list_values(rows, "payoff", when)),
        "gap": _find_mean(list_values(rows, "gap", when)),
        "gap_least": _find_mean(list_values(rows, "gap_least", when)),
        "gap_most": _find_mean(list_values(rows, "gap_most", when)),
        "wrong_reason": wilson(wrong_reasons, len(best)) if best else None,
    }
    chosen = Counter(one.choice for one in readable)
    for name, action in choices.items():
        figures[name] = wilson(chosen[action], len(readable)) if readable else None
    return figures


def _find_mean(values: Sequence[float]) -> Interval | None:
    """Return the mean with its interval, the same one in every report."""
    return cluster_bootstrap(values, rng=np.random.default_rng(0)) if values else None


METRICS = list_metrics(AttemptMetrics)
"""Every metric of the first and the last attempt; `measure` adds the share of every choice."""


def measure_reasoning(config: VerifyConfig, folder: RunFolder) -> Measured:
    """Measure every finished run, and how people judge them.

    People's judgement is measured if raters have filled in their sheets.
    """
    rows = _list_rows(config, folder)
    sheets = read_rated_sheets(folder.path, rows)
    judgements, agreements = compare_with_people(rows, sheets)
    choices = _name_choices(config)
    parts = list(split_runs(rows))
    changes: list[ChangeRow] = []
    figures: dict[Heads, Mapping[str, Value]] = {}
    for model, game, part in parts:
        changes += _list_changes(part, model, game)
        for when in BOTH:
            figures[*_list_heads(config, model, game), when] = sum_up_attempts(part, when, choices)
    frames = {
        "runs": Frame(RunRow, rows),
        "letters": Frame(LetterRow, list(_list_letters(config))),
        "choices": Frame(ChosenRow, list(_count_choices(parts, config))),
        "correctness": Frame(CorrectnessRow, list(measure_correctness(rows, sheets))),
        "attempts": Frame(AttemptRow, list(_count_attempts(parts, config.attempts))),
        "changes": Frame(ChangeRow, changes),
        "attempt_costs": Frame(AttemptCostRow, list(_average_attempts(parts, config, folder))),
        "claims": Frame(ClaimRow, list(_count_claims(rows))),
        "troubles": Frame(TroubleRow, list(_count_troubles(rows))),
        "marks": Frame(MarksRow, sheets.marks),
        "judgements": Frame(JudgementRow, judgements),
        "agreement": Frame(AgreementRow, agreements),
    }
    attempts = [pick_attempt(row, when) for row in rows for when in BOTH]
    ranges = list_metrics(GapRange) if any(one.is_open("gap") for one in attempts) else ()
    return Measured(
        frames,
        answered=len(list_readable(rows)),
        labels=(*_list_heads(config, "model", "game"), "attempt"),
        groups=figures,
        metrics=(*METRICS, *ranges, *_list_shares(config, choices)),
    )


def _list_rows(config: VerifyConfig, folder: RunFolder) -> list[RunRow]:
    """Measure every run; in the order of the models, the games and the repeats."""
    rows = [
        _measure_run(play, config.scenes[read_game_name(play.data)])
        for play in folder.sorted_plays()
    ]
    models = [str(model) for model in config.model]
    games = [game.name for game in config.game]
    return sorted(
        rows,
        key=lambda row: (models.index(row["model"]), games.index(row["game"]), row["repeat"]),
    )


def _list_heads(config: VerifyConfig, model: str, game: str) -> Iterator[str]:
    """Yield what tells the groups of a run apart: models and games only where there are several."""
    if len(config.model) > 1:
        yield model
    if len(config.game) > 1:
        yield game


def _name_choices(config: VerifyConfig) -> dict[str, str]:
    """Return the choices of all games by the names of their metrics."""
    choices: dict[str, str] = {}
    told = dict.fromkeys(action for scene in config.scenes.values() for action in scene.choices)
    for number, action in enumerate(told, 1):
        name = "chose_" + re.sub(r"\W", "_", action)
        if name in choices:  # +1 and -1 are two choices
            name = f"{name}_{number}"
        choices[name] = action
    return choices


def _list_shares(config: VerifyConfig, choices: Mapping[str, str]) -> Iterator[Metric[Any]]:
    """Yield the share of every choice as a metric.

    If all games agree, it names the move that the choice means.
    """
    for name, action in choices.items():
        moves = {
            config.moves[game][scene.seat][action]
            for game, scene in config.scenes.items()
            if action in scene.choices
        }
        said = _explain(action, next(iter(moves))) if len(moves) == 1 else action
        yield Metric(
            name,
            f"chose {said}",
            help="share of readable runs",
            format=".3f",
            compute=itemgetter(name),
        )


def _explain(told: str, move: str) -> str:
    """Return a choice with the move that it stands for."""
    return told if told == move else f"{told} ({move})"


def _list_letters(config: VerifyConfig) -> Iterator[LetterRow]:
    """Yield what every letter stands for; once where it is the same for all players."""
    if not config.disguised:
        return
    for game, players in config.moves.items():
        names = config.scenes[game].game.roles
        told = dict(zip(names, players, strict=True))
        if all(moves == players[0] for moves in players):
            told = {"all": players[0]}
        for player, moves in told.items():
            for letter, move in moves.items():
                yield LetterRow(game=game, player=player, letter=letter, move=move)


def _count_choices(
    parts: Iterable[tuple[str, str, Sequence[RunRow]]], config: VerifyConfig
) -> Iterator[ChosenRow]:
    for model, game, rows in parts:
        readable = list_readable(rows)
        if game not in config.scenes or not readable:
            continue
        scene = config.scenes[game]
        for action in scene.choices:
            first = [row["first_choice"] for row in readable].count(action)
            last = [row["last_choice"] for row in readable].count(action)
            yield ChosenRow(
                model=model,
                game=game,
                choice=_explain(action, config.moves[game][scene.seat][action]),
                first=wilson(first, len(readable)),
                last=wilson(last, len(readable)),
            )


def _count_attempts(
    parts: Iterable[tuple[str, str, Sequence[RunRow]]], most: int
) -> Iterator[AttemptRow]:
    for model, game, rows in parts:
        counts = Counter(row["attempts"] for row in rows)
        for number in range(1, most + 1):
            yield AttemptRow(model=model, game=game, attempts=number, runs=counts[number])


def _average_attempts(
    parts: Iterable[tuple[str, str, Sequence[RunRow]]], config: VerifyConfig, folder: RunFolder
) -> Iterator[AttemptCostRow]:
    """Yield tokens and seconds of a reasoner's attempt.

    Its calls are those with the instruction to the reasoner.
    """
    replies: dict[str, list[JsonMapping]] = {}
    for call in folder.calls():
        role, instruction = call["request"]["messages"][0]
        # A prompt of the user's own is one message; others begin with an instruction.
        if role == "user" or instruction == config.system:
            replies.setdefault(call["spec"], []).append(call["reply"])
    for model, game, rows in parts:
        own = [reply for row in rows for reply in replies.get(row["run"], ())]
        if own:
            yield AttemptCostRow(
                model=model,
                game=game,
                calls=len(own),
                prompt_tokens=fmean(reply["usage"]["prompt"] or 0 for reply in own),
                reply_tokens=fmean(reply["usage"]["completion"] or 0 for reply in own),
                seconds=fmean(reply["latency"] or 0 for reply in own),
            )


def _count_troubles(rows: Iterable[RunRow]) -> Iterator[TroubleRow]:
    troubles: Counter[str] = Counter()
    for row in rows:
        for attempt in row["transcript"]:
            troubles["sentences unread"] += len(attempt["unread"] or ())
            troubles["sentences partly read"] += len(attempt.get("partly_read") or ())
            troubles["sentences set aside"] += len(attempt.get("set_aside") or ())
            troubles.update(attempt["troubles"])
    if not troubles["sentences set aside"]:
        del troubles["sentences set aside"]
    for kind, times in troubles.items():
        yield TroubleRow(trouble=kind, times=times)


def _measure_run(play: StoredPlay, scene: Scene) -> RunRow:
    role = scene.game.roles[scene.seat]
    worths = scene.worth(play.record.submissions)
    decision = next((s.decision for s in play.record.submissions if s.role == role), None)
    attempts = [dict(remark) for remark in decision.remarks] if decision is not None else []
    if not attempts:
        raise StoreError(f"the run {play.spec} holds no transcript of its attempts")
    first = _measure_attempt(attempts[0]["choice"], attempts[0]["state"], worths)
    last = _measure_attempt(attempts[-1]["choice"], attempts[-1]["state"], worths)
    row: dict[str, Any] = {
        "run": play.spec,
        "model": play.data["model"],
        "game": read_game_name(play.data),
        "repeat": play.data["repeat"],
        "attempts": len(attempts),
        "transcript": attempts,
    }
    for when, end in zip(BOTH, (first, last), strict=True):
        row |= {f"{when}_{name}": value for name, value in asdict(end).items()}
    return cast(RunRow, row)


def _measure_attempt(
    choice: str | None, state: str, worths: Sequence[Mapping[str, float]]
) -> AttemptResult:
    """Measure an attempt by what each choice is worth at every equilibrium."""
    known = [worth for worth in worths if choice in worth]
    if choice is None or not known:
        return AttemptResult(choice, state, None, None)
    payoffs = [worth[choice] for worth in known]
    gaps = [max(worth.values()) - worth[choice] for worth in known]
    return AttemptResult(
        choice=choice,
        state=state,
        payoff=payoffs[0] if np.ptp(payoffs) <= _BEST else None,
        gap=gaps[0] if np.ptp(gaps) <= _BEST else None,
        gap_least=min(gaps),
        gap_most=max(gaps),
    )


def _list_changes(rows: Sequence[RunRow], model: str = "", game: str = "") -> Iterator[ChangeRow]:
    """Yield by how much payoff and gap of the last attempt differ from those of the first."""
    figures: tuple[tuple[Literal["payoff", "gap"], str], ...] = (
        ("payoff", "payoff"),
        ("gap", "Nash gap"),
    )
    for what, title in figures:
        # A run of which one end has no value is no pair.
        ends = [pick_attempt(row, when) for row in list_readable(rows) for when in BOTH]
        if any(end.is_open(what) for end in ends):
            continue
        whole = [row for row in rows if all(list_values([row], what, when) for when in BOTH)]
        if len(whole) < 2:
            continue
        first = list_values(whole, what, "first")
        last = list_values(whole, what, "last")
        change = paired_difference(last, first, rng=np.random.default_rng(0))
        yield ChangeRow(
            model=model, game=game, metric=title, difference=change.difference, p=change.p_value
        )


def _count_claims(rows: Iterable[RunRow]) -> Iterator[ClaimRow]:
    made: Counter[str] = Counter()
    verdicts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for attempt in row["transcript"]:
            for claim in attempt["claims"]:
                made[claim["form"]] += 1
                verdicts[claim["form"], claim["verdict"]] += 1
    for form, count in made.most_common():
        yield ClaimRow(
            form=form,
            made=count,
            refuted=verdicts[form, "refuted"],
            unknown=verdicts[form, "unknown"],
        )
