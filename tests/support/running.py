"""Run a study in a test: at a fixed time, with models that are there already."""

from pathlib import Path

from bestresponse.runs.execution import Execution
from bestresponse.runs.run import Invocation, Run, run_study

NOW = Invocation(("bestresponse", "test"), "2026-01-01T00:00:00+00:00")


def run(study, config, output: Path, models=None, **options) -> Run:
    """Play what is missing of the run of these settings below `output`."""
    return run_study(study, config, models or {}, output, Execution(**options), NOW)
