"""Models reason about games that hide something: told what they may know, checked on the whole
tree."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
import running

from bestresponse.core.conformance import check_game
from bestresponse.core.episode import play
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.player import Nature
from bestresponse.games.trees.game import TreeGame
from bestresponse.models.base import Request
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.players.llm.player import LlmPlayer
from bestresponse.players.llm.verified import with_review
from bestresponse.players.strategies import Mixing
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.study import verify_model
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.trees.tree import Chance, Leaf, Tree, Turn, build_tree


def build_poker() -> Tree:
    """One card, high or low, is drawn for ann, who alone sees it; she bets 2 or folds 1; bob calls
    or passes.

    In equilibrium bob calls with 2/3 (so that ann does not mind a bluff), and ann bluffs with 1/6.
    """

    def expand(state: tuple[str, ...]) -> Leaf | Chance | Turn:
        if not state:
            return Chance({"high": (Fraction(1, 3), ("high",)), "low": (Fraction(2, 3), ("low",))})
        if len(state) == 1:
            return Turn("ann", state[0], {"bet": (*state, "bet"), "fold": (*state, "fold")})
        if state[-1] == "fold":
            return Leaf([-1, 1])
        if len(state) == 2:
            return Turn("bob", "bet", {"call": (*state, "call"), "pass": (*state, "pass")})
        if state[-1] == "pass":
            return Leaf([1, -1])
        return Leaf([2, -2] if state[0] == "high" else [-2, 2])

    return build_tree(("ann", "bob"), (), expand, name="one-card")


def config(**changed: object) -> VerifyConfig:
    usual = {"repeats": 6, "disguised": False, "inverted": False, "translator": "rules"}
    return VerifyConfig("scripted", build_poker(), **(usual | changed))


def test_the_reasoner_is_told_its_own_card_and_what_the_other_player_cannot_know() -> None:
    scene = config().scene
    view = scene.game.view(scene.opening, "Player 1")
    assert write_history(view) == "It is your turn. So far: chance drew high."
    told = write_rules(view)
    assert (
        "After you chose bet, Player 2 chooses call or pass, not knowing what chance drew (high or"
        " low)." in told
    )
    assert (
        "- If chance draws low and then you choose bet and then Player 2 chooses call, "
        "you get -2, Player 2 gets 2." in told
    )


def test_the_other_player_is_not_told_the_card() -> None:
    scene = config().scene
    nodes = [node for node, owner in enumerate(scene.game.tree.owner.tolist()) if owner == 1]
    told = [scene.game.view(node, "Player 2") for node in nodes]
    assert len(told) == 2
    assert told[0] == told[1]
    assert (
        write_history(told[0])
        == "It is your turn. So far: chance drew high or low, Player 1 chose bet."
    )
    check_game(scene.game)


def answer(request: Request) -> str:
    corrected = "take the following into account" in request.messages[-1].content
    return (
        "Now I see.\nANSWER: bet"
        if corrected
        else "With the high card a called bet pays me 1.\nANSWER: fold"
    )


def translate(request: Request) -> str:
    asked = request.messages[-1].content
    moves = [
        {"who": "nature", "action": "high"},
        {"who": "you", "action": "bet"},
        {"who": "them", "action": "call"},
    ]
    quote = "With the high card a called bet pays me 1"
    claim = {"form": "payoff", "quote": quote, "who": "you", "value": 1, "outcome": moves}
    return json.dumps(
        {"claims": ([claim] if "a called bet pays me 1" in asked.rpartition("\n\n")[0] else [])}
    )


def test_a_claim_that_a_model_translates_is_refuted_on_the_tree_and_the_move_is_measured(
    tmp_path: Path,
) -> None:
    models = {
        "scripted": ScriptedModel(answer),
        "translator": ScriptedModel(translate, name="translator"),
    }
    ran = running.run(verify_model, config(translator="translator"), tmp_path, models)
    rows = ran.rows()
    assert len(rows) == 6
    for row in rows:
        assert row["transcript"][0]["corrections"] == [
            "You say that if chance draws high and you choose bet and the other player chooses"
            " call, you get 1. In fact, if chance draws high and you choose bet and the other"
            " player chooses call, you get 2."
        ]
    # With the high card betting earns 5/3 and folding -1; with the low card both earn -1.
    assert {round(row["first_gap"], 3) for row in rows} <= {0.0, 2.667}
    assert {round(row["last_gap"], 3) for row in rows} == {0.0}
    assert ran.replay().same == 6


def test_what_a_model_of_a_hidden_game_cannot_be_asked_is_said() -> None:
    with pytest.raises(
        UsageError, match="one-card hides some moves; a model is asked from the start only"
    ):
        config(after=("bet",))
    with pytest.raises(UsageError, match="the game can be over before bob moves; ask ann"):
        _ = config(seat="bob").scene


def test_a_verified_player_of_a_hidden_game_is_put_right() -> None:
    tree = build_poker()
    wrong = "If I choose fold, I get 3.\nANSWER: fold"
    model = ScriptedModel([wrong, "I bet.\nANSWER: bet"])
    game = TreeGame(tree)
    seats = {
        "ann": with_review("verified:scripted", LlmPlayer(model), game),
        "bob": Mixing({"bet": {"pass": 1.0}}),
        NATURE: Nature(1),
    }
    assert play(game, seats).payoffs == {"ann": 1.0, "bob": -1.0}
    assert "you get -1" in model.asked[1].messages[-1].content
