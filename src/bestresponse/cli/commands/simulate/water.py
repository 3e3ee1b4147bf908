"""`bestresponse simulate`: many agents in one game over many days, many times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bestresponse.cli.commands.simulate import judge as simulate_judge
from bestresponse.cli.commands.simulate.settings import choose_players, read_rules, read_texts
from bestresponse.cli.options import build_config, expand_options
from bestresponse.cli.run_options import AgentOptions, SharedRunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.cli.study_command import make_study_command
from bestresponse.core.errors import UsageError
from bestresponse.studies.population.study import population
from bestresponse.studies.simulate.study import simulate
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import WaterStudy

__all__ = ["app"]


class _GameOrCommand(typer.core.TyperGroup):
    """A word that is no command is a game: `simulate stag-hunt` means `simulate game stag-hunt`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args[0] in self.commands or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["game", *args])


app = typer.Typer(cls=_GameOrCommand, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def start() -> None:
    """Simulate many agents in one game, many times: `simulate GAME` with any game, or one of the commands below."""


@dataclass(frozen=True, kw_only=True)
class WaterOptions:
    """Say who lives in the town and what its supply is."""

    model: Annotated[str | None, typer.Option("--model", "-m", help="The player of every seat not named.")] = None
    bidder: Annotated[
        str | None, typer.Option(help="Instead of a model: random, share:X, need, myopic, no-regret or solver.")
    ] = None
    seat: Annotated[list[str] | None, typer.Option(help="RESIDENT=PLAYER, a model or a bidder; may be repeated.")] = (
        None
    )
    abundance: Annotated[
        list[str] | None, typer.Option(help="low, medium or high; may be repeated. [default: medium]")
    ] = None
    personas: Annotated[str, typer.Option(help="off, on or both.")] = "off"
    grid: Annotated[bool, typer.Option("--grid", help="All six settings of the published study.")] = False
    roster: Annotated[
        Path | None, typer.Option(help="TOML with residents and any other rules instead of the published ones.")
    ] = None
    days: Annotated[int | None, typer.Option(help="Days the drought lasts. [default: 20]")] = None
    low: Annotated[int | None, typer.Option(help="Smallest daily supply, instead of --abundance.")] = None
    high: Annotated[int | None, typer.Option(help="Largest daily supply, instead of --abundance.")] = None
    on_failure: Annotated[str, typer.Option(help="A seat without a usable bid: abstain, or void the game.")] = "abstain"


@app.command("water")
@expand_options
def water(
    *,
    options: WaterOptions,
    agents: AgentOptions,
    run: SharedRunOptions,
) -> None:
    """Play the Water Allocation Challenge and report who survives.

    The same command again goes on where it was stopped and plays only what is missing.
    """
    abundance, grid = options.abundance, options.grid
    rules, own_supply = read_rules(options.roster, options.days, options.low, options.high, bool(abundance) or grid)
    config = build_config(
        WaterConfig,
        agents,
        players=choose_players(rules, options.model, options.bidder, options.seat or []),
        abundances=("low", "medium", "high") if grid else ("own",) if own_supply else tuple(abundance or ["medium"]),
        personas=(False, True) if grid else _read_personas(options.personas),
        rules=rules,
        persona_texts=read_texts(agents.persona_file),
        policy=options.on_failure,
    )
    run_and_show(WaterStudy(), config, run)


def _read_personas(wanted: str) -> tuple[bool, ...]:
    known = {"off": (False,), "on": (True,), "both": (False, True)}
    if wanted not in known:
        raise UsageError(f"--personas {wanted!r}: expected off, on or both")
    return known[wanted]


app.command("game")(make_study_command(simulate))
app.command("population")(make_study_command(population))
app.command("sheet")(simulate_judge.sheet)
app.command("judge")(simulate_judge.judge)
app.command("scores")(simulate_judge.scores)
