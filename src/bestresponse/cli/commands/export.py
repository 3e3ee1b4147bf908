"""`bestresponse export`: games with the solver's answers, or guided dialogues, as trainers read
them."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

import bestresponse as br
from bestresponse.cli.help import Commands
from bestresponse.cli.options import AsJson
from bestresponse.cli.study_command import make_settings_command
from bestresponse.cli.terminal import play_progress, print_note
from bestresponse.core.errors import UsageError
from bestresponse.runs.execution import Progress
from bestresponse.studies.improve.export import ExportConfig, export as export_files

export_command = Commands()


# it keeps `sft` a command of its own: other kinds of training want other files
@export_command.callback()
def _start() -> None:
    """Write games with the solver's answers, for training a model on them."""


def write_examples(config: ExportConfig, as_json: AsJson = False) -> None:
    """Write the files that are missing, and say what there is."""
    bars: list[Callable[[Progress], None]] = []

    def tell(done: int, total: int) -> None:
        if not bars:
            bars.append(stack.enter_context(play_progress(total, "files")))
        bars[0](Progress(total, 0, done, 0))

    with ExitStack() as stack:
        exported = export_files(config, tell)
    if as_json:
        print(json.dumps(exported.to_json(), indent=2))
        return
    for note in exported.notes:
        print_note(note)
    counts = ", ".join(f"{count:,} for {name}" for name, count in exported.counts.items())
    print(f"{exported.folder}: {counts}")


_Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]


def _check_free(output: Path, force: bool) -> None:
    if output.exists() and not force:
        raise UsageError(f"{output} already exists; choose another name or add --force")


@export_command.command("dialogues")
def write_dialogues(
    run: Annotated[Path, typer.Argument(help="A run of `steer`, or a folder of runs: the newest.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write (.jsonl).")],
    force: _Force = False,
) -> None:
    """Write the guided dialogues of a run of `steer` as examples to train a model on."""
    _check_free(output, force)
    print(f"{output}: {br.dialogue.export(run, output):,} examples")


export_command.command("sft")(make_settings_command(ExportConfig, write_examples))
