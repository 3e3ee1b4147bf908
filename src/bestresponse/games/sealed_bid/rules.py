"""Sealed-bid auctions of one object with private values, first or second price.

With values uniform from 0 to 1 each bids (n - 1) / n of its value in the first-price auction, and
its value itself in the second-price auction, where that is dominant (W. Vickrey, Journal of Finance
16, 1961). Here the values are whole numbers, for which this holds up to the grain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import ClassVar, Literal

from bestresponse.core import NATURE, Action, Amount, Ask, Lottery, Role, View
from bestresponse.core.agreement import ToldPlay
from bestresponse.core.capabilities import EquilibriumSummary, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.phrase import make_phrase
from bestresponse.core.told import Aim, Event, GameEvent, GameRule, Over, Paid, Players, Worded
from bestresponse.games.statements import read_exactly

_WHOLE_BIDS = "Bids are whole numbers."


@dataclass(frozen=True, slots=True)
class SealedBidRule(GameRule):
    """One object is sold by sealed bids to whoever bids most.

    Everybody's value is drawn from 0 to `highest`.
    """

    highest: int
    payer: ClassVar[int]
    """Whose bid is paid, counted from the highest."""

    def pay(self, values: Sequence[Fraction], bids: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return what everybody gets; among equal bids the first bidder wins.

        >>> bids = [Fraction(40), Fraction(45)]
        >>> values = [Fraction(80), Fraction(50)]
        >>> [str(paid) for paid in SecondPriceRule(100).pay(values, bids)]
        ['0', '10']
        """
        order = sorted(range(len(bids)), key=lambda seat: -bids[seat])
        winner = order[0]
        paid = [Fraction(0)] * len(bids)
        paid[winner] = values[winner] - bids[order[self.payer]]
        return tuple(paid)

    def find_owed(self, play: ToldPlay) -> dict[Role, Fraction] | None:
        """Pay the bids that are told by the values that each bidder alone is told."""
        bids = {event.who: event.amount for event in play.history if isinstance(event, BidMade)}
        values = []
        for role in play.roles:
            told = [event for event in play.histories[role] if isinstance(event, OwnValue)]
            values += [event.amount for event in told]
        if set(bids) != set(play.roles) or len(values) != len(bids):
            return None
        paid = self.pay(values, [bids[role] for role in play.roles])
        return dict(zip(play.roles, paid, strict=True))


@dataclass(frozen=True, slots=True)
class FirstPriceRule(SealedBidRule):
    """The winner pays the own bid."""

    message = "first-price"
    payer = 0


@dataclass(frozen=True, slots=True)
class SecondPriceRule(SealedBidRule):
    """The winner pays the second highest bid."""

    message = "second-price"
    payer = 1


@dataclass(frozen=True, slots=True)
class OwnValue(GameEvent):
    """What the object is worth to the reader, who alone knows it."""

    message = "own-value"
    is_step = False
    is_public = False
    amount: Fraction


@dataclass(frozen=True, slots=True)
class BidMade(GameEvent):
    """A bidder bid this much."""

    message = "bid"
    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class AuctionState:
    """Values drawn so far, in the order of the bidders, and the bids."""

    values: tuple[int, ...] = ()
    bids: tuple[float, ...] = ()


