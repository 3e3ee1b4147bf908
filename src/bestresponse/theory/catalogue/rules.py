"""Classic games whose payoffs follow a rule: players choose numbers, and a formula pays them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["RULES", "beauty_contest", "minimum_effort", "money_request", "public_goods", "travelers_dilemma"]


def _build_game(numbers: range, players: int, pay: Callable[[Array], Array]) -> NormalForm:
    """Let all players choose from `numbers`; `pay` maps the grid of choices to payoffs."""
    choices = np.array(numbers, dtype=np.float64)[np.indices((len(numbers),) * players)]
    labels = tuple(str(number) for number in numbers)
    return NormalForm(pay(choices), actions=(labels,) * players)


def travelers_dilemma(highest: int) -> NormalForm:
    """Pay the lower of two claims; whoever claimed less gets 2 more, the other 2 less (Basu 1994)."""
    return _build_game(range(2, highest + 1), 2, lambda claims: claims.min(axis=0) + 2 * np.sign(claims[::-1] - claims))


def money_request() -> NormalForm:
    """Pay what was asked for, and 20 more for exactly one less than the other (Arad and Rubinstein 2012)."""
    return _build_game(range(11, 21), 2, lambda asked: asked + 20 * (asked == asked[::-1] - 1))


def beauty_contest() -> NormalForm:
    """Share a prize of 1 between those closest to two thirds of the average of three guesses (Nagel 1995)."""

    def pay(guesses: Array) -> Array:
        miss = np.abs(3 * guesses - 2 * guesses.mean(axis=0))
        winners = np.isclose(miss, miss.min(axis=0))
        return np.asarray(winners / winners.sum(axis=0), dtype=np.float64)

    return _build_game(range(11), 3, pay)


def minimum_effort() -> NormalForm:
    """Pay three players for the lowest effort and charge each for its own (Van Huyck, Battalio and Beil 1990)."""
    return _build_game(range(1, 8), 3, lambda effort: np.round(0.6 + 0.2 * effort.min(axis=0) - 0.1 * effort, 10))


def public_goods() -> NormalForm:
    """Return half of what three players give to each of them (Isaac and Walker 1988)."""
    return _build_game(range(0, 21, 10), 3, lambda given: 20 - given + 0.5 * given.sum(axis=0))


RULES: dict[str, Callable[..., NormalForm]] = {
    rule.__name__: rule for rule in (beauty_contest, minimum_effort, money_request, public_goods, travelers_dilemma)
}
