"""Talk: before the game all announce something at the same time, and nothing follows from it.

Definition: each player chooses one message from a list, and all read all messages before they move.
Messages change no payoff, so every equilibrium of the game stays one if nobody listens; players who
draw lots together by their messages have more of them.

J. Farrell, M. Rabin, "Cheap talk", Journal of Economic Perspectives 10, 1996.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core.ask import Choice
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Game, Role, S
from bestresponse.core.told import Event, GameEvent, GameRule
from bestresponse.games.capabilities import HasNormalForm
from bestresponse.games.mechanisms.stages import StagedGame, Step


@dataclass(frozen=True, slots=True)
class AnnounceRule(GameRule):
    """That something is announced before the game."""

    message = "talk"


@dataclass(frozen=True, slots=True)
class Announced(GameEvent):
    """A player announced this."""

    message = "announced"
    who: str
    words: str


@dataclass(frozen=True, eq=False)
class TalkGame(StagedGame):
    """`within` after everybody announced one of `messages`, which are listed by seat."""

    messages: tuple[tuple[str, ...], ...]

    def ask_stage(self, said: tuple[Step, ...]) -> Mapping[Role, Choice]:
        """Ask everybody for an announcement, once."""
        asked = zip(self.roles, map(Choice, self.messages), strict=True)
        return {} if said else dict(asked)

    def tell_answer(self, who: Role, answer: str) -> Event:
        """Tell what somebody announced."""
        return Announced(who, answer)


def with_talk(game: Game[S], messages: str = "") -> TalkGame:
    """Return `game` with an announcement of everybody before it.

    `messages` are divided by semicolons. By default everybody announces one of the own moves, where
    all choose once and at the same time.

    >>> from bestresponse.games.lookup import find_game
    >>> game = with_talk(find_game("stag-hunt").playable())
    >>> game.asks(game.start())["row"].options
    ('stag', 'hare')
    """
    if len(game.roles) < 2:
        raise UsageError(f"talk is between two or more; {game.name} has one player")
    words = map(str.strip, messages.split(";"))
    listed = tuple(dict.fromkeys(filter(None, words)))
    if len(listed) == 1:
        raise UsageError(f"talk needs two messages to choose from or more, got {listed[0]!r}")
    if not listed and not isinstance(game, HasNormalForm):
        raise UsageError(
            f"what can be announced before {game.name}? Name the messages, as in"
            " talk(messages=yes;no)"
        )
    own = game.normal_form.actions if isinstance(game, HasNormalForm) else ()
    chosen = (listed,) * len(game.roles) if listed else own
    return TalkGame(game, f"{game.name} with talk", AnnounceRule(), chosen)