@dataclass(frozen=True)
class SealedBid:
    """Bid in secret for an object whose value to you only you know."""

    roles: tuple[Role, ...] = ("bidder 1", "bidder 2", "bidder 3")
    price: Literal["first", "second"] = "first"
    highest: int = 100
    whole: bool = False
    """Whether bids are whole numbers; then a game of few bidders is solved as a tree."""
    version: int = 1
    unit = ""

    def __post_init__(self) -> None:
        if len(self.roles) < 2 or self.highest < 1 or self.price not in ("first", "second"):
            raise UsageError(
                "an auction needs two bidders or more, values from 0 to 1 at least, and first or"
                " second"
            )

    @property
    def name(self) -> str:
        """The name of the game."""
        return f"{self.price}-price-auction"

    def start(self) -> AuctionState:
        """Return the state before anybody has moved."""
        return AuctionState()

    def asks(self, state: AuctionState) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if len(state.values) < len(self.roles):
            values = range(self.highest + 1)
            return {NATURE: Lottery.uniform(tuple(values))}
        bid = Amount(0, self.highest, whole=self.whole)
        return {} if state.bids else dict.fromkeys(self.roles, bid)

    def view(self, state: AuctionState, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, facts={"drawn": len(state.values)})
        seat = self.roles.index(role)
        value = state.values[seat] if seat < len(state.values) else None
        history: list[Event] = [] if value is None else [OwnValue(Fraction(value))]
        if state.bids:
            bids = zip(self.roles, state.bids, strict=True)
            history += [BidMade(bidder, read_exactly(bid)) for bidder, bid in bids]
            history += [Paid(role, self._pay(state)[seat]), Over()]
        facts = {
            "value": value,
            "rivals": [other for other in self.roles if other != role],
            "price": self.price,
        }
        bids_rule = (Worded(_WHOLE_BIDS),) if self.whole else ()
        rules = (Players(self.roles), self.rule, *bids_rule, Aim())
        return View(role, rules, tuple(history), facts)

    @property
    def rule(self) -> SealedBidRule:
        """Who gets the object, and for how much."""
        kind = FirstPriceRule if self.price == "first" else SecondPriceRule
        return kind(self.highest)

    def _pay(self, state: AuctionState) -> tuple[Fraction, ...]:
        values = list(map(Fraction, state.values))
        return self.rule.pay(values, list(map(read_exactly, state.bids)))

    def apply(self, state: AuctionState, moves: Mapping[Role, Action]) -> AuctionState:
        """Return the state after these moves."""
        if NATURE in moves:
            return AuctionState((*state.values, moves[NATURE]))
        bids = tuple(float(moves[role]) for role in self.roles)
        return AuctionState(state.values, bids)

    def payoffs(self, state: AuctionState) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        if not state.bids:
            return dict.fromkeys(self.roles, 0.0)
        earned = map(float, self._pay(state))
        return dict(zip(self.roles, earned, strict=True))

    def equilibrium(self, value: float) -> float:
        """The equilibrium bid at this value, up to the grain of the values.

        >>> SealedBid().equilibrium(90), second_price().equilibrium(90)
        (60.0, 90)
        """
        if self.price == "second":
            return value
        count = len(self.roles)
        return value * (count - 1) / count

    def describe_equilibrium(self) -> EquilibriumSummary | None:
        """Describe the equilibrium; what it earns depends on the values that are drawn.

        Returns None for whole first-price bids: fewer than a share of the value is not always best.
        """
        if self.whole and self.price == "first":
            return None
        if self.price == "second":
            words = "Everybody bids the own value; whatever the others do, no other bid earns more."
            return EquilibriumSummary("equilibrium in dominant strategies", words, {})
        count = len(self.roles)
        share = make_phrase(
            "Everybody bids {share} of the own value, up to the grain of whole numbers.",
            share=f"{count - 1}/{count}",
        )
        return EquilibriumSummary("Bayesian equilibrium", share, {})

    def choose_equilibrium(self, view: View, ask: Ask) -> float:
        """Bid by the own value."""
        return float(self.equilibrium(view.facts["value"]))

    def measure_cost(self, state: AuctionState, role: Role, action: Action) -> float:
        """Return what the bid loses on average over the values of the others."""
        value = state.values[self.roles.index(role)]
        best = self.expect_gain(role, value, self.equilibrium(value))
        expected = self.expect_gain(role, value, float(action))
        return best - expected

    def expect_gain(self, role: Role, value: float, bid: float) -> float:
        """Return what `bid` earns on average when the others bid as in equilibrium.

        Ties go by the roster's order.
        """
        levels = [self.equilibrium(v) for v in range(self.highest + 1)]
        before = self.roles.index(role)
        after = len(self.roles) - 1 - before

        def win_chance(limit: float) -> float:
            """Return the probability that every other bid is at most `limit`.

            Another bid that ties with `bid` must lose to it.
            """
            num_below = sum(level < limit for level in levels)
            num_up_to = sum(level <= limit for level in levels)
            below = num_below / len(levels)
            up_to = num_up_to / len(levels)
            loses_before = below if limit == bid else up_to
            return float(loses_before**before * up_to**after)

        if self.price == "first":
            return (value - bid) * win_chance(bid)
        gain = 0.0
        sure = 0.0
        for price in sorted({level for level in levels if level <= bid}):
            now = win_chance(price)
            gain = gain + (value - price) * (now - sure)
            sure = now
        return gain

    @property
    def title(self) -> str:
        """What the auction is called."""
        return f"{self.price.capitalize()}-price auction"

    def word_question(self, ask: Ask) -> str:
        """Ask for a bid."""
        return "How much do you bid?"

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask about a bid that wins and one that does not."""
        return self._ask_about_bid(role, rng, wins=True), self._ask_about_bid(role, rng, wins=False)

    def _ask_about_bid(self, role: Role, rng: Random, wins: bool) -> Question:
        seat = self.roles.index(role)
        steps_of_bids = [step * self.highest / 20 for step in range(2, 17)]
        bids = rng.sample(steps_of_bids, len(self.roles))
        bids.sort(reverse=True)
        bids.insert(seat, bids.pop(0 if wins else 1))
        value = round(bids[seat] + self.highest / 10)
        steps = [make_phrase("you bid {bid}", bid=bids[seat])]
        for other, bid in zip(self.roles, bids, strict=True):
            if other != role:
                steps.append(make_phrase("{who} bids {bid}", who=other, bid=bid))
        text = make_phrase(
            "Your value is {value}. If {steps}, what is your payoff?",
            value=value,
            steps=tuple(steps),
        )
        end = AuctionState(tuple(value for _ in self.roles), tuple(bids))
        return Question(text, self.payoffs(end)[role])


def second_price() -> SealedBid:
    """A sealed-bid auction in which the winner pays the second highest bid."""
    return SealedBid(price="second")
