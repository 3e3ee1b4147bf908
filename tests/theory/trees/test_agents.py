"""Agent quantal responses: closed forms, and what their information sets believe of each other."""

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import (
    Chance,
    Leaf,
    Turn,
    agent_quantal_branch,
    build_tree,
    catalogue,
    quantal_response,
)
from bestresponse.theory.trees.normal_form import to_normal_form


def test_an_incumbent_shares_with_the_logistic_probability_and_the_entrant_knows():
    found = agent_quantal_branch(catalogue.load_tree("entry-deterrence"), 1.0).final
    share = 1 / (1 + np.exp(-2.0))  # sharing earns 2, fighting 0
    enter = 1 / (1 + np.exp(1 - 2 * share))  # staying out earns 1, entering 2 times what is shared
    assert found.strategies[1].tolist() == pytest.approx([share, 1 - share])
    assert found.strategies[0].tolist() == pytest.approx([1 - enter, enter])


def test_where_everybody_moves_once_agents_are_the_players():
    def build(first=None):
        if first is None:
            return Turn("row", "r", {move: build(move) for move in "ab"})
        payoffs = {"aa": (3, 1), "ab": (0, 0), "ba": (0, 0), "bb": (1, 2)}
        return Turn("col", "c", {move: Leaf(payoffs[first + move]) for move in "ab"})

    tree = build_tree(["row", "col"], build())
    agents = agent_quantal_branch(tree, 0.7).final
    players = quantal_response(to_normal_form(tree), 0.7)
    for mine, theirs in zip(agents.strategies, players.strategies, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_a_player_who_forgets_has_no_agents():
    forgets = Turn(
        "Al", "i", {"on": Turn("Al", "i", {"on": Leaf([1]), "off": Leaf([4])}), "off": Leaf([0])}
    )
    with pytest.raises(InvalidGame, match="recall"):
        agent_quantal_branch(build_tree(["Al"], forgets), 1.0)


@pytest.mark.parametrize(
    "root",
    [
        Leaf([1]),
        Chance({"heads": (0.5, Leaf([1])), "tails": (0.5, Leaf([0]))}),
        Chance(
            {
                "always": (1, Leaf([1])),
                "never": (0, Turn("she", "then", {"a": Leaf([0]), "b": Leaf([2])})),
            }
        ),
    ],
)
def test_a_tree_in_which_chance_decides_everything_is_refused(root):
    with pytest.raises(
        InvalidGame, match="nobody moves, or somebody only after draws of chance that have probabil"
    ):
        agent_quantal_branch(build_tree(["she"], root), 1.0)
