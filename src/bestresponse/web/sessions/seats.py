"""Who fills the seats that no person takes: strategies by name, models, nature, and stand-ins."""

from __future__ import annotations

from bestresponse.core.ask import Ask, Words
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE, Action, AnyGame, Role, View
from bestresponse.core.player import Nature, Player
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.players.lookup import OpenModel, check_strategy, find_strategy, seat_model
from bestresponse.web.sessions.checking import RULE
from bestresponse.web.sessions.referee import LastNamed

__all__ = ["OpenModel", "answer_in_place", "make_seat"]

NO_WORDS = "(no message)"


def make_seat(seat: str, game: AnyGame, role: Role, seed: int, open_model: OpenModel) -> Player:
    """Make the player that the words `strategy:NAME` or `model:NAME` put into the seat of `role`, or nature."""
    if role == NATURE:
        return Nature(seed)
    if role == REFEREE and seat == RULE and isinstance(game, HasSpeakers):
        return LastNamed(game.domain.deal)
    kind, _, name = seat.partition(":")
    if kind == "model":
        return seat_model(name, open_model(name), game, role, seed)
    check_strategy(name, game)
    player = find_strategy(name, game, role, seed)
    if player is None:
        raise UsageError(f"the strategy {name} does not play {role} in {game.name}")
    return player


def answer_in_place(name: str, game: AnyGame, view: View, ask: Ask, seed: int) -> Action:
    """Answer for `view.role` as the strategy `name` does; words are not put into anybody's mouth."""
    if isinstance(ask, Words):
        return NO_WORDS
    player = find_strategy(name, game, view.role, seed)
    if player is None:
        raise UsageError(f"{name} is no strategy, so it stands in for nobody")
    return player.decide(view, ask).action
