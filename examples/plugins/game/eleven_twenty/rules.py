"""Both ask for 11 to 20 and get it; who asks for exactly one less than the other gets 20 more.

A. Arad and A. Rubinstein, American Economic Review 102, 2012.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from bestresponse.core import Aim, Amount, GameEvent, GameRule, Over, Players, View


@dataclass(frozen=True)
class RequestRule(GameRule):
    """What a request pays."""

    message: ClassVar[str] = "request"
    low: int
    high: int
    bonus: int

    def pay(self, asked):
        return [own + self.bonus * (own == other - 1) for own, other in (asked, asked[::-1])]

    def find_owed(self, play):
        asked = [event.amount for event in play.history if isinstance(event, Requested)]
        return dict(zip(play.roles, map(Fraction, self.pay(asked)), strict=True))


@dataclass(frozen=True)
class Requested(GameEvent):
    """A player asked for this much."""

    message: ClassVar[str] = "requested"
    who: str
    amount: int


class ElevenTwenty:
    """Ask for 11 to 20; one less than the other asks for is worth 20 more."""

    name, version, roles = "eleven-twenty", 1, ("player 1", "player 2")
    rule = RequestRule(11, 20, 20)

    def start(self):
        return ()

    def asks(self, state):
        return {} if state else dict.fromkeys(self.roles, Amount(11, 20, whole=True))

    def view(self, state, role):
        history = (*map(Requested, self.roles, state), Over()) if state else ()
        return View(role, (Players(self.roles), self.rule, Aim()), history)

    def apply(self, state, moves):
        return tuple(int(moves[role]) for role in self.roles)

    def payoffs(self, state):
        paid = self.rule.pay(state) if state else (0, 0)
        return dict(zip(self.roles, map(float, paid), strict=True))
