"""`bestresponse bench`: how far from optimal models play."""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import build_config, expand_options
from bestresponse.cli.run_options import SharedRunOptions
from bestresponse.cli.running import run_and_show, run_and_show_settings
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.games.lookup import find_game
from bestresponse.games.named_game import NamedGame
from bestresponse.runs.launch import find_unfinished
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games.given import UserGame
from bestresponse.studies.bench.sequential.config import SequentialConfig
from bestresponse.studies.bench.sequential.study import SequentialStudy
from bestresponse.studies.bench.study import BenchStudy
from bestresponse.studies.stories.study import StoriesConfig, stories_study
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["bench"]


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Say which games are put to models, and how models are asked."""

    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="A model; verified:MODEL has its reasoning checked; NAME=URL reports a server under that name; may be "
            "repeated. See `bestresponse models`.",
        ),
    ] = None
    num_games: Annotated[int, typer.Option(help="Number of games.")] = 100
    num_rows: Annotated[int, typer.Option(help="Actions of the row player.")] = 3
    num_cols: Annotated[int, typer.Option(help="Actions of the column player.")] = 3
    seed: Annotated[
        int | None, typer.Option(help="Seed of the games; without one a new seed is drawn and recorded.")
    ] = None
    llm_seed: Annotated[int | None, typer.Option(help="Seed sent to the models that take one.")] = None
    suite: Annotated[str, typer.Option(help="standard, invariance, sensitivity or generalisation.")] = "standard"
    family: Annotated[
        str, typer.Option(help="Kind of games, such as zero-sum, uniform or covariant; see `bestresponse games`.")
    ] = "zero-sum"
    scale: Annotated[float, typer.Option(help="Payoffs are drawn from -scale to scale.")] = 100.0
    decimals: Annotated[int, typer.Option(help="Decimals the payoffs are rounded to before anything else happens.")] = 0
    elicit: Annotated[
        list[str] | None,
        typer.Option(
            help="mixed, pure, sampled or logprobs; may be repeated. [default: mixed; logprobs for the embedded model]"
        ),
    ] = None
    format: Annotated[
        list[str] | None, typer.Option(help="table, prose or json; may be repeated. [default: table]")
    ] = None
    theme: Annotated[
        list[str] | None,
        typer.Option(
            help="neutral, numbers, market, patrol or football; may be repeated; own keeps the names of a game you "
            "name. [default: neutral, own for such a game]"
        ),
    ] = None
    seat: Annotated[
        list[str] | None,
        typer.Option(
            help="row or col, in a game played in turn the name of a player; may be repeated. [default: row, or all]"
        ),
    ] = None
    style: Annotated[
        str,
        typer.Option(
            help="How to answer: auto (JSON where the model can be held to it), line, json or letter; with "
            "stories auto, program or table, as in `bestresponse formalize --form`."
        ),
    ] = "auto"
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature. [default: 0, or 1 for sampled]")] = (
        None
    )
    think: Annotated[bool, typer.Option("--think", help="Have models write down their reasons first, then answer.")] = (
        False
    )
    max_tokens: Annotated[
        int | None, typer.Option(help="Longest reply, in tokens. [default: 512, or 2000 with --think]")
    ] = None
    samples: Annotated[int, typer.Option(help="Samples per game or information set with --elicit sampled.")] = 10
    max_infosets: Annotated[
        int | None,
        typer.Option(help="In a game played in turn: ask at this many information sets at most, the likeliest first."),
    ] = None
    attempts: Annotated[int, typer.Option(help="How often a model may answer when an answer cannot be read.")] = 1
    precision: Annotated[
        float | None,
        typer.Option(
            help="Stop when the mean gap / payoff range is known to within this; --num-games is then the most."
        ),
    ] = None
    new: Annotated[
        bool, typer.Option("--new", help="Without --seed: begin a new run even if an unfinished one is there.")
    ] = False


@expand_options
def bench(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            help="matrix: play on generated matrix games; stories: turning stories into games; or one game, "
            "by a name from `bestresponse games` or a file, put to the models with its actions in many orders or, if "
            "it is played in turn, at every information set."
        ),
    ] = "matrix",
    *,
    options: BenchOptions,
    run: SharedRunOptions,
) -> None:
    """Measure the Nash gap and the exploitability of models on matrix games, or how well they turn stories into games.

    The same command again goes on where it was stopped and plays only what is missing. With stories,
    --num-games is the number of stories, --family the kind of game, --samples the programs for each story. With one
    game, --num-games is the number of orders of its actions; if it is played in turn, the number of complete policies.
    """
    if what == "stories":
        _bench_stories(context, options, run)
        return
    if what != "matrix" and isinstance(find_game(what).solvable(), Tree):
        _bench_sequential(what, context, options, run)
        return
    if options.max_infosets is not None:
        raise UsageError("--max-infosets does nothing here; it is for a game played in turn")

    config = _make_config(context, options, None if what == "matrix" else _find_given(what, context))
    if options.seed is None:
        if run.shard is not None:
            raise UsageError("--shard needs --seed: every part must draw the same games")
        config = _choose_seed(config, run.output_dir, options.new)
    run_and_show(BenchStudy(), config, run)


def _make_config(context: typer.Context, options: BenchOptions, given: UserGame | None) -> BenchConfig:
    elicit = options.elicit or _default_elicitation(options.model)
    shape = (options.num_rows, options.num_cols) if given is None else given.shape
    count = options.num_games
    if given is not None and "num_games" not in _list_typed(context):
        count = min(_MOST_ORDERS, given.most_orders)
    return build_config(
        BenchConfig,
        options,
        models=tuple(options.model or ["smollm2"]),
        num_games=count,
        num_rows=shape[0],
        num_cols=shape[1],
        seed=options.seed or 0,
        elicit=tuple(elicit),
        formats=tuple(options.format or ["table"]),
        themes=tuple(options.theme or [_default_theme(given, options.suite, elicit)]),
        seats=tuple(options.seat or ["row"]),
        given=given,
    )


_STORY_OPTIONS = {
    "num_games": "count",
    "family": "games",
    "attempts": "attempts",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "samples": "samples",
    "style": "form",
    "llm_seed": "llm_seed",
}
"""The options that mean something for stories, and what they set."""
_SEQUENTIAL_OPTIONS = {
    "num_games": "policies",
    "elicit": "elicit",
    "samples": "samples",
    "max_infosets": "max_infosets",
    "seat": "seats",
    "style": "style",
    "temperature": "temperature",
    "think": "think",
    "max_tokens": "max_tokens",
    "attempts": "attempts",
    "llm_seed": "llm_seed",
}
"""The options that mean something for a game played in turn, and what they set."""
_DRAWING_OPTIONS = {"family", "num_rows", "num_cols", "scale", "decimals"}
_MOST_ORDERS = 24
_SHARED_OPTIONS = {"what", "model", *(field.name for field in fields(SharedRunOptions))}


def _find_given(what: str, context: typer.Context) -> UserGame:
    """Find the game that the user names; options that would do nothing for it are a UsageError."""
    useless = sorted(_list_typed(context) & _DRAWING_OPTIONS)
    if useless:
        raise UsageError(f"--{useless[0].replace('_', '-')} does nothing for one game; it says how games are drawn")
    found = find_game(what)
    form = found.solvable()
    if not isinstance(form, NormalForm):
        raise UsageError(f"{found.name} has no payoff table; expected a game of simultaneous moves")
    return UserGame.from_form(found.name, form)


def _default_theme(given: UserGame | None, suite: str, elicit: list[str]) -> str:
    """Keep the user's action names unless the suite or the elicitation relabels them."""
    return "own" if given is not None and suite == "standard" and "logprobs" not in elicit else "neutral"


