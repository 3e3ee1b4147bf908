"""Claims decided by a logic engine on the game's program. One program is loaded; each claim is one goal."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

from bestresponse.core.errors import InvalidGame, LogicError
from bestresponse.formal.claims.claim import Claim, find_rounding
from bestresponse.formal.claims.grounding import Grounded, Ungrounded, ground
from bestresponse.formal.claims.program import action, outcome, player, write_program
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import LogicEngine, Program, Proof, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of

__all__ = ["LogicCheck"]


class LogicCheck:
    """Decides claims about one game by resolution. The engine is the caller's to close."""

    name = "logic"

    def __init__(self, subject: Subject, engine: LogicEngine) -> None:
        self.subject = subject
        self._engine = engine

    @cached_property
    def program(self) -> Program:
        """The loaded program; `InvalidGame` where the game is too large."""
        return self._engine.load(write_program(self.subject))

    def prove(self, claim: Claim) -> Proof:
        """Whether the claim follows from the program; `UNKNOWN` with the reason where that cannot be told."""
        try:
            return self.decide(ground(claim, self.subject))
        except Ungrounded as error:
            return Proof(Verdict.UNKNOWN, str(error))

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim follows."""
        try:
            program = self.program
        except (InvalidGame, LogicError) as error:
            return Proof(Verdict.UNKNOWN, str(error))
        if self.subject.tree is None or grounded.claim.form in ("higher", "lower", "equal"):
            return grounded.settle(self._engine.prove(program, Struct("claim", (_table_term(grounded),))))
        return grounded.settle(self._about_tree(program, grounded))

    def _about_tree(self, program: Program, grounded: Grounded) -> Proof:
        form = grounded.claim.form
        if form in ("will_play", "continuation_payoff") and not self.subject.tree_is_open:
            return Proof(
                Verdict.UNKNOWN, "somebody moves without knowing what happened before; looking ahead needs that"
            )
        if form in ("average_payoff", "moves_next", "knows") or len(grounded.places.get("outcome", (0,))) > 1:
            return Proof(Verdict.UNKNOWN, "claims about chance and knowledge are decided by theory alone")
        term = self._tree_term(grounded, form)
        proof = self._engine.prove(program, Struct("claim", (term,)))
        weaker = {"will_play": "may_play", "continuation_payoff": "possible_payoff"}.get(form)
        if proof.verdict is not Verdict.REFUTED or weaker is None:
            return proof
        possible = self._engine.prove(program, Struct("claim", (self._tree_term(grounded, weaker),)))
        if possible.verdict is Verdict.PROVED:
            return Proof(Verdict.UNKNOWN, "a tie: best play may do this or something else")
        return possible

    def _tree_term(self, grounded: Grounded, name: str) -> Term:
        places = grounded.places
        args: list[Term] = []
        for parameter, place in places.items():
            if parameter == "who":
                args.append(self.subject.order[place])
            elif parameter == "outcome":
                args.append(Atom(f"n{place[0][0]}"))
            elif parameter == "after":
                args.append(Atom(f"n{place}"))
            elif parameter == "action":
                args.append(self._branch(places["after"], grounded.claim["action"]))
            else:
                args.append(_number(place))
        return Struct(name, tuple(args))

    def _branch(self, node: int, label: str) -> Atom:
        tree = self.subject.tree
        moves = tree.infosets[int(tree.infoset[node])].moves if tree is not None else ()
        return action(moves.index(label))


def _table_term(grounded: Grounded) -> Term:
    form, places = grounded.claim.form, grounded.places
    if form == "mixed_equilibrium":
        return Struct(form, (_parts(places["mixes"]),))
    args = [_argument(form, name, place) for name, place in places.items()]
    if form == "expected_payoff":
        args.append(_number(find_rounding(places["value"])))
    return Struct(form, tuple(args))


def _argument(form: str, name: str, place: Any) -> Term:
    if isinstance(place, Fraction):
        return _number(place)
    if name == "who":
        return player(place)
    if isinstance(place, int):
        return action(place)
    if form == "payoff":
        return _situation(place)
    if name == "mixed":
        return list_of([_mix(row) for row in place])
    return outcome(place)


def _situation(places: tuple[int, ...]) -> Term:
    situation: Term = Atom("s0")
    for who, k in reversed(list(enumerate(places))):
        situation = Struct("do", (Struct("choice", (player(who), action(k))), situation))
    return situation


def _mix(row: tuple[Fraction, ...]) -> Term:
    return list_of([Struct("-", (action(k), _number(weight))) for k, weight in enumerate(row)])


def _parts(mixes: tuple[tuple[Fraction, ...], ...]) -> Term:
    parts = []
    for who, own in enumerate(mixes):
        others = list_of([_mix(row) for i, row in enumerate(mixes) if i != who])
        parts.append(Struct("part", (player(who), _mix(own), others)))
    return list_of(parts)


def _number(value: Fraction) -> Term:
    return value.numerator if value.denominator == 1 else value
