"""`bestresponse report`, `replay`, `merge` and `reproduce`: what recorded runs tell, without any
model."""

import json
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.api.reasoning import papers
from bestresponse.cli.options import AsJson, offer_names
from bestresponse.cli.study_command import (
    Against,
    FailIf,
    FiguresFolder,
    GateOptions,
    Junit,
    check_ended,
    show_comparison,
    show_figures,
    show_run,
)
from bestresponse.cli.terminal import console, print_note, print_table
from bestresponse.core.errors import UsageError
from bestresponse.core.json import digest
from bestresponse.report.files import write_text
from bestresponse.report.page import render
from bestresponse.report.text import visible
from bestresponse.runs.leaderboard import write_leaderboard

RunPath = Annotated[
    Path,
    typer.Argument(help="Folder of a run, or a folder above it (then the newest run)."),
]


def report_command(
    run: Annotated[
        list[Path],
        typer.Argument(
            help=(
                "The folder of a run, or the folder above it (the newest run is taken); several are"
                " compared, with the first as the baseline."
            )
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder for the comparison of several runs. [default: next to the first run]",
        ),
    ] = None,
    against: Against = None,
    fail_if: FailIf = None,
    junit: Junit = None,
    figures: FiguresFolder = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild the report of a recorded run, or compare several. Needs no model and no network.

    A comparison shows the settings and metrics of the runs side by side, and the differences
    between their models, paired by game if they share games. To compare two games, use `compare`.
    """
    if against is not None:
        run = [against, *run]
    if len(run) == 1:
        if output is not None:
            raise UsageError("--output: a single run is reported in its own folder")
        report_run(
            run[0],
            GateOptions(tuple(fail_if or ()), None, junit),
            figures,
            as_json,
        )
        return
    if figures is not None:
        raise UsageError("--figures: name one run; a comparison is written with --output FOLDER")
    comparison = br.compare_runs(*run)
    first = comparison.runs[0].run.path
    folder = output or first.parent / _name_comparison(comparison)
    show_comparison(comparison, folder, as_json)
    if as_json:
        print(json.dumps(comparison.to_json(), indent=2, ensure_ascii=False))
    gate = GateOptions(tuple(fail_if or ()), first, junit)
    for compared in comparison.runs[1:]:
        gate.refuse(compared.run.study)
        gate.check(compared.run)


def report_run(
    path: Path,
    gate: GateOptions,
    figures: Path | None,
    as_json: bool,
) -> None:
    """Measure and report one run again, and check the conditions of the gate."""
    loaded = br.load_run(path)
    gate.refuse(loaded.study)
    files = loaded.publish()
    show_figures(loaded, figures)
    if as_json:
        print(loaded.report_as_json())
    else:
        print_table(console(), loaded.report().tables[0][1])
        for written in files:
            print_note(f"wrote {written}")
    check_ended(loaded)
    gate.check(loaded)


def leaderboard_command(
    run: Annotated[
        list[Path],
        typer.Argument(help="Folders of benchmark runs, or folders with runs in them."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder of the page. [default: the first]"
        ),
    ] = None,
) -> None:
    """Rank the players of many recorded runs on one page, by the plays that all of them answered.

    Needs no model and no network. Runs over different games are in tables of their own.
    """
    written, document = write_leaderboard(run, output or run[0])
    for _, table in document.tables:
        print_table(console(), table)
    print_note(f"wrote {written}")


def _name_comparison(comparison: br.runs.RunComparison) -> str:
    ids = [compared.run.manifest.run for compared in comparison.runs]
    return f"comparison-{digest(ids, 12)}"


def replay_command(run: RunPath, as_json: AsJson = False) -> None:
    """Rebuild every play of a run from the replies it recorded, and check that the records are
    the same.

    No model is called. A difference means that the rules, the prompts or the reading of replies
    have changed since.
    """
    loaded = br.load_run(run)
    replayed = loaded.replay()
    if as_json:
        result = {
            "run": loaded.manifest.run,
            "same": replayed.same,
            "different": list(replayed.different),
        }
        print(json.dumps(result, indent=2))
    else:
        print(f"{replayed.unit}: {replayed.same} were the same, {len(replayed.different)} were not")
        for difference in replayed.different[:10]:
            print(visible(f"  {difference}"))
    if replayed.different:
        raise typer.Exit(1)
    check_ended(loaded)


def check_run_command(run: RunPath, as_json: AsJson = False) -> None:
    """Read every line of a recorded run, and say whether one is damaged or missing.

    Every line ends with a hash of itself. It shows accidents, such as a failing disk or a folder
    that was copied in part; whoever changes a line on purpose can write its hash anew.
    """
    loaded = br.load_run(run)
    damage = list(loaded.folder.list_damage())
    whole = not damage and loaded.complete
    if as_json:
        print(json.dumps({"run": loaded.manifest.run, "whole": whole, "damage": damage}, indent=2))
    else:
        for sentence in damage:
            print(visible(sentence))
        verdict = "whole" if whole else "damaged" if damage else "not whole: something is missing"
        print(f"{loaded.path}: {verdict}")
    if not whole:
        raise typer.Exit(1)


def merge_command(
    part: Annotated[
        list[Path], typer.Argument(help="Folders of parts, or folders above them, in any order.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder in which the folder of the merged run is created.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Merge the parts of a run and report the complete run. Needs no model and no network.

    Parts may overlap: a play that several parts contain is kept once. If they recorded it
    differently, the command stops and names both. If plays are missing, run the command that made
    the parts with `--output-dir OUTPUT` and without `--shard`.
    """
    run = br.merge_runs(part, output)
    show_run(run, as_json)


def reproduce_command(
    paper: Annotated[
        str,
        typer.Argument(
            help=f"Which paper: {', '.join(papers.names())}.",
            autocompletion=offer_names(papers.names()),
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(help="The folder with the recorded runs of the paper, or a ZIP archive."),
    ],
    page: Annotated[
        Path | None, typer.Option(help="Write the report to this file, as a page.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute the published numbers of a paper from its recorded runs, and say which ones
    agree."""
    reproduction = br.reproduce(paper, data)
    if page is not None:
        write_text(page, render(reproduction.report()))
    if as_json:
        print(json.dumps(reproduction.to_json(), indent=2, ensure_ascii=False, default=float))
        return
    for table in (*reproduction.tables, reproduction.table()):
        print_table(console(), table)
        print()
    compared = [check for check in reproduction.checks if check.agrees is not None]
    agree = sum(check.agrees is True for check in compared)
    print(
        f"{agree} of {len(compared)} compared figures agree"
        + (":" if reproduction.differing else ".")
    )
    for check in reproduction.differing:
        print(f"  differs: {check.what}: published {check.published}, found {check.found}")
