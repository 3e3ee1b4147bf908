"""What a claim is: one of a closed list of forms, filled with typed arguments, with one printed form.

The first forms are those of LELMA's solver: thirteen were offered to its Translator, three (`highest_payoff`,
`lowest_payoff`, `lowest_guaranteed_payoff_choice`) were defined there but left out of the prompt. Here every form takes
any player (`you` unless said otherwise), any action and any exact number. The printed form is the paper's notation:
`finally(goal(you, 3), do(choice(you, 'B'), do(choice(them, 'R'), s0))).`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.form import YOU, Chain, Form, Mix, Move, Sort, list_forms, number_text
from bestresponse.formal.claims.tables import TableTheory
from bestresponse.formal.claims.trees import TreeTheory
from bestresponse.logic.language.terms import Atom, write

Argument = str | Fraction | Chain | tuple[Mix, ...] | tuple[str, ...]

NO_CLAIM: Final = "no_claim"
_EMPTY: Final = {
    NO_CLAIM: Form(NO_CLAIM, (), "the text claims <nothing|something> of these kinds"),
    "unclear": Form("unclear", (), "it is <unclear|clear> of whom or of which choice something is claimed"),
}
OF_TABLES: Final[Mapping[str, Form]] = MappingProxyType(list_forms(TableTheory))
"""Every form of claim about a table, by its name."""
OF_TREES: Final[Mapping[str, Form]] = MappingProxyType(list_forms(TreeTheory))
"""Every form of claim about a game played move by move; words stand in `FORMS`."""
FORMS: Final[Mapping[str, Form]] = MappingProxyType({**OF_TREES, **OF_TABLES, **_EMPTY})
"""Every form of claim by its name."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something offered as a claim that is none: the text and what is wrong with it, in full and in two words."""

    text: str
    why: str
    kind: str = "unknown form"


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
        for (name, sort), argument in zip(wanted, self.args, strict=True):
            if not _fits(sort, argument):
                raise UsageError(f"{self.form}: {name} must be of the sort {sort.value}, got {argument!r}")

    def __getitem__(self, name: str) -> Any:
        """Return the argument of that name."""
        return self.args[FORMS[self.form].names.index(name)]

    def __str__(self) -> str:
        return f"not({_print(self)})." if self.negated else f"{_print(self)}."

    def negate(self) -> Claim:
        """Return the claim that is true exactly where this one is false.

        >>> print(Claim("higher", (Fraction(3), Fraction(1))).negate())
        not(higher(3, 1)).
        """
        return Claim(self.form, self.args, not self.negated)

    def change(self, **arguments: Argument) -> Claim:
        """Return the claim with other arguments, not denied."""
        pairs = zip(FORMS[self.form].names, self.args, strict=True)
        return Claim(self.form, tuple(arguments.get(name, argument) for name, argument in pairs))


def _fits(sort: Sort, argument: object) -> bool:
    match sort:
        case Sort.WHO | Sort.ACTION:
            return isinstance(argument, str)
        case Sort.NUMBER:
            return isinstance(argument, Fraction)
    kind = {Sort.CHAIN: Move, Sort.MIXES: Mix, Sort.JOINT: str}[sort]
    return isinstance(argument, tuple) and all(isinstance(part, kind) for part in argument)


def _print(claim: Claim) -> str:
    parameters = list(zip(FORMS[claim.form].parameters, claim.args, strict=True))
    if claim.form == "payoff":
        who, value, outcome = (_print_argument(sort, argument) for (_, sort), argument in parameters)
        return f"finally(goal({who}, {value}), {outcome})"
    if parameters and parameters[-1] == (("who", Sort.WHO), YOU):
        parameters.pop()
    inside = ", ".join(_print_argument(sort, argument) for (_, sort), argument in parameters)
    return f"{claim.form}({inside})" if inside else claim.form


def _print_argument(sort: Sort, argument: Any) -> str:
    match sort:
        case Sort.WHO:
            return write(Atom(argument))
        case Sort.ACTION:
            return _quote(argument)
        case Sort.NUMBER:
            return number_text(argument)
        case Sort.JOINT:
            return ", ".join(map(_quote, argument))
        case Sort.CHAIN:
            text = "s0"
            for move in argument:
                text = f"do(choice({write(Atom(move.who))}, {_quote(move.action)}), {text})"
            return text
        case Sort.MIXES:
            mixes = (", ".join(f"{_quote(action)}-{number_text(p)}" for action, p in mix.weights) for mix in argument)
            pairs = zip(argument, mixes, strict=True)
            return "[" + ", ".join(f"mix({write(Atom(mix.who))}, [{weights}])" for mix, weights in pairs) + "]"


def _quote(name: str) -> str:
    plain = write(Atom(name))
    return plain if plain.startswith("'") else f"'{plain}'"
