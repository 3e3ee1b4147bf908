"""What a recorded play is worth: its program judged on every level against the true game of its story.

A program *means what the story says* if its game is the true one: payoff for payoff where the story gives numbers, else
by the constraints of the game's name, or, for games without such constraints, by the order of everybody's payoffs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.formal.evaluate.dataset import Story, stories
from bestresponse.formal.evaluate.validation import Finding, Levels, judge_levels
from bestresponse.logic.engine import LogicEngine
from bestresponse.logic.programs.validate import validate
from bestresponse.runs.folder import StoredPlay

__all__ = ["LEVELS", "measure"]

LEVELS = ("syntactic", "functional", "approximate", "exact", "order", "constraints", "equivalent")


def measure(plays: Iterable[StoredPlay], engine: LogicEngine) -> Iterator[dict[str, Any]]:
    """One row for each play."""
    known = {story.id: story for story in stories()}
    for play in plays:
        story = known.get(play.data["story"])
        if story is None:
            raise StoreError(f"the run tells a story that does not exist any more: {play.data['story']}")
        yield _row(play, story, engine)


def _row(play: StoredPlay, story: Story, engine: LogicEngine) -> dict[str, Any]:
    decision = play.record.submissions[-1].decision
    action = decision.action
    levels = judge_levels(validate(action["program"], engine), story.table, story.named)
    meaning = _meaning(story, levels)
    prompt, completion = action["tokens"]
    return {
        "model": play.data["model"],
        "story": story.id,
        "game": story.game,
        "numeric": story.numeric,
        "canonical": story.canonical,
        "sample": play.data["sample"],
        "status": decision.reading.status.value,
        "attempts": action["attempts"],
        "first": bool(action["first"]),
        "prompt": prompt,
        "completion": completion,
        **{name: finding.ok for name, finding in levels.items()},
        "meaning": bool(meaning.ok),
        "why": decision.reading.how or meaning.why,
    }


def _meaning(story: Story, levels: Levels) -> Finding:
    if story.numeric:
        return levels.exact
    return levels.constraints if story.named is not None else levels.order
