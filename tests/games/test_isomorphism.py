"""Trees are the same up to names, the order of simultaneous moves and affine payoffs, and nothing
else is."""

from collections import Counter
from dataclasses import replace
from itertools import islice, permutations
from random import Random

import numpy as np
import pytest
from random_trees import random_tree

from bestresponse.games.comparison import compare_games
from bestresponse.games.isomorphism import Ends, list_isomorphisms
from bestresponse.games.lookup import find_game
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.normal_form import to_tree
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Leaf, Turn, build_tree


def draw(seed, **more):
    """A random tree of two players with chance and hidden moves, at least three ends."""
    for number in range(100):
        tree = random_tree(Random(1000 * seed + number), 2, zero_sum=False, **more)
        if len(tree.leaves) > 2 and len(tree.infosets) > 1:
            return tree
    raise AssertionError("no tree of that kind was drawn")


def copy_tree(tree, seed, payoffs=None, chances=None, infosets=None):
    """The tree under other names, its branches and players in another order, each player's payoffs
    scaled and shifted; `payoffs`, `chances` and `infosets` by node take the place of what the tree
    has there."""
    rng = Random(seed)
    order = rng.sample(range(len(tree.players)), len(tree.players))
    scales = [(rng.choice([0.5, 1, 3]), rng.randint(-5, 5)) for _ in tree.players]
    renamed = {}

    def copy(node):
        owner = int(tree.owner[node])
        if owner == LEAF:
            earned = (payoffs or {}).get(node, tree.payoffs[node])
            return Leaf([scales[k][0] * float(earned[k]) + scales[k][1] for k in order])
        below = list(tree.children[node])
        Random(f"{seed} {owner} {tree.infoset[node]} {node if owner == CHANCE else ''}").shuffle(
            below
        )
        name = {
            k: renamed.setdefault((tree.infoset[node], tree.branch_labels[k]), f"r{len(renamed)}")
            for k in below
        }
        if owner == CHANCE:
            odds = {k: (chances or {}).get(k, float(tree.probability[k])) for k in below}
            return Chance({f"c{k}": (odds[k], copy(k)) for k in below})
        infoset = (infosets or {}).get(node, int(tree.infoset[node]))
        return Turn(f"P{owner}", str(infoset), {name[k]: copy(k) for k in below})

    return build_tree([f"P{k}" for k in order], copy(0))


def swap(tree, node):
    """Exchange the mover at `node` with the one right after, who does not know what was chosen;
    None where one does."""
    below = tree.children[node]
    after = {int(tree.infoset[k]) for k in below}
    if int(tree.owner[node]) < 0 or len(after) != 1 or -1 in after:
        return None
    mover, second = (tree.infosets[int(tree.infoset[n])] for n in (node, below[0]))
    if mover.player == second.player:
        return None

    def copy(here):
        owner = int(tree.owner[here])
        if owner == LEAF:
            return Leaf([float(u) for u in tree.payoffs[here]])
        if here == node:
            inner = {
                label: Turn(
                    tree.players[mover.player],
                    str(tree.infoset[node]),
                    {own: copy(tree.children[below[k]][j]) for k, own in enumerate(mover.moves)},
                )
                for j, label in enumerate(second.moves)
            }
            return Turn(tree.players[second.player], str(tree.infoset[below[0]]), inner)
        if owner == CHANCE:
            return Chance(
                {
                    tree.branch_labels[k]: (float(tree.probability[k]), copy(k))
                    for k in tree.children[here]
                }
            )
        moves = {tree.branch_labels[k]: copy(k) for k in tree.children[here]}
        return Turn(tree.players[owner], str(tree.infoset[here]), moves)

    return build_tree(tree.players, copy(0))


def is_same_by_trial(first, second):
    """Whether some order of the ends and of the players carries one game to the other: the
    definition, tried out."""

    def describe(game, places, seats):
        infosets = {k: [] for k in range(len(game.owners))}
        for move, infoset in enumerate(game.infoset_of):
            reached = frozenset(places[k] for k, end in enumerate(game.ends) if move in end)
            infosets[infoset].append((round(game.chances[move], 9), reached))
        owners = [CHANCE if owner == CHANCE else seats[owner] for owner in game.owners]
        sets = Counter(
            (owners[k], frozenset(Counter(moves).items())) for k, moves in infosets.items()
        )
        paid = {
            places[k]: tuple(row[p] for p in np.argsort(seats))
            for k, row in enumerate(game.payoffs.tolist())
        }
        return sets, paid

    if len(first.ends) != len(second.ends):
        return False
    count, players = len(first.ends), range(len(first.players))
    wanted = describe(second, range(count), list(players))
    return any(
        describe(first, places, seats) == wanted
        for places in permutations(range(count))
        for seats in permutations(players)
    )


STARTS = [
    pytest.param(start, marks=() if start < 100 else pytest.mark.soak)
    for start in range(0, 250, 25)
]
"""Of 250 pairs of trees, 25 a test, 100 are compared every day and all of them by `make long`."""


