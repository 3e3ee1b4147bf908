"""Strategies of Axelrod's library beside ours; only where that library is installed."""

import pytest
import running

pytest.importorskip("axelrod", reason="Axelrod's library is not installed; nothing here needs it")

from bestresponse.core.conformance import check_player
from bestresponse.core.episode import play
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.players.strategies import AutomatonPlayer, AxelrodPlayer
from bestresponse.studies.tournament.study import TournamentConfig, tournament
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import classic_strategy

DILEMMA = load("prisoners-dilemma")


@pytest.mark.parametrize(
    ("theirs", "ours"), [("TitForTat", "tit-for-tat"), ("Grudger", "grim"), ("SecondByTester", "tester")]
)
def test_a_strategy_of_the_library_plays_like_ours(theirs, ours):
    for rival in ("alternator", "hard-majority-3", "tester"):
        earned = []
        for player in (AxelrodPlayer(theirs), AutomatonPlayer(classic_strategy(ours))):
            seats = dict(zip(DILEMMA.players, (player, AutomatonPlayer(classic_strategy(rival))), strict=True))
            earned.append(play(RepeatedGame(DILEMMA, rounds=15), seats).payoffs)
        assert earned[0] == earned[1]


def test_the_cooperative_action_may_come_second():
    turned = NormalForm(DILEMMA.payoffs[:, ::-1, ::-1], actions=(("defect", "cooperate"),) * 2)
    players = dict(zip(turned.players, (AxelrodPlayer("Cooperator", (1, 1)),) * 2, strict=True))
    assert list(play(RepeatedGame(turned, rounds=2), players).payoffs.values()) == [6, 6]


def test_a_strategy_with_chance_is_a_function_of_its_view():
    check_player(AxelrodPlayer("Random", seed=4), RepeatedGame(DILEMMA, rounds=8))


def test_library_strategies_take_part_in_tournaments(tmp_path):
    config = TournamentConfig("prisoners-dilemma", ["axelrod:Grudger", "grim", "defector"], rounds=6)
    rows = {row["name"]: row for row in running.run(tournament, config, tmp_path).frame("standings")}
    assert rows["axelrod:Grudger"]["total"] == rows["grim"]["total"]


def test_bare_names_are_found_in_the_library_and_its_strategies_meet_there_once_for_both_seats(tmp_path):
    config = TournamentConfig("prisoners-dilemma", ["TitForTat", "Defector", "Cooperator"], rounds=5)
    ran = running.run(tournament, config, tmp_path)
    assert len(list(ran.folder.plays())) == 6
    # Against a defector tit-for-tat earns 0 + 4 * 1; with itself and the cooperator 5 * 3, twice each but for itself.
    totals = {row["name"]: row["total"] for row in ran.frame("standings")}
    assert totals == {"TitForTat": 2 * (15 + 15 + 4), "Defector": 2 * (5 + 9 + 25), "Cooperator": 2 * (15 + 15)}
    assert ran.replay().same == 6


def test_what_the_library_does_not_have_or_cannot_play_is_said():
    with pytest.raises(UsageError, match="TitForTat"):
        TournamentConfig("prisoners-dilemma", "axelrod:TitForTot")
    with pytest.raises(InvalidGame, match="cooperate"):
        TournamentConfig("matching-pennies", "axelrod:TitForTat")
