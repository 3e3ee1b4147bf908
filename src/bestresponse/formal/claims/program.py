"""The game as a logic program, with one rule for every form of claim about it.

A table becomes one fact per player and cell, `cell(Player, Own, Others, Outcome, Payoff)`; a tree becomes its nodes.
The rules stand beside the forms (`tables`, `trees`); they share nothing with the arithmetic there. Players are p0 (the
reasoner), p1, ...; actions are a0, a1, ...: no text of a user is ever part of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Final

from bestresponse.core.errors import TooLarge
from bestresponse.formal.claims.claim import OF_TABLES, OF_TREES
from bestresponse.formal.claims.form import Form
from bestresponse.formal.claims.subject import Subject, exact
from bestresponse.formal.claims.tables import TABLE_RULES
from bestresponse.formal.claims.trees import TREE_RULES
from bestresponse.logic.language.terms import Atom, Term, list_of, write
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["action", "outcome", "player", "write_program"]

MOST_FACTS: Final = 4_000


def player(place: int) -> Atom:
    """Return the atom that stands for a player."""
    return Atom(f"p{place}")


def action(place: int) -> Atom:
    """Return the atom that stands for an action."""
    return Atom(f"a{place}")


def outcome(places: tuple[int, ...]) -> Term:
    """One action per player as a list."""
    return list_of([action(k) for k in places])


def write_program(subject: Subject) -> str:
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
    yield f"seats({write(list_of([player(i) for i in range(len(shape))]))})."
    yield from (f"player(p{i})." for i in range(len(shape)))
    yield from (f"action(p{i}, a{k})." for i, n in enumerate(shape) for k in range(n))
    for who in range(len(shape)):
        for places in product(*map(range, shape)):
            others = outcome(tuple(k for i, k in enumerate(places) if i != who))
            value = _number(Fraction(int(subject.cells[(who, *places)]), subject.scale))
            yield f"cell(p{who}, a{places[who]}, {write(others)}, {write(outcome(places))}, {value})."


def _nodes(tree: Tree) -> Iterator[str]:
    for node in range(tree.num_nodes):
        owner = int(tree.owner[node])
        children = tree.children[node]
        if owner == LEAF:
            yield f"ends(n{node}, [{', '.join(_number(exact(u)) for u in tree.payoffs[node].tolist())}])."
        elif owner == CHANCE:
            yield f"draw(n{node})."
            yield from (f"drawn(n{node}, {_number(exact(tree.probability[c]))}, n{c})." for c in children)
        else:
            yield f"turn(n{node}, {owner})."
            yield from (f"branch(n{node}, a{k}, n{c})." for k, c in enumerate(children))
    if not (tree.owner == CHANCE).any():
        yield "draw(none)."
        yield "drawn(none, 1, none)."
    if not (tree.owner >= 0).any():
        yield "turn(none, 0)."
        yield "branch(none, none, none)."


def _number(value: Fraction) -> str:
    return write(value.numerator if value.denominator == 1 else value)
