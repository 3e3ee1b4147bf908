"""`bestresponse replay`: play a recorded run again from its recorded replies, and compare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestresponse.cli.options import AsJson

if TYPE_CHECKING:
    from bestresponse.runs.folder import RunFolder
    from bestresponse.runs.replay import Replay

__all__ = ["REPLAYERS", "replay"]

REPLAYERS = {
    "autoformalization": "bestresponse.studies.stories.replaying",
    "bench": "bestresponse.studies.bench.replaying",
    "playground": "bestresponse.studies.simulate.replaying",
    "steer": "bestresponse.studies.steer.replaying",
    "verify": "bestresponse.studies.verify.replaying",
    "tournament": "bestresponse.studies.tournament.replaying",
    "water": "bestresponse.studies.water.replaying",
}
"""By study, the module whose `replay_run(folder)` plays a stored run again."""


def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or the folder above it (the newest run is taken).")],
    as_json: AsJson = False,
) -> None:
    """Rebuild every play of a run from the replies it recorded, and check that the records come out the same.

    No model is called. A difference means that the rules, the prompts or the reading of replies have changed since.
    """
    import json

    from bestresponse.runs.invocation import find_run

    folder = find_run(run)
    found = _replayer(folder.manifest.study)(folder)
    if as_json:
        print(
            json.dumps({"run": folder.manifest.run, "same": found.same, "different": list(found.different)}, indent=2)
        )
    else:
        print(f"{found.same} {found.unit} came out the same, {len(found.different)} did not")
        for difference in found.different[:10]:
            print(f"  {difference}")
    if found.different:
        raise typer.Exit(1)


def _replayer(study: str) -> Callable[[RunFolder], Replay]:
    """What plays a run of this study again."""
    from importlib import import_module

    from bestresponse.core.errors import StoreError

    if study not in REPLAYERS:
        raise StoreError(f"runs of {study!r} cannot be replayed; known: {', '.join(REPLAYERS)}")
    work: Callable[[RunFolder], Replay] = import_module(REPLAYERS[study]).replay_run
    return work
