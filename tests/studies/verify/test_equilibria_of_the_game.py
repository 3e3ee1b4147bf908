"""What a choice is worth is told by the equilibria of the game itself, however the game is shown."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from checked_attempts import make_attempt, store_run

from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import measure_reasoning
from bestresponse.theory.catalogue import load
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Leaf, Turn, build_tree

SHOWN = [
    {"disguised": disguised, "inverted": inverted}
    for disguised, inverted in itertools.product((True, False), repeat=2)
]


def find_worths(game, seat, **shown):
    """Return by the game's own names what each choice earns at the equilibria, from low to high."""
    config = VerifyConfig("m", game, seat=seat, **shown)
    (moves,) = config.moves.values()
    own = moves[config.scene.seat]
    worths = config.scene.worth(())
    return {own[told]: sorted(round(one[told], 9) for one in worths) for told in worths[0]}


def turn_around(game):
    """Return the game with its players and their actions in the reverse order."""
    payoffs = game.payoffs[::-1].transpose(0, 2, 1)[:, ::-1, ::-1]
    actions = tuple(names[::-1] for names in game.actions[::-1])
    return NormalForm(np.ascontiguousarray(payoffs), game.players[::-1], actions)


# At (stag, stag), at (hare, hare), and where the other hunts stags one time in three.
HUNT = {"stag": [0.0, round(5 / 3, 9), 5.0], "hare": [1.0, round(5 / 3, 9), 3.0]}


@pytest.mark.parametrize("shown", SHOWN, ids=str)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_table_is_worth_the_same_under_every_order_letter_and_seat(shown, seat):
    game = load("stag-hunt-lelma")
    assert find_worths(game, game.players[seat], **shown) == HUNT
    turned = turn_around(game)
    assert find_worths(turned, turned.players[seat], **shown) == HUNT


@pytest.mark.parametrize("shown", SHOWN, ids=str)
def test_an_asymmetric_table_is_worth_the_same_under_every_order(shown):
    # Two pure equilibria, (up, left) and (down, right); at the mixed one the other goes left one
    # time in six: 3 / 6 = 0.6 * 5 / 6.
    game = NormalForm.bimatrix(
        [[3, 0], [0, 0.6]],
        [[1, 0], [0, 4]],
        players=("row", "column"),
        actions=(("up", "down"), ("left", "right")),
    )
    wanted = {"up": [0.0, 0.5, 3.0], "down": [0.0, 0.5, 0.6]}
    assert find_worths(game, "row", **shown) == wanted
    assert find_worths(turn_around(game), "row", **shown) == wanted


@pytest.mark.parametrize("shown", SHOWN, ids=str)
@pytest.mark.parametrize("first", ["fight", "share"])
def test_a_tree_with_a_tie_is_worth_the_same_under_every_order(shown, first):
    after = {"fight": Leaf([0, 1]), "share": Leaf([2, 1])}
    after = {first: after[first]} | after

    def expand(state):
        if isinstance(state, Leaf):
            return state
        if state == "start":
            return Turn("entrant", "market", {"in": "in", "out": Leaf([1, 5])})
        return Turn("incumbent", "entry", after)

    game = build_tree(("entrant", "incumbent"), "start", expand, name="tied entry")
    # Whether the incumbent fights is a tie.
    assert find_worths(game, "entrant", **shown) == {"in": [0.0, 2.0], "out": [1.0, 1.0]}


def measure(tmp_path, game, choices, **shown):
    config = VerifyConfig("m", game, **shown)
    (moves,) = config.moves.values()
    told = {move: letter for letter, move in moves[0].items()}
    plays = [
        store_run(config.scene, number, make_attempt(told[choice], "refuted"), game=game)
        for number, choice in enumerate(choices)
    ]
    folder = SimpleNamespace(path=tmp_path, sorted_plays=lambda: plays, calls=lambda: ())
    return measure_reasoning(config, folder)


@pytest.mark.parametrize("shown", SHOWN, ids=str)
def test_where_equilibria_differ_there_is_a_range_and_no_single_gap(tmp_path, shown):
    measured = measure(tmp_path, "stag-hunt-lelma", ["stag", "stag", "hare"], **shown)
    first = measured.groups["first",]
    assert (first["payoff"], first["gap"], first["wrong_reason"]) == (None, None, None)
    # Stag loses 1 at (hare, hare), hare 2 at (stag, stag), and neither loses at its own.
    assert first["gap_least"].estimate == pytest.approx(0.0)
    assert first["gap_most"].estimate == pytest.approx(4 / 3)
    assert {"gap_least", "gap_most"} <= {metric.name for metric in measured.metrics}
    assert not measured.frames["changes"].rows


@pytest.mark.parametrize("shown", SHOWN, ids=str)
def test_where_there_is_one_equilibrium_its_gap_stands_alone(tmp_path, shown):
    measured = measure(tmp_path, "prisoners-dilemma-lelma", ["betray", "confess"], **shown)
    first = measured.groups["first",]
    # Against a betrayer betraying earns 1 and confessing 0.
    assert (first["payoff"].estimate, first["gap"].estimate) == (0.5, 0.5)
    assert first["wrong_reason"].estimate == 1.0
    assert not {"gap_least", "gap_most"} & {metric.name for metric in measured.metrics}
