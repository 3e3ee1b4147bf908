"""The command line: which commands there are, and how errors end.

Exit codes: 0 done, 1 something failed or is incomplete, 2 the request cannot be carried out as
given, 3 a condition of `--fail-if` holds, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from typer.core import TyperGroup

from bestresponse import __version__
from bestresponse.cli.help import Commands, Mistake, describe_options, explain_usage_error
from bestresponse.core.errors import (
    BestResponseError,
    Interrupted,
    MissingKey,
    SettingError,
    UnknownModel,
    UsageError,
)
from bestresponse.core.registry import did_you_mean
from bestresponse.logic.settings import ENDS, SECONDS, Limits, settings
from bestresponse.report.text import abridged, visible

if TYPE_CHECKING:  # what typer has taken over from click has no public names
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

_INTERRUPTED = "interrupted; what was finished is kept; run the same command to resume"
_SHOW = warnings.showwarning
_LONGEST_SENTENCE = 5_000

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": (
        "demo",
        "Run the full pipeline on one example in a minute: no key, no download.",
    ),
    "games": (
        "lists",
        "List the games that can be named, and the families that `bench` draws from.",
    ),
    "solve": ("solve", "Print the equilibria of a game, and everything else theory says about it."),
    "formalize": ("formalize", "Turn a story into a checked and solved game program."),
    "check": ("check", "Check whether logic programs are games, and if not, why not."),
    "compare": ("check", "Compare two games: are they the same, and if not, where do they differ?"),
    "convert": ("lists", "Write a game in another format: .efg, .nfg or .json."),
    "prompts": ("lists", "Print what a model reads in a game, step by step."),
    "models": ("lists", "List the models that can be named, and download weights."),
    "bench": (
        "run:bench",
        "Measure the Nash gap and the exploitability of models on matrix games.",
    ),
    "verify": ("verify", "Check reasoning about a game, sentence by sentence."),
    "simulate": ("simulate", "Simulate many agents in one game, many times."),
    "tournament": (
        "run:tournament",
        "Run a round robin of strategies and models in a repeated game.",
    ),
    "steer": ("run:steer", "Let an equilibrium solver choose how a model speaks."),
    "import": (
        "run:import",
        "Turn recorded play of models or people into a run, and check every row.",
    ),
    "behave": (
        "run:behave",
        "Estimate strategies, noise and depth of reasoning, and compare with people.",
    ),
    "export": ("export", "Write games with the solver's answers, for training a model on them."),
    "train": ("run:train", "Train a model on the solver's answers."),
    "improve": (
        "run:improve",
        "Measure a model, train it on what it does worst, and measure it again, in rounds.",
    ),
    "play": ("play", "Play a game yourself."),
    "serve": ("serve", "Open games to people in a browser."),
    "experiment": ("serve", "Check an experiment file, preview its pages, and let bots take part."),
    "run": ("run", "Run any study, including those of plug-ins, with options or a settings file."),
    "report": ("recorded", "Rebuild the report of a recorded run, or compare several runs."),
    "leaderboard": ("recorded", "Rank the players of many recorded runs on one page."),
    "replay": ("recorded", "Play a recorded run again from its own replies, and compare."),
    "check-run": ("recorded", "Check that no line of a recorded run is damaged or missing."),
    "merge": ("recorded", "Merge the parts of a run made with --shard."),
    "reproduce": ("recorded", "Recompute the results of a paper from its recorded runs."),
    "publish": ("publish", "Write a run or a suite in the format of another place."),
    "mcp": (
        "mcp",
        "Run an MCP server that offers solving, checking and comparing as tools.",
    ),
    "warm": ("warm", "Compile the fast solvers now, so that no later command has to wait."),
}
"""Each command's module in `cli.commands`, which is imported when the command runs, and its line in
`--help`.

There the function or group `NAME_command` is the command; `run:STUDY` is that of a study, made from
its settings.
"""
_MEANT = {
    **{
        part: f" It is a part of another command: `bestresponse simulate {part}`."
        for part in ("water", "judge", "sheet", "scores")
    },
    "population": (
        " What becomes of strategies that grow with their payoffs is in the report of"
        " `bestresponse tournament`."
    ),
    **dict.fromkeys(
        ("nash", "equilibrium", "equilibria"),
        " Equilibria are found by `bestresponse solve GAME`.",
    ),
    **dict.fromkeys(
        ("benchmark", "eval", "evaluate", "test"),
        " Models are measured by `bestresponse bench --model MODEL`.",
    ),
    "help": " For help, type `bestresponse COMMAND --help`.",
    "version": " For the version, type `bestresponse --version`.",
}
"""Words that people type as commands, with what they mean."""
_GROUPS = {
    "demo": "Start here",
    "games": "Games",
    "models": "Measure models",
    "export": "Improve models",
    "play": "People",
    "run": "Runs and tools",
}
"""The first command of every group of `--help`, and the heading above it."""
_THREE_THINGS = """Language models meet game theory. Three things to try:

  bestresponse demo                       a story becomes a game, is solved, played and checked
  bestresponse solve prisoners-dilemma    the equilibria of a game, and what else theory says of it
  bestresponse play kuhn-poker            play against an equilibrium

