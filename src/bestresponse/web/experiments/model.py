"""An experiment as plain values; the tables of an experiment file with the bounds of every setting."""

from __future__ import annotations

from dataclasses import field
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from bestresponse.core.capabilities import Question
from bestresponse.core.json import JsonObject
from bestresponse.web.sessions.setup import (
    CLOSED,
    Flag,
    Groups,
    Language,
    Parameters,
    Rounds,
    Seats,
    Seconds,
    Seed,
    Setup,
)  # fmt: skip

__all__ = ["TABLES", "Assignment", "Completion", "Experiment", "GameTable", "Item", "Part", "Payment"]

TABLE = ConfigDict(**CLOSED, str_strip_whitespace=True)
Kind = Literal["text", "long text", "number", "choice", "scale"]
Order = Literal["arrival", "random"]
StandIns = Literal["none", "half", "count"]
STAND_INS: dict[StandIns, float] = {"none": 0.0, "half": 0.5, "count": 1.0}
"""What an answer that a stand-in gave counts of an answer of one's own."""
_LONGEST = 2000
Name = Annotated[str, Field(min_length=1, max_length=60)]
Text = Annotated[str, Field(max_length=50_000)]
Title = Annotated[str, Field(max_length=200)]
Sentence = Annotated[str, Field(min_length=1, max_length=_LONGEST)]
Number = Annotated[float, Field(strict=True, ge=-1e12, le=1e12)]
Money = Annotated[Decimal, Field(ge=0, le=10**12)]


@dataclass(frozen=True, config=TABLE)
class QuizQuestion(Question):
    """A question that everybody has to answer right before the game."""

    text: Sentence
    answer: Number


@dataclass(frozen=True, config=TABLE)
class GameTable:
    """A game of the file; see `Setup`."""

    game: Annotated[str, Field(min_length=1, max_length=80)]
    seats: Annotated[Seats, Field(min_length=1)]
    name: Annotated[str, Field(max_length=60)] = ""
    title: Title = ""
    rounds: Rounds = 1
    mixed: Flag = False
    parameters: Parameters = field(default_factory=dict)
    instructions: Text = ""
    quiz: Flag | None = None
    questions: tuple[QuizQuestion, ...] = ()
    referee: Title = ""


@dataclass(frozen=True)
class Part:
    """One game of the sequence: `instructions` for people in Markdown (empty: the rules of the game)."""

    name: str
    title: str
    setup: Setup
    instructions: str = ""
    questions: tuple[QuizQuestion, ...] = ()


@dataclass(frozen=True, config=TABLE)
class TreatmentTable:
    """What is different in some groups, by the name of the game."""

    name: Name
    games: dict[str, JsonObject] = field(default_factory=dict)


@dataclass(frozen=True, config=TABLE)
class Item:
    """One question of the questionnaire; its name is that of a column."""

    name: Annotated[str, Field(max_length=40, pattern="^[A-Za-z0-9_]+$")]
    text: Sentence
    kind: Kind = "text"
    options: tuple[Sentence, ...] = ()
    low: Number | None = None
    high: Number | None = None
    required: Flag = False

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError("options are missing; a choice needs two or more")
        low, high = self._range
        if self.kind == "scale" and not 0 <= low < high <= low + 20:
            raise ValueError(f"a scale from {low} to {high}; expected at most 21 steps")
        return self

    @property
    def _range(self) -> tuple[int, int]:
        return int(self.low or 1), int(self.high or 7)

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen: the options, or the steps of a scale."""
        low, high = self._range
        return tuple(map(str, range(low, high + 1))) if self.kind == "scale" else self.options

    def find_mistake(self, typed: str) -> str:
        """Name the text of the interface that says what is wrong with an answer; empty where nothing is."""
        if not typed:
            return "item_required" if self.required else ""
        match self.kind:
            case "choice" | "scale":
                return "" if typed in self.choices else "item_option"
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


@dataclass(frozen=True, config=TABLE)
class Payment:
    """What participants are paid: `show_up`, and `rate` for every point; never less than `least`.

    `stand_ins` says what the answers of stand-ins and bots count; see `compute_share`.
    """

    currency: Annotated[str, Field(min_length=1, max_length=12)]
    show_up: Money = Decimal(0)
    rate: Money = Decimal(0)
    least: Money = Decimal(0)
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


def _check_link(link: str) -> str:
    if link and (urlsplit(link).scheme not in ("https", "http") or not urlsplit(link).netloc):
        raise ValueError(f"link is {link[:60]!r}; expected an address that begins with https://")
    return link


@dataclass(frozen=True, config=TABLE)
class Completion:
    """What participants take away: a code, and a link back to where they came from.

    `{code}`, `{participant}` and `{label}` in the link stand for the code, for the participant's own code and for the
    label of the participant's link.
    """

    code: Annotated[str, Field(max_length=100)] = ""
    link: Annotated[str, Field(max_length=2000), AfterValidator(_check_link)] = ""


@dataclass(frozen=True, config=TABLE)
class Assignment:
    """How people are put into groups and roles: in the order they come, or at random."""

    groups: Order = "arrival"
    roles: Order = "arrival"


@dataclass(frozen=True, config=TABLE)
class Limits:
    """Seconds for an answer, in the waiting room, and until a seat that was not confirmed is free again."""

    answer: Seconds = 300
    waiting: Seconds = 1800
    hold: Seconds = 900
    stand_in: Annotated[str, Field(max_length=80)] = "random"


@dataclass(frozen=True, config=TABLE, kw_only=True)
class Experiment:
    """What an experiment file says; with `debrief` the last page can show the equilibrium.

    `games` are read once for each treatment, see `GameTable`.
    """

    title: Annotated[str, Field(min_length=1, max_length=200)]
    language: Language = "en"
    groups: Groups = 1
    seed: Seed = 0
    welcome: Text = ""
    consent: Text = ""
    thanks: Text = ""
    debrief: Flag = False
    assignment: Assignment = Assignment()
    limits: Limits = Limits()
    questionnaire: tuple[Item, ...] = ()
    payment: Payment | None = None
    completion: Completion = Completion()
    games: tuple[JsonObject, ...] = ()
    treatments: tuple[TreatmentTable, ...] = ()


TABLES = (Experiment, GameTable, QuizQuestion, TreatmentTable, Item, Payment, Completion, Assignment, Limits)
