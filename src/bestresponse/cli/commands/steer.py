"""`bestresponse steer`: dialogue guided by an equilibrium."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestresponse.cli.options import AsJson, BudgetCalls, BudgetMoney, BudgetTokens, CacheChoice, OutputDir, Workers

if TYPE_CHECKING:
    from bestresponse.cli.models_open import Limits, Opened
    from bestresponse.games.dialogue.domain import Domain
    from bestresponse.runs.execute import Outcome, Progress
    from bestresponse.runs.folder import RunFolder
    from bestresponse.studies.steer.answers import BookFolder
    from bestresponse.studies.steer.config import SteerConfig
    from bestresponse.studies.steer.session import Steered

__all__ = ["steer"]

SIMULATED = "simulated"


def steer(
    domain: Annotated[str, typer.Argument(help="meeting, fruit, debate, email, or a domain file (.toml).")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="The model that speaks; `simulated` needs none.")
    ] = SIMULATED,
    judge: Annotated[str, typer.Option(help="The model that rules. [default: the speaker]")] = "",
    scenarios_by: Annotated[
        str, typer.Option(help="A model that writes the games from examples. [default: the seed draws them]")
    ] = "",
    solver: Annotated[str, typer.Option(help="cfr (solve the tree) or psro (search for better prompts).")] = "cfr",
    games: Annotated[int, typer.Option(help="Number of games drawn from the domain.")] = 1,
    replies: Annotated[int, typer.Option(help="Messages of each speaker.")] = 1,
    wordings: Annotated[int, typer.Option(help="Recorded texts of each choice.")] = 1,
    types: Annotated[int, typer.Option(help="Equally likely draws of private information in each game.")] = 1,
    actions: Annotated[str, typer.Option(help="Which of the domain's sets of actions. [default: the first]")] = "",
    payoffs: Annotated[
        str, typer.Option(help="deal (a referee reads what was agreed) or score (a model says what it is worth).")
    ] = "deal",
    second: Annotated[
        str, typer.Option(help="deal or score: rule in this way too, and report how far both agree.")
    ] = "",
    second_judge: Annotated[str, typer.Option(help="The model of the second ruling. [default: the judge]")] = "",
    early_end: Annotated[bool, typer.Option("--early-end", help="Let the referee end a talk once all agree.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Let a classifier tell in which manner each message was written.")
    ] = False,
    classifier: Annotated[
        str,
        typer.Option(
            help="A model for --follow, or words or minilm: a network trained on other games. [default: the judge]"
        ),
    ] = "",
    fresh: Annotated[
        int | None,
        typer.Option(
            help="Draws of fresh texts to play guided against unguided on, in each game (psro: in each held-out one). "
            "[default: 4 for cfr, 1 for psro]"
        ),
    ] = None,
    held_out_games: Annotated[
        int | None,
        typer.Option(
            help="Further games kept from the solver, to play on what was learned. "
            "[default: 50 with --imitate, 20 for psro, else 0]"
        ),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Of the solver. [default: 1000 for cfr, 4 for psro]")] = None,
    variant: Annotated[str, typer.Option(help="cfr, cfr+, dcfr or pcfr+.")] = "cfr+",
    oracle: Annotated[str, typer.Option(help="psro: shotgun, better, trajectory or categorical.")] = "shotgun",
    meta: Annotated[str, typer.Option(help="psro: nash, replicator, welfare or bargaining.")] = "nash",
    candidates: Annotated[int, typer.Option(help="psro: new prompts that an oracle tries.")] = 3,
    plays: Annotated[int, typer.Option(help="psro: plays of each profile of prompts.")] = 20,
    swap_seats: Annotated[
        bool, typer.Option("--swap-seats", help="psro: let the speakers change seats, so that the game is symmetric.")
    ] = False,
    imitate: Annotated[
        bool, typer.Option("--imitate", help="Train a network on the policies of all games; play it on held-out ones.")
    ] = False,
    embed: Annotated[
        str, typer.Option(help="How texts are compared: words (hashed) or minilm (extra `embed`).")
    ] = "words",
    seed: Annotated[int, typer.Option(help="Seed of the games and draws.")] = 0,
    temperature: Annotated[float, typer.Option(help="Sampling temperature of the messages.")] = 0.7,
    max_tokens: Annotated[int, typer.Option(help="Longest message, in tokens.")] = 200,
    output_dir: OutputDir = Path("results"),
    workers: Workers = None,
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_tokens_total: BudgetTokens = None,
    max_cost: BudgetMoney = None,
    max_nodes: Annotated[int, typer.Option(help="Refuse trees with more nodes than this.", min=1)] = 500_000,
    cut_short: Annotated[
        bool, typer.Option("--cut-short", help="Build as far as the budget goes instead of refusing to start.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be asked, and stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let an equilibrium solver choose how a model speaks, and measure what that earns.

    Every text is asked for once and kept; the same command again makes no call.
    """
    from bestresponse.cli.models_open import Limits
    from bestresponse.games.dialogue.domain import load_domain
    from bestresponse.studies.steer.config import SteerConfig

    config = SteerConfig(
        domain=domain,
        model=model,
        judge=judge,
        scenarios_by=scenarios_by,
        second=second,
        second_judge=second_judge,
        solver=solver,
        games=games,
        seed=seed,
        replies=replies,
        wordings=wordings,
        types=types,
        actions=actions,
        payoffs=payoffs,
        early_end=early_end,
        follow=follow,
        classifier=classifier,
        fresh=_fresh(fresh, solver, temperature, held_out_games),
        held_out=_held_out(held_out_games, imitate, solver, fresh),
        iterations=iterations if iterations is not None else (1000 if solver == "cfr" else 4),
        variant=variant,  # type: ignore[arg-type]
        oracle=oracle,
        meta=meta,
        candidates=candidates,
        plays=plays,
        swap_seats=swap_seats,
        temperature=temperature,
        max_tokens=max_tokens,
        imitate=imitate,
        embed=embed,
    )
    loaded = load_domain(domain)
    limits = Limits(workers, cache, max_calls, max_tokens_total, max_cost)
    with _opened(config, output_dir, limits) as table:
        _run(config, loaded, table, output_dir, limits, _Wishes(max_nodes, cut_short, dry_run, as_json))


