"""A recorded run of the study played again from its own replies."""

from __future__ import annotations

from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.replay import Replay, recorded_models, replay_plays
from bestresponse.studies.stories.playing import play_on
from bestresponse.studies.stories.session import config_of

__all__ = ["replay_run"]


def replay_run(folder: RunFolder) -> Replay:
    """Formalize every story of the run from its recorded calls, and compare the records."""
    return replay_plays(folder, play_on(config_of(folder), recorded_models(folder), EmbeddedEngine()))
