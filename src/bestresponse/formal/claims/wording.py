"""Claims in plain English: one sentence that is true exactly when the claim is, and one for its negation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.claim import FORMS, YOU, Chain, Claim, Mix, Move, number_text

__all__ = ["deny", "phrase", "say"]

THE_OTHER = "the other player"

Values = JsonObject
Telling = Callable[[Values, str], str]
"""A claim's arguments and `not` or nothing, to a sentence without its capital and full stop."""


def say(claim: Claim) -> str:
    """The claim as a sentence.

    >>> from bestresponse.formal.claims.grammar import parse
    >>> say(parse("finally(goal(them, 5), do(choice(you, 'B'), do(choice(them, 'R'), s0)))")[0])
    'If you choose B and the other player chooses R, the other player gets 5.'
    """
    return _sentence(claim, "")


def deny(claim: Claim) -> str:
    """The negation of the claim as a sentence.

    >>> from bestresponse.formal.claims.grammar import parse
    >>> deny(parse("higher(3, 5)")[0])
    '3 is not more than 5.'
    """
    return _sentence(claim, "not")


def phrase(claim: Claim) -> str:
    """Return the claim as a clause, to stand inside a sentence.

    >>> from bestresponse.formal.claims.grammar import parse
    >>> phrase(parse("pure_equilibria(2)")[0])
    'the game has exactly 2 pure Nash equilibria'
    """
    return _clause(claim, "")


def _sentence(claim: Claim, no: str) -> str:
    text = _clause(claim, no)
    return text[:1].upper() + text[1:] + "."


def _clause(claim: Claim, no: str) -> str:
    values = dict(zip(FORMS[claim.form].names, claim.args, strict=True))
    denied = claim.negated != bool(no)
    return _SENTENCES[claim.form](values, "not" if denied else "")


def _person(who: str) -> str:
    return {YOU: YOU, "them": THE_OTHER, NATURE: "chance"}.get(who, who)


def _verb(who: str, plain: str, no: str = "") -> str:
    """`plain` as it goes with the person, perhaps negated: you do not get, she does not get."""
    if no:
        return f"{'do' if who == YOU else 'does'} not {plain}"
    return plain if who == YOU else f"{plain}s"


def _is(no: str) -> str:
    return f"is {no}".strip()


def _are(no: str) -> str:
    return f"are {no}".strip()


def _has(no: str) -> str:
    return "does not have" if no else "has"


def _to(who: str) -> str:
    return f"for {_person(who)}"


def _whose(who: str) -> str:
    return "yours" if who == YOU else _person(who)


def _said(chain: Chain) -> str:
    """Say what chance draws and everybody chooses, the reasoner first where order does not matter."""
    movers = {move.who for move in chain}
    any_order = len(movers) == len(chain) and NATURE not in movers
    return " and ".join(map(_made, sorted(chain, key=lambda move: move.who != YOU) if any_order else chain))


def _made(move: Move) -> str:
    return f"{_person(move.who)} {_verb(move.who, 'draw' if move.who == NATURE else 'choose')} {move.action}"


def _if(chain: Chain) -> str:
    return f"if {_said(chain)}, " if chain else ""


def _than(v: Values) -> str:
    return f"{_said(v['outcome'])} than if {_said(v['than'])}"


def _after(chain: Chain) -> str:
    told = ", then ".join(map(_made, chain))
    return f"after {told}" if told else "at the start"


def _mixed(mixes: tuple[Mix, ...]) -> str:
    said = []
    for who, weights in mixes:
        shares = " and ".join(f"{action} with probability {number_text(weight)}" for action, weight in weights)
        said.append(f"{_person(who)} {_verb(who, 'choose')} {shares}")
    return " and ".join(said)


def _mixes(mixes: tuple[Mix, ...]) -> str:
    return f"if {_mixed(mixes)}, " if mixes else ""


