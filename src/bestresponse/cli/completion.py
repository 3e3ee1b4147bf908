"""Which values a shell offers for an argument or option: games, models, strategies.

Names alone are read, so that a key press waits for no model and no game to be loaded.
"""

from collections.abc import Callable, Iterable

from bestresponse.core import registry
from bestresponse.formal.strategies.programs import PUBLISHED
from bestresponse.games.dialogue.domain import domain_names
from bestresponse.models.providers.weights import WEIGHTS
from bestresponse.models.registry import KEYS, providers
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names
from bestresponse.theory.repeated.automaton import classic_strategies


def offer_names(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the function that lists those of the names which begin as what was typed."""

    def complete(incomplete: str) -> list[str]:
        return sorted({name for name in names if name.startswith(incomplete)})

    return complete


def complete_game(incomplete: str) -> list[str]:
    """List the games whose name begins so."""
    return offer_names((*catalogue.names(), *tree_names(), *registry.games.names()))(incomplete)


def complete_model(incomplete: str) -> list[str]:
    """List the models, and the providers up to the slash, whose name begins so."""
    return offer_names((*WEIGHTS, *(f"{name}/" for name in (*KEYS, *providers.names()))))(incomplete)


def complete_strategy(incomplete: str) -> list[str]:
    """List the strategies and models whose name begins so."""
    strategies = (*registry.players.names(), *PUBLISHED, *(strategy.name for strategy in classic_strategies()))
    return offer_names(strategies)(incomplete) + complete_model(incomplete)


COMPLETIONS: dict[str, Callable[[str], list[str]]] = {
    "game": complete_game,
    "model": complete_model,
    "translator": complete_model,
    "domain": offer_names(domain_names()),
    "entries": complete_strategy,
    "others": complete_strategy,
}
"""What is offered for the settings of these names, whatever the study."""
