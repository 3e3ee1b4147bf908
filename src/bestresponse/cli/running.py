"""Run a study from the command line: print its estimate, play what is missing, show its results."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from bestresponse.cli.terminal import DownloadProgress, console, notes, play_progress, print_table
from bestresponse.cli.waiting import tell_interrupt
from bestresponse.models.base import Model, Usage
from bestresponse.models.prices import estimate_price, find_price
from bestresponse.players.llm.verified import bare_name
from bestresponse.report.text import visible
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import Outcome, Progress
from bestresponse.runs.launch import find_path, play_missing
from bestresponse.runs.models import OpenedModels
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.shard import Shard
from bestresponse.runs.study import AnyStudy

_MOST_FAILURES = 5


def show_estimate(study: AnyStudy, config: RunSettings, as_json: bool) -> None:
    """Print what a run takes at most, and make nothing."""
    estimate = _estimate_part(study, config, config.part)
    if as_json:
        print(json.dumps(estimate.to_json() | {"dollars": _price(estimate, {})}, indent=2))
    else:
        print(_describe(estimate, {}))


def run_and_show(study: AnyStudy, config: RunSettings, as_json: bool) -> None:
    """Play what is missing of a run and print its tables; exit with 1 where plays or results are missing."""
    folder = Path(config.output_dir)
    bars: list[Callable[[Progress], None]] = []

    def announce(opened: OpenedModels) -> None:
        if config.part is None:
            estimate = study.estimate_missing(config, opened.models, find_path(study, config, folder))
        else:
            estimate = _estimate_part(study, config, config.part)
        if sentence := _describe(estimate, opened.models):
            print(sentence, file=sys.stderr, flush=True)
        # The bar begins once models are open: a model that cannot be used is named alone.
        bars.append(stack.enter_context(play_progress(study.count_part(config, config.part), study.unit)))
        stack.enter_context(tell_interrupt(opened.workers))

    with ExitStack() as stack:
        run = play_missing(
            study,
            config,
            on_download=DownloadProgress(),
            on_opened=announce,
            on_progress=lambda progress: bars[0](progress),
        )
    show_run(run, as_json, study.count_tables(config))


def _estimate_part(study: AnyStudy, config: RunSettings, part: Shard | None) -> Estimate:
    """Say what a part takes at most: its share of the whole, with nothing recorded yet."""
    whole = study.estimate(config)
    if part is None:
        return whole
    plays = study.count_part(config, part) or 0
    scaled = whole.without((whole.plays or plays) - plays)
    return replace(scaled, plays=plays, found=0, what=f"shard {part} of {whole.what}" if whole.what else "")


def _describe(estimate: Estimate, models: Mapping[str, Model]) -> str:
    """Say what a run takes at most, by the models that are open, else by their names; empty where nothing is known."""
    parts = [estimate.what] if estimate.what else []
    parts += [f"{estimate.plays:,} plays"] if estimate.plays else []
    parts += [f"{estimate.found:,} of them recorded"] if estimate.found else []
    if estimate.calls and not estimate.total_calls:
        parts.append("0 calls to make")
    if estimate.total_calls:
        counted = "" if estimate.sure else " (as counted in plays of random players)"
        parts.append(f"at most {estimate.total_calls:,} call{'s' if estimate.total_calls > 1 else ''}{counted}")
        parts.append(f"about {estimate.total_tokens:,} tokens")
        money = _price(estimate, models)
        if money is None:
            missing = "" if find_spec("genai_prices") else ": pip install 'bestresponse[cost]' for a list of prices"
            parts.append(f"dollars not known{missing}")
        elif money:
            parts.append(f"at most {money:.2f} US dollars")
    return "; ".join(parts)


def _price(estimate: Estimate, models: Mapping[str, Model]) -> float | None:
    """Price the tokens of an estimate; None where a price is not known."""
    costs = []
    for name in estimate.calls:
        tokens = estimate.prompt_tokens.get(name, 0), estimate.reply_tokens.get(name, 0)
        known = find_price(models[name])(Usage(*tokens)) if name in models else estimate_price(bare_name(name), *tokens)
        costs.append(known)
    return None if None in costs else sum(cost or 0.0 for cost in costs)


def show_run(run: Run[Any], as_json: bool, tables: int = 1) -> None:
    """Publish a run and print its tables (or its summary) and the names of its files; exit with 1 where it is short."""
    if run.results.rows:
        files = run.publish()
        if as_json:
            print(run.summary_as_json())
        else:
            for _, table in run.report().tables[:tables]:
                print_table(console(), table)
        notes().print(f"wrote {files[0]} and {len(files) - 1} files beside it", markup=False, soft_wrap=True)
    if run.outcome is not None:
        _explain(run.outcome)
    if not run.complete or not run.results.answered:
        raise typer.Exit(1)


def _explain(outcome: Outcome) -> None:
    """Say what failed, why it stopped, and what to do about it."""
    for failure in outcome.failures[:_MOST_FAILURES]:
        print(f"bestresponse: {visible(str(failure))}", file=sys.stderr)
    if outcome.stopped:
        print(f"bestresponse: stopped: {visible(outcome.stopped)}", file=sys.stderr)
    if not outcome.complete:
        print("bestresponse: not everything was played; the same command plays what is missing", file=sys.stderr)
