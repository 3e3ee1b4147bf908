"""`bestresponse run`: any study from a file of settings, also one of an installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.files import read_toml
from bestresponse.cli.options import expand_options
from bestresponse.cli.run_options import SharedRunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.runs.study import find_study, studies

__all__ = ["run"]


@expand_options
def run(
    study: Annotated[str, typer.Argument(help="The name of a study: a built-in one, or one of an installed package.")],
    settings: Annotated[Path, typer.Argument(help="A TOML file with the study's settings.")],
    options: SharedRunOptions,
) -> None:
    """Run a study by its name, with the settings of a file.

    The settings are those of the study's own configuration, as they stand in the manifest of every run. The same
    command again goes on where it was stopped.
    """
    if study not in studies.names():
        known = ", ".join(studies.names())
        raise UsageError(f"there is no study {study!r}; known: {known}.{did_you_mean(study, studies.names())}")
    found = find_study(study)
    try:
        config = found.config.from_json(read_toml(settings))
    except BestResponseError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{settings} does not hold the settings of {study}: {error}") from None
    given = {"simulated": SimulatedSpeaker(0)} if "simulated" in config.models else None
    run_and_show(found, config, options, given=given)
