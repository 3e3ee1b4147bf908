"""No policy is called a sequential equilibrium that is none: random trees with large payoffs, checked in fractions.

`python -m tests.theory.trees.test_sequential 10000` draws more of them than a test has time for.
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


def draw_tree(seed: int) -> Tree:
    """Draw a tree of two players whose payoffs are small whole numbers or, often, of very different sizes."""
    rng = Random(seed)
    tree = random_tree(rng, depth=rng.randint(2, 5), zero_sum=False)
    payoffs = LARGE if seed % 2 else tuple(range(-9, 10))

    def expand(node: int) -> Leaf | Chance | Turn:
        below = tree.children[node]
        if tree.owner[node] == LEAF:
            return Leaf([rng.choice(payoffs) for _ in tree.players])
        if tree.owner[node] == CHANCE:
            return Chance({tree.branch_labels[k]: (tree.read_probability(k), k) for k in below})
        infoset = tree.infosets[tree.infoset[node]]
        return Turn(tree.players[infoset.player], infoset.key, dict(zip(infoset.moves, below, strict=True)))

    return build_tree(tree.players, 0, expand)


def find_wrong(seed: int) -> list[str]:
    tree = draw_tree(seed)
    equilibrium = find_sequential(tree)
    beliefs = equilibrium.exact_beliefs
    return find_faults(tree, equilibrium.exact, beliefs)


@pytest.mark.parametrize("seed", range(60))
def test_no_answer_is_wrong(seed):
    assert find_wrong(seed) == []


def test_the_check_sees_a_policy_that_is_no_equilibrium():
    tree = build_tree(["Al"], Turn("Al", "i", {"good": Leaf([1]), "bad": Leaf([0])}))
    half = [Fraction(1, 2), Fraction(1, 2)]
    assert find_faults(tree, half, [Fraction(1)] * 3) == ["Al gains 1/2 at the root", "Al gains 1/2 at i"]


if __name__ == "__main__":
    wrong, refused = 0, 0
    for number in range(int(sys.argv[1])):
        try:
            wrong += bool(find_wrong(number))
        except NotCertified:
            refused += 1
    print(f"{sys.argv[1]} trees: {wrong} wrong, {refused} not certified")
