"""`bestresponse run STUDY`: any study by its name, also one of an installed package, its settings
as options."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

from bestresponse.cli.help import Commands, HelpfulCommand
from bestresponse.cli.study_command import make_study_command
from bestresponse.cli.terminal import console, notes, print_table
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.runs.comparison import compare_runs
from bestresponse.runs.study import find_study, studies
from bestresponse.studies.bench.suites import COOPEVAL, SUITES, split_suite

if TYPE_CHECKING:
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter


_OF_WORDS = ("stories", "strategies")


class _GameOrWords(HelpfulCommand):
    """Let `stories` or `strategies` after `bench`, which are no games, begin another study with its
    own settings, and a suite of games one run after the other."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: Context | None = None,
        **extra: object,
    ) -> Context:
        games, rest = split_suite(args)
        if games:
            # One game after the other, and then what mechanisms or other stories did.
            study = "simulate" if games == SUITES[COOPEVAL] else "bench"
            command = make_command(study)
            folders = []
            for game in games:
                notes().print(f"game: {game}", markup=False)
                folders.append(command.main([game, *rest], prog_name=study, standalone_mode=False))
            if all(folders):
                told = compare_runs(*folders).together
                if told is not None:
                    print_table(console(), told[1])
            raise typer.Exit
        if not args or args[0] not in _OF_WORDS:
            near = get_close_matches(args[0], _OF_WORDS, cutoff=0.75) if args else []
            if near and not Path(args[0]).exists():
                meant = f"`bestresponse bench {near[0]}`"
                raise UsageError(f"there is no game named {args[0]!r}. Did you mean {meant}?")
            return super().make_context(info_name, args, parent, **extra)
        return make_command(args[0]).make_context(
            f"{info_name} {args[0]}",
            args[1:],
            parent,
            **extra,
        )


def make_command(name: str) -> Command:
    """Make the command of a study; UsageError if no study has that name."""
    if name not in studies.names():
        studies.load(name)  # says which name is nearest
    single = Commands()
    single.command(name, cls=_GameOrWords if name == "bench" else None)(
        make_study_command(find_study(name))
    )
    return typer.main.get_command(single)


class _Studies(TyperGroup):
    """Load a study when its command is used; one that cannot be loaded spoils nothing but
    itself."""

    def list_commands(self, ctx: object) -> list[str]:
        return studies.names()

    def get_command(self, ctx: object, cmd_name: str) -> Command:
        return make_command(cmd_name)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        lines = []
        for name in studies.names():
            try:
                about = (find_study(name).config.__doc__ or "").strip().partition("\n\n")[0]
                lines.append((name, " ".join(about.split())))
            except StoreError as error:
                lines.append((name, str(error)))
        with formatter.section("Studies"):
            formatter.write_dl(lines)


run_command = Commands(cls=_Studies, no_args_is_help=True)


@run_command.callback()
def _start() -> None:
    """Run a study by its name: `run STUDY --help` lists its settings, --settings takes them from a
    TOML file."""