def _list_typed(context: typer.Context) -> set[str]:
    """List the options that were typed."""
    return {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name != "DEFAULT"
    }


def _bench_stories(context: typer.Context, options: BenchOptions, run: SharedRunOptions) -> None:
    """Run the benchmark of stories; options that would do nothing for it are a UsageError."""
    chosen = _choose_options(context, options, _STORY_OPTIONS, "stories")
    if "games" in chosen:
        chosen["games"] = (chosen["games"],)
    config = StoriesConfig(tuple(options.model or ["qwen2.5-coder-1.5b"]), **chosen)
    how = {name: getattr(run, name) for name in ("output_dir", "workers", "cache", "max_calls", "max_cost")}
    run_and_show_settings(stories_study, replace(config, **how), run.as_json)


def _bench_sequential(what: str, context: typer.Context, options: BenchOptions, run: SharedRunOptions) -> None:
    """Run the benchmark of a game played in turn; options that would do nothing for it are a UsageError."""
    chosen = _choose_options(context, options, _SEQUENTIAL_OPTIONS, "a game played in turn")
    many = {name: tuple(value) for name, value in chosen.items() if isinstance(value, list)}
    defaults: JsonObject = {"elicit": tuple(_default_elicitation(options.model))}
    models = tuple(options.model or ["smollm2"])
    config = SequentialConfig(models, NamedGame.find(what), **(defaults | chosen | many))
    run_and_show(SequentialStudy(), config, run, tables=2)


def _choose_options(context: typer.Context, options: BenchOptions, known: dict[str, str], what: str) -> JsonObject:
    """Return the settings of the options that were typed; one that `what` does not have is a UsageError."""
    typed = _list_typed(context)
    useless = sorted(typed - set(known) - _SHARED_OPTIONS)
    if useless:
        raise UsageError(f"--{useless[0].replace('_', '-')} does nothing for {what}")
    return {setting: getattr(options, name) for name, setting in known.items() if name in typed}


def _default_elicitation(models: list[str] | None) -> list[str]:
    """A stated mix; but the embedded model is too small to state one, so its probabilities are read instead."""
    return ["logprobs"] if models in (None, [], ["smollm2"]) else ["mixed"]


def _choose_seed(config: BenchConfig, output_dir: Path, new: bool) -> BenchConfig:
    """Take the seed of an unfinished run with the same settings, or a new one."""
    before = None if new else find_unfinished(output_dir, config.to_json())
    if before is not None:
        print(
            f"going on with {before.path} (seed {before.manifest.config['seed']}); --new begins another run",
            file=sys.stderr,
        )
        return replace(config, seed=before.manifest.config["seed"])
    return replace(config, seed=secrets.randbelow(2**31))
