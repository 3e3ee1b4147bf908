"""Games told by rules unfold their own trees, and larger ones are solved to a bound."""

import numpy as np
import pytest

from bestresponse.analysis import theory
from bestresponse.games.liars_dice.rules import LiarsDice
from bestresponse.games.lookup import find_game
from bestresponse.studies.bench import trees
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import plan_questions
from bestresponse.telling.render import write_history
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.tree import Infoset


def spell(infoset: Infoset) -> tuple[object, ...]:
    return infoset.player, infoset.key, infoset.label, infoset.moves


@pytest.mark.parametrize(
    "name",
    [
        "liars-dice(wild=true)",
        "bluff(bets=2)",
        "hidden-haggling",
        "nim(piles=1-2)",
        "boxes(piles=2)",
    ],
)
def test_a_game_unfolds_the_tree_that_its_views_make(name: str) -> None:
    game = find_game(name).game
    ours = game.unfold(2_000)
    theirs = compile_game(game, label=write_history)
    assert ours.children == theirs.children
    assert ours.branch_labels == theirs.branch_labels
    assert list(map(spell, ours.infosets)) == list(map(spell, theirs.infosets))
    for kind in ("owner", "infoset", "payoffs", "probability"):
        assert np.array_equal(getattr(ours, kind), getattr(theirs, kind))


def test_the_highest_number_is_wild_only_if_it_is_said_so() -> None:
    rolled = (6, 3), ("1x2", "2x3", "liar")
    assert LiarsDice(6, wild=True).find_result(rolled) == (-1.0, 1.0)
    assert LiarsDice(6).find_result(rolled) == (1.0, -1.0)
    sixes = (6, 3), ("2x6", "liar")
    assert LiarsDice(6, wild=True).find_result(sixes) == (-1.0, 1.0)


def test_a_large_tree_is_solved_to_a_bound_and_a_hundred_of_its_sets_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = theory.describe_theory(LiarsDice(4))
    for module in (theory, trees):
        monkeypatch.setattr(module, "MOST_NODES", 5_000)
    near = theory.describe_theory(LiarsDice(4))
    assert exact.method == "sequence-form LP"
    assert near.method == "CFR+, 2,000 iterations"
    assert exact.predicted[0].payoffs["player 1"] == pytest.approx(-1 / 8, abs=1e-9)
    assert near.predicted[0].payoffs["player 1"] == pytest.approx(-1 / 8, abs=1e-5)
    assert 0 < near.predicted[0].regret < 1e-5
    config = BenchConfig(model="random", game="liars-dice(sides=4)")
    asked = plan_questions(config).describe()
    assert (asked["decisions"], asked["asked"]) == (512, 100)
