"""A recorded benchmark run played again from its own replies."""

from __future__ import annotations

from bestresponse.runs.folder import RunFolder
from bestresponse.runs.replay import Replay, recorded_models, replay_plays
from bestresponse.studies.bench.playing import player_on
from bestresponse.studies.bench.session import plan_of

__all__ = ["replay_run"]


def replay_run(folder: RunFolder) -> Replay:
    """Play every finished spec of the run from its recorded calls, and compare the records."""
    return replay_plays(folder, player_on(plan_of(folder), recorded_models(folder)))
