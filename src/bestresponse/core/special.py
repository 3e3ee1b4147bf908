"""Statements and events of special games.

These are numbers that all choose, auctions, a common project, poker, a drought and talks.

Each states one rule, or one thing that happened, by its parameters; the sentence of each language
is in the catalogues of `bestresponse.telling`. `core.told` lists them among all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

CARD_NAMES = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}
"""Cards by their letters; a language has its own words for them."""


@dataclass(frozen=True, slots=True)
class NumberEach:
    """All choose a number in this range at the same time."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class PoolRule:
    """All invest tokens in a pool at the same time.

    A token that is kept earns `outside`, one in the pool `slope` less `bend` times all tokens in
    the pool.
    """

    endowment: Fraction
    outside: Fraction
    slope: Fraction
    bend: Fraction


@dataclass(frozen=True, slots=True)
class ProjectRule:
    """All put coins of an endowment into a project at the same time.

    What is in it is multiplied by `factor` and shared equally.
    """

    endowment: Fraction
    factor: Fraction


@dataclass(frozen=True, slots=True)
class PointsRule:
    """After the coins are public all may give points to each other, `most` to each.

    A point costs its giver 1 coin and its receiver `impact` coins.
    """

    most: int
    impact: Fraction


@dataclass(frozen=True, slots=True)
class LowestEffort:
    """All choose numbers.

    Everybody gets `base`, `gain` times the lowest of all, less `cost` times the own number.
    """

    gain: Fraction
    cost: Fraction
    base: Fraction


@dataclass(frozen=True, slots=True)
class SharedProject:
    """All choose how much to give.

    Everybody gets `base` less what is given, and `share` times what all have given together.
    """

    base: Fraction
    share: Fraction


@dataclass(frozen=True, slots=True)
class BattlefieldRule:
    """Two distribute troops over fields at the same time; `example` is one way to do it."""

    troops: int
    fields: int
    example: str


@dataclass(frozen=True, slots=True)
class FirstPriceRule:
    """One object is sold by sealed bids to whoever bids most, for the own bid.

    Everybody's value is drawn from 0 to `highest`.
    """

    highest: int


@dataclass(frozen=True, slots=True)
class SecondPriceRule:
    """One object is sold by sealed bids to whoever bids most, for the second highest bid.

    Everybody's value is drawn from 0 to `highest`.
    """

    highest: int


@dataclass(frozen=True, slots=True)
class TrustRule:
    """The sender sends any part of `endowment`, it is multiplied, the receiver returns any part."""

    endowment: Fraction
    factor: Fraction


@dataclass(frozen=True, slots=True)
class TrustCoinsRule:
    """The trust game in whole coins; the receiver has the endowment too."""

    endowment: int
    factor: int


@dataclass(frozen=True, slots=True)
class UltimatumRule:
    """The proposer offers any part of `pie`; the responder accepts, or both get nothing."""

    pie: Fraction


@dataclass(frozen=True, slots=True)
class UltimatumCoinsRule:
    """The ultimatum in whole coins."""

    pie: int


@dataclass(frozen=True, slots=True)
class KuhnRule:
    """Poker with these cards, the lowest first, and at most one bet of 1 coin.

    Each player gets a card and puts in a stake of 1 coin.
    """

    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeducRule:
    """Poker of two with two cards of each rank, one open card and two rounds of bets.

    Ranks are listed lowest first. Raises have these sizes, with at most `most_raises` per round.
    """

    cards: tuple[str, ...]
    first_raise: int
    second_raise: int
    most_raises: int


@dataclass(frozen=True, slots=True)
class UntoldPayoffs:
    """Payoffs that are too many to be listed, and follow no rule that could be told."""


@dataclass(frozen=True, slots=True)
class DroughtRule:
    """Residents want to be alive when a drought of so many days ends."""

    days: int


@dataclass(frozen=True, slots=True)
class HealthRule:
    """Everybody begins with `start` points of health.

    Water adds `gain`, up to `most`; the n-th dry day in a row takes n times `thirst`.
    """

    start: Fraction
    most: Fraction
    gain: Fraction
    thirst: Fraction


@dataclass(frozen=True, slots=True)
class ResidentNeed:
    """How much water a resident needs per day, and the salary per day."""

    who: str
    need: Fraction
    salary: Fraction


@dataclass(frozen=True, slots=True)
class NeedsRule:
    """Who needs how much water; money is paid every morning and kept."""

    residents: tuple[ResidentNeed, ...]


