"""Check a study and its metrics; whoever writes one runs this.

    from bestresponse.runs.kit import check_metric, check_study

Both raise `Broken` (an AssertionError) that says which promise was broken.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bestresponse.core.conformance import hold
from bestresponse.report.frames import Group, Metric, find_estimate
from bestresponse.report.numbers import format_number
from bestresponse.runs.run import play_missing
from bestresponse.runs.study import C, Study


def check_study(study: Study[..., C], config: C, folder: Path) -> None:
    """Run a study in a folder, and check its promises.

    The settings survive their file, the plays are the same each time and each is there once, a
    second run plays nothing and measures the same, and recorded replies make the same plays again.
    """
    hold(study.name.isidentifier(), f"{study.name!r} is no name of letters, digits and underscores")
    stored = config.to_json()
    read = study.config.from_json(json.loads(json.dumps(stored)))
    hold(read.to_json() == stored, "the settings change when they are stored")
    specs = [spec.id for spec in study.list_specs(config)]
    hold(specs == [spec.id for spec in study.list_specs(config)], "the plays change")
    hold(len(set(specs)) == len(specs), "a play is listed twice")
    here = replace(config, output_dir=folder)
    run = play_missing(study, here)
    hold(run.complete, f"the run is not complete: {run.stopped or run.outcome}")
    for metric in study.metrics:
        check_metric(metric, run.results.groups.values())
    run.publish()
    again = play_missing(study, here)
    played = 0 if again.outcome is None else again.outcome.played
    hold(not specs or played == 0, f"a second run made {played} plays again")
    hold(again.summary() == run.summary(), "a second run measures something else")
    hold(not (different := run.replay().different), f"replayed plays differ: {different[:3]}")


def check_metric(metric: Metric[Group], groups: Iterable[Group]) -> None:
    """Compute a metric of some groups: a finite number, an interval, or None, twice the same."""
    for group in groups:
        value = metric.compute(group)
        hold(metric.compute(group) == value, f"{metric.name} changes when computed again")
        number = find_estimate(value)
        if number is not None:
            is_finite = isinstance(number, int | float) and math.isfinite(number)
            hold(is_finite, f"{metric.name} is {number!r}, no finite number")
            hold(format_number(number, metric.format) != "", f"{metric.name} is shown as nothing")
