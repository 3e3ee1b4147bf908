"""`bestresponse simulate GAME`: any game, its seats filled by anybody, many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from bestresponse.cli.options import build_config, expand_options
from bestresponse.cli.run_options import AgentOptions, SharedRunOptions
from bestresponse.cli.running import run_and_show
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.games.named_game import NamedGame
from bestresponse.players.llm.persona import read_personas
from bestresponse.players.lookup import choose_default
from bestresponse.studies.simulate.config import SimulateConfig, usual_policy
from bestresponse.studies.simulate.study import SimulateStudy

__all__ = ["game"]


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """Say who sits where."""

    seat: Annotated[
        list[str] | None,
        typer.Option(
            help="ROLE=PLAYER: a model, verified:MODEL (its reasoning is checked), random, equilibrium, always:MOVE, a "
            "bidder or baseline; may be repeated."
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Takes the seats that are not named; with --others only the first of them."),
    ] = None
    others: Annotated[
        str | None, typer.Option(help="Who takes the other seats. [default: the model, or what suits the game]")
    ] = None
    rounds: Annotated[
        int, typer.Option(help="Rounds of a game with a payoff table; with --continuation the most there are.")
    ] = 1
    continuation: Annotated[float, typer.Option(help="Probability of another round after each.")] = 1.0
    discount: Annotated[float, typer.Option(help="What a payoff counts one round later.")] = 1.0
    noise: Annotated[float, typer.Option(help="Probability that another move is made than was meant.")] = 0.0
    referee: Annotated[
        str, typer.Option(help="Who says what was agreed in a dialogue: a model, or simulated. [default: the first]")
    ] = ""
    on_failure: Annotated[
        str | None,
        typer.Option(
            help="A seat without a usable answer: abstain or void. [default: abstain where the game lets pass]"
        ),
    ] = None


@expand_options
def game(
    game: Annotated[
        str,
        typer.Argument(
            help="A game (see `bestresponse games`), a .nfg, .efg, .json or .pl file, or a domain of `steer`.",
            metavar="GAME",
        ),
    ],
    *,
    options: GameOptions,
    agents: AgentOptions,
    run: SharedRunOptions,
) -> None:
    """Play any game many times and report payoffs, moves, regret and welfare beside what theory says.

    The word `game` may be left out: `bestresponse simulate stag-hunt --model M`. The same command again goes on where
    it was stopped and plays only what is missing.
    """
    source = NamedGame.find(game)
    rules = source.game()
    config = build_config(
        SimulateConfig,
        agents,
        game=source,
        seats=_assign_seats(rules, options.seat or [], options.model, options.others),
        personas=read_personas(agents.persona_file) if agents.persona_file else {},
        policy=options.on_failure or usual_policy(rules),
        rounds=options.rounds,
        continuation=options.continuation,
        discount=options.discount,
        noise=options.noise,
        referee=options.referee,
    )
    run_and_show(SimulateStudy(), config, run, tables=2)


def _assign_seats(
    game: AnyGame, given: list[str], model: str | None, others: str | None
) -> tuple[tuple[str, str], ...]:
    """Seat the named players, then the model, then the others."""
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