def _joint(actions: tuple[str, ...]) -> str:
    return "(" + ", ".join(actions) + ")"


def _n(value: Fraction) -> str:
    return number_text(value)


def _extreme(most: str) -> Telling:
    def text(v: Values, no: str) -> str:
        by = f" by choosing {v['action']}" if "action" in v else ""
        who = _person(v["who"]) if "who" in v else "anybody"
        return f"the {most} {who} can get{by} {_is(no)} {_n(v['value'])}"

    return text


def _worst_case(better: str) -> Telling:
    def text(v: Values, no: str) -> str:
        if better == "same":
            same = "do not have" if no else "have"
            return f"{v['action']} and {v['other']} {same} the same worst case {_to(v['who'])}"
        return f"{v['action']} {_has(no)} a {better} worst case {_to(v['who'])} than {v['other']}"

    return text


def _top(better: str) -> Telling:
    def text(v: Values, no: str) -> str:
        start = "some" if no else "no"
        return f"{start} choice of {_whose(v['who'])} has a {better} worst case than {v['action']}"

    return text


def _sum(higher: str) -> Telling:
    def text(v: Values, no: str) -> str:
        return f"{'some' if no else 'no'} outcome has a {higher} sum of payoffs than {_joint(v['actions'])}"

    return text


def _earns(v: Values, no: str, rest: str) -> str:
    verb = "does not earn" if no else "earns"
    return f"{v['action']} {verb} {_person(v['who'])} {rest}"


def _dominates(how: str) -> Telling:
    def text(v: Values, no: str) -> str:
        verb = f"does not {how} dominate" if no else f"{how} dominates"
        return f"{v['action']} {verb} {v['other']} {_to(v['who'])}"

    return text


def _standing(what: str) -> Telling:
    def text(v: Values, no: str) -> str:
        return f"{v['action']} {_is(no)} {what} {_to(v['who'])}"

    return text


def _best(v: Values, no: str) -> str:
    return f"{_if(v['against'])}{'some' if no else 'no'} choice earns {_person(v['who'])} more than {v['action']}"


def _best_mixed(v: Values, no: str) -> str:
    case = _mixes(v["mixed"])
    return f"{case}{'some' if no else 'no'} choice earns {_person(v['who'])} more on average than {v['action']}"


