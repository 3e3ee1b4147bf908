"""`bestresponse bench`: how far from optimal models play."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestresponse.cli.options import BudgetCalls, BudgetMoney, BudgetTokens, CacheChoice, OutputDir, Processes, Workers

if TYPE_CHECKING:
    from bestresponse.models.base import Model
    from bestresponse.runs.execute import Outcome, Progress
    from bestresponse.runs.folder import RunFolder
    from bestresponse.studies.bench.config import BenchConfig
    from bestresponse.studies.bench.given import UserGame
    from bestresponse.studies.bench.plan import Plan

__all__ = ["bench"]


def bench(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            help="matrix: play on generated matrix games; autoformalization: turning stories into games; or one game, "
            "by a name from `bestresponse games` or a file, put to the models with its actions in many orders."
        ),
    ] = "matrix",
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="A model; verified:MODEL has its reasoning checked; may be repeated. See `bestresponse models`.",
        ),
    ] = None,
    num_games: Annotated[int, typer.Option(help="Number of games.")] = 100,
    num_rows: Annotated[int, typer.Option(help="Actions of the row player.")] = 3,
    num_cols: Annotated[int, typer.Option(help="Actions of the column player.")] = 3,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the games; without one a new seed is drawn and recorded.")
    ] = None,
    output_dir: OutputDir = Path("results"),
    llm_seed: Annotated[int | None, typer.Option(help="Seed sent to the models that take one.")] = None,
    suite: Annotated[str, typer.Option(help="standard, invariance or sensitivity.")] = "standard",
    family: Annotated[
        str, typer.Option(help="Kind of games, such as zero-sum, uniform or covariant; see `bestresponse games`.")
    ] = "zero-sum",
    scale: Annotated[float, typer.Option(help="Payoffs are drawn from -scale to scale.")] = 100.0,
    decimals: Annotated[
        int, typer.Option(help="Decimals the payoffs are rounded to before anything else happens.")
    ] = 0,
    elicit: Annotated[
        list[str] | None,
        typer.Option(
            help="mixed, pure, sampled or logprobs; may be repeated. [default: mixed; logprobs for the embedded model]"
        ),
    ] = None,
    format: Annotated[
        list[str] | None, typer.Option(help="table, prose or json; may be repeated. [default: table]")
    ] = None,
    theme: Annotated[
        list[str] | None,
        typer.Option(
            help="neutral, numbers, market, patrol or football; may be repeated; own keeps the names of a game you "
            "name. [default: neutral, own for such a game]"
        ),
    ] = None,
    seat: Annotated[list[str] | None, typer.Option(help="row or col; may be repeated. [default: row]")] = None,
    style: Annotated[
        str,
        typer.Option(
            help="How to answer: auto (JSON where the model can be held to it), line, json or letter; with "
            "autoformalization auto, program or table, as in `bestresponse formalize --form`."
        ),
    ] = "auto",
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature. [default: 0, or 1 for sampled]")
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Longest reply, in tokens.")] = 512,
    samples: Annotated[int, typer.Option(help="Samples per game with --elicit sampled.")] = 10,
    attempts: Annotated[int, typer.Option(help="How often a model may answer when an answer cannot be read.")] = 1,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Stop when the mean gap / payoff range is known to within this; --num-games is then the most."
        ),
    ] = None,
    workers: Workers = None,
    processes: Processes = 1,
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_tokens_total: BudgetTokens = None,
    max_cost: BudgetMoney = None,
    new: Annotated[
        bool, typer.Option("--new", help="Without --seed: begin a new run even if an unfinished one is there.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be played and asked, and stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Measure the Nash gap and the exploitability of models on generated matrix games, or their autoformalization.

    The same command again goes on where it was stopped and plays only what is missing. With autoformalization,
    --num-games is the number of stories, --family the kind of game, --samples the programs for each story. With one
    game, --num-games is the number of orders of its actions.
    """
    if what == "autoformalization":
        _bench_stories(context)
        return
    from bestresponse.studies.bench.config import BenchConfig

    given = _given(what, context) if what != "matrix" else None
    if given is not None and "num_games" not in _typed(context):
        num_games = min(_MOST_ORDERS, given.most_orders)
    config = BenchConfig(
        models=tuple(model or ["smollm2"]),
        num_games=num_games,
        num_rows=num_rows if given is None else given.shape[0],
        num_cols=num_cols if given is None else given.shape[1],
        seed=seed or 0,
        llm_seed=llm_seed,
        family=family,
        scale=scale,
        decimals=decimals,
        suite=suite,
        elicit=tuple(elicit or _default_elicitation(model)),
        formats=tuple(format or ["table"]),
        themes=tuple(theme or [_default_theme(given, suite, elicit or _default_elicitation(model))]),
        seats=tuple(seat or ["row"]),
        style=style,
        temperature=temperature,
        max_tokens=max_tokens,
        samples=samples,
        attempts=attempts,
        precision=precision,
        given=given,
    )
    if seed is None:
        config = _with_seed(config, output_dir, new)
    from bestresponse.cli.models_open import Limits, opened_models

    limits = Limits(workers, cache, max_calls, max_tokens_total, max_cost, processes)
    if dry_run:
        _announce(config, dry=True)
        return
    _announce(config, dry=False)
    with opened_models(config.models, output_dir, limits, players=True) as table:
        folder, outcome = _play(config, output_dir, table.models, table.workers)
    _publish(folder, outcome, output_dir, as_json)


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
_DRAWING_OPTIONS = {"family", "num_rows", "num_cols", "scale", "decimals"}
_MOST_ORDERS = 24
_SHARED_OPTIONS = {
    "what", "model", "output_dir", "workers", "processes", "cache", "max_calls", "max_tokens_total", "max_cost",
    "dry_run", "as_json",
}  # fmt: skip


