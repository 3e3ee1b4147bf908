"""Cooperation of a group of players, by hand."""

import pytest

from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.behave.estimates import PlayerGroup
from bestresponse.studies.behave.moves import SeatMoves
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = NormalForm([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])
PENNIES = NormalForm([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])


def moves(*own, match="m", seat=0, form=DILEMMA, subject=None, rival=None):
    return SeatMoves(
        {"run": "r", "seat": f"seat {seat}"}, form, seat, own, (), match, subject, rival
    )


def test_cooperation_is_averaged_over_moves_with_an_interval_over_matches():
    group = PlayerGroup([moves(0, 0, 1, match="a"), moves(0, match="b"), moves(1, 0, match="c")], 1)
    # Four of six moves, two of three first ones; in the second round one of two that were still
    # played.
    whole, first = group.average_cooperation(), group.average_cooperation(0, 1)
    assert (whole.estimate, whole.n) == (pytest.approx(4 / 6), 3)
    assert (first.estimate, first.n) == (pytest.approx(2 / 3), 3)
    second = group.average_cooperation(1, 2)
    assert (second.estimate, second.n) == (1.0, 2)
    # Only the first match had a third round: no interval.
    assert group.average_cooperation(2, 3) == 0.0
    assert group.average_cooperation(3, 4) is None


def test_two_of_a_group_who_met_each_other_are_one_match():
    met = PlayerGroup([moves(0, 0, match="a"), moves(1, 0, match="a", seat=1)], 1)
    assert met.average_cooperation() == 0.75
    apart = PlayerGroup([moves(0, 0, match="a"), moves(1, 0, match="b", seat=1)], 1)
    assert isinstance(apart.average_cooperation(), Interval)


def test_matches_of_one_player_are_no_more_than_one_player():
    # Two players always cooperate and two never do, five matches each: 4 are known, not 20.
    sequences = [moves(k // 10, match=f"m{k}", subject=f"player {k // 5}") for k in range(20)]
    often = PlayerGroup(sequences, 0).average_cooperation()
    once = PlayerGroup(sequences[::5], 0).average_cooperation()
    assert (often.estimate, often.n) == (0.5, 4)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_games_without_cooperation_and_mixtures_do_not_count():
    group = PlayerGroup([moves(0, form=PENNIES), moves((0.5, 0.5))], 1)
    assert group.cooperation == []
    assert group.average_cooperation() is None


def test_a_unit_is_the_player_or_else_the_seat_of_the_match():
    assert moves(0, match="x", seat=1).unit == "x seat 1"
    assert moves(0, subject="ann").unit == "r ann"


def test_everybody_who_shares_a_person_on_either_side_goes_together():
    # Ann and bob cooperate with each other, cat and dan defect: two matches are known, not four
    # persons.
    pairs = [("ann", "bob", 0), ("bob", "ann", 0), ("cat", "dan", 1), ("dan", "cat", 1)]
    met = [moves(move, match=f"m{move}", subject=own, rival=other) for own, other, move in pairs]
    apart = [moves(move, match=own, subject=own) for own, _, move in pairs]
    together, alone = (
        PlayerGroup(sequences, 0).average_cooperation() for sequences in (met, apart)
    )
    assert (together.estimate, together.n, alone.n) == (0.5, 4, 4)
    # Residuals are 1/2: 4 * 1/4 by person; by pairs 4 persons with a sum of 1 each, less the 2
    # pairs: twice as much.
    assert together.low == pytest.approx(max(0.0, 0.5 - 2**0.5 * (0.5 - alone.low)))


def test_whoever_is_met_by_all_alike_makes_no_interval_wider():
    own = [moves(k % 2, match=f"m{k}", subject=f"s{k}") for k in range(6)]
    met = [moves(k % 2, match=f"m{k}", subject=f"s{k}", rival="host") for k in range(6)]
    assert PlayerGroup(met, 0).average_cooperation() == PlayerGroup(own, 0).average_cooperation()


def test_a_nameless_seat_is_drawn_with_the_person_opposite():
    assert moves(0, match="x", seat=1, rival="ann").unit == "x seat 1"
    assert moves(0, match="x", seat=1, rival="ann").cluster == "r ann"
    assert moves(0, subject="ann", rival="bob").cluster == "r ann"
    assert moves(0, match="x").cluster == "x"
