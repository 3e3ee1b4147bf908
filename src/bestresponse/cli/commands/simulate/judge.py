"""`bestresponse simulate sheet | judge | scores`: play judged by people and by models."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson, BudgetCalls, CacheChoice, Workers
from bestresponse.cli.terminal import console, print_table
from bestresponse.core.errors import BadReply, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.report import tables
from bestresponse.report.document import Column, Table
from bestresponse.report.files import write_text
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import load_run
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.studies.water.judging import Score, judge_plays, read_sheet, rubric, sheet as write_sheet, summarise

__all__ = ["judge", "scores", "sheet"]

Run = Annotated[Path, typer.Argument(help="The folder of a run of `simulate water`, or the folder above it.")]
Most = Annotated[int, typer.Option(help="Judge at most so many games, the first ones.", min=1)]


def sheet(
    run: Run,
    judge: Annotated[str, typer.Option(help="Name of the judge who will fill the sheet in.")] = "judge 1",
    games: Most = 30,
    output: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("sheet.csv"),
) -> None:
    """Write a sheet for a person: for each game and resident the persona, what happened, its words, and the scales."""
    write_text(output, write_sheet(_plays(_folder(run), games), judge))
    print(f"wrote {output}; fill in whole numbers from 1 to 5:")
    for scale, (title, levels) in rubric().items():
        print(f"\n{scale}: {title}")
        for number, level in enumerate(levels, 1):
            print(f"  {number}  {level}")


def judge(
    run: Run,
    model: Annotated[list[str], typer.Option("--model", "-m", help="A model that judges; may be repeated.")],
    games: Most = 5,
    output: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("judged.csv"),
    workers: Workers = None,
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    as_json: AsJson = False,
) -> None:
    """Let models judge the residents of a run on the six scales."""
    folder = _folder(run)
    limits = ModelLimits(workers, cache=cache, calls=max_calls)
    with open_models(tuple(model), folder.path.parent, limits) as opened:
        asked = [opened.models[name] for name in model]
        at_once = workers or sum(one.abilities.concurrency for one in asked)
        given = judge_plays(_plays(folder, games), asked, at_once)
    if not given:
        raise BadReply(f"{', '.join(model)} gave no scores that could be read")
    rows: dict[tuple[str, str, str], dict[str, str | int]] = {}
    for score in given:
        key = (score.judge, score.game, score.resident)
        rows.setdefault(key, {"judge": score.judge, "kind": score.kind, "game": score.game, "resident": score.resident})
        rows[key][score.scale] = score.value
    write_text(output, tables.to_csv(list(rows.values())))
    _show(given, as_json)


def scores(
    sheets: Annotated[list[Path], typer.Argument(help="Sheets that judges have filled in, people's or models'.")],
    as_json: AsJson = False,
) -> None:
    """Sum up filled sheets: means, deviations and quartiles of each scale, and how far people and models agree."""
    given: list[Score] = []
    for path in sheets:
        try:
            text = read_text_file(path)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        given += read_sheet(text, str(path))
    _show(given, as_json)


def _folder(run: Path) -> RunFolder:
    loaded = load_run(run)
    if loaded.study.name != "water":
        raise UsageError(f"{loaded.path} holds a run of {loaded.study.name}, not of water")
    return loaded.folder


def _plays(folder: RunFolder, games: int) -> list[StoredPlay]:
    return list(islice((play for play in folder.plays() if not play.record.void), games))


def _show(given: Iterable[Score], as_json: bool) -> None:
    found = [asdict(one) for one in summarise(given)]
    if as_json:
        print(json.dumps(found, indent=2))
        return
    columns = tuple(
        Column(name.replace("_", " "), "left" if name == "scale" else "right", format=_format(name))
        for name in found[0]
    )
    print_table(console(), Table(columns, tuple(tuple(row.values()) for row in found)))


def _format(name: str) -> str:
    return "" if name in ("scale", "scores", "judges") else ".2f"
