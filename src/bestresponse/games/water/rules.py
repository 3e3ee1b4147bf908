"""The settings and state of the Water Allocation Challenge, and who is served.

The constants of the game are settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, REFEREE, Role
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.registry import find_by_name

ABUNDANCE: dict[str, tuple[int, int]] = {"low": (10, 20), "medium": (15, 25), "high": (20, 30)}
"""The published ranges of the daily supply, both ends included."""

OWN_SUPPLY = "own"
"""The name of the abundance if the supply has no published range."""

_MOST_SUPPLIES = 10_000
_RESIDENT = re.compile(r"\s*(.*\S)\s*:\s*need\s+([\d.]+)\s*,\s*salary\s+([\d.]+)\s*")


@dataclass(frozen=True, slots=True)
class Resident:
    """Who takes part: the daily need of water and the daily salary."""

    name: Role
    need: float
    salary: float

    def __post_init__(self) -> None:
        if not self.name.strip() or self.name in (NATURE, REFEREE):
            raise UsageError(f"{self.name!r} cannot be the name of a resident; give another one")
        for what, value in (("need", self.need), ("salary", self.salary)):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 <= value < math.inf
            ):
                raise UsageError(
                    f"{self.name}: the {what} is {value!r}; expected a number of 0 or more"
                )

    @classmethod
    def from_text(cls, text: str) -> Resident:
        """Read what `to_text` wrote; UsageError where it is none.

        >>> Resident.from_text("Alex: need 8, salary 70")
        Resident(name='Alex', need=8, salary=70)
        """
        found = _RESIDENT.fullmatch(text)
        try:
            name, need, salary = found.groups() if found else ("", "", "")
            return cls(name, _read_number(need), _read_number(salary))
        except ValueError:
            example = '"Alex: need 8, salary 70"'
            raise UsageError(
                f"{text[:60]!r} is not a resident; expected a text like {example}"
            ) from None

    def to_text(self) -> str:
        """Write the resident as one line."""
        return f"{self.name}: need {self.need:g}, salary {self.salary:g}"


def _read_number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


RESIDENTS = (
    Resident("Alex", 8, 70),
    Resident("Bob", 9, 75),
    Resident("Cindy", 10, 100),
    Resident("David", 11, 120),
    Resident("Eric", 12, 120),
)
"""The published roster."""


@dataclass(frozen=True)
class WaterRules:
    """Every constant of the game; the defaults are the published ones with medium supply."""

    residents: tuple[Resident, ...] = RESIDENTS
    low: int = 15
    high: int = 25
    days: int = 20
    health: float = 8
    most_health: float = 10
    gain: float = 2
    thirst: float = 1

    def __post_init__(self) -> None:
        names = [resident.name for resident in self.residents]
        if not any(resident.need for resident in self.residents):  # scarcity is supply / needs
            raise UsageError("no resident needs water; at least one must have a need above 0")
        if len(set(names)) < len(names):
            raise UsageError(f"two residents have the same name: {', '.join(names)}")
        for name in ("low", "high", "days"):
            if type(getattr(self, name)) is not int:
                raise UsageError(f"{name} is {getattr(self, name)!r}; expected a whole number")
        if not 0 <= self.low <= self.high:
            raise UsageError(
                f"the supply goes from {self.low} to {self.high}; expected 0 <= lowest <= highest"
            )
        if self.high - self.low > _MOST_SUPPLIES:
            raise UsageError(
                f"the supply can take {self.high - self.low + 1} values; at most {_MOST_SUPPLIES}"
                " are dealt with"
            )
        if not 1 <= self.days <= 10_000:
            raise UsageError(f"the drought lasts {self.days} days; expected 1 to 10000")
        if not 0 < self.health <= self.most_health < math.inf:
            raise UsageError(
                f"residents begin with {self.health:g} health points of at most"
                f" {self.most_health:g}; expected a positive number that is not above the most"
            )
        if not (0 <= self.gain < math.inf and 0 <= self.thirst < math.inf):
            raise UsageError(
                f"gain {self.gain:g} and thirst {self.thirst:g}: expected numbers of 0 or more"
            )

    @property
    def supplies(self) -> tuple[int, ...]:
        """What nature may draw."""
        return tuple(range(self.low, self.high + 1))

    @cached_property
    def by_need(self) -> tuple[int, ...]:
        """Seats in the order in which equal bids are served."""
        return serving_order(self.residents)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        plain = {
            field.name: getattr(self, field.name) for field in fields(self)
        }  # `asdict` would copy every resident
        return plain | {"residents": [[r.name, r.need, r.salary] for r in self.residents]}

    @classmethod
    def from_json(cls, data: JsonMapping) -> WaterRules:
        """Return the value that `to_json` wrote.

        Residents may also be tables with name, need and salary.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise UsageError(
                f"there is no rule named {unknown[0]!r}; known: {', '.join(sorted(known))}"
            )
        try:
            settings = dict(data)
            if "residents" in data:
                roster = []
                for entry in data["residents"]:
                    by_name = isinstance(entry, Mapping)
                    roster.append(Resident(**entry) if by_name else Resident(*entry))
                settings["residents"] = tuple(roster)
            return cls(**settings)
        except (TypeError, AttributeError):
            raise UsageError(
                "expected residents with exactly name, need and salary, texts for names and numbers"
                " for all else"
            ) from None


