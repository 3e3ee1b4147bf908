"""Decisions and luck, worked out by hand and by the account that every play has to close."""

import pytest

from bestresponse.analysis.decisions import (
    Judged,
    JudgedPlay,
    judge_play,
    measure_luck,
    tabulate_decisions,
)
from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.core.episode import play
from bestresponse.core.game import NATURE
from bestresponse.core.player import Nature
from bestresponse.games.lookup import find_game
from bestresponse.games.matrix.game import MatrixGame, RepeatedGame
from bestresponse.games.pig.rules import Pig
from bestresponse.games.tic_tac_toe.rules import TicTacToe
from bestresponse.players.lookup import find_drawing, find_strategy
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.trees.sequence_form import policy_value
from bestresponse.theory.trees.tree import Policy


def play_seats(game, names, seed):
    seats = dict(zip(game.roles, names, strict=True))
    players = {role: find_strategy(name, game, role, seed) for role, name in seats.items()}
    return play(game, players | {NATURE: Nature(seed)}), find_drawing(game, seats)


@pytest.mark.parametrize("game", [TicTacToe(), Pig(10)], ids=lambda game: game.name)
def test_a_payoff_is_the_value_and_luck_less_own_regrets_and_the_others(game):
    truth = find_truth(game)
    value = truth.expect(truth.begin())
    unlucky = 0
    for seed in range(12):
        record, _ = play_seats(game, ("random", "random"), seed)
        luck = measure_luck(record, game, truth, {})
        lost = dict.fromkeys(game.roles, 0.0)
        for number, one in judge_decisions(record, game, truth).items():
            lost[record.submissions[number - 1].role] += one.least
        for seat, role in enumerate(game.roles):
            other = game.roles[1 - seat]
            account = value[seat] + luck[0, seat] - lost[role] + lost[other]
            assert record.payoffs[role] == pytest.approx(account, abs=1e-6)
        unlucky += int(abs(luck[0, 0]) > 0.01)
    assert (unlucky > 0) is (game.name == "pig")


def test_luck_of_known_strategies_leaves_what_is_expected():
    """Rock against the equilibrium's mixture earns 0 in every play once its luck is gone."""
    game = MatrixGame(load("rock-paper-scissors"))
    paid = set()
    for seed in range(12):
        record, chances = play_seats(game, ("always:rock", "equilibrium"), seed)
        luck = measure_luck(record, game, find_truth(game), chances)
        without = record.payoffs["row"] - luck[1, 0]
        assert without == pytest.approx(0.0, abs=1e-9)
        assert luck[0].tolist() == [0.0, 0.0]
        paid.add(record.payoffs["row"])
    assert len(paid) == 3


def test_who_never_mixes_is_not_said_to_decide_well():
    """Always rock loses nothing move by move, so that moves are not judged."""
    game = MatrixGame(load("rock-paper-scissors"))
    record, chances = play_seats(game, ("always:rock", "equilibrium"), 1)
    judged = judge_play(1, record, game, find_truth(game), chances)
    assert judged.decisions == []
    assert tabulate_decisions([judged])["skill"].rows == []


def test_without_a_last_round_single_moves_are_not_judged():
    """Cooperation may be an equilibrium then; with a last round that is known it is none."""
    dilemma = load("prisoners-dilemma")
    assert find_truth(RepeatedGame(dilemma, 3)).judges_moves
    assert not find_truth(RepeatedGame(dilemma, 3, continuation=0.5)).judges_moves


def test_forced_and_indifferent_positions_are_no_decisions():
    """The last empty square is forced; the first two moves of a drawn game lose nothing anywhere
    but on some replies, so that fewer decisions count than were made."""
    game = find_game("tic-tac-toe").playable()
    record, chances = play_seats(game, ("random", "random"), 4)
    judged = judge_play(1, record, game, find_truth(game), chances)
    asked = [s for s in record.submissions if s.decision.reading.how != "forced"]
    assert 0 < len(judged.decisions) < len(asked)
    assert all(one.stake > 0 for one in judged.decisions)
    assert {one.lost for one in judged.decisions} <= {0.0, 1.0, 2.0}


def test_kuhn_poker_without_luck_has_the_expected_payoff_and_takes_fewer_plays():
    """200 plays against the equilibrium: within 3 standard errors of what the policies expect."""
    game = find_game("kuhn-poker").playable()
    truth = find_truth(game)
    plays = []
    for seed in range(200):
        record, chances = play_seats(game, ("random", "equilibrium"), seed)
        plays.append(judge_play(seed, record, game, truth, {"player 2": chances["player 2"]}))
    frames = tabulate_decisions(plays, {"player 1": (-2.0, 2.0)})
    row = next(row for row in frames["luck"] if row["player"] == "random")
    mixed = truth.theory.policies[0].probabilities.copy()
    for number, infoset in enumerate(truth.tree.infosets):
        if truth.tree.players[infoset.player] == "player 1":
            mixed[truth.tree.first_move[number] : truth.tree.first_move[number + 1]] = 0.5
    expected = policy_value(truth.tree, Policy(truth.tree, mixed))["player 1"]
    assert frames["skill"].rows == []  # both have to mix, so that no single move is judged
    half = row["without_luck"].half_width
    assert abs(row["without_luck"].estimate - expected) < 1.5 * half  # three standard errors
    assert half < 0.6 * row["payoff"].half_width
    assert row["needed"] > 2.5 * row["plays"]


def test_the_worst_decisions_come_first_and_ranks_are_compared():
    """By payoff c, b, a; by decisions b, c, a: Spearman's correlation is 1 - 6 x 2 / 24 = 1/2."""

    def decide(lost, answer="x"):
        return Judged("one", "here", answer, "best", lost, 4.0)

    paid = {"a": 0.0, "b": 1.0, "c": 2.0}
    lost = {"a": [3.0, 1.0], "b": [0.0, 0.0], "c": [1.0, 0.0]}
    plays = []
    for number in range(4):
        for name, earned in paid.items():
            decisions = [decide(amount, f"x{amount:g}") for amount in lost[name]]
            plays.append(JudgedPlay(f"{name}{number}", {"one": name}, {"one": earned}, decisions))
    frames = tabulate_decisions(plays)
    assert [row["player"] for row in frames["skill"]] == ["b", "c", "a"]
    assert [row["regret"].estimate for row in frames["skill"]] == [0.0, 0.5, 2.0]
    assert [row["best"] for row in frames["skill"]] == [1.0, 0.5, 0.0]
    (ranks,) = frames["ranks"]
    assert ranks["correlation"].estimate == pytest.approx(0.5)
    worst = [(row["player"], row["lost"], row["times"]) for row in frames["worst"]]
    assert worst == [("a", 3.0, 4), ("a", 1.0, 4), ("c", 1.0, 4)]


def test_players_that_all_earn_a_tenth_have_no_ranks():
    """Sums of tenths differ in the last digit, which correlated perfectly with itself."""
    plays = []
    for number, name in enumerate("abcdefgh"):
        decision = Judged("one", "here", "x", "best", 0.1, 4.0)
        for count in range(7 + 5 * number):
            plays.append(JudgedPlay(f"{name}{count}", {"one": name}, {"one": 0.1}, [decision]))
    assert tabulate_decisions(plays)["ranks"].rows == []
