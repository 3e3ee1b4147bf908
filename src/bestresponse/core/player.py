"""Whoever sits in a seat: a function from what it sees to a decision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from bestresponse.core.ask import Amount, Ask, Choice, Lottery, Mixture
from bestresponse.core.errors import Flaw
from bestresponse.core.game import Action, View
from bestresponse.core.json import JsonMapping


class Status(StrEnum):
    """How an answer came to be read. Only VALID and REPAIRED are answers."""

    VALID = "valid"
    REPAIRED = "repaired"
    REFUSED = Flaw.REFUSED.value
    TRUNCATED = Flaw.TRUNCATED.value
    UNPARSEABLE = Flaw.UNPARSEABLE.value
    ILLEGAL = Flaw.ILLEGAL.value

    @property
    def readable(self) -> bool:
        """Tell whether there is an answer."""
        return self in (Status.VALID, Status.REPAIRED)


@dataclass(frozen=True, slots=True)
class Reading:
    """How an answer was read: its status, and what was repaired or what is wrong with it."""

    status: Status = Status.VALID
    how: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model on the way to a decision, as plain data."""

    model: str
    request: JsonMapping
    reply: JsonMapping


@dataclass(frozen=True, slots=True)
class Decision:
    """An action, the reasoning that led to it, and how it was read.

    `action` is None where no answer could be read. Where a study's policy put an action in place of
    an unreadable answer, `action` is that action, `reading` still tells what was wrong, and
    `stand_in` names the policy. `remarks` hold, as plain data, what a wrapper found on the way,
    such as a review of every reasoning.
    """

    action: Action
    reasoning: str = ""
    reading: Reading = Reading()
    calls: tuple[Call, ...] = ()
    stand_in: str = ""
    remarks: tuple[JsonMapping, ...] = ()


FORCED = Reading(how="forced")
"""How an answer was read that nobody was asked for, because no other is legal."""


def find_forced(ask: Ask) -> Decision | None:
    """Return the answer to an ask that has only one; None where there is a choice.

    >>> find_forced(Choice(("pass",))).action, find_forced(Choice(("pass", "bet")))
    ('pass', None)
    """
    match ask:
        case Choice((only,), may_pass=False):
            return Decision(only, reading=FORCED)
        case Mixture((_,)):
            return Decision((1.0,), reading=FORCED)
        case Amount(low, high, may_pass=False) if low == high:
            return Decision(low, reading=FORCED)
        case _:
            return None


class Player(Protocol):
    """A player is a function of its view.

    There is nothing to clone or reset, and no way to peek at anybody else.

    One that answers without looking may say so by an attribute `blind = True`; it is then given an
    empty view.
    """

    @property
    def name(self) -> str:
        """The player's name in records."""

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""


Chances = Callable[[View, Ask], Mapping[str, float] | None]
"""How likely each answer of somebody is; None where nobody can say."""


@runtime_checkable
class Drawing(Protocol):
    """A player who draws answers with chances that are known."""

    @property
    def find_chances(self) -> Chances:
        """Say how likely each answer is."""


@dataclass(frozen=True, slots=True)
class Nature:
    """Draws lotteries; a draw depends on the seed, the number of moves and what nature sees."""

    seed: int
    name: str = "nature"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Draw one outcome of the lottery."""
        if not isinstance(ask, Lottery):
            raise TypeError(f"nature only draws lotteries, not {ask!r}")
        outcomes, weights = zip(*ask.chances, strict=True)
        return Decision(view.draw(self.seed).choices(outcomes, weights)[0])
