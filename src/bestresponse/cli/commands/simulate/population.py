"""`bestresponse simulate population GAME`: agents who are matched at random and imitate or reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from bestresponse.cli.options import build_config, expand_options
from bestresponse.cli.run_options import AgentOptions, SharedRunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.core.errors import UsageError
from bestresponse.games.named_game import NamedGame
from bestresponse.players.lookup import check_strategy
from bestresponse.players.strategies.fixed import ALWAYS
from bestresponse.studies.population.config import PopulationConfig, list_moves
from bestresponse.studies.population.study import PopulationStudy
from bestresponse.studies.simulate.config import make_repeated

__all__ = ["population"]


@dataclass(frozen=True, kw_only=True)
class PopulationOptions:
    """Say what agents can be and how they revise."""

    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="What an agent can be: always:MOVE, tit-for-tat, any player of `simulate`; may be repeated. "
            "[default: every move of the game]"
        ),
    ] = None
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="A model that agents can be; may be repeated.")
    ] = None
    rule: Annotated[str, typer.Option(help="How agents revise: imitation, best-reply or logit.")] = "imitation"
    agents: Annotated[int, typer.Option(help="Agents of each population.")] = 100
    generations: Annotated[int, typer.Option(help="How often all are matched.")] = 200
    revise: Annotated[float, typer.Option(help="Probability that an agent revises in a generation.")] = 0.2
    precision: Annotated[float, typer.Option(help="Of logit choice: how much a unit of payoff counts.")] = 1.0
    repetitions: Annotated[int, typer.Option(help="How often the population starts anew.")] = 30
    start: Annotated[
        list[str] | None, typer.Option(help="STRATEGY=SHARE at the start; may be repeated. [default: equal shares]")
    ] = None
    rounds: Annotated[int, typer.Option(help="Rounds of a match; with --continuation the most there are.")] = 1
    continuation: Annotated[float, typer.Option(help="Probability of another round after each.")] = 1.0
    discount: Annotated[float, typer.Option(help="What a payoff counts one round later.")] = 1.0
    noise: Annotated[float, typer.Option(help="Probability that another move is made than was meant.")] = 0.0


@expand_options
def population(
    game: Annotated[
        str,
        typer.Argument(help="A game of two with a payoff table: see `bestresponse games`, or a file.", metavar="GAME"),
    ],
    *,
    options: PopulationOptions,
    agents: AgentOptions,
    run: SharedRunOptions,
) -> None:
    """Let agents be matched, imitate or reply, and report which strategies and models spread, beside theory.

    Every pair of strategies plays --repeats matches; agents then earn what these matches earned, so a larger population
    costs no further call. The same command again plays only what is missing.
    """
    if agents.persona_file is not None:
        raise UsageError("--persona-file: the agents of a population have no personas; use `simulate GAME`")
    source = NamedGame.find(game)
    for name in options.strategy or []:
        if "/" not in name and not name.startswith(ALWAYS):
            check_strategy(name, make_repeated(source, options.rounds, options.continuation, options.discount))
    named = tuple(dict.fromkeys([*(options.strategy or []), *(options.model or [])]))
    strategies = named if options.strategy else (*list_moves(source), *named)
    config = build_config(
        PopulationConfig,
        agents,
        options,
        game=source,
        strategies=strategies,
        start=_read_start(options.start or [], strategies),
    )
    run_and_show(PopulationStudy(), config, run, tables=2)


def _read_start(given: Sequence[str], strategies: tuple[str, ...]) -> tuple[float, ...]:
    """Read the shares that were named; the other strategies start with none."""
    shares: dict[str, float] = {}
    for words in given:
        name, equals, share = words.rpartition("=")
        try:
            shares[name] = float(share)
        except ValueError:
            equals = ""
        if not equals or name not in strategies:
            raise UsageError(f"--start {words!r}: expected STRATEGY=SHARE with one of {', '.join(strategies)}")
    return tuple(shares.get(one, 0.0) for one in strategies) if shares else ()
