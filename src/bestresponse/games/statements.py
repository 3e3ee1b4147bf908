"""State a payoff table or a tree as what everybody may know of it.

Tests make the game again from what was stated, so that nothing is told that is not computed, and
nothing is computed that is not told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, product
from math import prod

import numpy as np

from bestresponse.core.names import check_distinct, check_roles
from bestresponse.core.paying import pay
from bestresponse.core.told import (
    AtOnce,
    Cell,
    Cells,
    Course,
    Decides,
    Draw,
    LowerClaim,
    LowestEffort,
    NearestWins,
    Odds,
    Options,
    PayoffRule,
    PlayEnd,
    Players,
    Position,
    Statement,
    Summary,
    TurnCount,
)
from bestresponse.telling.knowledge import make_letter
from bestresponse.theory.games.normal_form import NormalForm, read_simplest
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Leaf, Tree, Turn, build_tree

MOST_POSITIONS = 50_000
"""Of a larger tree or table only the size is stated: nobody reads a list of all its positions."""


MOST_CELLS = 150
"""Of a larger table the rule is stated in place of the payoffs, where there is one: nobody reads a
thousand lines."""
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:/[1-9][0-9]{0,14})?")


def tell(game: NormalForm | Tree) -> tuple[Statement, ...]:
    """State who plays, who chooses what when and knows what, and what it pays.

    >>> statements = tell(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))
    >>> statements[2].cells[1]
    Cell(moves=('a0', 'a1'), payoffs=(Fraction(0, 1), Fraction(5, 1)))
    """
    players = Players(tuple(game.players))
    if isinstance(game, NormalForm):
        return (players, *_tell_table(game))
    if game.num_nodes > MOST_POSITIONS:
        return (players, _summarize(game))
    return (players, _tell_tree(game))


def read_exactly(number: float | Fraction) -> Fraction:
    """Return the simplest fraction of a float, else its shortest decimal.

    Other numbers are what they are.

    >>> read_exactly(1 / 3), read_exactly(0.1 + 0.2) == Fraction("0.30000000000000004")
    (Fraction(1, 3), True)
    """
    if not isinstance(number, float):
        return Fraction(number)
    simple = read_simplest(number)
    if simple.denominator <= _LARGEST_DENOMINATOR:
        return simple
    return Fraction(repr(float(number)))


_LARGEST_DENOMINATOR = 1_000_000
"""What `read_simplest` looks for; beyond, it gives the float itself, a fraction of two powers that
nobody can read."""


def name_branch(tree: Tree, node: int) -> str:
    """Name the branch that leads to a node, with a number where a sibling has the same label."""
    label = tree.branch_labels[node]
    siblings = tree.children[int(tree.parent[node])]
    same = [other for other in siblings if tree.branch_labels[other] == label]
    return label if len(same) == 1 else f"{label} #{same.index(node) + 1}"


def fold_draws(tree: Tree) -> Tree:
    """Leave out draws with a single outcome, which change nothing that anybody plays or learns.

    Information sets keep their numbers, keys and labels.

    >>> fold_draws(build_tree(["a"], Chance({"n": (1, Leaf([2]))}))).num_nodes
    1
    """
    if all(len(tree.children[node]) > 1 for node in np.flatnonzero(tree.owner == CHANCE)):
        return tree

    def expand(node: int) -> Leaf | Chance | Turn:
        while int(tree.owner[node]) == CHANCE and len(tree.children[node]) == 1:
            (node,) = tree.children[node]
        below = tree.children[node]
        owner = int(tree.owner[node])
        if owner == LEAF:
            return Leaf(tree.list_payoffs(node))
        if owner == CHANCE:
            return Chance({name_branch(tree, n): (tree.find_probability(n), n) for n in below})
        infoset = tree.find_infoset(node)
        moves = dict(zip(infoset.moves, below, strict=True))
        return Turn(tree.players[owner], infoset.key, moves, infoset.label)

    return build_tree(tree.players, 0, expand, limit=tree.num_nodes, name=tree.name)


def list_moves_to(tree: Tree, node: int) -> list[tuple[int, str]]:
    """List who moved how on the way to a node.

    Each entry is CHANCE or the number of a player, and the name of the branch.
    """
    steps: list[tuple[int, str]] = []
    while node > 0:
        parent = int(tree.parent[node])
        steps.append((int(tree.owner[parent]), name_branch(tree, node)))
        node = parent
    return steps[::-1]


def check_tree_names(tree: Tree) -> None:
    """Refuse a tree whose players, moves or draws have names that nobody could tell apart."""
    check_roles(tree.players)
    for infoset in tree.infosets:
        who = tree.players[infoset.player]
        check_distinct(tuple(infoset.moves), f"a move of {who} at {infoset.label!r}")
    for node in np.flatnonzero(tree.owner == CHANCE).tolist():
        names = tuple(name_branch(tree, child) for child in tree.children[node])
        check_distinct(names, f"a draw of chance (node {node})")


def find_marks(tree: Tree) -> dict[int, str]:
    """Return the mark of every information set with several positions, by its number.

    A mark is one or more letters.
    """
    infosets = tree.infoset[tree.infoset >= 0]
    sizes = np.bincount(infosets, minlength=len(tree.infosets))
    in_order = dict.fromkeys(infosets.tolist())
    shared = [index for index in in_order if sizes[index] > 1]
    return {index: make_letter(place) for place, index in enumerate(shared)}


def _tell_table(form: NormalForm) -> tuple[AtOnce, Cells | PayoffRule | Summary]:
    options = map(tuple, form.actions)
    choices = tuple(map(Options, form.players, options))
    size = prod(form.shape)
    rule = _find_rule(form, choices) if MOST_CELLS < size <= MOST_POSITIONS else None
    if rule is not None:
        return AtOnce(choices), rule
    if size > MOST_POSITIONS:
        return AtOnce(choices), Summary(size, ())
    cells = []
    for place in product(*map(range, form.shape)):
        moves = tuple(actions[k] for actions, k in zip(form.actions, place, strict=True))
        cells.append(Cell(moves, _read_payoffs(form, place)))
    return AtOnce(choices), Cells(tuple(cells))


def _read_payoffs(form: NormalForm, place: tuple[int, ...]) -> tuple[Fraction, ...]:
    """Read what everybody is paid in a cell."""
    given = [table[place] for table in form.given]
    return tuple(map(read_exactly, given))


def _find_rule(form: NormalForm, choices: tuple[Options, ...]) -> PayoffRule | None:
    """Find a rule that gives every payoff of a large table exactly; None where no rule does."""
    options = chain.from_iterable(choice.options for choice in choices)
    if not all(map(_NUMBER.fullmatch, options)):
        return None
    largest = max(map(read_exactly, form.given[0].flat))
    guesses: list[PayoffRule] = [
        NearestWins(Fraction(2, 3), largest),
        *_guess_efforts(form, choices),
    ]
    if form.num_players == 2:
        guesses.append(LowerClaim(_guess_bonus(form, choices)))
    stated = [_read_payoffs(form, place) for place in np.ndindex(*form.shape)]
    for rule in guesses:
        # A wrong guess is found out at the first cells, so that the others are not worked out.
        cells = zip(iterate_cells(choices, rule), stated, strict=True)
        if all(cell.payoffs == payoffs for cell, payoffs in cells):
            return rule
    return None


def _guess_bonus(form: NormalForm, choices: tuple[Options, ...]) -> Fraction:
    """Return how far the first payoff for different numbers lies from the lower of them.

    0 where there is none.
    """
    for place in np.ndindex(*form.shape):
        row, column = place
        first = Fraction(choices[0].options[row])
        second = Fraction(choices[1].options[column])
        if first != second:
            payoff = read_exactly(form.given[0][place])
            return abs(payoff - min(first, second))
    return Fraction(0)


def _guess_efforts(form: NormalForm, choices: tuple[Options, ...]) -> Iterator[LowestEffort]:
    """Yield the rule by the lowest number that fits the first player's two lowest numbers."""
    different = {choice.options for choice in choices}
    if len(different) > 1 or len(choices[0].options) < 2:
        return
    low, high = map(Fraction, choices[0].options[:2])
    others = form.num_players - 1
    payoffs = form.given[0]
    all_low = read_exactly(payoffs[(0, *(0,) * others)])
    all_high = read_exactly(payoffs[(1, *(1,) * others)])
    own_high = read_exactly(payoffs[(1, *(0,) * others)])
    if low < high:
        step = high - low
        cost = (all_low - own_high) / step
        gain = (all_high - own_high) / step
        base = all_low - (gain - cost) * low
        yield LowestEffort(gain, cost, base)


