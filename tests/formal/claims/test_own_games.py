"""Sentences about tables and trees of somebody's own: their moves and players are the vocabulary."""

from __future__ import annotations

import numpy as np
import pytest

from bestresponse.formal.claims import Review, Reviewer, RulesTranslator, Subject
from bestresponse.theory.catalogue import tables
from bestresponse.theory.catalogue.trees import load_tree
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Leaf, Tree, Turn, build_tree

VOTES = ("yes", "no")


def make_committee() -> NormalForm:
    """Two votes pass a motion, which pays Ann 4, Ben 1 and Cleo -3; a lone vote of Ann costs her 1."""
    payoffs = np.zeros((3, 2, 2, 2))
    for votes in np.ndindex(2, 2, 2):
        if votes.count(VOTES.index("yes")) >= 2:
            payoffs[(slice(None), *votes)] = (4, 1, -3)
    payoffs[0, 0, 1, 1] = -1
    return NormalForm(payoffs, players=("Ann", "Ben", "Cleo"), actions=(VOTES,) * 3)


def make_bargain() -> Tree:
    """A buyer offers low or high, a seller accepts, (7, 3) or (3, 7), or refuses: (0, 0), (1, 0)."""
    low = Turn("Seller", "low", {"accept": Leaf((7, 3)), "refuse": Leaf((0, 0))})
    high = Turn("Seller", "high", {"accept": Leaf((3, 7)), "refuse": Leaf((1, 0))})
    return build_tree(("Buyer", "Seller"), Turn("Buyer", "offer", {"low": low, "high": high}))


COMMITTEE = make_committee()
BARGAIN = make_bargain()
CENTIPEDE = load_tree("centipede")
DILEMMA = tables.load("prisoners-dilemma")
SNOWDRIFT = tables.load("snowdrift")


def review(game: NormalForm | Tree, text: str) -> Review:
    return Reviewer(RulesTranslator()).review(text, Subject(game))


def judge(game: NormalForm | Tree, text: str) -> str:
    """The verdict on a sentence that is read whole, else how it was read."""
    found = review(game, text)
    assert found.passages is not None
    (passage,) = found.passages
    return found.state.value if passage.reading.value == "read" else passage.reading.value


@pytest.mark.parametrize(
    ("game", "right", "wrong"),
    [
        # Yes and no are moves, and players are called by their names.
        (
            COMMITTEE,
            "If Ben and I vote yes and Cleo votes no, Ben gets 1.",
            "If Ben and I vote yes and Cleo votes no, Ben gets 2.",
        ),
        (
            COMMITTEE,
            "If both of the others vote no, I should vote no.",
            "If both of the others vote no, I should vote yes.",
        ),
        (
            COMMITTEE,
            "If Ben votes no and Cleo votes no, voting yes leaves me with -1.",
            "If Ben votes no and Cleo votes no, voting yes leaves me with 4.",
        ),
        (
            COMMITTEE,
            "Voting no is a dominant strategy for Cleo.",
            "Voting yes is dominant for Cleo.",
        ),
        # Offers, and who accepts them.
        (
            BARGAIN,
            "If I offer low and Seller accepts, Seller gets 3.",
            "If I offer low and the seller accepts, I get 3.",
        ),
        (
            BARGAIN,
            "In the subgame perfect equilibrium I offer low.",
            "In the subgame perfect equilibrium I offer high.",
        ),
        (BARGAIN, "If I offer low, I will end up with 7.", "If I offer low, I will end up with 3."),
        (CENTIPEDE, "Passing is not optimal for me.", "Taking is not optimal for me."),
        (CENTIPEDE, "If I take immediately, I get 0.4.", "If I take immediately, I get 0.8."),
        # Other ways to say what a table pays.
        (
            DILEMMA,
            "Defecting maximizes my minimum payoff.",
            "Cooperating maximizes my minimum payoff.",
        ),
        (
            DILEMMA,
            "The total payoff is lowest when both defect.",
            "The total payoff is lowest when both cooperate.",
        ),
        (
            SNOWDRIFT,
            "Each driver waits with probability 3/5 in the mixed equilibrium.",
            "Each driver waits with probability 2/5 in the mixed equilibrium.",
        ),
    ],
)
def test_a_sentence_is_confirmed_where_it_is_right_and_refuted_where_it_is_wrong(
    game: NormalForm | Tree, right: str, wrong: str
) -> None:
    assert (judge(game, right), judge(game, wrong)) == ("unrefuted", "refuted")


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (DILEMMA, "The payoffs of the two players always sum to zero."),
        (DILEMMA, "Defecting is the riskier choice."),
        (BARGAIN, "If Seller refuses, I will offer high."),
        (CENTIPEDE, "If we pass twice, I should pass again at my second move."),
        (CENTIPEDE, "If I pass again, I get 0.2."),
        (DILEMMA, "If I defect and they cooperate, I lose 2."),
        (DILEMMA, "Let me note that defecting pays everybody 7."),
        (COMMITTEE, "Cleo is better off than Ben if they agree."),
    ],
)
def test_what_says_something_of_the_game_and_is_not_understood_is_unread(
    game: NormalForm | Tree, text: str
) -> None:
    assert judge(game, text) == "unread"


