"""What is measured of every run of the loop: first against last attempt, by claims, choice, payoff and gap.

The payoff of a choice is what it earns against the others at one equilibrium of the game (`scene` says how), its gap
how much less that is than the best choice would earn: 0 exactly for best responses. "Right for the wrong reason" is a
best response whose reasoning was refuted. In a game played move by move the first decision is measured.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.report.metrics import Figures, Metric, compute_figures
from bestresponse.report.stats.statistics import Comparison, Interval, cluster_bootstrap, paired_difference, wilson
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.evaluation import Confusion, SheetRow
from bestresponse.studies.verify.setup import Scene, scene_of

__all__ = ["METRICS", "Measured", "VerifyRow", "labels_of", "measure"]

When = Literal["first", "last"]
_BOTH: tuple[When, When] = ("first", "last")
STATES = ("unrefuted", "refuted", "undecided", "unchecked")
"""What a review says of a reasoning; see `formal.claims.review`."""


class VerifyRow(TypedDict):
    """One run of the loop: its attempts in full, and choice, state, payoff and gap of the first and the last one."""

    run: str
    repeat: int
    attempts: int
    transcript: list[JsonObject]
    first_choice: str | None
    first_state: str
    first_payoff: float | None
    first_gap: float | None
    last_choice: str | None
    last_state: str
    last_payoff: float | None
    last_gap: float | None


class Attempt(NamedTuple):
    """What counts of one attempt of a run."""

    choice: str | None
    state: str
    payoff: float | None
    gap: float | None


def _pick(row: VerifyRow, when: When) -> Attempt:
    if when == "first":
        return Attempt(row["first_choice"], row["first_state"], row["first_payoff"], row["first_gap"])
    return Attempt(row["last_choice"], row["last_state"], row["last_payoff"], row["last_gap"])


@dataclass(frozen=True)
class Measured:
    """All finished runs of one study."""

    config: VerifyConfig
    rows: tuple[VerifyRow, ...]

    @property
    def answered(self) -> int:
        """How many runs have a readable first and last choice."""
        return len(self.readable)

    @cached_property
    def summary(self) -> JsonObject:
        """The headline figures as plain data."""
        return {
            "game": self.config.game.name,
            "model": self.config.model,
            "translator": self.config.translator,
            "runs": len(self.rows),
            "attempts": {str(number): count for number, count in self.attempts.items()},
            "first": self.states("first"),
            "last": self.states("last"),
            "choices": {
                action: {when: _to_json(self.choice_share(action, when)) for when in _BOTH} for action in self.choices
            },
            "right_for_the_wrong_reason": {when: _to_json(self.wrong_reason(when)) for when in _BOTH},
            "claims": {
                form: dict(zip(("made", "refuted", "unknown"), c, strict=True)) for form, c in self.refuted().items()
            },
            "unread_per_attempt": self.unread,
            "change": {"payoff": _difference(self.change("payoff")), "gap": _difference(self.change("gap"))},
            "per_attempt": {
                who: {what: self.per_attempt(who, what) for what in ("calls", "prompt", "completion", "seconds")}
                for who in ("reasoner", "translator")
            },
        }

    @cached_property
    def scene(self) -> Scene:
        """The game as it was told, and what choices are worth in it."""
        return scene_of(self.config)

    @property
    def choices(self) -> tuple[str, ...]:
        """The reasoner's actions as it was told them."""
        return self.scene.choices

    @property
    def readable(self) -> tuple[VerifyRow, ...]:
        """Runs with a first and a last choice that could be read."""
        return tuple(row for row in self.rows if row["first_choice"] is not None and row["last_choice"] is not None)

    @property
    def attempts(self) -> dict[int, int]:
        """How many reasonings took how many attempts."""
        counts = Counter(row["attempts"] for row in self.rows)
        return {number: counts[number] for number in range(1, self.config.attempts + 1)}

    def states(self, when: When) -> dict[str, int]:
        """Count reasonings that are unrefuted, refuted, undecided, unchecked; `when` is first or last."""
        counts = Counter(_pick(row, when).state for row in self.rows)
        return {state: counts[state] for state in STATES}

    def choice_share(self, action: str, when: When) -> Interval | None:
        """Estimate how often an action was chosen, `first` or `last`."""
        readable = self.readable
        chose = sum(_pick(row, when).choice == action for row in readable)
        return wilson(chose, len(readable)) if readable else None

    def wrong_reason(self, when: When) -> Interval | None:
        """Of the runs that choose a best response, the share whose reasoning was refuted."""
        attempts = [_pick(row, when) for row in self.readable]
        best = [one for one in attempts if one.gap is not None and one.gap <= 1e-9]
        wrong = sum(one.state == "refuted" for one in best)
        return wilson(wrong, len(best)) if best else None

    def refuted(self) -> dict[str, tuple[int, int, int]]:
        """By form of claim: how many were made, refuted, unknown, over all attempts."""
        made: Counter[str] = Counter()
        refuted: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        for row in self.rows:
            for attempt in row["transcript"]:
                for claim in attempt["claims"]:
                    made[claim["form"]] += 1
                    refuted[claim["form"]] += claim["verdict"] == "refuted"
                    unknown[claim["form"]] += claim["verdict"] == "unknown"
        return {form: (count, refuted[form], unknown[form]) for form, count in made.most_common()}

    @property
    def unread(self) -> float | None:
        """Sentences with amounts that gave no claim, on average over attempts; None where nobody can tell."""
        told = [attempt.get("unread") for row in self.rows for attempt in row["transcript"]]
        counts = [count for count in told if count is not None]
        return float(np.mean(counts)) if counts else None

    def list_values(self, what: Literal["payoff", "gap"], when: When) -> list[float]:
        """List the payoff or gap of every run whose first and last choice could be read."""
        found = [getattr(_pick(row, when), what) for row in self.readable]
        return [value for value in found if value is not None]

    def average(self, what: Literal["payoff", "gap"], when: When) -> Interval | None:
        """Average the payoff or gap of readable runs, with an interval over runs."""
        values = self.list_values(what, when)
        return cluster_bootstrap(values, rng=np.random.default_rng(0)) if values else None

    def change(self, what: Literal["payoff", "gap"]) -> Comparison | None:
        """The last minus the first, run by run; `what` is payoff or gap."""
        last, first = self.list_values(what, "last"), self.list_values(what, "first")
        return paired_difference(last, first, rng=np.random.default_rng(0)) if len(first) > 1 else None

    def list_figures(self) -> Figures:
        """List the metrics of the first and the last attempt, with the share of every choice."""
        chosen = [
            Metric(
                "chose_" + re.sub(r"\W", "_", action),
                f"chose {action}",
                "share of readable runs",
                "",
                ".3f",
                partial(_share_choice, action),
            )
            for action in self.choices
        ]
        return compute_figures((*METRICS, *chosen), ("attempt",), {(when,): (self, when) for when in _BOTH})

    def per_attempt(self, who: str, what: str) -> float | None:
        """The mean over attempts of the reasoner's or translator's tokens, calls or seconds."""
        values = [attempt[who][what] for row in self.rows for attempt in row["transcript"]]
        return float(np.mean(values)) if values else None

    def against(self, labels: Mapping[str, bool]) -> Confusion:
        """People's labels of first reasonings, by run, against what the checker said; unchecked runs are left out."""
        decided = [row for row in self.rows if row["run"] in labels and row["first_state"] in ("unrefuted", "refuted")]
        return Confusion.of((labels[row["run"]], row["first_state"] == "unrefuted") for row in decided)

    def sheet(self) -> tuple[SheetRow, ...]:
        """One row for each run, for people to judge."""
        return tuple(
            SheetRow(
                row["run"],
                self.config.game.name,
                row["attempts"],
                str(row["first_choice"] or ""),
                str(row["last_choice"] or ""),
                row["transcript"][0]["reasoning"],
                row["transcript"][-1]["reasoning"],
            )
            for row in self.rows
        )