def iterate_cells(choices: tuple[Options, ...], rule: PayoffRule) -> Iterator[Cell]:
    """Yield what a rule pays for every combination of moves."""
    numbers = {move: Fraction(move) for choice in choices for move in choice.options}
    for moves in product(*(choice.options for choice in choices)):
        yield Cell(moves, pay(rule, [numbers[move] for move in moves]))


def _summarize(tree: Tree) -> Summary:
    counts = Counter(infoset.player for infoset in tree.infosets)
    turns = tuple(TurnCount(who, counts[seat]) for seat, who in enumerate(tree.players))
    return Summary(len(tree.leaves), turns)


def _tell_tree(tree: Tree) -> Course:
    marks = find_marks(tree)
    positions = [_tell_position(tree, node, marks) for node in range(tree.num_nodes)]
    return Course(tuple(positions))


def _tell_position(tree: Tree, node: int, marks: dict[int, str]) -> Position:
    owner = int(tree.owner[node])
    if owner == LEAF:
        payoffs = map(read_exactly, tree.list_payoffs(node))
        return PlayEnd(tuple(payoffs))
    if owner == CHANCE:
        outcomes = []
        for child in tree.children[node]:
            chance = read_exactly(tree.find_probability(child))
            outcomes.append(Odds(name_branch(tree, child), chance))
        return Draw(tuple(outcomes))
    index = int(tree.infoset[node])
    return Decides(tree.players[owner], tree.infosets[index].moves, marks.get(index, ""))
