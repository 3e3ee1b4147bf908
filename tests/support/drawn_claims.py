"""Random games and random claims about them, every form, ties often."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bestresponse.formal.claims.claim import FORMS, OF_TABLES, OF_TREES, Claim
from bestresponse.formal.claims.form import SHARED_RULES, Mix, Move, Sort
from bestresponse.formal.claims.subject import Subject
from bestresponse.formal.claims.tables import TABLE_RULES
from bestresponse.formal.claims.trees import TREE_RULES
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree

TABLE_FORMS = tuple(OF_TABLES)
TREE_FORMS = tuple(
    form
    for form in OF_TREES
    if f"claim({form}(" in SHARED_RULES + TREE_RULES and form not in ("higher", "lower", "equal")
)
KINDS = {
    "any table": tuple(
        form
        for form in TABLE_FORMS
        if f"claim({form}(" in SHARED_RULES + TABLE_RULES
        and not form.endswith("equilibrium_payoff")
        and not {"removed", "chosen", "part"} & set(FORMS[form].names)
    ),
    "choices to eliminate": tuple(form for form in TABLE_FORMS if "removed" in FORMS[form].names),
    "two players": tuple(
        form
        for form in TABLE_FORMS
        if f"claim({form}(" in TABLE_RULES and {"chosen", "part"} & set(FORMS[form].names)
    ),
}
"""The forms with a rule in logic by the tables that they can be said of."""
PREDICTED = ("will_play", "credible_threat")
VALUES = (-2.5, -1.0, 0.0, 0.1, 1.0, 1.0, 2.0, 3.0)
SHARES = ((1, 0, 0), (0.5, 0.5, 0), (0.25, 0.25, 0.5), (0.1, 0.2, 0.7), (0.33, 0.67, 0))


@st.composite
def tables(draw: st.DrawFn, form: str = "payoff") -> Subject:
    """A table of one to three players with one to three actions, seen from any seat; of two if the
    form says so."""
    two = {"chosen", "part"} & set(FORMS[form].names)
    least, most, actions = (
        (2, 2, 2) if two else (2, 3, 2) if "removed" in FORMS[form].names else (1, 3, 1)
    )
    shape = draw(st.lists(st.integers(actions, 3), min_size=least, max_size=most))
    count = len(shape)
    size = count * prod(shape)
    payoffs = draw(st.lists(st.sampled_from(VALUES), min_size=size, max_size=size))
    game = NormalForm(np.array(payoffs).reshape(count, *shape))
    return Subject(game, draw(st.integers(0, count - 1)))


@st.composite
def trees(draw: st.DrawFn) -> Subject:
    """A tree of two players and chance, at most three moves deep, with perfect information."""
    players = ("Ann", "Bob")

    def expand(path: str) -> Leaf | Chance | Turn:
        kind = draw(st.integers(0, 5)) if path else 1
        if len(path) == 3 or kind == 0:
            return Leaf([draw(st.sampled_from(VALUES)) for _ in players])
        if kind == 5:
            return Chance({"heads": (0.5, path + "h"), "tails": (0.5, path + "t")})
        return Turn(players[kind % 2], path or "start", {"x": path + "x", "y": path + "y"})

    tree: Tree = build_tree(players, "", expand, name="drawn")
    return Subject(tree, draw(st.integers(0, 1)))


@st.composite
def table_claims(draw: st.DrawFn, subject: Subject, form: str) -> Claim:
    """A claim of one form, about players, actions and numbers that the game knows."""
    who = draw(st.integers(0, len(subject.players) - 1))
    args = tuple(_argument(draw, subject, who, name, sort) for name, sort in FORMS[form].parameters)
    return Claim(form, args, negated=draw(st.booleans()))


def _argument(draw: st.DrawFn, subject: Subject, who: int, name: str, sort: Sort) -> Any:
    everybody = range(len(subject.players))
    match sort:
        case Sort.WHO:
            return subject.players[who]
        case Sort.NUMBER:
            return _share(draw) if name == "share" else _number(draw)
        case Sort.ACTION:
            return draw(st.sampled_from(subject.actions[who]))
        case Sort.JOINT:
            return tuple(draw(st.sampled_from(subject.actions[i])) for i in everybody)
        case Sort.CHAIN if name == "chosen":
            return (_move(draw, subject, 1 - who),)
        case Sort.CHAIN if name == "removed":
            return tuple(_move(draw, subject, i) for i in everybody if i != who)
        case Sort.CHAIN:
            seats = [i for i in everybody if not (name == "against" and i == who)]
            return tuple(_move(draw, subject, i) for i in seats)
        case Sort.MIXES if name == "part":
            return (_mix(draw, subject, who),)
        case Sort.MIXES:
            seats = [i for i in everybody if name == "mixes" or i != who]
            return tuple(_mix(draw, subject, i) for i in seats)


def _move(draw: st.DrawFn, subject: Subject, who: int) -> Move:
    return Move(subject.players[who], draw(st.sampled_from(subject.actions[who])))


def _mix(draw: st.DrawFn, subject: Subject, who: int) -> Mix:
    actions = subject.actions[who]
    fitting = [row for row in SHARES if not any(row[len(actions) :])] or [SHARES[0]]
    row = draw(st.sampled_from(fitting))
    return Mix(
        subject.players[who],
        tuple((a, Fraction(str(p))) for a, p in zip(actions, row, strict=False) if p),
    )


def _share(draw: st.DrawFn) -> Fraction:
    return Fraction(draw(st.sampled_from(("0", "1/2", "0.33", "2/3", "1"))))


def _number(draw: st.DrawFn) -> Fraction:
    return Fraction(str(draw(st.sampled_from((*VALUES, 0.5, 7.0)))))


@st.composite
def tree_claims(draw: st.DrawFn, subject: Subject, form: str) -> Claim:
    """A claim of one form about a tree."""
    tree = subject.tree
    assert tree is not None
    wanted = (
        tree.owner == -2
        if "outcome" in FORMS[form].names
        else tree.owner >= (0 if form in PREDICTED else -9)
    )
    node = draw(st.sampled_from(np.flatnonzero(wanted).tolist()))
    who = draw(st.integers(0, 1))
    chain: list[Move] = []
    at = node
    while at > 0:
        above = int(tree.parent[at])
        owner = int(tree.owner[above])
        mover = "nature" if owner < 0 else subject.players[subject.order.index(owner)]
        chain.insert(0, Move(mover, tree.branch_labels[at]))
        at = above
    if form in PREDICTED:
        who = subject.order.index(int(tree.owner[node]))
    given: dict[str, Any] = {
        "who": subject.players[who],
        "value": _number(draw),
        "outcome": tuple(chain),
        "than": tuple(chain),
        "after": tuple(chain),
        "action": draw(st.sampled_from(("x", "y"))),
    }
    return Claim(
        form, tuple(given[name] for name in FORMS[form].names), negated=draw(st.booleans())
    )
