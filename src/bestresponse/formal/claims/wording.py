"""Claims in plain English: one sentence that is true exactly when the claim is, and one for its negation."""

from __future__ import annotations

import re
from typing import Any, Final

from bestresponse.core.game import NATURE
from bestresponse.formal.claims.claim import FORMS, Claim
from bestresponse.formal.claims.form import SORTS, YOU, Form, Mix, Move, Sort, number_text

_PLACE: Final = re.compile(r"\{(?:(if|after) )?(\w+)\}")
_VERB: Final = re.compile(r"<([^<>]*)>")


def say(claim: Claim) -> str:
    """The claim as a sentence.

    >>> from bestresponse.formal.claims.grammar import parse
    >>> say(parse("finally(goal(them, 5), do(choice(you, 'B'), do(choice(them, 'R'), s0)))")[0])
    'If you choose B and the other player chooses R, the other player gets 5.'
    """
    text = phrase(claim)
    return text[:1].upper() + text[1:] + "."


def deny(claim: Claim) -> str:
    """The negation of the claim as a sentence.

    >>> from bestresponse.formal.claims.grammar import parse
    >>> deny(parse("higher(3, 5)")[0])
    '3 is not more than 5.'
    """
    return say(claim.negate())


def phrase(claim: Claim) -> str:
    """Return the claim as a clause, to stand inside a sentence.

    >>> from bestresponse.formal.claims.grammar import parse
    >>> phrase(parse("not(strictly_dominant('R'))")[0])
    'R is not strictly dominant for you'
    """
    form = FORMS[claim.form]
    arguments: dict[str, Any] = dict(zip(form.names, claim.args, strict=True))
    who = arguments.get("who", "")

    def fill(place: re.Match[str]) -> str:
        way, name = place.groups()
        if name == "whose":
            return "yours" if who == YOU else _name(str(who))
        said = _tell(name, arguments[name])
        if way == "after":
            return f"after {', then '.join(map(_tell_move, arguments[name]))}" if said else "at the start"
        return said if way is None else f"if {said}, " if said else ""

    return _PLACE.sub(fill, _VERB.sub(lambda verb: _choose_verb(verb[1], str(who), claim.negated), form.words))


def describe(form: Form) -> str:
    """Return what a form of claim says, with its arguments in braces.

    >>> describe(FORMS["payoff"])
    'if {outcome}, {who} gets {value}'
    """
    words = _VERB.sub(lambda verb: _choose_verb(verb[1], "", denied=False), form.words)
    words = re.sub(r"\{if (\w+)\}", r"if {\1}, ", words.replace("{after after}", "after {after}"))
    return words.replace("{whose}", "{who}")


def _choose_verb(verb: str, who: str, denied: bool) -> str:
    """Return the first or second of two ways to say something, or a verb as it goes with a person."""
    made, bar, opposite = verb.partition("|")
    if bar:
        return opposite if denied else made
    if denied:
        return f"{'do' if who == YOU else 'does'} not {verb}"
    return verb if who == YOU else f"{verb}s"


def _name(who: str) -> str:
    return {YOU: YOU, "them": "the other player", NATURE: "chance"}.get(who, who)


def _tell(name: str, argument: Any) -> str:
    match SORTS[name]:
        case Sort.WHO:
            return _name(argument)
        case Sort.ACTION:
            return str(argument)
        case Sort.NUMBER:
            return number_text(argument)
        case Sort.JOINT:
            return f"({', '.join(argument)})"
        case Sort.MIXES:
            return " and ".join(map(_tell_mix, argument))
        case Sort.CHAIN:
            if name == "removed":
                whose = ("yours" if move.who == YOU else _name(move.who) for move in argument)
                return " and ".join(f"{move.action} of {who}" for move, who in zip(argument, whose, strict=True))
            movers = {move.who for move in argument}
            if len(movers) == len(argument) and NATURE not in movers:  # order does not matter: the reasoner first
                argument = sorted(argument, key=lambda move: move.who != YOU)
            return " and ".join(map(_tell_move, argument))


def _tell_move(move: Move) -> str:
    verb = "draw" if move.who == NATURE else "choose"
    return f"{_name(move.who)} {_choose_verb(verb, move.who, denied=False)} {move.action}"


def _tell_mix(mix: Mix) -> str:
    shares = " and ".join(f"{action} with probability {number_text(weight)}" for action, weight in mix.weights)
    return f"{_name(mix.who)} {_choose_verb('choose', mix.who, denied=False)} {shares}"
