"""A seller and a buyer make offers in turn until one is accepted, or the last one is refused.

With known worths nothing is hidden, and the game is solved by its positions. Where each worth is
drawn and kept secret it is solved as a tree, as far as that is small enough; what nobody can earn
more than is known in any case: the commitment bound. Whoever is bound to one price, to take or to
leave, earns the most that any way to sell to one buyer can earn who has a secret worth (J. Riley,
R. Zeckhauser, Quarterly Journal of Economics 98, 1983).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle, product
from random import Random

from bestresponse.core.capabilities import Question, ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Role
from bestresponse.core.phrase import make_phrase
from bestresponse.core.told import Event, Saw, Statement, TextPlace, Worded
from bestresponse.games.positions import Moves, Played, PositionGame, RuledGame, list_openly
from bestresponse.games.quiz import ask_for_payoff, say_step

ACCEPT = "accept"
LEAVE = "walk away"
_MOST_PRICES = 200
_RULES = (
    "A seller and a buyer haggle over a price. The seller begins, and they make offers in turn,"
    " {offers} in all. A price is one of: {prices}. Whoever is asked may accept the last offer,"
    " make another one, or walk away; to the last offer of all there is no other. If a price is"
    " accepted, the seller earns the price minus their own worth of the thing, the buyer their own"
    " worth minus the price. Every offer that was not accepted has made both gains {delay} percent"
    " smaller. Without a deal nobody earns anything."
)
_KNOWN = "It is worth {cost} to the seller and {value} to the buyer."
_HIDDEN = (
    "It is worth {cost} to the seller and {value} to the buyer, each with equal chances. Each"
    " knows only their own number."
)
_OWN_WORTH = "it is worth {number} to you"


@dataclass(frozen=True, slots=True)
class HagglingTable:
    """What it is worth to both, empty before it was drawn, and what was said so far."""

    worths: tuple[int, ...]
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Haggling(RuledGame[HagglingTable]):
    """What both kinds share."""

    offers: int = 4
    most: int = 100
    step: int = 5
    delay: int = 30
    roles = ("seller", "buyer")
    total = None

    @property
    def prices(self) -> tuple[str, ...]:
        """The prices that can be offered."""
        steps = range(0, self.most + 1, self.step)
        return tuple(map(str, steps))

    @property
    def _worths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the thing can be worth to the seller and to the buyer."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        if self.offers < 1 or self.step < 1 or not self.step <= self.most:
            raise UsageError("haggling needs an offer or more, and prices in steps of at least 1")
        if self.most // self.step > _MOST_PRICES or not 0 <= self.delay < 100:
            raise UsageError(
                f"haggling has at most {_MOST_PRICES} prices, and a delay of 0 to 99 percent"
            )
        costs, values = self._worths
        least = min(0, -max(costs), min(values) - self.most)
        largest = max(0, self.most - min(costs), max(values))
        bounds = float(least), float(largest)
        object.__setattr__(self, "payoff_bounds", bounds)

    def begin(self) -> HagglingTable:
        """Begin; where worths are hidden they are drawn first."""
        costs, values = self._worths
        known = (costs[0], values[0]) if len(costs) == len(values) == 1 else ()
        return HagglingTable(known)

    def find_turn(self, position: HagglingTable) -> ToMove:
        """Draw what is hidden; then ask for an offer, or for an answer to the last one."""
        if not position.worths:
            draws = tuple(f"{cost},{value}" for cost, value in product(*self._worths))
            each = 1 / len(draws)
            return ToMove(NATURE, draws, (each,) * len(draws))
        made = len(position.said)
        if made and position.said[-1] in (ACCEPT, LEAVE):
            return ToMove()
        moves: tuple[str, ...] = (ACCEPT, LEAVE) if made else ()
        if made < self.offers:
            moves += self.prices
        return ToMove(self.roles[made % 2], moves)

    def advance(self, position: HagglingTable, move: str) -> HagglingTable:
        """Note a draw, an offer or an answer."""
        if not position.worths:
            cost, value = move.split(",")
            return HagglingTable((int(cost), int(value)))
        return HagglingTable(position.worths, (*position.said, move))

    def find_result(self, position: HagglingTable) -> tuple[float, ...]:
        """Pay both at the price that was accepted."""
        *offered, answer = position.said
        if answer == LEAVE:
            return 0.0, 0.0
        return self._pay(position.worths, int(offered[-1]), len(offered) - 1)

    def _pay(self, worths: tuple[int, ...], price: int, refused: int) -> tuple[float, float]:
        """Return what both earn at a price after so many offers that were refused."""
        cost, value = worths
        left = Fraction(100 - self.delay, 100) ** refused
        return float((price - cost) * left), float((value - price) * left)

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask what the first offer pays if it is accepted, and what the second one pays."""
        asked = []
        for made in range(1, min(self.offers, 2) + 1):
            worths = tuple(map(rng.choice, self._worths))
            offered = rng.choices(self.prices, k=made)
            own = worths[self.roles.index(role)]
            speakers = cycle(self.roles)
            steps = [make_phrase(_OWN_WORTH, number=own)]
            steps += [say_step(next(speakers), int(price), role, "offer") for price in offered]
            steps.append(say_step(next(speakers), ACCEPT, role, "answer"))
            earned = self._pay(worths, int(offered[-1]), made - 1)
            asked.append(Question(ask_for_payoff(steps), earned[self.roles.index(role)]))
        return tuple(asked)

    def list_deals(self, state: Played[HagglingTable]) -> list[tuple[float, ...]]:
        """List what both earn at each price if it is accepted at once."""
        worths = state.position.worths
        return [self._pay(worths, int(price), 0) for price in self.prices]

    def state_rules(self) -> tuple[Statement, ...]:
        """State who does what, and what the thing is worth."""
        costs, values = self._worths
        prices = TextPlace("prices", self.prices, "or")
        offers = TextPlace("offers", (str(self.offers),))
        delay = TextPlace("delay", (str(self.delay),))
        rules = Worded(_RULES, (prices, offers, delay))
        is_known = len(costs) == len(values) == 1
        cost = TextPlace("cost", tuple(map(str, costs)), "or")
        value = TextPlace("value", tuple(map(str, values)), "or")
        return rules, Worded(_KNOWN if is_known else _HIDDEN, (cost, value))

    def state_position(self, position: HagglingTable, role: Role) -> tuple[Statement, ...]:
        """State the own worth and how many offers were made."""
        told = []
        if position.worths:
            own = str(position.worths[self.roles.index(role)])
            told.append(Worded("It is worth {worth} to you.", (TextPlace("worth", (own,)),)))
        speakers = cycle(self.roles)
        lines = [f"{role}: {said}" for role, said in zip(speakers, position.said, strict=False)]
        places = (TextPlace("said", tuple(lines) or ("none",), "semicolons"),)
        return (*told, Worded("Said so far: {said}.", places))

    def list_seen(self, made: Moves, role: Role) -> tuple[Event, ...]:
        """List what was said; of the draw a player sees its own worth alone."""
        is_known = bool(self.begin().worths)
        if is_known or not made:
            return list_openly(made)
        draw = made[0][1].split(",")
        worth = draw[self.roles.index(role)]
        return (Saw(_OWN_WORTH.format(number=worth)), *list_openly(made[1:]))


