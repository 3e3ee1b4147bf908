"""A recorded run of the study played again from its own replies."""

from __future__ import annotations

from bestresponse.logic.embedded import EmbeddedEngine
from bestresponse.store.run_folder import RunFolder
from bestresponse.studies.autoformalization.playing import play_on
from bestresponse.studies.autoformalization.session import config_of
from bestresponse.studies.replaying import Replay, recorded_models, replay_plays

__all__ = ["replay_run"]


def replay_run(folder: RunFolder) -> Replay:
    """Formalize every story of the run from its recorded calls, and compare the records."""
    return replay_plays(folder, play_on(config_of(folder), recorded_models(folder), EmbeddedEngine()))
