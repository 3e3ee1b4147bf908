"""`bestresponse simulate`: many agents in one game, many times, and play judged by people and by
models."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

import bestresponse as br
from bestresponse.cli.help import Commands
from bestresponse.cli.options import AsJson, offer_names
from bestresponse.cli.study_command import make_settings_command, make_study_command
from bestresponse.cli.terminal import show_frame
from bestresponse.report.files import write_text
from bestresponse.runs.inputs import NamesSetting
from bestresponse.runs.settings import OF_PLAYS, RunSettings, setting, settings
from bestresponse.studies.water.judging import GROUPINGS, rubric
from bestresponse.studies.water.study import water

if TYPE_CHECKING:
    from typer._click.core import Command, Context
    from typer._click.shell_completion import CompletionItem

RunFolder = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="The folder of a run of `simulate water`, or above it."),
]


class _GameOrCommand(typer.core.TyperGroup):
    """A word that is no command is a game: `simulate stag-hunt` means `simulate game stag-hunt`."""

    def resolve_command(
        self,
        ctx: Context,
        args: list[str],
    ) -> tuple[str | None, Command | None, list[str]]:
        known = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["game", *args])

    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        """Offer games beside the commands."""
        game = next(
            parameter for parameter in self.commands["game"].params if parameter.name == "game"
        )
        return [*super().shell_complete(ctx, incomplete), *game.shell_complete(ctx, incomplete)]


simulate_command = Commands(cls=_GameOrCommand, no_args_is_help=True)
simulate_command.command("game")(make_study_command(br.simulate))
simulate_command.command("water")(make_study_command(water))


@simulate_command.callback()
def _start() -> None:
    """Simulate many agents in one game, many times: `simulate GAME` with any game, or one of the
    commands below."""


def name_sheets(output: Path, sheets: Mapping[str, str]) -> dict[Path, str]:
    """Name the file of each sheet: `output` for one alone, else with the judge's name, of which
    only letters are kept.

    >>> list(name_sheets(Path("s.csv"), {"Ada L.": "", "Bea": ""}))
    [PosixPath('s-Ada-L.csv'), PosixPath('s-Bea.csv')]
    """
    if len(sheets) == 1:
        return {output: next(iter(sheets.values()))}
    named: dict[Path, str] = {}
    for number, (judge, sheet) in enumerate(sheets.items(), 1):
        plain = re.sub(r"[^\w]+", "-", judge).strip("-")
        path = output.with_name(f"{output.stem}-{plain}{output.suffix}")
        if path in named or not plain:
            path = output.with_name(f"{output.stem}-{plain}{number}{output.suffix}")
        named[path] = sheet
    return named


@simulate_command.command("sheet")
def write_sheet(
    run: RunFolder,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Name of a judge who will fill in a sheet; repeat it for one sheet per judge.",
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option(help="Draw at most so many games at random, balanced over conditions.", min=1),
    ] = 30,
    each: Annotated[
        int | None,
        typer.Option(help="Number of judges per game. [default: all]", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    output: Annotated[
        Path,
        typer.Option(
            help="The CSV file to write; with several judges their names are added to its name."
        ),
    ] = Path("sheet.csv"),
) -> None:
    """Write sheets for human judges: the persona, the events, the resident's words and the scales,
    for each game and resident."""
    sheets = br.water.make_sheets(
        run,
        judge or ["judge 1"],
        sample=sample,
        each=each,
        seed=seed,
    )
    for path, sheet in name_sheets(output, sheets).items():
        write_text(path, sheet)
        print(f"wrote {path}")
    print("Fill in whole numbers from 1 to 5:")
    for scale, (title, levels) in rubric().items():
        print(f"\n{scale}: {title}")
        for number, level in enumerate(levels, 1):
            print(f"  {number}  {level}")


@settings
class JudgeConfig(RunSettings):
    """Let models judge the residents of a run on the six scales."""

    run: Path = setting(argument=True, help="The folder of a run of `simulate water`, or above it.")
    model: NamesSetting = setting(short="-m", help="A model that judges.")
    sample: int = setting(default=5, ge=1)
    """Draw at most so many games at random, balanced over conditions."""
    seed: int = setting(default=0, ge=0, lt=2**63, help="Random seed.")
    output: Path = setting(default=Path("judged.csv"), help="The CSV file to write.")
    unused: ClassVar[frozenset[str]] = OF_PLAYS - {"workers"} | {"output_dir"}


def judge(config: JudgeConfig, as_json: AsJson = False) -> None:
    """Judge, write the scores and show their means."""
    judged = br.water.judge(
        config.run,
        config.model,
        sample=config.sample,
        seed=config.seed,
        limits=config.limits,
    )
    write_text(config.output, judged.to_csv())
    _print_scores(judged, None, as_json)


simulate_command.command("judge")(make_settings_command(JudgeConfig, judge))


@simulate_command.command("scores")
def show_scores(
    sheets: Annotated[
        list[Path],
        typer.Argument(
            help=("Completed sheets of people or models, or participants.csv of an experiment.")
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            help=f"Group by {', '.join(GROUPINGS)}.", autocompletion=offer_names(GROUPINGS)
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Summarise completed sheets: means, deviations and quartiles of each scale, the agreement
    between people and models, and the judges' reasons.

    People's assessments of their own play, from the questionnaire of an experiment, are shown next
    to the judges' scores.
    """
    _print_scores(br.water.read_scores(sheets), by, as_json)


def _print_scores(scores: br.water.WaterScores, by: str | None, as_json: bool) -> None:
    """Print what was given on each scale, and why."""
    scales = scores.summarize(by)
    reasons = scores.list_reasons()
    if as_json:
        found = {"scales": scales.to_json(), "reasons": reasons.to_json()}
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for frame in (scales, reasons):
        if frame.rows:
            show_frame(frame, as_json)
