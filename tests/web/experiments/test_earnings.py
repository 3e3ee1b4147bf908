"""Points and money of one participant, added up over games by hand."""

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import pytest

from bestresponse.core.ask import Choice
from bestresponse.core.episode import Submission
from bestresponse.core.game import View
from bestresponse.core.player import Decision
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import Resident, WaterRules
from bestresponse.web.experiments.payment import Payment
from bestresponse.web.services.earnings import Earnings, PartEarnings, find_outcome, locate_answers

EUR = Payment("EUR", show_up=Decimal("2.50"), rate=Decimal("0.5"))
ONE = PartEarnings(
    "one", seat_points=10.0, points=7.5, money=Decimal("3.75"), answers=4, stand_ins=1
)
TWO = PartEarnings(
    "two", seat_points=0.3, points=0.2, money=Decimal("0.10"), answers=3, stand_ins=3, round=2
)


def test_all_games_are_paid_where_none_was_drawn():
    earnings = Earnings(EUR, True, (ONE, TWO))
    assert (earnings.answers, earnings.stand_ins) == (3, 4)
    # 0.1 + 0.2 would leave 0.30000000000000004 without rounding
    assert (earnings.seat_points, earnings.points) == (10.3, 7.7)
    # 2.50 for showing up and 3.75 + 0.10
    assert (earnings.total, earnings.bound) == (Decimal("6.35"), "")


def test_only_the_game_that_was_drawn_is_paid_but_all_answers_are_counted():
    earnings = Earnings(EUR, True, (ONE, TWO), paid="two")
    assert (earnings.points, earnings.total) == (0.2, Decimal("2.60"))
    assert (earnings.seat_points, earnings.answers, earnings.stand_ins) == (10.3, 3, 4)


@pytest.mark.parametrize(("paid", "total"), [("", "6.60"), ("one", "6.50"), ("two", "2.85")])
def test_a_bonus_is_for_taking_part_and_not_by_lot(paid, total):
    earnings = Earnings(EUR, True, (replace(ONE, bonus=Decimal("0.25")), TWO), paid=paid)
    # 2.50 for showing up, 0.25 for taking part, and 3.75 or 0.10 for points.
    assert earnings.total == Decimal(total)


def test_what_is_paid_without_a_game_is_for_showing_up():
    earnings = Earnings(EUR, False, ())
    assert (earnings.points, earnings.seat_points, earnings.answers) == (0.0, 0.0, 0)
    assert earnings.total == Decimal("2.50")


@pytest.mark.parametrize(
    ("least", "most", "total", "bound"),
    # 2.50 and 3.75 are 6.25.
    [("10", None, "10.00", "least"), ("0", "6", "6.00", "most"), ("6.25", "6.25", "6.25", "")],
)
def test_it_is_said_which_bound_sets_the_total(least, most, total, bound):
    payment = Payment(
        "EUR",
        show_up=Decimal("2.50"),
        least=Decimal(least),
        most=None if most is None else Decimal(most),
    )
    earnings = Earnings(payment, True, (ONE,))
    assert (earnings.total, earnings.bound) == (Decimal(total), bound)


@pytest.mark.parametrize(
    ("closed", "replaced", "stand_ins", "outcome"),
    [
        (False, (), 2, "finished"),  # half of four answers are the person's own
        (False, (), 3, "unfinished"),
        (True, (), 0, "unfinished"),
        (False, (1,), 0, "unfinished"),
        (False, (0,), 0, "finished"),  # another seat was replaced
    ],
)
def test_whoever_gave_half_of_the_answers_and_was_there_to_the_end_has_finished(
    closed, replaced, stand_ins, outcome
):
    standings = {"t": SimpleNamespace(closed=closed, replaced=set(replaced))}
    server = SimpleNamespace(sessions=SimpleNamespace(standings=standings))
    part = PartEarnings("one", 0.0, 0.0, Decimal(0), answers=4, stand_ins=stand_ins)
    assert find_outcome(server, Earnings(EUR, True, (part,)), [("t", 1)]) == outcome


def place(game, answers):
    submissions = [Submission(role, Decision(action)) for role, action in answers]
    return [
        (turn.round, turn.stage, turn.payoff, turn.total)
        for turn in locate_answers(game, submissions)
    ]


def test_the_water_of_a_day_is_drawn_on_that_day_before_its_bids():
    """A town of two days: nature draws, then both bid; who is alive at the end has earned 1,
    nothing before."""
    rules = WaterRules((Resident("a", 4, 10), Resident("b", 6, 10)), 4, 4, 2, health=2)
    days = [("nature", 4), ("a", 3.0), ("b", 2.0), ("nature", 4), ("a", 1.0), ("b", 0.0)]
    found = place(Water(rules), days)
    assert [turn[:2] for turn in found] == [(1, 0), (1, 1), (1, 1), (2, 0), (2, 1), (2, 1)]
    # b gets no water and dies on the second day: 2 - 1 - 2.
    assert [turn[3] for turn in found if turn[2] is not None][-2:] == [1.0, 0.0]


class TipJar:
    """Ann pours and is paid 3; Bob drinks and tips, which brings her 2 more without another
    answer."""

    name = "tip-jar"
    version = 1
    roles = ("ann", "bob")

    def start(self):
        return ()

    def asks(self, state):
        waiting = self.roles[len(state) :]
        return {waiting[0]: Choice(("yes",))} if waiting else {}

    def view(self, state, role):
        return View(role)

    def apply(self, state, moves):
        return (*state, *moves.values())

    def payoffs(self, state):
        return {"ann": (0.0, 3.0, 5.0)[len(state)], "bob": (0.0, 0.0, 1.0)[len(state)]}


def test_what_the_answer_of_another_brings_is_added_to_what_an_answer_had_brought():
    found = place(TipJar(), [("ann", "yes"), ("bob", "yes")])
    # Ann's only answer is worth 3 and 2, not the 2 alone.
    assert [turn[2:] for turn in found] == [(5.0, 5.0), (1.0, 1.0)]
