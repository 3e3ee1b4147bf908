"""The grammar of claims: terms in the paper's notation become typed claims.

A query is one term with an optional full stop; several stand in braces, `{higher(3, 1).} {equal(2, 2).}`, or one on
each line. Whatever cannot be read is a `Malformed` with the reason; reading never raises and never runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from bestresponse.core.registry import did_you_mean
from bestresponse.formal.claims.claim import FORMS, NO_CLAIM, Claim, Malformed
from bestresponse.formal.claims.form import YOU, Mix, Move, Sort
from bestresponse.logic.language.reader import read_term
from bestresponse.logic.language.terms import Atom, String, Struct, Term, Var, brief, deref, items_of

MOST_QUERY: Final = 2_000
MOST_CLAIMS: Final = 1_000
_MOST_DIGITS: Final = 60
_BRACES = re.compile(r"\{([^{}]*)\}")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


class _Unreadable(ValueError):
    """Why a term is no claim."""


def parse(query: str) -> tuple[Claim | Malformed, ...]:
    """The claims of one query: one, several for a conjunction or an outcome with several payoffs, or what is wrong.

    >>> [str(claim) for claim in parse("higher(5, 2.50)")]
    ['higher(5, 2.5).']
    >>> parse("higher(5, X, Y).")
    (Malformed(text='higher(5, X, Y).', why='higher takes 2 arguments, got 3', kind='unknown form'),)
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


def parse_queries(reply: str) -> tuple[Claim | Malformed, ...]:
    """All queries of a translator's reply: what stands in braces, or, where there are none, each line."""
    found = _BRACES.findall(reply[: MOST_QUERY * MOST_CLAIMS])
    if not found:
        lines = (_BULLET.sub("", line).strip(" `") for line in reply[: MOST_QUERY * MOST_CLAIMS].splitlines())
        found = [line for line in lines if "(" in line or line.rstrip(".") in (NO_CLAIM, "unclear")]
    read = [one for query in found[:MOST_CLAIMS] if query.strip() for one in parse(query)]
    if len(found) > MOST_CLAIMS:
        read.append(Malformed("...", f"{len(found):,} queries came; the limit is {MOST_CLAIMS:,}"))
    return tuple(dict.fromkeys(read))


def _claims(term: Term) -> Iterator[Claim]:
    if isinstance(term, Atom) and str(term) in FORMS:
        term = Struct(str(term), ())
    if not isinstance(term, Struct):
        raise _Unreadable(f"a claim has a name and arguments, not {brief(term)}")
    if term.name in ("not", "\\+") and len(term.args) == 1:
        claims = list(_claims(deref(term.args[0])))
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
        raise _Unreadable(f"there is no form of claim {term.name!r}.{did_you_mean(term.name, list(FORMS))}")
    yield Claim(term.name, tuple(_arguments(term)))


def _finally(result: Term, situation: Term) -> Iterator[Claim]:
    if isinstance(result, Struct) and result.name == "goal" and len(result.args) == 2:
        who, value = result.args
        yield Claim("payoff", (_name(who), _number(value), _chain(situation)))
    elif isinstance(result, Struct) and result.name == "outcome" and len(result.args) % 3 == 0:
        triples = [result.args[i : i + 3] for i in range(0, len(result.args), 3)]
        outcome = tuple(Move(_name(who), _name(action)) for who, action, _ in triples)
        stated = [(who, value) for who, _, value in triples if not isinstance(deref(value), Var)]
        if not stated:
            raise _Unreadable("the outcome states no payoff")
        yield from (Claim("payoff", (_name(who), _number(value), outcome)) for who, value in stated)
    else:
        raise _Unreadable(f"finally/2 takes goal(Player, Payoff) or outcome(...), not {brief(result)}")


def _arguments(term: Struct) -> Iterator[Any]:
    wanted = FORMS[term.name].parameters
    given = list(term.args)
    if wanted and wanted[-1][1] is Sort.JOINT:
        first = len(wanted) - 1
        yield from (_argument(sort, one) for (_, sort), one in zip(wanted[:first], given, strict=False))
        yield tuple(_name(one) for one in given[first:])
        return
    if len(given) == len(wanted) - 1 and wanted[-1] == ("who", Sort.WHO):
        given.append(Atom(YOU))
    if len(given) != len(wanted):
        raise _Unreadable(f"{term.name} takes {len(wanted)} arguments, got {len(given)}")
    for (_, sort), one in zip(wanted, given, strict=True):
        yield _argument(sort, one)


def _argument(sort: Sort, term: Term) -> Any:
    match sort:
        case Sort.WHO | Sort.ACTION | Sort.JOINT:
            return _name(term)
        case Sort.NUMBER:
            return _number(term)
        case Sort.CHAIN:
            return _chain(term)
        case Sort.MIXES:
            return tuple(_mix(deref(item)) for item in items_of(term)[0])


def _name(term: Term) -> str:
    """A name: an atom, a string, a number, or a word in capitals that a strict reader takes for a variable."""
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
        return read_number(f"{above}/{below}" if below.denominator == 1 and below > 0 else "")
    if isinstance(term, int | float | Fraction | Atom | String):
        return read_number(str(term))
    raise _Unreadable(f"a number was expected, not {brief(term)}")


def read_number(text: str) -> Fraction:
    """Read a decimal or a fraction, perhaps with a currency sign; ValueError where it is none or very long.

    >>> read_number("$2.50"), read_number("1/3"), read_number("1e-05")
    (Fraction(5, 2), Fraction(1, 3), Fraction(1, 100000))
    """
    plain = text.strip().strip("$€£ ").replace("−", "-")
    if len(plain) <= _MOST_DIGITS and re.fullmatch(r"-?\d+(?:\.\d+)?(?:e[+-]?\d{1,2}|/0*[1-9]\d*)?", plain, re.ASCII):
        return Fraction(plain)
    raise _Unreadable(f"a number was expected, not {brief(Atom(text))}")


def _chain(term: Term) -> tuple[Move, ...]:
    """`do(choice(Who, Action), Before)` down to an initial situation, as moves from the first one on."""
    moves: list[Move] = []
    term = deref(term)
    while isinstance(term, Struct) and term.name == "do" and len(term.args) == 2:
        move = deref(term.args[0])
        if not (isinstance(move, Struct) and move.name in ("choice", "move") and len(move.args) == 2):
            raise _Unreadable(f"choice(Player, Action) was expected, not {brief(move)}")
        moves.append(Move(_name(move.args[0]), _name(move.args[1])))
        term = deref(term.args[1])
    if isinstance(term, Struct):
        raise _Unreadable(f"do(choice(Player, Action), ...) was expected, not {brief(term)}")
    return tuple(reversed(moves))


def _mix(term: Term) -> Mix:
    if not (isinstance(term, Struct) and term.name == "mix" and len(term.args) == 2):
        raise _Unreadable(f"mix(Player, [Action-Probability, ...]) was expected, not {brief(term)}")
    pairs = [deref(pair) for pair in items_of(term.args[1])[0]]
    weights = []
    for pair in pairs:
        if not (isinstance(pair, Struct) and pair.name == "-" and len(pair.args) == 2):
            raise _Unreadable(f"Action-Probability was expected, not {brief(pair)}")
        weights.append((_name(pair.args[0]), _number(pair.args[1])))
    return Mix(_name(term.args[0]), tuple(weights))
