"""What a mechanism did, measured and in theory; CoopEval's 16 cells have a certified equilibrium."""

import pytest

import bestresponse as br
from bestresponse.games.lookup import find_game
from bestresponse.studies.bench.suites import COOPEVAL, SUITES
from bestresponse.studies.simulate.mechanisms import certify_best, tabulate_mechanisms
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.trigger import find_trigger_gain

# All together get this much if everybody cooperates, and if nobody does.
TOGETHER = {
    "prisoners-dilemma-coopeval": (4.0, 2.0),
    "public-goods-coopeval": (4.5, 3.0),
    "travelers-dilemma-5": (10.0, 4.0),
    "trust-coopeval": (20.0, 8.0),
}


@pytest.mark.parametrize("name", SUITES[COOPEVAL])
def test_every_cell_has_a_certified_equilibrium(name):
    plain, _, added = name.partition(" with ")
    cooperative, selfish = TOGETHER[plain]
    welfare, gain = certify_best(find_game(name).playable())
    assert welfare == pytest.approx(cooperative if added else selfish, abs=1e-9)
    assert gain < 1e-8


def test_the_suite_has_four_dilemmas_without_and_with_four_mechanisms():
    assert len(SUITES[COOPEVAL]) == 4 * (1 + 4)


def test_trigger_strategies_need_a_future_that_weighs_enough():
    trust = find_game("trust-coopeval").game
    # The second player gains 10 at once and loses 6 in every later round: 10 = 6 w / (1 - w).
    for weight, holds in ((0.62, False), (0.63, True)):
        course = Repetition(5_000, continuation=weight)
        assert (find_trigger_gain(trust, (0, 0), (4, 4), course) < 1e-9) is holds
    # In a last round, 9 rounds from now, nobody loses anything.
    gain = find_trigger_gain(trust, (0, 0), (4, 4), Repetition(10, continuation=0.9))
    assert gain == pytest.approx(10 * 0.9**9)
    nothing = NormalForm.bimatrix([[1.0]], [[1.0]])
    assert find_trigger_gain(nothing, (0, 0), (1, 1), Repetition(3)) == 0


def play(folder, game, seats):
    return br.simulate(game, seat=seats, repeats=4, output_dir=folder)


def test_what_a_mechanism_did_is_told_beside_what_is_possible(tmp_path):
    defect = {"row": "always:defect", "col": "always:defect"}
    cooperate = {"row": "always:cooperate", "col": "always:cooperate"}
    delegate = {"row": "always:delegate", "col": "always:delegate"}
    mixed = {"row": "always:delegate", "col": "always:defect"}
    name = "prisoners-dilemma-coopeval"
    runs = [
        play(tmp_path, f"{name} with mediator", delegate),
        play(tmp_path, name, defect),
        play(tmp_path, f"{name} with repeated(rounds=3)", cooperate),
        play(tmp_path, f"{name} with mediator", mixed),
    ]
    title, rows = tabulate_mechanisms(runs)
    assert title == "What the mechanism did"
    told = [
        (
            row["mechanism"],
            row["welfare"].estimate,
            row["cooperation"].estimate,
            row["best"],
            row["reached"] and row["reached"].estimate,
        )
        for row in rows
    ]
    assert told == [
        ("none", 2.0, 0.0, 4.0, None),
        ("mediator", 4.0, 1.0, 4.0, 1.0),
        ("repeated(rounds=3)", 4.0, 1.0, 4.0, 1.0),
        ("mediator", 2.0, 0.5, 4.0, 0.0),
    ]
    # Three rounds have a last one, so cooperation is no equilibrium there.
    assert [row["equilibrium"] for row in rows] == [2.0, 4.0, 2.0, 4.0]
    comparison = br.compare_runs(*runs)
    assert "What the mechanism did" in [one.title for one in comparison.report().sections]
    assert (comparison.publish(tmp_path / "c")[-1]).name == "comparison_together.csv"


def test_runs_without_a_mechanism_are_compared_as_before(tmp_path):
    seats = {"row": "always:defect", "col": "always:cooperate"}
    runs = [play(tmp_path, name, seats) for name in ("prisoners-dilemma", "deadlock")]
    assert br.compare_runs(*runs).together is None
