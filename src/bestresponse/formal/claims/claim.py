"""A claim: one of a closed list of forms, with typed arguments and one printed form.

The first forms are those of LELMA's solver: thirteen were offered to its Translator, three
(`highest_payoff`, `lowest_payoff`, `lowest_guaranteed_payoff_choice`) were defined there but left
out of the prompt. Here every form takes any player (`you` by default), any action and
any exact number. The printed form is the paper's notation: `finally(goal(you, 3), do(choice(you,
'B'), do(choice(them, 'R'), s0))).`

`parse` reads terms in the paper's notation, `parse_json` a translator's answer. A query is one term
with an optional full stop; a translator's answer is JSON under a schema. Whatever cannot be read is
a `Malformed` with the reason; reading never raises and never runs anything.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeGuard, cast, get_args

from bestresponse.core.ask import is_number
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import Registry, did_you_mean, find_by_name
from bestresponse.formal.claims.form import (
    YOU,
    AddedForm,
    Chain,
    Form,
    Mix,
    Move,
    Sort,
    list_forms,
    number_text,
)
from bestresponse.formal.claims.tables import TableTheory
from bestresponse.formal.claims.trees import TreeTheory
from bestresponse.games.dialogue.schemas import make_object
from bestresponse.logic.language.reader import read_term
from bestresponse.logic.language.terms import (
    Atom,
    String,
    Struct,
    Term,
    Var,
    brief,
    deref,
    items_of,
    write,
)

Argument = str | Fraction | Chain | tuple[Mix, ...] | tuple[str, ...]

NO_CLAIM = "no_claim"
_EMPTY = {
    NO_CLAIM: Form(NO_CLAIM, (), "the text claims <nothing|something> of these kinds"),
    "unclear": Form(
        "unclear",
        (),
        "it is <unclear|clear> of whom or of which choice something is claimed",
    ),
}
added_forms = Registry("bestresponse.forms", "form of claim")
"""Forms of claim that packages add, each made by `add_form` and of the name of its entry point."""


def list_added() -> Mapping[str, AddedForm]:
    """Return the forms of installed packages.

    One that cannot be used is named in a warning and left out.
    """
    return _load_added(tuple(sys.path))


@lru_cache(maxsize=8)
def _load_added(path: tuple[str, ...]) -> Mapping[str, AddedForm]:
    """Load the forms once for as long as packages are looked for in the same places."""
    added: dict[str, AddedForm] = {}
    for name in added_forms.names():
        try:
            found = added_forms.load(name)
            if not isinstance(found, AddedForm) or found.form.name != name:
                raise UsageError(
                    f"{added_forms.describe(name)} is left out: it is no form of that name by"
                    " `add_form`"
                )
            if name in _BUILT_IN:
                raise UsageError(
                    f"{added_forms.describe(name)} is left out: there is a form of that name"
                )
            added[name] = found
        except UsageError as error:
            warnings.warn(str(error), stacklevel=2)
    return MappingProxyType(added)


class KnownForms(Mapping[str, Form]):
    """Forms by name, the built-in ones first, then those of packages.

    Packages are searched if a name is not built in.
    """

    def __init__(self, built_in: Mapping[str, Form], *about: str) -> None:
        self._built_in = built_in
        self._about = about

    def __getitem__(self, name: str) -> Form:
        """Return the form of that name."""
        if name in self._built_in:
            return self._built_in[name]
        added = list_added().get(name)
        if added is None or added.about not in self._about:
            raise KeyError(name)
        return added.form

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from (name for name, added in list_added().items() if added.about in self._about)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_TABLE_FORMS = list_forms(TableTheory)
_TREE_FORMS = list_forms(TreeTheory)
_BUILT_IN = {**_TREE_FORMS, **_TABLE_FORMS, **_EMPTY}
OF_TABLES = KnownForms(_TABLE_FORMS, "tables")
"""Every form of claim about a table, by its name."""
OF_TREES = KnownForms(_TREE_FORMS, "trees")
"""Every form of claim about a game played move by move; words are in `FORMS`."""
FORMS = KnownForms(_BUILT_IN, "tables", "trees")
"""Every form of claim by its name."""
FormSet = Literal["all", "payoffs", "paper"]
PAPER_FORMS = (
    "payoff",
    "higher",
    "lower",
    "highest_possible_individual_payoff",
    "lowest_possible_individual_payoff",
    "highest_individual_payoff_for_choice",
    "lowest_individual_payoff_for_choice",
    "highest_guaranteed_payoff_choice",
    "higher_guaranteed_payoff",
    "lower_guaranteed_payoff",
    "highest_mutual_payoff",
    "lowest_mutual_payoff",
    # The paper's translator wrote "at least 1" and "at most 5" as the two extremes of a choice.
    "guaranteed_payoff_for_choice",
    "limited_payoff_for_choice",
)
"""What LELMA's Translator was offered: thirteen templates, of which two are payoffs, mine and
theirs."""
PAYOFF_FORMS = (
    *PAPER_FORMS,
    "equal",
    "highest_payoff",
    "lowest_payoff",
    "lowest_guaranteed_payoff_choice",
    "equal_guaranteed_payoff",
    "total_payoff",
    "better_outcome",
    "payoff_difference",
    "payoff_ratio",
    "expected_payoff",
    "mixed_payoff",
    "average_payoff",
)
"""Forms that speak of amounts only: no term of game theory is needed to say or to check them."""


def check_forms(forms: str) -> FormSet:
    """Return the set of forms of that name; UsageError where there is none."""
    find_by_name(dict.fromkeys(get_args(FormSet)), forms, "set of forms")
    return cast(FormSet, forms)


def counts_in(form: str, forms: FormSet) -> bool:
    """Return whether a form belongs to a set of forms.

    What is malformed or unclear belongs to all.
    """
    if forms == "all" or form in _EMPTY:
        return True
    return form in (PAPER_FORMS if forms == "paper" else PAYOFF_FORMS)


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something offered as a claim that is none.

    Holds the text and what is wrong with it, in full and in two words.
    """

    text: str
    why: str
    kind: str = "unknown form"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim, or its denial where `negated`.

    Equal claims print equally; `str` gives the printed form.
    """

    form: str
    args: tuple[Argument, ...] = ()
    negated: bool = False

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(
                f"there is no form of claim named {self.form!r}; known: {', '.join(FORMS)}"
            )
        wanted = FORMS[self.form].parameters
        if len(wanted) != len(self.args):
            raise UsageError(f"{self.form} takes {len(wanted)} arguments, got {len(self.args)}")
        for (name, sort), argument in zip(wanted, self.args, strict=True):
            if not _fits(sort, argument):
                raise UsageError(
                    f"{self.form}: {name} must be of the sort {sort.value}, got {argument!r}"
                )

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
        names = FORMS[self.form].names
        changed = dict(zip(names, self.args, strict=True)) | arguments
        return Claim(self.form, tuple(changed[name] for name in names))


def _fits(sort: Sort, argument: object) -> bool:
    match sort:
        case Sort.WHO | Sort.ACTION:
            return isinstance(argument, str)
        case Sort.NUMBER:
            return isinstance(argument, Fraction)
    if not isinstance(argument, tuple):
        return False
    kind = {Sort.CHAIN: Move, Sort.MIXES: Mix, Sort.JOINT: str}[sort]
    return all(isinstance(part, kind) for part in argument)


def _print(claim: Claim) -> str:
    form = FORMS[claim.form]
    printed = []
    for (_, sort), argument in zip(form.parameters, claim.args, strict=True):
        printed.append(_print_argument(sort, argument))
    if claim.form == "payoff":
        player, value, outcome = printed
        return f"finally(goal({player}, {value}), {outcome})"
    if form.names and form.names[-1] == "who" and claim.args[-1] == YOU:
        printed.pop()
    inside = ", ".join(printed)
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
            mixes = []
            for mix in argument:
                weights = [
                    f"{_quote(action)}-{number_text(share)}" for action, share in mix.weights
                ]
                mixes.append(f"mix({write(Atom(mix.who))}, [{', '.join(weights)}])")
            return f"[{', '.join(mixes)}]"


def _quote(name: str) -> str:
    plain = write(Atom(name))
    return plain if plain.startswith("'") else f"'{plain}'"


MOST_QUERY = 2_000
MOST_CLAIMS = 1_000
_MOST_DIGITS = 60


class _Unreadable(ValueError):
    """Why a term is no claim."""


def parse(query: str) -> tuple[Claim | Malformed, ...]:
    """The claims of one query, or what is wrong with it.

    There is one claim, or several for a conjunction or an outcome with several payoffs.

    >>> [str(claim) for claim in parse("higher(5, 2.50)")]
    ['higher(5, 2.5).']
    >>> [malformed] = parse("higher(5, X, Y).")
    >>> malformed.kind, malformed.why
    ('unknown form', 'higher takes 2 arguments, got 3')
    """
    text = query.strip()
    if len(text) > MOST_QUERY:
        why = f"the query has {len(text):,} characters; the limit is {MOST_QUERY:,}"
        return (Malformed(text[:80] + "...", why),)
    try:
        term = read_term(text).term
    except (ValueError, RecursionError) as error:
        return (Malformed(text, f"this is no term: {error}"),)
    try:
        return tuple(_claims(deref(term)))
    except _Unreadable as error:
        return (Malformed(text, str(error)),)


def _claims(term: Term) -> Iterator[Claim]:
    if isinstance(term, Atom) and str(term) in FORMS:
        term = Struct(str(term), ())
    if not isinstance(term, Struct):
        raise _Unreadable(f"a claim has a name and arguments, not {brief(term)}")
    if term.name in ("not", "\\+") and len(term.args) == 1:
        denied = deref(term.args[0])
        claims = list(_claims(denied))
        if len(claims) != 1 or claims[0].form == NO_CLAIM:
            raise _Unreadable("only a single claim can be denied")
        yield claims[0].negate()
        return
    if term.name == "," and len(term.args) == 2:
        for part in term.args:
            yield from _claims(deref(part))
        return
    if term.name == "finally" and len(term.args) == 2:
        yield from _finally(*map(deref, term.args))
        return
    if term.name not in FORMS:
        raise _Unreadable(
            f"there is no form of claim {term.name!r}.{did_you_mean(term.name, list(FORMS))}"
        )
    yield Claim(term.name, tuple(_arguments(term)))


def _finally(result: Term, situation: Term) -> Iterator[Claim]:
    if _is_struct(result, "goal", 2):
        player, value = result.args
        yield Claim("payoff", (_name(player), _number(value), _chain(situation)))
    elif _is_struct(result, "outcome") and len(result.args) % 3 == 0:
        yield from _read_outcome(result.args)
    else:
        raise _Unreadable(
            f"finally/2 takes goal(Player, Payoff) or outcome(...), not {brief(result)}"
        )


def _read_outcome(args: tuple[Term, ...]) -> Iterator[Claim]:
    """Yield a claim for each payoff of player, move, payoff, player, move, payoff, ....

    A variable in the place of a payoff states none.
    """
    triples = [args[start : start + 3] for start in range(0, len(args), 3)]
    outcome = tuple(Move(_name(player), _name(move)) for player, move, _ in triples)
    stated = False
    for player, _, value in triples:
        if not isinstance(deref(value), Var):
            stated = True
            yield Claim("payoff", (_name(player), _number(value), outcome))
    if not stated:
        raise _Unreadable("the outcome states no payoff")


def _is_struct(term: Term, name: str, size: int | None = None) -> TypeGuard[Struct]:
    """Say whether a term is a structure with a certain name and number of arguments."""
    if not isinstance(term, Struct) or term.name != name:
        return False
    return size is None or len(term.args) == size


def _arguments(term: Struct) -> Iterator[Any]:
    sorts = [sort for _, sort in FORMS[term.name].parameters]
    arguments = list(term.args)
    if sorts and sorts[-1] is Sort.JOINT:
        # One argument for each player's move, as many as there are players.
        first = len(sorts) - 1
        yield from map(_argument, sorts[:first], arguments)
        yield tuple(map(_name, arguments[first:]))
        return
    if len(arguments) == len(sorts) - 1 and sorts[-1] is Sort.WHO:
        arguments.append(Atom(YOU))
    if len(arguments) != len(sorts):
        raise _Unreadable(f"{term.name} takes {len(sorts)} arguments, got {len(arguments)}")
    yield from map(_argument, sorts, arguments)


def _argument(sort: Sort, term: Term) -> object:
    match sort:
        case Sort.WHO | Sort.ACTION | Sort.JOINT:
            return _name(term)
        case Sort.NUMBER:
            return _number(term)
        case Sort.CHAIN:
            return _chain(term)
        case Sort.MIXES:
            mixes, _ = items_of(term)
            return tuple(_mix(deref(mix)) for mix in mixes)


def _name(term: Term) -> str:
    """A name: an atom, a string, a number, or a word in capitals.

    A strict reader takes a word in capitals for a variable.
    """
    term = deref(term)
    if isinstance(term, Var) and not term.name.startswith("_"):
        return term.name
    if isinstance(term, Atom | String):
        return str(term)
    if isinstance(term, int | float):
        return str(term)
    raise _Unreadable(f"a name was expected, not {brief(term)}")


def _number(term: Term) -> Fraction:
    term = deref(term)
    if isinstance(term, Struct) and term.name == "-" and len(term.args) == 1:
        return -_number(term.args[0])
    if isinstance(term, Struct) and term.name in ("/", "rdiv") and len(term.args) == 2:
        above, below = map(_number, term.args)
        is_fraction = below.denominator == 1 and below > 0
        return read_number(f"{above}/{below}" if is_fraction else "")
    if isinstance(term, (int, float, Fraction, Atom, String)):
        return read_number(str(term))
    raise _Unreadable(f"a number was expected, not {brief(term)}")


def read_number(text: str) -> Fraction:
    """Read a decimal or a fraction, perhaps with a currency sign.

    Raises ValueError where it is none or very long.

    >>> read_number("$2.50"), read_number("1/3"), read_number("1e-05")
    (Fraction(5, 2), Fraction(1, 3), Fraction(1, 100000))
    """
    plain = text.strip().strip("$€£ ").replace("−", "-")
    if len(plain) <= _MOST_DIGITS and re.fullmatch(
        r"-?\d+(?:\.\d+)?(?:e[+-]?\d{1,2}|/0*[1-9]\d*)?",
        plain,
        re.ASCII,
    ):
        return Fraction(plain)
    raise _Unreadable(f"a number was expected, not {brief(Atom(text))}")


def _chain(term: Term) -> tuple[Move, ...]:
    """`do(choice(Who, Action), Before)` down to an initial situation, as moves.

    The moves are in order from the first one on.
    """
    moves: list[Move] = []
    term = deref(term)
    while _is_struct(term, "do", 2):
        move = deref(term.args[0])
        if not (_is_struct(move, "choice", 2) or _is_struct(move, "move", 2)):
            raise _Unreadable(f"choice(Player, Action) was expected, not {brief(move)}")
        who, action = map(_name, move.args)
        moves.append(Move(who, action))
        term = deref(term.args[1])
    if isinstance(term, Struct):
        raise _Unreadable(f"do(choice(Player, Action), ...) was expected, not {brief(term)}")
    return tuple(reversed(moves))


def _mix(term: Term) -> Mix:
    if not _is_struct(term, "mix", 2):
        raise _Unreadable(f"mix(Player, [Action-Probability, ...]) was expected, not {brief(term)}")
    player, written = term.args
    pairs, _ = items_of(written)
    weights = []
    for pair in map(deref, pairs):
        if not _is_struct(pair, "-", 2):
            raise _Unreadable(f"Action-Probability was expected, not {brief(pair)}")
        action, probability = pair.args
        weights.append((_name(action), _number(probability)))
    return Mix(_name(player), tuple(weights))


_NUMBER: JsonObject = {"type": ["number", "string"]}
"""A number, or a fraction as text: a third has no decimal."""
_LIST = re.compile(r'"claims"\s*:\s*\[\s*|^\s*\[\s*')
_BETWEEN = re.compile(r"\s*,?\s*")
_MOST_NAMES = 100
"""The most names that the schema lists; with more, any name is allowed and checked when the claim
is decided."""


@dataclass(frozen=True, slots=True)
class QuotedClaim:
    """A claim of a translator's answer and the words of the text that make it.

    The words are "" if the answer does not say them.
    """

    claim: Claim | Malformed
    quote: str = ""


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """What a translator answered.

    `complete` is false where the answer was cut off after these claims.

    `kept` is the part of the answer that these claims were read from, as JSON.
    """

    rows: tuple[QuotedClaim, ...]
    complete: bool = True
    kept: str = ""


def _sorts(players: tuple[str, ...], actions: tuple[str, ...]) -> dict[Sort, dict[str, object]]:
    player = _one_of(players)
    action = _one_of(actions)
    weight = make_object({"action": action, "probability": _NUMBER})
    return {
        Sort.WHO: player,
        Sort.NUMBER: _NUMBER,
        Sort.ACTION: action,
        Sort.CHAIN: {"type": "array", "items": make_object({"who": player, "action": action})},
        Sort.MIXES: {
            "type": "array",
            "items": make_object({"who": player, "weights": {"type": "array", "items": weight}}),
        },
        Sort.JOINT: {"type": "array", "items": action},
    }


def _one_of(names: tuple[str, ...]) -> dict[str, object]:
    return (
        {"type": "string", "enum": list(names)}
        if 0 < len(names) <= _MOST_NAMES
        else {"type": "string"}
    )


def _or_null(schema: JsonObject) -> dict[str, object]:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    nullable = schema | {"type": [*kinds, "null"]}
    return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable


def claims_schema(
    forms: tuple[str, ...] = tuple(_BUILT_IN),
    players: tuple[str, ...] = (),
    actions: tuple[str, ...] = (),
) -> dict[str, object]:
    """Return the JSON schema of a translator's answer.

    The answer has the form `{"claims": [{"form": ..., its arguments by name}, ...]}`.

    It is valid in OpenAI's strict mode: every property is required, no object is open, and what a
    form does not take is null. Where players and actions are given, no other names are allowed.
    """
    sorts = _sorts(players, actions)
    properties: JsonObject = {
        "form": {"type": "string", "enum": list(forms)},
        "negated": {"type": "boolean"},
        "quote": {"type": "string"},
    }
    for form in forms:
        for name, sort in FORMS[form].parameters:
            properties.setdefault(name, _or_null(sorts[sort]))
    return make_object({"claims": {"type": "array", "items": make_object(properties)}})


def parse_json(text: str) -> tuple[Claim | Malformed, ...]:
    """Return the claims of a JSON answer; an answer that is no such JSON is one `Malformed`.

    >>> [str(c) for c in parse_json('{"claims": [{"form": "higher", "first": 5, "second": 3}]}')]
    ['higher(5, 3).']
    """
    rows = read_answer(text).rows
    return tuple(dict.fromkeys(row.claim for row in rows))


def read_answer(text: str) -> JsonAnswer:
    """Read a translator's JSON answer, whatever stands around it.

    Of one that was cut off, the claims before that.
    """
    if len(text) > MOST_QUERY * MOST_CLAIMS:
        return _no_answer(
            text, f"the answer has {len(text):,} characters, over {MOST_QUERY * MOST_CLAIMS:,}"
        )
    start = _LIST.search(text)
    if start is None:
        return _no_answer(text, 'expected an object with a list "claims"')
    rows: list[object] = []
    position = start.end()
    complete = False
    decoder = json.JSONDecoder()
    while not complete:
        try:
            row, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            complete = text.startswith("]", position)
            if not (rows or complete):
                return _no_answer(text, f"this is no JSON: {error}")
            break
        rows.append(row)
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]
    read = [_read_row(row) for row in rows[:MOST_CLAIMS]]
    if len(rows) > MOST_CLAIMS:
        why = f"got {len(rows):,} claims; the limit is {MOST_CLAIMS:,}"
        read.append(QuotedClaim(Malformed("...", why, "too long")))
    return JsonAnswer(tuple(read), complete, json.dumps({"claims": rows}, ensure_ascii=False))


def _no_answer(text: str, why: str) -> JsonAnswer:
    malformed = Malformed(text[:80], why, "unreadable reply")
    return JsonAnswer((QuotedClaim(malformed),))


def _read_row(row: object) -> QuotedClaim:
    shown = json.dumps(row, ensure_ascii=False)[:200]
    if not isinstance(row, dict):
        return QuotedClaim(Malformed(shown, "a claim is an object with a form"))
    name = row.get("form")
    quote = row.get("quote")
    quote = quote if isinstance(quote, str) else ""
    if not isinstance(name, str) or name not in FORMS:
        return QuotedClaim(Malformed(shown, f"there is no form of claim {name!r}"), quote)
    if not isinstance(row.get("negated"), bool | None):
        return QuotedClaim(Malformed(shown, "negated is true or false"), quote)
    arguments = []
    for parameter, sort in FORMS[name].parameters:
        try:
            is_reasoner = sort is Sort.WHO and row.get(parameter) is None
            value = YOU if is_reasoner else row[parameter]
            arguments.append(_read_argument(sort, value))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            why = f"{parameter}: {error}"
            if row.get(parameter) is None:
                why = f"{name} needs {parameter!r}"
            return QuotedClaim(Malformed(shown, why), quote)
    claim = Claim(name, tuple(arguments), row.get("negated") is True)
    return QuotedClaim(claim, quote)


def _read_argument(sort: Sort, value: Any) -> Argument:
    match sort:
        case Sort.WHO | Sort.ACTION:
            return _read_name(value)
        case Sort.NUMBER:
            return read_number(_read_name(value))
        case Sort.JOINT:
            return tuple(map(_read_name, value))
        case Sort.CHAIN:
            moves = []
            for move in value:
                who = _read_name(move["who"])
                moves.append(Move(who, _read_name(move["action"])))
            return tuple(moves)
        case Sort.MIXES:
            mixes = []
            for mix in value:
                who = _read_name(mix["who"])
                weights = []
                for weight in mix["weights"]:
                    action = _read_name(weight["action"])
                    weights.append((action, read_number(_read_name(weight["probability"]))))
                mixes.append(Mix(who, tuple(weights)))
            return tuple(mixes)


def _read_name(value: object) -> str:
    if not (is_number(value) or isinstance(value, str)):
        raise ValueError(f"a name or a number was expected, not {value!r:.60}")
    return str(value)
