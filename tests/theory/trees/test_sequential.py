"""No policy is called a sequential equilibrium that is none: random trees with large payoffs,
checked in fractions.

`python -m tests.theory.trees.test_sequential 10000` draws more of them than a test has time for; a
second number is that of the players.
"""

import sys
from fractions import Fraction
from random import Random

import pytest
from tests.support.assessments import find_faults
from tests.support.random_trees import random_tree

from bestresponse.core.errors import NotCertified
from bestresponse.theory import Leaf, Turn, build_tree, find_sequential
from bestresponse.theory.trees.tree import CHANCE, LEAF, Chance, Tree

LARGE = (0, 1, 2, 100_000, 2**40, Fraction(1, 3))


def draw_tree(seed: int, players: int = 2) -> Tree:
    """Draw a tree whose payoffs are small whole numbers or, often, of very different sizes."""
    rng = Random(seed)
    tree = random_tree(rng, players, depth=rng.randint(2, 5), zero_sum=False)
    payoffs = LARGE if seed % 2 else tuple(range(-9, 10))

    def expand(node: int) -> Leaf | Chance | Turn:
        below = tree.children[node]
        if tree.owner[node] == LEAF:
            return Leaf([rng.choice(payoffs) for _ in tree.players])
        if tree.owner[node] == CHANCE:
            return Chance({tree.branch_labels[k]: (tree.read_probability(k), k) for k in below})
        infoset = tree.infosets[tree.infoset[node]]
        return Turn(
            tree.players[infoset.player], infoset.key, dict(zip(infoset.moves, below, strict=True))
        )

    return build_tree(tree.players, 0, expand)


def find_wrong(seed: int, players: int = 2) -> list[str]:
    tree = draw_tree(seed, players)
    equilibrium = find_sequential(tree)
    beliefs = equilibrium.exact_beliefs
    return find_faults(tree, equilibrium.exact, beliefs)


@pytest.mark.parametrize("seed", range(60))
def test_no_answer_is_wrong(seed):
    assert find_wrong(seed) == []


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("players", [3, 4])
def test_no_answer_of_several_players_is_wrong(seed, players):
    assert find_wrong(seed, players) == []


def test_two_players_who_choose_are_solved_exactly_whoever_else_watches():
    # Matching pennies for 1 and 10^9 between the second and third, beside somebody who only earns:
    # the third plays heads with p where p = 10^9 (1 - p), the second evenly.
    large = 10**9

    def third(first, second):
        return Turn("third", "hidden", {"heads": Leaf(first), "tails": Leaf(second)})

    root = Turn(
        "second",
        "coin",
        {"heads": third([5, 1, 0], [5, 0, 1]), "tails": third([5, 0, 1], [7, large, 0])},
    )
    found = find_sequential(build_tree(["first", "second", "third"], root))
    third_heads = Fraction(large, large + 1)
    half = Fraction(1, 2)
    assert found.exact == (half, half, third_heads, 1 - third_heads)


def test_a_pure_equilibrium_is_found_where_payoffs_are_too_wide_for_floats():
    found = find_sequential(draw_tree(3, players=3))
    assert set(found.exact) == {0, 1}
    assert found.gap == 0.0


def test_in_seltens_horse_the_third_player_believes_in_a_mistake_of_the_second():
    def third(left, right):
        return Turn("third", "hidden", {"L": Leaf(left), "R": Leaf(right)})

    second = Turn(
        "second", "seen", {"down": third([4, 4, 0], [0, 0, 1]), "across": Leaf([1, 1, 1])}
    )
    first = Turn("first", "root", {"down": third([3, 3, 2], [0, 0, 0]), "across": second})
    found = find_sequential(build_tree(["first", "second", "third"], first))
    # (down, across, L) is a Nash equilibrium too, but the second would rather go down if it were
    # asked.
    assert found.policy.table() == {
        "first": {"root": {"down": 0.0, "across": 1.0}},
        "second": {"seen": {"down": 0.0, "across": 1.0}},
        "third": {"hidden": {"L": 0.0, "R": 1.0}},
    }
    # R is best where the first went down with at most 1/3: 2 b <= 1 - b.
    assert found.exact_beliefs[1] <= Fraction(1, 3) <= Fraction(1, 2) <= found.exact_beliefs[5]


def test_three_who_must_mix_are_refused():
    # The only equilibrium of this table; x = 0.1518, y = 0.2821 solve 4 x + 2 y - 4 x y = 1 for the
    # third player.
    payoffs = (
        [[[3, 1], [1, 1]], [[0, 0], [3, 0]]],
        [[[2, 1], [3, 1]], [[1, 3], [2, 1]]],
        [[[1, 0], [3, 0]], [[1, 0], [0, 1]]],
    )

    def build(*moves):
        if len(moves) == 3:
            return Leaf([table[moves[0]][moves[1]][moves[2]] for table in payoffs])
        player = "ABC"[len(moves)]
        return Turn(player, player, {str(move): build(*moves, move) for move in range(2)})

    with pytest.raises(NotCertified, match="only where they are pure"):
        find_sequential(build_tree(["A", "B", "C"], build()))


def test_the_check_sees_a_policy_that_is_no_equilibrium():
    tree = build_tree(["Al"], Turn("Al", "i", {"good": Leaf([1]), "bad": Leaf([0])}))
    half = [Fraction(1, 2), Fraction(1, 2)]
    assert find_faults(tree, half, [Fraction(1)] * 3) == [
        "Al gains 1/2 at the root",
        "Al gains 1/2 at i",
    ]


if __name__ == "__main__":
    wrong, refused = 0, 0
    for number in range(int(sys.argv[1])):
        try:
            wrong += bool(find_wrong(number, *map(int, sys.argv[2:])))
        except NotCertified:
            refused += 1
    print(f"{sys.argv[1]} trees: {wrong} wrong, {refused} not certified")