AtAttempt = tuple[Measured, When]
METRICS: tuple[Metric[AtAttempt], ...] = (
    *(
        Metric(state, state, told, "", "", lambda group, state=state: group[0].states(group[1])[state])  # type: ignore[misc]
        for state, told in (
            ("unrefuted", "runs in which at least one claim was proved and none refuted"),
            ("refuted", "runs in which a claim is false"),
            ("undecided", "runs in which no claim could be decided"),
            ("unchecked", "runs in which no claim was found"),
        )
    ),
    Metric(
        "payoff",
        "payoff",
        "what the choice earns, mean over readable runs",
        "",
        ".3f",
        lambda g: g[0].average("payoff", g[1]),
    ),
    Metric(
        "gap",
        "Nash gap",
        "how much less that is than the best choice would earn",
        "",
        ".3f",
        lambda g: g[0].average("gap", g[1]),
    ),
    Metric(
        "wrong_reason",
        "right for a wrong reason",
        "share of the best responses whose reasoning was refuted",
        "",
        ".3f",
        lambda group: group[0].wrong_reason(group[1]),
    ),
)
"""Every figure of the first and the last attempt; the share of every choice is added by `Measured.list_figures`."""


def _share_choice(action: str, group: AtAttempt) -> Interval | None:
    return group[0].choice_share(action, group[1])


def _to_json(interval: Interval | None) -> JsonObject | None:
    return None if interval is None else interval.to_json()


def _difference(found: Comparison | None) -> JsonObject | None:
    return None if found is None else {**found.difference.to_json(), "p": found.p_value}


def measure(config: VerifyConfig, plays: Iterable[StoredPlay]) -> Measured:
    """Measure every finished run."""
    scene = scene_of(config)
    rows = [_row(play, scene) for play in plays]
    return Measured(config, tuple(sorted(rows, key=lambda row: row["repeat"])))


def _row(play: StoredPlay, scene: Scene) -> VerifyRow:
    role, worth = scene.game.roles[scene.seat], scene.worth(play.record.submissions)
    decision = next((s.decision for s in play.record.submissions if s.role == role), None)
    try:
        attempts = json.loads(decision.reasoning) if decision is not None else []
    except ValueError:
        attempts = []
    if not attempts:
        raise StoreError(f"the run {play.spec} holds no transcript of its attempts")
    first, last = (_judge(attempt, worth) for attempt in (attempts[0], attempts[-1]))
    return VerifyRow(
        run=play.spec,
        repeat=play.data["repeat"],
        attempts=len(attempts),
        transcript=attempts,
        first_choice=first.choice,
        first_state=first.state,
        first_payoff=first.payoff,
        first_gap=first.gap,
        last_choice=last.choice,
        last_state=last.state,
        last_payoff=last.payoff,
        last_gap=last.gap,
    )


def _judge(attempt: JsonMapping, worth: Mapping[str, float]) -> Attempt:
    choice = attempt["choice"]
    if not isinstance(choice, str) or choice not in worth:
        return Attempt(choice, attempt["state"], None, None)
    return Attempt(choice, attempt["state"], worth[choice], max(worth.values()) - worth[choice])


def labels_of(sheets: Iterable[JsonMapping]) -> dict[str, bool]:
    """Conservative labels of first reasonings from several raters' sheets: correct only where all say so."""
    found: dict[str, bool] = {}
    for sheet in sheets:
        for run, rating in sheet.items():
            found[run] = found.get(run, True) and bool(rating.first)
    if not found:
        raise UsageError("the sheets hold no ratings")
    return found
