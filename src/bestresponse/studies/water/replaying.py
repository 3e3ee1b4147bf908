"""A recorded run of the water study played again from its own replies."""

from __future__ import annotations

from bestresponse.runs.folder import RunFolder
from bestresponse.runs.replay import Replay, recorded_models, replay_plays
from bestresponse.studies.water.playing import player_on

__all__ = ["replay_run"]


def replay_run(folder: RunFolder) -> Replay:
    """Play every finished game of the run from its recorded calls, and compare the records."""
    return replay_plays(folder, player_on(recorded_models(folder)))
