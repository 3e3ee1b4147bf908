"""What a claim is: one of a closed list of forms, filled with typed arguments, with one printed form.

The first sixteen forms are those of LELMA's solver: thirteen were offered to its Translator, three
(`highest_payoff`, `lowest_payoff`, `lowest_guaranteed_payoff_choice`) were defined there but left out of the prompt.
Here every form takes any player (`you` unless said otherwise), any action and any exact number. The printed form is
the paper's notation: `finally(goal(you, 3), do(choice(you, 'B'), do(choice(them, 'R'), s0))).`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from bestresponse.core.errors import UsageError
from bestresponse.logic.language.terms import Atom, write

__all__ = [
    "FORMS",
    "SEQUENTIAL",
    "YOU",
    "Argument",
    "Chain",
    "Claim",
    "Form",
    "Malformed",
    "Mix",
    "Move",
    "Sort",
    "find_rounding",
    "number_text",
]

YOU: Final = "you"


class Sort(StrEnum):
    """What an argument of a claim is."""

    WHO = "who"
    NUMBER = "number"
    ACTION = "action"
    CHAIN = "chain"
    MIXES = "mixes"
    JOINT = "joint"


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
Argument = str | Fraction | Chain | tuple[Mix, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of claim: its name, its arguments in order, and its meaning with {places}."""

    name: str
    parameters: tuple[tuple[str, Sort], ...]
    meaning: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(name for name, _ in self.parameters)


_WHO, _NUMBER, _ACTION = Sort.WHO, Sort.NUMBER, Sort.ACTION
_CHAIN, _MIXES, _JOINT = Sort.CHAIN, Sort.MIXES, Sort.JOINT
_VALUE = ("value", _NUMBER)
_ABOUT = ("who", _WHO)
_CHOICE = ("action", _ACTION)
_OTHER = ("other", _ACTION)
_TWO = (("first", _NUMBER), ("second", _NUMBER))
_AFTER = ("after", _CHAIN)

