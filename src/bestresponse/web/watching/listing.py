"""Runs and plays as lists that can be searched, filtered and sorted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from bestresponse.core.json import JsonMapping, canonical
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.web.watching.runs import Progress, name_play

__all__ = ["SORTS", "ComparedGame", "PlayFilter", "RunFilter", "compare_games", "find_plays"]

SORTS = {
    "newest": lambda run: run.created,
    "name": lambda run: run.title.lower(),
    "plays": lambda run: run.plays,
    "cost": lambda run: run.money or 0.0,
}
_WHO = (
    "model", "players", "seats", "player", "llm_seed", "seed", "temperature", "max_tokens", "style", "samples",
    "attempts", "translator", "policy", "memory", "reasoning", "elicit", "study",
)  # fmt: skip
"""What of a spec says who plays and how they are asked, not what is played."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are shown, and in which order."""

    find: str = ""
    study: str = ""
    status: str = ""
    sort: str = "newest"

    def apply(self, runs: Iterable[Progress]) -> list[Progress]:
        """Return the runs that fit; the newest, largest and dearest first, names from A to Z."""
        words = self.find.lower().split()
        found = [
            run
            for run in runs
            if all(word in f"{run.name} {run.title} {run.study}".lower() for word in words)
            and self.study in ("", run.study)
            and self.status in ("", run.status)
        ]
        return sorted(found, key=SORTS.get(self.sort, SORTS["newest"]), reverse=self.sort != "name")


@dataclass(frozen=True, slots=True)
class PlayFilter:
    """Which plays of a run are shown."""

    find: str = ""
    only: str = ""

    def accepts(self, play: StoredPlay) -> bool:
        """Tell whether the play fits."""
        record = play.record
        if self.only == "void" and record.void is None:
            return False
        if self.only == "repaired" and all(s.decision.reading.status.value == "valid" for s in record.submissions):
            return False
        text = f"{play.spec} {name_play(play)} {' '.join(record.players.values())}".lower()
        return all(word in text for word in self.find.lower().split())


def find_plays(folder: RunFolder, wanted: PlayFilter, start: int, count: int) -> list[StoredPlay]:
    """Return some of the plays that fit, in the order they finished."""
    return list(islice(filter(wanted.accepts, folder.plays()), start, start + count))


@dataclass(frozen=True, slots=True)
class ComparedGame:
    """One role of one game in two runs: mean payoffs, and a play of each run to look at."""

    name: str
    role: str
    first: float | None
    second: float | None
    specs: tuple[str | None, str | None]

    @property
    def difference(self) -> float | None:
        """The second less the first; None where one is missing."""
        return None if self.first is None or self.second is None else self.second - self.first


def compare_games(first: RunFolder, second: RunFolder, most: int = 500) -> list[ComparedGame]:
    """Put two runs beside each other game by game; a game is what is the same whoever plays it."""
    left, right = _group_plays(first), _group_plays(second)
    rows: list[ComparedGame] = []
    for key in dict.fromkeys((*left, *right)):
        plays = (left.get(key, []), right.get(key, []))
        some = (plays[0] or plays[1])[0]
        for role in dict.fromkeys(role for side in plays for play in side for role in play.record.payoffs):
            means = [_mean([p.record.payoffs[role] for p in side if role in p.record.payoffs]) for side in plays]
            specs = [side[0].spec if side else None for side in plays]
            rows.append(ComparedGame(name_play(some), role, means[0], means[1], (specs[0], specs[1])))
    return rows[:most]


def _group_plays(folder: RunFolder) -> dict[str, list[StoredPlay]]:
    found: dict[str, list[StoredPlay]] = {}
    for play in folder.plays():
        found.setdefault(_identify_game(play.data) + play.record.game, []).append(play)
    return found


def _identify_game(data: JsonMapping) -> str:
    return canonical({key: value for key, value in data.items() if key not in _WHO})


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