@pytest.mark.parametrize("start", STARTS)
def test_trees_are_found_again_under_other_names_in_another_order_and_scale(start):
    """250 pairs that are isomorphic by construction; in every fifth two moves that nobody sees are
    exchanged too."""
    wrong = []
    for seed in range(start, start + 25):
        tree = draw(seed, depth=5 if seed % 10 else 7)
        other = copy_tree(tree, seed)
        if seed % 5 == 0:
            swapped = (swap(other, node) for node in range(other.num_nodes))
            other = next((tree for tree in swapped if tree is not None), other)
        if compare_games(tree, other, any_names=True).verdict != "same tree":
            wrong.append(seed)
    assert wrong == []


@pytest.mark.parametrize("start", STARTS)
def test_trees_that_were_changed_in_one_place_are_not_the_same_tree(start):
    """250 pairs: a payoff that occurs nowhere, another probability, or an information set that is
    split."""
    comparisons = [
        compare_games(*change(seed), any_names=True) for seed in range(start, start + 25)
    ]
    assert [
        seed for seed, found in enumerate(comparisons, start) if found.same or not found.differences
    ] == []


def change(seed):
    """A tree, and its copy under other names that is changed in one place."""
    tree, rng = draw(seed, depth=5), Random(seed)
    leaf = rng.choice(tree.leaves.tolist())
    drawn = [k for k in range(1, tree.num_nodes) if int(tree.owner[int(tree.parent[k])]) == CHANCE]
    shared = [
        k
        for k in range(tree.num_nodes)
        if int(tree.owner[k]) >= 0 and np.sum(tree.infoset == tree.infoset[k]) > 1
    ]
    kind = rng.choice(
        ["payoffs", *(["chances"] if drawn else []), *(["infosets"] if shared else [])]
    )
    if kind == "payoffs":
        player = rng.randrange(2)
        low, high = tree.payoffs[tree.leaves, player].min(), tree.payoffs[tree.leaves, player].max()
        changed = tree.payoffs[leaf].copy()
        changed[player] = (low + high) / 2 + 0.17
        other = copy_tree(tree, seed, payoffs={leaf: changed})
    elif kind == "chances":
        node = rng.choice(drawn)
        sibling = next(k for k in tree.children[int(tree.parent[node])] if k != node)
        moved = 0.37 * float(tree.probability[node])
        odds = {
            node: float(tree.probability[node]) - moved,
            sibling: float(tree.probability[sibling]) + moved,
        }
        other = copy_tree(tree, seed, chances=odds)
    else:
        other = copy_tree(tree, seed, infosets={rng.choice(shared): 10**6})
    return tree, other


@pytest.mark.parametrize("seed", range(60))
def test_the_search_agrees_with_trying_all_orders_of_the_ends(seed):
    rng = Random(seed)
    while len((tree := random_tree(rng, 2, 3, zero_sum=False)).leaves) not in (3, 4, 5):
        pass
    leaves = tree.leaves.tolist()
    turned = dict(
        zip(leaves, rng.sample([tree.payoffs[k] for k in leaves], len(leaves)), strict=True)
    )
    other = Ends.of(copy_tree(tree, seed, payoffs=turned))
    first = Ends.of(tree)
    plain = Ends.of(copy_tree(tree, seed + 1))
    rescaled = [replace(game, payoffs=rescale(game.payoffs)) for game in (first, other, plain)]
    assert is_same_by_trial(rescaled[0], rescaled[2])
    found = list(islice(list_isomorphisms(first, other, "affine", any_names=True), 1))
    assert bool(found) == is_same_by_trial(rescaled[0], rescaled[1])


def rescale(payoffs):
    low, width = payoffs.min(axis=0), np.ptp(payoffs, axis=0)
    return np.round((payoffs - low) / np.where(width > 0, width, 1), 9) + 0.0


def test_the_order_of_simultaneous_moves_makes_no_difference():
    tried = 0
    for seed in range(60):
        tree = draw(seed, depth=6)
        for node in range(tree.num_nodes):
            other = swap(tree, node)
            if other is not None:
                tried += 1
                found = compare_games(tree, other)
                assert (found.relation, found.basis) == ("equal", "trees")
    assert tried > 20


def test_three_who_choose_without_knowing_of_each_other_may_do_so_in_any_order():
    """Ann, then Bob, who does not see it, then Carl, who sees what Ann did; or Carl before Bob."""
    pay = {(a, b, c): [a, 2 * b + a, c * a - b] for a in (0, 1) for b in (0, 1) for c in (0, 1)}
    bob_first = Turn(
        "Ann",
        "a",
        {
            f"a{a}": Turn(
                "Bob",
                "b",
                {
                    f"b{b}": Turn("Carl", f"c{a}", {f"c{c}": Leaf(pay[a, b, c]) for c in (0, 1)})
                    for b in (0, 1)
                },
            )
            for a in (0, 1)
        },
    )
    carl_first = Turn(
        "Ann",
        "a",
        {
            f"a{a}": Turn(
                "Carl",
                f"c{a}",
                {
                    f"c{c}": Turn("Bob", "b", {f"b{b}": Leaf(pay[a, b, c]) for b in (0, 1)})
                    for c in (0, 1)
                },
            )
            for a in (0, 1)
        },
    )
    names = ["Ann", "Bob", "Carl"]
    found = compare_games(build_tree(names, bob_first), build_tree(names, carl_first))
    assert (found.relation, found.basis) == ("equal", "trees")