`bestresponse --help` lists all commands, `bestresponse COMMAND --help` what each takes.
From a paper (Nash gap, autoformalization, LELMA, CFR gain, Alympics)? See docs/papers."""


@contextmanager
def _refuse_mistakes() -> Iterator[None]:
    """Raise what typer says about the words that were typed as an error of ours; a command without
    words still shows its help."""
    try:
        yield
    except Mistake as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        raise UsageError(explain_usage_error(error)) from None  # type: ignore[arg-type]


class _LazyGroup(TyperGroup):
    """Import a command's module when it is used, so that `--help` is instant and commands import
    what they need."""

    def list_commands(self, ctx: object) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> Command | None:
        if cmd_name not in COMMANDS:
            return None
        source, _, study = COMMANDS[cmd_name][0].partition(":")
        module = import_module(f"bestresponse.cli.commands.{source}")
        if study:
            study_command: Command = module.make_command(study)
            return study_command
        group = action = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        if not isinstance(group, typer.Typer):
            group = Commands()
            group.command(cmd_name)(action)
        command = typer.main.get_command(group)
        command.name = cmd_name
        return command

    def resolve_command(
        self,
        ctx: Context,
        args: list[str],
    ) -> tuple[str | None, Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            hint = _MEANT.get(args[0]) or did_you_mean(args[0], list(COMMANDS))
            raise UsageError(
                f"there is no command {args[0]!r}.{hint} `bestresponse --help` lists all."
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Context) -> object:
        """Run the command; words that do not fit it are refused in our words."""
        with _refuse_mistakes():
            return super().invoke(ctx)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: Context | None = None,
        **extra: object,
    ) -> Context:
        """Read the options before the command."""
        with _refuse_mistakes():
            return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write commands first, then options, those that also the environment sets last."""
        self.format_commands(ctx, formatter)
        options = sorted(self.get_params(ctx), key=lambda option: option.envvar is not None)
        with formatter.section("Options"):
            formatter.write_dl(describe_options(options, ctx))

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        heading = ""
        for name, (_, line) in COMMANDS.items():
            heading = _GROUPS.get(name, heading)
            groups.setdefault(heading, []).append((name, line))
        for heading, lines in groups.items():
            with formatter.section(heading):
                formatter.write_dl(lines)


app = typer.Typer(
    name="bestresponse",
    cls=_LazyGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    require_sandbox: Annotated[
        bool,
        typer.Option(
            envvar="BESTRESPONSE_REQUIRE_SANDBOX",
            help=(
                "Stop with an error if Landlock, seccomp or another layer of the sandbox"
                " is missing."
            ),
        ),
    ] = False,
    logic_seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=3600,
            envvar="BESTRESPONSE_LOGIC_SECONDS",
            metavar="SECONDS",
            help=(
                "Processor time after which the check of a game program is stopped, in seconds;"
                " the limits on positions and steps grow with it."
            ),
        ),
    ] = SECONDS,
    logic_ends: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000_000,
            envvar="BESTRESPONSE_LOGIC_ENDS",
            metavar="INTEGER",
            help=(
                "Maximum number of terminal nodes of a program's game; above 100,000 the memory"
                " limit (512 MB) grows."
            ),
        ),
    ] = ENDS,
) -> None:
    """Language models meet game theory: describe, formalize, solve, play and measure.

    It implements five papers: the Nash-gap benchmark, steering by solvers, autoformalization, LELMA
    and Alympics. docs/papers has a page for each, with its terms and a command for each of its
    tables and figures.
    """
    if version:
        print(__version__)
        raise typer.Exit
    settings.require_sandbox = require_sandbox
    settings.limits = Limits.within(logic_seconds, logic_ends)
    warnings.showwarning = _show_warning
    if context.invoked_subcommand is None:
        print(_THREE_THINGS)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say in a sentence what this package warns of; show other warnings as Python does."""
    if issubclass(category, UserWarning):
        print(f"bestresponse: {message}", file=sys.stderr)
    else:
        _SHOW(message, category, filename, lineno, file, line)


def main() -> None:
    """Run the command line; every error on purpose ends in a sentence and an exit code, never in a
    trace."""
    # typer checks options by pydantic, which would look through all installed packages for plug-ins
    # that watch it.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # Imports make many objects and free none; searching them for garbage took a twentieth of the
    # time of `solve`.
    gc.set_threshold(100_000)
    if isinstance(
        sys.stdout, TextIOWrapper
    ):  # what the terminal cannot write is escaped, as on stderr
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="bestresponse")
    except SettingError as error:
        from bestresponse.cli.options import name_option_of  # imports numpy, which `--help` spares

        _fail(f"{name_option_of(error.field)}: {error.problem}", 2)
    except (UsageError, UnknownModel, MissingKey) as error:
        _fail(str(error), 2)
    except Interrupted as error:
        _fail(str(error), 130)
    except BestResponseError as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        _fail(_INTERRUPTED, 130)
    except SystemExit as end:
        if end.code == 130:
            _fail(_INTERRUPTED, 130)
        # A last search for garbage, where everything goes with the process, took a sixth of the
        # time of `solve`. Not while threads are left behind: two in a hundred commands that were
        # interrupted twice crashed so.
        if threading.active_count() == 1:
            gc.freeze()
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except FileNotFoundError as error:
        _fail(_explain_missing(error), 2)
    except PermissionError as error:
        _fail(f"{error.filename}: no permission to read or write it; name another place", 1)
    except OSError as error:
        _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError:
        _fail("this needs more memory than there is", 1)


def _explain_missing(error: FileNotFoundError) -> str:
    """Say what is not there: the file, or the folder that it should be written to."""
    if error.filename is None:
        return str(error)
    folder = Path(os.fsdecode(error.filename)).parent
    if not folder.exists():
        return f"{error.filename}: there is no folder {folder}; make it first"
    return f"{error.filename}: there is no such file"


def _fail(sentence: str, code: int) -> None:
    # A file of somebody else may have a name, or a header, of megabytes.
    print(f"bestresponse: {abridged(visible(sentence), _LONGEST_SENTENCE)}", file=sys.stderr)
    sys.exit(code)