@dataclass(frozen=True)
class Haggling(_Haggling, PositionGame[HagglingTable]):
    """Make offers in turn about a price, with a deadline; delay makes the gains smaller.

    Both know what the thing is worth to each.
    """

    cost: int = 12
    value: int = 88
    name: str = "haggling"
    title = "Haggling"

    @property
    def _worths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.cost,), (self.value,)

    def find_key(self, position: HagglingTable) -> tuple[int, str]:
        """Return how many moves were made and the last one: earlier offers do not matter."""
        last = position.said[-1:]
        before = position.said[-2:-1] if last == (ACCEPT,) else ()
        return len(position.said), ",".join(before + last)


@dataclass(frozen=True)
class HiddenHaggling(_Haggling):
    """Make offers in turn about a price, with a deadline; each knows only their own worth.

    Nobody can expect more than somebody who is bound to one price, to take or to leave.
    """

    offers: int = 2
    step: int = 20
    low_cost: int = 10
    high_cost: int = 50
    low_value: int = 50
    high_value: int = 90
    name: str = "hidden-haggling"
    title = "Haggling with secrets"

    @property
    def _worths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.low_cost, self.high_cost), (self.low_value, self.high_value)

    def bound_payoffs(self) -> dict[Role, float]:
        """Return the commitment bound: what each can expect at most in any equilibrium.

        The best single price is one at which the other is just willing.
        """
        costs, values = self._worths
        sold = [_find_best_price(cost, values) for cost in costs]
        bought = [_find_best_price(-value, [-cost for cost in costs]) for value in values]
        return {"seller": sum(sold) / len(sold), "buyer": sum(bought) / len(bought)}

    @property
    def theory_remark(self) -> str:
        """What is known whatever they do."""
        bounds = self.bound_payoffs()
        return (
            f"In no equilibrium can the seller expect more than {bounds['seller']:g}, or the buyer"
            f" more than {bounds['buyer']:g}: so much earns who is bound to one price."
        )


def _find_best_price(own: int, others: Sequence[int]) -> float:
    """Return what one price earns a seller who is bound to it, from buyers who are alike likely.

    For a buyer all signs are turned.
    """
    earned = [0.0]
    for price in others:
        willing = sum(other >= price for other in others)
        share = willing / len(others)
        earned.append((price - own) * share)
    return max(earned)
