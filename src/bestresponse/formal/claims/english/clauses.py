"""Clauses beside a statement: reasons, comments and asides, and what "which", "it" and "there"
stand for in them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from lark import Token

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.english.parts import Case
from bestresponse.formal.claims.english.vocabulary import Vocabulary, load_english
from bestresponse.formal.claims.form import YOU, Move
from bestresponse.formal.claims.subject import THEM

_BEHIND: Final = re.compile(
    r",?\s+as well$|,?\s+(?P<link>because|since|as|although|though|which|making|so|namely)\s+|:\s+"
    r"|,\s+(?:(?P<where>where|in which|with)|by)\s+|,?\s+and possibly\s+"
    r"|,?\s+(?P<and>and)\s+(?=it\s)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\W*(?:\w+,?\s+)?(?:because|since)\s+", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\s*\(([^()\d]*)\)")
_THERE: Final = re.compile(
    r"^(?:there|then|in that case),?\s+|\s+(?:there|then|in that case)$", re.IGNORECASE
)
_PROFILE: Final = re.compile(r"\([^()\d]*,[^()\d]*\)|mutual \w+", re.IGNORECASE)
_AMOUNTS: Final = ("NUMBER", "SHARE")
_MAXIMIN: Final = "highest_guaranteed_payoff_choice"
_GUARANTEED: Final = re.compile(r"a (?:guaranteed|minimum|security) payoff of (-?[\d./]+)", re.I)
_DIFFERENCE: Final = re.compile(
    r"is (?P<by>[\d./]+)(?: points?)? (?P<more>more|less) than (?:under|in|at|with) (?P<than>.+)",
    re.I,
)
# Claims of these forms speak of one outcome, or of the choices that one move responds to.
_PLACED: Final = frozenset({"payoff", "equilibrium", "pareto_optimal", "best_response"})
OF_OUTCOMES: Final = frozenset({"equilibrium", "pareto_optimal"})
# Claims of these forms say something of one move of one player, which is their first argument.
_OF_MOVES: Final = frozenset(
    {"best_response", "strictly_dominant", "weakly_dominant", "highest_guaranteed_payoff_choice"}
)


class Parting(NamedTuple):
    """A statement and what else its sentence says; `link` is the word between them, "(" for an
    aside."""

    statement: str
    rest: str
    link: str = ""


class FilledClause(NamedTuple):
    """A clause as a sentence of its own; `place` is what is chosen where it speaks of, None where
    that is not said."""

    text: str
    place: Case | None = None


def split_comment(sentence: str) -> Iterator[Parting]:
    """Yield a statement and what else its sentence says, for every place where they may part.

    >>> list(split_comment("R is best, because I like red"))
    [Parting(statement='R is best', rest='I like red', link='because')]
    """
    for match in _BEHIND.finditer(sentence):
        link = match["link"] or match["where"] or match["and"] or ""
        yield Parting(sentence[: match.start()], sentence[match.end() :], link.lower())
        if link.lower() == "so":
            # "Paper beats rock, so I get 1": what follows may be the statement.
            yield Parting(sentence[match.end() :], sentence[: match.start()])
    before = _BEFORE.match(sentence)
    for comma in reversed(list(re.finditer(r",\s", sentence))):
        if before is not None and comma.start() > before.end():
            yield Parting(sentence[comma.end() :], sentence[before.end() : comma.start()])
    for aside in _ASIDE.finditer(sentence):
        behind = sentence[aside.end() :]
        # What an aside says of an amount it says of the one before it, so that nothing may stand
        # behind.
        link = "" if behind.strip() else "("
        yield Parting(sentence[: aside.start()] + behind, aside[1], link)


def split_rest(parting: Parting) -> list[Parting]:
    """Return the clauses of what else a sentence says.

    >>> [clause.rest for clause in split_rest(Parting("R is best", "I like red, which is warm", "because"))]
    ['I like red', 'is warm']
    """  # noqa: E501
    statement, rest, link = parting
    clauses: list[Parting] = []
    start = 0
    for match in _BEHIND.finditer(rest):
        clauses.append(Parting(statement, rest[start : match.start()], link))
        # What refers to a clause before it does not refer to the statement.
        link = ""
        start = match.end()
    return [*clauses, Parting(statement, rest[start:], link)]


def carry_over(
    parting: Parting, claims: Sequence[Claim], words: Vocabulary
) -> Iterator[FilledClause]:
    """Yield a clause with what "which", "it" or "there" stands for, where only one thing can be
    meant.

    "I get 0, which is better than 1" says that 0 is better than 1; "(R, R) is an equilibrium
    because each of us gets 1 there" says what each gets at (R, R); "R is dominant since it pays me
    5 against B" says what R pays.
    """
    statement, rest, link = parting
    tokens = list(words.find_known(statement))
    place = _find_place(claims, words)
    there = _THERE.sub("", rest)
    # Before the statement "there" may speak of a sentence before.
    affirmed = all(claim.form in OF_OUTCOMES and not claim.negated for claim in claims)
    if link and place is not None and (there != rest or affirmed):
        yield FilledClause(there, place)
    guaranteed = _GUARANTEED.fullmatch(rest) if link == "with" else None
    if guaranteed is not None and {claim.form for claim in claims} == {_MAXIMIN}:
        yield FilledClause(f"{claims[0].args[0]} guarantees me {guaranteed[1]}")
    difference = _DIFFERENCE.fullmatch(rest) if link == "which" else None
    if difference is not None and place is not None and len(claims) == 1:
        yield from _fill_difference(difference, claims[0], place, words)
    if link == "(":
        rest = f"is {rest}"
    elif link in ("because", "since", "and"):
        it, _, rest = rest.partition(" ")
        if it.lower() != "it":
            return
    elif link != "which":
        return
    amount = _find_amount(tokens) if link in ("which", "(") and rest.startswith("is ") else None
    # An average or a bound can be more or less than a number; only a payoff can be the highest
    # there is.
    if amount is not None and (" than " in rest or {claim.form for claim in claims} == {"payoff"}):
        yield FilledClause(f"{amount} {rest}")
    named = None if link == "(" else _find_named(statement, claims, words, last=link == "which")
    if named is not None:
        yield FilledClause(f"{named} {rest}", place)


def _fill_difference(
    difference: re.Match[str], claim: Claim, place: Case, words: Vocabulary
) -> Iterator[FilledClause]:
    """Yield "which is 2 less than under ..." as a statement about the outcome before it."""
    if claim.form != "payoff" or claim.args[0] not in (YOU, THEM):
        return
    who = "I" if claim.args[0] == YOU else "they"
    chosen = [words.subject.actions[player][index] for player, index in sorted(place)]
    outcome = f"mutual {chosen[0]}" if len(set(chosen)) == 1 else f"({', '.join(chosen)})"
    than = difference["than"]
    yield FilledClause(
        f"{who} get {difference['by']} {difference['more']} under {outcome} than under {than}"
    )


def _find_place(claims: Sequence[Claim], words: Vocabulary) -> Case | None:
    """Return what is chosen in the one place that claims speak of."""
    subject = words.subject
    chains = {arg for claim in claims for arg in claim.args if isinstance(arg, tuple)}
    if (
        subject.tree is not None
        or len(chains) != 1
        or any(claim.form not in _PLACED for claim in claims)
    ):
        return None
    moves = [move for move in chains.pop() if isinstance(move, Move)]
    players = [subject.players.index(move.who) for move in moves]
    indices = [
        subject.index[player][move.action] for player, move in zip(players, moves, strict=True)
    ]
    return Case(zip(players, indices, strict=True))


def _find_amount(tokens: list[Token]) -> str | None:
    """Return the number at the end of a statement, if it is the only one in it."""
    units = load_english().lists["phrases"]["_unit"]
    spoken = [token for token in tokens if token not in units]
    numbers = [token for token in tokens if token.type in _AMOUNTS]
    alone = len(numbers) == 1 and spoken[-1] is numbers[0]
    return str(numbers[0]) if alone and numbers[0].type == "NUMBER" else None


def _find_named(
    statement: str, claims: Sequence[Claim], words: Vocabulary, *, last: bool
) -> str | None:
    """Return the outcome or the move that a statement judges, if no other could be meant.

    "It" may stand for the only move there is; "which" for the one just before it.
    """
    tokens = list(words.find_known(statement))
    forms = {claim.form for claim in claims}
    moves = [token for token in tokens if token.type == "MOVE"]
    profile = _PROFILE.match(statement)
    if profile is not None and forms <= OF_OUTCOMES:
        named = (
            1 if profile.group().lower().startswith("mutual") else profile.group().count(",") + 1
        )
        return profile.group() if len(moves) == named else None
    if not moves or len(claims) != 1 or not forms <= _OF_MOVES or claims[0].args[-1] != YOU:
        return None
    action = str(claims[0].args[0])
    judged = (0, words.subject.index[0][action])
    stands = tokens[-1] is moves[-1] if last else len(moves) == 1
    return action if stands and judged in words.find_indices(moves[-1]) else None
