"""Whether a setup fits its game: as many seats as roles, strategies that play it, and a referee where one is needed."""

from __future__ import annotations

from collections.abc import Iterable

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.games.capabilities import HasSpeakers
from bestresponse.games.dialogue.deals import Trade, Verdict
from bestresponse.players.lookup import SIMULATED, check_strategy
from bestresponse.web.sessions.games import make_game
from bestresponse.web.sessions.setup import Setup

__all__ = ["RULE", "check_setup", "list_models", "list_referees"]

RULE = "rule"
"""The referee that reads the agreement from the last messages by a rule."""
_SIMULATED = f"strategy:{SIMULATED}"


def check_setup(setup: Setup) -> None:
    """Raise a UsageError where the setup does not fit its game."""
    game = make_game(setup.game)
    if repeated := [role for number, role in enumerate(game.roles) if role in game.roles[:number]]:
        raise UsageError(f"two roles are named {repeated[0]!r}; give each a name of its own")
    if len(setup.seats) != len(game.roles):
        who = ", ".join(game.roles)
        raise UsageError(f"{game.name} has {len(game.roles)} seats ({who}), not {len(setup.seats)}")
    for seat in setup.seats:
        if seat.startswith("strategy:"):
            check_strategy(seat.removeprefix("strategy:"), game)
    if isinstance(game, HasSpeakers):
        _check_referee(setup, game)
        return
    if setup.referee:
        raise UsageError(f"{game.name} has no referee; leave it out")
    check_strategy(setup.stand_in, game)


def _check_referee(setup: Setup, game: HasSpeakers) -> None:
    name = game.domain.name
    if setup.referee not in (RULE, _SIMULATED) and not setup.referee.startswith("model:"):
        raise UsageError(f"a dialogue needs a referee: {RULE!r} or 'model:NAME', not {setup.referee!r}")
    if setup.referee == RULE and not _has_rule(game):
        raise UsageError(f"no rule reads what was agreed in the domain {name}; expected a referee 'model:NAME'")


def _has_rule(game: HasSpeakers) -> bool:
    """Tell whether the last messages can say by themselves what was agreed."""
    return not isinstance(game.domain.deal, Trade | Verdict)


def list_models(setup: Setup) -> list[str]:
    """List the models that the setup names."""
    named = (*setup.seats, setup.referee)
    return list(dict.fromkeys(one.removeprefix("model:") for one in named if one.startswith("model:")))


def list_referees(game: AnyGame, models: Iterable[str]) -> list[str]:
    """List who can rule in the game; nobody where it needs no referee."""
    if not isinstance(game, HasSpeakers):
        return []
    ruled = [RULE] if _has_rule(game) else []
    return [*ruled, *(f"model:{name}" for name in models), _SIMULATED]
