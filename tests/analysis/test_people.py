"""The people nearest to a dilemma, worked out by hand."""

from types import SimpleNamespace

import pytest

from bestresponse.analysis.people import describe_people, find_people, measure_dilemma, show_people
from bestresponse.games.lookup import NamedGame
from bestresponse.theory.games.normal_form import NormalForm


def make_symmetric(reward, sucker, temptation, punishment):
    """Write a game of two actions each, of which the first is to cooperate."""
    return NormalForm.bimatrix(
        [[reward, sucker], [temptation, punishment]], [[reward, temptation], [sucker, punishment]]
    )


def test_gain_and_loss_do_not_depend_on_where_cooperating_stands():
    # g = (10 - 7) / (7 - 4) and l = (4 - 2) / (7 - 4).
    assert measure_dilemma(make_symmetric(7, 2, 10, 4)) == pytest.approx((1.0, 2 / 3))
    # The column player cooperates with the second action, then the row player, then both.
    second = NormalForm.bimatrix([[2, 7], [4, 10]], [[10, 7], [4, 2]])
    assert measure_dilemma(second) == pytest.approx((1.0, 2 / 3))
    first = NormalForm.bimatrix([[10, 4], [7, 2]], [[2, 4], [7, 10]])
    assert measure_dilemma(first) == pytest.approx((1.0, 2 / 3))
    both = NormalForm.bimatrix([[4, 10], [2, 7]], [[4, 2], [10, 7]])
    assert measure_dilemma(both) == pytest.approx((1.0, 2 / 3))


@pytest.mark.parametrize(
    "payoffs",
    [(3, 0, 3, 1), (3, 1, 5, 1), (3, 0, 2, 1), (3, 2, 5, 1)],
    ids=["defecting gains nothing", "cooperating loses nothing", "stag hunt", "chicken"],
)
def test_a_game_without_a_reason_to_defect_is_no_dilemma(payoffs):
    assert measure_dilemma(make_symmetric(*payoffs)) is None
    assert find_people(make_symmetric(*payoffs)) == ()


def test_a_dilemma_in_which_the_players_earn_differently_is_left_out():
    assert measure_dilemma(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 6], [0, 1]])) is None


def test_people_in_another_situation_are_not_quoted():
    # g = 1 and l = 2.5; the nearest have 0.8333 and 1.1667, or 2.3333 and 2.3333: 1.5 away, more
    # than 0.6.
    far = make_symmetric(2, -1.5, 3, 1)
    assert {people.gain for people in find_people(far)} == {0.8333, 2.3333}
    assert find_people(far, 0.6) == ()
    assert describe_people(far) == ""


def test_the_report_of_a_run_quotes_people_only_for_a_dilemma():
    def show(**config):
        return show_people(SimpleNamespace(config=SimpleNamespace(**config)))

    (paragraph,) = show(game=NamedGame("prisoners-dilemma")).blocks
    # g = 1.0 and l = 0.5 are 0.17 + 0.33 from this treatment.
    assert (
        "defecting gains 1.17 and saves 0.83 times what mutual cooperation is worth"
        in paragraph.text
    )
    assert show(game=NamedGame("stag-hunt")) is None
    assert show() is None