def _fresh(given: int | None, solver: str, temperature: float, held_out: int | None) -> int:
    """As many draws as the user says; else some, except where texts never differ or nothing is held out."""
    if given is not None:
        return given
    if solver == "psro":
        return 0 if held_out == 0 else 1
    return 0 if temperature == 0 else 4


def _held_out(given: int | None, imitate: bool, solver: str, fresh: int | None) -> int:
    """As many games as the user says; else as many as the evaluation wants."""
    if given is not None:
        return given
    if solver == "psro":
        return 0 if fresh == 0 else 20
    return 50 if imitate else 0


class _Wishes:
    """What the user wants besides the study itself."""

    def __init__(self, max_nodes: int, cut_short: bool, dry_run: bool, as_json: bool) -> None:
        self.max_nodes, self.cut_short, self.dry_run, self.as_json = max_nodes, cut_short, dry_run, as_json


@contextmanager
def _opened(config: SteerConfig, output_dir: Path, limits: Limits) -> Iterator[Opened]:
    """The models by name; the simulated speaker needs no opening but counts calls like any other."""
    from bestresponse.cli.models_open import Opened, opened_models
    from bestresponse.models.wrappers.assemble import assemble
    from bestresponse.models.wrappers.meter import Budget, Meter
    from bestresponse.players.dialogue.simulated import SimulatedSpeaker

    real = tuple(name for name in config.models if name != SIMULATED)
    if not real:
        meter = Meter(Budget(limits.calls, limits.tokens, None))
        yield Opened({SIMULATED: assemble(SimulatedSpeaker(config.seed), meter=meter)}, limits.workers or 1, meter)
        return
    with opened_models(real, output_dir, limits) as table:
        if SIMULATED not in config.models:
            yield table
            return
        both = {**table.models, SIMULATED: assemble(SimulatedSpeaker(config.seed), meter=table.meter)}
        yield replace(table, models=both)


def _run(config: SteerConfig, domain: Domain, table: Opened, output_dir: Path, limits: Limits, wishes: _Wishes) -> None:
    from bestresponse.cli.invocation import occasion
    from bestresponse.cli.running import play_run
    from bestresponse.studies.steer import session
    from bestresponse.studies.steer.answers import BookFolder, book_path

    who = {name: model.identity for name, model in table.models.items()}
    with BookFolder(book_path(output_dir, config, domain, who)) as kept:
        _announce(config, domain, table, kept, limits, wishes)
        if wishes.dry_run:
            return
        found: list[Steered] = []

        def run(folder: RunFolder, tell: Callable[[Progress], None]) -> Outcome:
            folder.write_text("domain.toml", session.domain_source(config.domain))
            models = kept.heard(table.models)
            steered, outcome = session.run(config, domain, models, kept, workers=table.workers, on_progress=tell)
            found.append(steered)
            return outcome

        manifest = session.manifest_of(config, domain, table.models, occasion())
        folder, outcome = play_run(manifest, output_dir, *session.steps(config), run)
    _publish(folder, found[0], outcome, table.meter.ledger.calls, wishes.as_json)


def _announce(
    config: SteerConfig, domain: Domain, table: Opened, kept: BookFolder, limits: Limits, wishes: _Wishes
) -> None:
    """What it will take at most, and a refusal where that is more than allowed, before anything is asked."""
    from bestresponse.cli.terminal import counted
    from bestresponse.models.wrappers.meter import Budget
    from bestresponse.studies.steer.estimate import check_budget, needed

    need = needed(config, domain, table.models, kept)
    line = f"{counted(config.games, 'game')}, at most {need.calls:,} calls, {need.tokens:,} tokens"
    line += f", {need.nodes:,} nodes a tree" if config.solver == "cfr" else ""
    print(line, file=sys.stdout if wishes.dry_run else sys.stderr, flush=True)
    budget = Budget() if wishes.cut_short else Budget(limits.calls, limits.tokens, limits.money)
    check_budget(need, budget, wishes.max_nodes, _price(config, table, need.calls, need.tokens))


def _price(config: SteerConfig, table: Opened, calls: int, tokens: int) -> float | None:
    from bestresponse.models.base import Usage
    from bestresponse.models.prices import find_price

    replies = calls * config.max_tokens
    prices = [find_price(table.models[name])(Usage(max(tokens - replies, 0), replies)) for name in config.models]
    known = [price for price in prices if price is not None]
    return max(known) if len(known) == len(prices) else None


def _publish(folder: RunFolder, steered: Steered, outcome: Outcome, calls: int, as_json: bool) -> None:
    """Report, files and the figures on the screen; exit code 1 where something is missing."""
    from bestresponse.cli.commands.steer_files import write_files
    from bestresponse.cli.running import explain, show_findings

    document, files, summary = write_files(folder, steered, calls)
    show_findings(document, files, summary, as_json=as_json)
    explain(outcome)
    for one in steered.games:
        if one.solved is None:
            print(f"bestresponse: game {one.number} is void: {one.why_void}", file=sys.stderr)
    if not outcome.complete or (not steered.solved and steered.psro is None):
        raise typer.Exit(1)
