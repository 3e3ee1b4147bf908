"""Strategies of Axelrod's library beside ours; only where that library is installed."""

import pytest
import running
from courses import name_course

pytest.importorskip("axelrod", reason="Axelrod's library is not installed; nothing here needs it")

import axelrod

from bestresponse.core.conformance import check_player
from bestresponse.core.episode import Episode, play
from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.games.matrix.game import RepeatedGame
from bestresponse.players.strategies import AutomatonPlayer, AxelrodPlayer, play_in_library
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.study import find_standings, tournament
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.automaton import classic_strategy
from bestresponse.theory.repeated.repetition import Repetition

DILEMMA = load("prisoners-dilemma")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("TitForTat", "tit-for-tat"), ("Grudger", "grim"), ("SecondByTester", "tester")],
)
def test_a_strategy_of_the_library_plays_like_ours(theirs, ours):
    for rival in ("alternator", "hard-majority-3", "tester"):
        earned = []
        for player in (AxelrodPlayer(theirs), AutomatonPlayer(classic_strategy(ours))):
            seats = dict(
                zip(
                    DILEMMA.players, (player, AutomatonPlayer(classic_strategy(rival))), strict=True
                )
            )
            earned.append(play(RepeatedGame(DILEMMA, rounds=15), seats).payoffs)
        assert earned[0] == earned[1]


def test_the_cooperative_action_may_come_second():
    turned = NormalForm(DILEMMA.payoffs[:, ::-1, ::-1], actions=(("defect", "cooperate"),) * 2)
    players = dict(zip(turned.players, (AxelrodPlayer("Cooperator", (1, 1)),) * 2, strict=True))
    assert list(play(RepeatedGame(turned, rounds=2), players).payoffs.values()) == [6, 6]


def test_a_strategy_with_chance_is_a_function_of_its_view():
    check_player(AxelrodPlayer("Random", seed=4), RepeatedGame(DILEMMA, rounds=8))


def test_library_strategies_take_part_in_tournaments(tmp_path):
    config = TournamentConfig(
        "prisoners-dilemma", ["axelrod:Grudger", "grim", "defector"], rounds=6
    )
    rows = {
        row["name"]: row for row in running.run(tournament, config, tmp_path).frame("standings")
    }
    assert rows["axelrod:Grudger"]["total"] == rows["grim"]["total"]


def test_bare_names_are_found_in_the_library_and_its_strategies_meet_there_once_for_both_seats(
    tmp_path,
):
    config = TournamentConfig(
        "prisoners-dilemma", ["TitForTat", "Defector", "Cooperator"], rounds=5
    )
    ran = running.run(tournament, config, tmp_path)
    assert len(list(ran.folder.plays())) == 6
    # Against a defector tit-for-tat earns 0 + 4 * 1; with itself and the cooperator 5 * 3, twice
    # each but for itself.
    totals = {row["name"]: row["total"] for row in ran.frame("standings")}
    assert totals == {
        "TitForTat": 2 * (15 + 15 + 4),
        "Defector": 2 * (5 + 9 + 25),
        "Cooperator": 2 * (15 + 15),
    }
    assert ran.replay().same == 6
    # Tit-for-tat with itself 3, with the cooperator 3, against the defector 4 / 5; each in both
    # seats.
    per_round = {row["name"]: row["per_round"] for row in ran.frame("standings")}
    assert per_round["TitForTat"] == pytest.approx((3 + 3 + 0.8) / 3)


def test_a_match_inside_the_library_keeps_its_moves(tmp_path):
    config = TournamentConfig("prisoners-dilemma", ["TitForTat", "Defector"], rounds=3)
    plays = running.run(tournament, config, tmp_path).folder.plays()
    (record,) = [play.record for play in plays if play.data["places"] == [0, 1]]
    assert [(turn.role, turn.decision.action) for turn in record.submissions] == [
        ("row", "cooperate"),
        ("col", "defect"),
        ("row", "defect"),
        ("col", "defect"),
        ("row", "defect"),
        ("col", "defect"),
    ]