@dataclass(frozen=True, slots=True)
class SupplyRule:
    """The water of a day is drawn from `low` to `high` units, each amount equally likely."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class WaterAuctionRule:
    """The daily auction, in which the highest bid is served first.

    Ties go to the lower need, then to the earlier place among `order`.
    """

    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumberChosen:
    """A player chose this number."""

    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class TargetWas:
    """The number that was to be guessed, to four decimals."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class Invested:
    """A player put this many tokens into the pool."""

    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class PutIn:
    """A player put this many coins into the project."""

    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class Points:
    """A player gave another this many points."""

    who: str
    other: str
    count: int


@dataclass(frozen=True, slots=True)
class PointsGiven:
    """All points that were given in a round, perhaps none."""

    points: tuple[Points, ...]


@dataclass(frozen=True, slots=True)
class PointsTurn:
    """Now points can be given."""


@dataclass(frozen=True, slots=True)
class EarnedSoFar:
    """What the reader has earned in all rounds together."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class OwnValue:
    """What the object is worth to the reader, who alone knows it."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class BidMade:
    """A bidder bid this much."""

    who: str
    amount: Fraction


@dataclass(frozen=True, slots=True)
class SentOver:
    """The sender sent this much, and so much arrived."""

    amount: Fraction
    arrived: Fraction


@dataclass(frozen=True, slots=True)
class ReturnedBack:
    """The receiver returned this much."""

    amount: Fraction


@dataclass(frozen=True, slots=True)
class OfferMade:
    """The proposer offered this much of the pie."""

    amount: Fraction
    pie: Fraction


@dataclass(frozen=True, slots=True)
class OfferAnswered:
    """The responder accepted or rejected."""

    accepted: bool


@dataclass(frozen=True, slots=True)
class SalariesPaid:
    """The morning of a day, of so many days in all."""

    day: int
    days: int


@dataclass(frozen=True, slots=True)
class WaterFound:
    """So many units of water there are on a day."""

    units: int


@dataclass(frozen=True, slots=True)
class WaterBid:
    """What a resident bid for water, and whether it was served."""

    who: str
    amount: Fraction
    served: bool


@dataclass(frozen=True, slots=True)
class NoWaterBid:
    """A resident made no bid."""

    who: str


@dataclass(frozen=True, slots=True)
class ResidentState:
    """How a resident is doing."""

    who: str
    money: Fraction
    health: Fraction
    dry_days: int


@dataclass(frozen=True, slots=True)
class ResidentOut:
    """A resident is out of the game."""

    who: str


@dataclass(frozen=True, slots=True)
class DroughtOver:
    """The drought is over, and these residents are alive."""

    alive: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundsForgotten:
    """The reader is not shown the first rounds."""

    count: int


@dataclass(frozen=True, slots=True)
class RoundsInShort:
    """What the reader noted of the first rounds, which are not shown."""

    summary: str


@dataclass(frozen=True, slots=True)
class OwnReasons:
    """What the reader said when deciding in a round."""

    text: str


@dataclass(frozen=True, slots=True)
class NobodyWrote:
    """Nobody has written yet."""


@dataclass(frozen=True, slots=True)
class Wrote:
    """A message of a talk."""

    number: int
    sender: str
    receiver: str
    text: str


@dataclass(frozen=True, slots=True)
class TalkSummed:
    """What an observer wrote of a talk that the reader does not see itself."""

    summary: str


@dataclass(frozen=True, slots=True)
class MessageTurn:
    """The reader writes the next message of a talk.

    `left` messages come after it, `own_left` of them by the reader. `early_end` says that an
    agreement ends the talk at once, `sealed` that sealed notes follow.
    """

    number: int
    messages: int
    left: int
    own_left: int
    early_end: bool
    sealed: bool


@dataclass(frozen=True, slots=True)
class NoteTurn:
    """The talk is over, and the reader writes a sealed note."""


@dataclass(frozen=True, slots=True)
class TalkEnds:
    """What happens at the end of a talk.

    One of `agreement` (without one nobody earns anything), `issues` (it must cover all issues),
    `notes` (only the sealed notes count) or `judge` (who decides).
    """

    kind: str


@dataclass(frozen=True, slots=True)
class WriteSo:
    """How the reader is to write the next message, and what about, in the words of the domain."""

    manner: str
    task: str


@dataclass(frozen=True, slots=True)
class TakesPart:
    """By which name the reader takes part, where that is not the name of the seat."""

    name: str


@dataclass(frozen=True, slots=True)
class TalkRule:
    """Everybody writes so many messages in turn.

    An agreement may end the talk, or sealed notes follow.
    """

    replies: int
    early_end: bool
    sealed: bool