def _given(what: str, context: typer.Context) -> UserGame:
    """The game that the user names; options that would do nothing for it are a UsageError."""
    from bestresponse.core.errors import UsageError
    from bestresponse.games.lookup import find_game
    from bestresponse.studies.bench.given import UserGame
    from bestresponse.theory.games.normal_form import NormalForm

    useless = sorted(_typed(context) & _DRAWING_OPTIONS)
    if useless:
        raise UsageError(f"--{useless[0].replace('_', '-')} does nothing for one game; it says how games are drawn")
    found = find_game(what)
    form = found.solvable()
    if not isinstance(form, NormalForm):
        raise UsageError(
            f"{found.name} is played in turn; the benchmark asks for one choice in a game of simultaneous moves "
            f"(`bestresponse simulate {what}` plays it)"
        )
    return UserGame.from_form(found.name, form)


def _default_theme(given: UserGame | None, suite: str, elicit: list[str]) -> str:
    """A given game keeps its names where nothing needs others."""
    return "own" if given is not None and suite == "standard" and "logprobs" not in elicit else "neutral"


def _typed(context: typer.Context) -> set[str]:
    """The options that were typed."""
    return {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name != "DEFAULT"
    }


def _bench_stories(context: typer.Context) -> None:
    """The benchmark of stories; options that would do nothing for it are a UsageError."""
    from bestresponse.cli.commands.bench_stories import bench_stories
    from bestresponse.cli.models_open import Limits
    from bestresponse.core.errors import UsageError
    from bestresponse.studies.stories.config import StoriesConfig

    given = _typed(context)
    useless = sorted(given - set(_STORY_OPTIONS) - _SHARED_OPTIONS)
    if useless:
        raise UsageError(f"--{useless[0].replace('_', '-')} does nothing for autoformalization")
    p = context.params
    chosen = {_STORY_OPTIONS[name]: p[name] for name in _STORY_OPTIONS if name in given}
    if "games" in chosen:
        chosen["games"] = (chosen["games"],)
    config = StoriesConfig(tuple(p["model"] or ["qwen2.5-coder-1.5b"]), **chosen)
    limits = Limits(p["workers"], p["cache"], p["max_calls"], p["max_tokens_total"], p["max_cost"], p["processes"])
    bench_stories(config, p["output_dir"], limits, dry_run=p["dry_run"], as_json=p["as_json"])


