"""A recorded verify run played again from its own replies."""

from __future__ import annotations

from bestresponse.store.run_folder import RunFolder
from bestresponse.studies.lelma.playing import player_on
from bestresponse.studies.lelma.session import config_of
from bestresponse.studies.replaying import Replay, recorded_models, replay_plays

__all__ = ["replay_run"]


def replay_run(folder: RunFolder) -> Replay:
    """Run the loop of every finished spec from its recorded calls, and compare the records."""
    return replay_plays(folder, player_on(config_of(folder), recorded_models(folder)))
