"""What a form of claim is.

Each is declared once, at a method of a theory of games (`tables`, `trees`):

    @form("{if outcome}{who} <get> {value}")
    def payoff(self, who: int, value: Fraction, outcome: PureProfile) -> Fraction: ...

The method's name and parameters are the form's name and arguments, in its words `<a|b>` is a where
the claim is made and b where it is denied, and `<get>` is a verb of {who}. The method decides the
claim by arithmetic: it returns whether it holds, or the number that `value` has to be. The rule by
which a logic engine decides it is in `shared.pl`, `tables.pl` or `trees.pl`:

    claim(payoff(Who, Value, Outcome)) :- pays(Who, Outcome, U), U =:= Value.

Its arguments are those of the method and perhaps `Error`, half a unit of the last place of a number
that was written; `possible(...)` is the rule by which it may hold. A form without a rule is decided
by theory alone.

A package adds a form by the entry point NAME of the group `bestresponse.forms`: a function of a
theory and of the arguments, declared by `add_form` with its words and its rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from bestresponse.core.errors import UsageError
from bestresponse.logic.engine import Proof

YOU = "you"
SHARED_RULES = Path(__file__).with_name("shared.pl").read_text("utf-8")


class Sort(StrEnum):
    """What an argument of a claim is."""

    WHO = "who"
    NUMBER = "number"
    ACTION = "action"
    CHAIN = "chain"
    MIXES = "mixes"
    JOINT = "joint"


SORTS = {
    "who": Sort.WHO,
    **dict.fromkeys(("value", "first", "second", "share"), Sort.NUMBER),
    **dict.fromkeys(("action", "other"), Sort.ACTION),
    **dict.fromkeys(
        (
            "outcome",
            "than",
            "against",
            "after",
            "known",
            "removed",
            "chosen",
        ),
        Sort.CHAIN,
    ),
    **dict.fromkeys(("mixed", "mixes", "part"), Sort.MIXES),
    "actions": Sort.JOINT,
}
"""The sort of every argument by its name."""


class Move(NamedTuple):
    """Who chooses what."""

    who: str
    action: str


class Mix(NamedTuple):
    """With which probabilities somebody chooses; actions that are not named have probability 0."""

    who: str
    weights: tuple[tuple[str, Fraction], ...]


Chain = tuple[Move, ...]
"""Choices in the order they are made, the first one first; in a table the order does not matter."""


class Belief(NamedTuple):
    """How some players mix, in the order of the players.

    Holds the probabilities and the most that each may have been.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    highest: tuple[tuple[Fraction, ...], ...]

    def leave_out(self, player: int) -> Belief:
        """Return the same without one player."""
        return Belief(*(rows[:player] + rows[player + 1 :] for rows in self))


class Ungrounded(Exception):
    """Why a claim cannot be put to this game."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of claim: its name, its arguments in order and its words."""

    name: str
    names: tuple[str, ...]
    words: str

    @property
    def parameters(self) -> tuple[tuple[str, Sort], ...]:
        """The arguments with their sorts."""
        return tuple((name, SORTS[name]) for name in self.names)


Method = TypeVar("Method", bound=Callable[..., Any])


def form(words: str) -> Callable[[Method], Method]:
    """Declare the form of claim that a method decides."""

    def declare(method: Method) -> Method:
        names = tuple(signature(method).parameters)[1:]
        method.form = Form(method.__name__, names, words)  # type: ignore[attr-defined]
        return method

    return declare


@dataclass(frozen=True, slots=True)
class AddedForm:
    """A form of claim of a package: how it is decided by arithmetic and by logic.

    The rule in logic is "" if there is none.
    """

    form: Form
    decide: Callable[..., bool | Fraction | Proof]
    rule: str = ""
    about: Literal["tables", "trees"] = "tables"


def add_form(
    words: str,
    *,
    rule: str = "",
    about: Literal["tables", "trees"] = "tables",
) -> Callable[[Callable[..., bool | Fraction | Proof]], AddedForm]:
    """Declare a form of claim of a package, at the function that decides it.

    The function takes the theory of the game (`TableTheory` or `TreeTheory`) and the arguments of
    the form, whose names are among those of `SORTS`. Claims by a model and in the paper's notation
    are read at once; the rules for plain English do not know its words.
    """

    def declare(decide: Callable[..., bool | Fraction | Proof]) -> AddedForm:
        names = tuple(signature(decide).parameters)[1:]
        if unknown := [name for name in names if name not in SORTS]:
            known = ", ".join(SORTS)
            raise UsageError(
                f"the form {decide.__name__} has an argument {unknown[0]!r}; possible: {known}"
            )
        return AddedForm(Form(decide.__name__, names, words), decide, rule, about)

    return declare


def list_forms(theory: type) -> dict[str, Form]:
    """Return the forms that a theory decides, by name."""
    methods = (method for part in reversed(theory.__mro__) for method in vars(part).values())
    return {method.form.name: method.form for method in methods if hasattr(method, "form")}


Outcome = TypeVar("Outcome")
"""How a theory says where a game ends."""


