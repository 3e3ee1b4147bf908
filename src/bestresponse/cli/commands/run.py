"""`bestresponse run STUDY`: any study by its name, also one of an installed package, its settings as options."""

from typing import Any

import typer
from typer.core import TyperGroup

from bestresponse.cli.study_command import make_study_command
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.runs.study import find_study, studies


class _Studies(TyperGroup):
    """Load a study when its command is used; one that cannot be loaded spoils nothing but itself."""

    def list_commands(self, ctx: object) -> list[str]:
        return studies.names()

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        if cmd_name not in studies.names():
            known = ", ".join(studies.names())
            raise UsageError(
                f"there is no study {cmd_name!r}; known: {known}.{did_you_mean(cmd_name, studies.names())}"
            )
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        single.command(cmd_name)(make_study_command(find_study(cmd_name)))
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        lines = []
        for name in studies.names():
            try:
                lines.append((name, (find_study(name).config.__doc__ or "").strip().partition("\n")[0]))
            except StoreError as error:
                lines.append((name, str(error)))
        with formatter.section("Studies"):
            formatter.write_dl(lines)


app = typer.Typer(cls=_Studies, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def start() -> None:
    """Run a study by its name: `run STUDY --help` lists its settings, --settings takes them from a TOML file."""
