"""An experiment as plain values: parts to be played one after the other, treatments, a questionnaire, payment."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from bestresponse.core.capabilities import Question
from bestresponse.web.sessions.setup import Setup

__all__ = [
    "KINDS", "STAND_INS", "Assignment", "Completion", "Experiment", "Item", "Order", "Part", "Payment", "StandIns",
    "Treatment",
]  # fmt: skip

Kind = Literal["text", "long text", "number", "choice", "scale"]
KINDS: tuple[Kind, ...] = ("text", "long text", "number", "choice", "scale")
Order = Literal["arrival", "random"]
StandIns = Literal["none", "half", "count"]
STAND_INS: dict[StandIns, float] = {"none": 0.0, "half": 0.5, "count": 1.0}
"""What an answer that a stand-in gave counts of an answer of one's own."""
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Part:
    """One game of the sequence: `instructions` for people in Markdown (empty: the rules of the game)."""

    name: str
    title: str
    setup: Setup
    instructions: str = ""
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Treatment:
    """What some of the groups play."""

    name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One question of the questionnaire."""

    name: str
    text: str
    kind: Kind = "text"
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    required: bool = False

    def find_mistake(self, typed: str) -> str:
        """Name the text of the interface that says what is wrong with an answer; empty where nothing is."""
        if not typed:
            return "item_required" if self.required else ""
        match self.kind:
            case "choice" | "scale":
                return "" if typed in self.options else "item_option"
            case "number":
                return "" if self._is_number(typed) else "item_number"
            case _:
                return "" if len(typed) <= _LONGEST else "item_long"

    def _is_number(self, typed: str) -> bool:
        try:
            number = Decimal(typed.replace(",", "."))
        except ArithmeticError:
            return False
        low, high = self.low, self.high
        return number.is_finite() and (low is None or number >= Decimal(low)) and (high is None or number <= high)


@dataclass(frozen=True, slots=True)
class Payment:
    """What participants are paid: `show_up`, and `rate` for every point; never less than `least`.

    `stand_ins` says what the answers of stand-ins and bots count; see `compute_share`.
    """

    currency: str
    show_up: Decimal = Decimal(0)
    rate: Decimal = Decimal(0)
    least: Decimal = Decimal(0)
    stand_ins: StandIns = "none"

    def pay(self, points: float) -> Decimal:
        """Return the money for so many points, rounded to a hundredth.

        >>> Payment("EUR", Decimal("2.50"), Decimal("0.05")).pay(39.9)
        Decimal('4.50')
        """
        earned = self.show_up + self.rate * Decimal(repr(round(points, 9)))
        return max(earned, self.least).quantize(Decimal("0.01"), ROUND_HALF_UP)

    def compute_share(self, answers: int, stand_ins: int) -> float:
        """Return the share of its points that a part counts; `stand_ins` of the answers were not the person's.

        >>> Payment("EUR").compute_share(4, 1), Payment("EUR", stand_ins="half").compute_share(4, 1)
        (0.75, 0.875)
        """
        return (answers - stand_ins + STAND_INS[self.stand_ins] * stand_ins) / answers


@dataclass(frozen=True, slots=True)
class Completion:
    """What participants take away: a code, and a link back to where they came from.

    `{code}`, `{participant}` and `{label}` in the link stand for the code, for the participant's own code and for the
    label of the participant's link.
    """

    code: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """How people are put into groups and roles: in the order they come, or at random."""

    groups: Order = "arrival"
    roles: Order = "arrival"


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that an experiment file says; with `debrief` the last page can show the equilibrium."""

    title: str
    treatments: tuple[Treatment, ...]
    groups: int = 1
    seed: int = 0
    language: str = "en"
    welcome: str = ""
    thanks: str = ""
    debrief: bool = False
    assignment: Assignment = Assignment()
    questionnaire: tuple[Item, ...] = ()
    payment: Payment | None = None
    completion: Completion = field(default_factory=Completion)

    @property
    def setups(self) -> tuple[Setup, ...]:
        """The setups of all parts of all treatments."""
        return tuple(part.setup for treatment in self.treatments for part in treatment.parts)

    def get_treatment(self, name: str) -> Treatment:
        """Return the treatment of that name."""
        return next(treatment for treatment in self.treatments if treatment.name == name)
