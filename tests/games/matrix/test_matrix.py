import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestresponse.core import Decision, Episode
from bestresponse.core.conformance import check_game
from bestresponse.core.errors import UsageError
from bestresponse.games.matrix.game import FORMATS, MatrixGame, RepeatedGame, number, theme, themes
from bestresponse.telling.render import write_rules
from bestresponse.theory import NormalForm

PENNIES = NormalForm.zero_sum([[1, -1], [-1, 1]])
DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])


def test_payoffs_of_pure_actions_are_those_of_the_table():
    episode = Episode(MatrixGame(DILEMMA))
    episode.submit("row", Decision("a1"))
    episode.submit("col", Decision("a0"))
    assert episode.record({}).payoffs == {"row": 5.0, "col": 0.0}


def test_payoffs_of_mixed_strategies_are_expected_values():
    episode = Episode(MatrixGame(PENNIES, ("mixture", "action")))
    episode.submit("row", Decision((0.75, 0.25)))
    episode.submit("col", Decision("a0"))
    assert episode.record({}).payoffs == {"row": 0.5, "col": -0.5}


@pytest.mark.parametrize("shown_as", FORMATS)
@pytest.mark.parametrize(
    "form", [PENNIES, DILEMMA, NormalForm(np.arange(24.0).reshape(3, 2, 2, 2))]
)
def test_every_presentation_keeps_the_promises_of_a_game(shown_as, form):
    for seed in range(3):
        check_game(MatrixGame(form, shown_as=shown_as), seed)


def test_a_zero_sum_game_shows_the_seat_its_own_payoffs():
    dressed = theme("neutral").dress(NormalForm.zero_sum([[3, -1], [0.5, 2]]))
    assert "| A |   3 | -1 |" in write_rules(MatrixGame(dressed).view((), "the row player"))
    assert "| A |   -3 |  1 |" in write_rules(MatrixGame(dressed).view((), "the column player"))


def test_a_general_sum_game_shows_both_payoffs_own_first():
    dressed = theme("neutral").dress(DILEMMA)
    assert "0, 5" in write_rules(MatrixGame(dressed).view((), "the row player")).splitlines()[8]
    text = write_rules(MatrixGame(dressed, shown_as="prose").view((), "the column player"))
    assert "If you choose Q and the row player chooses A, you get 5, the row player gets 0." in text


def test_json_presentation_holds_every_outcome_as_data():
    text = write_rules(MatrixGame(PENNIES, shown_as="json").view((), "row"))
    outcomes = json.loads(text[text.index("[") : text.rindex("]") + 1])
    assert [o["your_payoff"] for o in outcomes] == [1, -1, -1, 1]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shown_numbers_read_back_as_the_very_payoffs(value):
    assert float(number(value)) == value


def test_themes_refuse_games_with_more_actions_than_they_name():
    with pytest.raises(UsageError, match="has names for 8 actions"):
        theme("market").dress(NormalForm.zero_sum(np.zeros((9, 2)) + 1))
    with pytest.raises(UsageError, match="Did you mean market"):
        theme("markt")


def test_labels_of_every_theme_differ_between_the_players():
    for each in themes().values():
        assert not set(each.actions[0]) & set(each.actions[1])


def test_nothing_is_said_of_the_others_unless_it_is_asked_for():
    assert write_rules(MatrixGame(DILEMMA).view((), "row")).endswith(
        "Your aim is to make your own expected payoff as large as possible."
    )
    assert write_rules(MatrixGame(PENNIES).view((), "row")).endswith(
        "Whatever you gain col loses, and the other way round. "
        "Your aim is to make your own expected payoff as large as possible."
    )


@pytest.mark.parametrize(
    ("form", "others", "said"),
    [
        (
            DILEMMA,
            "rational",
            (
                "The others are perfectly rational, know the same rules, and each of them has the"
                " same aim for itself."
            ),
        ),
        (
            PENNIES,
            "rational",
            (
                "Col is perfectly rational, knows the same rules, and wants you to get as little as"
                " possible."
            ),
        ),
    ],
)
def test_the_last_sentence_of_the_rules_says_who_the_others_are(form, others, said):
    assert write_rules(MatrixGame(form, others=others).view((), "row")).endswith(
        f"as large as possible. {said}"
    )
    assert said in write_rules(
        RepeatedGame(form, 3, others=others).view(RepeatedGame(form).start(), "row")
    )