@dataclass(frozen=True, slots=True)
class Standing:
    """How one resident is doing."""

    balance: float
    health: float
    dry_days: int = 0

    @property
    def alive(self) -> bool:
        """Whether the resident is alive."""
        return self.health > 0


@dataclass(frozen=True, slots=True)
class Day:
    """A day that is over, seats in the order of the roster.

    A bid of None is none, by choice or from a dead seat.
    """

    number: int
    supply: int
    present: tuple[bool, ...]
    bids: tuple[float | None, ...]
    winners: tuple[bool, ...]
    after: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Drought:
    """The game after some days; `supply` is None until nature has drawn it."""

    standings: tuple[Standing, ...]
    past: tuple[Day, ...] = ()
    supply: int | None = None

    @property
    def day(self) -> int:
        """The number of the day, from 1."""
        return len(self.past) + 1


def with_abundance(rules: WaterRules, abundance: str) -> WaterRules:
    """The same rules with one of the published ranges of supply.

    >>> with_abundance(WaterRules(), "low").supplies[:3]
    (10, 11, 12)
    """
    low, high = find_by_name(ABUNDANCE, abundance, "abundance")
    return replace(rules, low=low, high=high)


def name_abundance(rules: WaterRules) -> str:
    """Return the name of the published range that the supply has, or `OWN_SUPPLY`.

    >>> name_abundance(WaterRules()), name_abundance(WaterRules(low=3, high=9))
    ('medium', 'own')
    """
    supply = (rules.low, rules.high)
    return next((name for name, limits in ABUNDANCE.items() if limits == supply), OWN_SUPPLY)


def serving_order(residents: Sequence[Resident]) -> tuple[int, ...]:
    """Seats by need, the lower first, then by place in the roster."""
    seats = range(len(residents))
    return tuple(sorted(seats, key=lambda seat: residents[seat].need))


def allocate(
    residents: Sequence[Resident],
    bids: Sequence[float | None],
    supply: float,
) -> tuple[bool, ...]:
    """Who is served: the highest bid first, on equal bids the lower need.

    Whoever does not fit is passed over.

    >>> allocate(RESIDENTS, (50, 50, None, None, 40), supply=20)
    (True, True, False, False, False)
    >>> allocate(RESIDENTS, (10, None, None, 30, 40), supply=21)
    (True, False, False, False, True)
    """
    order = [seat for seat in serving_order(residents) if bids[seat] is not None]
    order.sort(key=lambda seat: bids[seat] or 0.0, reverse=True)
    served = [False] * len(bids)
    for seat in order:
        if residents[seat].need <= supply:
            supply -= residents[seat].need
            served[seat] = True
    return tuple(served)
