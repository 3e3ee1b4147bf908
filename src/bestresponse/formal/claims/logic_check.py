"""Decide claims by a logic engine, on the game written as a program.

In the program a table is one fact per player and cell, `cell(Player, Own, Others, Outcome,
Payoff)`, a tree its nodes. The rules are next to the forms (`tables`, `trees`); they share nothing
with the arithmetic there. Players are p0 (the reasoner), p1, ...; actions are a0, a1, ...: no text
of a user is ever part of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from bestresponse.core.errors import InvalidGame, LogicError, TooLarge
from bestresponse.formal.claims.claim import list_added
from bestresponse.formal.claims.form import (
    SHARED_RULES,
    Belief,
    find_rounding,
)
from bestresponse.formal.claims.grounding import Grounded
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.formal.claims.tables import TABLE_RULES
from bestresponse.formal.claims.trees import TREE_RULES
from bestresponse.logic.engine import LogicEngine, Program, Proof, Verdict
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of, write
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

MOST_FACTS = 4_000
# A node is two facts, itself and the branch to it; no engine is given more than 5,000 clauses,
# rules among them.
_MOST_NODES = 2_400


class LogicCheck:
    """Decides claims about one game by resolution on one program.

    The engine is the caller's to close.
    """

    def __init__(self, subject: Subject, engine: LogicEngine) -> None:
        self.subject = subject
        self._engine = engine
        if subject.tree is None:
            about = "tables"
            rules = TABLE_RULES
        else:
            about = "trees"
            rules = TREE_RULES
        added = [form.rule for form in list_added().values() if form.about == about]
        self._rules = "\n".join([SHARED_RULES, rules, *added, ""])
        self._heads: dict[tuple[str, str], str] = {}
        for kind, form, arguments in _HEAD.findall(self._rules):
            self._heads[kind, form] = arguments

    @cached_property
    def program(self) -> Program:
        """The loaded program; `InvalidGame` where the game is too large."""
        return self._engine.load(f"{self._rules}{_write_facts(self.subject)}\n")

    def decide(self, grounded: Grounded) -> Proof:
        """Whether a grounded claim follows."""
        form = grounded.claim.form
        looks_ahead = ("possible", form) in self._heads
        if ("claim", form) not in self._heads or self._has_draws(grounded):
            why = "claims about chance and knowledge are decided by theory alone"
            return Proof(Verdict.UNKNOWN, why)
        if looks_ahead and self.subject.tree is not None and not self.subject.tree_is_open:
            why = "somebody moves without knowing what happened before; looking ahead needs that"
            return Proof(Verdict.UNKNOWN, why)
        try:
            program = self.program
        except (InvalidGame, LogicError) as error:
            return Proof(Verdict.UNKNOWN, str(error))
        term = self._write_claim(grounded)
        proof = self._engine.prove(program, Struct("claim", (term,)))
        if looks_ahead and proof.verdict is Verdict.REFUTED:
            proof = self._engine.prove(program, Struct("possible", (term,)))
            if proof.verdict is Verdict.PROVED:
                return Proof(Verdict.UNKNOWN, "a tie: best play may do this or something else")
        return grounded.settle(proof)

    def _has_draws(self, grounded: Grounded) -> bool:
        """Say whether nature's draws leave open in which of several nodes an outcome ends."""
        if self.subject.tree is None:
            return False
        arguments = grounded.arguments
        outcomes = [arguments[name] for name in ("outcome", "than") if name in arguments]
        return any(len(nodes) > 1 for nodes in outcomes)

    def _write_claim(self, grounded: Grounded) -> Term:
        """Write a claim as a term, with the rounding that its rule allows for."""
        form = grounded.claim.form
        arguments = grounded.arguments
        terms = []
        for name, argument in arguments.items():
            if isinstance(argument, Fraction):
                terms.append(_write_number(argument))
            elif self.subject.tree is not None:
                terms.append(self._write_for_tree(self.subject.tree, name, grounded))
            else:
                terms.append(_write_for_table(name, argument))
        if "Error" in self._heads["claim", form]:
            if "share" in arguments:
                margin = find_rounding(arguments["share"], 2)
            else:
                margin = find_rounding(arguments["value"])
            terms.append(_write_number(margin))
        return Struct(form, tuple(terms))

    def _write_for_tree(self, tree: Tree, name: str, grounded: Grounded) -> Term:
        argument = grounded.arguments[name]
        match name:
            case "who":
                return int(self.subject.order[argument])
            case "action":
                infoset = int(tree.infoset[grounded.arguments["after"]])
                position = tree.infosets[infoset].moves.index(argument)
                return Atom(f"a{position}")
            case "after":
                return Atom(f"n{argument}")
            case _:
                node, _weight = argument[0]
                return Atom(f"n{node}")


