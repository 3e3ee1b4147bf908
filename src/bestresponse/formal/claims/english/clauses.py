"""Clauses beside a statement: reasons, comments and asides.

Also resolves what "which", "it" and "there" stand for in them.
"""

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
    {
        "best_response",
        "strictly_dominant",
        "weakly_dominant",
        "highest_guaranteed_payoff_choice",
    }
)


class Parting(NamedTuple):
    """A statement and what else its sentence says.

    `link` is the word between them, "(" for an aside.
    """

    statement: str
    rest: str
    link: str = ""


class FilledClause(NamedTuple):
    """A clause as a sentence of its own.

    `place` is what is chosen where it speaks of, None where that is not said.
    """

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

    >>> parting = Parting("R is best", "I like red, which is warm", "because")
    >>> [clause.rest for clause in split_rest(parting)]
    ['I like red', 'is warm']
    """
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
    parting: Parting,
    claims: Sequence[Claim],
    words: Vocabulary,
) -> Iterator[FilledClause]:
    """Yield a clause with what "which", "it" or "there" stands for.

    This is done only if just one thing can be meant.

    "I get 0, which is better than 1" says that 0 is better than 1; "(R, R) is an equilibrium
    because each of us gets 1 there" says what each gets at (R, R); "R is dominant since it pays me
    5 against B" says what R pays.
    """
    place = _find_place(claims, words)
    if place is not None:
        yield from _fill_place(parting, claims, place)
    yield from _fill_guarantee(parting, claims)
    if place is not None:
        yield from _fill_difference(parting, claims, place, words)
    predicate = _find_predicate(parting)
    if predicate is None:
        return
    yield from _fill_amount(parting, predicate, claims, words)
    if parting.link != "(":
        last = parting.link == "which"
        named = _find_named(parting.statement, claims, words, last=last)
        if named is not None:
            yield FilledClause(f"{named} {predicate}", place)


def _fill_place(parting: Parting, claims: Sequence[Claim], place: Case) -> Iterator[FilledClause]:
    """Yield what a clause says of the outcome that the statement judges: "each gets 1 there"."""
    there = _THERE.sub("", parting.rest)
    affirmed = all(claim.form in OF_OUTCOMES and not claim.negated for claim in claims)
    # Without a link the clause comes first, and its "there" may speak of a sentence before.
    if parting.link and (there != parting.rest or affirmed):
        yield FilledClause(there, place)


def _fill_guarantee(parting: Parting, claims: Sequence[Claim]) -> Iterator[FilledClause]:
    """Yield "with a guaranteed payoff of 1" as a statement about a move.

    It is about the move with the best worst case.
    """
    guaranteed = _GUARANTEED.fullmatch(parting.rest)
    forms = {claim.form for claim in claims}
    if parting.link == "with" and guaranteed is not None and forms == {_MAXIMIN}:
        yield FilledClause(f"{claims[0].args[0]} guarantees me {guaranteed[1]}")


def _find_predicate(parting: Parting) -> str | None:
    """Return what a clause says of "which", "it" or what stands before a bracket.

    Returns None where it speaks of something else.
    """
    match parting.link:
        case "(":
            return f"is {parting.rest}"
        case "which":
            return parting.rest
        case "because" | "since" | "and":
            subject, _, predicate = parting.rest.partition(" ")
            return predicate if subject.lower() == "it" else None
        case _:
            return None


def _fill_amount(
    parting: Parting,
    predicate: str,
    claims: Sequence[Claim],
    words: Vocabulary,
) -> Iterator[FilledClause]:
    """Yield "which is more than 1" as a statement about the number at the end of the sentence."""
    if parting.link not in ("which", "(") or not predicate.startswith("is "):
        return
    amount = _find_amount(list(words.find_known(parting.statement)))
    forms = {claim.form for claim in claims}
    # An average or a bound can be more or less than a number; only a payoff can be the highest
    # there is.
    if amount is not None and (" than " in predicate or forms == {"payoff"}):
        yield FilledClause(f"{amount} {predicate}")


def _fill_difference(
    parting: Parting,
    claims: Sequence[Claim],
    place: Case,
    words: Vocabulary,
) -> Iterator[FilledClause]:
    """Yield "which is 2 less than under ..." as a statement about the outcome before it."""
    difference = _DIFFERENCE.fullmatch(parting.rest)
    if parting.link != "which" or difference is None or len(claims) != 1:
        return
    claim = claims[0]
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
    chains: set[tuple[object, ...]] = set()
    for claim in claims:
        if claim.form not in _PLACED:
            return None
        chains.update(argument for argument in claim.args if isinstance(argument, tuple))
    if subject.tree is not None or len(chains) != 1:
        return None
    choices = []
    for move in chains.pop():
        if isinstance(move, Move):
            player = subject.players.index(move.who)
            choices.append((player, subject.index[player][move.action]))
    return Case(choices)


def _find_amount(tokens: list[Token]) -> str | None:
    """Return the number at the end of a statement, if it is the only one in it."""
    units = load_english().lists["phrases"]["_unit"]
    spoken = [token for token in tokens if token not in units]
    numbers = [token for token in tokens if token.type in _AMOUNTS]
    alone = len(numbers) == 1 and spoken[-1] is numbers[0]
    return str(numbers[0]) if alone and numbers[0].type == "NUMBER" else None


def _find_named(
    statement: str,
    claims: Sequence[Claim],
    words: Vocabulary,
    *,
    last: bool,
) -> str | None:
    """Return the outcome or the move that a statement judges, if no other could be meant.

    "It" may stand for the only move there is; "which" for the one just before it.
    """
    tokens = list(words.find_known(statement))
    forms = {claim.form for claim in claims}
    moves = [token for token in tokens if token.type == "MOVE"]
    profile = _PROFILE.match(statement)
    if profile is not None and forms <= OF_OUTCOMES:
        outcome = profile.group()
        is_mutual = outcome.lower().startswith("mutual")
        named = 1 if is_mutual else outcome.count(",") + 1
        return outcome if len(moves) == named else None
    if not moves or len(claims) != 1 or not forms <= _OF_MOVES or claims[0].args[-1] != YOU:
        return None
    action = str(claims[0].args[0])
    judged = (0, words.subject.index[0][action])
    stands = tokens[-1] is moves[-1] if last else len(moves) == 1
    return action if stands and judged in words.find_indices(moves[-1]) else None
