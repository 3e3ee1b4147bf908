"""Every game that can be named keeps the promises of a game."""

import pytest

from bestresponse.core.conformance import check_game
from bestresponse.core.registry import games
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.theory import catalogue


@pytest.mark.parametrize("name", games.names())
def test_registered_games_keep_their_promises(name):
    for seed in range(3):
        check_game(games.load(name)(), seed)


@pytest.mark.parametrize("name", catalogue.names())
def test_games_of_the_catalogue_keep_their_promises(name):
    game = catalogue.load(name)
    check_game(MatrixGame(game), 1)
    check_game(MatrixGame(game, ("mixture",) * game.num_players, "json"), 2)
