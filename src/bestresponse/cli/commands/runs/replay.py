"""`bestresponse replay`: play a recorded run again from its recorded replies, and compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson
from bestresponse.report.text import visible
from bestresponse.runs.run import load_run


def replay(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or the folder above it (the newest run is taken).")],
    as_json: AsJson = False,
) -> None:
    """Rebuild every play of a run from the replies it recorded, and check that the records come out the same.

    No model is called. A difference means that the rules, the prompts or the reading of replies have changed since.
    """
    loaded = load_run(run)
    found = loaded.replay()
    if as_json:
        result = {"run": loaded.manifest.run, "same": found.same, "different": list(found.different)}
        print(json.dumps(result, indent=2))
    else:
        print(f"{found.same} {found.unit} came out the same, {len(found.different)} did not")
        for difference in found.different[:10]:
            print(visible(f"  {difference}"))
    if found.different:
        raise typer.Exit(1)
