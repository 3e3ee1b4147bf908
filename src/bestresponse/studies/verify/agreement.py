"""Whether a claim agrees with what was recorded of the same text.

same         recorded, perhaps the other way round (5 is higher than 3, 3 is lower than 5)
follows      true in every game that has the recorded payoffs
contradicts  recorded with another amount, choice or outcome, or false in every game that has the recorded payoffs
open         the recorded claims neither say nor decide it
no form      of a kind that the recorded translator was not offered, so that it could not say it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from fractions import Fraction
from itertools import product
from typing import Any, Final

import numpy as np

from bestresponse.formal.claims.checker import TheoryCheck
from bestresponse.formal.claims.claim import FORMS, Claim
from bestresponse.formal.claims.grounding import ground
from bestresponse.formal.claims.subject import Subject
from bestresponse.logic.engine import Verdict
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["OFFERED", "Recorded", "Stand", "one_way", "question"]

OFFERED: Final = frozenset(
    {
        "payoff",
        "higher",
        "lower",
        *(f"{end}_possible_individual_payoff" for end in ("highest", "lowest")),
        *(f"{end}_individual_payoff_for_choice" for end in ("highest", "lowest")),
        "highest_guaranteed_payoff_choice",
        *(f"{end}_guaranteed_payoff" for end in ("higher", "lower")),
        *(f"{end}_mutual_payoff" for end in ("highest", "lowest")),
    }
)
"""The forms that LELMA offered its translator; payoffs of the reasoner and of the other count as two there."""
_TURNED: Final = {"lower": "higher", "lower_guaranteed_payoff": "higher_guaranteed_payoff"}
_TIGHT: Final = {
    "guaranteed_payoff_for_choice": "lowest_individual_payoff_for_choice",
    "limited_payoff_for_choice": "highest_individual_payoff_for_choice",
}
_ORDER: Final = frozenset({"higher", "lower", "equal"})
_MOST_OPEN: Final = 6
_FAR: Final = 1_000.0


class Stand(StrEnum):
    """How a claim stands to the recorded ones."""

    SAME = "same"
    FOLLOWS = "follows"
    CONTRADICTS = "contradicts"
    OPEN = "open"
    NO_FORM = "no form"


def one_way(claim: Claim) -> Claim:
    """Return a claim as it was recorded then: comparisons one way round, "at least 3" as the least that is possible.

    >>> print(one_way(Claim("lower", (Fraction(3), Fraction(5)))))
    higher(5, 3).
    """
    if claim.form in _TIGHT:
        return Claim(_TIGHT[claim.form], claim.args, claim.negated)
    if claim.form not in _TURNED:
        return claim
    first, second, *rest = claim.args
    return Claim(_TURNED[claim.form], (second, first, *rest))


def question(claim: Claim) -> tuple[Any, ...]:
    """What a claim answers: everything but the amount, the choice or the outcome it names."""
    if claim.form in _ORDER:
        return ("order", *sorted(claim.args))
    names = FORMS[claim.form].names
    answer = next((name for name in ("value", "action", "actions", "outcome") if name in names), "")
    return (claim.form, *(given for name, given in zip(names, claim.args, strict=True) if name != answer))


class Recorded:
    """The recorded claims of one text, and what they imply."""

    def __init__(self, claims: Iterable[Claim], subject: Subject) -> None:
        self.claims = frozenset(map(one_way, claims))
        self.subject = subject
        self._asked = {question(claim) for claim in self.claims}
        self._cells = self._payoffs()

    def stand(self, claim: Claim) -> Stand:
        """How a claim, in the game's own names, stands to what was recorded."""
        turned = one_way(claim)
        if turned in self.claims:
            return Stand.SAME
        if claim.negated or turned.form not in OFFERED:
            return Stand.NO_FORM
        if question(turned) in self._asked:
            return Stand.CONTRADICTS
        found = set() if claim.form in _ORDER else self._verdicts(turned)
        if found == {Verdict.PROVED}:
            return Stand.FOLLOWS
        return Stand.CONTRADICTS if found == {Verdict.REFUTED} else Stand.OPEN

    def _payoffs(self) -> dict[tuple[int, ...], Fraction]:
        """Recorded payoffs by player and outcome; those recorded with two amounts are not known."""
        found: dict[tuple[int, ...], set[Fraction]] = {}
        for claim in self.claims:
            if claim.form == "payoff":
                places = ground(claim, self.subject).places
                found.setdefault((places["who"], *places["outcome"]), set()).add(claim["value"])
        return {place: values.pop() for place, values in found.items() if len(values) == 1}

    def _verdicts(self, claim: Claim) -> set[Verdict]:
        """What the claim is in the games that have the recorded payoffs; empty where too many are not known."""
        if claim.form == "payoff":
            return set()
        grounded = ground(claim, self.subject)
        named = [float(value) for value in claim.args if isinstance(value, Fraction)]
        games = self._games([-_FAR, *named, _FAR], everybody="mutual" in claim.form)
        return {TheoryCheck(subject).decide(grounded).verdict for subject in games}

    def _games(self, amounts: list[float], *, everybody: bool) -> Iterator[Subject]:
        """Every unknown payoff takes each of `amounts`; where `everybody` is false, only the reasoner's."""
        shape = self.subject.cells.shape
        values = np.zeros(shape)
        for place, known in self._cells.items():
            values[place] = float(known)
        wanted = [place for place in np.ndindex(shape) if everybody or place[0] == 0]
        unknown = [place for place in wanted if place not in self._cells]
        if len(unknown) > _MOST_OPEN or len(unknown) == len(wanted):
            return
        for taken in product(amounts, repeat=len(unknown)):
            for place, value in zip(unknown, taken, strict=True):
                values[place] = value
            yield Subject(NormalForm(values.copy(), self.subject.game.players, self.subject.actions))
