"""Random payoff tables and trees with odd names and exact numbers, and games that differ from one
in one place."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Leaf, Tree, Turn, build_tree

NAMES = [
    "m0",
    "left",
    "show 1, guess 2",
    'say "yes"',
    "a: b",
    "[a]",
    "(probability 1/2)",
    "gets 3",
    "-1",
    "1/2",
    "ü x",
    "take or leave",
    "a | b",
    "you",
    "{who}",
]
PLAYERS = ["Ann", "Bob, the 2nd", 'the "third"', "chance"]
NUMBERS = [
    Fraction(0),
    Fraction(3),
    Fraction(-1, 3),
    Fraction(51, 4),
    Fraction(1, 7),
    Fraction(10**20 + 1),
    Fraction(2, 3),
    Fraction(1, 1024),
]


def draw_table(rng: Random, num_players: int) -> NormalForm:
    """Draw a table with at most three moves per player."""
    players = tuple(rng.sample(PLAYERS, num_players))
    actions = tuple(tuple(rng.sample(NAMES, rng.randint(1, 3))) for _ in players)
    shape = (num_players, *map(len, actions))
    payoffs = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        payoffs[place] = rng.choice(NUMBERS)
    return NormalForm(payoffs, players, actions, "random table")


def draw_game_tree(rng: Random, num_players: int) -> Tree:
    """Draw a tree of at most four moves: chance, hidden, simultaneous and forgotten moves, repeated
    positions."""
    players = tuple(rng.sample(PLAYERS, num_players))
    moves_at: dict[tuple[str, str], list[str]] = {}
    levels = [rng.choice(players) if rng.random() < 0.3 else "" for _ in range(5)]

    def expand(left: int) -> Leaf | Chance | Turn:
        if left == 0 or (left < 4 and rng.random() < 0.2):
            return Leaf([rng.choice(NUMBERS) for _ in players])
        if rng.random() < 0.3:
            weights = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
            labels = rng.sample(NAMES, len(weights))
            odds = [Fraction(weight, sum(weights)) for weight in weights]
            return Chance(
                {label: (chance, left - 1) for label, chance in zip(labels, odds, strict=True)}
            )
        # Some levels belong to one player who sees nothing there: moves made at the same time.
        player = levels[left] or rng.choice(players)
        # A few signals for all depths: sets of many positions, some of them on one path.
        infoset = f"level {left}" if levels[left] else str(rng.randrange(4))
        moves = moves_at.setdefault((player, infoset), rng.sample(NAMES, rng.randint(1, 3)))
        return Turn(player, infoset, dict.fromkeys(moves, left - 1))

    return build_tree(players, 4, expand, name="random tree")


def describe_structure(tree: Tree) -> list[object]:
    """All that makes up the game, node by node; sets by their first position, whatever they are
    called."""
    first: dict[int, int] = {}
    rows: list[object] = [tree.players]
    for node in range(tree.num_nodes):
        owner, index = int(tree.owner[node]), int(tree.infoset[node])
        row: list[object] = [int(tree.parent[node]), owner, tree.branch_labels[node]]
        if owner == LEAF:
            row.append(tree.read_payoffs(node))
        elif owner >= 0:
            row.append((first.setdefault(index, node), tree.infosets[index].moves))
        if node and tree.owner[tree.parent[node]] == CHANCE:
            row.append(tree.read_probability(node))
        rows.append(row)
    return rows


def regrow(tree: Tree, node: int, here: Leaf | Chance | Turn) -> Tree:
    """The same tree with something else at one node."""
    return build_tree(tree.players, 0, lambda at: here if at == node else tree.describe(at))


def change_tree(rng: Random, tree: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield trees that differ in one payoff, one probability, one option or one information set."""
    leaf = rng.choice(tree.leaves.tolist())
    first, *others = tree.read_payoffs(leaf)
    yield "payoff", regrow(tree, leaf, Leaf([first + Fraction(1, 1000), *others]))
    draws = [
        node
        for node in range(tree.num_nodes)
        if tree.owner[node] == CHANCE and len(tree.children[node]) > 1
    ]
    if draws:
        here = tree.describe(draws[0])
        (one, (p, after)), (two, (q, later)), *rest = here.branches.items()
        moved = Chance({one: (p / 2, after), two: (q + p / 2, later), **dict(rest)})
        yield "probability", regrow(tree, draws[0], moved)
    sizes = np.bincount(tree.infoset[tree.infoset >= 0], minlength=len(tree.infosets))
    turns = [node for node in range(tree.num_nodes) if tree.infoset[node] >= 0]
    alone = [node for node in turns if sizes[tree.infoset[node]] == 1]
    if alone:
        turn = tree.describe(alone[0])
        (_, after), *rest = turn.moves.items()
        yield (
            "option",
            regrow(tree, alone[0], turn._replace(moves={"another name": after, **dict(rest)})),
        )
    shared = [node for node in turns if sizes[tree.infoset[node]] > 1]
    if shared:
        apart = tree.describe(shared[-1])._replace(infoset="apart", label="apart")
        yield "information set", regrow(tree, shared[-1], apart)


def change_table(rng: Random, form: NormalForm) -> Iterator[tuple[str, NormalForm]]:
    """Yield tables that differ in one payoff or one option."""
    payoffs = np.array(form.given, dtype=object)
    place = tuple(rng.randrange(size) for size in payoffs.shape)
    payoffs[place] += Fraction(1, 1000)
    yield "payoff", NormalForm(payoffs, form.players, form.actions, form.name)
    first, *others = form.actions
    renamed = (("another name", *first[1:]), *others)
    yield "option", NormalForm(form.given, form.players, renamed, form.name)
