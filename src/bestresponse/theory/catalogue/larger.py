"""Classic games with more than two actions or more than two players."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bestresponse.theory.catalogue.game_entry import Entry, bimatrix, symmetric
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["LARGER"]


def _shared(counts: range, players: int, payoffs: Callable[[np.typing.NDArray[np.float64]], object]) -> NormalForm:
    """Players who all choose a number from `counts`; `payoffs` maps the grid of choices to payoffs."""
    choices = np.array(counts, dtype=np.float64)[np.indices((len(counts),) * players)]
    labels = tuple(str(number) for number in counts)
    return NormalForm(np.asarray(payoffs(choices), dtype=np.float64), actions=(labels,) * players)


def _three(payoffs: object, *labels: str) -> NormalForm:
    return NormalForm(np.asarray(payoffs, dtype=np.float64), actions=(labels,) * 3)


def _travelers(highest: int) -> NormalForm:
    def pay(claims: np.typing.NDArray[np.float64]) -> object:
        return claims.min(axis=0) + 2 * np.sign(claims[::-1] - claims)

    return _shared(range(2, highest + 1), 2, pay)


def _money_request() -> NormalForm:
    return _shared(range(11, 21), 2, lambda asked: asked + 20 * (asked == asked[::-1] - 1))


def _beauty_contest() -> NormalForm:
    def pay(guesses: np.typing.NDArray[np.float64]) -> object:
        miss = np.abs(3 * guesses - 2 * guesses.mean(axis=0))
        winners = np.isclose(miss, miss.min(axis=0))
        return winners / winners.sum(axis=0)

    return _shared(range(11), 3, pay)


def _minimum_effort() -> NormalForm:
    return _shared(range(1, 8), 3, lambda effort: np.round(0.6 + 0.2 * effort.min(axis=0) - 0.1 * effort, 10))


def _public_goods() -> NormalForm:
    return _shared(range(0, 21, 10), 3, lambda given: 20 - given + 0.5 * given.sum(axis=0))


def _volunteers() -> NormalForm:
    volunteers = np.indices((2, 2, 2)) == 0
    return _three(np.where(volunteers.any(axis=0), 2.0, 0.0) - volunteers, "volunteer", "wait")


def _el_farol() -> NormalForm:
    go = np.indices((2, 2, 2)) == 0
    return _three(np.where(go, np.where(go.sum(axis=0) <= 2, 1.0, -1.0), 0.0), "go", "stay")


def _jordan() -> NormalForm:
    """Each player wants to match the next one, except the last, who wants to differ from the first."""
    side = np.indices((2, 2, 2))
    wins = np.stack([side[0] == side[1], side[1] == side[2], side[2] != side[0]])
    return _three(np.where(wins, 1.0, -1.0), "heads", "tails")


def _lizard_spock() -> NormalForm:
    own, other = np.indices((5, 5))
    # Around the circle rock, spock, paper, lizard, scissors, each beats the two before it and loses to the two after.
    row = np.select([(other - own) % 5 == 0, np.isin((own - other) % 5, (1, 2))], [0.0, 1.0], -1.0)
    labels = ("rock", "spock", "paper", "lizard", "scissors")
    return NormalForm.zero_sum(row, actions=(labels, labels))


def _morra() -> NormalForm:
    shown, guessed = np.array([1, 1, 2, 2]), np.array([1, 2, 1, 2])
    total = shown[:, None] + shown
    right, wrong = guessed[:, None] == shown, guessed == shown[:, None]
    labels = tuple(f"show {s}, guess {g}" for s, g in zip(shown, guessed, strict=True))
    row = total * (right.astype(np.float64) - wrong)
    return NormalForm.zero_sum(row, actions=(labels, labels))


_ONEILL = [[-5, 5, 5, -5], [5, -5, 5, -5], [5, 5, -5, -5], [-5, -5, -5, 5]]

LARGER = (
    Entry(
        "beauty-contest",
        "Three players guess a whole number from 0 to 10; those closest to two thirds of the average share a "
        "prize of 1.",
        "Nagel, 'Unraveling in guessing games: an experimental study', American Economic Review 85, 1995",
        _beauty_contest,
    ),
    Entry(
        "el-farol",
        "Three people decide whether to go to a bar that is fun for at most two.",
        "Arthur, 'Inductive reasoning and bounded rationality', American Economic Review 84, 1994",
        _el_farol,
    ),
    Entry(
        "jordan-matching-pennies",
        "Three players, two sides of a coin: the first wants to match the second, the second the third, the third to "
        "differ from the first. Learning cycles around the only equilibrium.",
        "Jordan, 'Three problems in learning mixed-strategy Nash equilibria', Games and Economic Behavior 5, 1993",
        _jordan,
    ),
    Entry(
        "minimum-effort",
        "Three players choose an effort from 1 to 7; all gain from the lowest and pay for their own. Every common "
        "effort is an equilibrium.",
        "Van Huyck, Battalio & Beil, 'Tacit coordination games, strategic uncertainty, and coordination failure', "
        "American Economic Review 80, 1990",
        _minimum_effort,
    ),
    Entry(
        "money-request",
        "Both ask for 11 to 20 and get it; who asks for exactly one less than the other gets 20 more.",
        "Arad & Rubinstein, 'The 11-20 money request game: a level-k reasoning study', American Economic Review 102, "
        "2012",
        _money_request,
    ),
    Entry(
        "oneill",
        "Both play ace, two, three or joker. The row player wins if both play the joker or they play different number "
        "cards. The only equilibrium is (.2, .2, .2, .4) for both.",
        "O'Neill, 'Nonmetric test of the minimax theory of two-person zerosum games', PNAS 84, 1987",
        bimatrix(_ONEILL, [[-cell for cell in line] for line in _ONEILL], "ace two three joker", "ace two three joker"),
    ),
    Entry(
        "public-goods",
        "Three players with 20 tokens give 0, 10 or 20 to a common project, which returns half of what is given to "
        "each. Giving nothing is dominant, giving all is best for all.",
        "Isaac & Walker, 'Group size effects in public goods provision: the voluntary contributions mechanism', "
        "Quarterly Journal of Economics 103, 1988",
        _public_goods,
    ),
    Entry(
        "rock-paper-scissors",
        "Each action beats one and loses to one of the others.",
        "von Neumann & Morgenstern, 'Theory of Games and Economic Behavior', Princeton University Press, 1944",
        symmetric([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], "rock paper scissors"),
    ),
    Entry(
        "rock-paper-scissors-lizard-spock",
        "Five actions, each of which beats two and loses to two of the others.",
        "Kass & Bryla, 'Rock Paper Scissors Spock Lizard', 1995",
        _lizard_spock,
    ),
    Entry(
        "shapley",
        "The game for which fictitious play does not converge but cycles ever more slowly.",
        "Shapley, 'Some topics in two-person games', Advances in Game Theory, Princeton University Press, 1964",
        bimatrix(
            [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
            [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
            "top middle bottom",
            "left centre right",
        ),
    ),
    Entry(
        "travelers-dilemma",
        "Both claim 2 to 100 for a lost suitcase and are paid the lower claim; whoever claimed less gets 2 more, the "
        "other 2 less. Only (2, 2) survives iterated dominance.",
        "Basu, 'The traveler's dilemma: paradoxes of rationality in game theory', American Economic Review 84, 1994",
        lambda: _travelers(100),
    ),
    Entry(
        "travelers-dilemma-10",
        "The traveler's dilemma with claims from 2 to 10.",
        "Basu, 'The traveler's dilemma: paradoxes of rationality in game theory', American Economic Review 84, 1994",
        lambda: _travelers(10),
    ),
    Entry(
        "two-finger-morra",
        "Both show one or two fingers and guess what the other shows; if only one is right, the other pays the number "
        "of fingers shown.",
        "Dresher, 'Games of Strategy: Theory and Applications', Prentice-Hall, 1961",
        _morra,
    ),
    Entry(
        "volunteers-dilemma",
        "All three get 2 if at least one volunteers; volunteering costs 1.",
        "Diekmann, 'Volunteer's dilemma', Journal of Conflict Resolution 29, 1985",
        _volunteers,
    ),
)
