import numpy as np
import pytest

from bestresponse.core import NATURE, Nature, play
from bestresponse.core.conformance import check_game, check_player
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.players.strategies.automaton import AutomatonPlayer
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.repeated.library import classic_strategy
from bestresponse.theory.repeated.round_robin import Rules, exact_round_robin

DILEMMA = load("prisoners-dilemma")


def test_a_repeated_game_keeps_the_promises_of_a_game():
    for seed in range(5):
        check_game(RepeatedGame(DILEMMA, rounds=4), seed)
        check_game(RepeatedGame(DILEMMA, rounds=6, continuation=0.5), seed)


@pytest.mark.parametrize(("first", "second"), [("tit-for-tat", "defector"), ("grim", "alternator"), ("tester", "grim")])
def test_automata_in_seats_earn_what_the_chain_says(first, second):
    pair = [classic_strategy(first), classic_strategy(second)]
    players = dict(zip(DILEMMA.players, (AutomatonPlayer(a) for a in pair), strict=True))
    record = play(RepeatedGame(DILEMMA, rounds=12), players)
    assert list(record.payoffs.values()) == exact_round_robin(pair, DILEMMA, Rules(12)).totals[0, 1].tolist()


def test_a_mixed_automaton_is_a_function_of_its_view():
    check_player(AutomatonPlayer(classic_strategy("random"), seed=4), RepeatedGame(DILEMMA, rounds=8))


def test_the_length_is_geometric_where_nature_decides():
    players = {role: AutomatonPlayer(classic_strategy("cooperator")) for role in DILEMMA.players}
    rounds = [
        play(RepeatedGame(DILEMMA, 1000, 0.8), {**players, NATURE: Nature(seed)}).payoffs[DILEMMA.players[0]] / 3
        for seed in range(300)
    ]
    assert abs(np.mean(rounds) - 5) < 4 * np.sqrt(0.8 / 0.04 / 300)


def test_the_view_tells_the_history_from_ones_own_side():
    game = RepeatedGame(DILEMMA, rounds=3)
    state = game.apply(game.start(), dict(zip(DILEMMA.players, [a[1] for a in DILEMMA.actions], strict=True)))
    told = game.view(state, DILEMMA.players[1]).situation
    assert told.splitlines()[0] == "Round 2."
    assert "you chose defect" in told
    assert "you got 1." in told


def test_a_strategy_for_repeated_games_refuses_others():
    with pytest.raises(Exception, match="repeated games"):
        check_player(AutomatonPlayer(classic_strategy("grim")), MatrixGame(DILEMMA))
