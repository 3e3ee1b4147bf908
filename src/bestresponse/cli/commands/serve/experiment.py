"""`bestresponse experiment`: check an experiment file, look at its pages, and let programs take part in it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import expand_options
from bestresponse.cli.run_options import CallOptions
from bestresponse.core.errors import UsageError
from bestresponse.players.lookup import list_strategies

try:
    from bestresponse.cli.commands.serve.server import open_models, read_experiment
    from bestresponse.web.sessions.setup import GameChoice, list_parameters, make_game
    from bestresponse.web.trial import TrialSettings, count_people, render_preview, try_experiment
except ImportError as missing:
    raise UsageError(f"`experiment` needs the extra `web`: pip install 'bestresponse[web]' ({missing.name})") from None


class ExperimentTask(StrEnum):
    """What is done with the file."""

    GAME = "game"
    CHECK = "check"
    PREVIEW = "preview"
    BOTS = "bots"


@expand_options
def experiment(
    task: Annotated[ExperimentTask, typer.Argument(help="Describe a game, or check, preview or try a file.")],
    file: Annotated[Path, typer.Argument(help="The experiment file, or the name of a game.")],
    people: Annotated[int, typer.Option(help="bots: how many take part.", min=1, max=2000)] = 8,
    player: Annotated[
        str, typer.Option(help="bots: who they are: strategy:NAME, or model:NAME with --model.")
    ] = "strategy:random",
    drop_outs: Annotated[int, typer.Option(help="bots: how many of 100 leave for good.", min=0, max=100)] = 0,
    speed: Annotated[int, typer.Option(help="Divide the time limits of the file by this.", min=1, max=10_000)] = 100,
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="A model that may be seated.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="preview: the page to write; bots: a folder for the exported tables.")
    ] = None,
    *,
    calls: CallOptions,
) -> None:
    """Try an experiment before people come.

    `game` lists roles, parameters with their usual values, and strategies. `check` names the line and the cause of
    what is wrong. `preview` writes every page of every role on one sheet. `bots` sends programs through the real
    pages and compares what the server kept with their own notes.
    """
    if task == ExperimentTask.GAME:
        found = make_game(GameChoice(str(file)))
        print(f"roles: {', '.join(found.roles)}")
        print("\n".join(f"parameter {name} = {value!r}" for name, value in list_parameters(found).items()))
        print(f"strategies: {', '.join(list_strategies(found))}")
        return
    text = read_experiment(file)
    if task == ExperimentTask.CHECK:
        print(f"{file} is right. People who fill one group of every treatment: {count_people(text)}.")
        return
    count = people if task == ExperimentTask.BOTS else count_people(text)
    settings = TrialSettings(count, player, drop_outs, speed, tuple(model or ()))
    with open_models(calls.output_dir, calls.limits) as open_model:
        trial = try_experiment(text, settings, open_model)
    if task == ExperimentTask.PREVIEW:
        page = out or Path("preview.html")
        page.write_text(render_preview(file.stem, trial.pages), "utf-8")
        print(f"{page}: open it in a browser")
        return
    print("\n".join(trial.list_findings()))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in trial.files.items():
            (out / name).write_bytes(content)
        print(f"tables are in {out}")
    if trial.wrong:
        raise typer.Exit(1)