def _default_elicitation(models: list[str] | None) -> list[str]:
    """A stated mix; but the embedded model is too small to state one, so its probabilities are read instead."""
    return ["logprobs"] if models in (None, [], ["smollm2"]) else ["mixed"]


def _with_seed(config: BenchConfig, output_dir: Path, new: bool) -> BenchConfig:
    """The seed of an unfinished run with the same settings, or a new one."""
    from dataclasses import replace
    from secrets import randbelow

    from bestresponse.runs.invocation import unfinished_like

    before = None if new else unfinished_like(output_dir, config.to_json())
    if before is not None:
        print(
            f"going on with {before.path} (seed {before.manifest.config['seed']}); --new begins another run",
            file=sys.stderr,
        )
        return replace(config, seed=before.manifest.config["seed"])
    return replace(config, seed=randbelow(2**31))


def _announce(config: BenchConfig, *, dry: bool) -> None:
    """What will be played and about what it takes, before anything is paid for."""
    from bestresponse.cli.terminal import counted
    from bestresponse.studies.bench.plan import Plan

    estimate = estimate_of(Plan(config))
    line = (
        f"{counted(config.num_games, 'game')}, {counted(estimate['plays'], 'play')}, "
        f"at most {counted(estimate['calls'], 'call')}, "
        f"about {estimate['prompt_tokens']:,} prompt tokens; seed {config.seed}"
    )
    print(line, file=sys.stdout if dry else sys.stderr, flush=True)


def estimate_of(plan: Plan) -> dict[str, int]:
    """Plays, calls (every attempt counted) and prompt tokens (four characters each), from the first game."""
    from itertools import islice

    from bestresponse.players.llm.prompting import prompt
    from bestresponse.studies.bench.playing import game_of

    c = plan.config
    first = list(islice(plan.specs(), max(1, plan.total // c.num_games)))
    calls = sum(spec.data["samples"] * spec.data["attempts"] for spec in first)
    characters = 0
    for spec in first:
        game = game_of(spec.data)
        role = game.roles[spec.data["seat"]]
        characters += len(prompt(game.view((), role), game.asks(())[role], "line")) * spec.data["samples"]
    return {
        "plays": plan.total,
        "calls": calls * c.num_games,
        "prompt_tokens": characters * c.num_games // 4,
    }


def _play(
    config: BenchConfig, output_dir: Path, models: Mapping[str, Model], workers: int
) -> tuple[RunFolder, Outcome]:
    from bestresponse.cli.invocation import occasion
    from bestresponse.cli.running import play_run
    from bestresponse.studies.bench import session
    from bestresponse.studies.bench.plan import Plan

    plan = Plan(config)

    def run(folder: RunFolder, tell: Callable[[Progress], None]) -> Outcome:
        return session.run(plan, folder, models, workers=workers, on_progress=tell)

    return play_run(session.manifest_of(config, models, occasion()), output_dir, plan.total, "plays", run)


def _publish(folder: RunFolder, outcome: Outcome, output_dir: Path, as_json: bool) -> None:
    """Report, files and the table on the screen; exit code 1 where plays are missing."""
    from bestresponse.cli.commands.bench_files import write_files
    from bestresponse.cli.running import explain, show_findings
    from bestresponse.studies.bench import session

    results = session.read_results(folder)
    if results.rows:
        stamp = datetime.now().strftime("%Y%m%d_%H%M%S")
        document, files, summary = write_files(folder, results, output_dir, stamp)
        show_findings(document, files, summary, as_json=as_json)
    explain(outcome)
    if not outcome.complete or not any(summary.answered for summary in results.summaries):
        raise typer.Exit(1)