def test_one_who_sees_less_plays_another_tree_although_no_payoff_tells_it():
    """A door is opened; whether the only player sees which makes no difference to the payoffs of
    any plan."""

    def play(sees):
        return Chance(
            {
                door: (
                    1 / 3,
                    Turn(
                        "guest",
                        f"saw {door}" if sees else "saw nothing",
                        {"stay": Leaf([1]), "go": Leaf([2])},
                    ),
                )
                for door in ("left", "middle", "right")
            }
        )

    seen, unseen = build_tree(["guest"], play(True)), build_tree(["guest"], play(False))
    choice = build_tree(["guest"], Turn("guest", "i", {"stay": Leaf([1]), "go": Leaf([2])}))
    assert compare_games(unseen, choice).verdict == "same reduced form, other tree"
    found = compare_games(seen, unseen)
    assert (found.relation, found.basis) == ("different", "trees")
    assert found.differences[0].startswith(
        "guest cannot tell apart left and middle in the second game"
    )


def test_names_that_occur_in_both_games_mean_the_same_unless_told_otherwise():
    first = build_tree(
        ["Player 1", "Player 2"], Turn("Player 1", "i", {"up": Leaf([1, 0]), "down": Leaf([0, 2])})
    )
    crossed = build_tree(
        ["player_1", "player_2"], Turn("player_2", "i", {"up": Leaf([0, 1]), "down": Leaf([2, 0])})
    )
    assert not compare_games(first, crossed).same
    assert compare_games(first, crossed, any_names=True).players == {
        "Player 1": "player_2",
        "Player 2": "player_1",
    }
    turned = build_tree(
        ["Player 1", "Player 2"], Turn("Player 1", "i", {"down": Leaf([1, 0]), "up": Leaf([0, 2])})
    )
    assert not compare_games(first, turned).same
    assert compare_games(first, turned, any_names=True).actions["Player 1"] == {
        "up": "down",
        "down": "up",
    }
    other_names = build_tree(
        ["Player 1", "Player 2"], Turn("Player 1", "i", {"l": Leaf([1, 0]), "r": Leaf([0, 2])})
    )
    assert compare_games(first, other_names).relation == "renamed"


def test_a_table_is_the_same_tree_as_the_tree_in_which_nobody_sees_the_others():
    form = find_game("battle-of-the-sexes").solvable()
    found = compare_games(form, to_tree(form))
    assert (found.relation, found.basis) == ("equal", "trees")


def test_a_player_who_forgets_can_be_compared():
    forgets = Turn(
        "clerk",
        "box",
        {
            "left": Turn("clerk", "later", {"left": Leaf([1]), "right": Leaf([0])}),
            "right": Turn("clerk", "later", {"left": Leaf([0]), "right": Leaf([1])}),
        },
    )
    remembers = Turn(
        "clerk",
        "box",
        {
            "left": Turn("clerk", "later, left", {"left": Leaf([1]), "right": Leaf([0])}),
            "right": Turn("clerk", "later, right", {"left": Leaf([0]), "right": Leaf([1])}),
        },
    )
    first, second = build_tree(["clerk"], forgets), build_tree(["clerk"], remembers)
    assert compare_games(first, first).basis == "trees"
    found = compare_games(first, second)
    assert not found.same
    # four plans each: both boxes and both later moves, and they pay the same
    assert found.verdict == "same reduced form, other tree"


def test_large_trees_are_compared():
    """10,001 nodes and more, payoffs of 0 and 1, so that thousands of subtrees are alike; no names
    in common."""
    rng = Random(5)

    def grow(depth):
        if depth == 0:
            return Leaf([rng.randint(0, 1), rng.randint(0, 1)])
        return Turn(
            "AB"[depth % 2],
            str(rng.random()),
            {f"m{k}": grow(depth - 1) for k in range(3 if depth == 12 else 2)},
        )

    tree = build_tree(["A", "B"], grow(12))
    assert tree.num_nodes > 10_000
    other = copy_tree(tree, 3)
    leaf = int(tree.leaves[100])
    changed = copy_tree(tree, 3, payoffs={leaf: tree.payoffs[leaf] + [2.0, 0.0]})
    assert compare_games(tree, other, any_names=True).verdict == "same tree"
    parted = compare_games(tree, changed, any_names=True)
    assert parted.verdict == "different"
    assert parted.num_differences == 1
    assert "the payoffs are" in parted.differences[0]


def test_leduc_poker_is_itself():
    tree = find_game("leduc-poker").solvable()
    assert compare_games(tree, tree).relation == "equal"


def test_a_table_with_equal_rows_is_matched_in_spite_of_its_symmetries():
    first = NormalForm.bimatrix(np.zeros((9, 9)), np.zeros((9, 9)))
    second = NormalForm.bimatrix(np.ones((9, 9)), np.zeros((9, 9)))
    assert compare_games(first, second, any_names=True).relation == "equivalent"
