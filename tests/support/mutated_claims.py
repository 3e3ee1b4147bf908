"""Claims as a translator would make them that puts right, or confuses, what was said."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sentences import Example

from bestresponse.formal.claims.claim import FORMS, Claim, QuotedClaim
from bestresponse.formal.claims.form import Mix, Move, Sort, Ungrounded
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.translation import keep_said


def keeps(claim: Claim, example: Example, of: Claim | None = None) -> bool:
    """Return whether a claim is kept beside the others of its sentence; a changed one quotes the
    words of what it was made `of`, and stands in its place."""
    others = example.claims - {of or claim}
    rows = [QuotedClaim(claim, example.quotes.get(of or claim, example.text))]
    rows += [QuotedClaim(one, example.quotes.get(one, example.text)) for one in others]
    return next(iter(keep_said(rows, example.text, example.subject))) == rows[0]


def mutate(claim: Claim, subject: Subject) -> set[Claim]:
    """Return the claims that differ from one in its denial, or in one of its arguments."""
    found = set()
    for changed in (claim.negate(), *_exchange(claim), *_change(claim, subject)):
        try:
            found.add(ground(changed, subject).claim)
        except Ungrounded:
            continue
    return found - {claim}


def _exchange(claim: Claim) -> Iterator[Claim]:
    for first, second in (("first", "second"), ("action", "other"), ("outcome", "than")):
        if {first, second} <= set(FORMS[claim.form].names):
            yield claim.change(**{first: claim[second], second: claim[first]})


def _change(claim: Claim, subject: Subject) -> Iterator[Claim]:
    for number, (_, sort) in enumerate(FORMS[claim.form].parameters):
        for argument in _vary(claim, sort, claim.args[number], subject):
            args = (*claim.args[:number], argument, *claim.args[number + 1 :])
            yield Claim(claim.form, args, claim.negated)


def _vary(claim: Claim, sort: Sort, argument: Any, subject: Subject) -> Iterator[Any]:
    match sort:
        case Sort.NUMBER:
            yield from {Fraction(str(one)) for one in subject.game.payoffs.ravel().tolist()}
        case Sort.WHO:
            yield from subject.players
        case Sort.ACTION:
            who = claim["who"] if "who" in FORMS[claim.form].names else subject.players[0]
            yield from subject.actions[subject.players.index(who)]
        case Sort.JOINT:
            for place, actions in enumerate(subject.actions):
                for action in actions:
                    yield (*argument[:place], action, *argument[place + 1 :])
        case Sort.CHAIN:
            yield tuple(
                Move(move.who, other.action)
                for move, other in zip(argument, argument[::-1], strict=True)
            )
            for place, move in enumerate(argument):
                for action in subject.actions[subject.players.index(move.who)]:
                    yield (*argument[:place], Move(move.who, action), *argument[place + 1 :])
        case Sort.MIXES:
            for place, mix in enumerate(argument):
                names, shares = zip(*mix.weights, strict=True)
                turned = Mix(mix.who, tuple(zip(names, shares[::-1], strict=True)))
                yield (*argument[:place], turned, *argument[place + 1 :])
                for who in subject.players:
                    yield (*argument[:place], Mix(who, mix.weights), *argument[place + 1 :])
