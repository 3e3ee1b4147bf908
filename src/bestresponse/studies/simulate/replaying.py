"""A recorded run of the playground played again from its own replies."""

from __future__ import annotations

from bestresponse.runs.folder import RunFolder
from bestresponse.runs.replay import Replay, recorded_models, replay_plays
from bestresponse.studies.simulate.playing import player_on
from bestresponse.studies.simulate.session import config_of

__all__ = ["replay_run"]


def replay_run(folder: RunFolder) -> Replay:
    """Play every finished play of the run from its recorded calls, and compare the records."""
    return replay_plays(folder, player_on(config_of(folder).game, recorded_models(folder)))
