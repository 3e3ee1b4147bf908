"""Two states that a role cannot tell apart are told to this role in the same words: rules and
history, in every kind of game."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from example_programs import SMALLER, list_full_programs, shrink
from random_games import draw_game_tree

from bestresponse.core.game import NATURE, AnyGame, Role
from bestresponse.games.dialogue.game import Dialogue, Spoken, make_plain_dialogue
from bestresponse.games.logic.game import LogicGame
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import RepeatedGame, Rounds
from bestresponse.games.sealed_bid.rules import AuctionState, SealedBid
from bestresponse.games.trees.game import TreeGame
from bestresponse.telling.render import write_history, write_rules
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.catalogue.trees import load_tree, tree_names

DILEMMA = load("prisoners-dilemma")


def tell(game: AnyGame, state: object, role: Role) -> str:
    view = game.view(state, role)
    return f"{write_rules(view)}\n\n{write_history(view)}"


def check_tree(game: TreeGame) -> None:
    """Every position of an information set is told alike, and no two sets are told alike."""
    tree = game.tree
    told: dict[int, set[str]] = {}
    for node in range(tree.num_nodes):
        index = int(tree.infoset[node])
        if index >= 0:
            told.setdefault(index, set()).add(tell(game, node, tree.players[int(tree.owner[node])]))
    assert [index for index, texts in told.items() if len(texts) > 1] == []
    for player in range(len(tree.players)):
        texts = [
            next(iter(told[index]))
            for index, infoset in enumerate(tree.infosets)
            if infoset.player == player
        ]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", tree_names())
def test_information_sets_of_the_catalogue_are_told_alike(name: str) -> None:
    check_tree(TreeGame(load_tree(name)))


@pytest.mark.parametrize("seed", range(40))
def test_information_sets_of_random_trees_are_told_alike(seed: int) -> None:
    game = TreeGame(draw_game_tree(Random(seed), num_players=2 + seed % 3))
    tree = game.tree
    for index in range(len(tree.infosets)):
        nodes = [node for node in range(tree.num_nodes) if int(tree.infoset[node]) == index]
        who = tree.players[tree.infosets[index].player]
        assert len({tell(game, node, who) for node in nodes}) == 1


def check_program(path: Path) -> None:
    """What a role knows follows from its information set alone, at every position of the play."""
    game = find_game(str(path)).playable()
    if not isinstance(game, LogicGame):
        return
    told: dict[tuple[Role, str], set[str]] = {}
    waiting = [game.start()]
    while waiting:
        state = waiting.pop()
        asks = game.asks(state)
        for role in asks:
            if role != NATURE:
                # Program players are given their information set as facts.
                known = str(game.view(state, role).facts)
                told.setdefault((role, known), set()).add(tell(game, state, role))
        for role, ask in asks.items():
            if len(asks) == 1:
                options = getattr(ask, "options", None) or [one for one, _ in ask.chances]
                waiting += [game.apply(state, {role: option}) for option in options]
    assert [key for key, texts in told.items() if len(texts) > 1] == []


@pytest.mark.parametrize("name", SMALLER)
def test_what_a_program_with_fewer_moves_hides_is_not_told(name: str, tmp_path: Path) -> None:
    check_program(shrink(name, tmp_path))


@pytest.mark.parametrize("path", list_full_programs())
def test_what_a_program_hides_is_not_told(path: Path) -> None:
    check_program(path)


@pytest.mark.parametrize("price", ["first", "second"])
def test_values_of_other_bidders_are_not_told(price: str) -> None:
    game = SealedBid(price=price)
    one, other = AuctionState((50, 10, 20)), AuctionState((50, 90, 0))
    assert tell(game, one, "bidder 1") == tell(game, other, "bidder 1")
    assert tell(game, one, "bidder 2") != tell(game, other, "bidder 2")


def test_what_another_meant_under_noise_is_not_told() -> None:
    game = RepeatedGame(DILEMMA, rounds=3, noise=0.2)
    played = (("cooperate", "defect"),)
    slip = Rounds(played, meant=(("cooperate", "cooperate"),))
    meant = Rounds(played, meant=(("cooperate", "defect"),))
    assert tell(game, slip, "row") == tell(game, meant, "row")
    assert tell(game, slip, "col") != tell(game, meant, "col")


def test_moves_of_a_round_are_not_told_before_all_are_made() -> None:
    game = RepeatedGame(DILEMMA, rounds=3, noise=0.2)
    pending = [
        Rounds(meant=((mine, theirs),), drawn=drawn)
        for mine in ("cooperate", "defect")
        for theirs in ("cooperate", "defect")
        for drawn in ((), ("defect",))
    ]
    assert len({tell(game, state, "row") for state in pending}) == 1


def test_whether_another_round_is_drawn_is_not_told_before_it_is() -> None:
    game = RepeatedGame(DILEMMA, rounds=3, continuation=0.5)
    played = (("cooperate", "defect"),)
    waiting, decided = Rounds(played, decided=False), Rounds(played, decided=True)
    assert tell(game, waiting, "row") == tell(game, decided, "row")


def test_private_information_and_manners_of_another_speaker_are_not_told() -> None:
    game = make_plain_dialogue("fruit", {"cases": 4, "replies": 2})
    same = [
        case
        for case in range(len(game.cases))
        if game.cases[case].private[0] == game.cases[0].private[0]
    ]
    said = (Spoken(0, "calm", 1, "Hello."), Spoken(1, "calm", 0, "No."))
    angry = (said[0], replace(said[1], manner="angry"))
    texts = {
        tell(game, Dialogue(case, spoken), "player 1") for case in same for spoken in (said, angry)
    }
    assert len(texts) == 1


def test_a_sealed_note_of_another_speaker_is_not_told() -> None:
    game = make_plain_dialogue("rps-talk", {"replies": 1})
    talk = (Spoken(0, "plain", 1, "Rock!"), Spoken(1, "plain", 0, "Sure."))
    notes = [(*talk, Spoken(0, "plain", 1, note)) for note in ("rock", "paper")]
    first, second = (Dialogue(0, said, manner=game.neutral(1)[0]) for said in notes)
    assert tell(game, first, "player 2") == tell(game, second, "player 2")
    assert tell(game, first, "player 1") != tell(game, second, "player 1")
