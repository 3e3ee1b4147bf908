"""The judging tasks of a server, kept in the journal; and transcripts taken from runs, without names."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable
from typing import Any

from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE
from bestresponse.core.seeds import generator
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.web.judging.scores import Item, Score, Task
from bestresponse.web.sessions.journal import Journal
from bestresponse.web.sessions.store import NotFound
from bestresponse.web.watching.runs import rebuild_game
from bestresponse.web.watching.steps import Step, list_steps

__all__ = ["JudgingStore", "draw_transcripts"]

_LONGEST = 50_000


class JudgingStore:
    """Tasks and scores."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._tasks: dict[str, Task] = {}
        self._scores: dict[str, dict[tuple[str, str], Score]] = {}
        for event in journal.read_events("judging", "judged"):
            self._apply_event(event)

    def _apply_event(self, event: dict[str, Any]) -> None:
        if event["event"] == "judging":
            items = tuple(Item(*item) for item in event["items"])
            task = Task(event["task"], event["title"], event["rubric"], items, tuple(event["judges"]))
            self._tasks[task.id] = task
            self._scores[task.id] = {}
            return
        score = Score(event["judge"], event["item"], event["levels"], event["remark"])
        self._scores[event["task"]][score.judge, score.item] = score

    def tasks(self) -> list[Task]:
        """The newest first."""
        return list(reversed(self._tasks.values()))

    def task(self, name: str) -> Task:
        """Return the task of that name, or raise NotFound."""
        if name not in self._tasks:
            raise NotFound("there is no such task")
        return self._tasks[name]

    def scores(self, task: str) -> list[Score]:
        """List the scores of a task."""
        return list(self._scores[task].values())

    def done(self, task: str, judge: str) -> set[str]:
        """The items that this judge has judged."""
        return {item for who, item in self._scores[task] if who == judge}

    def begin(self, title: str, rubric: str, items: Iterable[Item], judges: Iterable[str]) -> Task:
        """A new task; UsageError where it cannot be one."""
        task = Task(secrets.token_hex(6), title, rubric, tuple(items), tuple(judges))
        plain = [[item.id, item.text] for item in task.items]
        with self._lock:
            self._apply_event(
                self._journal.append_event(
                    "judging", task=task.id, title=title, rubric=rubric, items=plain, judges=list(task.judges)
                )
            )
        return task

    def give(self, task: Task, *scores: Score) -> None:
        """Keep scores; an item judged again counts with the last."""
        with self._lock:
            for score in scores:
                self._apply_event(
                    self._journal.append_event(
                        "judged",
                        task=task.id,
                        judge=score.judge,
                        item=score.item,
                        levels=dict(score.levels),
                        remark=score.remark,
                    )
                )


def draw_transcripts(
    folder: RunFolder, count: int, seed: int, player: str = "", silent: bool = False
) -> tuple[Item, ...]:
    """Draw what seats of finished plays saw and said: `count` of them at random, players not named.

    Seats without a word of reasoning are left out unless `silent`; `player` keeps those whose player's name has it.
    """
    found = [item for play in folder.plays() for item in _draw_from_play(folder, play, player.lower(), silent)]
    if not found:
        raise UsageError("this run has no finished play with words to judge; choose another, or allow seats without")
    drawn = sorted(generator(seed, "transcripts").sample(range(len(found)), min(count, len(found))))
    return tuple(Item(f"T{number}", found[k]) for number, k in enumerate(drawn, 1))


def _draw_from_play(folder: RunFolder, play: StoredPlay, player: str, silent: bool) -> list[str]:
    game = rebuild_game(folder, play.data)
    steps = list_steps(play.record, game, ())
    wanted = [step for step in steps if step.role not in (NATURE, REFEREE)]
    roles = [
        role
        for role in dict.fromkeys(step.role for step in wanted)
        if player in play.record.players.get(role, "").lower()
        and (silent or any(step.words.strip() for step in wanted if step.role == role))
    ]
    rules = {role: game.view(game.start(), role).briefing if game else "" for role in roles}
    return [_format_transcript(rules[role], [step for step in steps if step.role == role]) for role in roles]


def _format_transcript(rules: str, steps: list[Step]) -> str:
    parts = [rules]
    for number, step in enumerate(steps, 1):
        seen = f"{step.situation}\n" if step.situation and step.situation != rules else ""
        words = f"\n{step.words}" if step.words else ""
        parts.append(f"Answer {number}\n{seen}Answered: {step.action}{words}")
    return "\n\n".join(part for part in parts if part)[:_LONGEST]