_LIST: Final = (
    Form("payoff", (_ABOUT, _VALUE, ("outcome", _CHAIN)), "{who} gets {value} if {outcome}"),
    Form("higher", _TWO, "{first} is more than {second}"),
    Form("lower", _TWO, "{first} is less than {second}"),
    Form("highest_possible_individual_payoff", (_VALUE, _ABOUT), "{value} is the most that {who} can get"),
    Form("lowest_possible_individual_payoff", (_VALUE, _ABOUT), "{value} is the least that {who} can get"),
    Form(
        "highest_individual_payoff_for_choice",
        (_VALUE, _CHOICE, _ABOUT),
        "{value} is the most that {who} can get by choosing {action}",
    ),
    Form(
        "lowest_individual_payoff_for_choice",
        (_VALUE, _CHOICE, _ABOUT),
        "{value} is the least that {who} can get by choosing {action}",
    ),
    Form(
        "guaranteed_payoff_for_choice",
        (_VALUE, _CHOICE, _ABOUT),
        "{who} gets {value} or more by choosing {action}, whatever the others do",
    ),
    Form(
        "limited_payoff_for_choice",
        (_VALUE, _CHOICE, _ABOUT),
        "{who} gets {value} or less by choosing {action}, whatever the others do",
    ),
    Form("highest_guaranteed_payoff_choice", (_CHOICE, _ABOUT), "no choice of {who} has a better worst case"),
    Form("higher_guaranteed_payoff", (_CHOICE, _OTHER, _ABOUT), "{action} has a better worst case than {other}"),
    Form("lower_guaranteed_payoff", (_CHOICE, _OTHER, _ABOUT), "{action} has a worse worst case than {other}"),
    Form("highest_mutual_payoff", (("actions", _JOINT),), "no outcome has a higher sum of payoffs"),
    Form("lowest_mutual_payoff", (("actions", _JOINT),), "no outcome has a lower sum of payoffs"),
    Form("total_payoff", (_VALUE, ("actions", _JOINT)), "the payoffs of all players sum to {value} at {actions}"),
    Form("highest_payoff", (_VALUE,), "{value} is the most that anybody can get"),
    Form("lowest_payoff", (_VALUE,), "{value} is the least that anybody can get"),
    Form("lowest_guaranteed_payoff_choice", (_CHOICE, _ABOUT), "no choice of {who} has a worse worst case"),
    Form("equal", _TWO, "{first} and {second} are the same amount"),
    Form("equal_guaranteed_payoff", (_CHOICE, _OTHER, _ABOUT), "{action} and {other} have the same worst case"),
    Form(
        "expected_payoff",
        (_ABOUT, _VALUE, _CHOICE, ("mixed", _MIXES)),
        "choosing {action} against the mix {mixed} gives {who} {value} on average",
    ),
    Form("best_response", (_CHOICE, ("against", _CHAIN), _ABOUT), "no choice earns {who} more than {action}"),
    Form(
        "better_response",
        (_CHOICE, _OTHER, ("against", _CHAIN), _ABOUT),
        "{action} earns {who} more than {other} if {against}",
    ),
    Form(
        "equal_response",
        (_CHOICE, _OTHER, ("against", _CHAIN), _ABOUT),
        "{action} and {other} earn {who} the same if {against}",
    ),
    Form("best_response_to_mix", (_CHOICE, ("mixed", _MIXES), _ABOUT), "no choice earns {who} more on average"),
    Form(
        "better_response_to_mix",
        (_CHOICE, _OTHER, ("mixed", _MIXES), _ABOUT),
        "{action} earns {who} more than {other} on average against the mix {mixed}",
    ),
    Form(
        "better_outcome", (_ABOUT, ("outcome", _CHAIN), ("than", _CHAIN)), "{who} gets more if {outcome} than if {than}"
    ),
    Form(
        "payoff_difference",
        (_ABOUT, _VALUE, ("outcome", _CHAIN), ("than", _CHAIN)),
        "{who} gets {value} more if {outcome} than if {than}",
    ),
    Form("strictly_dominates", (_CHOICE, _OTHER, _ABOUT), "{action} earns {who} more than {other} in every case"),
    Form(
        "weakly_dominates",
        (_CHOICE, _OTHER, _ABOUT),
        "{action} earns {who} never less than {other} and in some case more",
    ),
    Form("strictly_dominant", (_CHOICE, _ABOUT), "{action} strictly dominates every other choice of {who}"),
    Form("weakly_dominant", (_CHOICE, _ABOUT), "{action} weakly dominates every other choice of {who}"),
    Form("strictly_dominated", (_CHOICE, _ABOUT), "some other choice of {who} strictly dominates {action}"),
    Form("no_dominant_choice", (_ABOUT,), "no choice of {who} weakly dominates every other one"),
    Form("equilibrium", (("outcome", _CHAIN),), "nobody gains by deviating alone from {outcome}"),
    Form("pure_equilibria", (_VALUE,), "exactly {value} outcomes are equilibria"),
    Form("mixed_equilibrium", (("mixes", _MIXES),), "nobody gains by deviating alone from these mixes"),
    Form(
        "pareto_dominates",
        (("outcome", _CHAIN), ("than", _CHAIN)),
        "everybody gets as much in the first outcome as in the second, and somebody more",
    ),
    Form("pareto_optimal", (("outcome", _CHAIN),), "no outcome Pareto-dominates {outcome}"),
    Form("maximin_payoff", (_VALUE, _ABOUT), "{value} is the most {who} can be sure of with a single choice"),
    Form("minimax_payoff", (_VALUE, _ABOUT), "the others can hold {who} down to {value}, and no further"),
    Form("will_play", (_ABOUT, _CHOICE, _AFTER), "{who}, looking ahead, chooses {action} after {after}"),
    Form("continuation_payoff", (_ABOUT, _VALUE, _AFTER), "{who} gets {value} if all look ahead after {after}"),
    Form(
        "average_payoff",
        (_ABOUT, _VALUE, ("outcome", _CHAIN)),
        "{who} gets {value} on average over what nature draws if {outcome}",
    ),
    Form("moves_next", (_ABOUT, _AFTER), "{who} is the next to choose after {after}"),
    Form("knows", (_ABOUT, ("known", _CHAIN), _AFTER), "{who}, about to choose after {after}, knows that {known}"),
    Form("no_claim", (), "the text claims nothing of these kinds"),
)

SEQUENTIAL: Final = ("will_play", "continuation_payoff", "average_payoff", "moves_next", "knows")
"""Forms of claims about games that are played move by move only."""

