"""People are called by the names that the game gives them."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

from bestresponse.games.lookup import find_game
from bestresponse.web.services.chat import name_roles
from bestresponse.web.sessions.setup import GameChoice, make_game


def test_speakers_of_a_dialogue_are_called_by_their_names():
    game = make_game(GameChoice("dialogue:bargaining"))
    assert name_roles(game) == {"player 1": game.names[0], "player 2": game.names[1]}
    assert "player 2" not in game.names


def test_players_of_other_games_are_called_by_their_roles():
    assert name_roles(find_game("stag-hunt").playable()) == {"row": "row", "col": "col"}
