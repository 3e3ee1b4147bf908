"""What is measured of every run of the loop: first against last attempt, by claims, choice, payoff and gap.

The payoff of a choice is what it earns against the others at one equilibrium of the game (`scene` says how), its gap
how much less that is than the best choice would earn: 0 exactly for best responses. "Right for the wrong reason" is a
best response whose reasoning was refuted. In a game played move by move the first decision is measured.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.report.stats.statistics import Comparison, Interval, paired_difference, wilson
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.evaluation import Confusion, SheetRow
from bestresponse.studies.verify.setup import Scene, scene_of

__all__ = ["Measured", "Row", "labels_of", "measure"]

Row = JsonObject
STATES = ("unrefuted", "refuted", "undecided", "unchecked")
"""What a review says of a reasoning; see `formal.claims.review`."""


@dataclass(frozen=True)
class Measured:
    """All finished runs of one study."""

    config: VerifyConfig
    rows: tuple[Row, ...]

    @property
    def answered(self) -> int:
        """How many runs have a readable first and last choice."""
        return len(self.readable)

    @cached_property
    def summary(self) -> JsonObject:
        """The headline figures as plain data."""
        return {
            "game": self.config.game,
            "model": self.config.model,
            "translator": self.config.translator,
            "runs": len(self.rows),
            "attempts": {str(number): count for number, count in self.attempts.items()},
            "first": self.states("first"),
            "last": self.states("last"),
            "choices": {
                action: {when: _to_json(self.choice_share(action, when)) for when in ("first", "last")}
                for action in self.choices
            },
            "right_for_the_wrong_reason": {when: _to_json(self.wrong_reason(when)) for when in ("first", "last")},
            "claims": {
                form: dict(zip(("made", "refuted", "unknown"), c, strict=True)) for form, c in self.refuted().items()
            },
            "unread_per_attempt": self.unread,
            "change": {what: _difference(self.change(what)) for what in ("payoff", "gap")},
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
    def readable(self) -> tuple[Row, ...]:
        """Runs with a first and a last choice that could be read."""
        return tuple(row for row in self.rows if row["first_choice"] is not None and row["last_choice"] is not None)

    @property
    def attempts(self) -> dict[int, int]:
        """How many reasonings took how many attempts."""
        counts = Counter(row["attempts"] for row in self.rows)
        return {number: counts[number] for number in range(1, self.config.attempts + 1)}

    def states(self, when: str) -> dict[str, int]:
        """Count reasonings that are unrefuted, refuted, undecided, unchecked; `when` is first or last."""
        counts = Counter(row[f"{when}_state"] for row in self.rows)
        return {state: counts[state] for state in STATES}

    def choice_share(self, action: str, when: str) -> Interval | None:
        """Estimate how often an action was chosen, `first` or `last`."""
        readable = self.readable
        chose = sum(row[f"{when}_choice"] == action for row in readable)
        return wilson(chose, len(readable)) if readable else None

    def wrong_reason(self, when: str) -> Interval | None:
        """Of the runs that choose a best response, the share whose reasoning was refuted."""
        best = [row for row in self.readable if row[f"{when}_gap"] <= 1e-9]
        wrong = sum(row[f"{when}_state"] == "refuted" for row in best)
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

    def change(self, what: str) -> Comparison | None:
        """The last minus the first, run by run; `what` is payoff or gap."""
        rows = self.readable
        if len(rows) < 2:
            return None
        pairs = [[row[f"{when}_{what}"] for row in rows] for when in ("last", "first")]
        return paired_difference(*pairs, rng=np.random.default_rng(0))

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
                self.config.game,
                row["attempts"],
                str(row["first_choice"] or ""),
                str(row["last_choice"] or ""),
                row["transcript"][0]["reasoning"],
                row["transcript"][-1]["reasoning"],
            )
            for row in self.rows
        )


def _to_json(interval: Interval | None) -> JsonObject | None:
    return None if interval is None else interval.to_json()


def _difference(found: Comparison | None) -> JsonObject | None:
    return None if found is None else {**found.difference.to_json(), "p": found.p_value}


def measure(config: VerifyConfig, plays: Iterable[StoredPlay]) -> Measured:
    """Measure every finished run."""
    scene = scene_of(config)
    rows = [_row(play, scene) for play in plays]
    return Measured(config, tuple(sorted(rows, key=lambda row: row["repeat"])))


def _row(play: StoredPlay, scene: Scene) -> Row:
    role, worth = scene.game.roles[scene.seat], scene.worth(play.record.submissions)
    decision = next((s.decision for s in play.record.submissions if s.role == role), None)
    try:
        attempts = json.loads(decision.reasoning) if decision is not None else []
    except ValueError:
        attempts = []
    if not attempts:
        raise StoreError(f"the run {play.spec} holds no transcript of its attempts")
    row: Row = {"run": play.spec, "repeat": play.data["repeat"], "attempts": len(attempts), "transcript": attempts}
    best = max(worth.values())
    for when, attempt in (("first", attempts[0]), ("last", attempts[-1])):
        choice = attempt["choice"]
        known = isinstance(choice, str) and choice in worth
        row |= {
            f"{when}_choice": choice,
            f"{when}_state": attempt["state"],
            f"{when}_payoff": worth[choice] if known else None,
            f"{when}_gap": best - worth[choice] if known else None,
        }
    return row


def labels_of(sheets: Iterable[JsonMapping]) -> dict[str, bool]:
    """Conservative labels of first reasonings from several raters' sheets: correct only where all say so."""
    found: dict[str, bool] = {}
    for sheet in sheets:
        for run, rating in sheet.items():
            found[run] = found.get(run, True) and bool(rating.first)
    if not found:
        raise UsageError("the sheets hold no ratings")
    return found
