"""Games that are solved by their positions: what `solve` says, what moves cost, who plays best."""

import pytest

import bestresponse as br
from bestresponse.analysis.truth import find_truth, judge_decisions
from bestresponse.core.episode import Episode
from bestresponse.core.errors import SettingError, TooLarge
from bestresponse.core.player import Decision
from bestresponse.games.lookup import find_game


def test_nim_is_said_to_be_lost_with_all_its_first_moves():
    solved = br.solve("nim")
    assert repr(solved) == "Solution('nim', 752 positions, value -1)"
    assert solved.value == -1
    data = solved.to_json()
    assert (data["decisions"], data["bound"], data["one_step_error"]) == (750, 0, 0)
    assert len(data["first_moves"]) == 16
    assert set(data["first_moves"].values()) == {-1}
    assert br.solve("nim(piles=1-2)").to_json()["best_first_moves"] == ["take 1 from pile 2"]


def test_what_the_time_does_not_allow_is_bounded_and_said():
    solved = br.solve("connect-four(columns=7,rows=6)", seconds=0)
    assert solved.value is None
    data = solved.to_json()
    assert (data["low"], data["high"]) == (
        {"player 1": -1, "player 2": -1},
        {"player 1": 1, "player 2": 1},
    )
    assert "the value is only bounded" in data["remarks"][0]
    assert data["first_moves"] is None
    assert "only bounded" in solved.to_page()


def test_all_best_moves_are_listed_on_request():
    answer = br.ask("nim(piles=1-1)", concept="subgame-perfect").to_json()
    assert answer["answers"] == [
        {"player": "player 1", "position": "Objects left: pile 1: 1; pile 2: 1.", "worth": -1,
         "best": ["take 1 from pile 1", "take 1 from pile 2"]},
        {"player": "player 2", "position": "Objects left: pile 1: 0; pile 2: 1.", "worth": 1,
         "best": ["take 1 from pile 2"]},
        {"player": "player 2", "position": "Objects left: pile 1: 1; pile 2: 0.", "worth": 1,
         "best": ["take 1 from pile 1"]},
    ]  # fmt: skip
    with pytest.raises(TooLarge, match="at most 20,000 are listed"):
        br.ask("breakthrough", concept="subgame-perfect")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"method": "cfr"}, "cfr solves tables or trees"),
        ({"iterations": 10}, "no effect on a game that is solved by its positions"),
        ({"objective": "welfare"}, "no effect on a game that is solved by its positions"),
    ],
)
def test_options_of_other_solvers_are_refused(options, problem):
    with pytest.raises(SettingError, match=problem):
        br.solve("nim", **options)


def test_a_move_costs_what_it_loses_against_best_play():
    """Only taking one of the pile of 3 wins at first; then 1-2 is won by taking 1. The last move is forced."""
    game = find_game("nim(piles=1-3)").playable()
    episode = Episode(game)
    for move in ("take 1 from pile 2",) * 2 + ("take 1 from pile 1", "take 1 from pile 2"):
        episode.submit(next(iter(episode.pending)), Decision(move))
    prices = judge_decisions(episode.record({}), game, find_truth(game))
    assert [(priced.best, priced.least) for priced in prices.values()] == [
        ("take 2 from pile 2", 2.0),
        ("take 1 from pile 2", 0.0),
        ("take 1 from pile 1", 0.0),
    ]
