"""Claims decided twice: by arithmetic on the game's payoffs and by a logic engine on the game's program.

The two must agree. Where one of them cannot tell (the game is too large for it), the other's verdict stands; where they
contradict each other, which no game is known to bring about, the verdict is UNKNOWN and says so.

In the program a table is one fact per player and cell, `cell(Player, Own, Others, Outcome, Payoff)`, a tree its nodes.
The rules stand beside the forms (`tables`, `trees`); they share nothing with the arithmetic there. Players are p0 (the
reasoner), p1, ...; actions are a0, a1, ...: no text of a user is ever part of the program.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Final

from bestresponse.core.errors import BestResponseError, InvalidGame, LogicError, TooLarge
from bestresponse.formal.claims.claim import NO_CLAIM, OF_TABLES, OF_TREES, Claim, Malformed
from bestresponse.formal.claims.form import Belief, Form, Ungrounded, find_rounding
from bestresponse.formal.claims.grounding import Grounded, ground
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.formal.claims.tables import TABLE_RULES, TableTheory
from bestresponse.formal.claims.trees import TREE_RULES, TreeTheory
from bestresponse.logic.engine import LogicEngine, Program, Proof, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of, write
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_FACTS: Final = 4_000


class ClaimCheck(ABC):
    """Decides claims about one game."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @abstractmethod
    def decide(self, grounded: Grounded) -> Proof:
        """Say whether a grounded claim is true."""

    def prove(self, claim: Claim) -> Proof:
        """Say whether a claim is true; `UNKNOWN` with the reason where it cannot be put to the game."""
        try:
            return self.decide(ground(claim, self.subject))
        except Ungrounded as error:
            return Proof(Verdict.UNKNOWN, str(error))


class TheoryCheck(ClaimCheck):
    """Decides claims about one game by arithmetic."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        tree = subject.tree
        self.game = TableTheory(subject) if tree is None else TreeTheory(subject, tree)

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim is true."""
        try:
            answer = self.find_truth(grounded)
        except BestResponseError as error:
            return Proof(Verdict.UNKNOWN, str(error))
        if isinstance(answer, Proof):
            return grounded.settle(answer)
        holds = answer == grounded.places["value"] if isinstance(answer, Fraction) else answer
        return grounded.settle(Proof(Verdict.PROVED if holds else Verdict.REFUTED))

    def find_truth(self, grounded: Grounded) -> bool | Fraction | Proof:
        """Return whether a claim's form holds of its arguments, or the number that its `value` has to be."""
        answer: bool | Fraction | Proof = getattr(self.game, grounded.claim.form)(**grounded.places)
        return answer


class LogicCheck(ClaimCheck):
    """Decides claims about one game by resolution on one program. The engine is the caller's to close."""

    def __init__(self, subject: Subject, engine: LogicEngine) -> None:
        super().__init__(subject)
        self._engine = engine

    @cached_property
    def program(self) -> Program:
        """The loaded program; `InvalidGame` where the game is too large."""
        return self._engine.load(_write_program(self.subject))

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim follows."""
        places = grounded.places
        form = (OF_TABLES if self.subject.tree is None else OF_TREES)[grounded.claim.form]
        ends = [places[name] for name in ("outcome", "than") if name in places and self.subject.tree is not None]
        if not form.logic or any(len(nodes) > 1 for nodes in ends):
            return Proof(Verdict.UNKNOWN, "claims about chance and knowledge are decided by theory alone")
        if form.possibly and self.subject.tree is not None and not self.subject.tree_is_open:
            why = "somebody moves without knowing what happened before; looking ahead needs that"
            return Proof(Verdict.UNKNOWN, why)
        try:
            program = self.program
        except (InvalidGame, LogicError) as error:
            return Proof(Verdict.UNKNOWN, str(error))
        arguments = [self._write_argument(name, place, places) for name, place in places.items()]
        if "Error" in form.logic:
            rounding = find_rounding(places["share"], 2) if "share" in places else find_rounding(places["value"])
            arguments.append(_write_number(rounding))
        term = Struct(form.name, tuple(arguments))
        proof = self._engine.prove(program, Struct("claim", (term,)))
        if form.possibly and proof.verdict is Verdict.REFUTED:
            proof = self._engine.prove(program, Struct("possible", (term,)))
            if proof.verdict is Verdict.PROVED:
                return Proof(Verdict.UNKNOWN, "a tie: best play may do this or something else")
        return grounded.settle(proof)

    def _write_argument(self, name: str, place: Any, places: Mapping[str, Any]) -> Term:
        tree = self.subject.tree
        if isinstance(place, Fraction):
            return _write_number(place)
        if tree is not None and name == "who":
            return int(self.subject.order[place])
        if tree is not None and name == "action":
            return Atom(f"a{tree.infosets[int(tree.infoset[places['after']])].moves.index(place)}")
        if tree is not None:
            return Atom(f"n{place if name == 'after' else place[0][0]}")
        match name:
            case "who":
                return Atom(f"p{place}")
            case "action" | "other" | "chosen":
                return Atom(f"a{place}")
            case "removed":
                return list_of([Struct("-", (Atom(f"p{who}"), Atom(f"a{k}"))) for who, k in place])
            case "mixed":
                return _write_belief(place)
            case "mixes":
                return list_of(
                    [
                        Struct("part", (Atom(f"p{who}"), own, high, _write_belief(place.leave_out(who))))
                        for who, (own, high) in enumerate(zip(*(map(_write_mix, rows) for rows in place), strict=True))
                    ]
                )
            case "part":
                who, belief = place
                own = _write_mix(belief.rows[0])
                return Struct("part", (Atom(f"p{who}"), own, Atom(f"p{1 - who}"), _write_belief(belief)))
            case _:
                return _write_actions(place)


def _write_number(value: Fraction) -> Term:
    return value.numerator if value.denominator == 1 else value


def _write_actions(places: Iterable[int]) -> Term:
    return list_of([Atom(f"a{k}") for k in places])


def _write_mix(row: tuple[Fraction, ...]) -> Term:
    return list_of([Struct("-", (Atom(f"a{k}"), _write_number(weight))) for k, weight in enumerate(row)])


def _write_belief(belief: Belief) -> Term:
    return Struct("belief", tuple(list_of([_write_mix(row) for row in rows]) for rows in belief))


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim (in the game's own names), or what was offered as one, and the verdict on it."""

    claim: Claim | Malformed
    proof: Proof

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is proved, refuted or open."""
        return self.proof.verdict

    @property
    def text(self) -> str:
        """The printed form of a claim, or the text that is none."""
        return self.claim.text if isinstance(self.claim, Malformed) else str(self.claim)

    @property
    def form(self) -> str:
        """The name of the claim's form."""
        return "malformed" if isinstance(self.claim, Malformed) else self.claim.form


