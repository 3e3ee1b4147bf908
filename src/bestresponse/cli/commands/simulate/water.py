"""`bestresponse simulate`: many agents in one game over many days, many times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bestresponse.cli.commands.simulate import game as simulate_game
from bestresponse.cli.commands.simulate import judge as simulate_judge
from bestresponse.cli.commands.simulate.settings import players_of, rules_of, texts_of
from bestresponse.cli.options import (
    AsJson,
    BudgetCalls,
    BudgetMoney,
    BudgetTokens,
    CacheChoice,
    DryRun,
    Executors,
    OutputDir,
    Shards,
    Workers,
)
from bestresponse.cli.running import Display, run_and_show
from bestresponse.core.errors import UsageError
from bestresponse.runs.models import ModelLimits
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


@app.command("water")
def water(
    model: Annotated[str | None, typer.Option("--model", "-m", help="The player of every seat not named.")] = None,
    bidder: Annotated[
        str | None, typer.Option(help="Instead of a model: random, share:X, need, myopic, no-regret or solver.")
    ] = None,
    seat: Annotated[
        list[str] | None, typer.Option(help="RESIDENT=PLAYER, a model or a bidder; may be repeated.")
    ] = None,
    abundance: Annotated[
        list[str] | None, typer.Option(help="low, medium or high; may be repeated. [default: medium]")
    ] = None,
    personas: Annotated[str, typer.Option(help="off, on or both.")] = "off",
    persona_file: Annotated[Path | None, typer.Option(help="TOML with a persona for each resident.")] = None,
    grid: Annotated[bool, typer.Option("--grid", help="All six settings of the published study.")] = False,
    repeats: Annotated[int, typer.Option(help="Games of each setting.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of supplies and bidders.")] = 0,
    roster: Annotated[
        Path | None, typer.Option(help="TOML with residents and any other rules instead of the published ones.")
    ] = None,
    days: Annotated[int | None, typer.Option(help="Days the drought lasts. [default: 20]")] = None,
    low: Annotated[int | None, typer.Option(help="Smallest daily supply, instead of --abundance.")] = None,
    high: Annotated[int | None, typer.Option(help="Largest daily supply, instead of --abundance.")] = None,
    memory: Annotated[str, typer.Option(help="full, window:N or summary:N.")] = "full",
    reasoning: Annotated[
        str, typer.Option(help="direct, step-by-step, predict, reflect, refine or k-level:K.")
    ] = "direct",
    reasons: Annotated[bool, typer.Option(help="Let models explain each choice before they answer.")] = True,
    own_words: Annotated[bool, typer.Option(help="Show models their own earlier reasons again.")] = True,
    attempts: Annotated[int, typer.Option(help="How often a model may bid when a bid is refused or unreadable.")] = 3,
    on_failure: Annotated[
        str, typer.Option(help="A seat without a usable bid: abstain, or void the game.")
    ] = "abstain",
    style: Annotated[str, typer.Option(help="How to answer: auto, line or json.")] = "auto",
    temperature: Annotated[float, typer.Option(help="Sampling temperature.")] = 0.7,
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.")] = 512,
    output_dir: OutputDir = Path("results"),
    workers: Workers = None,
    shard: Shards = None,
    executor: Executors = "threads",
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_tokens_total: BudgetTokens = None,
    max_cost: BudgetMoney = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Play the Water Allocation Challenge and report who survives.

    The same command again goes on where it was stopped and plays only what is missing.
    """
    rules, own_supply = rules_of(roster, days, low, high, bool(abundance) or grid)
    config = WaterConfig(
        players=players_of(rules, model, bidder, seat or []),
        abundances=("low", "medium", "high") if grid else ("own",) if own_supply else tuple(abundance or ["medium"]),
        personas=(False, True) if grid else _personas(personas),
        repeats=repeats,
        seed=seed,
        rules=rules,
        persona_texts=texts_of(persona_file),
        memory=memory,
        own_words=own_words,
        reasoning=reasoning,
        reasons=reasons,
        attempts=attempts,
        policy=on_failure,  # type: ignore[arg-type]
        style=style,  # type: ignore[arg-type]
        temperature=temperature,
        max_tokens=max_tokens,
    )
    limits = ModelLimits(workers, cache, max_calls, max_tokens_total, max_cost)
    run_and_show(WaterStudy(), config, output_dir, limits, Display(as_json, dry_run), shard=shard, executor=executor)


def _personas(wanted: str) -> tuple[bool, ...]:
    known = {"off": (False,), "on": (True,), "both": (False, True)}
    if wanted not in known:
        raise UsageError(f"--personas {wanted!r}: expected off, on or both")
    return known[wanted]


app.command("game")(simulate_game.game)
app.command("sheet")(simulate_judge.sheet)
app.command("judge")(simulate_judge.judge)
app.command("scores")(simulate_judge.scores)