def _write_for_table(name: str, argument: Any) -> Term:
    match name:
        case "who":
            return Atom(f"p{argument}")
        case "action" | "other" | "chosen":
            return Atom(f"a{argument}")
        case "removed":
            pairs = [(Atom(f"p{player}"), Atom(f"a{action}")) for player, action in argument]
            return list_of([Struct("-", pair) for pair in pairs])
        case "mixed":
            return _write_belief(argument)
        case "mixes":
            return _write_mixes(argument)
        case "part":
            player, belief = argument
            mixed = _write_mix(belief.rows[0])
            parts = (
                Atom(f"p{player}"),
                mixed,
                Atom(f"p{1 - player}"),
                _write_belief(belief),
            )
            return Struct("part", parts)
        case _:
            return _write_actions(argument)


def _write_number(value: Fraction) -> Term:
    return value.numerator if value.denominator == 1 else value


def _write_actions(actions: Iterable[int]) -> Term:
    return list_of([Atom(f"a{k}") for k in actions])


def _write_mix(row: tuple[Fraction, ...]) -> Term:
    weights = []
    for action, weight in enumerate(row):
        weights.append(Struct("-", (Atom(f"a{action}"), _write_number(weight))))
    return list_of(weights)


def _write_belief(belief: Belief) -> Term:
    rows = list_of([_write_mix(row) for row in belief.rows])
    highest = list_of([_write_mix(row) for row in belief.highest])
    return Struct("belief", (rows, highest))


def _write_mixes(mixes: Belief) -> Term:
    """Write for each player its own mix, the most that it may be, and what the others do."""
    parts = []
    for player, (row, highest) in enumerate(zip(mixes.rows, mixes.highest, strict=True)):
        others = _write_belief(mixes.leave_out(player))
        part = (Atom(f"p{player}"), _write_mix(row), _write_mix(highest), others)
        parts.append(Struct("part", part))
    return list_of(parts)


_HEAD = re.compile(r"^(claim|possible)\((\w+)(.*)\) :-", re.MULTILINE)
"""Of the rules by which claims are decided: the form, and its arguments."""


def _write_facts(subject: Subject) -> str:
    """The game as facts of the program; `TooLarge` where it would not fit an engine."""
    if subject.tree is not None:
        if subject.tree.num_nodes > _MOST_NODES:
            raise TooLarge(
                f"the tree has {subject.tree.num_nodes:,} nodes; the logic engine takes"
                f" {_MOST_NODES:,}"
            )
        return "\n".join(_nodes(subject.tree))
    if subject.cells.size > MOST_FACTS:
        raise TooLarge(
            f"the table has {subject.cells.size:,} payoffs; the logic engine takes {MOST_FACTS:,}"
        )
    return "\n".join(_table(subject))


def _table(subject: Subject) -> Iterator[str]:
    shape = subject.cells.shape[1:]
    players = [f"p{number}" for number in range(len(shape))]
    yield f"seats([{', '.join(players)}])."
    for name in players:
        yield f"player({name})."
    for name, count in zip(players, shape, strict=True):
        for action in range(count):
            yield f"action({name}, a{action})."
    for player, name in enumerate(players):
        for profile in product(*map(range, shape)):
            outcome = write(_write_actions(profile))
            others = write(_write_actions(profile[:player] + profile[player + 1 :]))
            payoff = Fraction(int(subject.cells[(player, *profile)]), subject.scale)
            value = write(_write_number(payoff))
            yield f"cell({name}, a{profile[player]}, {others}, {outcome}, {value})."


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            payoffs = map(_write_exact, tree.payoffs[node].tolist())
            yield f"ends(n{node}, [{', '.join(payoffs)}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            for child in children:
                probability = _write_exact(tree.probability[child])
                yield f"drawn(n{node}, {probability}, n{child})."
        else:
            yield f"turn(n{node}, {owner})."
            for action, child in enumerate(children):
                yield f"branch(n{node}, a{action}, n{child})."
    if not (tree.owner == CHANCE).any():
        yield "draw(none)."
        yield "drawn(none, 1, none)."
    if not (tree.owner >= 0).any():
        yield "turn(none, 0)."
        yield "branch(none, none, none)."


def _write_exact(value: float) -> str:
    """Write the number that a float of a tree stands for."""
    return write(_write_number(exact(value)))
