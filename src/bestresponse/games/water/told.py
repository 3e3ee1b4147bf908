"""What is told of a drought: its rules, and what happens on every day.

A day that is over is told line by line, everybody's bid and how everybody is doing then; on the
present day the reader stands last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core.agreement import Disagreement, ToldPlay, find_rule, hold_equal
from bestresponse.core.game import Role
from bestresponse.core.told import Event, GameEvent, GameRule, Statement, split_rounds
from bestresponse.telling.course import Narrator


@dataclass(frozen=True, slots=True)
class DroughtRule(GameRule):
    """Residents want to be alive when a drought of so many days ends."""

    message = "drought"
    days: int

    def tell(self, words: Narrator) -> str:
        """Tell of one day or of several."""
        return words.fill(self, _count(self.days))


@dataclass(frozen=True, slots=True)
class HealthRule(GameRule):
    """Everybody begins with `start` points of health.

    Water adds `gain`, up to `most`; the n-th dry day in a row takes n times `thirst`.
    """

    message = "health"
    start: Fraction
    most: Fraction
    gain: Fraction
    thirst: Fraction

    def tell(self, words: Narrator) -> str:
        """Tell also what the second dry day takes."""
        return words.fill(self, twice=words.language.write_number(2 * self.thirst))

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction]:
        """Return 1 for everybody whom the rules keep alive, given the bids that were made."""
        health = dict.fromkeys(play.roles, self.start)
        dry_days = dict.fromkeys(play.roles, 0)
        for day in split_rounds(play.history)[1]:
            served = _find_served(play.rules, day.events)
            for event in day.events:
                if isinstance(event, WaterBid) and event.who in served:
                    health[event.who] = min(health[event.who] + self.gain, self.most)
                    dry_days[event.who] = 0
                elif isinstance(event, WaterBid | NoWaterBid):
                    dry_days[event.who] += 1
                    health[event.who] -= dry_days[event.who] * self.thirst
                elif isinstance(event, ResidentState):
                    where = f"of {event.who} on day {day.number}"
                    hold_equal(health[event.who], float(event.health), f"the health {where}")
                    hold_equal(
                        Fraction(dry_days[event.who]), event.dry_days, f"the dry days {where}"
                    )
                elif isinstance(event, ResidentOut) and health[event.who] > 0:
                    raise Disagreement(
                        f"{event.who} is out on day {day.number}, but not by the rules"
                    )
        return {role: Fraction(health[role] > 0) for role in play.roles}


@dataclass(frozen=True, slots=True)
class ResidentNeed:
    """How much water a resident needs per day, and the salary per day."""

    who: str
    need: Fraction
    salary: Fraction


@dataclass(frozen=True, slots=True)
class NeedsRule(GameRule):
    """Who needs how much water; money is paid every morning and kept."""

    message = "needs"
    residents: tuple[ResidentNeed, ...]

    def tell(self, words: Narrator) -> str:
        """Tell it with a line for each resident."""
        return "\n".join(
            (words.fill(self), *(self._tell_need(one, words) for one in self.residents))
        )

    def _tell_need(self, resident: ResidentNeed, words: Narrator) -> str:
        return words.fill(
            self,
            f".one{_count(resident.need)}",
            resident=words.language.write_name(resident.who),
            need=words.language.write_number(resident.need),
            salary=_write_money(resident.salary, words),
        )


@dataclass(frozen=True, slots=True)
class SupplyRule(GameRule):
    """The water of a day is drawn from `low` to `high` units, each amount equally likely."""

    message = "supply"
    low: int
    high: int

    def tell(self, words: Narrator) -> str:
        """Tell a supply that is always the same as such."""
        variant = f".fixed{_count(self.low)}" if self.low == self.high else ""
        return words.fill(self, variant)


@dataclass(frozen=True, slots=True)
class WaterAuctionRule(GameRule):
    """The daily auction, in which the highest bid is served first.

    Ties go to the lower need, then to the earlier place among `order`.
    """

    message = "auction"
    order: tuple[str, ...]


class DayEvent(GameEvent):
    """Something that happens on a day."""

    __slots__ = ()

    @classmethod
    def tell_past(cls, number: int, events: Sequence[Event], words: Narrator) -> str:
        """Tell a day that is over."""
        lines: list[str] = []
        for event in events:
            match event:
                case WaterFound(units):
                    lines.append(words.fill(event, f".past{_count(units)}", number=number))
                case WaterBid() | NoWaterBid():
                    lines.append(words.tell(event))
                case ResidentState() | ResidentOut():
                    lines[-1] += f" {event.tell_past_state(words)}"
        return "\n".join(lines)

    @classmethod
    def tell_now(cls, events: Sequence[Event], words: Narrator) -> str:
        """Tell how everybody is doing before the bids of a day, the reader last."""
        head: list[str] = []
        lines: list[str] = []
        own: list[str] = []
        for event in events:
            match event:
                case SalariesPaid() | WaterFound():
                    head.append(words.tell(event))
                case ResidentState() | ResidentOut():
                    (own if event.who == words.reader else lines).append(words.tell(event))
        return "\n".join((" ".join(head), *lines, *own))


@dataclass(frozen=True, slots=True)
class SalariesPaid(DayEvent):
    """The morning of a day, of so many days in all."""

    message = "salaries"
    day: int
    days: int


@dataclass(frozen=True, slots=True)
class WaterFound(DayEvent):
    """So many units of water there are on a day."""

    message = "found"
    units: int

    def tell(self, words: Narrator) -> str:
        """Tell it on the day itself."""
        return words.fill(self, _count(self.units))


@dataclass(frozen=True, slots=True)
class WaterBid(DayEvent):
    """What a resident bid for water, and whether it was served."""

    message = "bid"
    who: str
    amount: Fraction
    served: bool

    def tell(self, words: Narrator) -> str:
        """Tell the bid in dollars."""
        variant = ".served" if self.served else ".dry"
        return words.fill(self, variant, amount=_write_money(self.amount, words))


@dataclass(frozen=True, slots=True)
class NoWaterBid(DayEvent):
    """A resident made no bid."""

    message = "no-bid"
    who: str


@dataclass(frozen=True, slots=True)
class ResidentState(DayEvent):
    """How a resident is doing."""

    message = "state"
    is_step = False
    is_public = True
    who: str
    money: Fraction
    health: Fraction
    dry_days: int

    def tell(self, words: Narrator) -> str:
        """Tell it in a line of its own."""
        name = words.language.write_name(self.who)
        money = _write_money(self.money, words)
        return words.fill(self, _count(self.dry_days), name=name, money=money)

    def tell_past_state(self, words: Narrator) -> str:
        """Tell it behind the bid of the day."""
        unnamed = Narrator(words.language)
        money = _write_money(self.money, words)
        return unnamed.fill(self, f".past{_count(self.dry_days)}", money=money)


@dataclass(frozen=True, slots=True)
class ResidentOut(DayEvent):
    """A resident is out of the game."""

    message = "out"
    is_step = False
    who: str

    def tell(self, words: Narrator) -> str:
        """Tell it in a line of its own."""
        return words.fill(self, name=words.language.write_name(self.who))

    def tell_past_state(self, words: Narrator) -> str:
        """Tell it behind the bid of the day."""
        return Narrator(words.language).fill(self, ".past")


@dataclass(frozen=True, slots=True)
class DroughtOver(GameEvent):
    """The drought is over, and these residents are alive."""

    message = "over"
    is_step = False
    is_ending = True
    alive: tuple[str, ...]

    def tell(self, words: Narrator) -> str:
        """Name them, or say that there is nobody."""
        return words.fill(self, "" if self.alive else ".nobody")


def _count(number: Fraction | int) -> str:
    """Return the variant of a message for one thing, or the one for any other number."""
    return ".one" if number == 1 else ""


def _write_money(amount: Fraction, words: Narrator) -> str:
    """Write an amount of whole cents: 7 or 6.80."""
    if (100 * amount).denominator > 1 or amount.denominator == 1:
        return words.language.write_number(amount)
    return f"{float(amount):.2f}".replace(".", words.language.decimal_mark)


def _find_served(rules: Sequence[Statement], events: Sequence[Event]) -> set[Role]:
    """Return who gets water on a day by the stated auction: the highest bid first."""
    needs_rule = find_rule(rules, NeedsRule)
    auction = find_rule(rules, WaterAuctionRule)
    supply_rule = find_rule(rules, SupplyRule)
    left = Fraction(sum(event.units for event in events if isinstance(event, WaterFound)))
    bids = [event for event in events if isinstance(event, WaterBid)]
    if needs_rule is None or auction is None:
        return {bid.who for bid in bids if bid.served}
    if bids and supply_rule is not None and not supply_rule.low <= left <= supply_rule.high:
        raise Disagreement(
            f"the rules say that there are {supply_rule.low} to {supply_rule.high} units of water"
            f" per day; there were {left}"
        )
    needs = {resident.who: resident.need for resident in needs_rule.residents}
    bids.sort(key=lambda bid: (-bid.amount, needs[bid.who], auction.order.index(bid.who)))
    served: set[Role] = set()
    for bid in bids:
        if needs[bid.who] <= left:
            left -= needs[bid.who]
            served.add(bid.who)
        if bid.served != (bid.who in served):
            raise Disagreement(
                f"{bid.who} {'gets' if bid.served else 'gets no'} water for a bid of {bid.amount},"
                " against the rules of the auction that are told"
            )
    return served
