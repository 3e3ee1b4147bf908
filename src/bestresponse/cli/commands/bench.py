"""`bestresponse bench`: how far from optimal models play; `bench stories` is the benchmark of formalizing stories."""

from typing import Any

import typer
from typer.core import TyperCommand

from bestresponse.cli.commands.run import app as run_study
from bestresponse.cli.study_command import make_study_command
from bestresponse.studies.bench.study import bench as bench_study


class _GameOrStories(TyperCommand):
    """Let the word `stories`, which is no game, begin another study with settings of its own."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] != ["stories"]:
            return super().make_context(info_name, args, parent, **extra)
        stories = typer.main.get_command(run_study).get_command(parent, "stories")  # type: ignore[attr-defined]
        return stories.make_context(f"{info_name} stories", args[1:], parent, **extra)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command(cls=_GameOrStories)(make_study_command(bench_study))
