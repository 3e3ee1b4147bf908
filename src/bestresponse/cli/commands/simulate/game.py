"""`bestresponse simulate GAME`: any game, its seats filled by anybody, many times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

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
from bestresponse.games.named_game import NamedGame
from bestresponse.players.llm.persona import read_personas
from bestresponse.players.lookup import choose_default
from bestresponse.runs.models import ModelLimits
from bestresponse.studies.simulate.config import SimulateConfig, usual_policy
from bestresponse.studies.simulate.study import SimulateStudy

__all__ = ["game"]


def game(
    game: Annotated[
        str,
        typer.Argument(help="A game: see `bestresponse games`, or a .nfg, .efg, .json or .pl file.", metavar="GAME"),
    ],
    seat: Annotated[
        list[str] | None,
        typer.Option(
            help="ROLE=PLAYER: a model, verified:MODEL (its reasoning is checked), random, equilibrium, always:MOVE, a "
            "bidder or baseline; may be repeated."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Takes the seats that are not named; with --others only the first of them."),
    ] = None,
    others: Annotated[
        str | None, typer.Option(help="Who takes the other seats. [default: the model, or what suits the game]")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Plays.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of chance and of players who draw.")] = 0,
    persona_file: Annotated[
        Path | None, typer.Option(help="TOML with a persona for each seat that has one, under the seat's name.")
    ] = None,
    memory: Annotated[str, typer.Option(help="full, window:N or summary:N, in games of rounds.")] = "full",
    reasoning: Annotated[
        str, typer.Option(help="direct, step-by-step, predict, reflect, refine or k-level:K.")
    ] = "direct",
    reasons: Annotated[bool, typer.Option(help="Let models explain each choice before they answer.")] = True,
    own_words: Annotated[bool, typer.Option(help="Show models their own earlier reasons again.")] = True,
    attempts: Annotated[int, typer.Option(help="How often a model may answer when an answer cannot be used.")] = 3,
    on_failure: Annotated[
        str | None,
        typer.Option(
            help="A seat without a usable answer: abstain or void. [default: abstain where the game lets pass]"
        ),
    ] = None,
    style: Annotated[str, typer.Option(help="How to answer: auto, line or json.")] = "auto",
    temperature: Annotated[float, typer.Option(help="Sampling temperature.")] = 0.7,
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.")] = 512,
    dry_run: DryRun = False,
    output_dir: OutputDir = Path("results"),
    workers: Workers = None,
    shard: Shards = None,
    executor: Executors = "threads",
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_tokens_total: BudgetTokens = None,
    max_cost: BudgetMoney = None,
    as_json: AsJson = False,
) -> None:
    """Play any game many times and report payoffs, moves, regret and welfare beside what theory says.

    The word `game` may be left out: `bestresponse simulate stag-hunt --model M`. The same command again goes on where
    it was stopped and plays only what is missing.
    """
    source = NamedGame.find(game)
    config = SimulateConfig(
        source,
        _seats(source.game(), seat or [], model, others),
        repeats=repeats,
        seed=seed,
        personas=read_personas(persona_file) if persona_file else {},
        memory=memory,
        own_words=own_words,
        reasoning=reasoning,
        reasons=reasons,
        attempts=attempts,
        policy=on_failure or usual_policy(source.game()),  # type: ignore[arg-type]
        style=style,  # type: ignore[arg-type]
        temperature=temperature,
        max_tokens=max_tokens,
    )
    limits = ModelLimits(workers, cache, max_calls, max_tokens_total, max_cost)
    run_and_show(
        SimulateStudy(), config, output_dir, limits, Display(as_json, dry_run, 2), shard=shard, executor=executor
    )


def _seats(game: Any, given: list[str], model: str | None, others: str | None) -> tuple[tuple[str, str], ...]:
    """Who sits where: the named, the model, the others."""
    named: dict[str, str] = {}
    for words in given:
        role, equals, player = words.partition("=")
        if not equals or not player or role not in game.roles:
            raise UsageError(f"--seat {words!r}: expected ROLE=PLAYER with one of {', '.join(game.roles)}")
        named[role] = player
    free = [role for role in game.roles if role not in named]
    if model:
        if not free:
            raise UsageError("every seat is named by --seat, so there is none for --model")
        named |= dict.fromkeys(free[:1] if others else free, model)
    rest = others or choose_default(game)
    return tuple((role, named.get(role, rest)) for role in game.roles)