@pytest.mark.parametrize(
    ("noise", "continuation"), [(0.0, 1.0), (0.2, 1.0), (0.0, 0.8), (0.2, 0.8)]
)
def test_the_record_of_a_match_is_that_of_the_game_with_the_same_moves(
    tmp_path, noise, continuation
):
    settings = {
        "rounds": 12,
        "noise": noise,
        "continuation": continuation,
        "repetitions": 5,
        "seed": 3,
    }
    game = name_course("prisoners-dilemma", settings)
    config = TournamentConfig(game, ["TitForTat", "Random"], **settings)
    ran = running.run(tournament, config, tmp_path)
    records = [play.record for play in ran.folder.plays()]
    assert len(records) == 15
    for record in records:
        assert Episode(config.repeated, record.submissions).record(record.players) == record
    lengths = {sum(turn.role == "row" for turn in record.submissions) for record in records}
    assert lengths == {12} if continuation == 1.0 else len(lengths) > 1
    assert ran.replay().same == 15


def test_meant_and_made_moves_are_those_of_the_librarys_own_match():
    rounds = play_in_library(("TitForTat", "Random"), DILEMMA, Repetition(50, noise=0.2), seed=11)
    theirs = axelrod.Match(
        [axelrod.TitForTat(), axelrod.Random()], turns=50, noise=0.2, seed=11
    ).play()
    assert [moves.made for moves in rounds] == [
        tuple(int(move == axelrod.Action.D) for move in pair) for pair in theirs
    ]
    # Tit-for-tat means what the other made in the round before.
    assert [moves.meant[0] for moves in rounds] == [0, *(moves.made[1] for moves in rounds[:-1])]
    assert any(moves.meant != moves.made for moves in rounds)


def test_ranks_and_totals_are_those_of_the_librarys_own_tournament(tmp_path):
    # BackStabber defects in the last two rounds, so it shows whether the number of rounds is known.
    names = [
        "TitForTat",
        "Grudger",
        "Alternator",
        "Defector",
        "Cooperator",
        "WinStayLoseShift",
        "BackStabber",
    ]
    config = TournamentConfig("prisoners-dilemma", names, rounds=20)
    rows = running.run(tournament, config, tmp_path).frame("standings")
    players = [getattr(axelrod, name)() for name in names]
    theirs = axelrod.Tournament(players, turns=20, repetitions=1).play(progress_bar=False)
    # The library leaves out matches against oneself from its scores, and plays every other pair
    # once.
    alone = {row["name"]: row["against_itself"] * 20 for row in rows}
    ours = {row["name"]: row["total"] / 2 - alone[row["name"]] for row in rows}
    assert ours == dict(zip(names, (scores[0] for scores in theirs.scores), strict=True))
    # Their ranks are by the same scores; ours include oneself, so these are compared without it.
    ranked = sorted(names, key=lambda name: -ours[name])
    assert [ours[names[index]] for index in theirs.ranking] == [ours[name] for name in ranked]


def test_ecological_dynamics_are_those_of_the_librarys_own_ecosystem():
    config = TournamentConfig(
        "prisoners-dilemma", ["tit-for-tat", "defector", "cooperator"], rounds=10
    )
    rows = find_standings(config).list_shares()
    ours = {(row["generation"], row["strategy"]): row["share"] for row in rows}
    players = [axelrod.TitForTat(), axelrod.Defector(), axelrod.Cooperator()]
    played = axelrod.Tournament(players, turns=10, repetitions=1).play(progress_bar=False)
    ecosystem = axelrod.Ecosystem(played)
    ecosystem.reproduce(100)
    for generation in (10, 50, 100):
        shares = [ours[generation, entry.name] for entry in config.entries]
        assert shares == pytest.approx(ecosystem.population_sizes[generation], abs=1e-6)


def test_strategies_that_know_the_end_know_it_against_others_too(tmp_path):
    config = TournamentConfig("prisoners-dilemma", ["BackStabber", "cooperator"], rounds=6)
    rows = {
        row["name"]: row for row in running.run(tournament, config, tmp_path).frame("standings")
    }
    # Four rounds of 3, then 5 in each of the last two, in either seat; with itself four of 3 and
    # two of 1.
    assert rows["BackStabber"]["total"] == 2 * (4 * 3 + 2 * 5) + 2 * (4 * 3 + 2 * 1)


def test_what_the_library_does_not_have_or_cannot_play_is_said():
    with pytest.raises(UsageError, match="TitForTat"):
        TournamentConfig("prisoners-dilemma", "axelrod:TitForTot")
    with pytest.raises(InvalidGame, match="cooperate"):
        TournamentConfig("matching-pennies", "axelrod:TitForTat")