@pytest.mark.parametrize(
    "text",
    [
        "Let me compare the payoffs.",
        "I trust them.",
        "I choose defect.",
        "Best responses:",
        "Fine.",
    ],
)
def test_what_says_nothing_of_the_game_is_silent(text: str) -> None:
    found = review(DILEMMA, text)
    assert found.summary == "nothing could be checked; 0 claims read, 0 of 0 sentences unread"


def test_names_of_players_are_names_and_no_patterns() -> None:
    names = ("(a|b)" * 30, "x|y")
    game = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], players=names)
    assert judge(game, "If x|y chooses a0 and I choose a0, I get 4.") == "refuted"


# Bad input: unread or partly read, and counted; never a verdict, never an error.
BAD = {
    "binary": bytes(range(256)).decode("latin-1") + " pays 7",
    "another game": "If the keeper dives left, kicking right scores with probability 0.9.",
    "a quote": 'My brother says: "if both defect, I get 7".',
    "irony": "Sure, defecting pays me 7, yeah right.",
    "a table": "| | cooperate | defect |\n| cooperate | 9, 9 | 0, 5 |",
    "LaTeX": "\\begin{pmatrix} u(\\text{defect}) = 7 \\end{pmatrix}",
    "German": "Wenn beide gestehen, bekomme ich 7.",
    "Chinese": "如果我们都背叛，我得到7。",
}


@pytest.mark.parametrize("kind", BAD)
def test_a_text_that_is_not_understood_is_counted_and_never_judged(kind: str) -> None:
    found = review(DILEMMA, BAD[kind])
    assert found.passages is not None
    assert not [checked for checked in found.checked if checked.verdict.value != "unknown"]
    readings = {passage.reading.value for passage in found.passages} - {"silent"}
    assert readings
    assert readings <= {"unread", "partly read", "not asserted"}


def test_moves_that_are_called_like_words_are_not_taken_for_them() -> None:
    labels = (("better", "get"),) * 2
    game = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=labels)
    assert judge(game, "Better is better than get.") == "unread"
    assert judge(game, "(get, get) is a Nash equilibrium.") == "unrefuted"
    assert judge(game, "If I choose better and they choose get, I get 5.") == "unread"


def test_a_megabyte_of_text_is_read_as_far_as_the_limit_and_the_rest_is_counted() -> None:
    found = review(DILEMMA, "Somehow 7 is in the air. " * 40_000)
    assert found.passages is not None
    assert found.passages[-1].reading.value == "unread"
    assert "the first 50,000 were looked at" in found.passages[-1].why
