"""What is told when a game is over: payoffs first, then what the equilibrium would have been."""

from __future__ import annotations

from functools import lru_cache

from bestresponse.core.errors import BestResponseError
from bestresponse.games.repeated import RepeatedGame
from bestresponse.report.document import Block, Note
from bestresponse.studies.solving.document import as_document
from bestresponse.studies.solving.solve import solve_found
from bestresponse.web.games import found_of, game_of
from bestresponse.web.setup import GameChoice

__all__ = ["equilibria"]


@lru_cache(maxsize=64)
def equilibria(choice: GameChoice) -> tuple[Block, ...]:
    """The equilibria of the game as blocks of a document, or a note why there are none to show."""
    game = game_of(choice)
    found = found_of(game)
    if found is None:
        return (Note("This game has no payoff table and no small tree; its equilibrium is not worked out here."),)
    try:
        document = as_document(found, solve_found(found))
    except BestResponseError as error:
        return (Note(f"The equilibrium could not be worked out: {error}."),)
    blocks = tuple(block for section in document.sections if section.title == "Equilibria" for block in section.blocks)
    if isinstance(game, RepeatedGame):
        return (Note("Of a single round; playing it in every round is an equilibrium of the whole game."), *blocks)
    return blocks
