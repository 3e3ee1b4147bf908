"""`bestresponse replay`: play a recorded run again from its recorded replies, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson

__all__ = ["replay"]


def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or the folder above it (the newest run is taken).")],
    as_json: AsJson = False,
) -> None:
    """Rebuild every play of a run from the replies it recorded, and check that the records come out the same.

    No model is called. A difference means that the rules, the prompts or the reading of replies have changed since.
    """
    import json

    from bestresponse.studies.bench.replaying import replay_run
    from bestresponse.studies.runs import find_run

    folder = find_run(run)
    found = replay_run(folder)
    if as_json:
        print(
            json.dumps({"run": folder.manifest.run, "same": found.same, "different": list(found.different)}, indent=2)
        )
    else:
        print(f"{found.same} plays came out the same, {len(found.different)} did not")
        for difference in found.different[:10]:
            print(f"  {difference}")
    if found.different:
        raise typer.Exit(1)
