"""Options that several commands share, and which values a shell offers for them: games, models,
strategies.

Names alone are read, so that a key press waits for no model and no game to be loaded. What lists
them is imported at a key press only: every command imports this module.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.core import registry
from bestresponse.core.errors import SettingError
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names

OutputDir = Annotated[Path, typer.Option(help="Folder for runs, reports and cached replies.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_pairs(option: str, typed: Iterable[str]) -> dict[str, str]:
    """Read pairs that were typed for an option.

    >>> read_pairs("set", ["depth=3"])
    {'depth': '3'}
    """
    pairs: dict[str, str] = {}
    for words in typed:
        name, equals, value = words.partition("=")
        if not equals or not name or not value:
            raise SettingError(option, f"expected NAME=VALUE, got {words!r}")
        if name in pairs:
            raise SettingError(option, f"{name} is given twice, as {pairs[name]} and as {value}")
        pairs[name] = value
    return pairs


def offer_names(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the function that lists those of the names which begin as what was typed."""
    return lambda incomplete: sorted({name for name in names if name.startswith(incomplete)})


def complete_game(incomplete: str) -> list[str]:
    """List the games whose name begins so."""
    return offer_names((*catalogue.names(), *tree_names(), *registry.games.names()))(incomplete)


def complete_model(incomplete: str) -> list[str]:
    """List the models, and the providers up to the slash, whose name begins so."""
    from bestresponse.models.providers.weights import WEIGHTS
    from bestresponse.models.registry import KEYS, providers

    return offer_names((*WEIGHTS, *(f"{name}/" for name in (*KEYS, *providers.names()))))(
        incomplete
    )


def complete_domain(incomplete: str) -> list[str]:
    """List the dialogues whose name begins so."""
    from bestresponse.games.dialogue.domain import domain_names

    return offer_names(domain_names())(incomplete)


def complete_strategy(incomplete: str) -> list[str]:
    """List the strategies and models whose name begins so."""
    from bestresponse.formal.strategies.programs import PUBLISHED
    from bestresponse.theory.repeated.automaton import classic_strategies

    strategies = (
        *registry.players.names(),
        *PUBLISHED,
        *(strategy.name for strategy in classic_strategies()),
    )
    return offer_names(strategies)(incomplete) + complete_model(incomplete)


COMPLETIONS: dict[str, Callable[[str], list[str]]] = {
    "game": complete_game,
    "games": complete_game,
    "model": complete_model,
    "translator": complete_model,
    "domain": complete_domain,
    "entries": complete_strategy,
    "others": complete_strategy,
}
"""What is offered for the settings of these names, whatever the study."""