class Checker:
    """Decides claims about one game. Without an engine, theory decides alone."""

    def __init__(self, subject: Subject, engine: LogicEngine | None = None) -> None:
        self.subject = subject
        self.theory = TheoryCheck(subject)
        self.logic = LogicCheck(subject, engine) if engine is not None else None

    def check(self, claim: Claim | Malformed) -> Checked:
        """The verdict on one claim; never raises because of the claim."""
        if isinstance(claim, Malformed):
            return Checked(claim, Proof(Verdict.UNKNOWN, claim.why))
        try:
            grounded = ground(claim, self.subject)
            by_theory = self.theory.decide(grounded)
        except Ungrounded as error:
            return Checked(claim, Proof(Verdict.UNKNOWN, str(error)))
        by_logic = Proof(Verdict.UNKNOWN) if self.logic is None else self.logic.decide(grounded)
        if by_theory.verdict is by_logic.verdict or by_logic.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_theory)
        if by_theory.verdict is Verdict.UNKNOWN:
            return Checked(grounded.claim, by_logic)
        why = f"theory says {by_theory.verdict} and logic says {by_logic.verdict}; please report this game"
        return Checked(grounded.claim, Proof(Verdict.UNKNOWN, why))

    def check_all(self, claims: Iterable[Claim | Malformed]) -> tuple[Checked, ...]:
        """Every claim once, in order, without those that say there is none."""
        made = (claim for claim in claims if isinstance(claim, Malformed) or claim.form != NO_CLAIM)
        return tuple(dict.fromkeys(map(self.check, made)))


def _write_program(subject: Subject) -> str:
    """The text of the program; `TooLarge` where it would not fit an engine."""
    if subject.tree is not None:
        if subject.tree.num_nodes > MOST_FACTS:
            raise TooLarge(f"the tree has {subject.tree.num_nodes:,} nodes; the logic engine takes {MOST_FACTS:,}")
        return TREE_RULES + "\n".join([*_write_rules(OF_TREES), *_nodes(subject.tree)]) + "\n"
    count = subject.cells.size
    if count > MOST_FACTS:
        raise TooLarge(f"the table has {count:,} payoffs; the logic engine takes {MOST_FACTS:,}")
    return TABLE_RULES + "\n".join([*_write_rules(OF_TABLES), *_table(subject)]) + "\n"


def _write_rules(forms: Mapping[str, Form]) -> Iterator[str]:
    for form in forms.values():
        for head, rule in (("claim", form.logic), ("possible", form.possibly)):
            named = [name.capitalize() for name in form.names] + ["Error"] * ("Error" in rule)
            variables = [name if re.search(rf"\b{name}\b", rule) else "_" for name in named]
            if rule:
                yield f"{head}({form.name}({', '.join(variables)})) :- {rule}."


def _table(subject: Subject) -> Iterator[str]:
    shape = subject.cells.shape[1:]
    yield f"seats([{', '.join(f'p{i}' for i in range(len(shape)))}])."
    yield from (f"player(p{i})." for i in range(len(shape)))
    yield from (f"action(p{i}, a{k})." for i, n in enumerate(shape) for k in range(n))
    for who in range(len(shape)):
        for places in product(*map(range, shape)):
            others = _write_actions(places[:who] + places[who + 1 :])
            value = write(_write_number(Fraction(int(subject.cells[(who, *places)]), subject.scale)))
            yield f"cell(p{who}, a{places[who]}, {write(others)}, {write(_write_actions(places))}, {value})."


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            yield f"ends(n{node}, [{', '.join(write(_write_number(exact(u))) for u in tree.payoffs[node].tolist())}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            yield from (f"drawn(n{node}, {write(_write_number(exact(tree.probability[c])))}, n{c})." for c in children)
        else:
            yield f"turn(n{node}, {owner})."
            yield from (f"branch(n{node}, a{k}, n{c})." for k, c in enumerate(children))
    if not (tree.owner == CHANCE).any():
        yield "draw(none)."
        yield "drawn(none, 1, none)."
    if not (tree.owner >= 0).any():
        yield "turn(none, 0)."
        yield "branch(none, none, none)."
