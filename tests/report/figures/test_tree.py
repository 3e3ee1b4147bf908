"""The picture of a tree: no two labels meet, and the positions of an information set stand on one
line."""

from itertools import pairwise

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report.figures.tree import Overlay, draw_tree, lay_out
from bestresponse.theory import load_tree
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree


def test_every_label_has_a_row_of_its_own_and_ends_before_the_next_position():
    tree = load_tree("kuhn-poker")
    layout = lay_out(tree, Overlay())
    for level in range(max(layout.depth) + 1):
        heights = sorted(
            layout.y[node] for node in range(tree.num_nodes) if layout.depth[node] == level
        )
        assert all(above - below >= 0.3 - 1e-9 for below, above in pairwise(heights))
    assert all(
        start < bend < stop
        for start, bend, stop in zip(layout.x, layout.bend, layout.x[1:], strict=False)
    )


def test_information_sets_that_overlap_have_lanes_of_their_own():
    tree = load_tree("kuhn-poker")
    lanes = lay_out(tree, Overlay()).lanes
    assert len(lanes) == 12
    seconds = [lanes[k] for k, infoset in enumerate(tree.infosets) if infoset.player == 1]
    assert len(set(seconds)) == 6


def test_both_kinds_of_files_are_drawn_and_are_the_same_each_time():
    tree = build_tree(["a"], Turn("a", "i", {"left": Leaf([1]), "right": Leaf([1 / 3])}))
    assert draw_tree(tree, "png").startswith(b"\x89PNG")
    drawn = draw_tree(tree)
    assert drawn == draw_tree(tree)
    assert b"1/3" in drawn


def test_a_tree_with_too_many_ends_is_refused():
    with pytest.raises(UsageError, match="it has 1,116 ends, expected at most 150"):
        draw_tree(load_tree("leduc-poker"))


def test_a_policy_is_drawn_on_the_part_of_a_tree_that_is_named():
    tree = load_tree("kuhn-poker")
    first = tree.children[0][0]
    nodes = {0, first, *tree.children[first]}
    chances = dict(zip(tree.children[first], (0.25, 0.75), strict=True))
    drawn = draw_tree(tree, overlay=Overlay(chances, {int(tree.infoset[first]): 1.0}, nodes))
    assert b"pass 0.25" in drawn
    assert b"bet 0.75" in drawn
    layout = lay_out(tree, Overlay(nodes=nodes))
    assert set(layout.y) == nodes
    assert sorted(layout.y[child] for child in tree.children[first]) == pytest.approx([-0.3, 0.0])
    assert layout.y[first] == pytest.approx(-0.15)