_SENTENCES: dict[str, Telling] = {
    "payoff": lambda v, no: f"{_if(v['outcome'])}{_person(v['who'])} {_verb(v['who'], 'get', no)} {_n(v['value'])}",
    "higher": lambda v, no: f"{_n(v['first'])} {_is(no)} more than {_n(v['second'])}",
    "lower": lambda v, no: f"{_n(v['first'])} {_is(no)} less than {_n(v['second'])}",
    "equal": lambda v, no: f"{_n(v['first'])} and {_n(v['second'])} {_are(no)} equal",
    "highest_possible_individual_payoff": _extreme("most"),
    "lowest_possible_individual_payoff": _extreme("least"),
    "highest_individual_payoff_for_choice": _extreme("most"),
    "lowest_individual_payoff_for_choice": _extreme("least"),
    "guaranteed_payoff_for_choice": lambda v, no: (
        f"{v['action']} {'does not guarantee' if no else 'guarantees'} {_person(v['who'])} at least {_n(v['value'])}"
    ),
    "limited_payoff_for_choice": lambda v, no: (
        f"{v['action']} {'can earn' if no else 'never earns'} {_person(v['who'])} more than {_n(v['value'])}"
    ),
    "highest_payoff": _extreme("most"),
    "lowest_payoff": _extreme("least"),
    "highest_guaranteed_payoff_choice": _top("better"),
    "lowest_guaranteed_payoff_choice": _top("worse"),
    "higher_guaranteed_payoff": _worst_case("better"),
    "lower_guaranteed_payoff": _worst_case("worse"),
    "equal_guaranteed_payoff": _worst_case("same"),
    "highest_mutual_payoff": _sum("higher"),
    "lowest_mutual_payoff": _sum("lower"),
    "total_payoff": lambda v, no: (
        f"the payoffs at {_joint(v['actions'])} {'do not sum' if no else 'sum'} to {_n(v['value'])}"
    ),
    "expected_payoff": lambda v, no: _mixes(v["mixed"]) + _earns(v, no, f"{_n(v['value'])} on average"),
    "best_response": _best,
    "best_response_to_mix": _best_mixed,
    "better_response_to_mix": lambda v, no: _mixes(v["mixed"]) + _earns(v, no, f"more on average than {v['other']}"),
    "better_outcome": lambda v, no: f"{_person(v['who'])} {_verb(v['who'], 'get', no)} more if {_than(v)}",
    "payoff_difference": lambda v, no: (
        f"{_person(v['who'])} {_verb(v['who'], 'get', no)} {_n(v['value'])} more if {_than(v)}"
    ),
    "better_response": lambda v, no: _if(v["against"]) + _earns(v, no, f"more than {v['other']}"),
    "equal_response": lambda v, no: _if(v["against"]) + _earns(v, no, f"the same as {v['other']}"),
    "strictly_dominates": _dominates("strictly"),
    "weakly_dominates": _dominates("weakly"),
    "strictly_dominant": _standing("strictly dominant"),
    "weakly_dominant": _standing("weakly dominant"),
    "strictly_dominated": _standing("strictly dominated by a single choice"),
    "equilibrium": lambda v, no: f"the outcome in which {_said(v['outcome'])} {_is(no)} a Nash equilibrium",
    "no_dominant_choice": lambda v, no: (
        f"{_person(v['who'])} {'have' if v['who'] == YOU else 'has'} {'a' if no else 'no'} dominant choice"
    ),
    "pure_equilibria": lambda v, no: (
        f"the game {_has(no)} exactly {_n(v['value'])} pure Nash equilibri{'um' if v['value'] == 1 else 'a'}"
    ),
    "mixed_equilibrium": lambda v, no: f"it {_is(no)} a Nash equilibrium that {_mixed(v['mixes'])}",
    "pareto_dominates": lambda v, no: (
        f"{'it is not so that ' if no else ''}everybody gets at least as much, and somebody more, "
        f"if {_said(v['outcome'])} than if {_said(v['than'])}"
    ),
    "pareto_optimal": lambda v, no: (
        f"{'some' if no else 'no'} outcome is at least as good for everybody, and better for somebody, "
        f"than that in which {_said(v['outcome'])}"
    ),
    "maximin_payoff": lambda v, no: (
        f"the most {_person(v['who'])} can be sure of with a single choice {_is(no)} {_n(v['value'])}"
    ),
    "minimax_payoff": lambda v, no: f"the least the others can hold {_person(v['who'])} to {_is(no)} {_n(v['value'])}",
    "will_play": lambda v, no: (
        f"{_after(v['after'])}, {_person(v['who'])} looking ahead {_verb(v['who'], 'choose', no)} {v['action']}"
    ),
    "continuation_payoff": lambda v, no: (
        f"{_after(v['after'])}, with everybody looking ahead {_person(v['who'])} {_verb(v['who'], 'get', no)} "
        f"{_n(v['value'])}"
    ),
    "average_payoff": lambda v, no: (
        f"over what chance draws, {_person(v['who'])} {_verb(v['who'], 'get', no)} {_n(v['value'])} on average if "
        f"{_said(v['outcome'])}"
    ),
    "moves_next": lambda v, no: f"{_after(v['after'])}, the next to choose {_is(no)} {_person(v['who'])}",
    "knows": lambda v, no: (
        f"{_after(v['after'])}, {_person(v['who'])} {_verb(v['who'], 'know', no)} that {_said(v['known'])}"
    ),
    "no_claim": lambda v, no: "this claims nothing" if not no else "this claims something",
}
