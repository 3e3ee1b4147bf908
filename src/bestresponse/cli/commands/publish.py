"""`bestresponse publish`: results and questions in the formats of places where people look."""

from pathlib import Path
from typing import Annotated

import typer

from bestresponse.core.errors import UsageError
from bestresponse.integrations.suites import SUITE_FORMS, publish_suite
from bestresponse.runs.publishing import RUN_FORMS, publish_run
from bestresponse.runs.run import load_run


def publish_command(
    what: Annotated[
        str,
        typer.Argument(
            help="The folder of a run, or a suite of `bench`: standard, invariance or hard."
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help=(
                f"Of a run: {', '.join(RUN_FORMS)}. Of a suite, or of the questions of a run of"
                f" `bench`: {', '.join(SUITE_FORMS)}."
            ),
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the files.")
    ] = Path("published"),
    data: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME",
            help="With hf: the dataset on Hugging Face that the numbers are about.",
        ),
    ] = "",
) -> None:
    """Write a run, or the questions of a suite, in the format of another place.

    Nothing is sent anywhere.
    """
    if form in SUITE_FORMS:
        files = publish_suite(what, form, output)
    elif form in RUN_FORMS:
        files = publish_run(load_run(what), form, output, data)
    else:
        known = ", ".join((*RUN_FORMS, *SUITE_FORMS))
        raise UsageError(f"--as: expected one of {known}, got {form!r}")
    for path in files:
        print(path)
