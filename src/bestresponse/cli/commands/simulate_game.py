"""`bestresponse simulate GAME`: any game, its seats filled by anybody, many times."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestresponse.cli.options import AsJson, BudgetCalls, BudgetMoney, BudgetTokens, CacheChoice, OutputDir, Workers

if TYPE_CHECKING:
    from bestresponse.cli.models_open import Limits
    from bestresponse.runs.execute import Outcome, Progress
    from bestresponse.runs.folder import RunFolder
    from bestresponse.studies.simulate.config import PlaygroundConfig

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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many plays and at most how many calls it would be.")
    ] = False,
    output_dir: OutputDir = Path("results"),
    workers: Workers = None,
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
    from bestresponse.cli.models_open import Limits
    from bestresponse.games.named_game import NamedGame
    from bestresponse.players.llm.persona import read_personas
    from bestresponse.studies.simulate.config import PlaygroundConfig, usual_policy

    source = NamedGame.find(game)
    config = PlaygroundConfig(
        source,
        _seats(source.game(), seat or [], model, others),
        repeats=repeats,
        seed=seed,
        personas=read_personas(persona_file) if persona_file else {},
        memory=memory,
        reasoning=reasoning,
        attempts=attempts,
        policy=on_failure or usual_policy(source.game()),  # type: ignore[arg-type]
        style=style,  # type: ignore[arg-type]
        temperature=temperature,
        max_tokens=max_tokens,
    )
    _announce(config, dry_run, as_json)
    if dry_run:
        return
    folder, outcome = _play(config, output_dir, Limits(workers, cache, max_calls, max_tokens_total, max_cost))
    _publish(folder, outcome, as_json)


def _seats(game: Any, given: list[str], model: str | None, others: str | None) -> tuple[tuple[str, str], ...]:
    """Who sits where: the named, the model, the others."""
    from bestresponse.core.errors import UsageError
    from bestresponse.players.lookup import choose_default

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


def _announce(config: PlaygroundConfig, dry_run: bool, as_json: bool) -> None:
    """What will be played and asked, before anything is paid for."""
    from bestresponse.studies.simulate.plan import most_calls

    most = most_calls(config)
    if dry_run and as_json:
        seats = dict(config.seats)
        print(json.dumps({"plays": config.repeats, "seats": seats, "most_calls": most.calls, "sure": most.sure}))
        return
    who = ", ".join(f"{role} = {name}" for role, name in config.seats)
    counted = "" if most.sure else " (as counted in plays of random players)"
    cost = f"; at most {most.calls:,} calls of models{counted}" if most.calls else ""
    print(
        f"{config.repeats} plays of {config.game.name} with {who}{cost}; seed {config.seed}",
        file=sys.stdout if dry_run else sys.stderr,
        flush=True,
    )


def _play(config: PlaygroundConfig, output_dir: Path, limits: Limits) -> tuple[RunFolder, Outcome]:
    from bestresponse.cli.invocation import occasion
    from bestresponse.cli.models_open import opened_models
    from bestresponse.cli.running import play_run
    from bestresponse.studies.simulate import session

    names = config.models
    with opened_models(names, output_dir, limits, players=True) if names else nullcontext() as opened:
        models: Mapping[str, Any] = opened.models if opened else {}
        workers = opened.workers if opened else limits.workers or 1

        def run(folder: RunFolder, tell: Callable[[Progress], None]) -> Outcome:
            return session.run(config, folder, models, workers=workers, on_progress=tell)

        return play_run(session.manifest_of(config, models, occasion()), output_dir, config.repeats, "plays", run)


def _publish(folder: RunFolder, outcome: Outcome, as_json: bool) -> None:
    """Report, files and the tables on the screen; exit code 1 where plays are missing or none has a result."""
    from bestresponse.cli.commands.simulate_game_files import summary_of, write_files
    from bestresponse.cli.running import explain, show_findings
    from bestresponse.studies.simulate import session

    measured = session.read_results(folder)
    if measured.plays or measured.voids:
        document, files = write_files(folder, measured)
        show_findings(document, files, summary_of(folder, measured), as_json=as_json, tables=2)
    explain(outcome)
    if not outcome.complete or not measured.plays:
        raise typer.Exit(1)