class SharedForms(ABC, Generic[Outcome]):
    """What can be claimed of numbers, and of payoffs in any game."""

    num_players: int

    @abstractmethod
    def pay(self, player: int, outcome: Outcome) -> Fraction:
        """Return what a player gets in an outcome."""

    @abstractmethod
    def bound_payoffs(self, *players: int) -> tuple[Fraction, Fraction]:
        """Return the least and the most that any of these players, all by default, can get."""

    @form("{first} <is|is not> more than {second}")
    def higher(self, first: Fraction, second: Fraction) -> bool:
        """Compare two numbers."""
        return first > second

    @form("{first} <is|is not> less than {second}")
    def lower(self, first: Fraction, second: Fraction) -> bool:
        """Compare two numbers."""
        return first < second

    @form("{first} and {second} <are|are not> equal")
    def equal(self, first: Fraction, second: Fraction) -> bool:
        """Compare two numbers."""
        return first == second

    @form("{if outcome}{who} <get> {value}")
    def payoff(self, who: int, value: Fraction, outcome: Outcome) -> Fraction | Proof:
        """Say what a player gets in an outcome."""
        return self.pay(who, outcome)

    @form("the most {who} can get <is|is not> {value}")
    def highest_possible_individual_payoff(self, value: Fraction, who: int) -> Fraction:
        """Say what is the most a player can get."""
        return self.bound_payoffs(who)[1]

    @form("the least {who} can get <is|is not> {value}")
    def lowest_possible_individual_payoff(self, value: Fraction, who: int) -> Fraction:
        """Say what is the least a player can get."""
        return self.bound_payoffs(who)[0]

    @form("{if outcome}the payoffs of all players <sum|do not sum> to {value}")
    def total_payoff(self, value: Fraction, outcome: Outcome) -> Fraction:
        """Say what all players get together in an outcome."""
        return sum((self.pay(player, outcome) for player in range(self.num_players)), Fraction(0))

    @form("the most anybody can get <is|is not> {value}")
    def highest_payoff(self, value: Fraction) -> Fraction:
        """Say what is the most that anybody can get."""
        return self.bound_payoffs()[1]

    @form("the least anybody can get <is|is not> {value}")
    def lowest_payoff(self, value: Fraction) -> Fraction:
        """Say what is the least that anybody can get."""
        return self.bound_payoffs()[0]

    @form("{who} <get> more if {outcome} than if {than}")
    def better_outcome(self, who: int, outcome: Outcome, than: Outcome) -> bool:
        """Compare what a player gets in two outcomes."""
        return self.pay(who, outcome) > self.pay(who, than)

    @form("{who} <get> {value} more if {outcome} than if {than}")
    def payoff_difference(
        self,
        who: int,
        value: Fraction,
        outcome: Outcome,
        than: Outcome,
    ) -> Fraction:
        """Say how much more a player gets in one outcome than in another."""
        return self.pay(who, outcome) - self.pay(who, than)

    @form("{who} <get> {value} times as much if {outcome} as if {than}")
    def payoff_ratio(
        self,
        who: int,
        value: Fraction,
        outcome: Outcome,
        than: Outcome,
    ) -> bool:
        """Compare two payoffs by their ratio."""
        base = self.pay(who, than)
        return base != 0 and self.pay(who, outcome) == value * base


def number_text(value: Fraction) -> str:
    """The number as a decimal where it is one, else as a fraction.

    >>> number_text(Fraction(5, 2)), number_text(Fraction(1, 3)), number_text(Fraction(-4))
    ('2.5', '1/3', '-4')
    """
    digits = next((digits for digits in range(31) if 10**digits % value.denominator == 0), None)
    if digits is None:
        return f"{value.numerator}/{value.denominator}"
    if digits == 0:
        return str(value.numerator)
    text = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{text[:-digits]}.{text[-digits:]}"


class WrittenNumber(Fraction):
    """A number as it was written.

    `decimals` are the digits after its point, including zeros at its end.
    """

    decimals: int

    def __new__(cls, text: str) -> WrittenNumber:
        """Read a decimal or a fraction."""
        number = super().__new__(cls, text)
        number.decimals = len(text.partition(".")[2])
        return number


def find_rounding(value: Fraction, decimals: int = 1) -> Fraction:
    """Return how far a number may be from the decimal that was written for it.

    This is half a unit of its last place.

    What has fewer decimals is taken as it stands, and so is a probability of 0.50.

    >>> find_rounding(Fraction("2.33")), find_rounding(Fraction(7, 3))
    (Fraction(1, 200), Fraction(0, 1))
    >>> find_rounding(Fraction(1, 2), decimals=2)
    Fraction(0, 1)
    >>> find_rounding(WrittenNumber("2.0")), find_rounding(WrittenNumber("2"))
    (Fraction(1, 20), Fraction(0, 1))
    """
    written = len(number_text(value).partition(".")[2])
    if isinstance(value, WrittenNumber) and decimals == 1:
        written = max(written, value.decimals)
    return Fraction(1, 2 * 10**written) if written >= decimals else Fraction(0)