FORMS: Final[Mapping[str, Form]] = MappingProxyType({form.name: form for form in _LIST})
"""Every form of claim by its name."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something offered as a claim that is none: the text and what is wrong with it."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, or its denial where `negated`. Equal claims print equally; `str` gives the printed form."""

    form: str
    args: tuple[Argument, ...] = ()
    negated: bool = False

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(f"there is no form of claim named {self.form!r}; known: {', '.join(FORMS)}")
        wanted = FORMS[self.form].parameters
        if len(wanted) != len(self.args):
            raise UsageError(f"{self.form} takes {len(wanted)} arguments, got {len(self.args)}")
        for (name, sort), given in zip(wanted, self.args, strict=True):
            if not _fits(sort, given):
                raise UsageError(f"{self.form}: {name} must be of the sort {sort.value}, got {given!r}")

    def __getitem__(self, name: str) -> Any:
        """Return the argument of that name."""
        return self.args[FORMS[self.form].names.index(name)]

    def __str__(self) -> str:
        return f"not({_printed(self)})." if self.negated else f"{_printed(self)}."

    def negate(self) -> Claim:
        """Return the claim that is true exactly where this one is false.

        >>> print(Claim("higher", (Fraction(3), Fraction(1))).negate())
        not(higher(3, 1)).
        """
        return Claim(self.form, self.args, not self.negated)


def _fits(sort: Sort, given: object) -> bool:
    match sort:
        case Sort.WHO | Sort.ACTION:
            return isinstance(given, str)
        case Sort.NUMBER:
            return isinstance(given, Fraction)
        case Sort.CHAIN:
            return isinstance(given, tuple) and all(isinstance(move, Move) for move in given)
        case Sort.MIXES:
            return isinstance(given, tuple) and all(isinstance(mix, Mix) for mix in given)
        case Sort.JOINT:
            return isinstance(given, tuple) and all(isinstance(action, str) for action in given)


def _printed(claim: Claim) -> str:
    if claim.form == "payoff":
        who, value, outcome = claim.args
        return f"finally(goal({_argument(_WHO, who)}, {_argument(_NUMBER, value)}), {_argument(_CHAIN, outcome)})"
    parameters = list(zip(FORMS[claim.form].parameters, claim.args, strict=True))
    if parameters and parameters[-1] == (_ABOUT, YOU):
        parameters.pop()
    inside = ", ".join(_argument(sort, given) for (_, sort), given in parameters)
    return f"{claim.form}({inside})" if inside else claim.form


def _argument(sort: Sort, given: Any) -> str:
    match sort:
        case Sort.WHO:
            return write(Atom(given))
        case Sort.ACTION:
            return _quoted(given)
        case Sort.NUMBER:
            return number_text(given)
        case Sort.JOINT:
            return ", ".join(map(_quoted, given))
        case Sort.CHAIN:
            text = "s0"
            for move in given:
                text = f"do(choice({write(Atom(move.who))}, {_quoted(move.action)}), {text})"
            return text
        case Sort.MIXES:
            return "[" + ", ".join(map(_mix, given)) + "]"


def _mix(mix: Mix) -> str:
    weights = ", ".join(f"{_quoted(action)}-{number_text(weight)}" for action, weight in mix.weights)
    return f"mix({write(Atom(mix.who))}, [{weights}])"


def _quoted(name: str) -> str:
    plain = write(Atom(name))
    return plain if plain.startswith("'") else f"'{plain}'"


def number_text(value: Fraction) -> str:
    """The number as a decimal where it is one, else as a fraction.

    >>> number_text(Fraction(5, 2)), number_text(Fraction(1, 3)), number_text(Fraction(-4))
    ('2.5', '1/3', '-4')
    """
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    digits = 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        digits = max(digits, count)
    if rest != 1 or digits > 30:
        return f"{value.numerator}/{value.denominator}"
    whole = abs(value.numerator) * 10**digits // value.denominator
    text = str(whole).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def find_rounding(value: Fraction) -> Fraction:
    """Return how far an average may be from the decimal that was written for it: half a unit of its last place.

    >>> find_rounding(Fraction("2.33")), find_rounding(Fraction(7, 3)), find_rounding(Fraction(2))
    (Fraction(1, 200), Fraction(0, 1), Fraction(0, 1))
    """
    _, point, decimals = number_text(value).partition(".")
    return Fraction(1, 2 * 10 ** len(decimals)) if point else Fraction(0)
