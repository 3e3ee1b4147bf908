"""`bestresponse tournament`: strategies and models against each other in a repeated game."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import build_config, expand_options
from bestresponse.cli.run_options import SharedRunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.core.errors import UsageError
from bestresponse.report.text import visible
from bestresponse.runs.models import open_models
from bestresponse.studies.tournament.config import Entry, Stage, TournamentConfig
from bestresponse.studies.tournament.entries import gather, is_in_words, read_stage, read_strategy
from bestresponse.studies.tournament.study import TournamentStudy
from bestresponse.studies.tournament.verbal_strategies import formalize_entry

__all__ = ["tournament"]


@dataclass(frozen=True, kw_only=True)
class TournamentOptions:
    """Say who takes part, how matches are played and how models are asked."""

    strategies: Annotated[
        str | None,
        typer.Option(
            help="all, published, classic, or names separated by commas, also always:MOVE and installed players; "
            "axelrod:NAME where that library is installed. "
            "[default: all, or none where --strategy is given]"
        ),
    ] = None
    strategy: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file: rules (.pl), a saved agent (.json), or words (.txt) that --model formalizes; may be repeated."
        ),
    ] = None
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Formalizes strategies in words; it plays where there are none.")
    ] = None
    player: Annotated[
        list[str] | None,
        typer.Option(
            help="A model that takes part; verified:MODEL has its reasoning checked; may be repeated. "
            "See `bestresponse models`."
        ),
    ] = None
    rounds: Annotated[int, typer.Option(help="Rounds of a match; with --continuation the most.", min=1)] = 10
    noise: Annotated[float, typer.Option(help="Probability that another move is made than the one chosen.")] = 0.0
    continuation: Annotated[float, typer.Option(help="Probability of another round after each.")] = 1.0
    repetitions: Annotated[
        int | None,
        typer.Option(help="Plays of each match. [default: expected payoffs; 1 for those who must be asked]", min=1),
    ] = None
    against: Annotated[str | None, typer.Option(help="Only matches against this one count (clones).")] = None
    default_move: Annotated[str | None, typer.Option(help="The default move, in place of the game's own.")] = None
    target: Annotated[
        list[str] | None, typer.Option(help="NAME=TOTAL: winners are those who reach their total; may be repeated.")
    ] = None
    moran: Annotated[int, typer.Option(help="Also the Moran process with this many individuals.", min=0)] = 0
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 0
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature of models. [default: 0]")] = None
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.")] = 256
    attempts: Annotated[int, typer.Option(help="How often a model may answer when an answer cannot be read.")] = 1
    style: Annotated[str, typer.Option(help="How models answer: auto, line, json or letter.")] = "auto"


@expand_options
def tournament(
    game: Annotated[
        str,
        typer.Argument(
            help="A name from `bestresponse games`, or a .nfg, .json or .pl file: two players, one move each."
        ),
    ],
    *,
    options: TournamentOptions,
    run: SharedRunOptions,
) -> None:
    """Run a round robin, including self-play, with every pair in both seats, and print who earns most.

    Matches between strategies are worked out exactly. Models are asked round by round; the same command again goes on
    where it was stopped.
    """
    stage = read_stage(game)
    files = options.strategy or []
    gathered = gather(_list_names(options.strategies, bool(files)), stage, options.default_move)
    words = [path for path in files if is_in_words(path)]
    entries = [*gathered.entries, *_read_files(files, words, stage, options.model, run)]
    entries += _enter_models([*(options.player or []), *([options.model] if options.model and not words else [])])
    config = build_config(
        TournamentConfig,
        options,
        game=stage,
        entries=tuple(entries),
        targets=tuple(map(_read_target, options.target or [])),
        left_out=gathered.left_out,
    )
    try:
        run_and_show(TournamentStudy(), config, run)
    finally:
        for name, why in config.left_out:
            print(visible(f"left out: {name}: {why}"), file=sys.stderr)


def _list_names(strategies: str | None, files: bool) -> list[str]:
    if strategies is None:
        return [] if files else ["all"]
    return [name.strip() for name in strategies.split(",") if name.strip()]


def _read_files(
    files: list[Path], words: list[Path], stage: Stage, model: str | None, run: SharedRunOptions
) -> list[Entry]:
    """Read the strategies in files, and formalize those in words."""
    found = [read_strategy(path) for path in files if path not in words]
    if not words:
        return found
    if model is None:
        raise UsageError(
            f"{words[0]} is a strategy in words; name the --model that formalizes it, or give rules in a .pl file"
        )
    with open_models((model,), run.output_dir, run.limits) as opened:
        return found + [formalize_entry(path, stage, opened.models[model]) for path in words]


def _enter_models(names: list[str]) -> list[Entry]:
    return [Entry(name, "model", name) for name in dict.fromkeys(names)]


def _read_target(text: str) -> tuple[str, float]:
    name, _, total = text.rpartition("=")
    try:
        return name.strip(), float(total)
    except ValueError:
        raise UsageError(f"--target {text!r}: expected NAME=TOTAL, such as tit-for-tat=24") from None
