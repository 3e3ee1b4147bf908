"""The door: which commands there are, and how errors end.

Exit codes: 0 done, 1 something failed or is incomplete, 2 the request cannot be carried out as given, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from bestresponse.cli.commands import (
    bench,
    check,
    formalize,
    games,
    models,
    play,
    replay,
    report,
    reproduce,
    serve,
    simulate,
    solve,
    steer,
    tournament,
    verify,
)

__all__ = ["app", "main"]

_INTERRUPTED = "interrupted; what was finished is kept, and the same command goes on from there"

app = typer.Typer(
    name="bestresponse",
    help="Language models meet game theory: describe, formalize, solve, play and measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from bestresponse import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Language models meet game theory: describe, formalize, solve, play and measure."""


app.command("bench")(bench.bench)
app.command("check")(check.check)
app.command("formalize")(formalize.formalize)
app.command("games")(games.games)
app.command("play")(play.play)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("replay")(replay.replay)
app.command("serve")(serve.serve)
app.command("solve")(solve.solve)
app.command("steer")(steer.steer)
app.command("tournament")(tournament.tournament)
app.command("verify")(verify.verify)
app.add_typer(models.app, name="models")
app.add_typer(simulate.app, name="simulate")


def main() -> None:
    """Run the command line; every error on purpose ends in a sentence and an exit code, never in a trace."""
    from bestresponse.core.errors import BestResponseError, UsageError

    try:
        app()
    except UsageError as error:
        _fail(str(error), 2)
    except BestResponseError as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        _fail(_INTERRUPTED, 130)
    except SystemExit as end:
        if end.code == 130:
            _fail(_INTERRUPTED, 130)
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError:
        _fail("this needs more memory than there is", 1)


def _fail(sentence: str, code: int) -> None:
    print(f"bestresponse: {sentence}", file=sys.stderr)
    sys.exit(code)
