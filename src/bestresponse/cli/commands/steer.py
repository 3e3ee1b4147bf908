"""`bestresponse steer`: dialogue guided by an equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from bestresponse.cli.options import build_config, expand_options
from bestresponse.cli.run_options import RunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.cli.terminal import DownloadProgress
from bestresponse.games.dialogue.domain import domain_names
from bestresponse.models.base import Model, Usage
from bestresponse.models.prices import find_price
from bestresponse.models.wrappers.meter import Budget
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.runs.models import OpenedModels, open_models
from bestresponse.studies.steer.answers import MemoryAnswers, answers_path, read_answers
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.estimate import check_budget, estimate
from bestresponse.studies.steer.study import SteerStudy

__all__ = ["steer"]

SIMULATED = "simulated"


@dataclass(frozen=True, kw_only=True)
class SteerOptions:
    """Say which dialogues are built, how they are solved and how the result is evaluated."""

    model: Annotated[str, typer.Option("--model", "-m", help="The model that speaks; `simulated` needs none.")] = (
        SIMULATED
    )
    judge: Annotated[str, typer.Option(help="The model that rules. [default: the speaker]")] = ""
    scenarios_by: Annotated[
        str, typer.Option(help="A model that writes the games from examples. [default: the seed draws them]")
    ] = ""
    solver: Annotated[str, typer.Option(help="cfr (solve the tree) or psro (search for better prompts).")] = "cfr"
    games: Annotated[int, typer.Option(help="Number of games drawn from the domain.")] = 1
    replies: Annotated[int, typer.Option(help="Messages of each speaker.")] = 1
    wordings: Annotated[int, typer.Option(help="Recorded texts of each choice.")] = 1
    types: Annotated[int, typer.Option(help="Equally likely draws of private information in each game.")] = 1
    actions: Annotated[str, typer.Option(help="Which of the domain's sets of actions. [default: the first]")] = ""
    payoffs: Annotated[
        str, typer.Option(help="deal (a referee reads what was agreed) or score (a model says what it is worth).")
    ] = "deal"
    second: Annotated[str, typer.Option(help="deal or score: rule in this way too, and report how far both agree.")] = (
        ""
    )
    second_judge: Annotated[str, typer.Option(help="The model of the second ruling. [default: the judge]")] = ""
    early_end: Annotated[bool, typer.Option("--early-end", help="Let the referee end a talk once all agree.")] = False
    follow: Annotated[
        bool, typer.Option("--follow", help="Let a classifier tell in which manner each message was written.")
    ] = False
    classifier: Annotated[
        str,
        typer.Option(
            help="A model for --follow, or words or minilm: a network trained on other games. [default: the judge]"
        ),
    ] = ""
    fresh: Annotated[
        int | None,
        typer.Option(
            help="Draws of fresh texts to play guided against unguided on, in each game (psro: in each held-out one). "
            "[default: 4 for cfr, 1 for psro]"
        ),
    ] = None
    held_out_games: Annotated[
        int | None,
        typer.Option(
            help="Further games kept from the solver, to play on what was learned. "
            "[default: 50 with --imitate, 20 for psro, else 0]"
        ),
    ] = None
    iterations: Annotated[int | None, typer.Option(help="Of the solver. [default: 1000 for cfr, 4 for psro]")] = None
    variant: Annotated[str, typer.Option(help="cfr, cfr+, dcfr or pcfr+.")] = "cfr+"
    oracle: Annotated[str, typer.Option(help="psro: shotgun, better, trajectory or categorical.")] = "shotgun"
    meta: Annotated[str, typer.Option(help="psro: nash, replicator, welfare or bargaining.")] = "nash"
    candidates: Annotated[int, typer.Option(help="psro: new prompts that an oracle tries.")] = 3
    plays: Annotated[int, typer.Option(help="psro: plays of each profile of prompts.")] = 20
    swap_seats: Annotated[
        bool, typer.Option("--swap-seats", help="psro: let the speakers change seats, so that the game is symmetric.")
    ] = False
    imitate: Annotated[
        bool, typer.Option("--imitate", help="Train a network on the policies of all games; play it on held-out ones.")
    ] = False
    transfer: Annotated[
        str, typer.Option(help="Play that network on games of this other domain too; it needs the same manners.")
    ] = ""
    embed: Annotated[str, typer.Option(help="How texts are compared: words (hashed) or minilm (extra `embed`).")] = (
        "words"
    )
    seed: Annotated[int, typer.Option(help="Seed of the games and draws.")] = 0
    temperature: Annotated[float, typer.Option(help="Sampling temperature of the messages.")] = 0.7
    max_tokens: Annotated[int, typer.Option(help="Longest message, in tokens.")] = 200
    max_nodes: Annotated[int, typer.Option(help="Refuse trees with more nodes than this.", min=1)] = 500_000
    cut_short: Annotated[
        bool, typer.Option("--cut-short", help="Build as far as the budget goes instead of refusing to start.")
    ] = False


@expand_options
def steer(
    domain: Annotated[str, typer.Argument(help=f"{', '.join(domain_names())}, or a domain file (.toml).")],
    *,
    options: SteerOptions,
    run: RunOptions,
) -> None:
    """Let an equilibrium solver choose how a model speaks, and measure what that earns.

    Every text is asked for once and kept; the same command again makes no call.
    """
    iterations = options.iterations
    config = build_config(
        SteerConfig,
        options,
        domain=domain,
        fresh=_choose_fresh(options),
        held_out=_choose_held_out(options),
        iterations=iterations if iterations is not None else (1000 if options.solver == "cfr" else 4),
    )
    given: dict[str, Model] = {SIMULATED: SimulatedSpeaker(options.seed)}
    if not run.dry_run:
        _check_limits(config, options, run, given)
    run_and_show(SteerStudy(), config, run, given=given)


def _check_limits(config: SteerConfig, options: SteerOptions, run: RunOptions, given: dict[str, Model]) -> None:
    """Refuse a run that cannot be finished within the limits, before the first call."""
    limits = run.limits
    with open_models(config.models, run.output_dir, limits, given=given, on_download=DownloadProgress()) as opened:
        who = {name: model.identity for name, model in opened.models.items()}
        kept = MemoryAnswers(read_answers(answers_path(run.output_dir, config, who)))
        need = estimate(config, opened.models, kept)
        budget = Budget() if options.cut_short else limits.budget
        check_budget(need, budget, options.max_nodes, _price(config, opened, need.calls, need.tokens))


def _choose_fresh(options: SteerOptions) -> int:
    """Take as many draws as the user says; else some, except where texts never differ or nothing is held out."""
    if options.fresh is not None:
        return options.fresh
    if options.solver == "psro":
        return 0 if options.held_out_games == 0 else 1
    return 0 if options.temperature == 0 else 4


def _choose_held_out(options: SteerOptions) -> int:
    """Hold out as many games as the user says; else as many as the evaluation wants."""
    if options.held_out_games is not None:
        return options.held_out_games
    if options.solver == "psro":
        return 0 if options.fresh == 0 else 20
    return 50 if options.imitate else 0


def _price(config: SteerConfig, opened: OpenedModels, calls: int, tokens: int) -> float | None:
    replies = calls * config.max_tokens
    prices = [find_price(opened.models[name])(Usage(max(tokens - replies, 0), replies)) for name in config.models]
    known = [price for price in prices if price is not None]
    return max(known) if len(known) == len(prices) else None
